"""Read claude-mem's database, `~/.claude-mem/claude-mem.db`.

Decisions and discoveries become memories. Other observations and session summaries become notes.
Docs: docs.claude-mem.ai, "Database Architecture".
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from memrepo.core.problems import Problem
from memrepo.formats.records import Files, Given, Read, Record, day_of, refused

TABLES = ("observations", "session_summaries")
_TYPES = {"decision": "decision", "discovery": "fact"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def wants(path: str) -> bool:
    """Return whether a file is a claude-mem database."""
    return path.endswith((".db", ".sqlite")) and "/" not in path


def read(files: Files) -> Read:
    """Read the observations and summaries of each database."""
    records: list[Record] = []
    problems: list[Problem] = []
    for path, data in sorted(files.items()):
        try:
            tables = _rows(data)
        except sqlite3.Error as error:
            problems.append(refused(path, f"found no database that can be read ({error})"))
            continue
        if not tables:
            problems.append(refused(path, f"found none of the tables {', '.join(TABLES)}"))
        for row in tables.get("observations", ()):
            given = Given(path)
            records += _observation(given, row)
            problems += given.problems
        for row in tables.get("session_summaries", ()):
            said = [(part, row.get(part)) for part in _PARTS]
            lines = [f"- {name.replace('_', ' ')}: {text}" for name, text in said if text]
            given = Given(path)
            given.put("title", row.get("request"))
            if lines:
                records.append(_record(given, row, "summary", "note", "\n".join(lines)))
            problems += given.problems
    return Read(records=tuple(records), problems=tuple(problems))


def _rows(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return a database's rows by table. Raises sqlite3.Error if the database is invalid.

    Only known tables are read.
    """
    # An in-memory database has no write-ahead log: clear WAL mode in bytes 18 and 19 of the header.
    plain = data[:18] + b"\1\1" + data[20:]
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(plain)
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        known = {row[0] for row in database.execute("SELECT name FROM sqlite_schema")}
        found = {}
        for name in TABLES:
            if name in known:
                cursor = database.execute(f"SELECT * FROM {name} ORDER BY rowid")  # noqa: S608
                keys = [column[0] for column in cursor.description]
                found[name] = [dict(zip(keys, row, strict=True)) for row in cursor]
    return found


def _observation(given: Given, row: Mapping[str, Any]) -> list[Record]:
    given.put("title", row.get("title"), "title")
    given.put("description", row.get("subtitle"), "subtitle")
    text = str(row.get("narrative") or row.get("text") or row.get("subtitle") or "")
    facts = [fact for fact in _listed(row.get("facts")) if fact not in text]
    body = "\n".join([text.strip(), *(f"- {fact}" for fact in facts)]).strip()
    if not body:
        return []
    type_ = _TYPES.get(str(row.get("type")), "note")
    tags = [str(row.get("type") or ""), *_listed(row.get("concepts"))]
    given.put("tags", tags, "concepts")
    return [_record(given, row, "observation", type_, body)]


def _listed(value: object) -> list[str]:
    """Return the texts of a JSON list in a database column, or an empty list."""
    try:
        found = json.loads(value) if isinstance(value, str) and value else []
    except ValueError:
        return []
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _record(given: Given, row: Mapping[str, Any], table: str, type_: str, text: str) -> Record:
    epoch = row.get("created_at_epoch")
    moment = None
    if isinstance(epoch, int):
        moment = datetime.fromtimestamp(epoch // 1000 if epoch > 10**11 else epoch, UTC)
    else:
        moment = given.time(row.get("created_at"), "created_at")
    if project := row.get("project"):
        given.put("tags", [*given.fields.get("tags", ()), f"project:{project}"], "project")
    return Record(
        path=given.path,
        text=text,
        type=type_,
        key=f"{table}-{row.get('id')}",
        captured=day_of(moment),
        captured_from="unit",
        written=moment,
        fields=given.fields,
    )
