"""The journal of one write: enough for the next command to finish or drop it after a crash."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

NAME = "journal.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """A write under way: `tip` is empty until all of its objects are in the repository."""

    branch: str
    base: str
    ref: str
    tip: str = ""


def save(folder: Path, journal: Journal) -> None:
    """Write the journal so that it is either whole on disk or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{NAME}.new"
    with draft.open("w", encoding="utf-8") as handle:
        json.dump(asdict(journal), handle)
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(folder / NAME)


def load(folder: Path) -> Journal | None:
    """Return the journal of an interrupted write, or None; an unreadable one counts as none."""
    try:
        return Journal(**json.loads((folder / NAME).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def clear(folder: Path) -> None:
    """Forget the journal: the write is done or dropped."""
    (folder / NAME).unlink(missing_ok=True)
