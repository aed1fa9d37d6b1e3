"""From what a person types after `--at` to a commit: a date along first parents, or a revision."""

from __future__ import annotations

from datetime import datetime, tzinfo

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.moments import asked
from memrepo.store.light import call
from memrepo.store.repo import Repository


class NoSuchMoment(MemrepoError):
    """What was typed is neither a date nor a revision of this repository."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        shown = word if len(word) <= 80 else f"{word[:79]}…"
        super().__init__(
            f"{shown!r} is neither a revision of this repository nor a date",
            fix="name a commit, branch or tag (`memrepo log` lists commits), or write a date as "
            "2026-01-31 or a time as 2026-01-31T09:00:00Z",
        )


class BeforeHistory(MemrepoError):
    """The branch has no commit that is that old."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, first: datetime, zone: tzinfo, *, shallow: bool) -> None:
        said = f"{first.astimezone(zone):%Y-%m-%d %H:%M}"
        super().__init__(
            f"no commit of this branch is as old as {word}: the first is of {said}",
            fix="this clone is shallow: `git fetch --unshallow` brings what is older"
            if shallow
            else f"name a date from {first.astimezone(zone):%Y-%m-%d} on",
        )


def commit_at(store: Repository, head: str, word: str, zone: tzinfo) -> str:
    """Return the commit that `REV|DATE` names.

    A date means the last commit along the first parents of `head` that is not younger; a date
    without a time is the end of that day in the zone. What reads as a date is one: a branch of
    such a name is meant by `refs/heads/<name>`. Raises NoSuchMoment or BeforeHistory.
    """
    try:
        moment = asked(word, zone)
    except ValueError:
        commit = store.resolve(word)
        if not commit:
            raise NoSuchMoment(word) from None
        return commit
    # Git's own reader of dates guesses; the plumbing takes the second itself. None is negative.
    seconds = int(moment.timestamp())
    walk = ("rev-list", "--first-parent")
    found = ""
    if seconds >= 0:
        found = call(store.repo, *walk, "-1", f"--min-age={seconds}", head, "--").strip()
    if not found:
        first = call(store.repo, *walk, "--max-parents=0", head, "--").split()
        roots = first or call(store.repo, *walk, "--reverse", head, "--").split()[:1]
        shallow = call(store.repo, "rev-parse", "--is-shallow-repository").strip() == "true"
        raise BeforeHistory(word, store.commit_time(roots[-1]), zone, shallow=shallow)
    return found
