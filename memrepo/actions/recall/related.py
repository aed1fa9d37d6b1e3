"""`memrepo related`: what a memory is linked to or replaced, both ways."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import cut
from memrepo.core.secrets import without_secrets
from memrepo.policies.links import Graph, Reached

LABEL_WIDTH = 72


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `related`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    depth: Annotated[
        int, option("maximum number of links to follow (1)", "--depth", metavar="N", ge=1)
    ] = 1


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


class Related(VerbResult, frozen=True, kw_only=True):
    """The related memories, nearest and strongest first."""

    id: str
    label: str
    related: tuple[RelatedMemory, ...]


def do(work: Work, request: Request) -> Related:
    """Return the memories related to a memory, nearest and strongest first."""
    state = work.tree.state()
    memory = find(state, request.id)
    known = (m for m in state.memories.values() if m.status != "forgotten")
    graph = Graph(known, lineage=True)
    rows = tuple(_related(graph, reached) for reached in graph.related(memory.id, request.depth))
    return Related(id=memory.id, label=_label(memory), related=rows)


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


def _label(memory: Memory) -> str:
    return cut(visible(without_secrets(memory.text("title") or memory.body)), LABEL_WIDTH)
