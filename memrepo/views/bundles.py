"""Every memory as one JSON object, and the memories as a plain Open Knowledge Format bundle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memrepo.core.fields import Flag, Kind, ListOf, Number, Pair, Record, Whole
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS
from memrepo.core.state import State
from memrepo.purify.records import spell_lines

MEMORIES = "memories.jsonl"
OKF_VERSION = "0.2"
INDEX = "index.md"
_TITLE = 80
_DESCRIPTION = 160
_MARKUP = re.compile(r"([\\\[\]`*_<>])")


def memory_json(memory: Memory) -> dict[str, Any]:
    """Return a memory's path, layer, fields and text, numbers and flags as JSON has them.

    Fields at their default are left out, as in the file.
    """
    fields = {
        f.name: _value(f.kind, memory.fields[f.name]) for f in FIELDS if f.name in memory.fields
    }
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def _value(kind: Kind, value: Any) -> Any:
    match kind:
        case Number() | Whole() | Flag():
            return value
        case Pair():
            return list(value)
        case ListOf(item=item):
            return [_value(item, part) for part in value]
        case Record(members=members, names=names):
            written = kind.write(value)
            return {
                key: _value(member, getattr(value, names.get(key, key)))
                for key, member in members.items()
                if isinstance(written, dict) and key in written
            }
        case _:
            return str(kind.write(value))


def jsonl(state: State) -> dict[str, bytes]:
    """Return one file that holds every memory, forgotten ones too, by path."""
    ordered = sorted(state.memories.values(), key=lambda m: m.path)
    return {MEMORIES: spell_lines(memory_json(memory) for memory in ordered)}


def okf(state: State) -> tuple[dict[str, bytes], int]:
    """Return a bundle (OKF 0.2, sections 3 and 8) and how many forgotten memories it leaves out.

    Memory files are copied byte for byte; the root's index alone has a header, with the version.
    """
    area = state.layout.area("memories")
    shown = [m for m in state.memories.values() if m.status != "forgotten"]
    by_path = {m.path.removeprefix(area): m for m in shown}
    files = {name: state.files[memory.path] for name, memory in by_path.items()}
    folders = {""} | {"/".join(parts) for name in by_path for parts in _ancestors(name)}
    for folder in folders:
        files[f"{folder}/{INDEX}" if folder else INDEX] = _index(folder, folders, by_path)
    return dict(sorted(files.items())), len(state.memories) - len(shown)


def _ancestors(name: str) -> Iterator[list[str]]:
    parts = name.split("/")[:-1]
    yield from (parts[: n + 1] for n in range(len(parts)))


def _index(folder: str, folders: Iterable[str], memories: Mapping[str, Memory]) -> bytes:
    start = f"{folder}/" if folder else ""
    below = sorted(f for f in folders if f and f.startswith(start) and "/" not in f[len(start) :])
    here = sorted(n for n in memories if n.startswith(start) and "/" not in n[len(start) :])
    lines = [] if folder else ["---", f'okf_version: "{OKF_VERSION}"', "---", ""]
    if below or not here:
        lines += [f"# {'Folders' if folder else 'Layers'}", ""]
        lines += [_folder_line(f, start, memories) for f in below]
    if here:
        lines += [""] * bool(below) + ["# Memories", ""]
        lines += [_memory_line(name[len(start) :], memories[name]) for name in here]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _folder_line(folder: str, start: str, memories: Mapping[str, Memory]) -> str:
    count = sum(name.startswith(f"{folder}/") for name in memories)
    name = folder[len(start) :]
    return f"* [{_plain(name, _TITLE)}]({name}/) - {count} {'memory' if count == 1 else 'memories'}"


def _memory_line(name: str, memory: Memory) -> str:
    triple = " ".join(filter(None, (memory.text("subject"), memory.text("predicate"))))
    names = (memory.text("title"), triple, memory.body, memory.slug)
    title = next(filter(None, (_plain(text, _TITLE) for text in names)), "memory")
    shown = _plain(memory.text("description") or memory.body, _DESCRIPTION)
    return f"* [{title}]({name})" + (f" - {shown}" if shown else "")


def _plain(text: str, limit: int) -> str:
    """Put a text on one line of markdown that is text and nothing else, at most `limit` long."""
    line = " ".join(visible(text).split())
    line = line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
    return _MARKUP.sub(r"\\\1", line)
