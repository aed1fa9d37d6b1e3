"""Which ids were made from a value, and what they are now that it is gone.

An id is a hash of a text (`core.ids`). Where the text is at hand, in the version that the id was
made from, the new id is that of the new text: sources, memories and manifests then agree as they
did, and an extraction of the same line meets the same memory. Where it is not, or where two ids
would become one, the id is another one for no reason that can be guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.corrections import contradiction_id
from memrepo.core.ids import claim_id, digest, manual_id, note_id, text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.needles import LEAST, fold, replaced
from memrepo.core.patterns import regex
from memrepo.merge.purging import WORD, Edit, is_page
from memrepo.merge.statements import tokens
from memrepo.merge.tombstones import Tombstone, is_tombstone, parsed_tombstone
from memrepo.purify.gather import candidate_id
from memrepo.read.notes import NoteUnit, note_hash, scan_notes
from memrepo.read.thoughts import Unit, scan

_CASE = regex(
    rb"(?m)^(?:id: (con-[0-9a-f]{16})|memories: \[(mem-[0-9a-f]{16}), (mem-[0-9a-f]{16})\])$"
)
_COMPARED = regex(rb'"compared": \[([^\]]*)\]')
_PAIR = regex(rb"[0-9a-f]{16}")
_MOST_PAIRS = 1_000_000
_STEM = regex(r"(.*)-([0-9a-f]{6})")


_Part = TypeVar("_Part", Unit, NoteUnit)


class File(NamedTuple):
    """One version of a file, under one of the paths that history has it at."""

    path: str
    data: bytes


def with_ids(edit: Edit, files: Iterable[File], layout: Layout) -> Edit:
    """Return an edit that knows every id made from the value, and the files named by one."""
    found = _Ids(edit, layout)
    for file in files:
        found.look(file)
    ids = found.settled()
    edit = replace(edit, ids=ids)
    parts = {part: new for part in found.parts if (new := edit.path(part)) != part}
    names = {stem: new for stem in found.stems if (new := _named(edit, stem, ids)) != stem}
    return replace(edit, names=names, parts=parts, prints=found.prints(ids))


def with_words(edit: Edit, files: Iterable[File], layout: Layout) -> Edit:
    """Return an edit that knows the words that only the value has: pages list words alone."""
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
    """Return the name of a memory's file: its slug without the value, the digits of its id now."""
    parts = _STEM.fullmatch(stem)
    if parts is None:
        return stem
    digits = parts[2]
    for old, new in ids.items():
        if old.startswith(f"mem-{digits}"):
            digits = new[4:10]
    slug = edit.stem(parts[1])
    return f"{slug}-{digits}"


class _Version(NamedTuple):
    """One version of a memory: what fingerprints are made from, before and after."""

    id: str
    body: str
    new_body: str
    standing: str
    sources: tuple[tuple[str, str], ...]


class _Ids:
    def __init__(self, edit: Edit, layout: Layout) -> None:
        self.edit, self.layout = edit, layout
        self.stems = set[str]()
        self.parts = set[str]()
        self._natural: dict[str, str] = {}
        self._traced = set[str]()
        """Memories a version of which holds the value."""
        self._clean = set[str]()
        """Memories whose id was made from a text without it."""
        self._stones: list[Tombstone] = []
        self._cases: list[tuple[str, str, str, bool]] = []
        self._versions: dict[_Version, None] = {}
        self._compared = set[str]()
        self._words = [tokens(" ".join(needle.words)) for needle in edit.needles]

    def look(self, file: File) -> None:
        """Learn from one version of a file."""
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
                self._compared.update(word.decode() for word in _PAIR.findall(listed))
        elif area == "corrections":
            self._case(file.data, traced=traced)
        elif is_tombstone(self.layout, file.path):
            stone = parsed_tombstone(file.path, file.data)
            self._stones += [stone] if isinstance(stone, Tombstone) else []

    def settled(self) -> dict[str, str]:
        """Return what each id made from the value is now; no two become one."""
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
                # Its memory is in no history any more: all that it was hashed into goes.
                for id_ in filter(None, (*secret, stone.memory, *stone.units)):
                    ids.setdefault(id_, self.edit.another(id_))
        taken = set[str]()
        for old in sorted(ids):
            if ids[old] in taken or (ids[old] in ids and ids[old] != old):
                ids[old] = self.edit.another(old)
            taken.add(ids[old])
        return {old: new for old, new in ids.items() if old != new}

    def prints(self, ids: Mapping[str, str]) -> dict[str, str]:
        """Return what the fingerprints are now that were made from the value, or from such ids."""
        found: dict[str, str] = {}
        for one in self._versions:
            before = [list(source) for source in one.sources]
            after = [[self.edit.path(place), ids.get(hash_, hash_)] for place, hash_ in before]
            for old, new in ((one.body, one.new_body), ("", "")):
                for standing in {"", one.standing}:
                    for was, is_ in ((before, after), ([], [])):
                        print_ = digest([old, standing, was])[:12]
                        found[print_] = digest([new, standing, is_])[:12]
        return {old: new for old, new in (found | self._pairs(ids)).items() if old != new}

    def _pairs(self, ids: Mapping[str, str]) -> dict[str, str]:
        if not self._compared:
            return {}
        sides = {(v.id, text_hash(v.body)): (v.id, v.new_body) for v in self._versions}
        new = {old: [ids.get(id_, id_), text_hash(text)] for old, (id_, text) in sides.items()}
        touched = [side for side, now in new.items() if list(side) != now]
        if len(touched) * len(sides) > _MOST_PAIRS:  # the pairs are compared once more
            return {pair: self.edit.mixed(pair)[:16] for pair in self._compared}
        return {
            print_: digest(["compared", *sorted((new[one], new[other]))])[:16]
            for one in touched
            for other in sides
            if (print_ := digest(["compared", *sorted(map(list, (one, other)))])[:16])
            in self._compared
        }

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
            for old, new in ((memory.body, after.body), (memory.said, after.said)):
                self._same(text_hash(old), text_hash(new))
            if claim := memory.text("claim_id"):
                self._natural.setdefault(claim, self.edit.another(claim))
        sources = tuple((s.resource, s.text_hash) for s in memory.sources)
        body, new_body = memory.body, (after or memory).body
        standing: str = memory.fields.get("standing", "")
        self._versions[_Version(memory.id, body, new_body, standing, sources)] = None
        for old, new in zip(_births(memory), _births(after or memory), strict=False):
            if old != memory.id:
                continue
            if new == old:
                self._clean.add(old)
            self._same(old, new)

    def _source(self, file: File) -> None:
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
    """Yield the units of two versions that stand on the same lines."""
    there = {unit.lines: unit for unit in new}
    return ((unit, there[unit.lines]) for unit in old if unit.lines in there)


def _note_id(note: NoteUnit) -> str:
    return note_id(resource=note.resource, text=note.text, occurrence=note.occurrence)


def _births(memory: Memory) -> Iterator[str]:
    """Yield the ids that a memory may have been given at birth, in a fixed order."""
    triple = [memory.text(key) for key in ("subject", "predicate", "object")]
    scopes = dict.fromkeys((memory.text("scope"), ""))
    texts = (memory.body, memory.said)
    for scope in scopes:
        for text in texts:
            yield claim_id(
                scope=scope, subject=triple[0], predicate=triple[1], object_=triple[2], text=text
            )
    created = memory.fields.get("created")
    if created is not None:
        for type_ in (memory.type, ""):
            yield manual_id(
                created=created, text=memory.body, scope=memory.text("scope"), type_=type_
            )
