"""The search index: an SQLite FTS5 database of the blocks of one commit, and the queries on it.

If the file cannot be written, an index is built in memory. `blocks` defines how it follows HEAD,
`policies.ranking` orders what it finds.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normalise
from memrepo.policies.ranking import (
    ALIKE,
    ENOUGH,
    HEAD,
    Block,
    Corpus,
    Found,
    Held,
    Moment,
    Question,
    question_of,
    rank,
)
from memrepo.policies.rules import Weights
from memrepo.store.blocks import Indexed, begin_at
from memrepo.store.database import NAME, open_database, query, remove
from memrepo.text.sentences import items
from memrepo.text.words import asked_terms, date_words, index_terms

if TYPE_CHECKING:
    from memrepo.store.blocks import Embedder

PAST = "past.sqlite3"
MAX_PASSAGES = 5
MIN_SHARE = 0.2
"""Minimum share of the question, by rarity, in a block of a source that is not near in meaning."""
MAX_CANDIDATES, MAX_DATED = 200, 100
"""Maximum number of blocks that are ranked: by their words, and by the days of a question."""
COMPOUNDING = frozenset(("german", "dutch", "swedish", "norwegian", "danish", "finnish"))
"""Languages that write several nouns as one word."""
MIN_PART = 4
"""The minimum length of a part of such a word."""
PATHS = "held"
"""Name of a temporary table of paths, for a search that is limited to some memories."""
_FIELDS = ("number path part blob id status thread place subject day seen importance cues").split()
_COLUMNS = ", ".join([*(f"m.{name}" for name in _FIELDS), "m.type IN ('note', 'episode')"])
_SOURCE_FIELDS = "m.place, m.last, m.context, m.text"
T = TypeVar("T")


class _NotEmbeddedError(Exception):
    """Raised when a search needs vectors that are not yet computed."""


def no_model() -> None:
    """Return None, meaning that no embedding model is available. Default for `Index.model`."""


FEW_BLOCKS, SHARE_OF_LANGUAGE = 3, 0.02
"""A language counts from this many blocks of it, or from this share of all."""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a search. Empty limits match everything, and `paths` None matches all files.

    A match has all of the `tags`, in any case, or tags below them: `home/oven` is below `home`.
    Its scope is one of the `scopes` or the whole repository.
    """

    statuses: tuple[str, ...] = ("active",)
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    limit: int = 10
    paths: frozenset[str] | None = None
    bound: str = ""
    """The scope that the caller is restricted to. Searches find nothing outside this scope."""

    def condition(self, *, sources: bool = False) -> tuple[str, list[str]]:
        """Return an SQL condition on rows of table `block`, and the values of its placeholders.

        With `sources`, blocks of sources match too, if their file has the tags.
        """
        limits = (
            ("status", self.statuses),
            ("type", self.types),
            ("scope", ("", *self.scopes) if self.scopes else ()),
            ("scope", ("", self.bound) if self.bound else ()),
        )
        parts = ["m.id != ''"]
        parts += [
            f"m.{column} IN ({','.join('?' * len(found))})" for column, found in limits if found
        ]
        if self.paths is not None:
            parts.append(f"m.path IN (SELECT path FROM {PATHS})")  # noqa: S608 - a constant
        values = [value for _, found in limits for value in found]
        every = " AND ".join(parts)
        tagged = ["instr(m.tags, char(10) || ? || '/')"] * len(self.tags)
        every = f"(m.id = '' OR ({every}))" if sources else every
        return " AND ".join((every, *tagged)), [*values, *map(normalise, self.tags)]


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question: memories and blocks of sources, best first."""

    found: list[Found] = []
    languages: list[str] = []
    """The languages of the indexed texts."""
    corpus: Corpus | None = None
    """The words of the question among the indexed texts, or None if it has none."""

    @property
    def matches(self) -> list[Found]:
        """Return the memories that were found."""
        return [one for one in self.found if one.block.id]


class Index(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A search index: its folder and file name, and the content that it must reflect.

    Questions about the past use a separate index file, which moves from commit to commit. The index
    of the present commit does not change in the meantime.
    """

    folder: Path
    wanted: Indexed
    name: str = NAME
    model: Callable[[], Embedder | None] = no_model
    scope: str = ""
    """The scope that the caller is restricted to, or "" for no restriction."""

    def search(
        self,
        asked: Sequence[str],
        only: Filter,
        weights: Weights | None = None,
        moment: Moment | None = None,
        *,
        also: Sequence[str] = (),
    ) -> SearchResult:
        """Return the memories and blocks of sources that match a question, best first.

        `also` has other phrasings of the question, which are ranked in the same query. If the
        folder cannot be written, the same results come from an index in memory.
        """
        text, weights = " ".join(asked), weights or Weights()
        today = moment.now.date() if moment else None

        def ranked(queries: Queries) -> SearchResult:
            languages = queries.languages()
            question = queries.with_parts(question_of(text, today, also, languages), languages)
            if not question.terms:
                return SearchResult(languages=languages)
            likeness: Mapping[int, float] = {}
            # Whoever asks in other words too has supplied what the model would add.
            if self.model is not no_model and weights.meaning and not also:
                likeness = self._likeness(queries, text)
            forms = {form for term, own in question.terms.items() for form in (term, *own)}
            corpus = Corpus(question=question, holders=queries.holders(forms), size=queries.size())
            blocks = queries.candidates(corpus, [*likeness])
            best = rank(
                *(question, blocks, only.limit, weights, moment),
                around=queries.around,
                load=queries.load,
                likeness=likeness,
                whole=corpus.whole,
            )
            return _found(corpus, queries, best, likeness, languages)

        return self.together(lambda: self._within(only, ranked))

    def languages(self) -> list[str]:
        """Return the languages of the indexed texts."""
        return self._within(Filter(), Queries.languages)

    def named(self, ids: Collection[str]) -> dict[str, Block]:
        """Return {id: block} of the memories with the given ids, whatever their status."""
        every = Filter(statuses=())
        return {b.id: b for b in self._within(every, lambda q: q.of_ids(ids))} if ids else {}

    def lines(self, path: str) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """Return {(source, text hash): lines} of the statements that a memory is based on.

        The memory's file has the lines at which a run read them, and the source may have grown.
        """
        if self.wanted.sources is None:
            return {}
        found: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        by_path = """SELECT m.path, s.hash, s.first, s.last FROM evidence AS e
            JOIN statement AS s ON s.hash = e.hash JOIN block AS m ON m.number = s.number
            WHERE e.path = ? ORDER BY s.first"""
        rows = self._ask(lambda base: base.execute(by_path, (path,)).fetchall())
        for resource, hash_, first, last in rows:
            found[resource, hash_].append((first, last))
        return found

    def holding(self, asked: Sequence[str], only: Filter) -> list[Block]:
        """Return every memory that contains all of the given words, sorted by path, not scored."""

        def held(queries: Queries) -> list[Block]:
            pairs = asked_terms(" ".join(asked), queries.languages())
            return queries.of_ids(queries.holding([(term, *forms) for term, forms in pairs]))

        return sorted(self._within(only, held), key=lambda block: block.path)

    def count(self, asked: Sequence[str], *filters: Filter) -> list[int]:
        """Count, for each filter, the memories that contain any of the given words."""
        pairs = asked_terms(" ".join(asked), self.languages())
        found = [form for term, forms in pairs for form in (term, *forms)]
        if not found:
            return [0] * len(filters)
        return [self._within(one, lambda q: len(q.holding([found]))) for one in filters]

    def forget(self) -> None:
        """Delete the index file, so that the next question rebuilds the index."""
        with suppress(OSError):
            remove(self.folder / self.name)

    def follow(self) -> None:
        """Update the index to the wanted content, so that the next search need not wait."""
        self._ask(lambda _: None)

    def embed(self) -> None:
        """Compute any missing vectors of the indexed blocks, if a model is available."""
        if self.model is no_model or (embedder := self.model()) is None:
            return
        from memrepo.store.blocks import Vectors

        rows = self._ask(self._rows)
        known = Vectors(folder=self.folder, embedder=embedder, tick=self.wanted.tick)
        numbers = known.missing(rows)
        texts = self._ask(lambda base: Queries(base, Filter()).texts(numbers))
        known.embed(texts)

    def _rows(self, base: sqlite3.Connection) -> list[tuple[int, str, int]]:
        has_sources = self.wanted.sources is not None
        return Queries(base, Filter(statuses=()), sources=has_sources).all()

    def _likeness(self, queries: Queries, text: str) -> Mapping[int, float]:
        """Return the cosines of the blocks closest to a question, by number.

        Raises _NotEmbeddedError if vectors are missing, the first time.
        """
        embedder = self.model()
        if embedder is None:
            return {}
        from memrepo.store.blocks import Vectors

        known = Vectors(folder=self.folder, embedder=embedder)
        if "embedded" not in self.__dict__ and known.missing(self._rows(queries.base)):
            raise _NotEmbeddedError
        return known.nearest(queries.all(), text)

    def _within(self, only: Filter, answer: Callable[[Queries], T]) -> T:
        """Return what queries within the limits of a search and of the caller answer."""
        has_sources = self.wanted.sources is not None and not self.scope
        only = replace(only, bound=self.scope) if self.scope else only

        def asked(base: sqlite3.Connection) -> T:
            _limit_to(base, only.paths)
            return answer(Queries(base, only, sources=has_sources))

        return self._ask(asked)

    def together(self, ask: Callable[[], T]) -> T:
        """Run several queries on one open index, and return their common result.

        If vectors are missing, they are computed first, without blocking other users of the index.
        A damaged index is rebuilt: ValueError means that it names a file that is missing.
        """
        if "base" in self.__dict__:
            return ask()

        def all_of_them(base: sqlite3.Connection) -> T:
            self.__dict__["base"] = base
            try:
                return ask()
            finally:
                del self.__dict__["base"]

        try:
            return self._ask(all_of_them)
        except _NotEmbeddedError:
            self.embed()
            self.__dict__["embedded"] = True
        except ValueError:
            self.forget()
        return self._ask(all_of_them)

    def _ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query on an up-to-date index and return its result."""
        if "base" in self.__dict__:
            return ask(self.__dict__["base"])
        path = self.folder / self.name
        return query(path, lambda where: self._answer(where, ask))

    def _answer(self, where: Path | str, ask: Callable[[sqlite3.Connection], T]) -> T:
        with closing(open_database(where)) as base:
            begin_at(base, self.wanted)
            found = ask(base)
            base.execute("COMMIT")
        return found


def _limit_to(base: sqlite3.Connection, paths: frozenset[str] | None) -> None:
    if paths is not None:
        base.execute(f"CREATE TEMP TABLE IF NOT EXISTS {PATHS} (path TEXT PRIMARY KEY)")
        base.execute(f"DELETE FROM {PATHS}")  # noqa: S608 - a constant
        base.executemany(f"INSERT INTO {PATHS} VALUES (?)", [(p,) for p in sorted(paths)])  # noqa: S608


def _found(
    corpus: Corpus,
    queries: Queries,
    best: Sequence[Found],
    likeness: Mapping[int, float],
    languages: list[str],
) -> SearchResult:
    """Return the best hits with what they hold."""
    nearby = queries.nearby([one for one in best if one.block.id])
    found: list[Found] = []
    passages = 0
    for one in best:
        block = one.block
        terms = queries.terms_of(block)
        own = partial(queries.terms_by_statement, block)
        around, beside = nearby.get(block.number, (None, ""))
        if around is not None:
            terms = terms | queries.terms_of(around)
        held = corpus.held(own, terms, max(block.words, one.around.words if one.around else 0.0))
        if likeness.get(block.number, 0.0) >= ALIKE:
            held = Held(max(held.share, ENOUGH), True)
        is_source, is_close = not block.id, block.number in likeness or held.share > MIN_SHARE
        if is_source and (passages == MAX_PASSAGES or not is_close):
            continue
        passages += is_source
        parts = {name: round(value, 4) for name, value in one.parts.items()}
        found.append(replace(one, score=round(one.score, 4), parts=parts, held=held, nearby=beside))
    return SearchResult(found=found, languages=languages, corpus=corpus)


class _Place(NamedTuple):
    """A statement in a block of a source, with its lines and the memories that have it."""

    hash: str
    first: int
    last: int
    active: list[str]
    """The paths of active memories with it."""
    is_past: bool
    """Whether only memories that are not active have it."""


class Queries:
    """The queries of ranking on an open index, within the limits of a search."""

    def __init__(self, base: sqlite3.Connection, only: Filter, *, sources: bool = False) -> None:
        self.base = base
        self._sources = sources
        self._condition, self._values = only.condition(sources=sources)
        self._of_memories = only.condition()

    def languages(self) -> list[str]:
        """Return the languages of the texts. One text of many may only have a foreign name."""
        found = self.base.execute("SELECT name, blocks FROM language ORDER BY name").fetchall()
        least = min(FEW_BLOCKS, SHARE_OF_LANGUAGE * sum(count for _, count in found))
        return [name for name, count in found if count >= least]

    def size(self) -> int:
        """Return the number of blocks."""
        return int(self.base.execute("SELECT count(*) FROM words_docsize").fetchone()[0])

    def holders(self, found: Collection[str]) -> dict[str, int]:
        """Return {term: number of blocks that contain it}, without terms found in none."""
        self.base.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, words, row)"
        )
        by_term = "SELECT doc FROM temp.vocabulary WHERE term = ?"
        rows = ((term, self.base.execute(by_term, (term,)).fetchone()) for term in sorted(found))
        return {term: int(row[0]) for term, row in rows if row}

    def candidates(self, corpus: Corpus, close: Collection[int] = ()) -> list[Block]:
        """Return the blocks to rank: by words, by the days of the question, and the `close` ones.

        Blocks of sources are without statements that are not in effect. The memories that state
        one of theirs are returned too.
        """
        question = corpus.question
        timely = self._dated(question) if question.spans else []
        asked = [t for t in question.terms if not (timely and t in question.timed)]
        forms = [form for term in asked for form in (term, *question.terms[term])]
        likely = self.propose(forms, MAX_CANDIDATES) if forms else []
        found = {b.number: b for b in self._scored(corpus, asked, likely)}
        more = [b for b in timely if b.number not in found]
        if close:
            in_close = "m.number IN (SELECT value FROM json_each(?))"
            more += self._select(in_close, [json.dumps([*close])])
        for block in more:
            found.setdefault(block.number, block)
        blocks = self._in_effect([*found.values()])
        paths = {b.path for b in blocks}
        missing = sorted({path for b in blocks for path in b.members} - paths)
        in_paths = "m.part = 0 AND m.path IN (SELECT value FROM json_each(?))"
        return [*blocks, *(self._select(in_paths, [json.dumps(missing)]) if missing else ())]

    def propose(self, found: Sequence[str], limit: int) -> list[Block]:
        """Return up to `limit` blocks that contain any of the terms, best match first."""
        rows = self.base.execute(
            f"""SELECT m.number FROM words
            JOIN block AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {self._condition}
            ORDER BY bm25(words, {HEAD}, 1.0), m.path, m.part LIMIT ?""",  # noqa: S608 - constants
            (expression(found), *self._values, limit),
        ).fetchall()
        best = [number for (number,) in rows]
        blocks = self._select("m.number IN (SELECT value FROM json_each(?))", [json.dumps(best)])
        by_number = {block.number: block for block in blocks}
        return [by_number[number] for number in best]

    def _scored(self, corpus: Corpus, asked: Sequence[str], blocks: Sequence[Block]) -> list[Block]:
        """Return blocks with the BM25 scores of the words asked for. All forms are one word."""
        texts = self.base.execute(
            "SELECT number, head, terms FROM block"
            " WHERE number IN (SELECT value FROM json_each(?))",
            (json.dumps([block.number for block in blocks]),),
        )
        held = {n: (head.split(), terms.split()) for n, head, terms in texts}
        return corpus.bm25(asked, blocks, held)

    def _dated(self, question: Question) -> list[Block]:
        within = " OR ".join(["m.day BETWEEN ? AND ?"] * len(question.spans))
        days = [day for span in question.spans for day in span]
        last = f"ORDER BY m.day DESC, m.path, m.part LIMIT {MAX_DATED}"
        return self._select(f"({within})", days, last)

    def of_ids(self, ids: Collection[str]) -> list[Block]:
        """Return the first block of each memory with one of the given ids."""
        in_ids = "m.part = 0 AND m.id IN (SELECT value FROM json_each(?))"
        return self._select(in_ids, [json.dumps(sorted(ids))])

    def with_parts(self, question: Question, languages: Collection[str]) -> Question:
        """Return a question in which a compound that no text has is found by its longest part.

        In German and its neighbours, `Teamtreffen` is also what a text calls `Treffen` of a `Team`.
        """
        if COMPOUNDING.isdisjoint(languages):
            return question
        terms = dict(question.terms)
        for term, forms in question.terms.items():
            if len(term) < 2 * MIN_PART or self.holders((term, *forms)):
                continue
            cuts = range(MIN_PART, len(term) - MIN_PART + 1)
            parts = self.holders({part for at in cuts for part in (term[:at], term[at:])})
            terms[term] = (*forms, *sorted(parts, key=len)[-1:])
        return replace(question, terms=terms)

    def _select(self, where: str, values: Sequence[str], last: str = "") -> list[Block]:
        rows = self.base.execute(
            f"SELECT {_COLUMNS}, {_SOURCE_FIELDS} FROM block AS m"  # noqa: S608 - question marks
            f" WHERE {where} AND {self._condition} {last}",
            (*values, *self._values),
        )
        return [_block(row) for row in rows]

    def holding(self, found: Sequence[Collection[str]]) -> set[str]:
        """Return the ids of the memories that have one term of each set."""
        condition, values = self._of_memories
        statement = f"""SELECT DISTINCT m.id FROM words JOIN block AS m ON m.number = words.rowid
            WHERE words MATCH ? AND {condition}"""  # noqa: S608 - question marks alone
        if not found:
            return set()
        every = (self.base.execute(statement, (expression(f), *values)) for f in found)
        return set.intersection(*({id_ for (id_,) in rows} for rows in every))

    def all(self) -> list[tuple[int, str, int]]:
        """Return (number, blob, part) of every block, ordered by path and part."""
        return self.base.execute(
            f"""SELECT m.number, m.blob, m.part FROM block AS m
            WHERE {self._condition} ORDER BY m.path, m.part""",  # noqa: S608 - question marks
            self._values,
        ).fetchall()

    def around(self, block: Block) -> tuple[int, int]:
        """Return the numbers of the blocks before and after a block of a memory, or 0."""
        at = (block.thread, block.id, block.place, block.path, block.part)
        found = []
        for sign, way in (("<", "DESC"), (">", "ASC")):
            row = self.base.execute(
                f"""SELECT m.number FROM block AS m WHERE m.thread = ? AND m.id != ?
                AND (m.place, m.path, m.part) {sign} (?, ?, ?) AND {self._of_memories[0]}
                ORDER BY m.place {way}, m.path {way}, m.part {way} LIMIT 1""",  # noqa: S608
                (*at, *self._of_memories[1]),
            ).fetchone()
            found.append(int(row[0]) if row else 0)
        return found[0], found[1]

    def load(self, number: int) -> Block | None:
        """Return the block with a number, or None if it is outside the limits of the search."""
        return next(iter(self._select("m.number = CAST(? AS INTEGER)", [str(number)])), None)

    def terms_by_statement(self, block: Block) -> list[set[str]]:
        """Return the terms of each statement, with those of the headings of the block.

        Neighbours in a log or a source are not about one thing. Other memories are one statement.
        """
        if block.id and not block.is_record:
            return [self.terms_of(block)]
        one = "SELECT head FROM block WHERE number = ?"
        ((head,),) = self.base.execute(one, (block.number,))
        return [{*head.split(), *index_terms(item).terms} for item in items(block.text)]

    def terms_of(self, block: Block) -> set[str]:
        """Return the terms of a block, with those of its headings."""
        one = "SELECT head, terms, text FROM block WHERE number = ?"
        head, terms, text = next(self.base.execute(one, (block.number,)))
        if text != block.text:  # a part of it is not in effect
            terms = " ".join(index_terms(f"{block.text} {date_words(block.day)}").terms)
        return {*head.split(), *terms.split()}

    def _in_effect(self, blocks: Sequence[Block]) -> list[Block]:
        """Return blocks without the statements of sources that are not in effect.

        Of blocks of sources with equal texts, the first remains.
        """
        places = self._places([b.number for b in blocks if not b.id])
        found: list[Block] = []
        seen: set[str] = set()
        for block in blocks:
            if block.id:
                found.append(block)
                continue
            past = [p for p in places[block.number] if p.is_past]
            text = _without_lines(block, [(p.first, p.last) for p in past])
            if text in seen or not any(map(str.isalnum, text)):
                continue
            seen.add(text)
            members = dict.fromkeys(path for p in places[block.number] for path in p.active)
            found.append(replace(block, text=text, members=tuple(members)))
        return found

    def _places(self, numbers: Collection[int]) -> Mapping[int, list[_Place]]:
        """Return the statements of blocks of sources by number, with the memories of each."""
        found: dict[int, dict[tuple[int, int, str], list[tuple[str, str]]]] = defaultdict(dict)
        rows = self.base.execute(
            """SELECT s.number, s.first, s.last, s.hash, m.path, m.status FROM statement AS s
            LEFT JOIN evidence AS e ON e.hash = s.hash
            LEFT JOIN block AS m ON m.path = e.path AND m.part = 0
            WHERE s.number IN (SELECT value FROM json_each(?)) ORDER BY s.first, m.path""",
            (json.dumps([*numbers]),),
        )
        for number, first, last, hash_, path, status in rows:
            owners = found[number].setdefault((first, last, hash_), [])
            if path:
                owners.append((path, status))
        every: dict[int, list[_Place]] = defaultdict(list)
        for number, of_block in found.items():
            for (first, last, hash_), owners in of_block.items():
                active = [path for path, status in owners if status == "active"]
                every[number].append(
                    _Place(hash_, first, last, active, bool(owners) and not active)
                )
        return every

    def nearby(self, best: Sequence[Found]) -> Mapping[int, tuple[Block, str]]:
        """Return {number of a memory: (its block of a source, the text of that around its own)}."""
        if not self._sources:
            return {}
        found: dict[int, tuple[Block, str]] = {}
        for one in best:
            around = one.around or self._block_of(one.block.path)
            own = {
                h
                for (h,) in self.base.execute(
                    "SELECT hash FROM evidence WHERE path = ?", (one.block.path,)
                )
            }
            if around is None:
                continue
            mine = [p for p in self._places([around.number])[around.number] if p.hash in own]
            text = _without_lines(around, [(p.first, p.last) for p in mine])
            found[one.block.number] = around, text.strip("\n")
        return found

    def _block_of(self, path: str) -> Block | None:
        """Return the first block of a source that has a statement of a memory."""
        rows = self._select(
            """m.number = (SELECT min(s.number) FROM evidence AS e
            JOIN statement AS s ON s.hash = e.hash WHERE e.path = ?)""",
            [path],
        )
        return next(iter(self._in_effect(rows)), None)

    def texts(self, numbers: Collection[int]) -> list[tuple[str, int, str]]:
        """Return (blob, part, text) of blocks, to embed them."""
        return self.base.execute(
            """SELECT blob, part, trim(context || char(10) || text, char(10) || ' ') FROM block
            WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number""",
            (json.dumps([*numbers]),),
        ).fetchall()


def _without_lines(block: Block, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text of a block of a source without the lines of some spans."""
    gone = {number for first, last in spans for number in range(first, last + 1)}
    if not gone:
        return block.text
    rows = enumerate(block.text.split("\n"), start=block.lines[0])
    return "\n".join(line for number, line in rows if number not in gone)


def _block(row: tuple[Any, ...]) -> Block:
    *values, is_record, first, last, context, text = row
    own = dict(zip(_FIELDS, values, strict=True))
    lines = (0, 0) if own["id"] else (first, last)
    return Block(**own, is_record=bool(is_record), lines=lines, context=context, text=text)


def expression(found: Iterable[str]) -> str:
    """Return an FTS5 expression that joins the terms by OR. Terms contain no quotation marks."""
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(found))
