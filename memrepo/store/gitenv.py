"""The one place that reads git's environment and opens a repository with GitPython."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.errors import MemrepoError
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout

if TYPE_CHECKING:
    from git import Repo

# What `git rev-parse --local-env-vars` names, but for configuration given on a command line:
# inherited from a hook or an alias these would point our git processes at another repository.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_INDEX_FILE",
)  # fmt: skip


class NotARepository(MemrepoError):
    """The folder is not in a git repository, or the repository is not one of memrepo's."""

    def __init__(self, where: Path, what: str) -> None:
        super().__init__(
            f"{where}: {what}",
            fix="make one with `memrepo init`, or name its folder with -C",
        )


def isolate(*, keep_index: bool = False) -> None:
    """Drop git's repository variables from this process, so that paths decide what is opened.

    `keep_index` is for hooks: `git commit -a` and partial commits work on an index of their own.
    """
    for name in _LOCAL:
        if not (keep_index and name == "GIT_INDEX_FILE"):
            os.environ.pop(name, None)
    # No command of ours may stop to ask for a password or open an editor.
    os.environ.setdefault("GIT_TERMINAL_PROMPT", "0")
    os.environ["GIT_EDITOR"] = "true"
    # Content is read by object id; a replacement or a lazy index refresh must not interfere.
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"


@contextmanager
def opened(where: Path, *, keep_index: bool = False) -> Iterator[Repo]:
    """Open the git repository that holds a folder; raises NotARepository."""
    from git import Repo
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    isolate(keep_index=keep_index)
    try:
        repo = Repo(where, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError) as error:
        raise NotARepository(where, "found no git repository here or above") from error
    try:
        if repo.bare or repo.working_tree_dir is None:
            raise NotARepository(where, "found a bare repository, expected one with a work tree")
        yield repo
    finally:
        repo.close()


def find_layout(repo: Repo, commit: str) -> Layout | None:
    """Return the layout a commit's tree has, or None where memrepo was never initialised."""
    for prefix in ("", ADOPTED_PREFIX):
        if repo.git.ls_tree("--name-only", commit, "--", prefix + CONFIG_NAME):
            return Layout(prefix)
    return None
