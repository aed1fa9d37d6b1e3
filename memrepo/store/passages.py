"""Passages: source statements that no memory is based on, stored as rows of the search index.

Passages are updated with the commit, but only if a search needs them. Changed files are read again.
All files are read again if the reading rules, or the rejected and corrected statements, have
changed.
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
from memrepo.policies.questions import cues_of
from memrepo.policies.ranking import Document, Row
from memrepo.store.corpus import IndexCorpus, Limits, expression
from memrepo.text.words import date_words, index_terms

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.read.intake import Reader, SourceText
    from memrepo.read.sources import SourceRules
    from memrepo.read.thoughts import Unit
    from memrepo.store.tables import Indexed
    from memrepo.store.tree import Snapshot

FOLLOWS, BARS = "passages", "bars"
"""Meta keys: the state that passages reflect, and a hash of the statements they must not show."""
MAX_CANDIDATES = 200
"""Maximum number of passages compared with a question."""
LEAST = 0.2
"""Minimum share of the query, weighted by rarity, that a passage must contain."""
_READING = ("read/*.py", "languages/*.toml", "store/passages.py")
"""Files that define how a source is split into statements."""
FILES_AT_ONCE = 200
MAX_COMPARED = 200
"""Maximum number of changed memories compared. If more changed, all memories are read."""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A statement from a source, with its lines, its context, and its day if known."""

    resource: str
    lines: tuple[int, int]
    blob: str
    context: str
    text: str
    captured: str


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The updates that bring an index's passages up to date.

    `files` contains {path: blob} of the sources to read, with an empty blob for a deleted source.
    `whole` means that `files` contains all sources. `state` contains the rejected and corrected
    statements, or is None if there are none.
    """

    rules: SourceRules
    follows: str
    bars: str
    files: Mapping[str, str]
    whole: bool
    state: State | None = None


def follows(wanted: Indexed) -> str:
    """Return an identifier of what passages depend on: commit, reading code and source rules."""
    return f"{wanted.tree.commit} {code_hash(*_READING)} {_digest(repr(wanted.sources))}"


@cache
def code_hash(*patterns: str) -> str:
    """Compute a hash of memrepo's files that match the patterns, to detect code changes."""
    package = Path(__file__).resolve().parent.parent
    files = sorted(path for pattern in patterns for path in package.glob(pattern))
    return _digest(*(path.read_bytes() for path in files))


def _digest(*parts: str | bytes) -> str:
    found = sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()[:16]


def changes(wanted: Indexed, rules: SourceRules, was: str, bars: str) -> Changes | None:
    """Return the updates for passages computed at state `was`, or None if they are current.

    `bars` is the hash of the statements excluded so far. Both are empty if there are no passages.
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
    """Return whether file differences may change which statements are rejected or corrected."""
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
    """Return whether a memory version corrects another memory or was corrected itself."""
    memory, _ = codec.decode(path, data or b"")
    corrected = ("supersedes", "superseded_by", "aliases")
    return memory is None or memory.status != "active" or any(map(memory.texts, corrected))


def _bars(state: State) -> str:
    """Compute a hash of the rejected and corrected statements. Return "" if there are none."""
    from memrepo.merge.tombstones import corrected_in, tombstones_in

    stones, corrected = tombstones_in(state), corrected_in(state)
    if not (stones or corrected):
        return ""
    return _digest(repr([*stones.found.values()]), repr(sorted(stones.keys)), corrected.spelled)


def follow(base: sqlite3.Connection, wanted: Indexed, found: Changes) -> None:
    """Apply the updates to the passages in an open index."""
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
    """Yield each source's rows of passages. Daily logs have none, because their lines are notes."""
    from memrepo.read.intake import Reader, SourceText
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
    return data[blob] or b""  # a partial clone lacks some blobs


def _row(text: SourceText, unit: Unit, context: str) -> _Row:
    terms = index_terms(f"{context} {unit.text} {date_words(unit.captured)}")
    about = (unit.text_hash, context, unit.text, unit.captured)
    return (" ".join(terms), text.resource, text.blob, *unit.lines, *about)


def _may_show(state: State, reader: Reader, text: SourceText, unit: Unit, context: str) -> bool:
    """Return whether a source's remaining text is unlike all rejected and corrected statements.

    The reader has removed such statements, except where nothing else would remain.
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
    """A corpus that ranks the memories and passages of an index together.

    A passage is a document with a negative number. Statements that a memory is based on are
    omitted, whatever the memory's status: they were promoted or removed.
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
        """Return {term: number of memories and passages that contain it}."""
        held = dict(super().holders(found))
        for term in found:
            row = self._base.execute("SELECT doc FROM temp.said WHERE term = ?", (term,)).fetchone()
            if row:
                held[term] = held.get(term, 0) + int(row[0])
        return held

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return the memories and passages that contain any of the terms, memories first.

        Memories and passages are each sorted by best match.
        """
        rows = self._base.execute(
            """SELECT best.number, p.terms, p.path, p.first, p.last, p.blob, p.context, p.text,
              p.captured
            FROM (SELECT rowid AS number FROM passage WHERE passage MATCH ?
                  ORDER BY rank LIMIT ?) AS best JOIN passage AS p ON p.rowid = best.number
            WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.hash = p.hash)""",
            (expression(found), MAX_CANDIDATES),
        )
        said: dict[tuple[str, str], Document] = {}  # the first of equal passages
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
        """Return the neighbours of each memory in its thread. Passages have no neighbours."""
        return super().around(one for one in documents if one.number > 0)
