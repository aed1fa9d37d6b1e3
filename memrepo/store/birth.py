"""Making a repository: `git init` where there is none, and local settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.layout import Layout
from memrepo.store.gitenv import NoWorkTree, isolate, known, refuse_no_git
from memrepo.store.repo import CannotWork, Repository

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo


@contextmanager
def born(where: Path, layout: Layout) -> Iterator[tuple[Repository, bool]]:
    """Open the repository whose top is exactly this folder, made if need be; True when made."""
    refuse_no_git()
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    from memrepo.store.door import Door, Found

    isolate()
    try:
        Found(where).close()
        made = False
    except (InvalidGitRepositoryError, NoSuchPathError):
        # Also where a `git init` was cut short: to repeat it is safe.
        made = True
        where.mkdir(parents=True, exist_ok=True)
        git = Door(where)
        branch = git.config("--default=main", "--get", "init.defaultBranch") or "main"
        git.init("--quiet", f"--initial-branch={branch}")
    try:
        with Found(where) as found:
            repo = known(found)
    except NoWorkTree as error:
        raise CannotWork(f"{where}: {error}") from error
    try:
        yield Repository(repo, layout), made
    finally:
        repo.close()


def append_local(repo: Repo, name: str, lines: list[str]) -> None:
    """Add lines to a file below `.git/info/` that it does not hold yet."""
    path = Path(repo.common_dir) / "info" / name
    path.parent.mkdir(exist_ok=True)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    new = [line for line in lines if line not in old.splitlines()]
    if new:
        gap = "" if not old or old.endswith("\n") else "\n"
        path.write_text(old + gap + "\n".join(new) + "\n", encoding="utf-8")
