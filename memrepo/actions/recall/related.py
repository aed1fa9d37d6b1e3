"""`memrepo related`: list memories connected to one memory by links or by replacement."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import cut
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.entities import catalogue, ties
from memrepo.policies.links import Graph, Reached

WIDTH = 72


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `related`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    depth: Annotated[
        int, option("maximum number of links to follow (1)", "--depth", metavar="N", ge=1)
    ] = 1
    explain: Annotated[
        bool, option("also show what each pair of memories has in common", "--explain")
    ] = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
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


class Result(VerbResult, frozen=True, kw_only=True):
    """The related memories, nearest and strongest first."""

    id: str
    label: str
    related: tuple[Row, ...]


def do(work: Work, request: Request) -> Result:
    """Return the memories related to a memory, nearest and strongest first."""
    state = work.tree.state()
    memory = find(state, request.id)
    graph = graph_of(state)
    rows = [_row(graph, reached) for reached in graph.related(memory.id, request.depth)]
    if request.explain:
        rows = _explained(work, state, rows)
    return Result(id=memory.id, label=_label(memory), related=tuple(rows))


def graph_of(state: State) -> Graph:
    """Return a graph of links and successions between all memories that were not forgotten."""
    found = (m for m in state.memories.values() if m.status != "forgotten")
    return Graph(found, lineage=True)


def _row(graph: Graph, reached: Reached) -> Row:
    memory, edge = graph.memories[reached.id], reached.edge
    return Row(
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


def _explained(work: Work, state: State, rows: list[Row]) -> list[Row]:
    """Add to each row the names that both linked memories mention."""
    wanted = {id_ for row in rows for id_ in (row.id, row.via)}
    known = catalogue(state.active, work.config.get("entities.aliases"))
    found = ties({id_: state.memories[id_] for id_ in wanted}, known)
    told = []
    for row in rows:
        one, other = sorted((row.id, row.via))
        tie = found.get((one, other))
        told.append(replace(row, why=tie.told if tie else ""))
    return told


def _label(memory: Memory) -> str:
    return cut(visible(without_secrets(memory.text("title") or memory.body)), WIDTH)
