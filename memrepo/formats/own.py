"""Read memories in memrepo's own formats, JSON lines and memory files, without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memrepo.core import codec
from memrepo.core.jsonl import Line, read_lines
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.schema import BY_NAME
from memrepo.formats.records import Files, Given, Read, Whole, refused

_AREA = "memories/"
_ODD = regex(r"(?:^|/)(?:\.{0,2}|\.git)(?:/|$)|\.md/|[\x00-\x1f\x7f]|[^/]{250}", re.I)


def wants_lines(path: str) -> bool:
    """Return whether a file contains JSON lines."""
    return path.endswith(".jsonl")


def read_jsonl(files: Files) -> Read:
    """Read the output of `memrepo export jsonl`, which includes forgotten memories."""
    found: list[Whole] = []
    problems: list[Problem] = []
    for path, data in files.items():
        lines, bad = read_lines(path, data, "import-line")
        problems += bad
        for line in lines:
            memory, noted = _memory(path, line)
            problems += noted
            if memory is not None:
                found.append(Whole(memory=memory, path=path, line=line.number))
    return Read(records=tuple(found), problems=tuple(problems))


def _memory(path: str, line: Line) -> tuple[Memory | None, list[Problem]]:
    given = Given(path, line.number)
    record: Mapping[str, object] = line.record
    for key, value in record.items():
        if key in BY_NAME:
            given.set(key, value)
        elif key not in ("path", "layer", "text"):
            given.note(key, "found a key that no memory has")
    text = record.get("text")
    missing = [key for key in ("id", "type") if key not in given.fields]
    if missing or not isinstance(text, str):
        key = missing[0] if missing else "text"
        return None, [refused(path, f"found no {key}", line=line.number, key=key)]
    memory = Memory(path=str(record.get("path")), fields=given.fields, body=codec.normal_body(text))
    return memory, given.problems


def memory_file(path: str, data: bytes) -> Whole | None:
    """Read a memory file written by memrepo. Return None for files without a memory id."""
    memory, _ = codec.decode(path, data)
    if memory is None or not memory.id:
        return None
    return Whole(memory=memory, path=path, data=data)


def path_here(layout: Layout, memory: Memory) -> str:
    """Return the path that an imported memory gets in this repository.

    Use the memory's own path below this repository's prefix if that path is valid. Otherwise use
    the path of a new memory.
    """
    name = memory.path.rpartition(_AREA)[2] if _AREA in memory.path else memory.path
    path = layout.area("memories") + name
    if layout.is_memory(path) and not _ODD.search(name) and name.isprintable():
        return path
    return layout.memory(
        id_=memory.id,
        type_=memory.type,
        text=memory.text("title") or memory.body,
        captured=memory.captured,
    )
