"""The hooks of a clone: copies of one shim that asks the installed program.

What stood there before is kept and asked first. Where `core.hooksPath` leads elsewhere git runs
nothing from the clone's own folder: `take_over` sets it back, and the shim asks the hooks there.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.store import settings

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

PROGRAM = "memrepo.program"
HOOKS_BEFORE = "memrepo.hooksbefore"
HOOKS = (
    "pre-commit",
    "pre-merge-commit",
    "commit-msg",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-push",
)
_MARK = b"#!/bin/sh\n# memrepo:"
CALL = '`memrepo hooks run NAME "$@"` in the hook of each name there asks memrepo'
_KEPT = ".before-memrepo"
_LEGACY = ".legacy"  # where the pre-commit framework puts a hook that it asks first


def states(repo: Repo, shim: Path) -> Mapping[str, str]:
    """Say of each hook why it does not run in this clone; an empty string where it does.

    A hook where `core.hooksPath` leads counts when it asks memrepo: `memrepo hooks run NAME`.
    """
    wanted = shim.read_bytes()
    elsewhere = other_path(repo)
    if elsewhere:
        said = f"core.hooksPath is {elsewhere}, so git runs no hook of this clone's"
        folder = Path(str(repo.working_tree_dir)) / elsewhere
        return {name: "" if _asks(folder / name, name) else said for name in HOOKS}
    return {name: _state(_folder(repo) / name, wanted) for name in HOOKS}


def wrong(repo: Repo, shim: Path) -> str:
    """Say on one line which hooks do not run and why; an empty string where all do."""
    found = {name: said for name, said in states(repo, shim).items() if said}
    if not found:
        return ""
    names = "" if len(found) == len(HOOKS) else f"{', '.join(found)}: "
    mend = CALL if in_tree(repo) else "`memrepo hooks install`"
    return f"{names}{next(iter(found.values()))} ({mend})"


def _asks(path: Path, name: str) -> bool:
    """Tell whether somebody's own hook runs ours."""
    runs = path.is_file() and bool(path.stat().st_mode & stat.S_IXUSR)
    return runs and f"hooks run {name}".encode() in path.read_bytes()


def _state(path: Path, wanted: bytes) -> str:
    for place in (path, path.with_name(path.name + _LEGACY)):
        found = place.read_bytes() if place.is_file() else b""
        if found == wanted:
            return "" if place.stat().st_mode & stat.S_IXUSR else "is not executable"
        if found.startswith(_MARK):
            return "is another version's"
    return "is another program's" if path.exists() else "is not installed"


def other_path(repo: Repo) -> str:
    """Return where `core.hooksPath` leads, if not to the clone's own folder."""
    found = repo.config.path("core.hooksPath")
    if not found:
        return ""
    place = Path(str(repo.working_tree_dir)) / found
    return "" if place.resolve() == _folder(repo).resolve() else found


def in_tree(repo: Repo) -> str:
    """Return where `core.hooksPath` leads when that is in the work tree, which others may write."""
    found = other_path(repo)
    top = Path(str(repo.working_tree_dir)).resolve()
    return found if found and (top / found).resolve().is_relative_to(top) else ""


def install(repo: Repo, shim: Path, *, dry_run: bool = False) -> list[str]:
    """Copy the shim under the name of each hook; return the hooks that are asked first."""
    folder, kept = _folder(repo), []
    for name in HOOKS:
        path = folder / name
        aside = path.with_name(name + _KEPT)
        theirs = path.exists() and not (path.is_file() and path.read_bytes().startswith(_MARK))
        if theirs and not _state(path, shim.read_bytes()):
            continue  # the pre-commit framework asks ours first
        if theirs or aside.exists():
            kept.append(name)
        if not dry_run:
            folder.mkdir(exist_ok=True)
            if theirs:
                path.replace(aside)
            path.unlink(missing_ok=True)  # never written through a link
            path.write_bytes(shim.read_bytes())
            path.chmod(0o755)
    if not dry_run:
        name_program(repo)
    return kept


def take_over(repo: Repo) -> str:
    """Let git run this clone's own hooks; return the folder whose hooks they ask first, if any."""
    elsewhere = other_path(repo)
    if elsewhere:
        settings.put(repo, HOOKS_BEFORE, str(Path(str(repo.working_tree_dir)) / elsewhere))
        settings.put(repo, "core.hooksPath", str(_folder(repo)))
    return elsewhere


def name_program(repo: Repo) -> None:
    """Record where the running memrepo is, unless one is recorded that is there."""
    import shutil

    program = Path(sys.executable).with_name("memrepo")
    found = str(program) if program.exists() else shutil.which("memrepo")
    known = settings.get(repo, PROGRAM)
    if found and not (known and Path(known).is_file()):
        # GUI clients and cron start hooks without the PATH of a virtual environment.
        settings.put(repo, PROGRAM, found)


def _folder(repo: Repo) -> Path:
    return Path(repo.common_dir) / "hooks"
