"""Render linked memories as one self-contained HTML page: a drawing and a list.

Memory text is data. The drawing receives it as JSON in a block that browsers do not execute. The
page's policy only permits the one style sheet and the one script whose hashes it names. No network
is used.
"""

from __future__ import annotations

import json
from collections import Counter

from markupsafe import Markup

from memrepo import __version__
from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.messages import counted, cut
from memrepo.core.secrets import without_secrets
from memrepo.policies.links import Graph
from memrepo.views.html import inlined, page_template

_LABEL = 60
_TEXT = 600
TYPES = ("follows", "references", "supports", "contradicts", "related")


def graph_page(graph: Graph, title: str) -> str:
    """Return the HTML page of a graph. Memories without links are omitted.

    Equal graphs give equal pages.
    """
    sheet, sheet_hash = inlined("graph.css")
    script, script_hash = inlined("graph.js")
    linked = [m for id_, m in sorted(graph.memories.items()) if id_ in graph.at]
    place = {memory.id: number for number, memory in enumerate(linked)}
    kinds = Counter(edge.type for edge in graph.edges)
    layers = {memory.layer for memory in linked}
    data = {
        "nodes": [_node(memory) for memory in linked],
        "edges": [
            [place[e.source], place[e.target], e.type, e.strength, e.in_body] for e in graph.edges
        ],
        "layers": [*(x for x in LAYERS if x in layers), *sorted(layers.difference(LAYERS))],
        "types": [kind for kind in TYPES if kind in kinds],
    }
    return page_template("graph.html.j2").render(
        version=__version__,
        title=title,
        sheet=sheet,
        sheet_hash=sheet_hash,
        script=script,
        script_hash=script_hash,
        data=_as_script(data),
        counts=_counts(graph, len(linked)),
        rows=[
            (label(graph.memories[e.source]), e.type, label(graph.memories[e.target]), e.strength)
            for e in graph.edges
        ],
    )


def label(memory: Memory) -> str:
    """Return a memory's label in the drawing: its title or the beginning of its text.

    The lead is omitted, because neighbours share it.
    """
    own = memory.body.removeprefix(memory.text("lead")).lstrip(" :–—-\n").replace("**", "")
    return cut(visible(without_secrets(memory.text("title") or own or memory.body)), _LABEL)


def _node(memory: Memory) -> dict[str, object]:
    text = visible(without_secrets(memory.body))
    return {
        "id": memory.id,
        "label": label(memory),
        "type": memory.type,
        "layer": memory.layer,
        "text": text if len(text) <= _TEXT else f"{text[:_TEXT].rstrip()}…",
    }


def _counts(graph: Graph, linked: int) -> str:
    whole = counted(len(graph.memories), "memory", "memories")
    links = counted(len(graph.edges), "link", "links")
    return f"{links} between {linked} of {whole}"


def _as_script(data: dict[str, object]) -> Markup:
    """Encode data as JSON for an HTML script block, so that the JSON cannot end the block."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - no markup is left in it
