"""The journal of one write: enough for the next command to finish or drop it after a crash.

It lies in the git directory of the work tree that is written: with linked work trees each has
its own, while locks and refs are shared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import asdict

NAME = "journal.json"


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A write under way: `tip` is empty until all of its objects are in the repository.

    `adopted` are files that lay in the work tree with the new content before the write, `kept`
    those that were staged with it too: they are a person's, and dropping the write leaves them.
    """

    branch: str
    base: str
    ref: str
    tip: str = ""
    adopted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


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
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return Journal(
            branch=str(found["branch"]),
            base=str(found["base"]),
            ref=str(found["ref"]),
            tip=str(found.get("tip", "")),
            adopted=tuple(found.get("adopted", ())),
            kept=tuple(found.get("kept", ())),
        )
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def clear(folder: Path) -> None:
    """Forget the journal: the write is done or dropped."""
    for name in (NAME, f"{NAME}.new"):
        (folder / name).unlink(missing_ok=True)


def written_at(folder: Path) -> float:
    """Return when the journal was last written, as a file time in seconds."""
    return (folder / NAME).stat().st_mtime


def elsewhere(common: Path, own: Path) -> Iterator[Journal]:
    """Yield the journals of the other work trees of the same repository."""
    for folder in (common / "memrepo", *sorted(common.glob("worktrees/*/memrepo"))):
        if folder.resolve() != own.resolve() and (left := load(folder)) is not None:
            yield left
