"""Format the results of the verbs in `memrepo.actions.review`, `takeback` and `purge`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memrepo.actions.recall.quotes import evidence_lines
from memrepo.actions.takeback.reject import Rejections
from memrepo.core.ids import visible
from memrepo.core.messages import counted, cut, fold
from memrepo.faces.text.changes import written
from memrepo.faces.text.plumbing import fenced_markdown
from memrepo.views.report import in_words
from memrepo.views.review import Change, Line, Review, change_lines

if TYPE_CHECKING:
    from memrepo.actions.review import accept as accepting
    from memrepo.actions.review import diff as diffing
    from memrepo.actions.review import resolve as resolving
    from memrepo.actions.takeback import revert as reverting
    from memrepo.actions.write.commit import Unchanged, Written
    from memrepo.merge.tombstones import Tombstone

TEXT = 160
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
    lines = [f"{fold(review.title, TEXT)}: no memory differs"]
    if totals:
        count = counted(len(review.changes), "memory", "memories")
        lines = [f"{fold(review.title, TEXT)}: {count} ({totals})"]
    if review.reason:
        label = "pending because" if review.state == "waits" else "because"
        lines.append(f"{label}: {fold(review.reason, 500)}")
    lines += _context(review)
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


def _context(review: Review) -> Iterator[str]:
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
    if result.reads_again:
        lines.append(
            "the next run reads the reverted input again; what it proposes again is left out"
        )
    return "\n".join(lines)


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
    statement = cut(stone.statement, TEXT)
    return (
        f"{stone.key}  {stone.at:%Y-%m-%d}  {stone.by}{scope}: {visible(stone.reason)}\n"
        f"    {statement}"
    )


_WIDTH = 80


def accept(request: accepting.AcceptRequest, result: accepting.Decided, colour: bool) -> str:
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


def diff(request: diffing.Request, result: diffing.Result, colour: bool) -> str:
    """Format the changes in memories as text or as markdown."""
    if request.markdown:
        text = review_text(result.review)
        return fenced_markdown("What changes in memory", text, MAX_REVIEW)
    return review_text(result.review, stat=request.stat, colour=colour)


def resolve(
    request: resolving.Request, result: resolving.Disputes | Written | Unchanged, colour: bool
) -> str:
    """Format the contradictions, the details of one of them, or the result of a decision."""
    from memrepo.actions.review.resolve import HOW, Disputes

    if not isinstance(result, Disputes):
        return written(request, result, colour=colour)
    if request.id:
        (one,) = result.corrections
        ask = [f"decide it: `memrepo resolve {one.id}` with {HOW}"]
        return "\n".join([*_shown(one), *ask * (one.status == "open")])
    found = result.corrections
    are_open = not request.list
    lines = [counted(len(found), "correction", "corrections")]
    if are_open:
        lines = [f"{counted(len(found), 'contradiction is', 'contradictions are')} open"]
    for row in found:
        verdict = f", {_verdict(row)}" if row.status == "resolved" else ""
        lines.append(f"\n{row.id}" + ("" if are_open else f"  {row.status}{verdict}"))
        lines += [f"  {m.id}  {cut(m.text, _WIDTH)}" for m in row.memories]
    if found and are_open:
        lines.append(f"\n`memrepo resolve ID` shows one; {HOW} decides it")
    return "\n".join(lines)


def _shown(shown: resolving.Dispute) -> list[str]:
    """Return the lines that describe a contradiction: status, texts, evidence and reason."""
    lines = [f"{shown.id}  {shown.status}"]
    for memory in shown.memories:
        lines += ["", f"{memory.id}  {memory.status}, {memory.standing}"]
        lines += [f"  {visible(line)}" for line in memory.text.split("\n")]
        lines += evidence_lines(memory.evidence)
    lines.append("")
    if shown.reason:
        sure = f" (confidence {shown.confidence:.2f})" if shown.confidence is not None else ""
        lines.append(f"why: {visible(shown.reason)}{sure}")
    if shown.status == "resolved":
        lines.append(f"{_verdict(shown)}, decided by {shown.by}")
    return lines


def _verdict(shown: resolving.Dispute) -> str:
    match shown.verdict:
        case "superseded":
            return f"{shown.kept} was kept"
        case "both":
            return "both remain"
        case _:
            return "not decided"
