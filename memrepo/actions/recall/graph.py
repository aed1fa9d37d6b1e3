"""`memrepo graph`: the links between the active memories, or around one of them.

As a list, or as a page to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.recall.destination import place_page
from memrepo.actions.recall.lookup import find
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.core.errors import UsageError
from memrepo.policies.links import Graph
from memrepo.views.graph_page import graph_page, label
from memrepo.views.html import GENERATOR

MOST = 10
"""So many of the most linked memories are named."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `graph`."""

    id: Annotated[
        str, option("only what is linked to this memory: id, unique prefix of one, or slug")
    ] = ""
    html: Annotated[
        str,
        option("write a page that draws them, by itself; - prints it", "--html", metavar="FILE"),
    ] = ""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """An edge from one memory to another; `in_body` where its text says so."""

    source: str
    target: str
    type: str
    strength: float
    in_body: bool


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, and how many links it has."""

    id: str
    links: int
    label: str


class Result(result.Result, frozen=True, kw_only=True):
    """The links between the active memories."""

    memories: int
    linked: int
    """How many of them have a link."""
    links: tuple[Link, ...]
    most_linked: tuple[Linked, ...]
    html: str = ""
    """Where the page that draws them was written."""
    page: str = ""
    """The page itself, where it is to be printed (`--html -`)."""
    around: str = ""
    """The memory whose links they are, where one was named."""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    """What the memories around it are called, by id."""


def do(work: Work, request: Request) -> Result:
    """Count the links, name the most linked memories, and draw the page if wanted."""
    if request.html == "-" and work.call.json:
        raise UsageError(
            "memrepo graph: --html - and --json both want standard output",
            fix="name a file for the page",
        )
    state = work.tree.state()
    graph, around = Graph(state.active), ""
    if request.id:
        around = find(state, request.id).id
        near = [around, *(reached.id for reached in graph.related(around, 1))]
        graph = Graph(state.memories[id_] for id_ in near)
    labels = {id_: label(memory) for id_, memory in graph.memories.items()} if around else {}
    page = graph_page(graph, labels.get(around, work.store.root.name)) if request.html else ""
    where = ""
    if request.html and request.html != "-":
        path = (work.call.where / request.html).absolute()
        place_page(work, path, page.encode(), ours=GENERATOR)
        where, page = str(path), ""
    ranked = sorted(graph.at, key=lambda id_: (-len(graph.at[id_]), id_))
    return Result(
        memories=len(graph.memories),
        linked=len(graph.at),
        links=tuple(
            Link(
                source=e.source,
                target=e.target,
                type=e.type,
                strength=e.strength,
                in_body=e.in_body,
            )
            for e in graph.edges
        ),
        most_linked=tuple(
            Linked(id=id_, links=len(graph.at[id_]), label=label(graph.memories[id_]))
            for id_ in ranked[:MOST]
        ),
        html=where,
        page=page,
        around=around,
        labels=labels,
    )
