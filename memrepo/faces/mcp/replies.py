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
    " derived evidence expired hits id later left_out lines memories memory passages"
    " related replaces resource retrievals run runs score sources standing status"
    " superseded_by supersedes tier tokens trust truncated type valid_from valid_until waiting"
    " waits way".split()
).union(STATUSES)
"""Keys of records whose values are numbers, ids, words of memrepo, or records with such keys."""
_SHOWN = frozenset(("text", "context"))
"""Keys of the texts that a verb is about. Data that has them needs no report."""
_CODE = regex(r"[\w:./+-]{0,200}")


class ToolReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply of a tool: a text, the same content as data, and whether it is a refusal."""

    text: str
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)
    failed: bool = False

    @property
    def tokens(self) -> int:
        """Return the size of the reply in tokens: of its text and its data together."""
        return token_count(self.text) + _size(self.data)


class _Text(str):
    """A text of a person or a program in a record, which leaves it in a fence only."""

    __slots__ = ()


def reply_of(verb: str, request: object, result: VerbResult, max_tokens: int) -> ToolReply:
    """Return the reply for the result of a verb, cut to a number of tokens."""
    warnings = [str(problem) for problem in result.notices[:NOTICES]]
    whole = "\n".join(filter(None, [text_of(verb, request, result), *warnings]))
    record = {"exit": int(result.exit), "truncated": False, **_known_keys(result.as_json())}
    is_told = _has_text(record)
    room = max_tokens * 3 // 5 if is_told else max_tokens // 4  # a report needs the rest
    while _size(_fenced(record)) > room and (shorter := _shorter(record)) != record:
        record = {**shorter, "truncated": True}

    def build(size: int) -> ToolReply:
        part = whole[:size]
        tail = ["cut: raise max_tokens for the rest"] if size < len(whole) else []
        data = {**record, "truncated": record["truncated"] or bool(tail)}
        data |= {} if is_told else {"report": _Text(part)}
        return ToolReply(text="\n".join([HEAD, fenced(part), *tail]), data=_fenced(data))

    if build(len(whole)).tokens <= max_tokens:
        return build(len(whole))
    sizes = range(1, len(whole) + 1)
    return build(bisect_right(sizes, max_tokens, key=lambda size: build(size).tokens))


def _size(record: object) -> int:
    return token_count(json.dumps(record, ensure_ascii=False))


def _known_keys(value: Any) -> Any:
    """Return the part of a record that may leave a fence, and its texts."""
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


def _text(value: Any) -> _Text:
    return _Text(value if isinstance(value, str) else "\n".join(map(str, value)))


def _fenced(value: Any) -> Any:
    """Return a record with its texts in fences."""
    match value:
        case _Text():
            return fenced(str(value))
        case dict():
            return {key: _fenced(part) for key, part in value.items()}
        case list():
            return [_fenced(part) for part in value]
        case _:
            return value


def _has_text(value: Any) -> bool:
    match value:
        case dict():
            return not _SHOWN.isdisjoint(value) or any(map(_has_text, value.values()))
        case list() | tuple():
            return any(map(_has_text, value))
        case _:
            return False


_LEAST = 80
"""Characters of a text that is not cut any further."""


def _shorter(value: Any) -> Any:
    """Return a record with its largest part shorter: a list without its last entry, a text cut.

    What cannot be shortened is left out, but for the id and the text that the record is about.
    """
    match value:
        case _Text() if len(value) > _LEAST + 1:
            return _Text(f"{value[: max(_LEAST, len(value) // 2)].rstrip()}…")
        case [one]:
            return [_shorter(one)]
        case [*first, _]:
            return first
        case dict():
            parts = [key for key in value if key not in ("exit", "truncated")]
            parts.sort(key=lambda key: _size(value[key]), reverse=True)
            for key in parts:
                if (shorter := _shorter(value[key])) != value[key]:
                    return {**value, key: shorter}
            least = next((key for key in parts if key not in ("id", "text")), None)
            return {key: part for key, part in value.items() if key != least}
        case _:
            return value


_TOOLS = {
    "search": "memory_search",
    "show": "memory_get",
    "status": "memory_status",
    "forget": "memory_forget",
    "thread": "memory_thread_context",
}
"""Tools that replace the commands in error messages."""
_COMMAND = regex(rf"`memrepo ({'|'.join(_TOOLS)})((?: \w[\w:-]*)?)`")
_COMMITS = regex(r" \(`memrepo log` lists commits\)")


def refusal(error: MemrepoError) -> ToolReply:
    """Return a reply that reports an error to the client.

    The message is fenced, because it may quote the refused text.
    """
    found = {"message": fenced(fold(error.message, 500)), "exit": int(error.exit_code)}
    fix = _COMMITS.sub("", error.fix)  # no tool lists commits
    fix = fold(_COMMAND.sub(lambda m: f"`{_TOOLS[m[1]]}{m[2]}`", fix), 300)
    text = f"refused:\n{found['message']}" + (f"\ntry: {fix}" if fix else "")
    return ToolReply(text=text, data={"error": {**found, "fix": fix}}, failed=True)
