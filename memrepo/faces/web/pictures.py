"""Small pictures as SVG: plots of the forecast, and a memory among its neighbours.

Each has a title that says in words what it shows. Colours come from the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def curve(title: str, lines: Mapping[str, Sequence[int]]) -> Markup:
    """Return lines over days."""
    top = max((max(values, default=0) for values in lines.values()), default=0) or 1
    parts = [_axes(top)]
    for values in lines.values():
        step = (_WIDTH - _LEFT - 8) / max(len(values) - 1, 1)
        points = " ".join(f"{_LEFT + n * step:.1f},{_y(v, top):.1f}" for n, v in enumerate(values))
        parts.append(f'<polyline class="line" points="{points}"/>')
        if values:
            x = _LEFT + step * (len(values) - 1)
            label = f"{values[-1]} after {counted(len(values) - 1, 'day', 'days')}"
            y = max(_y(values[-1], top) - 6, 12)
            parts.append(f'<text class="end" x="{x:.1f}" y="{y:.1f}">{escape(label)}</text>')
    said = "; ".join(f"{v[0]} to {v[-1]}" for v in lines.values() if v)
    return _svg(f"{title}: {said}", "".join(parts))


def bars(title: str, counts: Mapping[str, int]) -> Markup:
    """Return one bar for each count."""
    top = max(counts.values(), default=0) or 1
    wide = (_NARROW - _LEFT) / max(len(counts), 1)
    parts = [_axes(top, _NARROW)]
    for n, (name, count) in enumerate(counts.items()):
        x, y = _LEFT + n * wide + wide * 0.15, _y(count, top)
        parts.append(
            f'<rect class="bar" x="{x:.1f}" y="{y:.1f}" width="{min(wide * 0.7, 70):.1f}"'
            f' height="{_HEIGHT - _FOOT - y:.1f}"/>'
            f'<text x="{x:.1f}" y="{_HEIGHT - 8}">{escape(name)}</text>'
            f'<text x="{x:.1f}" y="{max(y - 4, 10):.1f}">{count}</text>'
        )
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    return _svg(f"{title}: {said or 'nothing'}", "".join(parts), width=_NARROW)


def _y(value: int, top: int) -> float:
    return (_HEIGHT - _FOOT) - (_HEIGHT - _FOOT - 16) * value / top


def _axes(top: int, width: int = _WIDTH) -> str:
    foot = _HEIGHT - _FOOT
    return (
        f'<line class="axis" x1="{_LEFT}" y1="{foot}" x2="{width}" y2="{foot}"/>'
        f'<text class="tick" x="{_LEFT - 6}" y="20">{top}</text>'
        f'<text class="tick" x="{_LEFT - 6}" y="{foot}">0</text>'
    )


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
