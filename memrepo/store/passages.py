"""Passages: thoughts of the sources that no memory rests on, as rows of the search index.

They follow the commit with the memories, but only where a search wants them. Files that changed are
read again; all are where the rules of reading changed, or what a person rejected or corrected.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core import codec
from memrepo.policies.documents import Document, Row
from memrepo.store.corpus import IndexCorpus, Limits, expression
from memrepo.text.cues import cues_of
from memrepo.text.terms import date_words, index_terms

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.purify.intake import Reader, SourceText
    from memrepo.read.sources import SourceRules
    from memrepo.read.thoughts import Unit
    from memrepo.store.tables import Indexed
    from memrepo.store.tree import Snapshot

FOLLOWS, BARS = "passages", "bars"
"""Under these keys an index remembers what its passages follow, and what none of them may say."""
MAX_CANDIDATES = 200
"""At most so many passages are compared with a question."""
LEAST = 0.2
"""The share of what was asked, rare words for more, that a passage must hold."""
_READING = ("read/*.py", "languages/*.toml", "store/passages.py")
"""What cuts a source into thoughts."""
FILES_AT_ONCE = 200
MAX_COMPARED = 200
"""Where more memories changed than this, all are read to learn what was corrected."""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A thought of a source, with its lines, and what it is under; its day where it has one."""

    resource: str
    lines: tuple[int, int]
    blob: str
    context: str
    text: str
    captured: str


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What the passages of an index have to follow.

    `files` has the blob by path of the sources to read, empty where one is gone; `whole` tells
    whether they are all there are. `state` holds what no passage may say, None where that is
    nothing.
    """

    rules: SourceRules
    follows: str
    bars: str
    files: Mapping[str, str]
    whole: bool
    state: State | None = None


def follows(wanted: Indexed) -> str:
    """Return what passages depend on: a commit, the code that reads, the files that are read."""
    return f"{wanted.tree.commit} {code_hash(*_READING)} {_digest(repr(wanted.sources))}"


@cache
def code_hash(*patterns: str) -> str:
    """Return a hash of our own files that match some patterns: what they make depends on them."""
    package = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in patterns for path in package.glob(pattern))
    return _digest(*(path.read_bytes() for path in files))


def _digest(*parts: str | bytes) -> str:
    found = sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()[:16]


def changes(wanted: Indexed, rules: SourceRules, was: str, bars: str) -> Changes | None:
    """Return what passages that follow `was` have to follow; None where that is nothing.

    `bars` stands for what they may not say yet. Both are empty where there are no passages.
    """
    now, tree = follows(wanted), wanted.tree
    if was == now:
        return None
    old, _, how = was.partition(" ")
    differ = tree.files.differences(old) if old and how == now.partition(" ")[2] else None
    state = None
    if differ is None or _may_bar(tree, differ):
        state = tree.state()
        if (found := _bars(state)) != bars:
            bars, differ = found, None
    area = tree.layout.area("sources")
    if differ is None:
        files = tree.files.below(area)
    else:
        files = {path: blob for path, (_, blob) in differ.items() if path.startswith(area)}
    if not bars:
        state = None
    elif state is None and any(files.values()):
        state = tree.state()
    return Changes(
        rules=rules, follows=now, bars=bars, files=files, whole=differ is None, state=state
    )


def _may_bar(tree: Snapshot, differ: Mapping[str, tuple[str, str]]) -> bool:
    """Return whether what differs between two commits may change what was rejected or corrected."""
    areas = tuple(map(tree.layout.area, ("tombstones", "corrections")))
    if any(path.startswith(areas) for path in differ):
        return True
    changed = {p: blobs for p, blobs in differ.items() if tree.layout.is_memory(p)}
    if len(changed) > MAX_COMPARED:
        return True
    versions = [(path, blob) for path, both in changed.items() for blob in both if blob]
    found = tree.files.many(blob for _, blob in versions)
    return any(_has_corrected(path, found[blob]) for path, blob in versions)


def _has_corrected(path: str, data: bytes | None) -> bool:
    """Return whether a version of a memory corrects something or was corrected."""
    memory, _ = codec.decode(path, data or b"")
    corrected = ("supersedes", "superseded_by", "aliases")
    return memory is None or memory.status != "active" or any(map(memory.texts, corrected))


def _bars(state: State) -> str:
    """Return a hash of what was rejected or corrected; empty where nothing was."""
    from memrepo.merge.tombstones import corrected_in, tombstones_in

    stones, corrected = tombstones_in(state), corrected_in(state)
    if not (stones or corrected):
        return ""
    return _digest(repr([*stones.found.values()]), repr(sorted(stones.keys)), corrected.spelled)


def follow(base: sqlite3.Connection, wanted: Indexed, found: Changes) -> None:
    """Bring the passages of an open index to what they have to follow."""
    if found.whole:
        base.execute("DELETE FROM passage")
    elif found.files:
        paths = msgspec.json.encode([*found.files]).decode()
        base.execute("DELETE FROM passage WHERE path IN (SELECT value FROM json_each(?))", (paths,))
    told = ((FOLLOWS, found.follows), (BARS, found.bars))
    if any(found.files.values()):
        for rows in _rows(wanted, found):
            base.executemany("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    base.executemany("REPLACE INTO meta VALUES (?, ?)", told)


_Row = tuple[str, str, str, int, int, str, str, str, str]


def _rows(wanted: Indexed, found: Changes) -> Iterator[list[_Row]]:
    """Yield the rows of each source; a daily log has none, its lines are notes."""
    from memrepo.purify.intake import Reader, SourceText
    from memrepo.read.sources import kind_of
    from memrepo.read.thoughts import spelled_context

    names = {path: wanted.tree.layout.source_name(path) for path, b in found.files.items() if b}
    texts = (
        SourceText(name=name, resource=path, blob=found.files[path], kind="claims", committed="")
        for path, name in names.items()
        if kind_of(name, found.rules) == "claims"
    )
    while some := list(islice(texts, FILES_AT_ONCE)):
        data = wanted.tree.files.many(text.blob for text in some)
        reader = Reader(some, partial(_bytes, data), found.state, whole=True)
        for text in some:
            wanted.tick("sources indexed")
            rows = []
            for unit in reader.claims(text.name, text.blob).units:
                name = text.name.rpartition("/")[2].removesuffix(".md")
                context = spelled_context((unit.about, name, *unit.headings, unit.lead))
                if found.state is None or _may_show(found.state, reader, text, unit, context):
                    rows.append(_row(text, unit, context))
            reader.forget()
            yield rows


def _bytes(data: Mapping[str, bytes | None], blob: str) -> bytes:
    return data[blob] or b""  # a partial clone lacks some


def _row(text: SourceText, unit: Unit, context: str) -> _Row:
    terms = index_terms(f"{context} {unit.text} {date_words(unit.captured)}")
    about = (unit.text_hash, context, unit.text, unit.captured)
    return (" ".join(terms), text.resource, text.blob, *unit.lines, *about)


def _may_show(state: State, reader: Reader, text: SourceText, unit: Unit, context: str) -> bool:
    """Return whether the rest of a thought is not similar to what was rejected or corrected.

    The reader has taken out such statements, except where nothing else would be left.
    """
    from memrepo.core.memory import Memory, Source
    from memrepo.merge.tombstones import corrected_in, tombstones_in

    shortened = (unit.resource, unit.text_hash) in reader.left_out
    source = Source(resource=text.resource, text_hash="" if shortened else unit.text_hash)
    fields = {"type": "fact", "context": context, "sources": (source,)}
    draft = Memory(path=text.resource, fields=fields, body=unit.text)
    stones, corrected = tombstones_in(state), corrected_in(state)
    if stones and (stones.bar(draft) or stones.near(draft)):
        return False
    stone = corrected.bar(draft) if corrected else None
    return stone is None or not corrected.binds(stone, text.resource, unit.captured, whole=True)


class Everything(IndexCorpus):
    """The memories and the passages of an index: they are ranked together.

    A passage is a document with a negative number. What any memory rests on, whatever its status,
    is none: that was promoted, or taken out.
    """

    def __init__(self, base: sqlite3.Connection, limits: Limits) -> None:
        super().__init__(base, limits)
        (count,) = base.execute("SELECT count(*) FROM passage_docsize").fetchone()
        self.size += count
        self.passages: dict[int, Passage] = {}
        base.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.said USING fts5vocab(main, passage, row)"
        )

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return for each term that occurs how many memories and passages hold it."""
        held = dict(super().holders(found))
        for term in found:
            row = self._base.execute("SELECT doc FROM temp.said WHERE term = ?", (term,)).fetchone()
            if row:
                held[term] = held.get(term, 0) + int(row[0])
        return held

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return the memories and passages that hold any of the terms, the likeliest first."""
        rows = self._base.execute(
            """SELECT best.number, p.terms, p.path, p.first, p.last, p.blob, p.context, p.text,
              p.captured
            FROM (SELECT rowid AS number FROM passage WHERE passage MATCH ?
                  ORDER BY rank LIMIT ?) AS best JOIN passage AS p ON p.rowid = best.number
            WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.hash = p.hash)""",
            (expression(found), MAX_CANDIDATES),
        )
        said: dict[tuple[str, str], Document] = {}  # of equal ones the first
        for number, terms, path, first, last, blob, context, text, captured in rows:
            self.passages[-number] = Passage(
                resource=path,
                lines=(first, last),
                blob=blob,
                context=context,
                text=text,
                captured=captured,
            )
            document = Document(
                number=-number,
                path=f"{path}:{first:07}",
                terms=tuple(terms.split()),
                thread=f"{path} {captured}",
                place=first,
                day=captured,
                cues=cues_of(text),
            )
            said.setdefault((context, text), document)
        return [*super().propose(found, limit), *said.values()]

    def around(self, documents: Iterable[Document]) -> Mapping[int, Row]:
        """Return what stands next to each memory in its thread; next to a passage nothing."""
        return super().around(one for one in documents if one.number > 0)
