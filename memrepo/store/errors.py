"""The errors of the store, and its problems. Their texts are in `messages.toml`, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.problems import Problem


@cache
def _texts() -> Mapping[str, Any]:
    import tomllib

    return tomllib.loads(Path(__file__).with_name("messages.toml").read_text(encoding="utf-8"))


def problem(
    rule: str, path: str, variant: str = "", *, line: int = 0, column: int = 0, **values: object
) -> Problem:
    """Return the problem of a rule. Values fill in its text, as in `str.format`."""
    text = _texts()[rule][variant] if variant else _texts()[rule]
    return Problem(
        path=path,
        line=line,
        column=column,
        rule=rule,
        severity=text.get("severity", "error"),
        message=text["message"].format(**values),
        fix=text["fix"].format(**values),
    )


class StoreError(MemrepoError):
    """The base class of errors whose text has the name of the class, and perhaps of a variant."""

    def __init__(self, variant: str = "", /, **values: object) -> None:
        text = _texts()[type(self).__name__]
        text = text[variant] if variant else text
        super().__init__(text["message"].format(**values), fix=text["fix"].format(**values))


class NoGit(StoreError):
    """Raised when the `git` program is not installed or not on the PATH."""


class Missing(StoreError):
    """Raised when a requested object is not in the repository."""


class NoContent(StoreError, ValueError):
    """Raised when the repository lacks an object that one of its commits refers to."""


class NotARepository(StoreError):
    """Raised when a folder is in no git repository, or in one without memrepo.toml."""


class CannotWork(StoreError):
    """Raised when the repository is in a state that does not allow writes."""


class CannotSign(StoreError):
    """Raised when commit.gpgSign is set but signing failed, so nothing was written."""


class GitAtWork(StoreError):
    """Raised when there is a git lock file that a running git process may own."""


class Locked(StoreError):
    """Raised when another memrepo process holds the lock."""

    exit_code = Exit.LOCKED


class BranchSwitched(StoreError):
    """Raised when another branch was checked out during a run."""


class BranchMoved(StoreError):
    """Raised when the branch received another commit while a change was computed."""

    exit_code = Exit.DECIDE


class NotAsExpected(StoreError):
    """Raised when a write is based on a commit that is no longer the newest."""

    exit_code = Exit.DECIDE


class FilesInTheWay(StoreError):
    """Raised when paths to be written have uncommitted changes, which are left unchanged."""

    def __init__(self, paths: Sequence[str]) -> None:
        named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        super().__init__(named=named)
        self.paths = tuple(paths)


class UnknownRevision(StoreError):
    """Raised when an argument is neither a date nor a revision of this repository."""

    exit_code = Exit.USAGE


class BeforeHistory(StoreError):
    """Raised when all commits on the branch are newer than the given date."""

    exit_code = Exit.USAGE


class NoRemote(StoreError):
    """Raised when the repository has no remote, or none with the given name."""

    exit_code = Exit.USAGE


class UnfitRemote(StoreError):
    """Raised when sync does not support the name or address of a remote."""

    exit_code = Exit.USAGE


class HubUnreachable(StoreError):
    """Raised when git could not communicate with the hub."""


class PushRefused(StoreError):
    """Raised when the hub rejected a push for a reason other than a moved ref."""


class HubBusy(StoreError):
    """Raised when the hub or the branch moved during every attempt to merge."""

    exit_code = Exit.DECIDE


class HistoryRewritten(StoreError):
    """Raised when the hub's history lacks known commits, or contains purged ones."""

    exit_code = Exit.DECIDE


class LedgerDiffers(StoreError):
    """Raised when two ledgers contain different segments of the same name, so one was altered."""


class LedgerBusy(StoreError):
    """Raised when a ledger was changed by another process during every attempt to merge."""


class CannotRewrite(StoreError):
    """Raised when history contains an object that memrepo cannot rewrite."""


class RefsMoved(StoreError):
    """Raised when a ref changed while history was being rewritten."""

    exit_code = Exit.DECIDE


class KeyMissing(StoreError):
    """Raised when the key of a recorded purge is not on this machine."""

    exit_code = Exit.DECIDE


class PurgeIncomplete(StoreError):
    """Raised when a purge would leave the value in history."""


class PurgeHarmful(StoreError):
    """Raised when a check of `doctor` would fail after a purge."""

    exit_code = Exit.DECIDE


class NoCrontab(StoreError):
    """Raised when the `crontab` program is not installed on this machine."""

    exit_code = Exit.USAGE


class CrontabFailed(StoreError):
    """Raised when the crontab cannot be read or written, or when a block is damaged.

    A failed read or a damaged block changes nothing.
    """
