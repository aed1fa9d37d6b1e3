"""Find a value in any spelling, and remove it from texts, names and messages with its hashes.

Texts are folded to letters and digits, so that `Ana Núñez`, `ana_nunez` and `ana-nunez` are equal.
A `Needle` has the folded letters of a value and the positions where it may be broken.

The rest converts bytes of the old history to bytes of the new one. The number of lines does not
change, and files without a trace of the value are unchanged. The hash of a text that loses the
value becomes the hash of its new text, so that sources, memories and manifests still agree. The id
of a memory that ever held the value is a hash, too: whoever guesses the value could confirm the
guess. It becomes an unpredictable one.
"""

from __future__ import annotations

import html.entities
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, pairwise, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.errors import UsageError
from memrepo.core.ids import SLUG_LENGTH, blob_id, text_hash
from memrepo.core.layout import Layout, PageKind, stamped, standing_of
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import Span

if TYPE_CHECKING:
    from memrepo.read.notes import NoteUnit
    from memrepo.read.thoughts import Unit


MARK = "PURGED"
"""The replacement of a purged value. It is a plain word in YAML, JSON, TOML and markdown."""
NAME_MARK = "purged"
"""The replacement of a purged value in a name."""
LEAST, LEAST_WIDE = 4, 2
"""The minimum number of letters of a value. A shorter value would match too many other words."""
LONGEST_BREAK = 24
"""The maximum number of characters between two parts of a value: blanks, a newline, a marker."""
CUT = 6
"""The minimum number of letters that remain of a value truncated by a length limit."""
_LEAST_DIGITS = 7
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
        return len(self.letters) >= _LEAST_DIGITS and self.letters.isdigit()


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


WORD = regex(r"[^\W_]+")
_ID = regex(r"\b(?:mem|th|un|cand|con|cl|ts)-[0-9a-f]{16}(?:[0-9a-f]{16})?\b")
_OBJECT = regex(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")
_SHORT = regex(r"(?<![0-9a-zA-Z-])[0-9a-f]{7,39}(?![0-9a-zA-Z-])")
_HASHED = regex(r"(?<![0-9a-zA-Z])[0-9a-f]{12,64}(?![0-9a-zA-Z])|-[0-9a-f]{6}(?=\.md)")
_TRAIT = regex(r"(mem-[0-9a-f]{16})(:| sources | )([0-9a-f]{12})(?![0-9a-f])")
_NAMED = regex(r"(.*)-([0-9a-f]{6})\.md")
_DIGITS = regex(r"-([0-9a-f]{2})(?:[0-9a-f]{4}|[0-9a-f]{14})(?:\.md)?$")
_WAS = regex(r"\(was: ([^\n]*?)…?(?: and \d+ more)?[)…](?=\n|$)")
"""The old text in the subject of a supersession commit (`core.messages`)."""
_FIELD = regex(
    r"^(?:title|description|entities|tags|subject|object|key|value):.*\n(?:[ -].*\n)*", re.MULTILINE
)
"""Header fields that contain words of the memory's text."""
_ROW = regex(r"(?<=^\| )[^\s|]+(?= \| \d+ \|$)", re.MULTILINE)
"""A word in the list of topics. A frequent word of the value is a trace of it."""
_ITEM = regex(r"[^|,;:\[\](){}\"'`\n]+")
"""What is by itself in a line, a list or a cell."""
_NO_DATE = regex(
    rf"(?m)^(?=valid_\w+: *['\"]?{MARK})"
    rf"|(?<=\d), {MARK}[\w:.+-]*(?: unit| file| commit)?(?=['\"]?$)"
    rf"|(?<=\d, ){MARK}[\w:.+-]*(?: unit| file| commit)? "
)
"""A date that was the value. No mark is a date, so the field becomes a comment."""
_MADE = re.compile(rb'(?:tree|object) [0-9a-f]{40,64}\n|\{\n "base": "')
"""How a commit, a tag and the record of a run begin. Files of people may begin almost so."""
_KINDS: tuple[PageKind, ...] = ("hot", "view")

Rename = Callable[[str], str]
"""Return the new id of a commit or an abbreviation of it, and any other word as it is."""


class File(NamedTuple):
    """One version of a file, with one of the paths that the file had in history."""

    path: str
    blob: str
    data: bytes


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """The values to remove, and the replacements of names, ids and hashes made from them.

    `seed` makes the replacements distinct and unpredictable. `words` are the folded words that
    only the value has: a page or a header may list only them. `own` are the sentences of memrepo
    that the value occurs in: these stay. `prepare` drops those that people wrote, too.
    """

    needles: tuple[Needle, ...]
    seed: str = ""
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    words: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()

    # -- finding -----------------------------------------------------------------------------

    def spans(self, text: str) -> list[Span]:
        """Return the spans of the value in a text, but in a longer hash or memrepo's sentences."""
        spans = find(text, self.needles)
        kept = [_HASHED, *([_sentences(self.own)] if self.own else [])] if spans else []
        whole = [match.span() for one in kept for match in one.finditer(text)]
        return [
            (start, end)
            for start, end in spans
            if not any(a <= start and end <= b and b - a > end - start for a, b in whole)
        ]

    def holds(self, data: bytes) -> int:
        """Count occurrences of the value, of what an excerpt left of it, and of its lone words."""
        text = _text(data)
        spans = self.spans(text)
        others = [*self._items(text, data), *(self._excerpts(text) if _is_ours(data) else ())]
        return len(spans) + sum(not any(a <= s < b for a, b in spans) for s, _ in others)

    def _items(self, text: str, data: bytes) -> Iterator[Span]:
        """Yield the items of pages and headers that consist of words which only the value has."""
        parts: list[Span] = []
        if self.words and is_page(data):
            parts = [(0, len(text))]
        elif self.words and text.startswith("---\n") and (MARK in text or self.spans(text)):
            parts = [match.span() for match in _FIELD.finditer(text, 0, _head(text))]
        for item in (found for part in parts for found in _ITEM.finditer(text, *part)):
            words = [word.span() for word in WORD.finditer(text, *item.span())]
            if words and all(fold(text[start:end]) in self.words for start, end in words):
                yield words[0][0], words[-1][1]

    def _excerpts(self, text: str) -> Iterator[Span]:
        """Yield the spans of what shortened texts in subjects and reports have of a value."""
        return (span for span in self._shortened(text) if self._is_trace(text[slice(*span)]))

    def _is_trace(self, rest: str) -> bool:
        """Return whether the rest of a value is long enough, or has a word that only it has."""
        return len(fold(rest)) >= CUT or not self.words.isdisjoint(map(fold, WORD.findall(rest)))

    def _shortened(self, text: str) -> Iterator[Span]:
        for at, char in enumerate(text if "…" in text else ""):
            if char == "…" and (span := cut_short(text, at, self.needles, at_words=True)):
                yield span
        for found in _WAS.finditer(text):
            shown = [(fold(word[0]), word.end()) for word in WORD.finditer(text, *found.span(1))]
            rest = tuple(word for word, _ in shown)
            size = 0
            for words in (needle.words for needle in self.needles):
                ends = (words[at:] for at in range(1, len(words)))
                size = max(size, *(len(e) for e in ends if rest[: len(e)] == e), 0)
                parts = (words[at : at + len(rest)] for at in range(len(words)))
                if len("".join(rest)) >= LEAST and rest in parts:
                    size = len(rest)
            if size:
                yield found.start(1), shown[size - 1][1]

    # -- replacing ---------------------------------------------------------------------------

    def text(self, text: str, rename: Rename) -> str:
        """Return a text with the value removed and all old ids replaced by new ones."""
        text = self._named(text)
        if self.ids:
            text = _TRAIT.sub(self._trait, text)
            text = _ID.sub(lambda m: self.ids.get(m[0], m[0]), text)
        text = _OBJECT.sub(lambda m: self.ids.get(m[0]) or rename(m[0]), text)
        return self.clear(text)

    def clear(self, text: str) -> str:
        """Return a text with the value removed."""
        spans = self.spans(text)
        inner = sum(start < _head(text) for start, _ in spans)
        text = replaced(text, spans)
        return _NO_DATE.sub(lambda m: "" if m[0] else "# ", text, inner) if inner else text

    def file(self, data: bytes, rename: Rename) -> bytes:
        """Return a file with the value removed. The stamp of a generated page is recomputed."""
        before = _text(data)
        after = self.text(before, rename)
        if _is_ours(data):
            after = replaced(after, joined(self._excerpts(after)))
        if words := [*self._items(after, data)]:
            after = replaced(after, words)
        if standing_of("view", data) == "ours":
            parts = {part for needle in self.needles for part in needle.words}
            after = _ROW.sub(lambda m: MARK if fold(m[0]) in parts else m[0], after)
        if after == before:
            return data
        for kind in _KINDS:
            if standing_of(kind, data) == "ours":
                return stamped(kind, after.partition("\n")[2])
        return _bytes(after)

    def message(self, data: bytes, rename: Rename) -> bytes:
        """Return a commit or tag message with the value removed and abbreviated ids replaced."""
        text = self.text(_text(data), rename)
        text = _SHORT.sub(lambda m: rename(m[0]), text)
        return _bytes(replaced(text, joined(self._excerpts(text))))

    def name(self, data: bytes) -> bytes:
        """Return the name or address of a person with the value removed."""
        text = _text(data)
        return _bytes(replaced(text, self.spans(text)))

    def path(self, path: str) -> str:
        """Return the new path of a file, or the new name of a ref."""
        return "/".join(map(self._part, self._named(path).split("/")))

    def _named(self, text: str) -> str:
        """Replace the names of files. A folder may have the first digits of an id as its name."""

        def new(found: re.Match[str]) -> str:
            name = self.names[found[2]]
            was, now = _DIGITS.search(found[2]), _DIGITS.search(name)
            folder = now[1] if was and now and found[1] == was[1] else found[1]
            return f"/{folder}/{name}" if found[1] else name

        return _any_of(tuple(self.names)).sub(new, text) if self.names else text

    def _part(self, part: str) -> str:
        part = _ID.sub(lambda m: self.ids.get(m[0], m[0]), part)
        spans = self.spans(part)
        # Names that differed only in the value must remain distinct.
        return replaced(part, spans, f"{NAME_MARK}-{self.mixed(part)[:6]}") if spans else part

    def memory_name(self, name: str) -> str:
        """Return the new file name of a memory: its slug without the value, and its id's digits."""
        parts = _NAMED.fullmatch(name)
        if parts is None:
            return self._part(name)
        slug, digits = parts.groups()
        spans = find(slug, self.needles)
        room = SLUG_LENGTH - sum(1 + (char > "\x7f") for char in slug)
        is_full = room <= max(len(word) for needle in self.needles for word in needle.words)
        cut = cut_short(slug, len(slug), self.needles, at_words=is_full)
        is_new = cut is not None and not any(end == cut[1] for _, end in spans)
        if cut is not None and is_new and self._is_trace(slug[slice(*cut)]):
            spans = [span for span in spans if span[1] <= cut[0]] + [cut]
        new = next((n for old, n in self.ids.items() if old.startswith(f"mem-{digits}")), "")
        return f"{replaced(slug, spans, NAME_MARK)}-{new[4:10] or digits}.md"

    def another(self, id_: str) -> str:
        """Return an unpredictable new id of the same kind."""
        kind, _, digits = id_.partition("-")
        return f"{kind}-{self.mixed(id_)[: len(digits)]}"

    def _trait(self, found: re.Match[str]) -> str:
        memory, sign, digits = found.groups()
        return f"{memory}{sign}{self.mixed(digits)[:12]}" if memory in self.ids else found[0]

    def mixed(self, text: str) -> str:
        """Return 64 hex digits derived from a text, which cannot be computed without the seed."""
        return sha256(_bytes(f"{self.seed}\0{text}")).hexdigest()


def is_page(data: bytes) -> bool:
    """Return whether a file is a generated page, whether or not it was edited by hand."""
    return any(standing_of(kind, data) != "foreign" for kind in _KINDS)


def _is_ours(data: bytes) -> bool:
    """Return whether memrepo shortens texts in a file or object: a page, a record, a commit."""
    return _MADE.match(data) is not None or is_page(data)


@lru_cache(maxsize=8)
def _sentences(own: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for any of memrepo's sentences, broken into lines in any way."""
    return re.compile("|".join(r"\s+".join(map(re.escape, one.split())) for one in own))


@lru_cache(maxsize=8)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for whole names of files, with or without the ending of a memory."""
    longest = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    return re.compile(rf"(?:/([0-9a-f]{{2}})/|(?<![\w.-]))({longest})(?![\w-])")


def _head(text: str) -> int:
    """Return where the header of a file ends."""
    return text.find("\n---\n") + 1 if text.startswith("---\n") else 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# -- what was made from the value --------------------------------------------------------------

_Part = TypeVar("_Part", "Unit", "NoteUnit")


def prepare(
    edit: Edit, files: Callable[[], Iterable[File]], layout: Layout, own: frozenset[str]
) -> Edit:
    """Return a copy of an edit that also replaces lone words, ids, hashes and names.

    `files` yields every version of every file, and is called up to four times. `own` are the
    folded words of memrepo's own pages, which stay.
    """
    if edit.own:
        edit = replace(edit, own=_own_alone(edit.own, files(), layout))
    edit = replace(edit, words=_lone_words(edit, files(), layout) - own)
    found = _Found(edit, layout)
    for file in files():
        found.look(file)
    edit = replace(edit, ids=found.settled())
    names = {n: new for n in found.memories if (new := edit.memory_name(n)) != n}
    names |= {n: new for n in found.names if (new := edit.path(n)) != n}
    stems = {n[:-3]: new[:-3] for n, new in names.items() if n in found.memories}
    edit = replace(edit, names=names | stems)
    blobs: dict[str, str] = {}
    for file in files():  # manifests name the versions of sources
        if file.blob and layout.area("sources") in file.path:
            data = edit.file(file.data, str)
            if data != file.data:
                blobs[file.blob] = blob_id(data, len(file.blob))
    return replace(edit, ids={**edit.ids, **blobs})


def _own_alone(own: tuple[str, ...], files: Iterable[File], layout: Layout) -> tuple[str, ...]:
    """Return memrepo's sentences that no file of people contains, so that none stays in these."""
    areas = tuple(map(layout.area, ("memories", "sources", "tombstones")))
    left = {one: _sentences((one,)) for one in own}
    for text in (_text(file.data) for file in files if left and file.path.startswith(areas)):
        left = {one: pattern for one, pattern in left.items() if not pattern.search(text)}
    return tuple(left)


def _lone_words(edit: Edit, files: Iterable[File], layout: Layout) -> frozenset[str]:
    """Return the words that occur within the value only."""
    own = {word for needle in edit.needles for word in needle.words}
    letters = [needle.letters for needle in edit.needles]
    others = set[str]()
    for file in files:
        text = _text(file.data)
        if is_page(file.data):
            listed = map(fold, set(WORD.findall(text)))
            own.update(word for word in listed if any(word in one for one in letters))
        elif not file.path.removeprefix(layout.prefix).startswith("runs/"):
            spans = edit.spans(text)
            if spans and layout.is_memory(file.path):
                memory, _ = codec.decode(file.path, file.data)
                text = memory.body if memory is not None else text
                spans = edit.spans(text)
            others.update(WORD.findall(replaced(text, spans, " ")))
    long = (word for word in own if len(word) >= (2 if word.isalpha() else LEAST))
    return frozenset(long) - set(map(fold, others))


class _Found:
    """The names, ids and hashes in all versions of all files."""

    def __init__(self, edit: Edit, layout: Layout) -> None:
        self.edit, self.layout = edit, layout
        self.names = set[str]()
        self.memories = set[str]()
        self._ids: dict[str, str] = {}
        self._cases = set[tuple[str, frozenset[str]]]()

    def look(self, file: File) -> None:
        """Collect what one version of a file may have of the value."""
        area = file.path.removeprefix(self.layout.prefix).partition("/")[0]
        *folders, name = file.path.split("/")
        self.names.update(folders)
        if self.layout.is_memory(file.path):
            self.memories.add(name)
            self._memory(file)
            return
        self.names.add(name)
        if area == "sources" and (self.edit.holds(file.data) or self.edit.path(name) != name):
            self._source(file)
        elif area == "corrections":
            self._cases.add((name[-23:-3], frozenset(_ID.findall(_text(file.data)))))
        elif area == "tombstones" and self.edit.holds(file.data):
            found = [id_ for id_ in _ID.findall(_text(file.data)) if id_.startswith("ts-")]
            self._ids.update((id_, self.edit.another(id_)) for id_ in found)

    def settled(self) -> dict[str, str]:
        """Return {old id: new id} of all ids and hashes made from the value."""
        ids = self._ids
        for case, memories in self._cases:
            if not memories.isdisjoint(ids):
                ids[case] = self.edit.another(case)
        return ids

    def _memory(self, file: File) -> None:
        memory, _ = codec.decode(file.path, file.data)
        if memory is None or not self.edit.holds(file.data):
            return
        after, _ = codec.decode(file.path, _bytes(self.edit.clear(_text(file.data))))
        self._same(text_hash(memory.body), text_hash(after.body if after else ""))
        for id_ in filter(None, (memory.id, memory.claim_id)):
            self._ids[id_] = self.edit.another(id_)

    def _source(self, file: File) -> None:
        from memrepo.read.intake import candidate_id
        from memrepo.read.notes import note_hash, scan_notes, scan_state
        from memrepo.read.thoughts import scan

        new_path = self.edit.path(file.path)
        data = _bytes(self.edit.clear(_text(file.data)))
        for named in (self.layout.source_name, str):
            old, new = named(file.path), named(new_path)
            for one, other in _pairs(scan(old, file.data).units, scan(new, data).units):
                for made in (lambda u: u.text_hash, lambda u: u.hash, candidate_id):
                    self._same(made(one), made(other))
            notes = _pairs(scan_notes(old, file.data)[0], scan_notes(new, data)[0])
            for note, after in (*notes, *_pairs(scan_state(old, file.data), scan_state(new, data))):
                self._same(note.text_hash, after.text_hash)
                self._same(note_hash(note), note_hash(after))

    def _same(self, old: str, new: str) -> None:
        if old != new:
            self._ids.setdefault(old, new)


def _pairs(old: Iterable[_Part], new: Iterable[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """Yield pairs of units, one from each version of a file, that have the same lines."""
    there = {unit.lines: unit for unit in new}
    return ((unit, there[unit.lines]) for unit in old if unit.lines in there)
