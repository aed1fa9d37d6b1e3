"""Read `memory.json` of the reference MCP memory server: one line per entity or relation.

Each observation becomes a memory in the context of its entity. Each relation becomes a memory with
both names. Docs: modelcontextprotocol/servers, "Knowledge Graph Memory Server".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memrepo.core.problems import Problem
from memrepo.formats.records import Files, Given, Read, Record, refused


def wants(path: str) -> bool:
    """Return whether a file may be a memory file of the server."""
    return path.endswith((".json", ".jsonl")) and "/" not in path


def read(files: Files) -> Read:
    """Read every line. An unreadable line is reported as a problem, and reading continues."""
    records: list[Record] = []
    problems: list[Problem] = []
    for path, data in sorted(files.items()):
        for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                problems.append(refused(path, "found a line that is not JSON", line=number))
                continue
            found = list(_records(path, number, value, problems))
            if not found and not (isinstance(value, dict) and value.get("type") == "entity"):
                problems.append(refused(path, "found no entity or relation", line=number))
            records += found
    return Read(records=tuple(records), problems=tuple(problems))


def _records(path: str, line: int, value: Any, problems: list[Problem]) -> Iterator[Record]:
    if not isinstance(value, dict):
        return
    name = value.get("name")
    if value.get("type") == "entity" and isinstance(name, str):
        observations = value.get("observations")
        for text in observations if isinstance(observations, list) else ():
            if isinstance(text, str) and text.strip():
                given = Given(path, line)
                given.put("context", name, "name")
                given.put("entities", [name], "name")
                given.put("tags", [value.get("entityType") or ""], "entityType")
                problems += given.problems
                yield _record(given, text)
        return
    ends = [end for key in ("from", "relationType", "to") if isinstance(end := value.get(key), str)]
    if value.get("type") == "relation" and len(ends) == 3:
        given = Given(path, line)
        given.put("entities", [ends[0], ends[2]])
        problems += given.problems
        yield _record(given, " ".join(ends).replace("_", " "))


def _record(given: Given, text: str) -> Record:
    return Record(
        path=given.path, text=text.strip(), lines=(given.line, given.line), fields=given.fields
    )
