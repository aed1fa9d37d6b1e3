"""The inputs and results of ranking: documents, their corpus, and ranked documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from memrepo.text.timespans import Span


class Document(msgspec.Struct, frozen=True, dict=True):
    """What ranking knows about one memory. `place`, `path` and `part` are its order in a thread."""

    number: int
    path: str
    part: int = 0
    """The number of a chunk in a long text. A memory has the score of its best chunk."""
    terms: tuple[str, ...] = ()
    thread: str = ""
    place: int = 0
    subject: str = ""
    """The folded subject. It matters for questions that name it."""
    day: str = ""
    """The newest date of the evidence, YYYY-MM-DD."""
    id: str = ""
    seen: int = 0
    """When the memory was last confirmed, in seconds since 1970, or 0 if unknown."""
    importance: float | None = None
    successors: tuple[str, ...] = ()
    """The ids of the memories that superseded it."""
    cues: str = ""
    """The kinds of answer that the memory may give, and whether it is a question (`cues`)."""
    is_record: bool = False
    """Whether the memory records a whole day or session, as notes and episodes do."""


class Row(msgspec.Struct, frozen=True):
    """The numbers of adjacent documents in a thread, and whether the thread is a conversation."""

    numbers: Sequence[int]
    talk: bool = False


class Corpus(Protocol):
    """The memories that a search covers, and how often terms occur in all of them."""

    size: int
    average: float
    """The mean number of terms per document."""

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Return how many documents contain each term. Terms that never occur are left out."""

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Return the indexed terms with a similar spelling, each with its similarity up to 1."""

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return documents that contain any of the terms, most likely first."""

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return documents whose day is in one of the time spans, newest first."""

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return documents by number."""

    def around(self, documents: Iterable[Document]) -> Mapping[int, Row]:
        """Map each document's number to the documents up to four places from it."""


class Ranked(msgspec.Struct, frozen=True):
    """A document with its score and the contribution of each signal."""

    document: Document
    score: float
    parts: Mapping[str, float]


Likeness = Callable[[Collection[int]], Mapping[int, float]]
"""Return cosines by number, for the given documents and for those most similar to the question."""
