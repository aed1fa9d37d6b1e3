"""Format the results of the verbs in `memrepo.actions.past`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from memrepo.actions.past.log import detailed
from memrepo.actions.recall.quotes import evidence_lines, span
from memrepo.core.ids import visible
from memrepo.core.messages import cut
from memrepo.core.times import format_time
from memrepo.views.report import (
    counts_in_words,
    in_words,
    is_code,
    judged_in_words,
    learned_in_words,
)

if TYPE_CHECKING:
    from memrepo.actions.past import log as logging
    from memrepo.actions.past import why as explaining
    from memrepo.actions.past.log import Act, Commit
    from memrepo.actions.past.why import Blame, History, MemoryCommit, Setter

INDENT = " " * 30
VALUE, TEXT = 60, 100
"""Maximum characters of a field value, and of a text."""


def log(request: logging.Request, result: logging.Result | logging.Runs, *, colour: bool) -> str:
    """Format the log: its commits with any requested reasons, or the list of runs.

    Pending runs are listed first.
    """
    from memrepo.actions.past.log import Runs

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


def _kept(counts: Mapping[str, int] | None) -> str:
    return ", ".join(counts_in_words(counts or {})) or "nothing new"


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
        lines += [f"{INDENT}{line}" for line in _changed(entry)]
    return "\n".join(lines)


def _changed(entry: MemoryCommit) -> Iterator[str]:
    """Yield lines that describe how a commit changed a memory."""
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
                yield f"{name}: {_value(old)} -> {_value(new)}"


def _value(value: object) -> str:
    """Format the value of a field on one short line. Format an empty value as `none`."""
    if value in (None, [], ""):
        return "none"
    if isinstance(value, list):
        first = _value(value[-1])
        return first if len(value) == 1 else f"{len(value)}, last {first}"
    if isinstance(value, dict) and "resource" in value:
        value = f"{value['resource']}{span([int(n) for n in value.get('lines', (0, 0))])}"
    if isinstance(value, dict):
        keys = [f"{key} {part}" for key, part in value.items() if key not in ("blob", "text_hash")]
        value = ", ".join(keys)
    text = " ".join(visible(str(value)).split())
    return text if len(text) <= VALUE else f"{text[: VALUE - 1].rstrip()}…"


def _blame(result: Blame) -> str:
    """Format the fields and text lines of a memory by the commit that set them, newest first."""
    groups: dict[str, list[str]] = {}
    acts: dict[str, Setter] = {}
    for name, field in result.fields.items():
        acts[field.commit] = field
        groups.setdefault(field.commit, []).append(f"{name:<14} {_value(field.value)}")
    for stretch in result.lines:
        first, last = stretch.lines
        name = f"text {first}" + (f"-{last}" if last > first else "")
        acts[stretch.commit] = stretch
        for line in stretch.text.split("\n"):
            row = f"{name:<14} {visible(line)}".rstrip()
            groups.setdefault(stretch.commit, []).append(row)
            name = ""
    lines = [*result.heading, result.id]
    for commit in (commit for commit in result.commits if commit in groups):
        act = acts[commit]
        run = f", run {visible(act.run)}" if act.run else ""
        when = _local(act.when, result.zone)
        lines += ["", f"{when}  {act.commit[:10]}  {act.op} by {visible(act.by)}{run}"]
        lines.append(f"  {visible(in_words(act.reason))}")
        if act.cut:
            lines.append("  or set before: this shallow clone ends here")
        lines += [f"    {row}" for row in groups[commit]]
    return "\n".join(lines)


def why(
    request: explaining.Request, result: explaining.Result | History | Blame, *, colour: bool
) -> str:
    """Format the answer to `why`: the evidence for a memory, its history, or its blame."""
    from memrepo.actions.past.why import Blame, History

    match result:
        case History():
            return _history(result)
        case Blame():
            return _blame(result)
    return _evidence(result)


def _evidence(result: explaining.Result) -> str:
    """Format the evidence for a memory, with judgements, decisions and related memories."""
    standing = f"{result.type}, {result.status}, {result.standing}"
    lines = [*result.heading, f"{result.id}  {standing}", f"  {_short(result.text)}", ""]
    quoted = evidence_lines(result.evidence, result.source_count)
    lines += quoted or ["evidence:      none on record"]
    for judged in result.judgements:
        lines += _judged(judged)
    if result.scores:
        said = ", ".join(f"{key.replace('_', ' ')} {n}" for key, n in result.scores.items())
        lines.append(f"scores:        {said}")
    for decided in result.decisions:
        lines += _decided(decided)
    lines += [f"{'replaced:':<15}{_other(other)}" for other in result.supersession.before]
    lines += [f"{'replaced by:':<15}{_other(other)}" for other in result.supersession.after]
    if result.duplicates.of:
        lines.append(f"{'repeats:':<15}{result.duplicates.of}")
    lines += [f"{'repeated by:':<15}{_other(other)}" for other in result.duplicates.by]
    lines += [f"{'contradicts:':<15}{_other(other)}" for other in result.contested]
    lines += [
        f"{'retired:':<15}{visible(in_words(gone['reason']))} (run {visible(gone['run'])})"
        for gone in result.retired
    ]
    lines += [
        f"{'correction:':<15}{visible(file.path)}  {file.title}" for file in result.corrections
    ]
    return "\n".join(lines)


def _judged(judged: explaining.RunJudgement) -> Iterator[str]:
    where = f", in {judged.accepted[:10]}" if judged.accepted else ""
    reason = judged_in_words(judged.reason)
    said = judged_in_words(judged.disposition) + (f" ({reason})" if reason else "")
    yield f"judged:        {visible(said)}, run {judged.run}{where}"
    for verdict in judged.verdicts:
        strength = "" if verdict.strength is None else f" {verdict.strength}"
        why = "" if is_code(verdict.rationale) else f": {_short(verdict.rationale)}"
        yield f"  {visible(verdict.verdict)}{strength}{why}"
        if told := learned_in_words(verdict.rationale):
            yield f"  {told}"
    if judged.rationale and not is_code(judged.rationale):
        yield f"  {_short(judged.rationale)}"


def _decided(decided: Act) -> Iterator[str]:
    when = format_time(decided.when).replace("T", " ").removesuffix(":00Z").removesuffix("Z")
    landed = ""
    if decided.accepted != decided.commit:
        landed = f", accepted in {decided.accepted[:10]}"
    who = f"{decided.op} in {decided.commit[:10]} by {visible(decided.by)}"
    yield f"decided:       {who}, {when} UTC{landed}"
    if decided.reason:
        yield f"  {_short(in_words(decided.reason))}"


def _other(other: explaining.Other) -> str:
    if other.gone:
        return f"{other.id}  (not there any more; `memrepo why {other.id} --show history`)"
    when = f" {other.superseded_at}" if other.superseded_at else ""
    return f"{other.id}  {_short(other.text)} ({other.status}{when})"


def _short(text: str) -> str:
    return cut(text, TEXT)
