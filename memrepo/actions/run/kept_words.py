"""The words of all statements, kept from one run to the next beside what the memories say."""

from __future__ import annotations

from memrepo.actions.work import Work
from memrepo.core.memory import Memory
from memrepo.policies.kept_words import Postings
from memrepo.purify.decisions import KeptWords, is_compared

_NAME = "words"
_HEAD = 8
"""So many bytes say how long the names of the blobs are."""


def kept_words(work: Work) -> KeptWords | None:
    """Return the words that the last run kept, of those memories that are as they were."""
    found = _read(work)
    if found is None:
        return None
    blobs, postings = found
    said = _said(work)
    return KeptWords(postings=postings, memories=[said.get(blob) for blob in blobs])


def keep_words(work: Work) -> None:
    """Keep the words of a commit's statements: those that are kept are not cut again."""
    said, found = _said(work), _read(work)
    blobs, postings = found if found is not None else ([], Postings())
    gone = len(blobs) - len(said.keys() & {*blobs})
    if gone * _SPARE > len(blobs):
        blobs, postings = [], Postings()
    known = {*blobs}
    new = [blob for blob in said if blob not in known]
    if not new and found is not None and blobs:
        return
    postings = postings.with_texts(said[blob].said for blob in new)
    names = "\n".join((*blobs, *new)).encode()
    head = len(names).to_bytes(_HEAD, "big")
    work.store.trees.records.keep_whole(_NAME, head + names + postings.to_bytes())


_SPARE = 20
"""All are cut anew where more than one of so many is there no more."""


def _said(work: Work) -> dict[str, Memory]:
    """Return the statements of a commit by blob, in the order of their paths."""
    blobs = work.tree.blobs
    return {blobs[m.path]: m for m in work.tree.state().active if is_compared(m)}


def _read(work: Work) -> tuple[list[str], Postings] | None:
    data = work.store.trees.records.whole(_NAME)
    if data is None or len(data) < _HEAD:
        return None
    end = _HEAD + int.from_bytes(data[:_HEAD], "big")
    blobs = data[_HEAD:end].decode("ascii", "replace").split("\n") if end > _HEAD else []
    postings = Postings.from_bytes(data[end:])
    return (blobs, postings) if postings is not None and len(postings) == len(blobs) else None
