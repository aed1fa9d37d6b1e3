"""What git is configured to do and who works there, and memrepo's settings of one clone.

Everything is asked in one call: git joins its files, their includes and the environment.

Who works in a repository: git's own configured name and e-mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

WORKSPACE = "memrepo.workspace"
_CLONES = ("local", "worktree")
_NOT_SET = 5
_TRUE = ("true", "yes", "on")


class Config:
    """Git's configuration as one repository sees it: of a name given twice the last one counts."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    @cached_property
    def _rows(self) -> list[tuple[str, str, str | None]]:
        """Return scope, name and value; None is that of a name that stands without one."""
        said = self._repo.light.ask("config", "--list", "-z", "--show-scope").split("\0")
        rows = []
        for scope, entry in zip(said[0::2], said[1::2], strict=False):
            name, given, value = entry.partition("\n")
            rows.append((scope, name, value if given else None))
        return rows

    def get(self, name: str) -> str:
        """Return a setting, whoever made it; an empty text where none did."""
        wanted = _spelled(name)
        return next((v or "" for _, n, v in reversed(self._rows) if n == wanted), "")

    def is_on(self, name: str) -> bool:
        """Tell whether a setting is true, as git reads it."""
        wanted = _spelled(name)
        said = next((v for _, n, v in reversed(self._rows) if n == wanted), "")
        return said is None or said.lower() in _TRUE or bool(re.fullmatch(r"-?0*[1-9]\d*", said))

    def path(self, name: str) -> str:
        """Return a setting that is a path; `~` and `%(prefix)` are git's to resolve."""
        found = self.get(name)
        if not found.startswith(("~", "%(")):
            return found
        words = ("config", "--type=path", "--get", name)
        return self._repo.light.ask(*words, no=1).removesuffix("\n")

    def of_clone(self) -> dict[str, str]:
        """Return what was set in this clone alone, by name."""
        return {name: value or "" for scope, name, value in self._rows if scope in _CLONES}

    def forget(self) -> None:
        """Ask git anew: a setting was changed."""
        self.__dict__.pop("_rows", None)


def _spelled(name: str) -> str:
    """Return a name as git lists it: the part in the middle keeps its case."""
    first, *middle, last = name.split(".")
    return ".".join([first.lower(), *middle, last.lower()])


def workspace(repo: Repo) -> Path | None:
    """Return the agent workspace that `sources/` mirrors, or None where there is none."""
    found = get(repo, WORKSPACE)
    return Path(str(repo.working_tree_dir)) / found if found else None


def set_workspace(repo: Repo, path: Path) -> None:
    """Record the workspace of this clone."""
    put(repo, WORKSPACE, str(path))


def get(repo: Repo, key: str) -> str:
    """Return a per-clone setting, or an empty text."""
    return repo.config.of_clone().get(_spelled(key), "")


def local(repo: Repo) -> dict[str, str]:
    """Return every setting of memrepo's in this clone by its name; the last of a name counts."""
    found = repo.config.of_clone()
    return {name: value for name, value in found.items() if name.startswith("memrepo.")}


def some(repo: Repo, names: Iterable[str]) -> dict[str, str]:
    """Return those of some settings that this clone has; git is asked only if it may have any."""
    wanted = frozenset(names)
    if not _may_have(repo, wanted):
        return {}
    return {name: value for name, value in local(repo).items() if name in wanted}


def _may_have(repo: Repo, names: Iterable[str]) -> bool:
    """Tell whether one may be set: all parts of its name stand in the file as they are."""
    try:
        text = (Path(repo.common_dir) / "config").read_text("utf-8").lower()
    except (OSError, UnicodeDecodeError):
        return True
    return "include" in text or any(
        all(part in text for part in name.lower().split(".")[1:]) for name in names
    )


def put(repo: Repo, key: str, value: str) -> None:
    """Set a per-clone setting."""
    repo.light.ask("config", "--local", key, value)
    repo.config.forget()


def drop(repo: Repo, key: str) -> None:
    """Remove a per-clone setting; one that is not set is no error."""
    repo.light.ask("config", "--local", "--unset-all", key, no=_NOT_SET)
    repo.config.forget()


def person(repo: Repo) -> tuple[str, str]:
    """Return the configured `user.name` and `user.email`; empty texts where none is set."""
    return repo.config.get("user.name"), repo.config.get("user.email")


def author(repo: Repo) -> str:
    """Return `Name <email>` for commits that a person asks for, or an empty text."""
    name, email = (part.translate(_UNSAFE).strip() for part in person(repo))
    return f"{name or email} <{email}>" if email else ""


_UNSAFE = str.maketrans(dict.fromkeys("<>\n\0", ""))
