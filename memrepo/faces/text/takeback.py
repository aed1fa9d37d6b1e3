"""What `memrepo.actions.takeback` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.actions.takeback.reject import LiftedAlready, Rejections
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.faces.text.write import written

if TYPE_CHECKING:
    from memrepo.actions.takeback import revert as reverting
    from memrepo.actions.takeback import undo as undoing
    from memrepo.actions.takeback.reject import Rejection
    from memrepo.actions.write.commit import Unchanged, Written

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
