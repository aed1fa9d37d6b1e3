"""What lets git itself join memories in a clone: attributes and settings that no clone carries.

Git asks our merge driver for each file that both sides changed. With the strategy `recursive` the
setting `merge.renames=false` is obeyed, and no edit lands on a memory that looks alike.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.layout import AREAS, Layout
from memrepo.store import settings
from memrepo.store.birth import append_local
from memrepo.store.hooks import PROGRAM

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_DRIVER = "merge.memrepo.driver"
_WANTED: Mapping[str, str] = {"pull.twohead": "recursive", "merge.renames": "false"}
_TOLD: Mapping[str, str] = {
    "merge.memrepo.name": "memories, joined field by field",
    # A hunk is headed by what tells one memory from another.
    "diff.memrepo.xfuncname": "^((title|subject|id): .*|#+ .*)$",
}


def wanted_attributes(layout: Layout, *, adopted: bool) -> list[str]:
    """Return the lines for `.git/info/attributes`; when adopting, for memrepo's folders only."""
    if not adopted:
        return ["*.md merge=memrepo diff=memrepo"]
    folders = [f"/{layout.prefix}{area}/**/*.md" for area in AREAS]
    return [f"{folder} merge=memrepo diff=memrepo -text" for folder in folders]


def is_adopted(repo: Repo, layout: Layout) -> bool:
    """Tell whether others' files live here too: the repository carries no attributes of ours."""
    path = Path(str(repo.working_tree_dir)) / ".gitattributes"
    try:
        return bool(layout.prefix) or "*.md -merge" not in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return True


def install_drivers(repo: Repo, layout: Layout, *, adopted: bool) -> str:
    """Set up the drivers in this clone; say what is left as a person set it. Idempotent."""
    append_local(repo, "attributes", wanted_attributes(layout, adopted=adopted))
    for key, value in {**_TOLD, _DRIVER: f"{_program(repo)} merge-driver %O %A %B %L %P"}.items():
        if settings.get(repo, key) != value:
            settings.put(repo, key, value)
    for key, value in _WANTED.items():
        if not settings.get(repo, key):
            settings.put(repo, key, value)
    return driver_state(repo, layout, adopted=adopted)


def driver_state(repo: Repo, layout: Layout, *, adopted: bool) -> str:
    """Say why git would not join memories field by field here, or return an empty string."""
    path = Path(repo.common_dir) / "info" / "attributes"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if missing := [w for w in wanted_attributes(layout, adopted=adopted) if w not in lines]:
        return (
            f"`git merge` does not know memrepo's merge driver: info/attributes lacks {missing[0]}"
        )
    driver = settings.get(repo, _DRIVER)
    if not driver:
        return "`git merge` does not know memrepo's merge driver"
    program = next(iter(shlex.split(driver)), "")
    if shutil.which(program) is None:
        return f"the merge driver's program is gone: {program}"
    for key, value in _WANTED.items():
        if (found := settings.get(repo, key)) != value:
            return f"{key} is {found or 'not set'}, expected {value}: git may follow renames"
    return ""


def _program(repo: Repo) -> str:
    """Return how to start memrepo from a shell, with a path where one is known."""
    beside = Path(sys.executable).with_name("memrepo")
    known = settings.get(repo, PROGRAM)
    places = (str(beside) if beside.exists() else "", known if Path(known).is_file() else "")
    return shlex.quote(next(filter(None, places), "memrepo"))
