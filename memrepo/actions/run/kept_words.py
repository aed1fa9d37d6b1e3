"""The words of all statements, and the marks of all memories, kept from one run to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memrepo.actions.work import Work
from memrepo.core.memory import Memory, each, listed
from memrepo.policies.kept_words import KeptPostings, Postings
from memrepo.policies.matching import tokens
from memrepo.purify.decisions import compared
from memrepo.purify.marks import marks_of

WORDS, MARKS = "words", "marks"
_HEAD = 8
"""So many bytes say how long the names of the blobs are."""


def kept_postings(work: Work, name: str) -> KeptPostings | None:
    """Return the words, or marks, that the last run kept of memories that are as they were."""
    found = _read(work, name)
    if found is None:
        return None
    blobs, postings = found
    ids = [*map(work.tree.ids.get, blobs)]
    return KeptPostings(postings=postings, ids=ids, of=work.tree.state().memories)


def keep_words(work: Work) -> None:
    """Keep the words and the marks of a commit's memories: those that are kept stay."""
    every = work.tree.state().every
    _keep(work, WORDS, listed(compared(every)), lambda memory: tokens(memory.said))
    _keep(work, MARKS, every, marks_of)


def _keep(
    work: Work,
    name: str,
    memories: Sequence[Memory],
    words: Callable[[Memory], frozenset[str]],
) -> None:
    """Keep words of memories; not before some are new, for all are written at once."""
    found = _read(work, name)
    blobs, postings = found if found is not None else ([], Postings())
    files = work.tree.memory_files
    there = [files[path] for path in each(memories, "path")]
    known, said = {*blobs}, {*there}
    new = [at for at, blob in enumerate(there) if blob not in known]
    gone = len(known - said)
    if found is not None and max(len(new), gone) * _SPARE <= len(blobs):
        return
    if gone:
        postings = postings.without(lambda number: blobs[number] not in said)
        blobs = [blob for blob in blobs if blob in said]
    for first in range(0, len(new), _AT_ONCE):
        some = new[first : first + _AT_ONCE]
        postings = postings.with_words(words(memories[at]) for at in some)
    names = "\n".join((*blobs, *(there[at] for at in new))).encode()
    head = len(names).to_bytes(_HEAD, "big")
    work.store.trees.records.keep_whole(name, head + names + postings.to_bytes())


_AT_ONCE = 10_000
"""The words of so many memories are held together."""
_SPARE = 100
"""What is new, or gone, is kept, or dropped, once it is more than one of so many."""


def _read(work: Work, name: str) -> tuple[list[str], Postings] | None:
    return work.store.trees.records.whole_as(name, _parsed)


def _parsed(data: bytes | None) -> tuple[list[str], Postings] | None:
    if data is None or len(data) < _HEAD:
        return None
    end = _HEAD + int.from_bytes(data[:_HEAD], "big")
    blobs = data[_HEAD:end].decode("ascii", "replace").split("\n") if end > _HEAD else []
    postings = Postings.from_bytes(data[end:])
    return (blobs, postings) if postings is not None and len(postings) == len(blobs) else None
