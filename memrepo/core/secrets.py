"""Secrets of high precision: kinds that are never memory, found and replaced, never shown.

Only forms that are all but certain count (`core.secret_kinds`): UUIDs, hashes and digit ids stand
in most real workspaces and are not secrets. What is looked at is the visible text: characters
that nobody sees, wide letters and look-alikes of other scripts hide nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from hashlib import sha256
from math import log2
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from memrepo import __version__
from memrepo.core.ids import digest
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import LINED, NAMED, PROVIDERS, SWITCHED


class Watch(NamedTuple):
    """What finds values that were purged: a print of them, a search, and a file's other name."""

    print: str
    look: Callable[[str], Iterable[Span]]
    name: Callable[[str], str]


KINDS = (*PROVIDERS, *NAMED)
_ALL = range(len(KINDS))
_PROVIDED, _NAMED = _ALL[: len(PROVIDERS)], _ALL[len(PROVIDERS) :]
MARK = "(purged)"
"""What stands in a text in place of a purged value: a plain word in YAML, JSON and markdown."""
Span = tuple[int, int]
_off: ContextVar[frozenset[str]] = ContextVar("secrets_off", default=frozenset())
_watched: ContextVar[Watch | None] = ContextVar("purged", default=None)
PURGED = "purged"
"""The kind of a value that was taken out of history: it is known by its keyed hash alone."""
_LONG = regex(r"[A-Za-z0-9_./+=~:%@$-]{15}")
"""No provider's form is shorter, and few lines of prose hold so long a run."""
_END = ".,;:!?)]}»”’'\"`*_"
"""What ends a sentence and not a password."""
_LEAST = 6
_FEWEST = 4
"""A card number of fewer different digits is one of a test or a form."""
_BITS = 3.2
"""The least entropy of a key, in bits for each character; words and names have less."""
_FORMAT = frozenset(
    char
    for first, last in (
        (0x600, 0x605),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x2064),
        (0x2066, 0x206F),
        (0xFFF9, 0xFFFB),
        (0x13430, 0x1343F),
        (0x1BCA0, 0x1BCA3),
        (0x1D173, 0x1D17A),
        (0xE0020, 0xE007F),
    )
    for char in map(chr, range(first, last + 1))
) | frozenset(
    "\u00ad\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\ufeff\U000110bd\U000110cd\U000e0001"
)
"""Characters of Unicode's category Cf, to which its tables need too long a look for each."""
_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABESIJKMHOPCTXYaesijopcyxdqwhABEZHIKMNOPTYXo"
)
"""Letters of Cyrillic and Greek that look like Latin ones (Unicode TR 39)."""

_WIDE = frozenset(map(chr, range(0xFF01, 0xFF5F)))
_UNSEEN = _WIDE | _FORMAT
"""What looks like a plain letter, and what shows nothing."""

_VARIABLE = regex(r"[A-Z]{2,40}(?:_[A-Z]{2,40}){1,8}[`\"'.,]?")
"""A name that stands for a value, as variables have."""
_PLACEHOLDER = regex(
    r"redacted|example|placeholder|change-?_?me|dummy|your[_-]|тво[йяею]|ваш|你的|您的|votre|dein"
    r"|^new_?token$|(?:^|[_-])api[_-]?key(?:[_-]|$)|x{4}|\*{3}|\.{3}|…|[<>{}$]|\[.*\]"
    r"|^(?:pass(?:word|wd)?|pwd|secret|token|hidden|none|null|true|false|todo|tbd)$",
    re.IGNORECASE,
)
# Names of variables, attributes, calls, files and places say where a secret is, not what it is.
_POINTER = regex(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Za-z_]+(?:\.[A-Za-z_]+)+|[~.]{0,2}/.*|.*://.*|.*[(\[].*"
    r"|[a-z]+(?:_[a-z]+)+|[a-z][a-z-]*/[\w./-]*"
)
_DAY = regex(r"\d{4}-\d\d-\d\d.*|[\d.,:%$€-]*")
_DIGITS = regex(r"\d{6,}")
_PLAIN_WORD = regex(r"[^\W\d_][^\W\d_A-Z]*[.,;!]?")


def _beginnings() -> Mapping[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for hint in sorted({hint for _, hints, _ in KINDS for hint in hints if len(hint) > 2}):
        found.setdefault(tuple(hint[:3]), []).append(hint)
    return found


_HINTS = _beginnings()
"""The hints of all kinds by their first three characters."""
_SHORT_HINTS = tuple(sorted({hint for _, hints, _ in KINDS for hint in hints if len(hint) < 3}))
_HINTED: dict[str, list[int]] = {}
for _n in _ALL:
    for _hint in KINDS[_n][1]:
        _HINTED.setdefault(_hint, []).append(_n)
"""The places of the kinds that a hint belongs to."""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """Where a secret stands: offsets of its value, one-based line and column; never the value."""

    kind: str
    start: int
    end: int
    line: int
    column: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find the secrets of a text in order; where two overlap the earlier, then longer, counts."""
    found = list(_found(text, _ALL))
    if (watched := _watched.get()) is not None:
        found += [(start, -end, PURGED) for start, end in watched.look(text)]
    if not text.isascii():
        plain, places = _visible(text)
        if plain != text:
            found += [(places[s], -places[-e - 1] - 1, k) for s, e, k in _found(plain, _ALL)]
        latin = plain.translate(_LOOKALIKES)
        if latin != plain:
            found += [(places[s], -places[-e - 1] - 1, k) for s, e, k in _found(latin, _PROVIDED)]
    secrets: list[Secret] = []
    line, line_start, known = 1, 0, 0
    for start, minus_end, kind in sorted(found):
        if secrets and start < secrets[-1].end:
            continue
        line += text.count("\n", known, start)
        line_start = text.rfind("\n", 0, start) + 1
        known = start
        secrets.append(
            Secret(kind=kind, start=start, end=-minus_end, line=line, column=start - line_start + 1)
        )
    return tuple(secrets)


def _found(text: str, kinds: range) -> Iterator[tuple[int, int, str]]:
    """Yield start, negated end and kind of each secret that some kinds find."""
    if not _LONG.search(text):
        kinds = _NAMED if kinds is _ALL else range(0)
    folded = text.casefold() if kinds else ""
    held = _hints_in(folded)
    for number in {n for hint in held for n in _HINTED[hint] if n in kinds}:
        kind, hints, pattern = KINDS[number]
        if kind in _off.get():
            continue
        spots: Sequence[Span] = [(0, len(text))]
        if pattern in LINED:
            spots = _lines_with(held.intersection(hints), folded, text)
        search = re.compile(pattern).finditer  # which keeps what it compiled
        for match in (match for spot in spots for match in search(text, *spot)):
            group = next((g for g, value in match.groupdict().items() if value is not None), 0)
            value = match[group].rstrip(_END) if group in ("said", "long") else match[group]
            if _is_value(kind, str(group), value):
                start = match.start(group)
                yield start, -start - len(value), kind


def _lines_with(hints: Collection[str], folded: str, text: str) -> Sequence[Span]:
    """Return where those lines of a text stand that hold one of some hints when they are folded.

    No character folds to fewer: of one length, both have the same at the same place.
    """
    if len(folded) != len(text):
        return [(0, len(text))]
    found: set[Span] = set()
    for hint in hints:
        at = folded.find(hint)
        while at >= 0:
            end = folded.find("\n", at)
            end = len(text) if end < 0 else end
            found.add((folded.rfind("\n", 0, at) + 1, end))
            at = folded.find(hint, end)
    return sorted(found)


def _hints_in(folded: str) -> frozenset[str]:
    """Return the hints that a folded text holds: those are looked for of which the beginning is."""
    beginnings = _HINTS.keys() & set(zip(folded, folded[1:], folded[2:], strict=False))
    likely = (hint for three in beginnings for hint in _HINTS[three])
    return frozenset(hint for hint in (*_SHORT_HINTS, *likely) if hint in folded)


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Return a text as it looks, in plain letters, and where each of its characters stands."""
    if _UNSEEN.isdisjoint(text):
        return text, range(len(text))
    shown: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char in _WIDE:
            char = chr(ord(char) - 0xFEE0)
        elif char in _UNSEEN:
            continue
        shown.append(char)
        places.append(at)
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
    return digest((__version__, KINDS, sorted(_off.get()), watched.print if watched else ""))


def placeholder(kind: str) -> str:
    """Return what stands in a text in place of a secret."""
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
    """Say that one of some texts holds a secret, and of which kind; an empty string for none."""
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


def _is_value(kind: str, group: str, value: str) -> bool:
    """Tell a value from a placeholder or a pointer to where the value is kept."""
    match kind:
        case "private-key":
            return True
        case "card":
            return _is_card(value)
        case "iban":
            return _is_iban(value)
        case "seed-phrase":
            return len(value.replace(",", " ").split()) in (12, 15, 18, 21, 24)
        case _:
            pass
    if _PLACEHOLDER.search(value):
        return False
    if kind not in ("password", "token"):
        return True
    if _POINTER.fullmatch(value) or _VARIABLE.fullmatch(value):
        return False
    if group == "long":
        return _is_random(value)
    if group == "said":
        return len(value) >= _LEAST and _is_made_up(value)
    return group != "value" or not _PLAIN_WORD.fullmatch(value)


def _is_random(value: str) -> bool:
    """Tell a key from words and paths: letters and digits, and no character very often."""
    if _DAY.fullmatch(value) or not (any(map(str.isdigit, value)) and any(map(str.isalpha, value))):
        return False
    counts = Counter(value).values()
    return -sum(n * log2(n / len(value)) for n in counts) / len(value) >= _BITS


def _is_made_up(value: str) -> bool:
    """Tell a password in a sentence from the words of the sentence."""
    if _DAY.fullmatch(value):
        return bool(_DIGITS.fullmatch(value))
    signs = sum(not char.isalnum() and char not in "-'’./,:" for char in value)
    return signs > 0 or (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))


def _is_card(value: str) -> bool:
    """Tell whether digits are a card number: length, first digit and check digit (Luhn)."""
    digits = [int(char) for char in value if char.isdigit()]
    lengths = {3: (14, 15, 16), 4: (13, 16, 19), 5: (16,), 6: (16, 19)}
    if len(digits) not in lengths.get(digits[0], ()) or len(set(digits)) < _FEWEST:
        return False
    doubled = (n * 2 - 9 * (n > 4) for n in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(value: str) -> bool:
    """Tell whether an account number proves itself: ISO 13616, modulo 97."""
    plain = value.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


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
    """Tell whether a text holds no secret."""
    known, mark = clean_digests(), sha256(data).digest()
    if mark not in known and not find_secrets(data.decode("utf-8", "replace")):
        known.add(mark)
    return mark in known
