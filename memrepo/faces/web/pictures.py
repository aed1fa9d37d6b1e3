"""Small pictures as SVG: plots of the forecast, and a memory among its neighbours.

Each has a title that says in words what it shows. Colours come from the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from memrepo.core.messages import counted, fold
from memrepo.core.secrets import without_secrets
from memrepo.views.markup import shown

_WIDTH, _NARROW, _HEIGHT, _LEFT, _FOOT = 640, 320, 180, 44, 24
_MOST = 12
"""Neighbours that are drawn; the list has them all."""
_LABEL = 28


class Neighbour(NamedTuple):
    """A memory beside another: its id, its first words, and how it is near."""

    id: str
    label: str
    kind: str


def _svg(title: str, inside: str, height: int = _HEIGHT, width: int = _WIDTH) -> Markup:
    head = f'<svg role="img" viewBox="0 0 {width} {height}"><title>{escape(title)}</title>'
    return Markup(f"{head}{inside}</svg>")  # noqa: S704 - numbers, and texts that were escaped


def neighbourhood(label: str, neighbours: Sequence[Neighbour]) -> Markup:
    """Return a memory in the middle of its neighbours; each is a link to its page."""
    near = neighbours[:_MOST]
    if not near:
        return Markup("")
    height, parts = 320, []
    middle_x, middle_y = _WIDTH / 2, height / 2
    spots = []
    for n, row in enumerate(near):
        angle = 2 * math.pi * n / len(near) - math.pi / 2
        spots.append((row, middle_x + 215 * math.cos(angle), middle_y + 118 * math.sin(angle)))
    for row, x, y in spots:
        parts.append(
            f'<line class="edge" x1="{middle_x}" y1="{middle_y}" x2="{x:.1f}" y2="{y:.1f}"/>'
            f'<text class="kind" x="{(x + middle_x) / 2:.1f}" y="{(y + middle_y) / 2:.1f}">'
            f"{escape(row.kind)}</text>"
        )
    for row, x, y in spots:
        parts.append(
            f'<a href="{escape(row.id)}"><circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="7"/>'
            f'<text x="{x:.1f}" y="{y + 20:.1f}">{_named(row.label)}</text></a>'
        )
    parts.append(
        f'<circle class="node here" cx="{middle_x}" cy="{middle_y}" r="9"/>'
        f'<text x="{middle_x}" y="{middle_y + 24}">{_named(label)}</text>'
    )
    return _svg(
        f"{counted(len(near), 'neighbour', 'neighbours')}; the list below names them",
        "".join(parts),
        height,
    )


def _named(label: str) -> Markup:
    return shown(fold(without_secrets(label), _LABEL))
