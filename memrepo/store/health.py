"""What `doctor` asks of git itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memrepo.store import journal
from memrepo.store.repo import TX, Repository

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo


def git_version(repo: Repo) -> tuple[int, int]:
    """Return the major and minor version of the git program in use."""
    found = re.search(r"(\d+)\.(\d+)", str(repo.git.version()))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def object_problems(repo: Repo) -> list[str]:
    """Return what `git fsck` reports of objects that history reaches."""
    from git.exc import GitCommandError

    try:
        said = str(repo.git.fsck("--strict", "--no-dangling", "--no-progress"))
    except GitCommandError as error:
        said = f"{error.stdout}\n{error.stderr}"
    return [line for line in said.split("\n") if line and not line.startswith("notice:")]


def interrupted(store: Repository) -> str:
    """Say what a crashed write left behind, or return an empty string."""
    if journal.load(store.journals) is not None:
        return "a write was interrupted"
    if store.repo.git.for_each_ref("--count=1", TX):
        return "a transaction ref was left behind"
    return ""
