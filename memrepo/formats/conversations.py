"""Read `conversations.json`, exported by ChatGPT or Claude, as one note per conversation.

A note contains the messages of the user, one bullet each, without the answers. Each entry of
ChatGPT's own memory (messages to its tool `bio`) becomes a memory. If a conversation has branches,
only the current branch is read. Docs: the help pages of both services on exporting data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memrepo.core.ids import normalise
from memrepo.core.problems import Problem
from memrepo.formats.records import Files, Given, Read, Record, day_of, read_json, refused

MAX_MESSAGE = 2000
"""The maximum number of characters of a message in a note."""


class Message(NamedTuple):
    """A message: its author's role, its recipient, and its text."""

    role: str
    to: str
    text: str


def wants(path: str) -> bool:
    """Return whether a file contains a list of exported conversations.

    Large exports have several numbered files.
    """
    name = path.rpartition("/")[2]
    return name.startswith("conversations") and name.endswith(".json")


def read_chatgpt(files: Files) -> Read:
    """Read the conversations and memory entries of a ChatGPT export."""
    return _read(files, "mapping", _chatgpt_messages)


def read_claude(files: Files) -> Read:
    """Read the conversations of a Claude export."""
    return _read(files, "chat_messages", _claude_messages)


def _read(files: Files, holds: str, messages: Any) -> Read:
    records: list[Record] = []
    problems: list[Problem] = []
    answers = 0
    for path, data in sorted(files.items()):
        value = read_json(path, data, problems)
        if value is None:
            continue
        if not isinstance(value, list):
            problems.append(refused(path, "found no list of conversations"))
            continue
        for number, talk in enumerate(value):
            key = f"[{number}]"
            if not isinstance(talk, dict) or not isinstance(talk.get(holds), dict | list):
                problems.append(refused(path, f"found no conversation with {holds}", key=key))
                continue
            said = list(messages(talk))
            answers += sum(m.role == "assistant" and m.to != "bio" for m in said)
            given = Given(path)
            found = list(_records(given, key, talk, said))
            if not found:
                problems.append(refused(path, "found no text that the person wrote", key=key))
            records += found
            problems += given.problems
    passed = {"answers_passed_over": answers} if answers else {}
    return Read(records=tuple(records), problems=tuple(problems), passed=passed)


def _records(
    given: Given, key: str, talk: Mapping[str, Any], said: list[Message]
) -> Iterator[Record]:
    """Yield a conversation's entries for ChatGPT's memory, then the note of its messages."""
    id_ = next((str(talk[k]) for k in ("uuid", "conversation_id", "id") if talk.get(k)), "")
    began = _moment(given, talk.get("create_time", talk.get("created_at")), f"{key}.created")
    ended = _moment(given, talk.get("update_time", talk.get("updated_at")), f"{key}.updated")
    stored = dict.fromkeys(
        line
        for message in said
        if message.to == "bio"
        for line in message.text.splitlines()
        if line.strip()
    )
    for line in stored:
        yield Record(
            path=given.path,
            text=line.strip(),
            key=f"{id_}#{normalise(line)[:80]}" if id_ else "",
            captured=day_of(ended or began),
            captured_from="unit",
            written=ended or began,
        )
    asked = [" ".join(m.text.split())[:MAX_MESSAGE] for m in said if m.role in ("user", "human")]
    asked = [text for text in asked if text]
    if not asked:
        return
    given.fields = {}
    given.put("title", talk.get("title") or talk.get("name"), f"{key}.title")
    given.put("tags", ["conversation"])
    yield Record(
        path=given.path,
        text="\n".join(f"- {text}" for text in asked),
        type="note",
        key=id_,
        captured=day_of(began),
        captured_from="unit",
        written=ended or began,
        fields=given.fields,
    )


def _moment(given: Given, value: object, key: str) -> datetime | None:
    """Parse a time given as text or as seconds since 1970. Return None without a valid time."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(int(value), UTC)
        except (OverflowError, OSError, ValueError):
            given.note(key, f"found {value!r}, expected seconds since 1970")
            return None
    return given.time(value, key)


def _chatgpt_messages(talk: Mapping[str, Any]) -> Iterator[Message]:
    """Yield the messages of a conversation, from the first one to the current one."""
    nodes: Any = talk["mapping"]
    path: list[Any] = []
    name = talk.get("current_node")
    if not isinstance(nodes, dict):
        return
    if not isinstance(name, str) or name not in nodes:
        path = list(nodes.values())
    seen: set[object] = set()
    while isinstance(name, str) and name in nodes and name not in seen:
        seen.add(name)
        path.insert(0, nodes[name])
        name = nodes[name].get("parent") if isinstance(nodes[name], dict) else None
    for node in path:
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
            content = message.get("content")
            parts = [
                part["text"]
                for part in (content if isinstance(content, list) else ())
                if isinstance(part, dict) and isinstance(part.get("text"), str)
            ]
            text = message.get("text")
            text = text if isinstance(text, str) and text else "\n".join(parts)
            yield Message(str(message.get("sender") or ""), "", text)
