"""What lies in the work tree uncommitted, told by one `git status` on a copy of git's index.

A file that was written in the second in which git wrote its index cannot be told from an edited one
but by reading it. After a large run each `status` would read all that the run wrote, until somebody
lets git write its index anew, and that takes the lock which a person's `git add` needs. The copy is
memrepo's own: git refreshes it at any time, and keeps its untracked cache in it, so that only
folders that changed are listed again (git-update-index(1)). However old a copy is, what it has
otherwise than HEAD is told as changed: nothing is missed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.store.scratch import scratch

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_PREFIX = "index-"
_WHOLE, _PART = "-whole", "-part"
"""Whether git is to look at the whole work tree: only then it uses the untracked cache."""
_STATUS = (
    "-c",
    "core.untrackedCache=true",
    "-c",
    "core.splitIndex=false",
    # The untracked cache goes by this setting: what an option asks it leaves to a new listing.
    "-c",
    "status.showUntrackedFiles=all",
    "--literal-pathspecs",
    "status",
    "--porcelain",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=all",
)


class Look:
    """One look at a folder of the work tree, which git takes while its asker does other things."""

    def __init__(self, repo: Repo, folder: str) -> None:
        self._git, self._folder = repo.light, folder
        self._copy = _copy(repo, folder)
        whole = self._copy is not None and self._copy.name.endswith(_WHOLE)
        where = () if whole else ("--", folder)
        # Nobody may ever ask what it saw: the repository ends it then.
        self._process = self._git.start(*_STATUS, *where, index=self._copy)

    def paths(self) -> Iterator[str]:
        """Yield the paths that differ from HEAD, staged or not; once. Raises GitFailed."""
        said = self._process.communicate()[0].decode("utf-8", "surrogateescape")
        self._git.end(self._process)
        if self._process.returncode:
            if self._copy:
                with suppress(OSError):  # of another person, whose folder it is
                    self._copy.unlink()
            said = self._git.ask(*_STATUS, "--", self._folder)
        for entry in said.split("\0"):
            if entry[3:].startswith(self._folder):
                yield entry[3:]


def _copy(repo: Repo, folder: str) -> Path | None:
    """Return the copy of git's index as it is now, or None where there can be none."""
    home = Path(repo.git_dir)
    try:
        with (home / "index").open("rb") as index:
            seen = os.fstat(index.fileno())
            name = f"{_PREFIX}{seen.st_mtime_ns:x}-{seen.st_size:x}-{seen.st_ino:x}"
            for kind in (_WHOLE, _PART):
                if (home / "memrepo" / (name + kind)).exists():
                    return home / "memrepo" / (name + kind)
            return _renewed(home / "memrepo", name, index.read(), folder, seen.st_mtime_ns)
    except OSError:
        return None  # not ours to write: git's own index tells the same, if not as soon


def _renewed(home: Path, name: str, data: bytes, folder: str, when: int) -> Path:
    """Put a copy in the place of all older ones."""
    # Bytes 8 to 12 tell the entries. Names may be shortened by what they share with the one before.
    mostly_ours = data.count(folder.encode()) * 2 > int.from_bytes(data[8:12], "big")
    home.mkdir(exist_ok=True)
    made = scratch(home, _PREFIX, data)
    # What git believes of a file depends on when the index was written: not before the original.
    os.utime(made, ns=(when, when))
    old = [path for path in home.glob(f"{_PREFIX}*") if path != made]
    copy = made.rename(home / (name + (_WHOLE if mostly_ours else _PART)))
    for path in old:
        path.unlink(missing_ok=True)
    return copy
