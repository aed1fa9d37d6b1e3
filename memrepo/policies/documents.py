"""Types for ranking: documents, the corpus that contains them, and ranked documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from memrepo.text.timespans import Span


class Document(msgspec.Struct, frozen=True, dict=True):
    """The data about one memory that ranking uses.

    `place`, `path` and `part` determine its position in a thread.
    """

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
    """Adjacent documents of one thread, by number, and whether the thread is a conversation."""

    numbers: Sequence[int]
    talk: bool = False


class Corpus(Protocol):
    """The documents that a search covers, with the frequencies of terms."""

    size: int
    average: float
    """The mean number of terms per document."""

    def holders(self, found: Collection[str]) -> Mapping[str, int]:
        """Map each term that occurs to the number of documents that contain it."""

    def alike(self, term: str, *, inflects: bool) -> Mapping[str, float]:
        """Map each indexed term spelled like `term` to its similarity, at most 1."""

    def propose(self, found: Sequence[str], limit: int) -> list[Document]:
        """Return documents that contain any of the terms, most likely first."""

    def dated(self, spans: Sequence[Span], limit: int) -> list[Document]:
        """Return documents dated within one of the time spans, newest first."""

    def numbered(self, numbers: Collection[int]) -> list[Document]:
        """Return the documents with the given numbers."""

    def around(self, documents: Iterable[Document]) -> Mapping[int, Row]:
        """Map each document's number to its neighbours, up to four places away in the thread."""


class Ranked(msgspec.Struct, frozen=True):
    """A document with its score and the contribution of each signal."""

    document: Document
    score: float
    parts: Mapping[str, float]


Likeness = Callable[[Collection[int]], Mapping[int, float]]
"""Return cosines by number, for the given documents and for those most similar to the question."""
