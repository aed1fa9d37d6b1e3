"""Problems in user data, which are returned as values and never raised as exceptions."""

from __future__ import annotations

from typing import Literal

import msgspec


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
