"""Letta: an agent file (`.af`), or its blocks and files as JSON.

A block (`label`, `value`) is read item by item: `human` is about the person, `persona` about the
agent. A file of the agent (`file_name`, `content`) is a note. Messages are no memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from memrepo.core.problems import Problem
from memrepo.formats.items import items
from memrepo.formats.pages import Page
from memrepo.formats.records import Files, Given, Read, Record, read_json, refused

_LAYERS = {"human": "user", "persona": "identity"}
_BLOCKS = ("blocks", "core_memory", "memory_blocks")
_FILES = ("files", "file_contents")
_DEEP = 4
"""Levels below which nothing is looked for."""


def wants(path: str) -> bool:
    """Tell whether a file is an agent file."""
    return path.endswith((".af", ".json")) and "/" not in path


def read(files: Files) -> Read:
    """Read the blocks and files of every agent."""
    records: list[Record] = []
    problems: list[Problem] = []
    for path, data in sorted(files.items()):
        value = read_json(path, data, problems)
        if value is None:
            continue
        found = list(_parts(value, 0))
        if not found:
            problems.append(refused(path, "found no block and no file"))
        lines = _Lines(data.decode("utf-8-sig"))
        for part in found:
            records += (lines.placed(record) for record in _records(path, part, problems))
    return Read(records=tuple(records), problems=tuple(problems))


def _parts(value: object, depth: int) -> Iterator[Mapping[str, object]]:
    """Yield the blocks and files that hold a text, in order."""
    if depth > _DEEP or not isinstance(value, dict):
        return
    for key, inner in value.items():
        for one in inner if isinstance(inner, list) else [inner]:
            if key in (*_BLOCKS, *_FILES) and isinstance(one, dict) and _text(one):
                yield one
            elif key not in ("messages", "tools"):
                yield from _parts(one, depth + 1)


def _text(part: Mapping[str, object]) -> str:
    found = part.get("value") or part.get("content") or part.get("text")
    return found if isinstance(found, str) else ""


def _records(path: str, part: Mapping[str, object], noted: list[Problem]) -> Iterator[Record]:
    """Yield the memories of a block or file."""
    name = str(part.get("label") or part.get("file_name") or part.get("name") or "")
    text = _text(part).replace("\r\n", "\n").strip()
    if "label" in part:
        yield from items(Page(path=path, body=text), noted, layer=_LAYERS.get(name, ""))
    elif text:
        given = Given(path)
        given.put("title", name)
        yield Record(path=path, text=text, type="note", key=name, fields=given.fields)


class _Lines:
    """The lines of a JSON file that records begin on; they come in its order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def placed(self, record: Record) -> Record:
        """Return a record with the line that its text begins on; 0 where that is unsure."""
        begins = record.text.split("\n")[0]
        spelled = (json.dumps(begins, ensure_ascii=ascii_)[1:-1] for ascii_ in (True, False))
        at = max(self._text.find(one, self._at) for one in dict.fromkeys(spelled))
        if at < 0:
            return replace(record, lines=(0, 0))
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return replace(record, lines=(self._line, self._line))
