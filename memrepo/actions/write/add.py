"""`memrepo add`: a memory by hand, in one commit; an equal text returns the memory there is."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import asdict

from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, said, write
from memrepo.actions.write.drafts import BY_HAND, Drafts, Entry, checked
from memrepo.core.changes import Create, Step
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.state import State
from memrepo.policies.decay import class_of
from memrepo.policies.matching import akin


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `add`."""

    text: Annotated[str, option("the memory, or - for standard input", metavar="TEXT", piped=True)]
    type: Annotated[str | None, option("kind of memory (fact)", "--type", choices=BY_HAND)] = None
    title: Annotated[str, option("display name", "--title")] = ""
    subject: Annotated[str, option("whom or what it is about", "--subject")] = ""
    predicate: Annotated[
        str, option("what it says of the subject, such as email or task", "--predicate")
    ] = ""
    object: Annotated[str, option("the value that it gives", "--object")] = ""
    layer: Annotated[
        str | None, option("layer, where not the type's own", "--layer", choices=LAYERS)
    ] = None
    tags: Annotated[tuple[str, ...], option("a tag; may be repeated", "--tag")] = ()
    entities: Annotated[tuple[str, ...], option("a name it mentions", "--entity")] = ()
    scope: Annotated[str, option("user:..., project:... or agent:...", "--scope")] = ""
    valid_from: Annotated[str, option("true from", "--valid-from", metavar="DATE")] = ""
    valid_until: Annotated[str, option("true until", "--valid-until", metavar="DATE")] = ""
    pinned: Annotated[bool, option("never age, evict or prune it", "--pin")] = False
    critical: Annotated[bool, option("needed in every session", "--critical")] = False
    cls: Annotated[str, option("decay class", "--class", metavar="CLASS")] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A link that a person may want to make: none is made by itself."""

    target: str
    type: str
    strength: float
    text: str


class Added(Written, frozen=True, kw_only=True):
    """The commit that writes the memory, and what is of the same matter by its words."""

    suggested: tuple[Suggestion, ...]


class Repeated(Unchanged, frozen=True, kw_only=True):
    """The memory there is, and the options that it does not answer to: none was applied."""

    unused: tuple[str, ...]


def do(work: Work, request: Request) -> Added | Repeated:
    """Write the memory."""
    text = said(request.text, "the text")
    near: list[tuple[Memory, float]] = []

    def draft(state: State) -> Step | Repeated:
        near.clear()
        return _draft(work, request, state, text, near)

    done = write(work, request, draft)
    if isinstance(done, Repeated):
        return done
    suggested = tuple(
        Suggestion(target=other.id, type="related", strength=score, text=other.body)
        for other, score in near
    )
    return Added(**asdict(done), suggested=suggested)


def _draft(
    work: Work,
    request: Request,
    state: State,
    text: str,
    near: list[tuple[Memory, float]],
) -> Step | Repeated:
    """Return the commit that writes the memory; what it is like goes to `near`."""
    memory, new = Drafts(work, state).take(_entry(request, text))
    if not new:
        return _repeated(memory, request)
    near += akin(memory, state.active)
    return Step(
        op="create",
        reason="added by hand",
        changes=(Create(memory=memory),),
    )


def _entry(request: Request, text: str) -> Entry:
    return Entry(
        text=text,
        type=request.type or "fact",
        title=request.title,
        subject=request.subject,
        predicate=request.predicate,
        object=request.object,
        layer=request.layer or "",
        tags=tuple(request.tags),
        entities=tuple(request.entities),
        scope=request.scope,
        valid_from=request.valid_from,
        valid_until=request.valid_until,
        pinned=request.pinned,
        critical=request.critical,
        cls=request.cls,
    )


def _repeated(memory: Memory, request: Request) -> Repeated:
    given = {
        "--type": request.type in (None, memory.type),
        **{
            f"--{name}": getattr(request, name) in ("", memory.text(name))
            for name in ("title", "subject", "predicate", "object")
        },
        "--layer": request.layer in (None, memory.layer),
        "--tag": set(request.tags) <= set(memory.texts("tags")),
        "--entity": set(request.entities) <= set(memory.texts("entities")),
        "--valid-from": _says(memory, "valid_from", request.valid_from),
        "--valid-until": _says(memory, "valid_until", request.valid_until),
        "--pin": not request.pinned or bool(memory.fields.get("pinned")),
        "--critical": not request.critical or memory.flag("critical"),
        "--class": request.cls in ("", class_of(memory)),
    }
    return Repeated(
        id=memory.id,
        path=memory.path,
        unchanged="says this already",
        unused=tuple(option for option, met in given.items() if not met),
    )


def _says(memory: Memory, key: str, value: str) -> bool:
    return not value or memory.fields.get(key) == checked(key, value)
