"""An OpenClaw workspace, made of memories: its first page has as many as a session reads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import msgspec

from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.hotcache import hot_of, is_exempt

_WHOLE = 400
"""A memory of one line up to so many characters stands whole in OpenClaw's MEMORY.md."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a host reads of a page: lines, and bytes."""

    lines: int
    bytes: int


def told(state: State) -> list[Memory]:
    """Return active memories that are no notes, the most important first."""
    return sorted(
        (m for m in state.active if m.type not in ("note", "chunk", "summary")), key=_first
    )


def _first(memory: Memory) -> tuple[object, ...]:
    importance = memory.fields.get("importance")
    day = int(re.sub(r"\D", "", memory.captured[:10]) or 0)
    return (
        not memory.flag("critical"),
        not is_exempt(memory),
        hot_of(memory) is None,
        -(importance.score if importance else 0.5),
        -day,
        memory.path,
    )


def openclaw_files(state: State, limits: Limits) -> dict[str, bytes]:
    """Return an OpenClaw workspace: MEMORY.md, what it has no room for by layer, notes by day."""
    short = [m for m in told(state) if "\n" not in m.body and 0 < len(m.body) <= _WHOLE]
    page, shown = _fitted(short, limits)
    files = {"MEMORY.md": page}
    files |= {path: text.encode() for path, text in layer_pages(state, without=shown).items()}
    days: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.is_note:
            days[memory.captured[:10] or "notes"].append(memory)
    for day, notes in sorted(days.items()):
        files[f"memory/{day}.md"] = _bytes([f"# {day}", *(_note(n) for n in notes)])
    return files


def layer_pages(state: State, *, without: Collection[str] = ()) -> dict[str, str]:
    """Return `memory/LAYER.md` by path: the whole text of each active memory that is no note."""
    layers: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.type not in ("note", "chunk") and memory.id not in without:
            layers[memory.layer].append(memory)
    return {
        f"memory/{layer}.md": _bytes(
            [f"# {layer.capitalize()}", "", *(f"- {_item(m)}" for m in members)]
        ).decode()
        for layer, members in sorted(layers.items())
    }


def _fitted(memories: Sequence[Memory], limits: Limits) -> tuple[bytes, set[str]]:
    """Return the page with as many bullets as fit, those that stand first, and their ids."""
    kept = list(memories[: max(limits.lines, 0)])
    while True:
        data = _page(kept)
        if not kept or (data.count(b"\n") <= limits.lines and len(data) <= limits.bytes):
            return data, {memory.id for memory in kept}
        over = max(data.count(b"\n") - limits.lines, (len(data) - limits.bytes) // 400, 1)
        del kept[-over:]


def _page(kept: Iterable[Memory]) -> bytes:
    layers: dict[str, list[str]] = defaultdict(list)
    for memory in kept:
        layers[memory.layer].append(f"- {_said(memory.body)}")
    lines = ["# Memory"]
    for layer in [*LAYERS, *sorted(layers.keys() - set(LAYERS))]:
        if layer in layers:
            lines += ["", f"## {layer.capitalize()}", "", *layers[layer]]
    return _bytes(lines)


def _item(memory: Memory) -> str:
    """Return a memory's whole text as a list item."""
    return _said(memory.body or memory.text("title")).replace("\n", "\n  ")


def _note(note: Memory) -> str:
    title = " ".join(visible(note.text("title")).split()) or note.slug
    return f"\n## {_said(title)}\n\n{_said(note.body)}"


def _said(text: str) -> str:
    """Return a text in which no comment opens: programs take their own marks for commands."""
    return visible(without_secrets(text)).replace("\\<!--", "<!--").replace("<!--", "&lt;!--")


def _bytes(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
