"""Give index rows the status `forgotten` if a person rejected their text.

The status in the file is ignored. A file is compared with the tombstones when it is indexed. If
tombstones were added or removed, all files are compared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache

from memrepo.core.memory import Memory
from memrepo.merge.tombstones import Tombstones, read_tombstones
from memrepo.store.tables import ARCHIVED, FORGOTTEN, Bars, Indexed, meta


def bars_of(wanted: Indexed, stones: Mapping[str, str]) -> Bars:
    """Return a predicate: whether a tombstone in `stones` ({path: blob}) rejects a memory.

    The tombstones are read when the first memory is compared.
    """

    @cache
    def known() -> Tombstones:
        found = zip(stones, wanted.tree.files.each([*stones.items()]), strict=True)
        return read_tombstones(dict(found), wanted.tree.layout)

    return lambda memory: known().bar(memory) is not None


def hold_back(
    base: sqlite3.Connection, wanted: Indexed, bars: Bars, recorded: Mapping[str, Memory]
) -> None:
    """Set the status of every row to `forgotten` if rejected, or else to the status in its file.

    The files of memories in `recorded` (by blob) are not read.
    """
    rests = int(meta(base, ARCHIVED))
    rows = base.execute("SELECT path, blob, status FROM memory WHERE part = 0").fetchall()
    has = {path: status for path, _, status in rows}
    for memory in _memories(wanted, {path: blob for path, blob, _ in rows}, recorded):
        status = FORGOTTEN if bars(memory) else memory.status
        if status == (was := has[memory.path]):
            continue
        told = "UPDATE memory SET status = ? WHERE path = ?"
        parts = base.execute(told, (status, memory.path)).rowcount
        rests += parts * ((status == ARCHIVED) - (was == ARCHIVED))
    base.execute("REPLACE INTO meta VALUES (?, ?)", (ARCHIVED, str(rests)))


def _memories(
    wanted: Indexed, blobs: Mapping[str, str], recorded: Mapping[str, Memory]
) -> Iterator[Memory]:
    """Yield the indexed memories, taken from `recorded` if possible, otherwise read from files."""
    left = []
    for path, blob in blobs.items():
        memory = recorded.get(blob)
        if memory is not None and memory.path == path:
            yield memory
        else:
            left.append((path, blob))
    for _, memory in wanted.memories(left):
        yield memory
