"""Find a value in any spelling, ignoring case, width, accents, separators and escapes.

Texts are folded to letters and digits, so that `Ana Núñez`, `ana_nunez` and `ana-nunez` are equal.
A `Needle` has the folded letters of a value and the positions where it may be broken.
"""

from __future__ import annotations

import html
import html.entities
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, product
from urllib.parse import unquote

import msgspec

from memrepo.core.errors import UsageError
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import Span

MARK = "(purged)"
"""The replacement of a purged value. It is a plain word in YAML, JSON and markdown."""
NAME_MARK = "purged"
"""The replacement of a purged value in a name. It is a part of `MARK`."""
LEAST, LEAST_WIDE = 4, 2
"""The minimum number of letters of a value. A shorter value would match too many other words."""
LONGEST_BREAK = 24
"""The maximum number of characters between two parts of a value: blanks, a newline, a marker."""
CUT = 6
"""The minimum number of letters that remain of a value truncated by a length limit."""
_DIGITS = 7
"""Numbers with at least this many digits are found in any grouping."""
_WIDE = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ESCAPED = regex(
    r"\\u[0-9a-fA-F]{4}|\\[nrtbf]|(?:%[0-9a-fA-F]{2})+|&(?:[a-z]{2,6}|#[0-9]{1,6}|#x[0-9a-f]{1,5});"
)


class Needle(msgspec.Struct, frozen=True, kw_only=True):
    """A value to find: the folded letters, and the letter counts after which a break is allowed."""

    letters: str
    breaks: frozenset[int] = frozenset()

    @property
    def words(self) -> tuple[str, ...]:
        """Return the letters of the value, split into words where a break is allowed."""
        ends = (0, *sorted(self.breaks), len(self.letters))
        return tuple(self.letters[a:b] for a, b in pairwise(ends))

    @property
    def loose(self) -> bool:
        """Return whether the value is a long number, whose digits may be grouped in any way."""
        return len(self.letters) >= _DIGITS and self.letters.isdigit()


class _Letters(dict[int, str]):
    """A cache that maps each character to its folded letters."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _letters(chr(code))
        return found


def _letters(char: str) -> str:
    plain = unicodedata.normalize("NFKD", char).casefold()
    plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if c.isalnum())
    if plain.isascii():
        return plain
    if unicodedata.name(char, "").startswith("LATIN"):
        from anyascii import anyascii

        plain = "".join(c for c in anyascii(plain).lower() if c.isalnum())
    return plain


_FOLDED = _Letters()


def fold(text: str) -> str:
    """Return the folded letters and digits of a text. All spellings of a value fold alike."""
    return text.translate(_FOLDED)


def needles_of(values: Iterable[str]) -> tuple[Needle, ...]:
    """Return needles that find each value in its script and as a slug.

    They are ordered by length, longest first. Raise UsageError if a value has too few letters.
    """
    found: dict[str, Needle] = {}
    for value in values:
        for spelled in (value, _slugged(value), *_in_slugs(value)):
            needle = _needle(spelled)
            least = LEAST_WIDE if _WIDE.search(needle.letters) else LEAST
            if len(needle.letters) < least:
                raise UsageError(
                    f"the value has fewer than {LEAST} letters and digits: purging it could remove"
                    " other text too",
                    fix="give a longer value, such as one with the words around it",
                )
            found.setdefault(needle.letters, needle)
    return tuple(sorted(found.values(), key=lambda n: (-len(n.letters), n.letters)))


def _slugged(value: str) -> str:
    from anyascii import anyascii

    return value if value.isascii() else anyascii(unicodedata.normalize("NFKC", value))


_BLANKS = ("", "20", "nbsp", "160", "xa0", "c2 a0")
"""What a slug keeps of a blank, or of an escaped one."""
_ESCAPES: tuple[Callable[[str], str], ...] = (
    str,
    lambda char: char.encode("utf-8", "surrogateescape").hex(" "),
    lambda char: html.entities.codepoint2name.get(ord(char), char),
    lambda char: str(ord(char)),
    lambda char: f"x{ord(char):x}",
    lambda char: f"u{ord(char):04x}",
)
"""What a slug keeps of another escaped character: of a URL, of HTML and of JSON."""


def _in_slugs(value: str) -> Iterator[str]:
    """Yield a value as file names spell it whose text had escapes of URLs, HTML or JSON."""
    spellings = (unicodedata.normalize("NFC", value), unicodedata.normalize("NFD", value))
    for spelled, escaped, signs in product(spellings, _ESCAPES, (True, False)):
        words = [
            "".join(
                f" {escaped(c)} " if c > "\x7f" or (signs and not c.isalnum()) else c for c in word
            )
            for word in spelled.split()
        ]
        yield from (f" {blank} ".join(words) for blank in _BLANKS)


def _needle(value: str) -> Needle:
    words = [fold(part) for part in regex(r"[\W_]+").split(_shown(value))]
    ends = list(accumulate(len(word) for word in words if word))
    return Needle(letters="".join(words), breaks=frozenset(ends[:-1]))


def _shown(text: str) -> str:
    """Remove combining marks and invisible characters, because these do not break a word."""
    return "".join(
        c for c in text if c <= "\x7f" or unicodedata.category(c) not in ("Mn", "Me", "Cf")
    )


# -- finding ---------------------------------------------------------------------------------


class _Folded:
    """The folded letters of a text. Their positions in the text are computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._pieces = (
            [*_pieces(text)] if any(c in text for c in "\\%&") else [(text, 0, len(text))]
        )
        self.letters = "".join(plain.translate(_FOLDED) for plain, _, _ in self._pieces)
        self._places: list[Span] | None = None

    @property
    def places(self) -> list[Span]:
        """Return the span (start, end) in the text for each folded letter."""
        if self._places is None:
            self._places = []
            for plain, start, end in self._pieces:
                whole = end - start != len(plain)
                for at, char in enumerate(plain, start):
                    span = (start, end) if whole else (at, at + 1)
                    self._places += [span] * len(_FOLDED[ord(char)])
        return self._places

    def span(self, at: int, length: int) -> Span:
        """Return the span (start, end) in the text for a sequence of folded letters."""
        return self.places[at][0], self.places[at + length - 1][1]

    def broken(self, at: int, length: int) -> Iterator[tuple[int, str]]:
        """Yield (number of letters before, text) for each break between letters."""
        places = self.places[at : at + length]
        for count, ((_, end), (start, _)) in enumerate(pairwise(places), 1):
            if start > end and (between := _shown(self.text[end:start])):
                yield count, between


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (text, start, end) for each part of a text, with escapes decoded.

    Escapes of JSON, URLs and HTML are decoded as parts of their own.
    """
    known = 0
    for match in _ESCAPED.finditer(text):
        if match.start() > known:
            yield text[known : match.start()], known, match.start()
        yield _unescaped(match[0]), match.start(), match.end()
        known = match.end()
    yield text[known:], known, len(text)


def _unescaped(text: str) -> str:
    if text[0] == "%":
        return unquote(text, errors="replace")
    if text[0] == "&":
        return html.unescape(text)
    plain: str = json.loads(f'"{text}"')
    return plain if plain.isprintable() else " "


def find(text: str, needles: Sequence[Needle]) -> list[Span]:
    """Return the sorted spans matched by any needle, including values truncated before a `…`."""
    folded = _Folded(text)
    found = [
        folded.span(at, len(needle.letters))
        for needle in needles
        for at in _at(folded.letters, needle.letters)
        if _fits(folded, at, needle)
    ]
    if "…" in text:
        ends = (at for at, char in enumerate(text) if char == "…")
        found += (span for end in ends if (span := cut_short(text, end, needles)))
    return joined(found)


def cut_short(
    text: str, end: int, needles: Iterable[Needle], *, at_words: bool = False
) -> Span | None:
    """Return the span of a value that is truncated at offset `end`, or None if there is none.

    With `at_words`, one whole word of the value is enough, however short.
    """
    longest = 4 * max((len(needle.letters) for needle in needles), default=0)
    start = max(0, end - longest - LONGEST_BREAK)
    folded = _Folded(text[start:end])
    for needle in needles:
        word = min(needle.breaks, default=CUT) if at_words else CUT
        for length in range(min(len(needle.letters) - 1, len(folded.letters)), word - 1, -1):
            if not folded.letters.endswith(needle.letters[:length]):
                continue
            at = len(folded.letters) - length
            first = folded.span(at, length)[0]
            is_long = length >= CUT or not folded.text[:first][-1:].isalnum()
            if is_long and _fits(folded, at, needle):
                return start + first, end
    return None


def replaced(text: str, spans: Iterable[Span], mark: str = MARK) -> str:
    """Replace spans of a text by a mark. The number of lines does not change."""
    parts, known = [], 0
    for start, end in spans:
        # Preserve the start of the following line: a quote or list marker, or the indentation.
        kept = text[start:end].partition("\n")[2]
        lead = kept[: len(kept) - len(kept.lstrip(" \t>*-#|"))] if kept else ""
        parts += [text[known:start], mark, "\n" + lead if "\n" in text[start:end] else ""]
        known = end
    return "".join((*parts, text[known:]))


def _at(letters: str, wanted: str) -> Iterator[int]:
    at = letters.find(wanted)
    while at >= 0:
        yield at
        at = letters.find(wanted, at + 1)


def _fits(folded: _Folded, at: int, needle: Needle) -> bool:
    """Return whether the letters at an offset are contiguous except at allowed breaks."""
    length = min(len(needle.letters), len(folded.letters) - at)
    for count, between in folded.broken(at, length):
        if count in needle.breaks:
            if len(between) > LONGEST_BREAK or between.count("\n") > 1:
                return False
        elif not (needle.loose and len(between) <= 3 and "\n" not in between):
            return False
    return True


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans sorted, with those that overlap joined."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
