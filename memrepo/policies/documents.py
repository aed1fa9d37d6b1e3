"""What ranking looks at: documents, the corpus that they are of, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from memrepo.text.timespans import Span


class Document(msgspec.Struct, frozen=True, dict=True):
    """What ranking knows of one memory; `place`, `path` and `part` order those of a thread."""

    number: int
    path: str
    part: int = 0
    """Which chunk of a long text; a memory is as good as its best chunk."""
    terms: tuple[str, ...] = ()
    thread: str = ""
    place: int = 0
    subject: str = ""
    """Its folded subject; a question that names it asks for it."""
    day: str = ""
    """Newest evidence date, YYYY-MM-DD."""
    id: str = ""
    seen: int = 0
    """When it was last confirmed, in seconds since 1970; 0 where nothing says when."""
    importance: float | None = None
    successors: tuple[str, ...] = ()
    """The ids of what superseded it."""
    cues: str = ""
    """Which kinds of answer it may give, and whether it asks (`cues`)."""
    is_record: bool = False
    """Whether it tells a whole day or session, as notes and episodes do."""


class Row(msgspec.Struct, frozen=True):
    """Numbers of documents that stand side by side in a thread, and whether people talk there."""

    numbers: Sequence[int]
    talk: bool = False


class Corpus(Protocol):
    """The memories that a search is limited to, and how often terms occur in all of them."""

    size: int
    average: float
    """Mean number of terms a document."""

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return for each term that occurs how many documents hold it."""

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Return the indexed terms that are spelled nearly like one, by likeness up to 1."""

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return the documents that hold any of the terms, the likeliest first."""

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return the documents whose day is in one of some spans of days, the newest first."""

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return documents by their numbers."""

    def around(self, documents: Iterable[Document]) -> Mapping[int, Row]:
        """Return by number each document with what stands up to four places from it."""


class Ranked(msgspec.Struct, frozen=True):
    """One document with its score, and what each signal added to it."""

    document: Document
    score: float
    parts: Mapping[str, float]


Likeness = Callable[[Collection[int]], Mapping[int, float]]
"""Cosines by number: of some documents, and of those nearest to the question."""
