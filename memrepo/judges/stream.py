"""A streamed answer of the Messages API, put together: server-sent events to one message.

Read here and not by the SDK, since signs of life must be told from pieces of the answer, and since
hosts that speak the API may send what its records do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

Data = dict[str, Any]
RAW = "memrepo_raw"
"""Where an answer stands that is no JSON object."""


class Overloaded(Exception):
    """The service ended a stream with an error of its own."""


def read_whole(data: bytes) -> dict[str, object]:
    """Return the object that a body is, or the body itself under `RAW`."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = data.decode("utf-8", "replace")
    return found if isinstance(found, dict) else {RAW: found}


def events(lines: Iterable[str]) -> Iterator[tuple[str, Data]]:
    """Yield the events of a stream, each with its data; what is no JSON object has none."""
    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        match field:
            case "event":
                name = value.strip()
            case "data":
                data += value.strip()
            case "" if not line and (name or data):
                found = read_whole(data.encode())
                yield name or str(found.get("type", "")), {} if RAW in found else found
                name, data = "", ""


class Told:
    """What was heard of an answer so far."""

    def __init__(self) -> None:
        self.message: Data = {}
        self.usage: dict[str, object] = {}
        self.ended = False
        self._blocks: dict[int, Data] = {}

    @property
    def text(self) -> str:
        """Return the answer so far."""
        return "".join(b["text"] for b in self._blocks.values() if b["type"] == "text")

    def hear(self, event: str, data: Data) -> None:
        """Take one event; raises Overloaded for an error."""
        match event:
            case "message_start":
                self.message = _inner(data, "message")
                self._count(self.message)
            case "content_block_start":
                block = _inner(data, "content_block")
                kind, text = str(block.get("type", "")), str(block.get("text", ""))
                self._blocks[_index(data)] = {"type": kind, "text": text}
            case "content_block_delta":
                delta = _inner(data, "delta")
                block = self._blocks.setdefault(_index(data), {"type": "text", "text": ""})
                if delta.get("type") == "text_delta":
                    block["text"] += str(delta.get("text", ""))
            case "message_delta":
                self.message |= _inner(data, "delta")
                self._count(data)
            case "message_stop":
                self.ended = True
                blocks = [block for _, block in sorted(self._blocks.items())]
                self.message |= {"content": blocks, "usage": self.usage}
            case "error":
                said = _inner(data, "error")
                raise Overloaded(
                    f"{said.get('type', 'error')}: {str(said.get('message', ''))[:300]}"
                )

    def _count(self, data: Data) -> None:
        told = {k: v for k, v in _inner(data, "usage").items() if isinstance(v, int)}
        self.usage |= told


def _inner(data: Data, key: str) -> Data:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _index(data: Data) -> int:
    found = data.get("index")
    return found if isinstance(found, int) else 0
