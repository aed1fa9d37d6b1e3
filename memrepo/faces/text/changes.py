"""Format the results of runs, writes, ageing and sessions, and the history of memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memrepo.actions.write.add import Added
from memrepo.actions.write.commit import Unchanged, Written
from memrepo.core.ids import visible
from memrepo.core.memory import span
from memrepo.core.messages import counted, cut, fold
from memrepo.core.times import format_time
from memrepo.faces.text import rows
from memrepo.text.sentences import token_count
from memrepo.views.report import WORDS, counts_in_words, in_words, judged_in_words

if TYPE_CHECKING:
    from memrepo.actions.lifecycle import ageing
    from memrepo.actions.lifecycle import session as sessions
    from memrepo.actions.past import log as logging
    from memrepo.actions.past import why as explaining
    from memrepo.actions.past.log import Commit, Decision
    from memrepo.actions.past.why import History, MemoryCommit
    from memrepo.actions.run import ingest as ingesting
    from memrepo.actions.run import record as records
    from memrepo.actions.run import session as judging
    from memrepo.actions.setup import agent as agents
    from memrepo.actions.write import add as adding
    from memrepo.actions.write import change
    from memrepo.policies.ageing import Nomination


def ingest(request: ingesting.Request, result: ingesting.Result, colour: bool) -> str:
    """Format the numbers of new, changed and removed sources."""
    from memrepo.actions.run.ingest import summary

    message = summary(result.added, result.changed, result.removed)
    lines = [f"{result.source}: {message or 'nothing new'}"]
    if result.unmatched.count:
        lines.append(f"not read: {result.unmatched.summary}")
    if result.commit:
        lines.append(f"committed as {result.commit[:10]}")
    elif request.dry_run and message:
        lines.append("dry run: nothing was written")
    return "\n".join(lines)


def report(request: object, result: records.LastRun, colour: bool) -> str:
    """Return the text of a report, which is already formatted."""
    return result.text


def run(request: object, result: records.Result, colour: bool) -> str:
    """Format the result of a run. The configuration sets the level of detail."""
    if result.report == "silent":
        return ""
    lines = [result.headline]
    if result.report == "full":
        lines += [*(f"  {line}" for line in result.details), *(result.first or ())]
    return "\n".join(lines)


def judge(request: object, result: judging.Result, colour: bool) -> str:
    """Format the next question for the judge with schema and data, or the result of the run."""
    refusals = [f"not taken as you worded it: {visible(one)}" for one in result.refusals]
    if result.run is not None:
        return "\n".join([*refusals, run(request, result.run, colour=colour)])
    asked = result.question
    if asked is None:
        return "no open question"
    schema = json.dumps(asked.schema, separators=(",", ":"))
    how = f"Answer with the JSON object: `memrepo judge answer {asked.id}`, the object on stdin."
    return "\n\n".join((*refusals, asked.instructions, schema, asked.data, how))


def written(request: object, result: Written | Unchanged, colour: bool) -> str:
    """Format a commit and its memories, or the reason why there is no commit."""
    if isinstance(result, Unchanged):
        return f"nothing to do: {result.id} {result.unchanged}"
    commit = f" ({result.commit[:10]})" if result.commit else " (dry run)"
    lines = [f"{result.what}{commit}"]
    lines += [f"  {id_}  {path}" for id_, path in zip(result.memories, result.paths, strict=True)]
    return "\n".join(lines)


archive = confirm = edit = forget = link = pin = promote = supersede = written


def add(request: adding.Request, result: Added | Unchanged, colour: bool) -> str:
    """Format a new memory, and list similar memories that it could be linked to."""
    lines = [written(request, result, colour=colour)]
    if isinstance(result, Unchanged):
        return lines[0]
    if request.type is None:
        lines.append(
            f"its type is {result.type}; for another, `memrepo undo` and add it with --type"
        )
    if result.suggested:
        lines.append("similar memories:")
        lines += [
            f"  {near.strength:.2f}  {near.target}  {cut(visible(near.text), 60)}"
            for near in result.suggested
        ]
        best = result.suggested[0].target
        lines.append(f"to link them: `memrepo link {result.id} related {best}`")
    return "\n".join(lines)


def directives(
    request: change.DirectivesRequest, result: change.DirectivesResult, colour: bool
) -> str:
    """Format the result of each directive, and the health report if requested."""
    took = counted(result.counts.steps, "directive took", "directives took")
    lines = [f"{took} effect"]
    lines += [f"  [[{row.directive}]] {row.outcome}" for row in result.applied]
    if result.health is not None:
        lines += figures(result.health)
    return "\n".join(lines)


_SIGNS = {"critical": "🔒", "pinned": "📌", "recent": "🔥", "stale": "⏳", "cold": "❄️"}


def health(request: ageing.Request, result: ageing.Health | ageing.Changed, colour: bool) -> str:
    """Format the health figures and what is due, or the memories that a change affected."""
    from memrepo.actions.lifecycle.ageing import Health

    if isinstance(result, Health):
        return "\n".join([*figures(result), *_due(result)])
    did = "classified again" if request.reclassify else "pruned"
    message = counted(len(result.changes), "memory", "memories")
    head = f"{message} {did}" + (f" ({result.commit[:10]})" if result.commit else "")
    if result.changes and not result.commit:
        head = f"dry run: {message} would be {did}"
    return "\n".join([head, *(f"  {row.what}: {row.reason}" for row in result.changes)])


def figures(result: ageing.Health) -> list[str]:
    """Return the health figures in the layout that agents expect."""
    from memrepo.policies.hotcache import COLD_AFTER, RETENTION

    days = RETENTION.days
    labels = "  ".join(f"{sign} {name}: {result.priority[name]}" for name, sign in _SIGNS.items())
    lines = [
        "=== Memory Health ===",
        f"L1: {result.hot}/{result.budget} bullets | {result.pinned} tagged [pin]",
        f"L2: {result.files} files | {result.tracked} entries tracked",
        f"Promotions (total): {result.promotions}",
        f"Demotions (total): {result.demotions}",
        f"Archive queue: {result.archived} items",
        "===",
        "Priority breakdown:",
        f"  {labels}",
        "===",
        f"L2 cold candidates (never accessed, age>{COLD_AFTER.days}d): {result.cold_candidates}",
        f"L1↔L2 sync (L1 has stale L2 source): {result.synced}",
        "===",
        "Log Cleanup:",
        f"  Log items over {days} days pruned from hygiene.json: {result.log_items_pruned}",
        "===",
        "Top L1 entries by sessionsSinceAccess:",
    ]
    for n, one in enumerate(result.stalest, 1):
        lines.append(f"  {n}. {one.key} — {one.sessions} sessions stale")
    if result.ailments:
        lines += ["===", *(f"problems: {one}" for one in result.ailments)]
    return lines


def _due(result: ageing.Health) -> list[str]:
    """Return the lines about tiers, nominated notes and decay classes."""
    from memrepo.policies.ageing import CONFIDENCE

    lines = ["===", "Notes by tier, and confidence of an answer:"]
    lines += [f"  {tier:<9}  {n:>6}  {CONFIDENCE[tier]}" for tier, n in result.tiers.items()]
    if result.due:
        lines.append(f"{counted(len(result.due), 'note moves', 'notes move')} at the next run:")
    for move in result.due[:10]:
        uses = counted(move.retrievals, "retrieval", "retrievals")
        lines.append(f"  {move.label}  {move.from_} → {move.to}  ({uses})")
    if len(result.due) > 10:
        lines.append(f"  and {len(result.due) - 10} more")
    lines += _nominated(result.candidates)
    decay = result.decay
    shown = [name for name in decay.lives if decay.classes[name]]
    lines += ["===", "Memories by decay class:"]
    lines += [f"  {n:<10}  {decay.classes[n]:>6}  lives {decay.lives[n]}" for n in shown]
    numbers = {
        "expired, pending prune": decay.expired_pending,
        "low confidence": decay.low_pending,
        "held by a future date": decay.held,
        "stale, still recalled": decay.stale,
    }
    return [*lines, *(f"  {name:<22}  {number}" for name, number in numbers.items() if number)]


def _nominated(found: Sequence[Nomination]) -> list[str]:
    """Return the number of nominated notes, then one line per note."""
    lines = [counted(len(found), "note is", "notes are") + " nominated"] if found else []
    return [
        *lines,
        *(f"  {n.id}  {n.name}: {', '.join(n.why)}; to the {n.destination}" for n in found),
    ]


def session(
    request: sessions.Request,
    result: agents.AgentPrompt | sessions.Started | sessions.Ended,
    colour: bool,
) -> str:
    """Format the context of a session, the instructions for agents, or the end of a session."""
    from memrepo.actions.lifecycle.session import Ended, Refreshed
    from memrepo.actions.setup.agent import AgentPrompt

    if isinstance(result, AgentPrompt):
        return result.prompt
    if isinstance(result, Ended):
        if request.dry_run:
            return "dry run: the session goes on"
        return "the session ended; the next run records what it retrieved"
    lines: list[str] = []
    if isinstance(result, Refreshed):
        lines.append(counted(len(result.moves), "move", "moves") + " between tiers")
        lines += [f"  {move}" for move in result.moves]
        lines += [f"a how-to was moved to {path}" for path in result.retrospects]
        lines += _nominated(result.candidates) or ["no note is nominated"]
    return "\n".join([*lines, _context(result, request.max_tokens)])


def _context(result: sessions.Started, max_tokens: int) -> str:
    if not result.context and not result.left_out:
        return "nothing is on the first page, and no note is recent"
    message = f"{result.context}\n{result.left_out} more did not fit".lstrip()
    return message if result.left_out and token_count(message) <= max_tokens else result.context


INDENT = " " * 30
VALUE, TEXT = 60, 100
"""Maximum characters of a field value, and of a text."""


def log(request: logging.Request, result: logging.Result | logging.Runs, colour: bool) -> str:
    """Format the log: its commits with any requested reasons, or the list of runs.

    Pending runs are listed first.
    """
    from memrepo.actions.past.log import Runs, detailed

    if isinstance(result, Runs):
        lines = [f"{w.run}  pending: {w.why}" for w in result.waiting]
        lines += [f"{r.run}  {r.mode}, {r.judge}: {_kept(r.counts)}" for r in result.runs]
        return "\n".join(lines) or "no run yet"
    lines = []
    for entry in result.entries:
        lines.append(_line(entry, result.zone))
        if detailed(request):
            lines.append(f"{INDENT}{visible(in_words(entry.reason))}")
    return "\n".join(lines)


def _kept(counts: Mapping[str, int]) -> str:
    return ", ".join(counts_in_words(counts)) or "nothing new"


def _line(entry: Commit, zone: str) -> str:
    return f"{_local(entry.when, zone)}  {entry.commit[:10]}  {visible(entry.subject)}"


def _local(when: datetime, zone: str) -> str:
    return f"{when.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def _history(result: History) -> str:
    """Format the commits that changed a memory, each with the changes it made."""
    lines = list(result.heading)
    for entry in result.entries:
        lines.append(_line(entry, result.zone))
        why = f"{visible(in_words(entry.reason))}; " if visible(entry.reason) else ""
        lines.append(f"{INDENT}{why}by {visible(entry.actor or entry.author)}")
        lines += [f"{INDENT}{line}" for line in phrases_of(entry)]
    return "\n".join(lines)


def phrases_of(entry: MemoryCommit) -> Iterator[str]:
    """Yield phrases that describe how a commit changed a memory, one line each."""
    from memrepo.views.review import field_in_words

    match entry.change:
        case "unreadable":
            yield f"left {visible(entry.path)} unreadable"
        case "created" | "restored" | "removed":
            cut = ", or before: this shallow clone ends here" if entry.cut else ""
            yield f"{entry.change} {visible(entry.path)}{cut}"
        case "changed" | "moved":
            if entry.moved_from:
                yield f"moved from {visible(entry.moved_from)}"
            for name, (old, new) in entry.changes.items():
                before, after = _value(old), _value(new)
                yield (
                    field_in_words(name, before, after)
                    if name in WORDS["fields"]
                    else f"{name}: {before or 'none'} -> {after or 'none'}"
                )


def _value(value: object) -> str:
    """Format the value of a field on one short line."""
    if value in (None, []):
        return ""
    if isinstance(value, list):
        first = _value(value[-1])
        return first if len(value) == 1 else f"{len(value)}, last {first}"
    if isinstance(value, dict) and "resource" in value:
        value = f"{value['resource']}{span([int(n) for n in value.get('lines', (0, 0))])}"
    if isinstance(value, dict):
        keys = [f"{key} {part}" for key, part in value.items() if key not in ("blob", "text_hash")]
        value = ", ".join(keys)
    return fold(str(value), VALUE)


def why(request: explaining.Request, result: explaining.Result | History, colour: bool) -> str:
    """Format the answer to `why`: the evidence for a memory, or its history."""
    from memrepo.actions.past.why import History

    return _history(result) if isinstance(result, History) else _evidence(result)


def _evidence(result: explaining.Result) -> str:
    """Format the evidence for a memory, with judgements, decisions and related memories."""
    from memrepo.actions.recall.quotes import evidence_lines
    from memrepo.faces.text.recall import later_text

    standing = f"{result.type}, {result.status}, {result.standing}"
    lines = [*result.heading, f"{result.id}  {standing}", f"  {_short(result.text)}", ""]
    lines += evidence_lines(result.evidence) or rows([("evidence", "none on record")])
    for judged in result.judgements:
        where = f", in {judged.accepted[:10]}" if judged.accepted else ""
        reason = judged_in_words(judged.reason)
        message = judged_in_words(judged.disposition) + (f" ({reason})" if reason else "")
        lines += rows([("judged", f"{visible(message)}, run {judged.run}{where}")])
    for decided in result.decisions:
        lines += _decided(decided)
    later = later_text(result.later) if result.later else ""
    pairs = [("later", later), *((other.is_, _other(other)) for other in result.relations)]
    pairs += [
        ("retired", f"{visible(in_words(gone['reason']))} (run {visible(gone['run'])})")
        for gone in result.retired
    ]
    pairs += [("correction", f"{visible(f.path)}  {f.title}") for f in result.corrections]
    return "\n".join([*lines, *rows(pairs)])


def _decided(decided: Decision) -> Iterator[str]:
    when = format_time(decided.when).replace("T", " ").removesuffix(":00Z").removesuffix("Z")
    landed = ""
    if decided.accepted != decided.commit:
        landed = f", accepted in {decided.accepted[:10]}"
    who = f"{decided.op} in {decided.commit[:10]} by {visible(decided.actor or decided.author)}"
    yield from rows([("decided", f"{who}, {when} UTC{landed}")])
    if decided.reason:
        yield f"  {_short(in_words(decided.reason))}"


def _other(other: explaining.Relation) -> str:
    if other.gone:
        return f"{other.id}  (no longer in the tree; `memrepo why {other.id} --show history`)"
    when = f" {other.superseded_at}" if other.superseded_at else ""
    return f"{other.id}  {_short(other.text)} ({other.status}{when})"


def _short(text: str) -> str:
    return cut(text, TEXT)
