"""Every memory as one JSON object, and as a plain Open Knowledge Format bundle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.fields import Flag, Kind, ListOf, Number, Pair, Record, Whole
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.schema import FIELDS
from memrepo.core.state import State
from memrepo.policies.link_targets import Target, Targets, address, rewritten
from memrepo.purify.jsonl import spell_lines

MEMORIES = "memories.jsonl"
OKF_VERSION = "0.2"
INDEX = "index.md"
_TITLE = 80
_DESCRIPTION = 160
_MARKUP = regex(r"([\\\[\]`*_<>])")


def memory_json(memory: Memory) -> dict[str, object]:
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

    Memory files are copied byte for byte but for links in their texts, which become markdown links
    to the files of the bundle, and for `generated`, which is stated; the root's index alone has a
    header, with the version.
    """
    area = state.layout.area("memories")
    shown = [m for m in state.memories.values() if m.status != "forgotten"]
    by_path = {m.path.removeprefix(area): m for m in shown}
    targets, to = Targets(shown), {m.id: name for name, m in by_path.items()}
    files = {}
    for name, memory in by_path.items():
        linked = rewritten(memory.body, targets.of(memory), _markdown(name, to))
        data = _with_body(state.files[memory.path], memory, linked)
        files[name] = codec.stating(data, memory, "generated")
    counts = Counter(folder for name in by_path for folder in _above(name))
    here: dict[str, list[str]] = defaultdict(list)
    for path in sorted([*by_path, *(f"{folder}/" for folder in counts if folder)]):
        here[path.rstrip("/").rpartition("/")[0]].append(path)
    for folder in counts or [""]:
        lines = _index(folder, here[folder], counts, by_path)
        files[f"{folder}/{INDEX}" if folder else INDEX] = ("\n".join(lines) + "\n").encode("utf-8")
    return dict(sorted(files.items())), len(state.memories) - len(shown)


def _markdown(here: str, to: Mapping[str, str]) -> Callable[[Target], str]:
    """Return how a link of the file `here` is written as markdown; `to` are the files by id."""

    def spelt(link: Target) -> str:
        found = address(link, to[link.id], here)
        return f"[{link.shown}]({found})" if link.wiki else found

    return spelt


def _with_body(data: bytes, memory: Memory, body: str) -> bytes:
    return data if body == memory.body else codec.edit(data, replace(memory, body=body))


def _above(name: str) -> Iterator[str]:
    """Yield every folder that a file lies in, the root first."""
    parts = name.split("/")[:-1]
    yield from ("/".join(parts[:n]) for n in range(len(parts) + 1))


def _index(
    folder: str, here: Sequence[str], counts: Mapping[str, int], memories: Mapping[str, Memory]
) -> list[str]:
    start = len(folder) + 1 if folder else 0
    below = [path[:-1] for path in here if path.endswith("/")]
    lines = [] if folder else ["---", f'okf_version: "{OKF_VERSION}"', "---", ""]
    if below or not here:
        lines += [f"# {'Folders' if folder else 'Layers'}", ""]
        lines += [_folder_line(f[start:], counts[f]) for f in below]
    if named := [path for path in here if not path.endswith("/")]:
        lines += [""] * bool(below) + ["# Memories", ""]
        lines += [_memory_line(path[start:], memories[path]) for path in named]
    return lines


def _folder_line(name: str, count: int) -> str:
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
