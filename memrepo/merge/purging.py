"""Remove a value from texts, names and messages, and replace all ids and hashes derived from it.

These functions are pure: they convert bytes from history to bytes for a rewritten history. The
number of lines does not change, and files without a trace of the value are unchanged.

Ids are hashes of texts (`core.ids`), so an id made from the value could confirm a guess of it. If
the version that it was made from is available, the new id is the hash of the new text. Sources,
memories and manifests are then still consistent. Otherwise the id is replaced with an unpredictable
one, as are fingerprints of changes. The next run compares and proposes such a memory again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.corrections import contradiction_id
from memrepo.core.ids import claim_id, digest, manual_id, note_id, text_hash
from memrepo.core.layout import Layout, PageKind, stamped, standing_of
from memrepo.core.memory import Memory
from memrepo.core.needles import LEAST, Needle, cut_short, find, fold, replaced
from memrepo.core.patterns import regex
from memrepo.core.secret_kinds import Span
from memrepo.core.secrets import MARK
from memrepo.merge.statements import tokens
from memrepo.merge.tombstones import (
    Tombstone,
    is_tombstone,
    read_tombstone,
)

if TYPE_CHECKING:  # every command in a purged repository loads this module
    from memrepo.read.notes import NoteUnit
    from memrepo.read.thoughts import Unit

NAME_MARK = "purged"
_ID = regex(r"\b(?:mem|th|un|cand|con|cl|ts|tx|tk)-[0-9a-f]{16}(?:[0-9a-f]{16})?\b")
_OBJECT = regex(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")
_SHORT = regex(r"(?<![0-9a-zA-Z-])[0-9a-f]{7,39}(?![0-9a-zA-Z-])")
_HASHED = regex(r"(?<![0-9a-zA-Z])[0-9a-f]{12,64}(?![0-9a-zA-Z])|-[0-9a-f]{6}(?=\.md)")
_PRINT = regex(r"(mem-[0-9a-f]{16}):([0-9a-f]{12})(?![0-9a-f])")
_PAIR = regex(r"(?<=\")[0-9a-f]{16}(?=\")")
_STEM = regex(r"(?<![a-z0-9-])[a-z0-9][a-z0-9-]*-[0-9a-f]{6}(?![0-9a-zA-Z-])")
_TOKENS = regex(r"^tokens:.*\n(?:[ -].*\n)*", re.MULTILINE)
_WORD = regex(r"(?<![0-9a-z])[0-9a-f]{4}(?![0-9a-z])")
_TOMBSTONE = regex(r"^key: (ts-[0-9a-f]{16})$", re.MULTILINE)
_FOLDER = regex(r"[0-9a-f]{2}")
_WAS = regex(r"\(was: ([^\n]*?)…?(?: and \d+ more)?[)…](?=\n|$)")
"""The old text in the subject of a supersession commit (`core.messages`)."""

_KINDS: tuple[PageKind, ...] = ("hot", "view")
WORD = regex(r"[^\W_]+")
_FIELD = regex(
    r"^(?:title|description|entities|tags|subject|object|key|value):.*\n(?:[ -].*\n)*", re.MULTILINE
)
"""Header fields that contain words of the memory's text."""


class Objects(Protocol):
    """Protocol of a mapping from objects of the old history to objects of the rewritten history."""

    def new(self, id_: str) -> str:
        """Return the id of the rewritten object, or the given id if it was not rewritten."""

    def new_short(self, digits: str) -> str:
        """Return the new abbreviated id of a commit, or the given id if it was not rewritten."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """The values to remove, and the replacements of ids and hashes derived from these values.

    `names` maps file names (without extension) that end with the digits of an id. `parts` maps
    other file and folder names. `seed` makes the replacements distinct and unpredictable.
    """

    needles: tuple[Needle, ...]
    seed: str
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    parts: Mapping[str, str] = msgspec.field(default_factory=dict)
    traced: frozenset[str] = frozenset()
    """Ids of memories whose change fingerprints could reveal the value."""
    pairs: frozenset[str] = frozenset()
    """Fingerprints of compared pairs that include a memory in `traced`."""
    words: frozenset[str] = frozenset()
    """Folded words that occur only in the value. Pages and headers may contain them separately."""

    # -- texts -------------------------------------------------------------------------------

    def spans(self, text: str) -> list[Span]:
        """Return the spans of the value in a text, excluding digits inside a longer hash."""
        spans = find(text, self.needles)
        if not spans:
            return spans
        hashed = [match.span() for match in _HASHED.finditer(text)]
        return [
            (start, end)
            for start, end in spans
            if not any(a <= start and end <= b and b - a > end - start for a, b in hashed)
        ]

    def holds(self, data: bytes) -> int:
        """Count occurrences of the value in a file, and of words found only in the value."""
        text = _text(data)
        spans = self.spans(text)
        words = self._words_in(text, data)
        return len(spans) + sum(not any(a <= start < b for a, b in spans) for start, _ in words)

    def _words_in(self, text: str, data: bytes) -> list[Span]:
        """Return the spans of words found only in the value, in a page or an affected header."""
        parts: list[Span] = []
        if not self.words:
            return parts
        if is_page(data):
            parts = [(0, len(text))]
        elif text.startswith("---\n") and (MARK in text or self.spans(text)):
            head = text.find("\n---\n")
            parts = [match.span() for match in _FIELD.finditer(text, 0, max(head, 0) + 1)]
        words = (word for start, end in parts for word in WORD.finditer(text, start, end))
        return [word.span() for word in words if fold(word[0]) in self.words]

    def text(self, text: str, objects: Objects) -> str:
        """Return a text with the value removed and all old ids replaced by new ones."""
        if self.names:
            text = _STEM.sub(lambda m: self.names.get(m[0], m[0]), text)
        if self.parts:
            text = _any_of(tuple(self.parts)).sub(lambda m: self.parts[m[0]], text)
        if self.ids or self.traced:
            text = _PRINT.sub(self._print, text)
            text = _PAIR.sub(lambda m: self.mixed(m[0])[:16] if m[0] in self.pairs else m[0], text)
            text = _ID.sub(lambda m: self.ids.get(m[0], m[0]), text)
        text = _OBJECT.sub(lambda m: objects.new(m[0]), text)
        spans = self.spans(text)
        return replaced(text, spans) if spans else text

    def file(self, data: bytes, objects: Objects) -> bytes:
        """Return a file with the value removed. The stamp of a generated page is recomputed."""
        before = _text(data)
        after = self.text(before, objects)
        if words := self._words_in(after, data):
            after = replaced(after, words, MARK if is_page(data) else NAME_MARK)
        if after == before:
            return data
        for kind in _KINDS:
            if standing_of(kind, data) == "ours":
                return stamped(kind, after.partition("\n")[2])
        if stone := _TOMBSTONE.search(before):
            return self._tombstone(after, mixed=stone[1] in self.ids)
        return after.encode("utf-8", "surrogateescape")

    def _tombstone(self, after: str, *, mixed: bool) -> bytes:
        """Return a tombstone whose word hashes cannot confirm a guess of the value."""
        if mixed:
            after = _TOKENS.sub(lambda m: _WORD.sub(lambda w: self.mixed(w[0])[:4], m[0]), after)
        return after.encode("utf-8", "surrogateescape")

    def message(self, data: bytes, objects: Objects) -> bytes:
        """Return a commit or tag message with the value removed and abbreviated ids replaced."""
        text = self.text(_text(data), objects)
        text = _SHORT.sub(lambda m: objects.new_short(m[0]), text)
        text = _WAS.sub(self._without_end, text)
        return text.encode("utf-8", "surrogateescape")

    def excerpts(self, message: bytes) -> int:
        """Count the excerpts in a message that hold only the rest of a value."""
        found = _WAS.finditer(_text(message))
        return sum(not self.spans(m[0]) and self._without_end(m) != m[0] for m in found)

    def _without_end(self, found: re.Match[str]) -> str:
        """Return an excerpt of an old text without the rest of a value that it begins with."""
        words = found[1]
        if self._is_part(words):
            return f"(was: {MARK})"
        shown = [(fold(word[0]), word.end()) for word in WORD.finditer(words)]
        ends = (needle.words[n:] for needle in self.needles for n in range(1, len(needle.words)))
        cut = max((shown[len(e) - 1][1] for e in ends if _begins(shown, e)), default=0)
        return found[0].replace(words, f"{MARK}{words[cut:]}", 1) if cut else found[0]

    def _is_part(self, words: str) -> bool:
        """Return whether words are part of the value.

        A subject may contain only the end of a text.
        """
        letters = fold(words)
        return len(letters) >= LEAST and any(letters in needle.letters for needle in self.needles)

    def who(self, line: bytes) -> bytes:
        """Return an author, committer or tagger line with the value removed."""
        text = _text(line)
        name, mail, when = text.partition(" <")
        who, sign, rest = when.rpartition("> ")
        parts = (replaced(part, self.spans(part)) for part in (name, who))
        if not sign:
            return replaced(text, self.spans(text)).encode("utf-8", "surrogateescape")
        name, who = parts
        return f"{name}{mail}{who}{sign}{rest}".encode("utf-8", "surrogateescape")

    # -- names -------------------------------------------------------------------------------

    def path(self, path: str) -> str:
        """Return the new path of a file. A folder named after digits of an id may be renamed."""
        parts: list[str] = []
        for part in path.split("/"):
            stem, dot, ending = part.rpartition(".")
            new = (
                self.names.get(stem, "") + dot + ending if stem in self.names else self._name(part)
            )
            if parts and new != part and _FOLDER.fullmatch(parts[-1]):
                parts[-1] = _folder(parts[-1], part, new)
            parts.append(new)
        return "/".join(parts)

    def _name(self, part: str) -> str:
        part = _ID.sub(lambda m: self.ids.get(m[0], m[0]), part)
        spans = self.spans(part)
        if not spans:
            return part
        # Names that differed only in the value must remain distinct.
        return replaced(part, spans, f"{NAME_MARK}-{self.mixed(part)[:6]}")

    def stem(self, slug: str) -> str:
        """Return a slug with the value removed, including a truncated value at the end."""
        spans = find(slug, self.needles)
        cut = cut_short(slug, len(slug), self.needles)
        if cut is not None and not any(end == cut[1] for _, end in spans):
            spans = [span for span in spans if span[1] <= cut[0]] + [cut]
        return replaced(slug, spans, NAME_MARK)

    def another(self, id_: str) -> str:
        """Return an unpredictable new id of the same kind, for an id that cannot be recomputed."""
        kind, _, digits = id_.partition("-")
        return f"{kind}-{self.mixed(id_)[: len(digits)]}"

    def _print(self, found: re.Match[str]) -> str:
        memory, digits = found.groups()
        return f"{memory}:{self.mixed(digits)[:12]}" if memory in self.traced else found[0]

    def mixed(self, text: str) -> str:
        """Return 64 hex digits derived from a text, which cannot be computed without the seed."""
        return sha256(f"{self.seed}\0{text}".encode("utf-8", "surrogateescape")).hexdigest()


def _begins(shown: Sequence[tuple[str, int]], words: Sequence[str]) -> bool:
    return tuple(word for word, _ in shown[: len(words)]) == tuple(words)


def is_page(data: bytes) -> bool:
    """Return whether a file is a generated page, whether or not it was edited by hand."""
    return any(standing_of(kind, data) != "foreign" for kind in _KINDS)


@lru_cache(maxsize=8)
def _any_of(parts: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for whole file names, and for folder names next to a slash."""
    longest = sorted(parts, key=lambda part: (-len(part), part))
    files = "|".join(re.escape(part) for part in longest if "." in part) or r"(?!)"
    folders = "|".join(re.escape(part) for part in longest if "." not in part) or r"(?!)"
    return re.compile(
        rf"(?<![\w.-])(?:{files})(?![\w.-])|(?<=/)(?:{folders})(?![\w.-])|(?<![\w.-])(?:{folders})(?=/)"
    )


def _folder(folder: str, before: str, after: str) -> str:
    """Return the new name of a folder that is named after the first two digits of an id."""
    olds, news = (regex(r"-([0-9a-f]{6,})(?:\.\w+)?$").search(name) for name in (before, after))
    if olds and news and olds[1].startswith(folder):
        return news[1][:2]
    return folder


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# -- ids made from the value ------------------------------------------------------------------

_CASE = regex(
    rb"(?m)^(?:id: (con-[0-9a-f]{16})|memories: \[(mem-[0-9a-f]{16}), (mem-[0-9a-f]{16})\])$"
)
_COMPARED = regex(rb'"compared": \[([^\]]*)\]')
_COMPARED_PAIR = regex(rb"[0-9a-f]{16}")
_NAMED = regex(r"(.*)-([0-9a-f]{6})")

_Part = TypeVar("_Part", "Unit", "NoteUnit")


class File(NamedTuple):
    """One version of a file, with one of the paths that the file had in history."""

    path: str
    data: bytes


def with_ids(edit: Edit, files: Iterable[File], layout: Layout) -> Edit:
    """Return a copy of an edit that also replaces the ids derived from the value.

    Files named after such an id are renamed as well.
    """
    found = _Ids(edit, layout)
    for file in files:
        found.look(file)
    ids = found.settled()
    edit = replace(edit, ids=ids)
    parts = {part: new for part in found.parts if (new := edit.path(part)) != part}
    names = {stem: new for stem in found.stems if (new := _named(edit, stem, ids)) != stem}
    traced, pairs = found.prints(ids)
    return replace(edit, names=names, parts=parts, traced=traced, pairs=pairs)


def with_words(edit: Edit, files: Iterable[File], layout: Layout) -> Edit:
    """Return a copy of an edit that also removes words that occur only within the value.

    This is necessary because pages list single words.
    """
    letters = [needle.letters for needle in edit.needles]
    rare = {word for needle in edit.needles for word in needle.words}
    others = set[str]()
    for file in files:
        text = file.data.decode("utf-8", "surrogateescape")
        if is_page(file.data):
            listed = map(fold, set(WORD.findall(text)))
            rare.update(word for word in listed if any(word in one for one in letters))
            continue
        if file.path.removeprefix(layout.prefix).startswith(("runs/", "candidates/")):
            continue
        spans = edit.spans(text)
        if spans and layout.is_memory(file.path):
            memory, _ = codec.decode(file.path, file.data)
            text = memory.body if memory is not None else text
            spans = edit.spans(text)
        others.update(WORD.findall(replaced(text, spans, " ")))
    return replace(
        edit, words=frozenset(word for word in rare if len(word) >= LEAST) - set(map(fold, others))
    )


def _named(edit: Edit, stem: str, ids: dict[str, str]) -> str:
    """Return the new file name of a memory: the slug without the value, and the new id's digits."""
    parts = _NAMED.fullmatch(stem)
    if parts is None:
        return stem
    digits = parts[2]
    for old, new in ids.items():
        if old.startswith(f"mem-{digits}"):
            digits = new[4:10]
    slug = edit.stem(parts[1])
    return f"{slug}-{digits}"


class _Ids:
    def __init__(self, edit: Edit, layout: Layout) -> None:
        self.edit, self.layout = edit, layout
        self.stems = set[str]()
        self.parts = set[str]()
        self._natural: dict[str, str] = {}
        self._traced = set[str]()
        """Ids of memories with a version that contains the value."""
        self._clean = set[str]()
        """Ids of memories whose id was made from a text without the value."""
        self._stones: list[Tombstone] = []
        self._cases: list[tuple[str, str, str, bool]] = []
        self._bodies = set[tuple[str, str]]()
        """(id, text hash) of every version of a memory."""
        self._evidence: dict[str, set[str]] = {}
        """The source paths and text hashes of each memory."""
        self._compared = set[str]()
        self._words = [tokens(" ".join(needle.words)) for needle in edit.needles]

    def look(self, file: File) -> None:
        """Collect the ids and names found in one version of a file."""
        area = file.path.removeprefix(self.layout.prefix).partition("/")[0]
        traced = bool(self.edit.holds(file.data))
        self.parts.update(file.path.split("/")[: -1 if self.layout.is_memory(file.path) else None])
        if self.layout.is_memory(file.path):
            self.stems.add(file.path.rpartition("/")[2].removesuffix(".md"))
            self._memory(file, traced=traced)
        elif area == "sources":
            if traced or self.edit.path(file.path) != file.path:
                self._source(file)
        elif area == "runs":
            for listed in _COMPARED.findall(file.data):
                self._compared.update(pair.decode() for pair in _COMPARED_PAIR.findall(listed))
        elif area == "corrections":
            self._case(file.data, traced=traced)
        elif is_tombstone(self.layout, file.path):
            stone = read_tombstone(file.path, file.data)
            self._stones += [stone] if isinstance(stone, Tombstone) else []

    def settled(self) -> dict[str, str]:
        """Map each id derived from the value to its new id. All new ids are distinct."""
        ids = dict(self._natural)
        for id_ in sorted(self._traced - ids.keys() - self._clean):
            ids[id_] = self.edit.another(id_)
        for case, one, other, traced in self._cases:
            if case == contradiction_id(one, other):
                if one in ids or other in ids:
                    ids[case] = contradiction_id(ids.get(one, one), ids.get(other, other))
            elif traced:
                ids[case] = self.edit.another(case)
        for stone in self._stones:
            secret = (stone.key, stone.text, stone.bare, stone.triple, stone.about, *stone.parts)
            if stone.memory in self._traced or ids.keys() & set(stone.units):
                ids.update((id_, self.edit.another(id_)) for id_ in secret if id_)
            elif any(words <= set(stone.tokens) for words in self._words):
                # The memory is no longer in history, so all ids derived from it are replaced.
                for id_ in filter(None, (*secret, stone.memory, *stone.units)):
                    ids.setdefault(id_, self.edit.another(id_))
        taken = set[str]()
        for old in sorted(ids):
            if ids[old] in taken or (ids[old] in ids and ids[old] != old):
                ids[old] = self.edit.another(old)
            taken.add(ids[old])
        return {old: new for old, new in ids.items() if old != new}

    def prints(self, ids: Mapping[str, str]) -> tuple[frozenset[str], frozenset[str]]:
        """Return memories and pairs whose fingerprints could reveal the value."""
        traced = self._traced | (ids.keys() & self._evidence.keys())
        traced |= {
            id_
            for id_, words in self._evidence.items()
            if any(word in ids or self.edit.path(word) != word for word in words)
        }
        touched = [side for side in self._bodies if side[0] in traced] if self._compared else []
        pairs = {
            digest(["compared", *sorted(map(list, (one, other)))])[:16]
            for one in touched
            for other in self._bodies
        }
        return frozenset(traced), frozenset(pairs & self._compared)

    def _clear(self, data: bytes) -> bytes:
        text = data.decode("utf-8", "surrogateescape")
        return replaced(text, self.edit.spans(text)).encode("utf-8", "surrogateescape")

    def _memory(self, file: File, *, traced: bool) -> None:
        memory, _ = codec.decode(file.path, file.data)
        if memory is None or not memory.id:
            return
        after = codec.decode(file.path, self._clear(file.data))[0] if traced else memory
        if traced:
            self._traced.add(memory.id)
            if after is None:
                return
            self._same(text_hash(memory.body), text_hash(after.body))
            if claim := memory.text("claim_id"):
                self._natural.setdefault(claim, self.edit.another(claim))
        self._bodies.add((memory.id, text_hash(memory.body)))
        words = self._evidence.setdefault(memory.id, set())
        words.update(word for s in memory.sources for word in (s.resource, s.text_hash))
        for old, new in zip(_births(memory), _births(after or memory), strict=False):
            if old != memory.id:
                continue
            if new == old:
                self._clean.add(old)
            self._same(old, new)

    def _source(self, file: File) -> None:
        from memrepo.read.intake import candidate_id
        from memrepo.read.notes import note_hash, scan_notes
        from memrepo.read.thoughts import scan

        new_path, data = self.edit.path(file.path), self._clear(file.data)
        for named in (self.layout.source_name, str):
            old, new = named(file.path), named(new_path)
            for one, other in _pairs(scan(old, file.data).units, scan(new, data).units):
                self._same(one.text_hash, other.text_hash)
                self._same(one.hash, other.hash)
                self._same(candidate_id(one), candidate_id(other))
            for note, after in _pairs(scan_notes(old, file.data)[0], scan_notes(new, data)[0]):
                self._same(note.text_hash, after.text_hash)
                self._same(note_hash(note), note_hash(after))
                self._same(_note_id(note), _note_id(after))

    def _case(self, data: bytes, *, traced: bool) -> None:
        found = {}
        for match in _CASE.finditer(data):
            for at, part in enumerate(match.groups()):
                if part:
                    found[at] = part.decode()
        if 0 in found:
            self._cases.append((found[0], found.get(1, ""), found.get(2, ""), traced))

    def _same(self, old: str, new: str) -> None:
        if old != new:
            self._natural.setdefault(old, new)


def _pairs(old: Iterable[_Part], new: Iterable[_Part]) -> Iterator[tuple[_Part, _Part]]:
    """Yield pairs of units, one from each version of a file, that have the same lines."""
    there = {unit.lines: unit for unit in new}
    return ((unit, there[unit.lines]) for unit in old if unit.lines in there)


def _note_id(note: NoteUnit) -> str:
    return note_id(resource=note.resource, text=note.text, occurrence=note.occurrence)


def _births(memory: Memory) -> Iterator[str]:
    """Yield the possible original ids of a memory, in a fixed order."""
    triple = [memory.text(key) for key in ("subject", "predicate", "object")]
    scopes = dict.fromkeys((memory.text("scope"), ""))
    for scope in scopes:
        yield claim_id(
            scope=scope,
            subject=triple[0],
            predicate=triple[1],
            object_=triple[2],
            text=memory.body,
        )
    created = memory.fields.get("created")
    if created is not None:
        for type_ in (memory.type, ""):
            yield manual_id(
                created=created, text=memory.body, scope=memory.text("scope"), type_=type_
            )
