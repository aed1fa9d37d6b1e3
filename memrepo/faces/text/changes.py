"""Format what runs, writes, reviews, reverts and sessions did, and the history of memories."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memrepo.actions.landing import Unchanged, Written
from memrepo.actions.recall.quotes import evidence_lines
from memrepo.actions.write import Added
from memrepo.core.ids import visible
from memrepo.core.messages import counted, cut, fold
from memrepo.core.times import format_time
from memrepo.faces.text import fenced_markdown, rows
from memrepo.text.sentences import token_count
from memrepo.views.report import (
    Change,
    Line,
    Review,
    change_lines,
    in_words,
    judged_in_words,
)

if TYPE_CHECKING:
    from memrepo.actions import agent as agents
    from memrepo.actions import health as ageing
    from memrepo.actions import past, write
    from memrepo.actions import review as reviewing
    from memrepo.actions import session as sessions
    from memrepo.actions import takeback as reverting
    from memrepo.actions.past import Commit, Decision
    from memrepo.actions.review import AcceptRequest, Decided, Dispute, Disputes, ResolveRequest
    from memrepo.actions.run import ingest as ingesting
    from memrepo.actions.run import record as records
    from memrepo.actions.run import session as judging
    from memrepo.actions.takeback import Rejections
    from memrepo.merge.tombstones import Tombstone
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
    how = f"Answer with the JSON object: `memrepo judge answer {asked.id} FILE`, or on stdin."
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


def add(request: write.AddRequest, result: Added | Unchanged, colour: bool) -> str:
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
    request: write.DirectivesRequest, result: write.DirectivesResult, colour: bool
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
    from memrepo.actions.health import Health

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
    from memrepo.actions.agent import AgentPrompt
    from memrepo.actions.session import Ended, Refreshed

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
TEXT = 100
"""Maximum characters of a text."""


def log(request: past.LogRequest, result: past.LogResult, colour: bool) -> str:
    """Format the log: its commits with any requested reasons."""
    from memrepo.actions.past import detailed

    lines = []
    for entry in result.entries:
        lines.append(_line(entry, result.zone))
        if detailed(request):
            lines.append(f"{INDENT}{visible(in_words(entry.reason))}")
    return "\n".join(lines)


def _line(entry: Commit, zone: str) -> str:
    return f"{_local(entry.when, zone)}  {entry.commit[:10]}  {visible(entry.subject)}"


def _local(when: datetime, zone: str) -> str:
    return f"{when.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def why(request: object, result: past.WhyResult, colour: bool) -> str:
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


def _other(other: past.Relation) -> str:
    if other.gone:
        return f"{other.id}  (no longer in the tree; `memrepo log --memory {other.id}`)"
    when = f" {other.superseded_at}" if other.superseded_at else ""
    return f"{other.id}  {_short(other.text)} ({other.status}{when})"


def _short(text: str) -> str:
    return cut(text, TEXT)


STATEMENT = 160
MAX_ITEMS = 200
"""Maximum memories listed under a card."""
WIDTH = 96
_COLOURS = {"-": "\x1b[31m", "+": "\x1b[32m"}
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
MAX_REVIEW = 40_000
"""Maximum characters of a review in a comment. A forge accepts comments of 65,536 characters, and
the findings of `check` are in the same comment."""


def review_text(review: Review, *, stat: bool = False, colour: bool = False) -> str:
    """Format a review as text. `stat` limits the text to totals, `colour` adds colours."""
    totals = ", ".join(f"{n} {kind}" for kind, n in review.totals.items())
    lines = [f"{fold(review.title, STATEMENT)}: no memory differs"]
    if totals:
        count = counted(len(review.changes), "memory", "memories")
        lines = [f"{fold(review.title, STATEMENT)}: {count} ({totals})"]
    if review.reason:
        label = "pending because" if review.state == "waits" else "because"
        lines.append(f"{label}: {fold(review.reason, 500)}")
    lines += _review_context(review)
    for group in () if stat else review.groups:
        lines += ["", _bold(f"{fold(group.heading, 200)} ({len(group.changes)})", colour)]
        if group.is_card:
            lines += _card_lines(group.changes)
            continue
        for change in group.changes:
            lines += ["", *_change_lines(change, colour=colour)]
    return "\n".join(lines)


def _bold(text: str, colour: bool) -> str:
    return f"{_BOLD}{text}{_PLAIN}" if colour else text


def _review_context(review: Review) -> Iterator[str]:
    if review.files:
        names = ((name, n) for name, n in review.files.items())
        files = ", ".join(name if name.endswith(".md") else f"{n} in {name}" for name, n in names)
        yield f"other files changed: {files}"


def _card_lines(changes: Sequence[Change]) -> list[str]:
    """List memories that are decided together, one per line, up to a maximum number."""
    most = MAX_ITEMS
    found = [change.difference.memory for change in changes]
    lines = [f"    {memory.id}  {cut(memory.body, WIDTH - 26)}" for memory in found[:most]]
    return lines + [f"    and {len(found) - most} more"] * (len(found) > most)


def _change_lines(change: Change, *, colour: bool) -> list[str]:
    """Return the lines that show a change, under a line that names it."""
    found, memory = change.difference, change.difference.memory
    lines = [f"{found.kind:<11}{memory.id}  {memory.type}  {memory.path}"]
    for one in change_lines(change):
        if one.sign:
            lines += _side(one, colour=colour)
        else:
            lines.append(f"    {fold(one.spans[0].text, 500)}")
    if change.why:
        lines.append(f"    because: {fold(in_words(change.why), 500)}")
    return lines


def _side(line: Line, *, colour: bool) -> list[str]:
    """Return the wrapped lines for the old or the new text."""
    text = " ".join(visible("".join(span.text for span in line.spans)).split())
    rows = textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False)
    rows = [f"  {line.sign if n == 0 else ' '} {row}" for n, row in enumerate(rows)]
    return [f"{_COLOURS[line.sign]}{row}{_PLAIN}" for row in rows] if colour else rows


restore = written


def revert(request: object, result: reverting.Result, colour: bool) -> str:
    """Format the reverted changes, and the later work that stays."""
    name = result.name
    if result.commits:
        before = ("file as it was before", "files as they were before")
        changed = ("file changed", "files changed")
        files = counted(result.files, *(before if result.latest else changed))
        lines = [f"reverted {name} in {result.commits[0][:10]}: {files}"]
    elif result.files:
        lines = [f"reverting {name} would touch {counted(result.files, 'file', 'files')}"]
    else:
        why = "it was changed later" if result.kept else "none of its changes is in effect"
        lines = [f"reverting {name} changes nothing: {why}"]
    if result.kept:
        undo_first = "`memrepo undo`, then " if result.commits else ""
        words = " ".join((name, *(f"--memory {id_}" for id_ in result.only), "--later"))
        command = f"{undo_first}`memrepo revert {words}`"
        lines.append(f"later work stays ({command} reverts it too):")
    for work in result.kept:
        on = f"  on {work.on}" if work.on else ""
        lines.append(f"  {work.kind:<14} {work.memory}  {work.path}{on}")
    if result.together:
        lines.append(f"also reverted, because decided together: {', '.join(result.together)}")
    return "\n".join((*lines, *about_run(result)))


def about_run(result: reverting.Result) -> list[str]:
    """Return what becomes of a run after its landing, or the decision about it, was reverted."""
    lines = ["the run does not wait again"] if result.waited and result.reads_again else []
    if result.reads_again:
        again = "the next run reads the reverted input again; what it proposes again is left out"
        lines.append(again)
    elif result.waited:
        later = (
            "the next reconciliation proposes its changes for review, an ordinary run lands them"
        )
        lines.append(f"the run does not wait again: {later}")
    return lines


def undo(request: object, result: reverting.Result, colour: bool) -> str:
    """Format the undone step."""
    subject = result.undone.subject if result.undone else ""
    what = f"{subject} ({result.reverts[:10]})"
    body = revert(request, result, colour=colour)
    if not result.commits:
        return f"would undo {what}\n{body}"
    return f"undid {what}\n{body}\n`memrepo undo` again restores it"


def reject(request: object, result: Written | Unchanged | Rejections, colour: bool) -> str:
    """Format the rejection that was added or lifted, or the list of rejections with reasons."""
    from memrepo.actions.takeback import Rejections

    if isinstance(result, Rejections):
        return "\n".join(map(_rejection, result.rejected)) or "nothing is rejected"
    first, *lines = written(request, result, colour=colour).split("\n")
    shortened = getattr(result, "shortened", ())
    ends = (
        " (the statement was taken out, the rest stays)" if line.split()[0] in shortened else ""
        for line in lines
    )
    return "\n".join([first, *map("".join, zip(lines, ends, strict=True))])


def _rejection(stone: Tombstone) -> str:
    scope = f" in {visible(stone.scope)}" if stone.scope else ""
    statement = cut(stone.statement, STATEMENT)
    return (
        f"{stone.key}  {stone.at:%Y-%m-%d}  {stone.by}{scope}: {visible(stone.reason)}\n"
        f"    {statement}"
    )


_WIDTH = 80


def accept(request: AcceptRequest, result: Decided, colour: bool) -> str:
    """Format what was decided about a run or about marked memories, and what was left out."""
    commit = f"({result.commits[0][:10]})" if result.commits else "(dry run)"
    count = counted(len(result.memories), "memory", "memories")
    match result.verdict:
        case "accepted":
            lines = [f"accepted {result.run}: {count} changed {commit}"]
        case "discarded":
            lines = [f"discarded {result.run}: changes to {count} not proposed again {commit}"]
        case _:
            verdict = result.verdict if result.commits else f"would be {result.verdict}:"
            lines = [f"{verdict} {count} marked for removal {commit}"]
    if result.left_out:
        lines.append(f"left out, and not proposed again: {', '.join(result.left_out)}")
    lines += [f"conflict: {c.kind} {c.id or c.path}" for c in result.conflicts]
    return "\n".join(lines)


discard = accept


def diff(request: reviewing.DiffRequest, result: reviewing.DiffResult, colour: bool) -> str:
    """Format the changes in memories as text or as markdown."""
    if request.markdown:
        text = review_text(result.review)
        return fenced_markdown("What changes in memory", text, MAX_REVIEW)
    return review_text(result.review, stat=request.stat, colour=colour)


def resolve(
    request: ResolveRequest,
    result: Disputes | Written | Unchanged,
    colour: bool,
) -> str:
    """Format the contradictions, the details of one of them, or the result of a decision."""
    from memrepo.actions.review import HOW, Disputes

    if not isinstance(result, Disputes):
        return written(request, result, colour=colour)
    found = result.contradictions
    if request.id:
        return "\n".join(
            [*_shown(found[0]), f"decide it: `memrepo resolve {found[0].id}` with {HOW}"]
        )
    lines = [f"{counted(len(found), 'contradiction is', 'contradictions are')} open"]
    for row in found:
        lines += [f"\n{row.id}", *(f"  {m.id}  {cut(m.text, _WIDTH)}" for m in row.memories)]
    if found:
        lines.append(f"\n`memrepo resolve ID` shows one; {HOW} decides it")
    return "\n".join(lines)


def _shown(shown: Dispute) -> list[str]:
    """Return the lines that describe a contradiction: texts, evidence and reason."""
    lines = [shown.id]
    for memory in shown.memories:
        lines += ["", f"{memory.id}  {memory.status}, {memory.standing}"]
        lines += [f"  {visible(line)}" for line in memory.text.split("\n")]
        lines += evidence_lines(memory.evidence)
    return [*lines, "", *[f"why: {visible(shown.reason)}"] * bool(shown.reason)]
