"""Remove a value from texts, names and messages, and replace the ids and hashes made from it.

These functions are pure: they convert bytes of the old history to bytes of the new one. The number
of lines does not change, and files without a trace of the value are unchanged.

The hash of a text that loses the value becomes the hash of its new text, so that sources, memories
and manifests still agree. The id of a memory that ever held the value is a hash, too: whoever
guesses the value could confirm the guess. It becomes an unpredictable one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.corrections import contradiction_id
from memrepo.core.ids import SLUG_LENGTH, text_hash
from memrepo.core.layout import Layout, PageKind, stamped, standing_of
from memrepo.core.needles import (
    CUT,
    LEAST,
    MARK,
    NAME_MARK,
    Needle,
    cut_short,
    find,
    fold,
    joined,
    replaced,
)
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import Span

if TYPE_CHECKING:  # every command in a purged repository loads this module
    from memrepo.read.notes import NoteUnit
    from memrepo.read.thoughts import Unit

TABLES = ".toml"
"""Ending of TOML files. The value may be in a key, where no brackets are allowed."""
WORD = regex(r"[^\W_]+")
_ID = regex(r"\b(?:mem|th|un|cand|con|cl|ts)-[0-9a-f]{16}(?:[0-9a-f]{16})?\b")
_OBJECT = regex(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")
_SHORT = regex(r"(?<![0-9a-zA-Z-])[0-9a-f]{7,39}(?![0-9a-zA-Z-])")
_HASHED = regex(r"(?<![0-9a-zA-Z])[0-9a-f]{12,64}(?![0-9a-zA-Z])|-[0-9a-f]{6}(?=\.md)")
_TRAIT = regex(r"(mem-[0-9a-f]{16})(:| sources )([0-9a-f]{12})(?![0-9a-f])")
_NAMED = regex(r"(.*)-([0-9a-f]{6})\.md")
_DIGITS = regex(r"-([0-9a-f]{2})(?:[0-9a-f]{4}|[0-9a-f]{14})(?:\.md)?$")
_CASE = regex(r"(?m)^memories: \[(mem-[0-9a-f]{16}), (mem-[0-9a-f]{16})\]$")
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
    rf"(?m)^(?=valid_\w+: *['\"]?{NAME_MARK})"
    rf"|(?<=\d), {NAME_MARK}[\w:.+-]*(?: unit| file| commit)?(?=['\"]?$)"
    rf"|(?<=\d, ){NAME_MARK}[\w:.+-]*(?: unit| file| commit)? "
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
    only the value has: a page or a header may list only them. `tables` are the blobs of TOML files.
    `own` are the sentences of memrepo that the value occurs in: these stay. `prepare` drops those
    that people wrote, too.
    """

    needles: tuple[Needle, ...]
    seed: str = ""
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    words: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
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

    def text(self, text: str, rename: Rename, *, is_table: bool = False) -> str:
        """Return a text with the value removed and all old ids replaced by new ones."""
        text = self._named(text)
        if self.ids:
            text = _TRAIT.sub(self._trait, text)
            text = _ID.sub(lambda m: self.ids.get(m[0], m[0]), text)
        text = _OBJECT.sub(lambda m: self.ids.get(m[0]) or rename(m[0]), text)
        return self.clear(text, is_table=is_table)

    def clear(self, text: str, *, is_table: bool = False) -> str:
        """Return a text with the value removed. A header gets a mark that tags may have.

        A file of tables is a header as a whole.
        """
        spans = self.spans(text)
        head = len(text) if is_table else _head(text)
        inner = [span for span in spans if span[0] < head]
        text = replaced(text, spans[len(inner) :])
        text = replaced(text, inner, NAME_MARK)
        return _NO_DATE.sub(lambda m: "" if m[0] else "# ", text, len(inner)) if inner else text

    def file(self, data: bytes, rename: Rename, *, is_table: bool = False) -> bytes:
        """Return a file with the value removed. The stamp of a generated page is recomputed."""
        before = _text(data)
        after = self.text(before, rename, is_table=is_table)
        if _is_ours(data):
            after = replaced(after, joined(self._excerpts(after)))
        if words := [*self._items(after, data)]:
            after = replaced(after, words, MARK if is_page(data) else NAME_MARK)
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
    edit = replace(edit, ids=found.settled(), tables=frozenset(found.tables))
    names = {n: new for n in found.memories if (new := edit.memory_name(n)) != n}
    names |= {n: new for n in found.names if (new := edit.path(n)) != n}
    stems = {n[:-3]: new[:-3] for n, new in names.items() if n in found.memories}
    edit = replace(edit, names=names | stems)
    blobs: dict[str, str] = {}
    for file in files():  # manifests name the versions of sources
        if file.blob and layout.area("sources") in file.path:
            data = edit.file(file.data, str, is_table=file.blob in edit.tables)
            if data != file.data:
                blobs[file.blob] = _blob_id(data, len(file.blob))
    return replace(edit, ids={**edit.ids, **blobs})


def _blob_id(data: bytes, digits: int) -> str:
    from hashlib import sha1

    made = sha1 if digits == 40 else sha256
    return made(b"blob %d\0" % len(data) + data).hexdigest()


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
        self.tables = set[str]()
        self._ids: dict[str, str] = {}
        self._cases = set[tuple[str, str]]()

    def look(self, file: File) -> None:
        """Collect what one version of a file may have of the value."""
        area = file.path.removeprefix(self.layout.prefix).partition("/")[0]
        *folders, name = file.path.split("/")
        self.names.update(folders)
        if name.endswith(TABLES):
            self.tables.add(file.blob)
        if self.layout.is_memory(file.path):
            self.memories.add(name)
            self._memory(file)
            return
        self.names.add(name)
        if area == "sources" and (self.edit.holds(file.data) or self.edit.path(name) != name):
            self._source(file)
        elif area == "corrections":
            self._cases.update(_CASE.findall(_text(file.data)))
        elif area == "tombstones" and self.edit.holds(file.data):
            found = [id_ for id_ in _ID.findall(_text(file.data)) if id_.startswith("ts-")]
            self._ids.update((id_, self.edit.another(id_)) for id_ in found)

    def settled(self) -> dict[str, str]:
        """Return {old id: new id} of all ids and hashes made from the value."""
        ids = self._ids
        for one, other in self._cases:
            if one in ids or other in ids:
                new = contradiction_id(ids.get(one, one), ids.get(other, other))
                ids[contradiction_id(one, other)] = new
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
        from memrepo.read.notes import note_hash, scan_notes
        from memrepo.read.thoughts import scan

        new_path = self.edit.path(file.path)
        is_table = file.path.endswith(TABLES)
        data = _bytes(self.edit.clear(_text(file.data), is_table=is_table))
        for named in (self.layout.source_name, str):
            old, new = named(file.path), named(new_path)
            for one, other in _pairs(scan(old, file.data).units, scan(new, data).units):
                for made in (lambda u: u.text_hash, lambda u: u.hash, candidate_id):
                    self._same(made(one), made(other))
            for note, after in _pairs(scan_notes(old, file.data)[0], scan_notes(new, data)[0]):
                self._same(note.text_hash, after.text_hash)
                self._same(note_hash(note), note_hash(after))

    def _same(self, old: str, new: str) -> None:
        if old != new:
            self._ids.setdefault(old, new)


def _pairs(old: Iterable[_Part], new: Iterable[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """Yield pairs of units, one from each version of a file, that have the same lines."""
    there = {unit.lines: unit for unit in new}
    return ((unit, there[unit.lines]) for unit in old if unit.lines in there)
