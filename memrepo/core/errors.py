"""Problems in user data, and the exceptions that end the program.

Problems are returned as values and never raised. `cli` catches all exceptions in one place. Their
texts are in `errors.toml`, by name.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec


class Exit(IntEnum):
    """Exit codes of the command line (docs/cli.md)."""

    DONE = 0
    NO = 1
    USAGE = 2
    DECIDE = 3
    MODEL = 4
    REPOSITORY = 5
    LOCKED = 6
    BUG = 70


class MemrepoError(Exception):
    """Raised to stop the program with a message for the user and an exit code.

    Errors raised in several places, or caught, have a subclass that builds the message.
    """

    exit_code: Exit = Exit.REPOSITORY
    fix: str = ""

    def __init__(self, message: str, *, fix: str = "", exit_code: Exit | None = None) -> None:
        super().__init__(message)
        if exit_code is not None:
            self.exit_code = exit_code
        self.message = message
        self.fix = fix


class UsageError(MemrepoError):
    """Raised when a command is called with invalid arguments."""

    exit_code = Exit.USAGE

    def __init__(self, message: str, usage: str = "", *, fix: str = "") -> None:
        super().__init__(f"{message}\n{usage}".strip(), fix=fix)


class OutOfScope(MemrepoError):
    """Raised when a caller restricted to a scope requests something outside that scope."""

    exit_code = Exit.USAGE

    def __init__(self, scope: str, what: str) -> None:
        super().__init__(
            f"{what}: this caller is bound to the scope {scope}",
            fix="run it at the command line, without a scope",
        )


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem found in a file. `line` and `column` are one-based, or 0 for the whole file.

    `message` states what was found and what was expected. `fix` describes how to fix it. Neither
    ever contains the value of a secret.
    """

    path: str
    line: int = 0
    column: int = 0
    key: str = ""
    rule: str
    message: str
    fix: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """Format the problem as `path:line:col: rule message (fix: ...)`."""
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        text = f"{place}: {self.rule} {self.message}"
        return f"{text} (fix: {self.fix})" if self.fix else text

    def as_json(self) -> dict[str, object]:
        """Return the problem as a mapping for the output of `--json`."""
        return msgspec.structs.asdict(self)


@cache
def _texts() -> Mapping[str, Any]:
    from memrepo.core.patterns import read_table

    found: Mapping[str, Any] = read_table(Path(__file__).with_suffix(".toml"))
    return found


def problem(
    rule: str,
    path: str,
    variant: str = "",
    *,
    line: int = 0,
    column: int = 0,
    key: str = "",
    **values: object,
) -> Problem:
    """Return the problem of a rule. Values fill in its text, as in `str.format`."""
    text = _texts()[rule][variant] if variant else _texts()[rule]
    return Problem(
        path=path,
        line=line,
        column=column,
        key=key,
        rule=rule,
        severity=text.get("severity", "error"),
        message=text["message"].format(**values),
        fix=text["fix"].format(**values),
    )


class StoreError(MemrepoError):
    """An error with a text. A class of its own is for errors that are caught."""

    def __init__(self, name: str = "", /, **values: object) -> None:
        """Fill in a text: by its name, or by the name of the class and perhaps of a variant."""
        text = _texts() if type(self) is StoreError else _texts()[type(self).__name__]
        text = text[name] if name else text
        exit_code = Exit[text["exit"]] if "exit" in text else None
        message, fix = (text[key].format(**values) for key in ("message", "fix"))
        super().__init__(message, fix=fix, exit_code=exit_code)


class Missing(StoreError, ValueError):
    """Raised when the repository lacks an object, such as one that its commits refer to."""


class NotARepository(StoreError):
    """Raised when a folder is in no git repository, or in one without memrepo.toml."""


class Locked(StoreError):
    """Raised when another memrepo process holds the lock."""

    exit_code = Exit.LOCKED


class BranchMoved(StoreError):
    """Raised when the branch received another commit while a change was computed."""

    exit_code = Exit.DECIDE


class FilesInTheWay(StoreError):
    """Raised when paths to be written have uncommitted changes, which are left unchanged."""

    def __init__(self, paths: Sequence[str]) -> None:
        named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        super().__init__(named=named)
        self.paths = tuple(paths)


class BeforeHistory(StoreError):
    """Raised when all commits on the branch are newer than the given date."""

    exit_code = Exit.USAGE


class NoCrontab(StoreError):
    """Raised when the `crontab` program is not installed on this machine."""

    exit_code = Exit.USAGE


class CrontabFailed(StoreError):
    """Raised when the crontab cannot be read or written. A failed read changes nothing."""


_SYSTEM = tuple(
    os.strerror(code)
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO)
)
"""System error messages, as git prints them in English, for a full disk or denied access."""


def one_line(text: str) -> str:
    """Join git's output lines into one line, and remove passwords from URLs."""
    return re.sub(r"://[^/@\s]+@", "://...@", " ".join(text.split()))


class GitFailed(MemrepoError):
    """Raised when git refused a command, failed, or ended before it answered.

    `code` is git's exit code, negative if a signal ended it. `by_system` is True if the disk, a
    file's permissions or a git lock is the cause. `fix` then names that cause.
    """

    def __init__(self, verb: str, text: str, code: int = 0) -> None:
        cause = one_line(text) or (f"signal {-code} ended it" if code < 0 else f"exit code {code}")
        fix = "for details, run `git status` and `git fsck`"
        lock = re.search(r"Unable to create '([^'\n]{1,4096}\.lock)': File exists", text)
        if lock:
            fix = "run the command again when the other git has ended; if none is running, remove"
            fix += f" {lock[1]}"
        self.by_system = bool(lock) or any(words in text for words in _SYSTEM)
        if self.by_system and not lock:
            fix = "free disk space, or give the user that runs memrepo write permission there"
        super().__init__(f"git {verb} failed: {cause}", fix=fix)
        self.cause = cause
        self.code = code
