"""Which units a run has still to take in: the fold of the manifests in the tree.

Each manifest consumed the difference between two blobs of a source. When one is reverted its
difference is open again, whatever later runs consumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from memrepo.purify.manifest import Consumed, Recorded

UnitHashes = Callable[[str], frozenset[str]]
"""From a blob id to the unit hashes of that version of the source; empty for an empty id."""


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """What manifests say of one source: unbroken spans from blob to blob, oldest first."""

    spans: tuple[Consumed, ...] = ()

    @property
    def last(self) -> str:
        """Return the newest blob consumed, or an empty string."""
        return self.spans[-1].to if self.spans else ""

    def is_at(self, blob: str) -> bool:
        """Tell whether exactly this blob is consumed, whole: nothing needs to be read."""
        if len(self.spans) != 1:
            return False
        span = self.spans[0]
        return (span.from_, span.to, span.except_, span.also) == ("", blob, (), ())

    def taken(self, hashes: UnitHashes) -> frozenset[str]:
        """Return the hashes of all units consumed so far."""
        taken: frozenset[str] = frozenset()
        for span in self.spans:
            old, new = hashes(span.from_), hashes(span.to)
            added = (new - old - frozenset(span.except_)) | frozenset(span.also)
            taken = (taken - (old - new)) | added
        return taken


def cursors(manifests: Iterable[Recorded]) -> dict[str, Cursor]:
    """Fold manifests, oldest first, into one cursor a source."""
    found: dict[str, Cursor] = {}
    for manifest in manifests:
        for entry in manifest.consumed:
            found[entry.resource] = _extend(found.get(entry.resource, Cursor()), entry)
    return found


def advance(
    cursor: Cursor, resource: str, blob: str, new: frozenset[str], hashes: UnitHashes
) -> tuple[frozenset[str], Consumed] | None:
    """Return the open units of a source's version and the entry that consumes them all.

    None when there is nothing to take in and nothing to note. Units that were left open before
    are named in `also`: they are in no difference between two versions, or only by returning.
    """
    open_ = new - cursor.taken(hashes)
    if not open_ and cursor.last == blob:
        return None
    left = hashes(cursor.last).union(*(span.except_ for span in cursor.spans))
    entry = Consumed(
        resource=resource, from_=cursor.last, to=blob, also=tuple(sorted(open_ & left))
    )
    return open_, entry


def _extend(cursor: Cursor, entry: Consumed) -> Cursor:
    """Append a span, joined to the last where it goes on from it and nothing was left out."""
    last = cursor.spans[-1] if cursor.spans else None
    left_open = last is not None and (last.except_ or last.also or entry.except_ or entry.also)
    if last is None or last.to != entry.from_ or left_open:
        return Cursor(spans=(*cursor.spans, entry))
    joined = Consumed(resource=entry.resource, from_=last.from_, to=entry.to)
    return Cursor(spans=(*cursor.spans[:-1], joined))
