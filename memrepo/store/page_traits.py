"""Keep what is known of each memory for the first page, so that runs need not compute it again.

A record depends only on the content of its memory and on memrepo's tables. Computing one takes a
millisecond, reading it a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from memrepo.core.memory import Memory
from memrepo.policies.first_page import dump_traits, known_traits, load_traits
from memrepo.store.lock import scratch

_NAME = "first-page"


def load_page_traits(folder: Path) -> int:
    """Load the stored records. Return the number of records that are known now."""
    with suppress(OSError):
        load_traits((folder / _NAME).read_bytes())
    return len(known_traits())


def save_page_traits(folder: Path, memories: Iterable[Memory]) -> None:
    """Store the records of these memories."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch(folder, f".{_NAME}.", dump_traits(memories)).replace(folder / _NAME)
