"""Problems in user data, and the base class of the exceptions that end the program.

Problems are returned as values and never raised. `cli` catches all exceptions in one place.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

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
