"""The search index: an SQLite FTS5 database that caches the memories of one commit.

If the file cannot be written, an index is built in memory. `tables` defines how it follows HEAD,
`corpus` has the queries of ranking.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from memrepo.policies.answers import ALIKE, ENOUGH, Held, Moment, rank, shares
from memrepo.policies.questions import Question, question_of
from memrepo.policies.ranking import Document, Likeness, Ranked
from memrepo.policies.rules import Weights
from memrepo.store.corpus import PATHS, CombinedCorpus, Filter, IndexCorpus
from memrepo.store.database import NAME, get_meta, open_database, query, remove
from memrepo.store.tables import (
    FOLLOWS,
    REJECTED,
    Indexed,
    clear,
    follow_memories,
    follow_passages,
    passage_changes,
    state_of,
)
from memrepo.text.words import asked_terms, query_terms

if TYPE_CHECKING:
    from memrepo.store.vectors import Embedder

PAST = "past.sqlite3"
MAX_PASSAGES = 5
MIN_SHARE = 0.2
"""Minimum share of the query, weighted by rarity, that a passage must contain."""


RIVALS, MAX_NEWER, MAX_COMPARED = 50, 12, 3
"""The number of results among which something newer is looked for, of newer ones that are read, and
of hits they are read for."""


class _NotEmbeddedError(Exception):
    """Raised when a search needs document vectors that are not yet computed."""


def no_model() -> None:
    """Return None, meaning that no embedding model is available. Default for `Index.model`."""


T = TypeVar("T")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A memory or passage that a search found, best part first, with what it holds."""

    document: Document
    score: float = 0.0
    """Higher is better."""
    parts: Mapping[str, float] = msgspec.field(default_factory=dict)
    """The score's parts by signal."""
    held: Held = msgspec.field(default_factory=Held)
    nearby: str = ""
    """The statements next to a memory's own in its source."""
    newer: tuple[Document, ...] = ()
    """Newer documents that also match, latest first."""


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question: the found memories and source passages, best first."""

    matches: list[Found] = []
    passages: list[tuple[int, Found]] = []
    """Each passage, with the number of memories ranked before it."""
    languages: list[str] = []
    """The languages of the indexed texts."""


class Index(msgspec.Struct, frozen=True, kw_only=True):
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
        """Return the memories and passages that match a question, best first. Sort ties by path.

        `also` has other phrasings of the question, which are ranked in the same query. If the
        folder cannot be written, the same results come from an index in memory.
        """
        text, weights, only = " ".join(asked), weights or Weights(), self._bound(only)
        today = moment.now.date() if moment else None
        has_passages = self.wanted.sources is not None and not self.scope

        def ranked(base: sqlite3.Connection, *, waits: bool) -> SearchResult:
            _limit_to(base, only.paths)
            corpus = (CombinedCorpus if has_passages else IndexCorpus)(base, only)
            languages = corpus.languages()
            question = question_of(text, today, also, languages)
            if not question.terms:
                return SearchResult()
            like = self._similarity(base, corpus, " ".join((text, *also)), waits)
            like = like if weights.meaning else None
            cosines: dict[int, float] = {}

            def likeness(scored: Collection[int]) -> Mapping[int, float]:
                cosines.update(like(scored) if like else {})
                return cosines

            by_meaning = likeness if like else None
            every = rank(question, corpus, max(only.limit, RIVALS), weights, moment, by_meaning)
            found = _found(question, corpus, every, only.limit, cosines)
            return msgspec.structs.replace(found, languages=languages)

        try:
            return self._ask(partial(ranked, waits=True))
        except _NotEmbeddedError:
            self.embed()  # without blocking other users of the index
            return self._ask(partial(ranked, waits=False))

    def forget(self) -> None:
        """Delete the index file, so that the next question rebuilds the index."""
        with suppress(OSError):
            remove(self.folder / self.name)

    def follow(self) -> None:
        """Update the index to the wanted content, so that the next search need not wait."""
        self._ask(lambda _: None)

    def embed(self) -> None:
        """Compute any missing vectors of the indexed documents, if a model is available."""
        if self.model is no_model or (embedder := self.model()) is None:
            return
        from memrepo.store.vectors import Vectors

        documents = self._ask(self._documents)
        numbers = [number for number, *_ in documents if number < 0]
        passages: list[Document] = []
        if numbers:
            passages = self._ask(lambda base: CombinedCorpus(base, Filter()).numbered(numbers))
        texts = {-one.number: f"{one.context}\n{one.text}" for one in passages}
        known = Vectors(folder=self.folder, wanted=self.wanted, embedder=embedder, passages=texts)
        with suppress(OSError, sqlite3.OperationalError):  # the folder is not writable
            known.embed(documents)

    def _documents(self, base: sqlite3.Connection) -> list[tuple[int, str, str, int]]:
        has_passages = self.wanted.sources is not None
        return (CombinedCorpus if has_passages else IndexCorpus)(base, Filter(statuses=())).all()

    def _similarity(
        self, base: sqlite3.Connection, corpus: IndexCorpus, text: str, waits: bool
    ) -> Likeness | None:
        """Return a function that scores how similar documents are to a question, or None.

        The function loads the model when called. It raises _NotEmbeddedError if vectors are missing
        and `waits` is set.
        """
        if self.model is no_model:
            return None

        def likeness(scored: Collection[int]) -> Mapping[int, float]:
            embedder = self.model()
            if embedder is None:
                return {}
            from memrepo.store.vectors import Vectors

            known = Vectors(folder=self.folder, wanted=self.wanted, embedder=embedder)
            if waits and known.lacks(self._documents(base)):
                raise _NotEmbeddedError
            return known.similarity(corpus.all(), text)(scored)

        return likeness

    def named(self, ids: Collection[str]) -> dict[str, Document]:
        """Return {id: document} of the memories with the given ids, whatever their status."""

        def found(base: sqlite3.Connection) -> dict[str, Document]:
            condition, values = self._bound(Filter(statuses=())).condition
            by_id = f"SELECT id, path, blob, status FROM memory AS m WHERE id = ? AND {condition}"  # noqa: S608
            rows = [base.execute(by_id, (id_, *values)).fetchone() for id_ in sorted(ids)]
            return {row[0]: _named(row) for row in rows if row}

        return self._ask(found) if ids else {}

    def _bound(self, only: Filter) -> Filter:
        return msgspec.structs.replace(only, bound=self.scope) if self.scope else only

    def near(self, asked: Sequence[str], only: Filter) -> list[str]:
        """Return the ids of memories that contain any of the given words, best match first."""
        found, only = query_terms(" ".join(asked)), self._bound(only)
        if not found:
            return []

        def proposed(base: sqlite3.Connection) -> list[str]:
            _limit_to(base, only.paths)
            likeliest = IndexCorpus(base, only).propose(found, only.limit)
            return list(dict.fromkeys(document.id for document in likeliest))

        return self._ask(proposed)

    def holding(self, asked: Sequence[str], only: Filter) -> list[Document]:
        """Return every memory that contains all of the given words, sorted by path, not scored."""
        text, only = " ".join(asked), self._bound(only)

        def held(base: sqlite3.Connection) -> set[tuple[str, str, str, str]]:
            _limit_to(base, only.paths)
            corpus = IndexCorpus(base, only)
            found = [(term, *forms) for term, forms in asked_terms(text, corpus.languages())]
            return corpus.holding(found) if found else set()

        return [_named(row) for row in sorted(self._ask(held), key=lambda row: row[1])]

    def count(self, asked: Sequence[str], *filters: Filter) -> list[int]:
        """Count, for each filter, the memories that contain any of the given words."""

        def counts(base: sqlite3.Connection) -> list[int]:
            terms = asked_terms(" ".join(asked), IndexCorpus(base, Filter()).languages())
            found = [form for term, forms in terms for form in (term, *forms)]
            every = (IndexCorpus(base, self._bound(one)) for one in filters)
            return [corpus.count(found) if found else 0 for corpus in every]

        return self._ask(counts)

    def _ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query on an up-to-date index and return its result."""
        path = self.folder / self.name
        if self.name == PAST and not path.exists():
            self._copy_present(path)
        return query(path, lambda where: self._answer(where, ask))

    def _copy_present(self, path: Path) -> None:
        """Create the index for past commits as a copy of the current index, to reuse its rows."""
        present = self.folder / NAME
        if present.exists():
            with (
                suppress(sqlite3.Error),
                closing(sqlite3.connect(present)) as base,
                closing(sqlite3.connect(path)) as copy,
            ):
                base.backup(copy)

    def _answer(self, where: Path | str, ask: Callable[[sqlite3.Connection], T]) -> T:
        with closing(open_database(where)) as base:
            begin_at(base, self.wanted)
            found = ask(base)
            base.execute("COMMIT")
        return found


def begin_at(base: sqlite3.Connection, wanted: Indexed) -> None:
    """Begin a transaction, and update the index to the wanted content in it."""
    edits = json.dumps(wanted.edited, sort_keys=True)
    needed = {"commit": wanted.tree.commit, "edits": edits, "rules": wanted.rules}
    if wanted.sources is not None:
        needed[FOLLOWS] = state_of(wanted)
    base.execute("BEGIN")
    if all(get_meta(base, key) == value for key, value in needed.items()):
        return
    base.execute("ROLLBACK")
    base.execute("BEGIN IMMEDIATE")
    starts_over = get_meta(base, "rules") != wanted.rules
    passages = None
    if wanted.sources is not None:  # may read memories cached in this file: before any write
        known = ("", "") if starts_over else (get_meta(base, FOLLOWS), get_meta(base, REJECTED))
        passages = passage_changes(wanted, wanted.sources, *known)
    if starts_over:
        clear(base)
    follow_memories(base, wanted)
    if passages is not None:
        follow_passages(base, wanted, passages)


def _limit_to(base: sqlite3.Connection, paths: frozenset[str] | None) -> None:
    if paths is not None:
        base.execute(f"CREATE TEMP TABLE {PATHS} (path TEXT PRIMARY KEY)")
        base.executemany(f"INSERT INTO {PATHS} VALUES (?)", [(p,) for p in sorted(paths)])  # noqa: S608


def _named(row: tuple[str, str, str, str]) -> Document:
    id_, path, blob, status = row
    return Document(number=0, id=id_, path=path, blob=blob, status=status)


def _found(
    question: Question,
    corpus: IndexCorpus,
    every: Sequence[Ranked],
    limit: int,
    cosines: Mapping[int, float],
) -> SearchResult:
    """Return the best memories and passages with what they hold, and newer matches of the first."""
    best = every[:limit]
    documents = [d for one in best for d in (one.document, one.passage) if d is not None]
    held = shares(question, corpus, documents)
    for number in [n for n in held if cosines.get(n, 0.0) >= ALIKE]:
        held[number] = Held(max(held[number].share, ENOUGH), True)
    memories = [one for one in best if one.document.number > 0]
    paths = [one.document.path for one in memories]
    nearby = corpus.nearby(paths) if isinstance(corpus, CombinedCorpus) else {}
    matches: list[Found] = []
    passages: list[tuple[int, Found]] = []
    for place, one in enumerate(best):
        document, around = one.document, one.passage
        mine = held[document.number]
        if around is not None:
            mine = max(mine, held[around.number], key=lambda h: (h.answers, h.share))
        if document.number > 0:
            is_first = len(matches) < MAX_COMPARED
            matches.append(
                Found(
                    document=document,
                    score=round(one.score, 4),
                    parts={name: round(value, 4) for name, value in one.parts.items()},
                    held=mine,
                    nearby=nearby.get(document.path, ""),
                    newer=_newer(document, every[place + 1 :]) if is_first else (),
                )
            )
        elif mine.share > MIN_SHARE and len(passages) < MAX_PASSAGES:
            found = Found(document=document, score=round(one.score, 4), held=mine)
            passages.append((len(matches), found))
    return SearchResult(matches=matches, passages=passages)


def _newer(document: Document, others: Sequence[Ranked]) -> tuple[Document, ...]:
    """Return the newer of some documents, latest first, without archives and conflict copies."""
    found = [one.document for one in others if one.document.day > document.day > ""]
    found = [one for one in found[:MAX_NEWER] if not _is_inert(one.path)]
    return tuple(sorted(found, key=lambda one: (one.day, one.path), reverse=True))


def _is_inert(path: str) -> bool:
    from memrepo.read.kinds import kinds, path_kind  # most searches find no later text

    return path_kind(path) in kinds().groups["inert"]
