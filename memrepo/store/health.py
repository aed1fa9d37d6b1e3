"""What `doctor` asks of git itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memrepo.store import recovery
from memrepo.store.repo import TX, Repository

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo


def git_version(repo: Repo) -> tuple[int, int]:
    """Return the major and minor version of the git program in use."""
    found = re.search(r"(\d+)\.(\d+)", repo.light.ask("version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def object_problems(repo: Repo) -> list[str]:
    """Return what `git fsck` reports of objects that history reaches."""
    done = repo.light.run(("fsck", "--strict", "--no-dangling", "--no-progress"))
    said = done.stdout + (done.stderr if done.returncode else b"")
    lines = said.decode("utf-8", "replace").split("\n")
    problems = [line for line in lines if line and not line.startswith("notice:")]
    # One that a signal ended has found nothing wrong and nothing right.
    return problems or [f"git fsck ended with {done.returncode}"] * (done.returncode != 0)


def interrupted(store: Repository) -> str:
    """Say what a crashed write left behind, or return an empty string."""
    if recovery.load_journal(store.journals) is not None:
        return "a write was interrupted"
    if store.repo.refs.below(TX):
        return "a transaction ref was left behind"
    return ""
