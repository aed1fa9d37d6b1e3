"""The words of all statements, and the marks of all memories, kept from one run to the next."""

from __future__ import annotations

from collections.abc import Callable

from memrepo.actions.work import Work
from memrepo.core.memory import Memory
from memrepo.policies.kept_words import Postings
from memrepo.policies.matching import tokens
from memrepo.purify.decisions import KeptWords, is_compared
from memrepo.purify.marks import KeptMarks, marks_of

_WORDS, _MARKS = "words", "marks"
_HEAD = 8
"""So many bytes say how long the names of the blobs are."""


def kept_words(work: Work) -> KeptWords | None:
    """Return the words that the last run kept, of those memories that are as they were."""
    found = _read(work, _WORDS)
    if found is None:
        return None
    blobs, postings = found
    said = _said(work, is_compared)
    return KeptWords(postings=postings, memories=[said.get(blob) for blob in blobs])


def kept_marks(work: Work) -> KeptMarks | None:
    """Return the marks that the last run kept, of those memories that are as they were."""
    found = _read(work, _MARKS)
    if found is None:
        return None
    blobs, postings = found
    said = _said(work, _is_marked)
    return KeptMarks(postings=postings, memories=[said.get(blob) for blob in blobs])


def keep_words(work: Work) -> None:
    """Keep the words and the marks of a commit's memories: those that are kept stay."""
    _keep(work, _WORDS, is_compared, lambda memory: tokens(memory.said))
    _keep(work, _MARKS, _is_marked, marks_of)


def _is_marked(memory: Memory) -> bool:
    return not memory.is_note


def _keep(
    work: Work,
    name: str,
    among: Callable[[Memory], bool],
    words: Callable[[Memory], frozenset[str]],
) -> None:
    said, found = _said(work, among), _read(work, name)
    blobs, postings = found if found is not None else ([], Postings())
    gone = sum(blob not in said for blob in blobs)
    if many := gone * _SPARE > len(blobs):
        postings = postings.without(lambda number: blobs[number] not in said)
        blobs = [blob for blob in blobs if blob in said]
    known = {*blobs}
    new = [blob for blob in said if blob not in known]
    if found is not None and not (new or many):
        return
    postings = postings.with_words(words(said[blob]) for blob in new)
    names = "\n".join((*blobs, *new)).encode()
    head = len(names).to_bytes(_HEAD, "big")
    work.store.trees.records.keep_whole(name, head + names + postings.to_bytes())


_SPARE = 20
"""What is there no more is dropped where it is more than one of so many."""


def _said(work: Work, among: Callable[[Memory], bool]) -> dict[str, Memory]:
    """Return some memories of a commit by blob, in the order of their paths."""
    blobs = work.tree.blobs
    return {blobs[m.path]: m for m in work.tree.state().memories.values() if among(m)}


def _read(work: Work, name: str) -> tuple[list[str], Postings] | None:
    data = work.store.trees.records.whole(name)
    if data is None or len(data) < _HEAD:
        return None
    end = _HEAD + int.from_bytes(data[:_HEAD], "big")
    blobs = data[_HEAD:end].decode("ascii", "replace").split("\n") if end > _HEAD else []
    postings = Postings.from_bytes(data[end:])
    return (blobs, postings) if postings is not None and len(postings) == len(blobs) else None
