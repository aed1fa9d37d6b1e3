"""`memrepo related`: what a memory is linked to or replaced, and what that is, both ways."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.entities import catalogue
from memrepo.policies.graph import Graph, Reached
from memrepo.policies.linking import ties

WIDTH = 72


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `related`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    depth: Annotated[int, option("over how many links to go (1)", "--depth", metavar="N", ge=1)] = 1
    explain: Annotated[
        bool, option("also what each pair of memories has in common", "--explain")
    ] = False


def do(work: Work, request: Request) -> Answer:
    """List what is reached from a memory, nearest and strongest first."""
    state = work.tree.state()
    memory = find(state, request.id)
    graph = graph_of(state)
    found = graph.related(memory.id, request.depth)
    rows = [_row(graph, reached) for reached in found]
    if request.explain:
        _explain(work, state, rows)
    text = [f"{memory.id}  {_label(memory)}", *_lines(rows)]
    if not rows:
        text.append("linked to no memory: `memrepo link` links two")
    return Answer(data={"id": memory.id, "related": rows}, text="\n".join(text))


def graph_of(state: State) -> Graph:
    """Return links and successions between all memories that were not forgotten."""
    found = (m for m in state.memories.values() if m.status != "forgotten")
    return Graph(found, lineage=True)


def _row(graph: Graph, reached: Reached) -> dict[str, Any]:
    memory, edge = graph.memories[reached.id], reached.edge
    return {
        "id": memory.id,
        "path": memory.path,
        "text": memory.body,
        "status": memory.status,
        "depth": reached.depth,
        "strength": round(reached.strength, 4),
        "type": edge.type,
        "way": "to" if edge.target == reached.id else "from",
        "in_body": edge.in_body,
        "via": reached.before,
        "label": _label(memory),
    }


def _explain(work: Work, state: State, rows: list[dict[str, Any]]) -> None:
    """Add to each row what its two ends have in common, where names say so."""
    wanted = {id_ for row in rows for id_ in (row["id"], row["via"])}
    known = catalogue(state.active, work.config.get("entities.aliases"))
    found = ties({id_: state.memories[id_] for id_ in wanted}, known)
    for row in rows:
        one, other = sorted((row["id"], row["via"]))
        tie = found.get((one, other))
        row["why"] = tie.told if tie else ""


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    depth = 1
    for row in rows:
        if row["depth"] > depth:
            depth = row["depth"]
            lines += ["", f"over {counted(depth, 'link', 'links')}"]
        said = row["type"] if row["way"] == "to" else f"{row['type']} it"
        said += ", in the text" if row["in_body"] else ""
        via = f", by {row['via']}" if row["depth"] > 1 else ""
        status = "" if row["status"] == "active" else f" ({row['status']})"
        lines.append(f"  {row['strength']:.2f}  {row['id']}  {said}{via}{status}")
        lines.append(f"        {row['label']}")
        if row.get("why"):
            lines.append(f"        {visible(row['why'])}")
    return lines


def _label(memory: Memory) -> str:
    return fold(visible(without_secrets(memory.text("title") or memory.body)), WIDTH)
