"""memrepo: an AI agent's memory as plain markdown files in a git repository."""

from __future__ import annotations

TYPE_CHECKING = False
"""Type checkers treat this name as true. Importing `typing` would slow down `--version`."""
if TYPE_CHECKING:
    from memrepo.faces.python import (
        Entry,
        Hit,
        MemrepoError,
        OpenRepository,
        Source,
        open_repository,
    )

__version__ = "0.1.0"
__all__ = (
    "Entry",
    "Hit",
    "MemrepoError",
    "OpenRepository",
    "Source",
    "open_repository",
)


def __getattr__(name: str) -> object:
    """Load the Python API on first use, so that `memrepo --version` does not import it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from memrepo.faces import python as api

    return getattr(api, name)
