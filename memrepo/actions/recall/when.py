"""The options `--at` and `--valid-at`, resolved to a tree and to memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory

if TYPE_CHECKING:
    from memrepo.core.state import State


class NotYetSetUp(MemrepoError):
    """Raised when a commit is older than the setup of memrepo in this repository."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, commit: str) -> None:
        super().__init__(
            f"{word}: commit {commit[:10]} has no memrepo.toml, there was no memory yet",
            fix="name a later commit or date (`memrepo log` lists commits)",
        )


class NotADate(MemrepoError):
    """Raised when the value of `--valid-at` is not a date."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(
            f"--valid-at {word!r} is not a date",
            fix="write a date as 2026-01-31 or a time as 2026-01-31T09:00:00Z",
        )


def work_at(work: Work, word: str) -> Work:
    """Return a Work on the commit that `REV|DATE` names, with that commit's configuration.

    An empty word returns `work`. A run's id means the merge commit of the run. If the old
    configuration cannot be read, the current one is used. Raises NoSuchMoment, BeforeHistory or
    NotYetSetUp.
    """
    if not word:
        return work
    from memrepo.actions.past.log import merges_of
    from memrepo.config import ConfigError, parse_config
    from memrepo.store.local import find_layout
    from memrepo.store.trace import commit_at
    from memrepo.store.tree import snapshot

    store = work.store
    merge = merges_of(work, [word]).get(word)
    commit = merge.commit if merge else ""
    commit = commit or commit_at(store, work.tree.commit, word, work.config.zone)
    layout = find_layout(store.repo, commit)
    if layout is None:
        raise NotYetSetUp(word, commit)
    tree = snapshot(store.repo, commit, layout)
    try:
        config = parse_config(tree.files[layout.config].decode("utf-8"))
    except (ConfigError, KeyError, UnicodeDecodeError):
        config = work.config
    return work.at(tree, config)


def moment_of(work: Work, word: str) -> datetime:
    """Return the time that `--valid-at` specifies. Raises NotADate."""
    from memrepo.core.times import asked

    try:
        return asked(word, work.config.zone)
    except ValueError as error:
        raise NotADate(word) from error


def true_then(work: Work, state: State, word: str) -> Mapping[str, Memory]:
    """Return the memories that were true in the world at a date, by id, whatever their status."""
    from memrepo.policies.standing import true_at

    return true_at(state.memories, moment_of(work, word), work.config.zone)


def heading(work: Work, word: str, valid_at: str = "") -> list[str]:
    """Return the lines that state to which date an answer refers; none for the present."""
    lines = []
    if word:
        when = work.store.commit_time(work.tree.commit).astimezone(work.config.zone)
        lines.append(f"as of commit {work.tree.commit[:10]}, {when:%Y-%m-%d %H:%M}")
    if valid_at:
        lines.append(f"what was true at {valid_at}")
    return lines
