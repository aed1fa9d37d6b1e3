"""The tools: names, schemas, the four annotations, and the function that answers each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memrepo.faces.mcp import connector, reading, writing
from memrepo.faces.mcp.calls import ToolCall
from memrepo.faces.mcp.replies import Reply

Schema = Mapping[str, Any]

_WORD = {"type": "string"}
_ID = {"type": "string", "pattern": r"^[\w:-]{1,100}$"}
_TEXT = {"type": "string", "maxLength": 8000}
_REASON = {"type": "string", "maxLength": 500, "description": "why; the commit's subject"}
_EXPECTED = {
    "type": "string",
    "pattern": "^[0-9a-f]{7,64}$",
    "description": "refuse if HEAD is not this",
}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": 50, "default": reading.LIMIT}
_MAX_TOKENS = {
    "type": "integer",
    "minimum": 200,
    "maximum": 20000,
    "default": reading.MAX_TOKENS,
}
_AT = {
    "type": "string",
    "pattern": "^[0-9A-Za-z:+-]{1,40}$",
    "description": "as of a commit or date",
}
_WORDS = {"type": "array", "items": {"type": "string", "maxLength": 100}, "maxItems": 20}
_COMMIT, _HITS = {"commit": _WORD}, {"hits": {"type": "array"}}


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool: what it is called, takes and gives, whether it writes, and who answers."""

    name: str
    description: str
    answer: Callable[[ToolCall], Reply]
    takes: Mapping[str, Schema] = msgspec.field(default_factory=dict)
    required: tuple[str, ...] = ()
    gives: Mapping[str, Schema] = msgspec.field(default_factory=lambda: dict(_COMMIT))
    writes: bool = False
    destructive: bool = False
    idempotent: bool = True

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.takes),
            "additionalProperties": False,
            **({"required": list(self.required)} if self.required else {}),
        }

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the structured answer: what is always there."""
        return {"type": "object", "properties": dict(self.gives), "required": list(self.gives)}

    def annotations(self) -> dict[str, bool]:
        """Return the four hints; nothing here reaches beyond the repository."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }


_WRITTEN = {"id": _WORD, **_COMMIT}
_BOUNDS = {"limit": _LIMIT, "max_tokens": _MAX_TOKENS}

DEFAULT = (
    Tool(
        name="memory_search",
        answer=reading.search,
        required=("query",),
        description="Find memories by words. Do so before answering about the past.",
        takes={
            "query": {"type": "string", "maxLength": 1000},
            "types": _WORDS,
            "at": _AT,
            **_BOUNDS,
        },
        gives={**_COMMIT, **_HITS},
    ),
    Tool(
        name="memory_get",
        answer=reading.get,
        required=("id",),
        description="Open one memory by id or slug, with its evidence.",
        takes={"id": _ID, "at": _AT, "max_tokens": _MAX_TOKENS},
        gives={"id": _WORD, **_COMMIT, "text": _WORD},
    ),
    Tool(
        name="memory_store",
        answer=writing.store,
        required=("text", "reason"),
        writes=True,
        description="Keep one statement; known ones are not stored twice.",
        takes={
            "text": _TEXT,
            "reason": _REASON,
            "type": {"type": "string", "description": "fact (default), preference, decision..."},
            "decay_class": {
                "type": "string",
                "description": "permanent, durable 90d, normal 14d, short 2d, ephemeral 4h",
            },
            "tags": _WORDS,
            "valid_until": {"type": "string", "description": "date"},
            "expected_commit": _EXPECTED,
        },
        gives=_WRITTEN,
    ),
    Tool(
        name="memory_supersede",
        answer=writing.supersede,
        required=("id", "text", "reason"),
        description="Replace a memory by what holds now; history keeps the old.",
        takes={"id": _ID, "text": _TEXT, "reason": _REASON, "expected_commit": _EXPECTED},
        gives=_WRITTEN,
        writes=True,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_forget",
        answer=writing.forget,
        required=("id", "reason"),
        writes=True,
        description="Take a memory out of recall, not out of history.",
        destructive=True,
        takes={"id": _ID, "reason": _REASON, "expected_commit": _EXPECTED},
        gives=_WRITTEN,
    ),
    Tool(
        name="memory_related",
        answer=reading.related,
        required=("id",),
        description="Linked memories, and what replaced what.",
        takes={"id": _ID, "depth": {"type": "integer", "minimum": 1, "maximum": 5}, **_BOUNDS},
        gives={**_COMMIT, **_HITS},
    ),
    Tool(
        name="memory_thread_context",
        answer=reading.thread_context,
        required=("id",),
        description="What was kept of a memory's conversation.",
        takes={"id": _ID, **_BOUNDS},
        gives={**_COMMIT, **_HITS},
    ),
    Tool(
        name="memory_status",
        answer=reading.status,
        description="Counts, newest commit, what waits for a person.",
        gives={**_COMMIT, "memories": {"type": "object"}},
    ),
)
"""What every client is offered."""


def _report(command: str, name: str) -> Callable[[ToolCall], Reply]:
    def answer(call: ToolCall) -> Reply:
        words = {"words": (call.get(name),) if call.get(name) else ()} if name else {}
        return reading.report(call.run(command, **words), call.get("max_tokens", 4000))

    return answer


_RUN = {"type": "string", "pattern": r"^[\w-]{1,100}$"}
_REPORT = {"exit": {"type": "integer"}, "report": _WORD}
ADMIN = (
    Tool(
        name="memory_runs",
        answer=_report("runs", ""),
        takes={"max_tokens": _MAX_TOKENS},
        description="Runs in effect and runs that wait for review.",
        gives=_REPORT,
    ),
    Tool(
        name="memory_diff",
        answer=_report("diff", "run"),
        gives=_REPORT,
        description="What a run changes, told in memories; the waiting one when left out.",
        takes={"run": _RUN, "max_tokens": _MAX_TOKENS},
    ),
    Tool(
        name="memory_accept",
        answer=writing.accept,
        required=("run", "reason"),
        gives=_REPORT,
        description="Let a waiting run take effect; only, or all except, these memory ids.",
        takes={
            "run": _RUN,
            "reason": _REASON,
            "only": _WORDS,
            "except": _WORDS,
            "expected_commit": _EXPECTED,
        },
        writes=True,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_revert",
        answer=writing.revert,
        required=("target", "reason"),
        gives=_REPORT,
        description="Take back a run, a commit, or what was last decided of a memory.",
        takes={"target": _RUN, "reason": _REASON, "expected_commit": _EXPECTED},
        writes=True,
        destructive=True,
        idempotent=False,
    ),
    Tool(
        name="memory_restore",
        answer=writing.restore,
        required=("id", "reason"),
        gives=_WRITTEN,
        description="Bring a memory back; a superseded one instead of its successor or beside it.",
        takes={
            "id": _ID,
            "how": {"enum": ["instead", "beside"]},
            "reason": _REASON,
            "expected_commit": _EXPECTED,
        },
        writes=True,
    ),
    Tool(
        name="memory_doctor",
        answer=_report("doctor", ""),
        takes={"max_tokens": _MAX_TOKENS},
        description="Checks of repository, index, hooks and judge.",
        gives=_REPORT,
    ),
)
"""What `--toolset admin` adds: review and repair."""

CONNECTOR = (
    Tool(
        name="search",
        answer=connector.search,
        required=("query",),
        description="Find memories by words.",
        gives={"results": {"type": "array"}},
        takes={"query": {"type": "string", "maxLength": 1000}},
    ),
    Tool(
        name="fetch",
        answer=connector.fetch,
        required=("id",),
        description="Open one memory that search found.",
        takes={"id": _ID},
        gives={"id": _WORD, "title": _WORD, "text": _WORD, "url": _WORD},
    ),
)
"""What `--connector` adds: the two names that clients for search and deep research call."""
