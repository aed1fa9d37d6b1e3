"""Detect and redact secrets. Their values are never printed, and never stored in memories.

Only nearly certain forms are reported (`core.secret_kinds`). UUIDs, hashes and numeric ids are
common in workspaces and are not secrets. The visible text is searched: invisible characters, wide
letters and look-alikes of other scripts cannot hide a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from memrepo import __version__
from memrepo.core.ids import digest
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import SWITCHED, Find, formed, labelled, tables

if TYPE_CHECKING:
    from memrepo.core.memory import Memory

UNCHECKED = "unchecked"
"""The kind of a text on which a detector failed. It is treated as a secret."""
_MAX_ROUNDS = 20
OWN = "own-pattern"
"""The kind of a text that a pattern of the owner matches (`secrets.patterns`)."""
_MAX_LINE = 2000
"""The owner's patterns search parts of this many characters, which bounds the time they take."""
_off: ContextVar[frozenset[str]] = ContextVar("secrets_off", default=frozenset())
_own: ContextVar[tuple[str, ...]] = ContextVar("secrets_patterns", default=())
_UNSEEN = regex(
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
"""Characters of Unicode category Cf, which are invisible."""
_DISGUISED = regex(
    rf"{_UNSEEN.pattern}|[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]"
    r"|[A-Za-z0-9][\u0370-\u052f]|[\u0370-\u052f][A-Za-z0-9]|<!--[^\n]{0,200}?-->|%[2-7][0-9A-Fa-f]"
)
"""Invisible characters, wide letters, letters of other scripts next to Latin ones, comments, and
encoded characters of addresses."""
_ENCODED = regex(r"<!--[^\n]{0,200}?-->|%[2-7][0-9A-Fa-f]")
_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABESIJKMHOPCTXYaesijopcyxdqwhABEZHIKMNOPTYXo"
)
"""Cyrillic and Greek letters that look like Latin ones (Unicode TR 39)."""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a secret (offsets, one-based line and column), without the value."""

    kind: str
    start: int
    end: int
    line: int
    column: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets found in a text, in order of position.

    If two overlap, the earlier, then longer one is used.
    """
    found = [
        (start, -end, rank, kind)
        for rank, (start, end, kind) in enumerate(_found(text))
        if not _is_ours(text, start, end)
    ]
    secrets: list[Secret] = []
    line, line_start, known = 1, 0, 0
    for start, minus_end, _, kind in sorted(found):
        if secrets and start < secrets[-1].end:
            continue
        line += text.count("\n", known, start)
        line_start = text.rfind("\n", 0, start) + 1
        known = start
        secrets.append(
            Secret(kind=kind, start=start, end=-minus_end, line=line, column=start - line_start + 1)
        )
    return tuple(secrets)


def _is_ours(text: str, start: int, end: int) -> bool:
    """Return whether a find is the tag of a line of the first page, or the mark of a fence.

    `judge.questions.fence` makes such marks.
    """
    if regex(r"←?mem-[0-9a-f]{16}(?:\[pin\])?").fullmatch(text, start, end):
        return "←" in text[max(0, start - 1) : start + 1]
    marked = text[start - 8 : start] == "<<<data " or text[end : end + 8] == " data>>>"
    return marked and regex(r"[0-9a-f]{16}").fullmatch(text, start, end) is not None


def _found(text: str) -> Iterator[Find]:
    """Yield the secrets in a text, and those that appear when disguised characters are replaced."""
    off = _off.get()
    yield from (find for find in _plainly(text) if find[2] not in off)
    if not _DISGUISED.search(text):
        return
    shown, places = _visible(text)
    for start, end, kind in _plainly(shown):
        if kind not in off:
            yield places[start], places[end] if end < len(places) else len(text), kind


def _plainly(text: str) -> Iterator[Find]:
    yield from _detected(lambda part: formed(part, _folded(part)), text)
    yield from _detected(lambda part: labelled(part, _folded(part)), text)
    for pattern in _own.get():
        yield from _detected(partial(_matches, pattern), text)


def _matches(pattern: str, text: str) -> Iterator[Find]:
    """Yield what a pattern of the owner matches: its first group that took part, or all of it."""
    found = re.compile(pattern)
    at = 0
    for line in text.splitlines(keepends=True):
        for start in range(at, at + len(line), _MAX_LINE):
            for match in found.finditer(text, start, min(start + _MAX_LINE, at + len(line))):
                group = match.lastindex and next(n for n in range(1, 101) if match[n] is not None)
                if match.end(group or 0) > match.start(group or 0):
                    yield *match.span(group or 0), OWN
        at += len(line)


def _folded(text: str) -> str:
    """Return a text in lower case and of the same length."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = text.replace("İ", "i").lower()  # the only letter that becomes longer in lower case
    return folded


def _detected(detector: Callable[[str], Iterable[Find]], text: str) -> Sequence[Find]:
    """Return what a detector finds. All detectors run through this function.

    A detector that fails concerns the lines on which it fails: they count as secrets, so they are
    redacted and named, and the rest of the text is still used.
    """
    try:
        return list(detector(text))
    except Exception:  # noqa: BLE001 a fault in one rule must not stop a run
        found: list[Find] = []
    start = 0
    for line in text.split("\n"):
        try:
            found += [(start + a, start + b, kind) for a, b, kind in detector(line)]
        except Exception:  # noqa: BLE001
            found += [(start, start + len(line), UNCHECKED)] if line else []
        start += len(line) + 1
    if text and not any(kind == UNCHECKED for _, _, kind in found):
        return [(0, len(text), UNCHECKED)]
    return found


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Return the lines with disguised characters in plain letters, and their original offsets."""
    shown: list[str] = []
    places: list[int] = []
    at = 0
    while match := _DISGUISED.search(text, at):
        start = text.rfind("\n", 0, match.start()) + 1
        at = (text.find("\n", match.end()) + 1) or len(text)
        encoded = {match.start(): match[0] for match in _ENCODED.finditer(text, start, at)}
        skipped = start
        for place, char in enumerate(text[start:at].translate(_LOOKALIKES), start):
            if whole := encoded.get(place):
                skipped = place + len(whole)
                if whole[0] == "%":
                    shown.append(chr(int(whole[1:], 16)))
                    places.append(place)
            elif place >= skipped and not _UNSEEN.match(char):
                shown.append(chr(ord(char) - 0xFEE0) if "\uff01" <= char <= "\uff5e" else char)
                places.append(place)
    return "".join(shown), places


def configure(off: Collection[str] = (), patterns: Sequence[str] = ()) -> None:
    """Disable the detection of the given kinds (only those in `SWITCHED`), and add patterns."""
    _off.set(frozenset(off) & frozenset(SWITCHED))
    _own.set(tuple(patterns))


def rules_in_use() -> str:
    """Return a digest of the rules in use. If the digest changes, earlier results are invalid."""
    return _rules_digest(_off.get(), _own.get())


@cache
def _rules_digest(off: frozenset[str], own: Sequence[str]) -> str:
    return digest((__version__, tables(), sorted(off), own))


def placeholder(kind: str) -> str:
    """Return the placeholder that replaces a secret of the given kind."""
    return f"[redacted:{kind}]"


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each secret by `[redacted:<kind>]`. Return the new text and the secrets found.

    This repeats until no secret is found, so that redacting again changes nothing. Positions are
    those in the given text, except for secrets found only after another was replaced.
    """
    return _redacted(text, find_secrets)


def _redacted(text: str, find: Callable[[str], Sequence[Secret]]) -> tuple[str, tuple[Secret, ...]]:
    replaced: list[Secret] = []
    for _ in range(_MAX_ROUNDS):
        if not (found := find(text)):
            return text, tuple(replaced)
        replaced.extend(found)
        parts, known = [], 0
        for secret in found:
            parts += [text[known : secret.start], placeholder(secret.kind)]
            known = secret.end
        text = "".join((*parts, text[known:]))
    return placeholder(UNCHECKED), tuple(replaced)


_ALLOW = regex(r"memrepo:allow-secret\b|pragma: allowlist secret\b")
_MAX_SCANNED = 4 << 20
_SHORT_ID = regex(r"[0-9a-f]{6,16}")
_RECORD = regex(r"^(?:memrepo/)?runs/\d{4}-\d\d/[^/]+\.json$")
_RECORDED = regex(r"(?:mem-)?[0-9a-f]{16}|[0-9a-f]{40}|[0-9a-f]{64}|\d{8}T\d{6}Z-[0-9a-f]{8}")
"""The ids in the record of a run: of memories, of files and of runs."""


def secrets_of(path: str, data: bytes) -> Iterator[tuple[Secret, str]]:
    """Yield each secret in a file with its value, except on lines marked as allowed.

    Lines of views end with the short id of a memory, and records of runs name files by the ids of
    git. These ids are not secrets, whatever is next to them.
    """
    if len(data) > _MAX_SCANNED or b"\0" in data[:8000] or is_clean(data):
        return
    text = data.decode("utf-8", "replace")
    lines: list[str] = []
    for secret in find_secrets(text):
        lines = lines or text.split("\n")
        value = text[secret.start : secret.end]
        line = lines[secret.line - 1]
        short_id = "/views/" in f"/{path}" and _SHORT_ID.fullmatch(value)
        is_id = _RECORD.search(path) and _RECORDED.fullmatch(value)
        if not (is_allowed(line) or is_id or (short_id and line.endswith(f"`{value}`"))):
            yield secret, value


def is_allowed(line: str) -> bool:
    """Return whether a line is marked as one whose secrets are reported by no check."""
    return bool(_ALLOW.search(line))


def clean_page(path: str, data: bytes) -> bytes:
    """Return a generated page in which each secret is replaced by a placeholder.

    Texts that are harmless where they come from may look like a secret next to each other. A page
    with such lines must not stop the run that writes it.
    """
    text = data.decode("utf-8", "replace")
    clean, found = _redacted(text, lambda page: [s for s, _ in secrets_of(path, page.encode())])
    return clean.encode() if found else data


def secret_fault(*texts: str) -> str:
    """Return a message that lists the kinds of secrets in the texts, or an empty string."""
    kinds = sorted({secret.kind for text in texts for secret in find_secrets(text)})
    return f"a text holds a secret ({', '.join(kinds)})" if kinds else ""


def without_secrets(text: str) -> str:
    """Return a text with each secret replaced by a placeholder."""
    return redact(text)[0]


def concealed(value: Any) -> Any:
    """Replace each secret in a text, or in all texts of nested lists and mappings.

    A secret found in one text is replaced in all of them. A text that was truncated or folded may
    not look like a secret any more.
    """
    texts = list(_texts(value))
    if not find_secrets("\n".join(texts)):
        return value
    known = {text[s.start : s.end]: s.kind for text in texts for s in find_secrets(text)}
    first = re.escape("".join(sorted({secret[0] for secret in known})))
    begins = re.compile(rf"(?<!\w)[{first}]") if known else None
    lengths = sorted({len(secret) for secret in known}, reverse=True)

    def clean(text: str) -> str:
        text = without_secrets(text)
        return _without(text, known, begins, lengths) if begins else text

    return _mapped(value, clean)


def _without(
    text: str, known: Mapping[str, str], begins: re.Pattern[str], lengths: Sequence[int]
) -> str:
    """Replace each known value that is a whole word in a text. Longer values are replaced first.

    Values are looked up in a mapping, so the number of secrets does not affect the speed.
    """
    parts, at = [], 0
    for found in begins.finditer(text):
        start = found.start()
        for length in lengths if start >= at else ():
            value, end = text[start : start + length], start + length
            if value in known and not (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
                parts += [text[at:start], placeholder(known[value])]
                at = end
                break
    return "".join((*parts, text[at:])) if parts else text


T = TypeVar("T")
_BREAKS = regex("\r\n|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_HARM = regex(
    "[\x00-\x08\x0e-\x1f\r\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
_COLOUR = regex("(\x1b\\[[0-9;]{0,12}m)")


# Output filters. Texts of memories, files and commits are untrusted. Every interface passes its
# output through these functions, both text and data.


def harmless(text: str, *, colour: bool = False) -> str:
    """Remove control, bidi and tag characters, and convert all line breaks to line feeds.

    If `colour`, the color sequences of the program remain. They change only the appearance.
    """
    if text.isprintable():
        return text
    if colour and "\x1b[" in text:
        parts = _COLOUR.split(text)
        parts[::2] = map(harmless, parts[::2])
        return "".join(parts)
    return _HARM.sub("", _BREAKS.sub("\n", text))


def harmless_data(value: T) -> T:
    """Return a JSON value with all texts made harmless, including mapping keys."""
    found: object = value
    if isinstance(value, str):
        found = harmless(value)
    elif isinstance(value, Mapping):
        found = {harmless_data(key): harmless_data(part) for key, part in value.items()}
    elif isinstance(value, list | tuple):
        found = [harmless_data(part) for part in value]
    return found  # type: ignore[return-value]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        # A key and its value, or a predicate and its object, are one statement in two fields.
        for name, part in (("key", "value"), ("predicate", "object")):
            if value.get(name) and value.get(part):
                yield f"{value[name]}: {value[part]}"
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def _mapped(value: object, clean: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: _mapped(part, clean) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(part, clean) for part in value]
    return value


# Each text is scanned once. The digest of a text without secrets is cached under the current rules.
# The rules are identified by a digest of the code and tables that find secrets, and the disabled
# kinds.

_MAX_DIGESTS = 200_000
"""The maximum number of digests cached in a process. Above it, the cache is cleared."""
_clean: dict[tuple[object, ...], set[bytes]] = {}
"""The digests of clean texts, by the disabled kinds and the owner's patterns."""


def scan_rules() -> str:
    """Return a fingerprint of the code and rules that detect secrets, for caches on disk."""
    here = Path(__file__).parent
    files = sorted(p for p in here.rglob("*") if "secret" in p.relative_to(here).as_posix())
    code = [p.read_bytes() for p in files if p.is_file() and p.suffix != ".pyc"]
    from hashlib import sha256

    return f"{sha256(b''.join(code)).hexdigest()}-{rules_in_use()}"


def clean_digests() -> set[bytes]:
    """Return the SHA-256 digests of those texts that have no secrets under the current rules.

    The set is the cache itself, and callers may add to it.
    """
    rules = (_off.get(), *_own.get())
    if rules not in _clean or len(_clean[rules]) > _MAX_DIGESTS:
        _clean.clear()
    return _clean.setdefault(rules, set())


def _digest(data: bytes) -> bytes:
    from hashlib import sha256

    return sha256(data).digest()


def know_clean(data: bytes) -> None:
    """Remember that a text, whose parts were searched, is free of secrets."""
    clean_digests().add(_digest(data))


def has_clean_body(memory: Memory, *, searched: bool = False) -> bool:
    """Return whether a memory's text is free of secrets. The answer is stored with the memory.

    `searched` is true if its whole file has just been searched, without a find.
    """
    rule = f"clean body {rules_in_use()}"
    return memory.once(rule, lambda: searched or not find_secrets(memory.body))


def is_known_clean(data: bytes) -> bool:
    """Return whether a text was searched before, here or in an earlier run, without a find."""
    return _digest(data) in clean_digests()


def is_clean(data: bytes) -> bool:
    """Return whether a text is free of secrets."""
    if not is_known_clean(data) and not find_secrets(data.decode("utf-8", "replace")):
        know_clean(data)
    return is_known_clean(data)
