"""Replies of tools: what the command line prints, in a fence, and the record of it as data."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import msgspec

from memrepo.actions.request import VerbResult
from memrepo.core.errors import MemrepoError
from memrepo.core.memory import STATUSES
from memrepo.core.messages import fold
from memrepo.core.patterns import regex
from memrepo.faces.text import text_of
from memrepo.text.sentences import token_count
from memrepo.views.hot import HEAD, fenced

NOTICES = 5
"""Maximum warnings in a reply."""
_TEXTS = frozenset(
    ("text", "context", "before", "nearby", "doubts", "quote", "suggestions", "hint")
)
"""Keys of records whose values are texts of people and programs."""
_CODES = frozenset(
    "answer_confidence branch captured change changes class commit commits contradictions count"
    " depth derived due evidence expired hit hits id later left_out lines memories memory passages"
    " related replaced_by replaces resource retrievals run runs score sources standing status"
    " superseded_by supersedes tier tokens trust truncated type valid_from valid_until via waiting"
    " waits way".split()
).union(STATUSES)
"""Keys of records whose values are numbers, ids, words of memrepo, or records with such keys."""
_SHOWN = frozenset(("text", "context"))
"""Keys of the texts that a verb is about. Data that has them needs no report."""
_CODE = regex(r"[\w:./+-]{0,200}")


class ToolReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply of a tool: a text, the same content as data, and whether it is a refusal.

    A client hands one of the two to its model, not both.
    """

    text: str
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    failed: bool = False

    @property
    def tokens(self) -> int:
        """Return the size of the reply in tokens: of its text or of its data."""
        data = json.dumps(self.data, ensure_ascii=False)
        return max(token_count(self.text), token_count(data))


def reply_of(verb: str, request: object, result: VerbResult, max_tokens: int) -> ToolReply:
    """Return the reply for the result of a verb, cut to a number of tokens."""
    warnings = [str(problem) for problem in result.notices[:NOTICES]]
    whole = "\n".join(filter(None, [text_of(verb, request, result), *warnings]))
    record = {"exit": int(result.exit), "truncated": False, **_known_keys(result.as_json())}

    def build(size: int) -> ToolReply:
        part = whole[:size]
        tail = ["cut: raise max_tokens for the rest"] if size < len(whole) else []
        data = record if _has_text(record) else {**record, "report": fenced(part)}
        data = (
            {**data, "truncated": record["truncated"] or bool(tail)} if "report" in data else data
        )
        return ToolReply(text="\n".join([HEAD, fenced(part), *tail]), data=data)

    room = max_tokens if _has_text(record) else max_tokens // 2  # a report needs the rest
    while token_count(json.dumps(record, ensure_ascii=False)) > room and len(record) > 2:
        record = _shorter(record)
    sizes = range(1, len(whole) + 1)
    if build(len(whole)).tokens > max_tokens:
        return build(bisect_right(sizes, max_tokens, key=lambda size: build(size).tokens))
    return build(len(whole))


def _known_keys(value: Any) -> Any:
    """Return the part of a record that may leave a fence, with its texts in fences."""
    match value:
        case dict():
            record = {key: _known_keys(part) for key, part in value.items() if key in _CODES}
            texts = {key: _text(part) for key, part in value.items() if key in _TEXTS and part}
            return {key: part for key, part in record.items() if part is not None} | texts
        case list() | tuple():
            return [_known_keys(part) for part in value]
        case str():
            return value if _CODE.fullmatch(value) else None
        case _:
            return value


def _text(value: Any) -> str:
    return fenced(value if isinstance(value, str) else "\n".join(map(str, value)))


def _has_text(value: Any) -> bool:
    match value:
        case dict():
            return not _SHOWN.isdisjoint(value) or any(map(_has_text, value.values()))
        case list() | tuple():
            return any(map(_has_text, value))
        case _:
            return False


def _shorter(record: dict[str, Any]) -> dict[str, Any]:
    """Return the data without the last record of its longest list, or without its longest value."""
    key = max(record, key=lambda name: len(json.dumps(record[name])))
    value = record[key][:-1] if isinstance(record[key], list) else None
    kept = {**record, key: value, "truncated": True}
    return {name: part for name, part in kept.items() if part not in (None, [])}


_TOOLS = {
    "search": "memory_search",
    "show": "memory_get",
    "log": "memory_recent",
    "status": "memory_status",
    "forget": "memory_forget",
    "thread": "memory_thread_context",
}
"""Tools that replace the commands in error messages."""
_COMMAND = regex(rf"`memrepo ({'|'.join(_TOOLS)})((?: \w[\w:-]*)?)`")


def refusal(error: MemrepoError) -> ToolReply:
    """Return a reply that reports an error to the client.

    The message is fenced, because it may quote the refused text.
    """
    found = {"message": fenced(fold(error.message, 500)), "exit": int(error.exit_code)}
    fix = fold(_COMMAND.sub(lambda m: f"`{_TOOLS[m[1]]}{m[2]}`", error.fix), 300)
    text = f"refused:\n{found['message']}" + (f"\ntry: {fix}" if fix else "")
    return ToolReply(text=text, data={"error": {**found, "fix": fix}}, failed=True)
