"""Format the results of the verbs in `memrepo.actions.run`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from memrepo.actions.run.ingest import summary
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.views.report import count_lines, in_words, quarantined

if TYPE_CHECKING:
    from memrepo.actions.run import ingest as ingesting
    from memrepo.actions.run import report as reports
    from memrepo.actions.run import session as judging
    from memrepo.actions.run.telemetry import FirstRun, Result, Withheld
    from memrepo.core.manifest import Removal

SHOWN = 5
"""Maximum pending changes that are listed."""


def ingest(request: ingesting.Request, result: ingesting.Result, *, colour: bool) -> str:
    """Format the numbers of new, changed and removed sources."""
    said = summary(result.added, result.changed, result.removed)
    lines = [f"{result.source}: {said or 'nothing new'}"]
    if result.unmatched.count and not result.news:
        lines.append(f"not read: {result.unmatched.said}")
    if result.commit:
        lines.append(f"committed as {result.commit[:10]}")
    elif request.dry_run and said:
        lines.append("dry run: nothing was written")
    return "\n".join(lines)


def report(request: object, result: reports.Chat | reports.LastRun, *, colour: bool) -> str:
    """Return the text of a report, which is already formatted."""
    return result.text


def run(request: object, result: Result, *, colour: bool) -> str:
    """Format the result of a run. The configuration sets the level of detail."""
    if result.report == "silent":
        return ""
    lines = [result.taken_over] if result.taken_over else []
    lines.append(_headline(result) + quarantined(len(result.quarantined)))
    if result.report == "full":
        lines += _details(result)
        if not isinstance(result.first, msgspec.UnsetType):
            lines += _first(result.first)
    return "\n".join(lines)


def _first(first: FirstRun) -> Iterator[str]:
    """Yield lines that explain a first run: files, statements, memories and next steps."""
    rest = max(0, first.statements - first.memories)
    made = counted(first.memories, "memory", "memories")
    files = counted(first.files, "file", "files")
    yield ""
    yield f"{made} of {first.statements} statements in {files}: a run stores lasting facts, up to a"
    found = f"; `memrepo search` finds the other {rest}" if rest else ""
    yield f"share of each file (`run.shelf`){found}"
    if first.unread:
        files = counted(first.unread, "text file is", "text files are")
        yield f"{files} not read ({first.unread_pct:g} % of the text): `memrepo init` lists them"
    if first.properties:
        shown = ", ".join(map(visible, first.properties[:SHOWN]))
        more = len(first.properties) - SHOWN
        yield f"properties of notes are not read: {shown}{f' and {more} more' if more > 0 else ''}"
        yield "(to have one remembered, write it in the note's text)"
    if first.largest:
        yield f"{first.largest_pct} % of the memories come from {visible(first.largest)}"
        yield "(`memrepo sources` shows why, `sources.kinds` changes it)"
    if first.examples:
        yield "for example:"
    yield from (f"  {one.type}: {one.text} ({one.source})" for one in first.examples)
    page = f"read {first.first_page}, the start of each session; " if first.first_page else ""
    yield f"next: {page}`git log` lists each decision"
    yield "      `memrepo revert` undoes the run, `memrepo schedule install` runs it every night"


def judge(request: object, result: judging.Result, *, colour: bool) -> str:
    """Format the next question for the judge with schema and data, or the result of the run."""
    if result.run is not None:
        return run(request, result.run, colour=colour)
    asked = result.question
    if asked is None:
        return "no open question"
    schema = json.dumps(asked.schema, separators=(",", ":"))
    how = f"Answer with the JSON object: `memrepo judge answer {asked.id}`, the object on stdin."
    return "\n\n".join((asked.instructions, schema, asked.data, how))


def _headline(result: Result) -> str:
    pending = _pending(result)
    match result.status:
        case "skipped":
            return "nothing new: no commit was made"
        case "skipped_superseded":
            return f"skipped: {result.why}"
        case "estimate":
            over = f"; {result.why}: the rest would remain for later runs" if result.why else ""
            return f"estimate: {result.said}{over}; no judge was called, nothing was written"
        case "dry-run" if not (result.run or pending):
            return "dry run: nothing new"
        case "dry-run":
            # Unjudged sources may add memories, so "no new memory" would be wrong.
            told = [] if result.unsaid or not result.run else [result.said]
            return f"dry run: {'; '.join(told + pending)}; nothing was written"
        case "held":
            landed = f"run {result.run}: {result.said}\n" if result.landed else ""
            count = len(result.held)
            what = counted(count, "removal is", "removals are") if count else "all changes are"
            return (
                f"{landed}held: {result.why}; {what} pending on {result.branch}"
                " (`memrepo diff` shows them, `memrepo accept` or `memrepo discard` decides)"
                + "".join(f"; {one}" for one in pending)
            )
        case "partial":
            return f"partial: {result.partial}; {result.said} landed, the next run reads the rest"
        case "failed":
            return f"failed: {result.partial}; the next run reads the new text"
        case _ if not result.run:
            return f"sources copied ({result.ingest.summary}), no new statements"
        case _:
            return f"run {result.run}: {result.said}"


def _pending(result: Result) -> list[str]:
    """Return a line that counts changed sources, if any. A dry run does not judge them."""
    taken = result.ingest
    if not taken.is_pending:
        return []
    count = len(taken.added) + len(taken.changed) + len(taken.removed)
    one, many = "source file changed and is", "source files changed and are"
    return [f"{counted(count, one, many)} judged only without --dry-run ({taken.summary})"]


def _details(result: Result) -> list[str]:
    lines = []
    if result.ingest.summary:
        lines.append(f"  ingest: {result.ingest.summary}")
    if result.status != "skipped":
        lines += [f"  {count:>6}  {words}" for count, words in count_lines(result.counts)]
    rows = [_removal(one) for one in result.held] or [*map(_withheld, result.withheld)]
    lines += [f"  pending: {row}" for row in rows[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"  and {len(rows) - SHOWN} more pending")
    if result.reused:
        lines.append(f"  {result.reused:>6}  answers reused from an interrupted run")
    if result.spent and result.status != "estimate":
        lines.append(f"  judge: {result.spent}")
    return lines


def _withheld(one: Withheld) -> str:
    """Describe in one line a decision that awaits review."""
    text = f' "{one.text}"' if one.text else f" {', '.join(one.memories)}"
    why = f" ({in_words(one.reason)})" if one.reason else ""
    return f"{one.op}{text}{why}"


def _removal(removal: Removal) -> str:
    """Describe in one line a removal that awaits review."""
    match removal.op, removal.memories:
        case "supersede", (old, new):
            return f"{old} would be replaced by {new}: {removal.reason}"
        case op, ids:
            return f"{', '.join(ids)} would {op}: {removal.reason}"
