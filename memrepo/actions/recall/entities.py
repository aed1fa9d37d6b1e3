"""`memrepo entities`: list the people and things that memories mention, with their aliases."""

from __future__ import annotations

import difflib
from typing import Annotated

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.policies.entities import Catalogue, Entity, catalogue


class NoSuchEntity(MemrepoError):
    """Raised when no memory mentions an entity with the given name."""

    exit_code = Exit.USAGE

    def __init__(self, name: str, known: Catalogue) -> None:
        near = difflib.get_close_matches(name.casefold(), known.by_name, n=1)
        super().__init__(
            f"no memory mentions {name!r}",
            fix=f"did you mean {known.by_name[near[0]].name}?"
            if near
            else "`memrepo entities` lists all names",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `entities`."""

    name: Annotated[
        str, option("one entity, by any of its names (default: all)", metavar="NAME")
    ] = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One entity. `confirmed` counts the memories where a person or a model named it."""

    name: str
    aliases: tuple[str, ...]
    count: int
    confirmed: int
    memories: tuple[str, ...]


class Entities(VerbResult, frozen=True, kw_only=True):
    """All entities that the active memories mention."""

    entities: tuple[Row, ...]


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that mentions an entity, and whether a person or a model named the entity there."""

    id: str
    path: str
    text: str
    confirmed: bool


class Mentioned(VerbResult, frozen=True, kw_only=True):
    """One entity, and the memories that mention it."""

    name: str
    aliases: tuple[str, ...]
    count: int
    confirmed: int
    memories: tuple[Mention, ...]


def do(work: Work, request: Request) -> Entities | Mentioned:
    """Return all entities of the active memories, or one entity with its memories."""
    state = work.tree.state()
    known = catalogue(state.active, work.config.get("entities.aliases"))
    if not request.name:
        return Entities(entities=tuple(map(_row, known.entities)))
    entity = known.find(request.name)
    if entity is None:
        raise NoSuchEntity(request.name, known)
    return Mentioned(
        name=entity.name,
        aliases=entity.aliases,
        count=len(entity.memories),
        confirmed=len(entity.confirmed),
        memories=tuple(
            Mention(
                id=id_,
                path=state.memories[id_].path,
                text=state.memories[id_].body,
                confirmed=id_ in entity.confirmed,
            )
            for id_ in entity.memories
        ),
    )


def _row(entity: Entity) -> Row:
    return Row(
        name=entity.name,
        aliases=entity.aliases,
        count=len(entity.memories),
        confirmed=len(entity.confirmed),
        memories=entity.memories,
    )
