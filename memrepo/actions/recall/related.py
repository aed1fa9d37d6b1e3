"""`memrepo related`: what a memory is linked to or replaced, and what that is, both ways."""

from __future__ import annotations

import argparse
from typing import Any

from memrepo.actions.run.amounts import whole
from memrepo.actions.recall.finding import find
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.entities import catalogue
from memrepo.policies.graph import Graph, Reached
from memrepo.policies.linking import ties

WIDTH = 72


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="id, unique prefix of one, or slug")
    parser.add_argument(
        "--depth", type=whole, default=1, metavar="N", help="over how many links to go (1)"
    )
    parser.add_argument(
        "--explain", action="store_true", help="also what each pair of memories has in common"
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List what is reached from a memory, nearest and strongest first."""
    with opened(session) as desk:
        state = desk.tree.state()
        memory = find(state, options.id)
        graph = graph_of(state)
        found = graph.related(memory.id, options.depth)
        rows = [_row(graph, reached) for reached in found]
        if options.explain:
            _explain(desk, state, rows)
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


def _explain(desk: Desk, state: State, rows: list[dict[str, Any]]) -> None:
    """Add to each row what its two ends have in common, where names say so."""
    wanted = {id_ for row in rows for id_ in (row["id"], row["via"])}
    known = catalogue(state.active, desk.config.get("entities.aliases"))
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
