"""Who works in a repository: git's own configured name and e-mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo


def person(repo: Repo) -> tuple[str, str]:
    """Return the configured `user.name` and `user.email`; empty texts where none is set."""
    return repo.config.get("user.name"), repo.config.get("user.email")


def author(repo: Repo) -> str:
    """Return `Name <email>` for commits that a person asks for, or an empty text."""
    name, email = (part.translate(_UNSAFE).strip() for part in person(repo))
    return f"{name or email} <{email}>" if email else ""


_UNSAFE = str.maketrans(dict.fromkeys("<>\n\0", ""))
