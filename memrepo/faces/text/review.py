"""What `memrepo.actions.review` answers, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memrepo.actions.recall.quotes import evidence_lines
from memrepo.core.ids import visible
from memrepo.core.messages import counted, counted_as, cut
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


from typing import TYPE_CHECKING

from memrepo.actions.takeback.reject import LiftedAlready, Rejections

if TYPE_CHECKING:
    from memrepo.actions.takeback import revert as reverting
    from memrepo.actions.takeback import undo as undoing
    from memrepo.actions.takeback.reject import Rejection
    from memrepo.actions.write.commit import Unchanged, Written


from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrepo.actions.purge import purge as purging


def purge(request: purging.Request, result: purging.Result, *, colour: bool) -> str:
    """Say where the value stood, what was done, and what is left for others to do."""
    del colour
    if result.verified is not None:
        lines = [_verified(result)]
    elif not result.hits:
        lines = ["the value stands nowhere here: nothing was changed"]
    elif request.dry_run:
        lines = _listed(result)
    else:
        total = sum(result.hits.values())
        lines = [f"purged from {counted(total, 'place', 'places')}, receipt {result.receipt}"]
        lines += [f"  {kind:<16} {hits}" for kind, hits in result.hits.items()]
        lines.append(
            f"{counted(result.commits, 'commit', 'commits')} written anew; tried before: "
            f"{', '.join(result.tried)}"
        )
    lines += [
        f"left to you: {kind}, {counted(hits, 'hit', 'hits')}" for kind, hits in result.left.items()
    ]
    lines += [f"waits for clone {c.clone}" for c in result.clones if not c.acknowledged]
    if result.collect:
        lines.append(
            f"`memrepo sync` tells the hub and the clones; then, on the hub: {result.collect}"
        )
    return "\n".join(lines)


def _verified(result: purging.Result) -> str:
    if result.verified:
        else_ = " else" if result.left else ""
        return f"{result.receipt}: found nowhere{else_}"
    where = [f"  {p.kind:<16} {visible(p.where)}  {p.hits}" for p in result.places]
    return "\n".join([f"{result.receipt}: still found", *where])


def _listed(result: purging.Result) -> list[str]:
    lines = []
    for kind in dict.fromkeys(place.kind for place in result.places):
        found = [place for place in result.places if place.kind == kind]
        lines.append(f"{kind}: {sum(place.hits for place in found)}")
        for place in found:
            via = f"  ({visible(place.via)})" if place.via else ""
            lines.append(f"  {visible(place.where)}  {place.hits}{via}")
    return [*lines, "dry run: nothing was changed"]


restore = written


def revert(request: object, result: reverting.Result, *, colour: bool) -> str:
    """Say what was taken back, or what stands in the way."""
    del request, colour
    name = result.name
    if result.conflicts:
        return _clashing(result)
    if not result.commits:
        said = "would touch" if result.files else "changes nothing: later work stands in all of its"
        return f"reverting {name} {said} {counted(result.files, 'file', 'files')}"
    before = ("file as it was before", "files as they were before")
    kept = "later work kept" if not result.overridden else "later work reverted too"
    later = (f"file changed, {kept}", f"files changed, {kept}")
    files = counted(result.files, *(before if result.latest else later))
    lines = [f"reverted {name} in {result.commits[0][:10]}: {files}"]
    if result.overridden:
        lines.append(f"later work that it clashed with was on {', '.join(result.overridden)}")
    if result.together:
        lines.append(f"with it, since they were decided together: {', '.join(result.together)}")
    lines += [f"taken back with it, since it depended on it: {s}" for s in result.also_subjects]
    if result.anew:
        lines.append("its input counts as new again; what it proposes anew will wait for review")
    return "\n".join(lines)


def _clashing(result: reverting.Result) -> str:
    lines = [f"{result.name} clashes with later work; nothing was written"]
    for clash in result.conflicts:
        on = f"  on {clash.on}" if clash.on else ""
        lines.append(f"  {clash.kind:<14} {clash.memory}  {clash.path}{on}")
    lines.append("--ours keeps the later work there, --theirs takes it back too")
    if any(clash.kind == "depended-on" for clash in result.conflicts):
        lines.append("--with-dependents takes back the later steps that depend on it")
    return "\n".join(lines)


def undo(request: undoing.Request, result: undoing.Result, *, colour: bool) -> str:
    """Say what was undone, or would be, or why it cannot simply be."""
    short = result.undone.commit[:10]
    what, body = f"{result.undone.subject} ({short})", revert(request, result, colour=colour)
    if result.conflicts:
        return f"{what}\n{body}\nchoose with `memrepo revert {short} --ours` or `--theirs`"
    if not result.commits:
        return f"would undo {what}\n{body}"
    return f"undid {what}\n{body}\n`memrepo undo` again brings it back"


def reject(request: object, result: Written | Unchanged | Rejections, *, colour: bool) -> str:
    """Say what was rejected or lifted, or list the rejections, each with its reason."""
    if isinstance(result, Rejections):
        return "\n".join(map(_rejection, result.rejected)) or "nothing is rejected"
    if isinstance(result, LiftedAlready):
        return f"{', '.join(result.keys)} is lifted already: nothing to do"
    return written(request, result, colour=colour)


def _rejection(stone: Rejection) -> str:
    slug = stone.path.rsplit("/", 1)[-1].removesuffix(".md")
    lifted = " lifted" if stone.state == "lifted" else ""
    scope = f" in {visible(stone.scope)}" if stone.scope else ""
    return (
        f"{stone.key}{lifted}  {stone.at:%Y-%m-%d}  {stone.by}"
        f"  {slug or f'{stone.memory} (no longer in the tree)'}{scope}\n"
        f"    {visible(stone.reason)}"
    )


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
