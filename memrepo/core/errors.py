"""The base class of exceptions that end the program. `cli` catches all of them in one place."""

from __future__ import annotations

from enum import IntEnum


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
