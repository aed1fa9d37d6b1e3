"""Read what programs export: memrepo, MCP memory, ChatGPT, Claude and claude-mem."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from memrepo.core.ids import normalise
from memrepo.core.jsontext import texts
from memrepo.core.problems import Problem
from memrepo.formats.records import (
    Files,
    Found,
    ImportRecord,
    Skipped,
    read_json,
    read_json_lines,
    refused,
)

# -- `memrepo export jsonl` -----------------------------------------------------------------------


def read_jsonl(files: Files) -> Iterator[Found]:
    """Read the output of `memrepo export jsonl`, one memory per line."""
    for path, data in files.items():
        for line in read_json_lines(path, data):
            if isinstance(line, Problem):
                yield line
                continue
            text, id_ = line.record.get("text"), str(line.record.get("id") or "")
            if not isinstance(text, str):
                yield refused(path, "found no text", line=line.number, key="text")
                continue
            yield ImportRecord(
                path=path,
                text=text,
                key=id_,
                lines=(line.number, line.number),
                fields={k: v for k, v in line.record.items() if k not in ("path", "layer", "text")},
                is_own=True,
                own_path=str(line.record.get("path")),
            )


# -- the reference MCP memory server: "Knowledge Graph Memory Server" ------------------------------


def read_mcp_memory(files: Files) -> Iterator[Found]:
    """Read `memory.json`, which has one line per entity or relation.

    Each observation becomes a memory in the context of its entity. Each relation becomes a memory
    with both names.
    """
    for path, data in sorted(files.items()):
        for line in read_json_lines(path, data):
            if isinstance(line, Problem):
                yield line
                continue
            value = line.record
            kind, name = value.get("type"), value.get("name")
            ends = [value.get(key) for key in ("from", "relationType", "to")]
            statements: list[str] = []
            fields: dict[str, object] = {}
            if kind == "entity" and isinstance(name, str):
                statements = texts(value.get("observations"))
                tags = [value.get("entityType") or ""]
                fields = {"context": name, "entities": [name], "tags": tags}
            elif kind == "relation" and all(isinstance(end, str) for end in ends):
                statements = [" ".join(map(str, ends)).replace("_", " ")]
                fields = {"entities": [ends[0], ends[2]]}
            elif kind != "entity":
                yield refused(path, "found no entity or relation", line=line.number)
            for statement in filter(None, map(str.strip, statements)):
                at = (line.number, line.number)
                yield ImportRecord(path=path, text=statement, lines=at, fields=fields)


# -- `conversations.json` of ChatGPT and Claude: help pages on exporting data ----------------------

MAX_MESSAGE = 2000
"""The maximum number of characters of a message in a note."""


class Message(NamedTuple):
    """A message: its author's role, its recipient, and its text."""

    role: str
    to: str
    text: str


def _read_conversations(
    files: Files, *, key: str, messages_of: Callable[[Mapping[str, Any]], Iterator[Message]]
) -> Iterator[Found]:
    """Read each conversation as one note of the user's messages, without the answers.

    Each entry of ChatGPT's own memory (messages to its tool `bio`) becomes a memory.
    """
    for path, data in sorted(files.items()):
        value = read_json(path, data)
        if not isinstance(value, list):
            is_read = not isinstance(value, Problem)
            yield refused(path, "found no list of conversations") if is_read else value
            continue
        for number, talk in enumerate(value):
            place = f"[{number}]"
            if not isinstance(talk, dict) or not isinstance(talk.get(key), dict | list):
                yield refused(path, f"found no conversation with {key}", key=place)
                continue
            messages = list(messages_of(talk))
            answers = sum(m.role == "assistant" and m.to != "bio" for m in messages)
            yield Skipped("answers_passed_over", answers)
            found = list(_conversation(path, talk, messages))
            yield from found
            if not found:
                yield refused(path, "found no text that the person wrote", key=place)


def _conversation(
    path: str, talk: Mapping[str, Any], messages: list[Message]
) -> Iterator[ImportRecord]:
    """Yield a conversation's entries for ChatGPT's memory, then the note of its messages."""
    id_ = next((str(talk[k]) for k in ("uuid", "conversation_id", "id") if talk.get(k)), "")
    start = talk.get("create_time") or talk.get("created_at")
    written = talk.get("update_time") or talk.get("updated_at") or start
    stored = (line for m in messages if m.to == "bio" for line in m.text.splitlines())
    for line in dict.fromkeys(line for line in stored if line.strip()):
        key = f"{id_}#{normalise(line)[:80]}" if id_ else ""
        yield ImportRecord(path=path, text=line.strip(), key=key, written=written)
    texts = (" ".join(m.text.split()) for m in messages if m.role in ("user", "human"))
    if bullets := [f"- {text[:MAX_MESSAGE]}" for text in texts if text]:
        title = talk.get("title") or talk.get("name")
        yield ImportRecord(
            path=path,
            text="\n".join(bullets),
            type="note",
            key=id_,
            written=start,
            fields={"title": title, "tags": ["conversation"]},
        )


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
        role = str(author.get("role")) if isinstance(author, dict) else ""
        yield Message(role, str(message.get("recipient") or ""), "\n".join(texts(parts)))


def _claude_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    for message in talk["chat_messages"]:
        if isinstance(message, dict):
            content, text = message.get("content"), message.get("text")
            if not (isinstance(text, str) and text):
                parts = content if isinstance(content, list) else []
                text = "\n".join(texts([p.get("text") for p in parts if isinstance(p, dict)]))
            yield Message(str(message.get("sender") or ""), "", text)


read_chatgpt = partial(_read_conversations, key="mapping", messages_of=_chatgpt_messages)
read_claude = partial(_read_conversations, key="chat_messages", messages_of=_claude_messages)


# -- claude-mem: docs.claude-mem.ai, "Database Architecture" ---------------------------------------

_TABLES = ("observations", "session_summaries")
_TYPES = {"decision": "decision", "discovery": "fact"}
_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read_claude_mem(files: Files) -> Iterator[Found]:
    """Read the observations and summaries of each database.

    Decisions and discoveries become memories. Other observations and summaries become notes.
    """
    for path, data in sorted(files.items()):
        try:
            tables = _rows(data)
        except sqlite3.Error as error:
            yield refused(path, f"found no database that can be read ({error})")
            continue
        if not tables:
            yield refused(path, f"found none of the tables {', '.join(_TABLES)}")
        for row in tables.get("observations", ()):
            text = str(row.get("narrative") or row.get("text") or row.get("subtitle") or "")
            facts = [f"- {fact}" for fact in _list_in(row.get("facts")) if fact not in text]
            fields = {"title": row.get("title"), "description": row.get("subtitle")}
            tags = [str(row.get("type") or ""), *_list_in(row.get("concepts"))]
            type_ = _TYPES.get(str(row.get("type")), "note")
            if body := "\n".join([text.strip(), *facts]).strip():
                yield _row_record(path, row, "observation", type_, body, fields, tags)
        for row in tables.get("session_summaries", ()):
            parts = [(part.replace("_", " "), row.get(part)) for part in _PARTS]
            fields = {"title": row.get("request")}
            if body := "\n".join(f"- {name}: {text}" for name, text in parts if text):
                yield _row_record(path, row, "summary", "note", body, fields)


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


def _list_in(value: object) -> list[str]:
    """Return the texts of a JSON list in a database column, or an empty list."""
    try:
        return texts(json.loads(value)) if isinstance(value, str) and value else []
    except ValueError:
        return []


def _row_record(
    path: str,
    row: Mapping[str, Any],
    table: str,
    type_: str,
    body: str,
    fields: Mapping[str, object],
    tags: Sequence[str] = (),
) -> ImportRecord:
    epoch, project = row.get("created_at_epoch"), row.get("project")
    written = epoch if isinstance(epoch, int) and 0 < epoch < 10**14 else row.get("created_at")
    labels = [*tags, *([f"project:{project}"] if project else [])]
    return ImportRecord(
        path=path,
        text=body,
        type=type_,
        key=f"{table}-{row.get('id')}",
        written=written,
        fields={**fields, "tags": labels},
    )
