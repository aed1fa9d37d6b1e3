"""A new file beside the one whose place it is to take.

As `tempfile` makes them, which takes longer to load than all else that a command needs of the
library.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def scratch(folder: Path, prefix: str, data: bytes) -> Path:
    """Write bytes to a new file that only its owner reads, and return its path."""
    path = folder / f"{prefix}{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return path
