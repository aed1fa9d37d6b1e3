"""Which clone this is: an id that no other clone has, and the name that a person gave it.

The id lies in the common git directory, which no clone and no push carries, together with the host
and inode it was made for. Copied with its folder it fits neither, and a new one is made.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.ids import digest
from memrepo.store import settings
from memrepo.store.lock import lock

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

CLONE = "memrepo.clone"
NAME = "clone.json"
_DIGITS = 16
_WAIT_S = 10.0


def clone_id(repo: Repo) -> str:
    """Return this clone's id, 16 hex digits, made when it is first asked for."""
    common = Path(repo.common_dir)
    folder = common / "memrepo"
    here = {"host": os.uname().nodename, "inode": common.stat().st_ino}
    if found := _read(folder / NAME, here):
        return found
    with lock(folder, "clone", wait_s=_WAIT_S):
        if found := _read(folder / NAME, here):
            return found
        draft = folder / f"{NAME}.new"
        draft.write_text("", encoding="utf-8")
        # The moment at which the file was made tells two clones of one place apart.
        made = draft.stat()
        id_ = digest([*here.values(), str(common), made.st_ino, made.st_mtime_ns])[:_DIGITS]
        draft.write_text(json.dumps({"id": id_, **here}) + "\n", encoding="utf-8")
        draft.replace(folder / NAME)
    return id_


def clone_name(repo: Repo) -> str:
    """Return the name that `git config memrepo.clone` gives this clone, or its id."""
    return settings.get(repo, CLONE) or clone_id(repo)


def is_called(repo: Repo, name: str) -> bool:
    """Tell whether a name is this clone's, or its id."""
    return name in (settings.get(repo, CLONE), clone_id(repo))


def _read(path: Path, here: dict[str, object]) -> str:
    """Return the id on record if it was made here; an unreadable record counts as none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        same = all(found.get(key) == value for key, value in here.items())
        return str(found["id"]) if same else ""
    except (FileNotFoundError, ValueError, KeyError, AttributeError):
        return ""
