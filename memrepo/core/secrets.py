"""Secrets of high precision: kinds that are never memory, found and replaced, never shown.

Only forms that are all but certain count (`core.secret_kinds`): UUIDs, hashes and digit ids stand
in most real workspaces and are not secrets. What is looked at is the visible text: characters
that nobody sees, wide letters and look-alikes of other scripts hide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from memrepo import __version__
from memrepo.core.ids import digest
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import SWITCHED, Find, Span, formed, labelled, tables


class Watch(NamedTuple):
    """What finds values that were purged: a print of them, a search, and a file's other name."""

    print: str
    look: Callable[[str], Iterable[Span]]
    name: Callable[[str], str]


MARK = "(purged)"
"""What is in a text in place of a purged value: a plain word in YAML, JSON and markdown."""
PURGED = "purged"
"""The kind of a value that was taken out of history: it is known by its keyed hash alone."""
_off: ContextVar[frozenset[str]] = ContextVar("secrets_off", default=frozenset())
_watched: ContextVar[Watch | None] = ContextVar("purged", default=None)
_UNSEEN = regex(
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
"""Unicode's category Cf: what shows nothing."""
_DISGUISED = regex(
    rf"{_UNSEEN.pattern}|[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]"
    r"|[A-Za-z0-9][\u0370-\u052f]|[\u0370-\u052f][A-Za-z0-9]"
)
"""What shows nothing, wide letters, and letters of other scripts next to Latin ones."""
_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABESIJKMHOPCTXYaesijopcyxdqwhABEZHIKMNOPTYXo"
)
"""Letters of Cyrillic and Greek that look like Latin ones (Unicode TR 39)."""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """Where a secret stands: offsets of its value, one-based line and column; never the value."""

    kind: str
    start: int
    end: int
    line: int
    column: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find the secrets of a text in order; where two overlap the earlier, then longer, counts."""
    found = [(start, -end, rank, kind) for rank, (start, end, kind) in enumerate(_found(text))]
    if (watched := _watched.get()) is not None:
        found += [(start, -end, -1, PURGED) for start, end in watched.look(text)]
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


def _found(text: str) -> Iterator[Find]:
    """Yield what is found in a text, and in its lines as they look."""
    off = _off.get()
    yield from (find for find in _plainly(text) if find[2] not in off)
    if text.isascii() or not _DISGUISED.search(text):
        return
    shown, places = _visible(text)
    for start, end, kind in _plainly(shown):
        if kind not in off:
            yield places[start], places[end - 1] + 1, kind


def _plainly(text: str) -> Iterator[Find]:
    folded = text.lower()
    if len(folded) != len(text):
        folded = text.replace("İ", "i").lower()  # the one letter that grows
    yield from formed(text, folded)
    yield from labelled(text, folded)


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Return the lines that look like others, in plain letters, and where each character stands."""
    shown: list[str] = []
    places: list[int] = []
    at = 0
    while match := _DISGUISED.search(text, at):
        start = text.rfind("\n", 0, match.start()) + 1
        at = (text.find("\n", match.end()) + 1) or len(text)
        for place, char in enumerate(text[start:at].translate(_LOOKALIKES), start):
            if not _UNSEEN.match(char):
                shown.append(chr(ord(char) - 0xFEE0) if "\uff01" <= char <= "\uff5e" else char)
                places.append(place)
    return "".join(shown), places


def switch_off(kinds: Collection[str]) -> None:
    """Look no longer for some of the kinds that an owner may want to remember (`SWITCHED`)."""
    _off.set(frozenset(kinds) & frozenset(SWITCHED))


def watch(purged: Watch | None) -> None:
    """Look for values that were purged too, or no longer."""
    _watched.set(purged)


def name_without_purged(path: str) -> str:
    """Return what a file is called whose name may hold a purged value, as history has it."""
    watched = _watched.get()
    return watched.name(path) if watched is not None else path


def rules_in_use() -> str:
    """Return a digest of the kinds that are looked for now: what was clean by others may not be."""
    watched = _watched.get()
    return _rules_digest(_off.get(), watched.print if watched else "")


@cache
def _rules_digest(off: frozenset[str], watched: str) -> str:
    return digest((__version__, tables(), sorted(off), watched))


def placeholder(kind: str) -> str:
    """Return what is in a text in place of a secret."""
    return MARK if kind == PURGED else f"[redacted:{kind}]"


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each secret's value by `[redacted:<kind>]` and return what was replaced.

    Repeats until nothing is found, so that redacting twice changes nothing more. Places are those
    in the given text, but for a secret that only another's removal uncovers.
    """
    replaced: list[Secret] = []
    while found := find_secrets(text):
        replaced.extend(found)
        parts, known = [], 0
        for secret in found:
            parts += [text[known : secret.start], placeholder(secret.kind)]
            known = secret.end
        text = "".join((*parts, text[known:]))
    return text, tuple(replaced)


def secret_fault(*texts: str) -> str:
    """Report that one of some texts holds a secret, and of which kind; an empty string for none."""
    kinds = sorted({secret.kind for text in texts for secret in find_secrets(text)})
    return f"a text holds a secret ({', '.join(kinds)})" if kinds else ""


def without_secrets(text: str) -> str:
    """Return a text with a placeholder for each secret."""
    return redact(text)[0]


def concealed(value: Any) -> Any:
    """Return texts, and lists and mappings of them, with a placeholder for each secret in any.

    What is a secret in one of them is shown in none: a text that was cut or put on one line need
    not look like one any more.
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
    """Replace values that are known by now where they stand as words, the longest first.

    A value is looked up, not tried: many secrets make it no slower.
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


# What may be printed or handed out: texts of memories, files and commits are other people's, and
# every face sends what it answers through here, as text and as data.


def harmless(text: str, *, colour: bool = False) -> str:
    """Return a text without control, bidi and tag characters; other line breaks are line feeds.

    With `colour` the program's own colours stay: they change nothing but how a text looks.
    """
    if text.isprintable():
        return text
    if colour and "\x1b[" in text:
        parts = _COLOUR.split(text)
        parts[::2] = map(harmless, parts[::2])
        return "".join(parts)
    return _HARM.sub("", _BREAKS.sub("\n", text))


def harmless_data(value: T) -> T:
    """Return what JSON is to hold, each text of it harmless, keys too."""
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
        # A key and a value, or a predicate and an object, are one statement in two fields.
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


# Each text is scanned once: one without a secret is remembered by its digest, under the rules that
# found it clean. They are known by a digest of the code and the tables that find secrets, of the
# kinds that are off, and of the values that were purged.

_MAX_DIGESTS = 200_000
"""Digests that a process remembers; beyond that it starts again with none."""
_clean: dict[tuple[frozenset[str], str], set[bytes]] = {}
"""The digests of clean texts, by the kinds that were off and the purged values."""


def scan_rules() -> str:
    """Return a fingerprint of what finds secrets now, for what outlives a process."""
    here = Path(__file__).parent
    files = sorted(p for p in here.rglob("*") if "secret" in p.relative_to(here).as_posix())
    code = [p.read_bytes() for p in files if p.is_file() and p.suffix != ".pyc"]
    return f"{sha256(b''.join(code)).hexdigest()}-{rules_in_use()}"


def clean_digests() -> set[bytes]:
    """Return the SHA-256 of texts that hold no secret under the rules in use; callers may add."""
    watched = _watched.get()
    rules = (_off.get(), watched.print if watched else "")
    if rules not in _clean or len(_clean[rules]) > _MAX_DIGESTS:
        _clean.clear()
    return _clean.setdefault(rules, set())


def is_clean(data: bytes) -> bool:
    """Return whether a text holds no secret."""
    known, mark = clean_digests(), sha256(data).digest()
    if mark not in known and not find_secrets(data.decode("utf-8", "replace")):
        known.add(mark)
    return mark in known
