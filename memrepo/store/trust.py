"""Which `.pre-commit-config.yaml` a person trusts in this clone: it names programs to be run."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.store import settings

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

TRUSTED = "memrepo.trusted"
CONFIG = ".pre-commit-config.yaml"


def untrusted(repo: Repo) -> str:
    """Say why the configuration of hooks needs a look; an empty string where it needs none."""
    found = _digest(repo)
    known = settings.get(repo, TRUSTED)
    if not found or found == known:
        return ""
    how = "has changed since it was trusted" if known else "was never trusted in this clone"
    return f"{CONFIG} {how}: it names programs that hooks run (`memrepo trust`)"


def trust(repo: Repo) -> None:
    """Record the configuration as it is now."""
    if digest := _digest(repo):
        settings.put(repo, TRUSTED, digest)


def text_of(repo: Repo) -> str:
    """Return the configuration as it lies in the work tree, or an empty string."""
    path = Path(str(repo.working_tree_dir)) / CONFIG
    return path.read_text("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""


def _digest(repo: Repo) -> str:
    text = text_of(repo)
    return sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""
