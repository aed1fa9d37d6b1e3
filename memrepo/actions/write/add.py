"""`memrepo add`: a memory by hand, in one commit; an equal text returns the memory there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Answer, Work
from memrepo.actions.write.adding import BY_HAND, Drafts, Entry, checked
from memrepo.actions.write.single import said, unchanged, write
from memrepo.core.changes import Create, Step
from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.messages import fold
from memrepo.core.state import State
from memrepo.policies.classes import class_of
from memrepo.policies.similarity import akin


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `add`."""

    text: Annotated[str, option("the memory, or - for standard input", metavar="TEXT", piped=True)]
    type: Annotated[str | None, option("kind of memory (fact)", "--type", choices=BY_HAND)] = None
    title: Annotated[str, option("display name", "--title")] = ""
    layer: Annotated[
        str | None, option("layer, where not the type's own", "--layer", choices=LAYERS)
    ] = None
    tag: Annotated[tuple[str, ...], option("a tag; may be repeated", "--tag")] = ()
    entity: Annotated[tuple[str, ...], option("a name it mentions", "--entity")] = ()
    scope: Annotated[str, option("user:..., project:... or agent:...", "--scope")] = ""
    valid_from: Annotated[str, option("true from", "--valid-from", metavar="DATE")] = ""
    valid_until: Annotated[str, option("true until", "--valid-until", metavar="DATE")] = ""
    pin: Annotated[bool, option("never age, evict or prune it", "--pin")] = False
    critical: Annotated[bool, option("needed in every session", "--critical")] = False
    cls: Annotated[str, option("decay class", "--class", metavar="CLASS")] = ""
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Answer:
    """Write the memory."""
    text = said(request.text, "the text")
    near: list[tuple[Memory, float]] = []

    def draft(state: State) -> Step | Answer:
        near.clear()
        return _draft(work, request, state, text, near)

    return _with_suggestions(write(work, request, draft), near)


def _draft(
    work: Work,
    request: Request,
    state: State,
    text: str,
    near: list[tuple[Memory, float]],
) -> Step | Answer:
    """Return the commit that writes the memory; what it is like goes to `near`."""
    memory, new = Drafts(work, state).take(_entry(request, text))
    if not new:
        return _repeated(memory, request)
    near += akin(memory, state.active)
    return Step(
        op="create",
        what=f"{memory.slug} by hand",
        reason="added by hand",
        changes=(Create(memory=memory),),
    )


def _with_suggestions(answer: Answer, near: Sequence[tuple[Memory, float]]) -> Answer:
    """Add to an answer the links that a person may want to make: none is made by itself."""
    id_ = answer.data.get("id", "")
    links = [
        {"target": other.id, "type": "related", "strength": score, "text": other.body}
        for other, score in near
    ]
    lines = [answer.text]
    if links:
        lines.append("of the same matter, by their words:")
    for other, score in near:
        lines.append(f"  {score:.2f}  {other.id}  {fold(visible(other.body), 60)}")
    if links:
        lines.append(f"to link them: `memrepo link {id_} related {links[0]['target']}`")
    data = {**answer.data, "suggested": links} if "op" in answer.data else answer.data
    return replace(answer, data=data, text="\n".join(lines))


def _entry(request: Request, text: str) -> Entry:
    return Entry(
        text=text,
        type=request.type or "fact",
        title=request.title,
        layer=request.layer or "",
        tags=tuple(request.tag),
        entities=tuple(request.entity),
        scope=request.scope,
        valid_from=request.valid_from,
        valid_until=request.valid_until,
        pinned=request.pin,
        critical=request.critical,
        cls=request.cls,
    )


def _repeated(memory: Memory, request: Request) -> Answer:
    """Return the memory there is, and which options it does not answer to: none was applied."""
    given = {
        "--type": request.type in (None, memory.type),
        "--title": request.title in ("", memory.text("title")),
        "--layer": request.layer in (None, memory.layer),
        "--tag": set(request.tag) <= set(memory.texts("tags")),
        "--entity": set(request.entity) <= set(memory.texts("entities")),
        "--valid-from": _says(memory, "valid_from", request.valid_from),
        "--valid-until": _says(memory, "valid_until", request.valid_until),
        "--pin": not request.pin or bool(memory.fields.get("pinned")),
        "--critical": not request.critical or memory.flag("critical"),
        "--class": request.cls in ("", class_of(memory)),
    }
    unused = [option for option, met in given.items() if not met]
    answer = unchanged(memory, "says this already")
    text = answer.text
    if unused:
        text += f"; not applied: {', '.join(unused)} (`memrepo edit`, `pin` change a memory)"
    return replace(answer, data={**answer.data, "unused": unused}, text=text)


def _says(memory: Memory, key: str, value: str) -> bool:
    return not value or memory.fields.get(key) == checked(key, value)
