"""Taking away what is kept beside the repository: a cache that cannot be read, the oldest notes."""

from __future__ import annotations

from pathlib import Path


def remove(path: Path) -> None:
    """Delete an SQLite file with the files that SQLite keeps beside it."""
    for tail in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + tail).unlink(missing_ok=True)


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Delete all but the newest files of a pattern, by time and name."""
    try:
        found = sorted(folder.glob(pattern), key=lambda path: (path.stat().st_mtime, path.name))
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:
        pass  # somebody else tidies up: the next one does
