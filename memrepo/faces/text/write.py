"""Format the results of the verbs in `memrepo.actions.write`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.actions.write.add import Added, Repeated
from memrepo.actions.write.commit import Asked, Unchanged, Written
from memrepo.core.ids import visible
from memrepo.core.messages import counted, cut

if TYPE_CHECKING:
    from memrepo.actions.write import add as adding
    from memrepo.actions.write import change


def written(request: object, result: Written | Unchanged, *, colour: bool) -> str:
    """Format a commit and its memories, or the reason why there is no commit."""
    if isinstance(result, Asked):
        return f"{result.id} {result.unchanged}"
    if isinstance(result, Unchanged):
        return f"{result.id} {result.unchanged}: nothing to do"
    commit = f" ({result.commit[:10]})" if result.commit else " (dry run)"
    lines = [f"{result.what}{commit}"]
    lines += [f"  {id_}  {path}" for id_, path in zip(result.memories, result.paths, strict=True)]
    return "\n".join(lines)


archive = confirm = edit = forget = link = pin = promote = supersede = written


def add(request: adding.Request, result: Added | Unchanged, *, colour: bool) -> str:
    """Format a new memory, and list similar memories that it could be linked to."""
    text = written(request, result, colour=colour)
    if isinstance(result, Repeated):
        if not result.unused:
            return text
        unused = ", ".join(result.unused)
        return f"{text}; not applied: {unused} (`memrepo edit`, `pin` change a memory)"
    if isinstance(result, Unchanged) or not result.suggested:
        return text
    lines = [text, "similar memories:"]
    lines += [
        f"  {near.strength:.2f}  {near.target}  {cut(visible(near.text), 60)}"
        for near in result.suggested
    ]
    best = result.suggested[0].target
    lines.append(f"to link them: `memrepo link {result.id} related {best}`")
    return "\n".join(lines)


def directives(
    request: change.DirectivesRequest, result: change.DirectivesResult, *, colour: bool
) -> str:
    """Format the result of each directive, and the health report if requested."""
    from memrepo.faces.text.lifecycle import health

    took = counted(result.counts.steps, "directive took", "directives took")
    lines = [f"{took} effect"]
    lines += [f"  [[{row.directive}]] {row.said}" for row in result.applied]
    if result.health is not None:
        lines.append(health(request, result.health, colour=colour))
    return "\n".join(lines)
