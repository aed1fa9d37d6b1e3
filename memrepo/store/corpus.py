"""Queries on the search index for ranking: candidates, term counts, neighbours, similar words.

Trigrams of the words in Latin letters find typos, inflected or transliterated names, and parts of
compounds. They are collected when a question first has a word that no memory contains.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import ne
from typing import Any, NamedTuple

import msgspec

from memrepo.core.patterns import regex
from memrepo.policies.questions import cues_of
from memrepo.policies.ranking import Document, ThreadRow
from memrepo.store.database import get_meta, set_meta
from memrepo.text.dates import Span
from memrepo.text.words import date_words, index_terms, is_spaceless

PATHS = "held"
"""Name of a temporary table of paths, for a search that is limited to some memories."""
MAX_CANDIDATES = 200
"""Maximum number of passages compared with a question."""
_NEIGHBOURS = 4
_MIN_CHANGES = 0.25
"""Minimum share of subject changes in a thread for it to count as a conversation."""
_FIELDS = (
    "number path part terms thread place subject day id seen importance successors cues blob status"
).split()
_COLUMNS = ", ".join([*(f"m.{name}" for name in _FIELDS), "m.type IN ('note', 'episode')"])


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a search. Empty limits match everything, and `paths` None matches all files.

    A match has all of the `tags`. Its scope is one of the `scopes` or the whole repository.
    """

    statuses: tuple[str, ...] = ("active",)
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    limit: int = 10
    paths: frozenset[str] | None = None
    bound: str = ""
    """The scope that the caller is restricted to. Searches find nothing outside this scope."""

    @property
    def condition(self) -> tuple[str, list[str]]:
        """Return an SQL condition on rows of table `memory`, and the values of its placeholders."""
        limits = (
            ("status", self.statuses),
            ("type", self.types),
            ("scope", ("", *self.scopes) if self.scopes else ()),
            ("scope", ("", self.bound) if self.bound else ()),
        )
        parts = [
            f"m.{column} IN ({','.join('?' * len(found))})" for column, found in limits if found
        ]
        parts += ["instr(m.tags, char(10) || ? || char(10))"] * len(self.tags)
        if self.paths is not None:
            parts.append(f"m.path IN (SELECT path FROM {PATHS})")  # noqa: S608 - a constant
        values = [value for _, found in limits for value in found]
        return " AND ".join(parts) or "1", [*values, *self.tags]


class IndexCorpus:
    """The rows of an open index that match the limits of a search (`policies.ranking.Corpus`)."""

    def __init__(self, base: sqlite3.Connection, only: Filter) -> None:
        self._base, (self._condition, self._values) = base, only.condition
        self._similar: dict[str, Mapping[str, float]] = {}
        self.size = int(get_meta(base, "size") or 0)
        self.average = int(get_meta(base, "length") or 0) / self.size if self.size else 0.0

    def languages(self) -> list[str]:
        """Return the languages of the indexed texts."""
        return [name for (name,) in self._base.execute("SELECT name FROM language ORDER BY name")]

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return {term: number of documents that contain it}, without terms found in none."""
        terms = json.dumps([*found])
        counts = "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))"
        return dict(self._base.execute(counts, (terms,)))

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Return {indexed term: similarity up to 1} of terms spelled similarly to `term`."""
        found = self._similar.get(term)
        if found is None:
            found = self._similar[term] = similar_words(self._base, term, inflects=inflects)
        return {t: found[t] for t in self.holders(found)}

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return up to `limit` documents that contain any of the terms, best match first."""
        # Only the sort keys are sorted here. Other columns are read for the remaining rows.
        best = self._base.execute(
            f"""SELECT m.number FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._condition}
            ORDER BY bm25(words), m.path, m.part LIMIT ?""",  # noqa: S608 - question marks alone
            (expression(found), *self._values, limit),
        )
        return self._documents([number for (number,) in best])

    def count(self, found: Sequence[str]) -> int:
        """Return the number of memories that contain any of the terms."""
        row = self._base.execute(
            f"""SELECT count(DISTINCT m.id) FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._condition}""",  # noqa: S608 - as above
            (expression(found), *self._values),
        ).fetchone()
        return int(row[0])

    def holding(self, found: Sequence[Collection[str]]) -> set[tuple[str, str, str, str]]:
        """Return (id, path, blob, status) of each memory that has one term of each set."""
        statement = f"""SELECT DISTINCT m.id, m.path, m.blob, m.status
            FROM words JOIN memory AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._condition}"""  # noqa: S608 - as above
        matches = (
            set(self._base.execute(statement, (expression(forms), *self._values)))
            for forms in found
        )
        return set.intersection(*matches)

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return the documents dated within any of the given spans, newest first."""
        within = " OR ".join(["m.day BETWEEN ? AND ?"] * len(spans))
        rows = self._base.execute(
            f"""SELECT {_COLUMNS} FROM memory AS m WHERE ({within}) AND {self._condition}
            ORDER BY m.day DESC, m.path, m.part LIMIT ?""",  # noqa: S608 - as above
            (*(day for span in spans for day in span), *self._values, limit),
        )
        return [_document(row) for row in rows]

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return the documents with the given numbers, in ascending order."""
        return self._documents(sorted(numbers))

    def _documents(self, numbers: Sequence[int]) -> list[Document]:
        rows = self._base.execute(
            f"""SELECT {_COLUMNS} FROM memory AS m
            WHERE m.number IN (SELECT value FROM json_each(?))""",  # noqa: S608 - as above
            (json.dumps([*numbers]),),
        )
        found = {row[0]: _document(row) for row in rows}
        return [found[number] for number in numbers if number in found]

    def all(self) -> list[tuple[int, str, str, int]]:
        """Return (number, path, blob, part) of every document, ordered by path and part."""
        return self._base.execute(
            f"""SELECT m.number, m.path, m.blob, m.part FROM memory AS m
            WHERE {self._condition} ORDER BY m.path, m.part""",  # noqa: S608 - as above
            self._values,
        ).fetchall()

    def around(self, documents: Iterable[Document]) -> Mapping[int, ThreadRow]:
        """Return {document number: neighbours in its thread, up to four on each side}."""
        threads: dict[str, list[Document]] = defaultdict(list)
        for document in documents:
            if document.thread:
                threads[document.thread].append(document)
        found: dict[int, ThreadRow] = {}
        for name, hits in threads.items():
            rows = self._base.execute(
                f"""SELECT m.number, m.subject FROM memory AS m
                WHERE m.thread = ? AND {self._condition}
                ORDER BY m.place, m.path, m.part""",  # noqa: S608 - as above
                (name, *self._values),
            ).fetchall()
            numbers, is_talk = [number for number, _ in rows], _is_talk(rows)
            places = {number: at for at, number in enumerate(numbers)}
            for at, number in ((places[hit.number], hit.number) for hit in hits):
                around = numbers[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
                found[number] = ThreadRow(around, is_talk)
        return found


def _is_talk(rows: Sequence[tuple[int, str]]) -> bool:
    """Return whether a thread is a conversation, which often changes its subject."""
    subjects = [subject for _, subject in rows]
    changes = sum(map(ne, subjects, subjects[1:]))
    return all(subjects) and 0 < changes >= _MIN_CHANGES * (len(subjects) - 1)


def _document(row: tuple[Any, ...]) -> Document:
    values = dict(zip(_FIELDS, row, strict=False))
    terms, successors = (tuple(values.pop(name).split()) for name in ("terms", "successors"))
    return Document(terms=terms, successors=successors, is_record=bool(row[-1]), **values)


def expression(found: Iterable[str]) -> str:
    """Return an FTS5 expression that joins the terms by OR. Terms contain no quotation marks."""
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(found))


class Statement(NamedTuple):
    """A statement of a paragraph, with its lines."""

    hash: str
    text: str
    first: int
    last: int


class CombinedCorpus(IndexCorpus):
    """A corpus that ranks the memories and passages of an index together.

    A passage is a document with a negative number. Statements of memories that are not active are
    omitted. A passage of which active memories state a part lends its score to the best of them.
    """

    def __init__(self, base: sqlite3.Connection, only: Filter) -> None:
        super().__init__(base, only)
        (count,) = base.execute("SELECT count(*) FROM passage_docsize").fetchone()
        self.size += count
        base.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.passage_terms"
            " USING fts5vocab(main, passage, row)"
        )

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return {term: number of memories and passages that contain it}."""
        counts = dict(super().holders(found))
        by_term = "SELECT doc FROM temp.passage_terms WHERE term = ?"
        for term in found:
            if row := self._base.execute(by_term, (term,)).fetchone():
                counts[term] = counts.get(term, 0) + int(row[0])
        return counts

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return the memories and passages that contain any of the terms, memories first."""
        rows = self._base.execute(
            """SELECT -best.number, p.terms, p.path, p.blob, p.context, p.captured, p.units
            FROM (SELECT rowid AS number FROM passage WHERE passage MATCH ?
                  ORDER BY rank LIMIT ?) AS best JOIN passage AS p ON p.rowid = best.number""",
            (expression(found), min(limit, MAX_CANDIDATES)),
        ).fetchall()
        passages: dict[tuple[str, str], Document] = {}  # the first of equal passages
        for one in self._passages(rows):
            passages.setdefault((one.context, one.text), one)
        return [*super().propose(found, limit), *passages.values()]

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return the documents with the given numbers, in ascending order."""
        rows = self._base.execute(
            """SELECT -rowid, terms, path, blob, context, captured, units FROM passage
            WHERE rowid IN (SELECT value FROM json_each(?)) ORDER BY rowid DESC""",
            (json.dumps([-number for number in numbers if number < 0]),),
        ).fetchall()
        return [*self._passages(rows), *super().numbered([n for n in numbers if n > 0])]

    def all(self) -> list[tuple[int, str, str, int]]:
        """Return (number, path, blob, part) of every document. Passages count by their number."""
        rows = self._base.execute("SELECT -rowid, path, blob, rowid FROM passage").fetchall()
        return [*super().all(), *rows]

    def _passages(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Document]:
        """Yield the passages in rows, each without the statements that are not in effect."""
        read = [(*row[:-1], [Statement(*unit) for unit in json.loads(row[-1])]) for row in rows]
        hashes = {unit.hash for *_, units in read for unit in units}
        owners: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for hash_, path, status in self._base.execute(
            """SELECT e.hash, m.path, m.status FROM evidence AS e
            JOIN memory AS m ON m.path = e.path AND m.part = 0
            WHERE e.hash IN (SELECT value FROM json_each(?)) ORDER BY m.path""",
            (json.dumps(sorted(hashes)),),
        ):
            owners[hash_].append((path, status))
        for number, terms, path, blob, context, captured, units in read:
            held = {
                u.hash: [p for p, status in owners[u.hash] if status == "active"] for u in units
            }
            shown = [u for u in units if held[u.hash] or not owners[u.hash]]
            if not shown:
                continue
            text = "\n".join(unit.text for unit in shown)
            if len(shown) < len(units):
                terms = " ".join(index_terms(f"{context} {text} {date_words(captured)}").terms)
            yield Document(
                number=number,
                path=f"{path}:{shown[0].first:07}",
                terms=tuple(terms.split()),
                place=shown[0].first,
                day=captured,
                cues=cues_of(text),
                blob=blob,
                resource=path,
                lines=(shown[0].first, shown[-1].last),
                context=context,
                text=text,
                members=tuple(dict.fromkeys(p for unit in shown for p in held[unit.hash])),
                is_new=any(not owners[unit.hash] for unit in shown),
            )

    def nearby(self, paths: Collection[str]) -> Mapping[str, str]:
        """Return {path of a memory: the other statements of its first paragraph}.

        Those after its own statement come first.
        """
        found: dict[str, str] = {}
        for path in paths:
            rows = self._base.execute(
                """SELECT DISTINCT -p.rowid, p.terms, p.path, p.blob, p.context, p.captured, p.units
                FROM evidence AS e JOIN place ON place.hash = e.hash
                JOIN passage AS p ON p.rowid = place.number WHERE e.path = ?
                ORDER BY p.path, p.rowid LIMIT 1""",
                (path,),
            ).fetchall()
            own = self._base.execute("SELECT hash FROM evidence WHERE path = ?", (path,)).fetchall()
            hashes = {hash_ for (hash_,) in own}
            for document, row in zip(self._passages(rows), rows, strict=False):
                shown = set(document.text.split("\n"))
                units = [Statement(*unit) for unit in json.loads(row[-1])]
                at = next(n for n, unit in enumerate(units) if unit.hash in hashes)
                others = [u for u in (*units[at + 1 :], *units[:at]) if u.hash not in hashes]
                found[path] = "\n".join(
                    u.text for u in others if shown.issuperset(u.text.split("\n"))
                )
        return found

    def around(self, documents: Iterable[Document]) -> Mapping[int, ThreadRow]:
        """Return the neighbours of each memory in its thread. Passages have no neighbours."""
        return super().around(one for one in documents if one.number > 0)


# -- similar words ---------------------------------------------------------------------------

MIN_SIMILARITY = 0.45
"""Minimum Dice similarity of two words' trigrams for one to match the other."""
CHARACTER = 0.05
"""Weight of a character of a pair that is not in the index."""
_PART = 0.6
"""Similarity of a word to a compound that begins or ends with this word, and vice versa."""
_LETTERS = 5
"""Minimum number of letters in a part of a compound."""
_LONG = 8
"""Number of letters from which two typos in a word are likely."""
_SHORT = 4
"""Maximum length of words in which replacing a letter gives another word: golf, gold."""
_ENDING = 3
"""Maximum number of letters in an inflectional ending."""
_VOWELS = frozenset("aeiouy")
_MOST = 4
_NEAR = 0.8
"""Minimum similarity of a match, as a share of the best match's similarity."""
_PROPOSED = 100
_WORD = regex(r"[^\W\d_]{4,40}")
_KEY = "wordforms"


def similar_words(base: sqlite3.Connection, term: str, *, inflects: bool) -> Mapping[str, float]:
    """Return {word: similarity} of indexed words that are spelled similarly to a term.

    If `inflects` is set, the language inflects or compounds words more than English, and trigrams
    decide. Otherwise only typos count as similar, except for words in another script.
    """
    if is_spaceless(term):
        return dict.fromkeys(term, CHARACTER) if len(term) > 1 else {}
    wanted = latin(term)
    if not _WORD.fullmatch(wanted):
        return {}
    try:
        _gather(base)
    except sqlite3.OperationalError:
        return {}  # the file is not writable, or another process writes
    either = " OR ".join(f'"{gram}"' for gram in sorted(_grams(wanted)))
    rows = base.execute(
        "SELECT latin, term FROM wordforms WHERE wordforms MATCH ? ORDER BY rank LIMIT ?",
        (either, _PROPOSED),
    )
    found = {
        other: _similarity(wanted, written[1:-1])
        for written, other in rows
        if other != term
        and (
            term.isascii() != other.isascii()  # another script is evidence enough
            or _is_near(wanted, written[1:-1], inflects=inflects or not term.isascii())
        )
    }
    best = max(found.values(), default=0.0)
    near = sorted((-value, other) for other, value in found.items() if value >= MIN_SIMILARITY)
    return {other: -value for value, other in near[:_MOST] if -value >= _NEAR * best}


def _is_near(one: str, other: str, *, inflects: bool) -> bool:
    """Return whether two Latin-script words may be the same word with a typo or another ending."""
    if _is_slip(one, other):
        return True
    short, long = sorted((one, other), key=len)
    is_part = long.startswith(short) or long.endswith(short)
    if is_part and len(short) < _LETTERS and len(long) - len(short) > _ENDING:
        return False
    return inflects and not _share_a_head_alone(one, other)


def _share_a_head_alone(one: str, other: str) -> bool:
    """Return whether two words share only their beginning, such as unicorn and Unicode.

    Endings are short and contain a vowel. The endings of one word may differ completely.
    """
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        return False  # one begins with the other
    if not at:  # a prefix, as of a participle, or different words with the same end
        return not (one.endswith(other) or other.endswith(one))
    rest, others = one[at:], other[at:]
    endings = all(len(tail) <= _ENDING and not _VOWELS.isdisjoint(tail) for tail in (rest, others))
    return not endings and _ends(rest).isdisjoint(_ends(others))


def _ends(tail: str) -> frozenset[str]:
    written = f"{tail}$"
    return frozenset(written[i : i + 3] for i in range(max(1, len(written) - 2)))


def _is_slip(one: str, other: str) -> bool:
    """Return whether two words differ only by a typo: a missing, added, wrong or swapped letter.

    Long words may have two typos. The first letter is rarely wrong. In a short word, a replaced
    letter makes another word.
    """
    if len(one) == len(other) <= _SHORT and sorted(one) != sorted(other):
        return False
    slips = 1 + (min(len(one), len(other)) >= _LONG)
    if abs(len(one) - len(other)) > slips or one[:1] not in other[:2]:
        return False
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1] <= slips


def latin(term: str) -> str:
    """Convert a word to lower-case Latin letters."""
    if term.isascii():
        return term
    from anyascii import anyascii

    return anyascii(term).lower()


def _similarity(one: str, other: str) -> float:
    a, b = _grams(one), _grams(other)
    dice = 2 * len(a & b) / (len(a) + len(b))
    short, long = sorted((one, other), key=len)
    part = len(short) >= _LETTERS and (long.startswith(short) or long.endswith(short))
    return max(dice, _PART if part else 0.0)


def _grams(word: str) -> frozenset[str]:
    edged = f"^{word}$"
    return frozenset(edged[i : i + 3] for i in range(len(edged) - 2))


def _gather(base: sqlite3.Connection) -> None:
    """Add the words from index rows that were added since the last call."""
    (last,) = base.execute("SELECT coalesce(max(number), 0) FROM memory").fetchone()
    upto = int(get_meta(base, _KEY) or 0)
    if upto == last:
        return
    if upto:
        rows = base.execute("SELECT terms FROM memory WHERE number > ?", (upto,))
        new = {term for (terms,) in rows for term in terms.split()}
        known = (
            new & {t for (t,) in base.execute("SELECT term FROM wordforms")} if new else frozenset()
        )
        _take(base, new - known)
    else:
        _take(base, (term for (term,) in base.execute("SELECT term FROM vocabulary").fetchall()))
    set_meta(base, {_KEY: str(last)})


def _take(base: sqlite3.Connection, found: Iterable[str]) -> None:
    rows = ((latin(term), term) for term in sorted(found))
    base.executemany(
        "INSERT INTO wordforms VALUES (?, ?)",
        [
            (f"^{written}$", term)
            for written, term in rows
            if _WORD.fullmatch(written) and not is_spaceless(term)
        ],
    )
