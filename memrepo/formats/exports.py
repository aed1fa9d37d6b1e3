"""Read what programs export: memrepo, MCP memory, ChatGPT, Claude and claude-mem."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from memrepo.core import codec
from memrepo.core.ids import normalise
from memrepo.core.jsontext import JsonLine, read_lines
from memrepo.core.memory import BY_NAME, Memory
from memrepo.formats.records import FieldReader, Files, ImportRecord, Report, day_of


def _texts(value: object) -> list[str]:
    """Return the texts of a list, or a single text as a list."""
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, str) and entry]


# -- `memrepo export jsonl` -----------------------------------------------------------------------


def wants_jsonl(path: str) -> bool:
    """Return whether a file contains JSON lines."""
    return path.endswith(".jsonl")


def read_jsonl(files: Files, report: Report) -> Iterator[ImportRecord]:
    """Read the output of `memrepo export jsonl`, which includes forgotten memories."""
    for path, data in files.items():
        lines, problems = read_lines(path, data, "import-line")
        report.problems += problems
        for line in lines:
            if memory := _memory(path, line, report):
                at = (line.number, line.number)
                yield ImportRecord(
                    path=path, text=memory.body, key=memory.id, lines=at, whole=memory
                )


def _memory(path: str, line: JsonLine, report: Report) -> Memory | None:
    known = Report()
    reader, record = FieldReader(known, path, line.number), line.record
    for key, value in record.items():
        if key in BY_NAME:
            reader.set(key, value)
        elif key not in ("path", "layer", "text"):
            reader.note(key, "found a key that no memory has")
    text = record.get("text")
    missing = [key for key in ("id", "type") if key not in reader.fields]
    if missing or not isinstance(text, str):
        key = missing[0] if missing else "text"
        report.refuse(path, f"found no {key}", line=line.number, key=key)
        return None
    report.problems += known.problems
    return Memory.of(
        path=str(record.get("path")), fields=reader.fields, body=codec.normal_body(text)
    )


# -- the reference MCP memory server: "Knowledge Graph Memory Server" ------------------------------


def wants_mcp_memory(path: str) -> bool:
    """Return whether a file may be a memory file of the server."""
    return path.endswith((".json", ".jsonl")) and "/" not in path


def read_mcp_memory(files: Files, report: Report) -> Iterator[ImportRecord]:
    """Read `memory.json`, which has one line per entity or relation.

    Each observation becomes a memory in the context of its entity. Each relation becomes a memory
    with both names.
    """
    for path, data in sorted(files.items()):
        for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                report.refuse(path, "found a line that is not JSON", line=number)
                continue
            value = value if isinstance(value, dict) else {}
            kind, name = value.get("type"), value.get("name")
            ends = [value.get(key) for key in ("from", "relationType", "to")]
            statements: list[str] = []
            fields: list[tuple[str, object, str]] = []
            if kind == "entity" and isinstance(name, str):
                found = value.get("observations")
                statements = _texts(found) if isinstance(found, list) else []
                tags = [value.get("entityType") or ""]
                fields = [("context", name, "name"), ("entities", [name], "name")]
                fields.append(("tags", tags, "entityType"))
            elif kind == "relation" and all(isinstance(end, str) for end in ends):
                statements = [" ".join(map(str, ends)).replace("_", " ")]
                fields = [("entities", [ends[0], ends[2]], "")]
            elif kind != "entity":
                report.refuse(path, "found no entity or relation", line=number)
            for statement in filter(None, map(str.strip, statements)):
                reader = FieldReader(report, path, number)
                for field in fields:
                    reader.put(*field)
                yield reader.record(statement, lines=(number, number))


# -- `conversations.json` of ChatGPT and Claude: help pages on exporting data ----------------------

MAX_MESSAGE = 2000
"""The maximum number of characters of a message in a note."""


class Message(NamedTuple):
    """A message: its author's role, its recipient, and its text."""

    role: str
    to: str
    text: str


def wants_conversations(path: str) -> bool:
    """Return whether a file contains a list of exported conversations.

    Large exports have several numbered files.
    """
    name = path.rpartition("/")[2]
    return name.startswith("conversations") and name.endswith(".json")


def _read_conversations(
    files: Files,
    report: Report,
    *,
    key: str,
    messages_of: Callable[[Mapping[str, Any]], Iterator[Message]],
) -> Iterator[ImportRecord]:
    """Read each conversation as one note of the user's messages, without the answers.

    Each entry of ChatGPT's own memory (messages to its tool `bio`) becomes a memory.
    """
    for path, value in report.json_values(files):
        if not isinstance(value, list):
            report.refuse(path, "found no list of conversations")
            continue
        for number, talk in enumerate(value):
            place = f"[{number}]"
            if not isinstance(talk, dict) or not isinstance(talk.get(key), dict | list):
                report.refuse(path, f"found no conversation with {key}", key=place)
                continue
            messages = list(messages_of(talk))
            report.skipped["answers_passed_over"] += sum(
                m.role == "assistant" and m.to != "bio" for m in messages
            )
            found = list(_conversation(FieldReader(report, path), place, talk, messages))
            if not found:
                report.refuse(path, "found no text that the person wrote", key=place)
            yield from found


def _conversation(
    reader: FieldReader, place: str, talk: Mapping[str, Any], messages: list[Message]
) -> Iterator[ImportRecord]:
    """Yield a conversation's entries for ChatGPT's memory, then the note of its messages."""
    id_ = next((str(talk[k]) for k in ("uuid", "conversation_id", "id") if talk.get(k)), "")
    start = talk.get("create_time", talk.get("created_at"))
    end = talk.get("update_time", talk.get("updated_at"))
    created = _moment(reader, start, f"{place}.created")
    written = _moment(reader, end, f"{place}.updated") or created
    stored = (line for m in messages if m.to == "bio" for line in m.text.splitlines())
    for line in dict.fromkeys(line for line in stored if line.strip()):
        key = f"{id_}#{normalise(line)[:80]}" if id_ else ""
        yield reader.record(line.strip(), at=written, key=key)
    texts = (" ".join(m.text.split()) for m in messages if m.role in ("user", "human"))
    bullets = [f"- {text[:MAX_MESSAGE]}" for text in texts if text]
    if bullets:
        reader = FieldReader(reader.report, reader.path)
        reader.put("title", talk.get("title") or talk.get("name"), f"{place}.title")
        reader.put("tags", ["conversation"])
        dated: dict[str, Any] = {"captured": day_of(created), "captured_from": "unit"}
        yield reader.record("\n".join(bullets), type="note", key=id_, written=written, **dated)


def _moment(reader: FieldReader, value: object, key: str) -> datetime | None:
    """Parse a time given as text or as seconds since 1970. Return None without a valid time."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(int(value), UTC)
        except (OverflowError, OSError, ValueError):
            reader.note(key, f"found {value!r}, expected seconds since 1970")
            return None
    return reader.time(value, key)


def _chatgpt_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of the current branch, from the first one to the current one."""
    nodes: Any = talk["mapping"]
    if not isinstance(nodes, dict):
        return
    name = talk.get("current_node")
    path: dict[object, Any] = {}
    if not isinstance(name, str) or name not in nodes:
        path = dict(reversed(nodes.items()))
    while isinstance(name, str) and name in nodes and name not in path:
        path[name] = nodes[name]
        name = nodes[name].get("parent") if isinstance(nodes[name], dict) else None
    for node in reversed(path.values()):
        message = node.get("message") if isinstance(node, dict) else None
        if not isinstance(message, dict):
            continue
        author, content = message.get("author"), message.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        text = "\n".join(p for p in parts or () if isinstance(p, str))
        role = str(author.get("role")) if isinstance(author, dict) else ""
        yield Message(role, str(message.get("recipient") or ""), text)


def _claude_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    for message in talk["chat_messages"]:
        if isinstance(message, dict):
            content, text = message.get("content"), message.get("text")
            if not (isinstance(text, str) and text):
                parts = content if isinstance(content, list) else []
                found = (part.get("text") for part in parts if isinstance(part, dict))
                text = "\n".join(part for part in found if isinstance(part, str))
            yield Message(str(message.get("sender") or ""), "", text)


read_chatgpt = partial(_read_conversations, key="mapping", messages_of=_chatgpt_messages)
read_claude = partial(_read_conversations, key="chat_messages", messages_of=_claude_messages)


# -- claude-mem: docs.claude-mem.ai, "Database Architecture" ---------------------------------------

_TABLES = ("observations", "session_summaries")
_TYPES = {"decision": "decision", "discovery": "fact"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def wants_claude_mem(path: str) -> bool:
    """Return whether a file is a claude-mem database."""
    return path.endswith((".db", ".sqlite")) and "/" not in path


def read_claude_mem(files: Files, report: Report) -> Iterator[ImportRecord]:
    """Read the observations and summaries of each database.

    Decisions and discoveries become memories. Other observations and summaries become notes.
    """
    for path, data in sorted(files.items()):
        try:
            tables = _rows(data)
        except sqlite3.Error as error:
            report.refuse(path, f"found no database that can be read ({error})")
            continue
        if not tables:
            report.refuse(path, f"found none of the tables {', '.join(_TABLES)}")
        for row in tables.get("observations", ()):
            yield from _observation(FieldReader(report, path), row)
        for row in tables.get("session_summaries", ()):
            reader = FieldReader(report, path)
            reader.put("title", row.get("request"))
            parts = [(part.replace("_", " "), row.get(part)) for part in _PARTS]
            if body := "\n".join(f"- {name}: {text}" for name, text in parts if text):
                yield _row_record(reader, row, "summary", "note", body)


def _rows(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """Return a database's rows by table. Raises sqlite3.Error if the database is invalid.

    Only known tables are read.
    """
    # An in-memory database has no write-ahead log: clear WAL mode in bytes 18 and 19 of the header.
    plain = data[:18] + b"\1\1" + data[20:]
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(plain)
        database.text_factory = lambda text: text.decode("utf-8", "replace")
        database.row_factory = sqlite3.Row
        known = {row[0] for row in database.execute("SELECT name FROM sqlite_schema")}
        return {
            name: [*map(dict, database.execute(f"SELECT * FROM {name} ORDER BY rowid"))]  # noqa: S608
            for name in _TABLES
            if name in known
        }


def _observation(reader: FieldReader, row: Mapping[str, Any]) -> Iterator[ImportRecord]:
    reader.put("title", row.get("title"), "title")
    reader.put("description", row.get("subtitle"), "subtitle")
    text = str(row.get("narrative") or row.get("text") or row.get("subtitle") or "")
    facts = [f"- {fact}" for fact in _json_texts(row.get("facts")) if fact not in text]
    if body := "\n".join([text.strip(), *facts]).strip():
        type_ = _TYPES.get(str(row.get("type")), "note")
        tags = [str(row.get("type") or ""), *_json_texts(row.get("concepts"))]
        reader.put("tags", tags, "concepts")
        yield _row_record(reader, row, "observation", type_, body)


def _json_texts(value: object) -> list[str]:
    """Return the texts of a JSON list in a database column, or an empty list."""
    try:
        found = json.loads(value) if isinstance(value, str) and value else []
    except ValueError:
        return []
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _row_record(
    reader: FieldReader, row: Mapping[str, Any], table: str, type_: str, body: str
) -> ImportRecord:
    epoch = row.get("created_at_epoch")
    if isinstance(epoch, int) and 0 < epoch < 10**14:
        seconds = epoch // 1000 if epoch > 10**11 else epoch
        moment: datetime | None = datetime.fromtimestamp(seconds, UTC)
    else:
        moment = reader.time(row.get("created_at"), "created_at")
    if project := row.get("project"):
        reader.put("tags", [*reader.fields.get("tags", ()), f"project:{project}"], "project")
    return reader.record(body, at=moment, type=type_, key=f"{table}-{row.get('id')}")
