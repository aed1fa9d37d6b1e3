"""Making a repository: `git init` where there is none, local settings, hooks that call us."""

from __future__ import annotations

import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.layout import Layout
from memrepo.store.gitenv import git_failures, isolate
from memrepo.store.repo import CannotWork, Repository

if TYPE_CHECKING:
    from git import Repo

PROGRAM = "memrepo.program"


@contextmanager
def born(where: Path, layout: Layout) -> Iterator[tuple[Repository, bool]]:
    """Open the repository whose top is exactly this folder, made if need be; True when made."""
    from git import Repo

    isolate()
    made = not _is_repository(where)
    if made:
        # Also where a `git init` was cut short: to repeat it is safe.
        where.mkdir(parents=True, exist_ok=True)
        with git_failures():
            repo = Repo.init(where, initial_branch=_first_branch())
    else:
        repo = Repo(where)
    try:
        if repo.bare:
            raise CannotWork(f"{where}: found a bare repository, expected one with a work tree")
        with git_failures():
            yield Repository(repo, layout), made
    finally:
        repo.close()


def _is_repository(where: Path) -> bool:
    from git import Repo
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    try:
        Repo(where).close()
    except (InvalidGitRepositoryError, NoSuchPathError):
        return False
    return True


def _first_branch() -> str:
    from git import Git

    return str(Git().config("--get", "init.defaultBranch", with_exceptions=False)) or "main"


def append_local(repo: Repo, name: str, lines: list[str]) -> None:
    """Add lines to a file below `.git/info/` that it does not hold yet."""
    path = Path(repo.common_dir) / "info" / name
    path.parent.mkdir(exist_ok=True)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    new = [line for line in lines if line not in old.splitlines()]
    if new:
        gap = "" if not old or old.endswith("\n") else "\n"
        path.write_text(old + gap + "\n".join(new) + "\n", encoding="utf-8")


def hook_state(repo: Repo, shim: Path) -> str:
    """Say why our pre-commit hook does not run in this clone, or return an empty string."""
    if repo.git.config("--get", "core.hooksPath", with_exceptions=False):
        return "core.hooksPath is set: add `memrepo check --staged` to the pre-commit hook there"
    target = _hook(repo)
    if not target.exists():
        return "no pre-commit hook is installed"
    found = target.read_bytes()
    if b"memrepo" not in found:
        return "a pre-commit hook stands already: add `memrepo check --staged` to it"
    return "" if found == shim.read_bytes() else "the pre-commit hook is another version's"


def _hook(repo: Repo) -> Path:
    return Path(repo.common_dir) / "hooks" / "pre-commit"


def install_hook(repo: Repo, shim: Path) -> str:
    """Copy our pre-commit shim into the clone's hooks; say why not where it cannot be."""
    target = _hook(repo)
    foreign = target.exists() and b"memrepo" not in target.read_bytes()
    if foreign or repo.git.config("--get", "core.hooksPath", with_exceptions=False):
        return hook_state(repo, shim)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(shim.read_bytes())
    target.chmod(target.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    program = Path(sys.executable).with_name("memrepo")
    found = str(program) if program.exists() else shutil.which("memrepo")
    if found:
        # GUI clients and cron start hooks without the PATH of a virtual environment.
        repo.git.config("--local", PROGRAM, found)
    return ""
