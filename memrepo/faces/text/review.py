"""What `memrepo.actions.review` answers, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memrepo.actions.recall.quotes import evidence_lines
from memrepo.core.ids import visible
from memrepo.core.messages import counted, counted_as, cut
from memrepo.faces.text.takeback import revert
from memrepo.faces.text.write import written

if TYPE_CHECKING:
    from memrepo.actions.review import accept as accepting
    from memrepo.actions.review import diff as diffing
    from memrepo.actions.review import discard as discarding
    from memrepo.actions.review import resolve as resolving
    from memrepo.actions.review import runs as running
    from memrepo.actions.review.disputes import Dispute
    from memrepo.actions.takeback.revert import Result as Reverted
    from memrepo.actions.write.commit import Unchanged, Written

_WIDTH = 80


def accept(
    request: accepting.Request,
    result: accepting.Result | accepting.AlreadyDecided | Reverted,
    *,
    colour: bool,
) -> str:
    """Say how many decisions are in effect, and what was left out."""
    from memrepo.actions.review.accept import AlreadyDecided, Result

    if isinstance(result, AlreadyDecided):
        return f"{result.run} was decided already"
    if not isinstance(result, Result):
        return revert(request, result, colour=colour)
    said = counted(result.decisions, "decision", "decisions")
    commit = f"({result.commits[0][:10]})" if result.commits else "(dry run)"
    lines = [f"accepted {result.run}: {said} in effect {commit}"]
    if result.together:
        lines.append(f"decided together with what you named: {', '.join(result.together)}")
    if result.offered:
        lines.append(f"left out, the next run offers it again: {', '.join(result.offered)}")
    if result.refused:
        lines.append(f"left out, and not proposed again: {len(result.refused)}")
    if result.rejected:
        lines.append(f"of these, a person rejected what they say: {len(result.rejected)}")
    lines += [f"conflict: {c.step}: {c.kind} {c.memory}" for c in result.conflicts]
    return "\n".join(lines)


def discard(request: discarding.Request, result: discarding.Result, *, colour: bool) -> str:
    """Say how many decisions were refused."""
    del colour
    said = f"{counted(len(result.refused), 'decision', 'decisions')} will not be proposed again"
    return f"{'dry run: ' if request.dry_run else ''}discarded {result.run}: {said}"


def runs(request: object, result: running.Result, *, colour: bool) -> str:
    """List what waits, then what is in effect."""
    del request, colour
    lines = [f"{w.run}  waits: {w.why}" for w in result.waiting]
    lines += [f"{r.run}  {r.mode}, {r.judge}: {_counts(r.counts)}" for r in result.runs]
    return "\n".join(lines) or "no run yet"


def _counts(counts: Mapping[str, int] | None) -> str:
    told = [counted_as(n, key.replace("_", " ")) for key, n in sorted((counts or {}).items()) if n]
    return ", ".join(told) or "nothing kept"


def diff(
    request: diffing.Request,
    result: diffing.Result | diffing.Page | diffing.Patch,
    *,
    colour: bool,
) -> str:
    """Tell what changes in memories, in git's own words, or as a page."""
    from memrepo.actions.review.diff import Page, Patch
    from memrepo.views.review_text import review_markdown, review_text

    if isinstance(result, Page):
        return result.page
    if isinstance(result, Patch):
        return result.diff
    if result.html:
        return f"{review_text(result.review, stat=True)}\nwritten to {result.html}"
    if request.markdown:
        return review_markdown(result.review)
    return review_text(result.review, stat=request.stat, colour=colour)


def _corrections(result: resolving.Corrections) -> str:
    """List what was contradicted, and what became of it."""
    lines = [counted(len(result.corrections), "correction", "corrections")]
    for row in result.corrections:
        said = f", {_verdict(row)}" if row.status == "resolved" else ""
        lines.append(f"\n{row.id}  {row.status}{said}")
        lines += [f"  {m.id}  {cut(m.text, _WIDTH)}" for m in row.memories]
    return "\n".join(lines)


def resolve(
    request: resolving.Request,
    result: resolving.Open | resolving.Corrections | resolving.Shown | Written | Unchanged,
    *,
    colour: bool,
) -> str:
    """List what is open, show one, or say what was written."""
    from memrepo.actions.review.resolve import HOW, Corrections, Open, Shown

    if isinstance(result, Corrections):
        return _corrections(result)
    if isinstance(result, Open):
        lines = [f"{counted(len(result.open), 'contradiction is', 'contradictions are')} open"]
        for one in result.open:
            lines.append(f"\n{one.id}")
            lines += [f"  {m.id}  {cut(m.text, _WIDTH)}" for m in one.memories]
        if result.open:
            lines.append(f"\n`memrepo resolve ID` shows one; {HOW} decides it")
        return "\n".join(lines)
    if isinstance(result, Shown):
        lines = _shown(result)
        if result.decision_needed:
            lines.append(f"decide it: `memrepo resolve {result.id}` with {HOW}")
        return "\n".join(lines)
    return written(request, result, colour=colour)


def _shown(shown: resolving.Shown) -> list[str]:
    """Return a contradiction in lines: both texts, where each stands, and why they clash."""
    lines = [f"{shown.id}  {shown.status}"]
    for memory in shown.memories:
        lines += ["", f"{memory.id}  {memory.status}, {memory.standing}"]
        lines += [f"  {visible(line)}" for line in memory.text.split("\n")]
        lines += evidence_lines(memory.evidence or (), memory.source_count)
    lines.append("")
    if shown.reason:
        sure = f" ({shown.confidence:.2f} sure)" if shown.confidence is not None else ""
        lines.append(f"why: {visible(shown.reason)}{sure}")
    if shown.verdict == "context":
        lines.append(f"{_verdict(shown)}, said by {shown.by}")
    if shown.status == "resolved":
        lines.append(f"{_verdict(shown)}, decided by {shown.by}")
    return lines


def _verdict(shown: Dispute | resolving.Shown) -> str:
    match shown.verdict:
        case "superseded":
            return f"{shown.kept} stands"
        case "merged":
            return "another memory replaced both"
        case "context":
            return "not decided: more must be known"
        case "both":
            return "both stand"
        case "neither":
            return "neither stands"
        case "newer":
            return "the newer wording stands"
        case _:
            return "not decided"
