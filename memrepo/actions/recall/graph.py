"""`memrepo graph`: the links between the active memories, as a list or as a page to look at."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import msgspec

from memrepo.actions.recall.destination import place_page
from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import UsageError
from memrepo.core.messages import counted
from memrepo.policies.graph import Graph
from memrepo.views.graph_page import TYPES, graph_page, label
from memrepo.views.html import GENERATOR

MOST = 10
"""So many of the most linked memories are named in the terminal."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `graph`."""

    html: Annotated[
        str | None,
        option("write a page that draws them, by itself; - prints it", "--html", metavar="FILE"),
    ] = None


def do(work: Work, request: Request) -> Answer:
    """Count the links, name the most linked memories, and draw the page if wanted."""
    if request.html == "-" and work.call.json:
        raise UsageError(
            "memrepo graph: --html - and --json both want standard output",
            fix="name a file for the page",
        )
    graph = Graph(work.tree.state().active)
    data, lines = _data(graph), _lines(graph)
    if request.html:
        page = graph_page(graph, work.store.root.name)
        if request.html == "-":
            return Answer(text=page.rstrip("\n"))
        where = (work.call.where / request.html).absolute()
        place_page(work, where, page.encode(), ours=GENERATOR)
        data["html"] = str(where)
        lines.append(f"written to {where}")
    return Answer(data=data, text="\n".join(lines))


def _data(graph: Graph) -> dict[str, Any]:
    return {
        "memories": len(graph.memories),
        "links": [
            {
                "source": e.source,
                "target": e.target,
                "type": e.type,
                "strength": e.strength,
                "in_body": e.in_body,
            }
            for e in graph.edges
        ],
    }


def _lines(graph: Graph) -> list[str]:
    whole = counted(len(graph.memories), "active memory", "active memories")
    kinds = Counter(edge.type for edge in graph.edges)
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in TYPES if kinds[kind])
    lines = [f"{counted(len(graph.edges), 'link', 'links')} between {len(graph.at)} of {whole}"]
    if told:
        lines += [f"  {told}", "most linked:"]
    ranked = sorted(graph.at, key=lambda id_: (-len(graph.at[id_]), id_))
    for id_ in ranked[:MOST]:
        lines.append(f"  {len(graph.at[id_]):>3}  {id_}  {label(graph.memories[id_])}")
    return lines
