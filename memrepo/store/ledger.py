"""The access ledger: which memory was retrieved when, and when sessions began.

Events wait in a file of this clone, the buffer. A run closes the buffer into a segment, and the
manifest of the run has the segments that no earlier manifest has, so they travel with the history.
A segment is counted once by its name, however many manifests have it. A file in the clone caches
the sum of all segments at HEAD.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from memrepo.core.access import Accesses, Event, fold, united
from memrepo.store.git import keep_newest, lock
from memrepo.store.repo import Repository

BUFFER = "access.jsonl"
NAME = "access.json"
FULL_BYTES = 10_000
"""Size of the buffer at which `record` closes it. An event has about 100 bytes."""
KEPT = 100
"""Number of closed segments that this clone keeps, for the case that a run is reverted."""
WAIT_S = 10.0
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Sum(msgspec.Struct, kw_only=True):
    """The cached sum of the segments in the manifests of a tree, whose folder has the id `runs`."""

    runs: str = ""
    counted: dict[str, str] = msgspec.field(default_factory=dict)
    names: set[str] = msgspec.field(default_factory=set)
    total: Accesses = msgspec.field(default_factory=Accesses)


class _Manifest(msgspec.Struct):
    used: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class Ledger:
    """The access ledger of an open repository."""

    def __init__(self, store: Repository) -> None:
        self._store, self.folder = store, store.folder

    def record(self, events: Iterable[Event]) -> None:
        """Append events to the buffer. They are on disk when the call returns.

        Raises Locked if another process locks the ledger for too long, or OSError if the buffer
        cannot be written.
        """
        data = b"".join(msgspec.json.encode(event) + b"\n" for event in events)
        if not data:
            return
        with lock(self.folder, "access", wait_s=WAIT_S):
            with (self.folder / BUFFER).open("ab") as buffer:
                # The line end first: a crash may have left half a line, and empty ones are skipped.
                os.write(buffer.fileno(), b"\n" + data)
                is_full = buffer.seek(0, os.SEEK_END) >= FULL_BYTES
            if is_full:
                self._close()

    def close(self) -> None:
        """Close the buffer, so that the next manifest has its events."""
        if (self.folder / BUFFER).exists():
            with lock(self.folder, "access", wait_s=WAIT_S):
                self._close()

    def _close(self) -> None:
        with suppress(FileNotFoundError):  # another process has just closed it
            last = max((int(path.stem[5:]) for path in self._closed()), default=0)
            (self.folder / BUFFER).rename(self.folder / f"used-{last + 1:08d}.jsonl")
            keep_newest(self.folder, "used-*.jsonl", KEPT)

    def _closed(self) -> list[Path]:
        return sorted(self.folder.glob("used-*.jsonl"))

    def unrecorded(self) -> dict[str, object]:
        """Return {name: segment} of the closed segments that no manifest at HEAD has, as JSON."""
        found = self._waiting(self._recorded().names if self._closed() else set())
        return {name: msgspec.to_builtins(segment) for name, segment in found.items()}

    def _waiting(self, known: set[str]) -> dict[str, Accesses]:
        from memrepo.store.settings import clone_id

        names = {f"{clone_id(self._store.repo)}/{path.stem[5:]}": path for path in self._closed()}
        return {name: _read_events(path) for name, path in names.items() if name not in known}

    def accesses(self) -> Accesses:
        """Return the current accounts of all memories, recorded or not."""
        known = self._recorded()
        waiting = self._waiting(known.names).values()
        return united([known.total, *waiting, _read_events(self.folder / BUFFER)])

    def _recorded(self) -> _Sum:
        """Return the sum of the segments in the manifests at HEAD, from the cache if possible."""
        tree = self._store.snapshot(self._store.head())
        area = tree.layout.area("runs")
        runs = tree.files.id_of(area.rstrip("/"))
        if not runs:
            return _Sum()
        known, cache = _Sum(), self.folder / NAME
        with suppress(OSError, *_UNREADABLE):
            known = msgspec.json.decode(cache.read_bytes(), type=_Sum)
        if known.runs == runs:
            return known
        files = tree.files.below(area)
        if not known.counted.items() <= files.items():
            known = _Sum()  # a manifest is gone: count all
        new = {path: blob for path, blob in files.items() if path not in known.counted}
        data = tree.files.many(new.values())
        found = (pair for path in sorted(new) for pair in segments_of(data[new[path]] or b"{}"))
        fresh = {name: one for name, one in found if name not in known.names}
        known = _Sum(
            runs=runs,
            counted=dict(files),
            names={*known.names, *fresh},
            total=united([known.total, *fresh.values()]),
        )
        with suppress(OSError):  # the folder is not writable
            draft = cache.with_name(f"{NAME}.{os.getpid()}.new")
            draft.write_bytes(msgspec.json.encode(known))
            draft.replace(cache)
        return known


def _read_events(path: Path) -> Accesses:
    """Count the events in a file of this clone, skipping incomplete lines."""
    found = []
    with suppress(OSError):
        for line in path.read_bytes().splitlines():
            with suppress(*_UNREADABLE):
                found.append(msgspec.json.decode(line, type=Event))
    return fold(found)


def segments_of(manifest: bytes) -> Iterator[tuple[str, Accesses]]:
    """Yield the name and content of each segment in a manifest, leaving out damaged ones."""
    used: Mapping[str, Any] = {}
    with suppress(*_UNREADABLE):
        used = msgspec.json.decode(manifest, type=_Manifest).used
    for name, segment in used.items():
        with suppress(*_UNREADABLE):
            yield name, msgspec.json.decode(segment, type=Accesses)
