"""`memrepo graph`: show the links between active memories, as a list or as an HTML page."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.recall.destination import place_page
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import UsageError
from memrepo.policies.links import Graph
from memrepo.views.html import GENERATOR, graph_page, label

MOST = 10
"""Number of most linked memories to list."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `graph`."""

    html: Annotated[
        str,
        option("write the graph as an HTML page; - is standard output", "--html", metavar="FILE"),
    ] = ""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """An edge between two memories. `in_body` is true if the text of `source` contains the link."""

    source: str
    target: str
    type: str
    strength: float
    in_body: bool


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """A memory and the number of its links."""

    id: str
    links: int
    label: str


class Result(VerbResult, frozen=True, kw_only=True):
    """The links between the active memories."""

    memories: int
    linked: int
    """Number of memories that have a link."""
    links: tuple[Link, ...]
    most_linked: tuple[Linked, ...]
    html: str = ""
    """Path of the HTML page; empty if none was written."""
    page: str = ""
    """The HTML text, if requested for printing (`--html -`)."""


def do(work: Work, request: Request) -> Result:
    """Return the links and the most linked memories, and write the HTML page if requested."""
    if request.html == "-" and work.call.json:
        raise UsageError(
            "memrepo graph: --html - and --json both write to standard output",
            fix="name a file for the page",
        )
    graph = Graph(work.tree.state().active)
    page = graph_page(graph, work.store.root.name) if request.html else ""
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
    )
