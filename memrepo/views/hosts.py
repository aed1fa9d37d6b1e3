"""Pages that other programs read at the start of a session, within the limits that these have.

`MEMORY.md` of its own, a block in somebody's `AGENTS.md`, and an OpenClaw workspace, which has room
for everything. What a page has no room for is counted on it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.policies.hotcache import hot_of, is_exempt
from memrepo.views.hot import condensed

OURS = b"<!-- memrepo:page -->\n"
"""The first line of a page of ours: an older one gives way, anything else is somebody's."""
START, END = b"<!-- memrepo:start -->\n", b"<!-- memrepo:end -->\n"
_UNTOLD = ("note", "chunk", "summary")
_WHOLE = 400
"""A memory of one line up to so many characters stands whole in OpenClaw's MEMORY.md."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a host reads of a page: lines, and bytes."""

    lines: int
    bytes: int


class Hosted(msgspec.Struct, frozen=True, kw_only=True):
    """A page and what stands on it; `left_out` counts what it had no room for."""

    data: bytes
    shown: tuple[Memory, ...]
    left_out: int


def told(state: State) -> list[Memory]:
    """Return what pages tell of, what matters most first: active memories, but no notes."""
    return sorted((m for m in state.active if m.type not in _UNTOLD), key=_first)


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


def memory_page(state: State, limits: Limits) -> Hosted:
    """Return a plain MEMORY.md: a bullet a memory, condensed, by layer."""
    memories = told(state)
    return _fitted(memories, limits, OURS, b"", [_said(condensed(m)) for m in memories])


def agents_block(state: State, limits: Limits, there: bytes) -> Hosted:
    """Return an AGENTS.md with a block of ours: the one there is replaced, the rest stays.

    The limits hold for the whole file; what others wrote is never cut.
    """
    before, found, rest = there.partition(START)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        before, after = there, b""
        before += b"" if not before or before.endswith(b"\n") else b"\n"
    foreign = before + after
    room = Limits(lines=limits.lines - foreign.count(b"\n"), bytes=limits.bytes - len(foreign))
    memories = told(state)
    block = _fitted(memories, room, START, END, [_said(condensed(m)) for m in memories])
    return Hosted(data=before + block.data + after, shown=block.shown, left_out=block.left_out)


def openclaw_files(state: State, limits: Limits) -> dict[str, bytes]:
    """Return an OpenClaw workspace: MEMORY.md, what it has no room for by layer, notes by day."""
    short = [m for m in told(state) if "\n" not in m.body and 0 < len(m.body) <= _WHOLE]
    page = _fitted(short, limits, b"", b"", [_said(m.body) for m in short], counted=False)
    files = {"MEMORY.md": page.data}
    shown = {m.id for m in page.shown}
    others: dict[str, list[Memory]] = defaultdict(list)
    days: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.is_note:
            days[memory.captured[:10] or "notes"].append(memory)
        elif memory.type != "chunk" and memory.id not in shown:
            others[memory.layer].append(memory)
    for layer, members in sorted(others.items()):
        lines = [f"# {layer.capitalize()}", "", *(f"- {_item(m)}" for m in members)]
        files[f"memory/{layer}.md"] = _bytes(lines)
    for day, notes in sorted(days.items()):
        files[f"memory/{day}.md"] = _bytes([f"# {day}", *(_note(n) for n in notes)])
    return files


def _fitted(
    memories: Sequence[Memory],
    limits: Limits,
    head: bytes,
    tail: bytes,
    said: Sequence[str],
    *,
    counted: bool = True,
) -> Hosted:
    """Return the page with as many bullets as fit, those that stand first."""
    texts = {memory.id: text for memory, text in zip(memories, said, strict=True)}
    kept = list(memories[: max(limits.lines, 0)])
    while True:
        out = len(memories) - len(kept)
        data = head + _page(kept, texts, out if counted else 0) + tail
        if not kept or (data.count(b"\n") <= limits.lines and len(data) <= limits.bytes):
            return Hosted(data=data, shown=tuple(kept), left_out=out)
        over = max(data.count(b"\n") - limits.lines, (len(data) - limits.bytes) // 400, 1)
        del kept[-over:]


def _page(kept: Iterable[Memory], texts: dict[str, str], out: int) -> bytes:
    layers: dict[str, list[str]] = defaultdict(list)
    for memory in kept:
        layers[memory.layer].append(f"- {texts[memory.id]}")
    lines = ["# Memory"]
    for layer in [*LAYERS, *sorted(layers.keys() - set(LAYERS))]:
        if layer in layers:
            lines += ["", f"## {layer.capitalize()}", "", *layers[layer]]
    if out:
        lines += ["", f"{out} more were left out for room: `memrepo search` finds them."]
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
