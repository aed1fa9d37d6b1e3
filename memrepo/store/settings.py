"""Per-clone settings in `.git/config`, which no clone carries: outside references live here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.store.light import ask

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

WORKSPACE = "memrepo.workspace"


def workspace(repo: Repo) -> Path | None:
    """Return the agent workspace that `sources/` mirrors, or None where there is none."""
    found = get(repo, WORKSPACE)
    return Path(str(repo.working_tree_dir)) / found if found else None


def set_workspace(repo: Repo, path: Path) -> None:
    """Record the workspace of this clone."""
    repo.git.config("--local", WORKSPACE, str(path))


def get(repo: Repo, key: str) -> str:
    """Return a per-clone setting, or an empty text."""
    return ask(repo, "config", "--local", "--get", key, forgive=True).removesuffix("\n")


def local(repo: Repo) -> dict[str, str]:
    """Return every setting of memrepo's in this clone by its name; the last of a name counts."""
    said = repo.light.ask("config", "--local", "--list", "-z")
    pairs = (entry.partition("\n") for entry in said.split("\0"))
    return {name: value for name, _, value in pairs if name.startswith("memrepo.")}


def some(repo: Repo, names: Iterable[str]) -> dict[str, str]:
    """Return those of some settings that this clone has; git is asked only if it may have any."""
    wanted = frozenset(names)
    if not _may_have(repo, wanted):
        return {}
    return {name: value for name, value in local(repo).items() if name in wanted}


def _may_have(repo: Repo, names: Iterable[str]) -> bool:
    """Tell whether one may be set: the last part of its name stands in the file as it is."""
    try:
        text = (Path(repo.common_dir) / "config").read_text("utf-8").lower()
    except (OSError, UnicodeDecodeError):
        return True
    return "include" in text or any(name.rsplit(".", 1)[-1] in text for name in names)


def put(repo: Repo, key: str, value: str) -> None:
    """Set a per-clone setting."""
    repo.git.config("--local", key, value)


def drop(repo: Repo, key: str) -> None:
    """Remove a per-clone setting; one that is not set is no error."""
    repo.git.config("--local", "--unset-all", key, with_exceptions=False)
