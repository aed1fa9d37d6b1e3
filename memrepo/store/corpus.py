"""Access to the search index for ranking: FTS5 candidates, term counts and neighbours."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import ne
from pathlib import Path
from typing import Any

from memrepo.policies.ranking import Document, Row
from memrepo.store.wordforms import alike
from memrepo.text.dates import Span

HELD = "held"
"""Name of a temporary table of paths, for a search that is limited to some memories."""
_WHOLE = 400
"""Threads with fewer documents are read completely. For longer ones, only neighbours are read."""
_SPAN = 4
_TURNS = 0.25
"""Minimum share of subject changes in a thread for it to count as a conversation."""
_KEPT, _KEPT_THREADS, _KEPT_TERMS = 10_000, 1_000, 50_000
"""Maximum cached documents, threads and term counts per process."""
_FEW = 2
"""Up to this multiple of the limit, matches are sorted in Python instead of SQLite."""
_META = "'size', 'length', 'commit', 'edits', 'rules'"
_COLUMNS = (
    "m.number, m.path, m.part, m.terms, m.thread, m.place, m.subject, m.day, m.id, m.seen,"
    " m.importance, m.successors, m.cues, m.type IN ('note', 'episode')"
)


class Limits:
    """An SQL condition on rows of table `memory`, with the values of its placeholders."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: list[str] = []

    def tagged(self, tags: Sequence[str]) -> Limits:
        """Limit the condition to rows that have all of the given tags."""
        self.parts += ["instr(m.tags, char(10) || ? || char(10))"] * len(tags)
        self.values += tags
        return self

    def among(self, column: str, values: Sequence[str]) -> Limits:
        """Limit a column to the given values."""
        self.parts.append(f"m.{column} IN ({','.join('?' * len(values))})")
        self.values += values
        return self

    def held(self) -> Limits:
        """Limit the rows to paths in the temporary table."""
        self.parts.append(f"m.path IN (SELECT path FROM {HELD})")  # noqa: S608 - a constant
        return self

    @property
    def condition(self) -> str:
        """Return the SQL condition, with all parts joined by AND."""
        return " AND ".join(self.parts) or "1"


class _Thread:
    """The ordered documents of a thread, with a cache of each document's neighbours."""

    def __init__(self, said: Sequence[tuple[int, str]]) -> None:
        self.numbers = [number for number, _ in said]
        self.talk = _is_talk(said)
        self._places = {number: i for i, number in enumerate(self.numbers)}
        self._rows: dict[int, Row] = {}

    def around(self, number: int) -> Row:
        """Return a document and its neighbours in the thread, up to four on each side."""
        row = self._rows.get(number)
        if row is None:
            at = self._places[number]
            row = Row(self.numbers[max(0, at - _SPAN) : at + _SPAN + 1], self.talk)
            self._rows[number] = row
        return row


class _Read:
    """Cache of data read from an index file, valid until the file changes."""

    def __init__(self) -> None:
        self.documents: dict[int, Document] = {}
        self.within: dict[tuple[object, ...], dict[int, bool]] = defaultdict(dict)
        self.threads: dict[tuple[object, ...], _Thread] = {}
        self.holders: dict[str, int] = {}

    def keep(self, documents: Iterable[Document]) -> None:
        """Cache some documents, after discarding all cached ones if there are too many."""
        if len(self.documents) > _KEPT:
            self.documents.clear()
            self.within.clear()
        self.documents |= {document.number: document for document in documents}

    def thread(self, key: tuple[object, ...], said: Sequence[tuple[int, str]]) -> None:
        """Cache a thread's documents in order."""
        if len(self.threads) > _KEPT_THREADS:
            self.threads.clear()
        self.threads[key] = _Thread(said)

    def count(self, held: Mapping[str, int]) -> None:
        """Cache the document counts of some terms, including zero counts."""
        if len(self.holders) > _KEPT_TERMS:
            self.holders.clear()
        self.holders |= held


@lru_cache(maxsize=2)
def _read_of(_file: tuple[object, ...]) -> _Read:
    return _Read()


def _read_in(base: sqlite3.Connection, known: tuple[object, ...]) -> _Read:
    """Return the cache for an index file, or an empty cache if this connection changed the index.

    No other process writes while a query runs, and a changed file gets a new cache.
    """
    place = base.execute("PRAGMA database_list").fetchone()[2]
    if not place or base.total_changes:
        return _Read()
    file = Path(place).stat()
    return _read_of((place, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns, known))


class IndexCorpus:
    """The rows of an open index that match the limits of a search (`policies.ranking.Corpus`)."""

    def __init__(self, base: sqlite3.Connection, limits: Limits) -> None:
        self._base, self._limits = base, limits
        self._limited = (limits.condition, *limits.values)
        self._alike: dict[str, Mapping[str, float]] = {}
        rows = dict(base.execute(f"SELECT key, value FROM meta WHERE key IN ({_META})"))  # noqa: S608 - constants
        self._read = _read_in(base, tuple(sorted(rows.items())))
        self.size = int(rows.get("size", 0))
        self.average = int(rows.get("length", 0)) / self.size if self.size else 0.0

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return {term: number of documents that contain it}, without terms found in none."""
        known = self._read.holders
        if new := [term for term in found if term not in known]:
            asked = (
                "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))"
            )
            held = dict(self._base.execute(asked, (json.dumps(new),)))
            known = {t: known[t] for t in found if t in known} | dict.fromkeys(new, 0) | held
            self._read.count(known)
        return {term: known[term] for term in found if known[term]}

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Return {indexed term: similarity up to 1} of terms spelled similarly to `term`."""
        found = self._alike.get(term)
        if found is None:
            found = self._alike[term] = alike(self._base, term, inflects=inflects)
        return {t: found[t] for t in self.holders(found)}

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return up to `limit` documents that contain any of the terms, best match first."""
        asked = expression(found)
        if sum(self.holders(found).values()) <= _FEW * limit:
            likely = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?"
            scores = dict(self._base.execute(likely, (asked,)))
            documents = self._limited_to(self._documents([*scores]))
            order = sorted([(scores[one.number], one.path, one.part, one) for one in documents])
            return [one for _, _, _, one in order[:limit]]
        # Only the sort keys are sorted here. Other columns are read for the remaining rows.
        best = self._base.execute(
            f"""SELECT m.number FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._limits.condition}
            ORDER BY bm25(words), m.path, m.part LIMIT ?""",  # noqa: S608 - question marks alone
            (asked, *self._limits.values, limit),
        )
        return self._documents([number for (number,) in best])

    def count(self, found: Sequence[str]) -> int:
        """Return the number of memories that contain any of the terms."""
        row = self._base.execute(
            f"""SELECT count(DISTINCT m.id) FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._limits.condition}""",  # noqa: S608 - as above
            (expression(found), *self._limits.values),
        ).fetchone()
        return int(row[0])

    def holding(self, found: Sequence[str]) -> set[tuple[str, str, str, str]]:
        """Return (id, path, blob, status) of each memory in which all terms occur."""
        asked = f"""SELECT DISTINCT m.id, m.path, m.blob, m.status
            FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._limits.condition}"""  # noqa: S608 - as above
        held = (
            set(self._base.execute(asked, (expression([term]), *self._limits.values)))
            for term in found
        )
        return set.intersection(*held)

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return the documents dated within any of the given spans, newest first."""
        within = " OR ".join(["m.day BETWEEN ? AND ?"] * len(spans))
        rows = self._base.execute(
            f"""SELECT {_COLUMNS} FROM memory AS m WHERE ({within}) AND {self._limits.condition}
            ORDER BY m.day DESC, m.path, m.part LIMIT ?""",  # noqa: S608 - as above
            (*(day for span in spans for day in span), *self._limits.values, limit),
        )
        return [_document(row) for row in rows]

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return the documents with the given numbers, in ascending order."""
        return self._documents(sorted(numbers))

    def _documents(self, numbers: Sequence[int]) -> list[Document]:
        """Return the documents with the given numbers, in the given order. Omit unknown ones."""
        known = self._read.documents
        new = [number for number in numbers if number not in known]
        if not new:
            return [known[number] for number in numbers]
        asked = f"""SELECT {self._limits.condition}, {_COLUMNS} FROM memory AS m
            WHERE m.number IN (SELECT value FROM json_each(?))"""  # noqa: S608 - as above
        rows = self._base.execute(asked, (*self._limits.values, json.dumps(new))).fetchall()
        found = {n: known[n] for n in numbers if n in known}
        made = {row[1]: _document(row[1:]) for row in rows}
        self._read.keep(made.values())
        self._read.within[self._limited] |= {row[1]: bool(row[0]) for row in rows}
        found |= made
        return [found[number] for number in numbers if number in found]

    def _limited_to(self, documents: Sequence[Document]) -> list[Document]:
        """Return which of the given documents match the limits of the search."""
        known = self._read.within[self._limited]
        if new := [one.number for one in documents if one.number not in known]:
            asked = f"""SELECT m.number, {self._limits.condition} FROM memory AS m
                WHERE m.number IN (SELECT value FROM json_each(?))"""  # noqa: S608 - as above
            known |= dict(self._base.execute(asked, (*self._limits.values, json.dumps(new))))
        return [one for one in documents if known[one.number]]

    def all(self) -> list[tuple[int, str, str, int]]:
        """Return (number, path, blob, part) of every document, ordered by path and part."""
        return self._base.execute(
            f"""SELECT m.number, m.path, m.blob, m.part FROM memory AS m
            WHERE {self._limits.condition} ORDER BY m.path, m.part""",  # noqa: S608 - as above
            self._limits.values,
        ).fetchall()

    def around(self, documents: Iterable[Document]) -> Mapping[int, Row]:
        """Return {document number: neighbours in its thread, up to four on each side}."""
        threads: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            if document.thread:
                threads[document.thread].append(document)
        found: dict[int, Row] = {}
        whole = self._in_order("m.thread = ?", "ASC")
        known = self._read.threads
        for name, hits in threads.items():
            if (name, *self._limited) not in known:
                said = self._said(whole, (name,), _WHOLE)
                self._read.thread((name, *self._limited), said)
            thread = known[name, *self._limited]
            around = thread.around if len(thread.numbers) < _WHOLE else None
            found |= {h.number: around(h.number) if around else self._beside(h) for h in hits}
        return found

    def _beside(self, hit: Document) -> Row:
        here = (hit.thread, hit.place, hit.path, hit.part)
        before = self._in_order("m.thread = ? AND (m.place, m.path, m.part) < (?, ?, ?)", "DESC")
        after = self._in_order("m.thread = ? AND (m.place, m.path, m.part) > (?, ?, ?)", "ASC")
        earlier, later = (self._said(asked, here, _SPAN) for asked in (before, after))
        said = [*reversed(earlier), (hit.number, hit.subject), *later]
        return Row([number for number, _ in said], _is_talk(said))

    def _in_order(self, where: str, order: str) -> str:
        """Return an SQL query that selects a thread's documents in the given order."""
        return f"""SELECT m.number, m.subject FROM memory AS m
            WHERE {where} AND {self._limits.condition}
            ORDER BY m.place {order}, m.path {order}, m.part {order} LIMIT ?"""  # noqa: S608 - as above

    def _said(self, asked: str, values: tuple[str | int, ...], limit: int) -> list[tuple[int, str]]:
        """Return (number, subject) pairs of a thread's documents in order."""
        return self._base.execute(asked, (*values, *self._limits.values, limit)).fetchall()


def _is_talk(said: Sequence[tuple[int, str]]) -> bool:
    """Return whether a thread is a conversation, which often changes its subject."""
    subjects = [subject for _, subject in said]
    changes = sum(map(ne, subjects, subjects[1:]))
    return all(subjects) and 0 < changes >= _TURNS * (len(subjects) - 1)


def _document(row: tuple[Any, ...]) -> Document:
    number, path, part, found, thread, place, subject, day, id_, seen, *rest = row
    importance, successors, cues, is_record = rest
    return Document(
        number=number,
        path=path,
        part=part,
        terms=tuple(found.split()),
        thread=thread,
        place=place,
        subject=subject,
        day=day,
        id=id_,
        seen=seen,
        importance=importance,
        successors=tuple(successors.split()),
        cues=cues,
        is_record=bool(is_record),
    )


def expression(found: Iterable[str]) -> str:
    """Return an FTS5 expression that joins the terms by OR. Terms contain no quotation marks."""
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(found))
