"""Read mem0's memories from the JSON result of `get_all` or of an export job.

The result is a list of memories, or an object with the list under `results` or `memories`. Docs:
docs.mem0.ai, API reference, "Get memories".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.formats.records import Files, Given, Read, Record, day_of, read_json, refused

_TEXTS = ("memory", "data", "text")
_LISTS = ("results", "memories")
_WORD = regex(r"[\w.:/@+-]{1,60}")
"""A metadata value that can become a tag: one word."""
_SCOPES = (("user_id", "user"), ("agent_id", "agent"), ("app_id", "project"))


def wants(path: str) -> bool:
    """Return whether a file is JSON."""
    return path.endswith(".json") and "/" not in path


def read(files: Files) -> Read:
    """Read the memories in every file. Relations between entities are only counted."""
    records: list[Record] = []
    problems: list[Problem] = []
    relations = 0
    for path, data in sorted(files.items()):
        value = read_json(path, data, problems)
        if value is None:
            continue
        page = _page(path, value)
        if isinstance(page, Problem):
            problems.append(page)
            continue
        where, found, others = page
        relations += others
        text = data.decode("utf-8")
        for key, line, value in _numbered(text, where, found):
            record, noted = _record(path, key, line, value)
            problems += noted
            records += [record] if record else []
    passed = {"relations_passed_over": relations} if relations else {}
    return Read(records=tuple(records), problems=tuple(problems), passed=passed)


def _page(path: str, value: object) -> tuple[str, list[object], int] | Problem:
    """Return a file's list key, its memories and the number of relations, or a problem."""
    if isinstance(value, list):
        return "", value, 0
    if isinstance(value, dict):
        key = next((k for k in _LISTS if isinstance(value.get(k), list)), "")
        others = value.get("relations")
        if key:
            return key, value[key], len(others) if isinstance(others, list) else 0
    return refused(path, f"found no list of memories, here or under {' or '.join(_LISTS)}")


def _numbered(text: str, where: str, found: list[object]) -> Iterator[tuple[str, int, object]]:
    """Yield each memory with its key and line, as (key, line, memory) tuples.

    The line number is that of the memory's id, or 0 if there is no id.
    """
    at, line = 0, 1
    for number, value in enumerate(found):
        id_ = value.get("id") if isinstance(value, dict) else None
        place = text.find(json.dumps(id_), at) if isinstance(id_, str) else -1
        if place >= 0:
            line += text.count("\n", at, place)
            at = place
        yield f"{where}[{number}]", line if place >= 0 else 0, value


def _record(path: str, key: str, line: int, value: object) -> tuple[Record | None, list[Problem]]:
    if not isinstance(value, dict):
        return None, [refused(path, f"found a {type(value).__name__}", line=line, key=key)]
    text = next((value[k] for k in _TEXTS if isinstance(value.get(k), str)), "")
    if not text.strip():
        return None, [refused(path, "found no text", line=line, key=f"{key}.{_TEXTS[0]}")]
    given = Given(path, line)
    tags = [*_texts(value.get("categories")), *_texts(_extra(value).get("category"))]
    owner = next(((k, name) for k, name in _SCOPES if value.get(k)), None)
    others = [(k, name) for k, name in (*_SCOPES, ("run_id", "run")) if value.get(k)]
    tags += [f"{name}:{value[k]}" for k, name in others if owner is None or k != owner[0]]
    more, behind = _metadata(value)
    tags += more
    given.put("tags", list(dict.fromkeys(tags)), f"{key}.categories")
    if value.get("expiration_date"):
        given.put("valid_until", value["expiration_date"], f"{key}.expiration_date")
    if owner:
        given.put("scope", f"{owner[1]}:{value[owner[0]]}", f"{key}.{owner[0]}")
    created = given.time(value.get("created_at"), f"{key}.created_at")
    record = Record(
        path=path,
        text="\n\n".join([text.strip(), *behind]),
        type="fact",
        key=str(value.get("id") or ""),
        lines=(line, line),
        captured=day_of(created),
        captured_from="unit",
        fields=given.fields,
        written=given.time(value.get("updated_at"), f"{key}.updated_at") or created,
    )
    return record, given.problems


def _metadata(value: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Split a memory's metadata into tags for words and additional lines for longer values."""
    tags: list[str] = []
    lines: list[str] = []
    for name, said in _extra(value).items():
        words = [f"{one}" for one in (said if isinstance(said, list) else [said])]
        if name == "category" or said in (None, "", [], {}):
            continue
        if all(_WORD.fullmatch(word) for word in words):
            tags += [f"{name}:{word}" for word in words]
        else:
            plain = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            lines.append(f"{name}: {' '.join(plain.split())}")
    return tags, ["\n".join(lines)] if lines else []


def _extra(value: Mapping[str, object]) -> Mapping[str, object]:
    found = value.get("metadata")
    return found if isinstance(found, dict) else {}


def _texts(value: object) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]
