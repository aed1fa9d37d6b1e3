"""Parse the text that a model answers into records.

Every object from a brace on is tried, whether it is the whole text, in a fence or in prose. The
last attempt reads the complete elements of a truncated list. Nothing here raises on a model's
text: a malformed element becomes a `Fault`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec

from memrepo.core.patterns import regex
from memrepo.judge.interface import ANSWERS, Fault, Kind

_TRIES = 400  # limits the cost of a hostile answer with a million braces
_STARTS = 20
_FENCE = regex(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_BETWEEN = regex(r"[\s,]*")
_KINDS = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The elements of an answer: records, or faults. `page` is that of a shelf.

    `whole` is false if the answer ends before its list does.
    """

    items: tuple[Any, ...]
    page: tuple[str, ...] = ()
    whole: bool = True

    @property
    def faults(self) -> tuple[str, ...]:
        """Return the reasons why elements are malformed."""
        return tuple(one.reason for one in self.items if isinstance(one, Fault))


class UnreadableReply(msgspec.Struct, frozen=True):
    """The reason why a text has no answer, with the failure of each attempt to parse it."""

    reason: str
    tried: tuple[str, ...] = ()


def read_answer(text: str, kind: Kind) -> Answer | UnreadableReply:
    """Parse the answer to a question of a kind."""
    key, record = ANSWERS[kind]
    element = get_args(get_type_hints(record)[key])[0]
    holding = [o for o in _braced(_bare(text)) if isinstance(o.get(key), list)]
    found: dict[str, Any] | None = holding[-1] if holding else None
    whole = True
    if found is None:
        elements, whole = _cut_off(text, key)
        found = {key: elements} if elements else None
    if found is None:
        return _unreadable(text, key)
    rows = found[key]
    page = found.get("page") if kind == "shelf" else ()
    ids = tuple(id_ for id_ in page if isinstance(id_, str)) if isinstance(page, list) else ()
    return Answer(items=tuple(_build(element, row) for row in rows), page=ids, whole=whole)


def _build(record: Any, element: object) -> Any:
    """Build a record from JSON, or a fault with the place of the error."""
    if not isinstance(element, dict):
        return Fault(f"{str(element)[:60]!r}: expected an object")
    known = {k: _cleaned(v) for k, v in element.items() if k in record.__struct_fields__}
    known = {k: v for k, v in known.items() if v is not None}
    try:
        return msgspec.convert(known, record)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$.")
        return Fault(f"{where.strip('`') or 'the element'}: {message}", known)


def _cleaned(given: object) -> object:
    """Remove characters that files cannot contain from all texts of a value."""
    if isinstance(given, str):
        # JSON can contain half of a surrogate pair, which a file cannot.
        text = given.encode("utf-8", "replace").decode("utf-8")
        return text if text.isprintable() else "".join(ch for ch in text if _may_enter(ch)).strip()
    if isinstance(given, list):
        return [_cleaned(one) for one in given]
    if isinstance(given, dict):
        return {key: _cleaned(value) for key, value in given.items()}
    return given


def _may_enter(ch: str) -> bool:
    """Return whether answers may contain a character. Invisible characters are not permitted.

    Joiners are permitted, since some scripts need them.
    """
    if ch in "\n\t\u200c\u200d":
        return True
    return unicodedata.category(ch) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def _unreadable(text: str, key: str) -> UnreadableReply:
    """Explain why a text has no answer, with the result of each attempt to parse it."""
    if not (text := _bare(text)):
        return UnreadableReply("the answer is empty")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason, direct = f"the answer holds no JSON object with the key {key}", str(error)
    else:
        if isinstance(found, dict):
            fault = f"the key {key} holds no list" if key in found else ""
            reason = fault or f"the required key {key} is missing"
        else:
            kind = _KINDS.get(type(found), "number")
            reason = f"the top level is {kind}, expected an object with the key {key}"
        direct = reason
    return UnreadableReply(
        reason,
        (
            f"direct: {direct}",
            f"fence: {len(_FENCE.findall(text))} fenced blocks, none with {key}",
            f"scan: {sum(1 for _ in _braced(text))} objects from a brace on, none with {key}",
            f"cut: no complete element of {key}",
        ),
    )


def _bare(text: str) -> str:
    return text.strip().removeprefix("\ufeff").strip()


def _braced(text: str) -> Iterator[dict[str, Any]]:
    """Yield every JSON object that starts at a brace in a text, from left to right.

    Nested objects are skipped.
    """
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _cut_off(text: str, key: str) -> tuple[list[object], bool]:
    """Return the complete elements of the last list under a key, and whether the list ends.

    Reading ends at the first element that cannot be parsed. An extra comma is ignored.
    """
    decoder = json.JSONDecoder()
    for match in list(re.finditer(rf'"{key}"\s*:\s*\[', text))[: -_STARTS - 1 : -1]:
        found: list[object] = []
        at = match.end()
        while True:
            blank = _BETWEEN.match(text, at)
            at = blank.end() if blank else at
            if text[at : at + 1] == "]":
                return found, True
            try:
                element, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                break
            found.append(element)
        if found:
            return found, False
    return [], True
