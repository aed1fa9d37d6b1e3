"""`memrepo related` and `entities`: what memories are linked to and what they mention."""

from __future__ import annotations

import difflib
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import cut
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.entities import Catalogue, catalogue, ties
from memrepo.policies.links import Graph, Reached

LABEL_WIDTH = 72


class RelatedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `related`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    depth: Annotated[
        int, option("maximum number of links to follow (1)", "--depth", metavar="N", ge=1)
    ] = 1
    explain: Annotated[
        bool, option("also show what each pair of memories has in common", "--explain")
    ] = False


class RelatedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A related memory, its distance in links, and the last link on the path to it."""

    id: str
    path: str
    text: str
    status: str
    depth: int
    strength: float
    type: str
    way: Literal["to", "from"]
    """Whether the link points to this memory or comes from it."""
    in_body: bool
    via: str
    """The previous memory on the path."""
    label: str
    why: str = ""
    """The names that both ends have in common, if requested."""


class Related(VerbResult, frozen=True, kw_only=True):
    """The related memories, nearest and strongest first."""

    id: str
    label: str
    related: tuple[RelatedMemory, ...]


def related(work: Work, request: RelatedRequest) -> Related:
    """Return the memories related to a memory, nearest and strongest first."""
    state = work.tree.state()
    memory = find(state, request.id)
    graph = graph_of(state)
    rows = [_related(graph, reached) for reached in graph.related(memory.id, request.depth)]
    if request.explain:
        rows = _explained(work, state, rows)
    return Related(id=memory.id, label=_label(memory), related=tuple(rows))


def graph_of(state: State) -> Graph:
    """Return a graph of links and successions between all memories that were not forgotten."""
    found = (m for m in state.memories.values() if m.status != "forgotten")
    return Graph(found, lineage=True)


def _related(graph: Graph, reached: Reached) -> RelatedMemory:
    memory, edge = graph.memories[reached.id], reached.edge
    return RelatedMemory(
        id=memory.id,
        path=memory.path,
        text=memory.body,
        status=memory.status,
        depth=reached.depth,
        strength=round(reached.strength, 4),
        type=edge.type,
        way="to" if edge.target == reached.id else "from",
        in_body=edge.in_body,
        via=reached.before,
        label=_label(memory),
    )


def _explained(work: Work, state: State, rows: list[RelatedMemory]) -> list[RelatedMemory]:
    """Add to each row the names that both linked memories mention."""
    wanted = {id_ for row in rows for id_ in (row.id, row.via)}
    known = catalogue(state.active, work.config.entities.aliases)
    found = ties({id_: state.memories[id_] for id_ in wanted}, known)
    shared = [found.get((min(row.id, row.via), max(row.id, row.via))) for row in rows]
    return [
        replace(row, why=tie.reason) if tie else row for row, tie in zip(rows, shared, strict=True)
    ]


def _label(memory: Memory) -> str:
    return cut(visible(without_secrets(memory.text("title") or memory.body)), LABEL_WIDTH)


# -- entities --------------------------------------------------------------------------------------


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


class EntitiesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `entities`."""

    name: Annotated[
        str, option("one entity, by any of its names (default: all)", metavar="NAME")
    ] = ""


class EntityRow(msgspec.Struct, frozen=True, kw_only=True):
    """One entity. `confirmed` counts the memories where a person or a model named it."""

    name: str
    aliases: tuple[str, ...]
    count: int
    confirmed: int
    memories: tuple[str, ...]


class Entities(VerbResult, frozen=True, kw_only=True):
    """All entities that the active memories mention."""

    entities: tuple[EntityRow, ...]


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


def entities(work: Work, request: EntitiesRequest) -> Entities | Mentioned:
    """Return all entities of the active memories, or one entity with its memories."""
    state = work.tree.state()
    known = catalogue(state.active, work.config.entities.aliases)
    if not request.name:
        rows = (
            EntityRow(
                name=one.name,
                aliases=one.aliases,
                count=len(one.memories),
                confirmed=len(one.confirmed),
                memories=one.memories,
            )
            for one in known.entities
        )
        return Entities(entities=tuple(rows))
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
