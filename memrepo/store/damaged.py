"""Taking away a cache that cannot be read: it holds nothing that cannot be built again."""

from __future__ import annotations

from pathlib import Path


def remove(path: Path) -> None:
    """Delete an SQLite file with the files that SQLite keeps beside it."""
    for tail in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
