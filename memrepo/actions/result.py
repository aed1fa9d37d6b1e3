"""The base class of verb results. The fields of a result are the keys of `--json`.

A verb's `Result` contains everything that an interface may show. The wording is defined in
`memrepo.faces.text`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec

from memrepo.core.errors import Exit
from memrepo.core.problems import Problem


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all results. `exit` and `notices` are not part of the JSON record."""

    beside: ClassVar[tuple[str, ...]] = ()
    """More fields that interfaces show but that are not part of the JSON record."""

    exit: Exit = Exit.DONE
    notices: tuple[Problem, ...] = ()
    """Warnings about files, rules and the repository that occurred during the call."""

    def after(self, notices: tuple[Problem, ...]) -> Self:
        """Return the result with the given earlier notices before its own."""
        return msgspec.structs.replace(self, notices=(*notices, *self.notices))

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON-compatible values."""
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.structs.replace(
                self, exit=Exit.DONE, notices=(), **dict.fromkeys(self.beside, msgspec.UNSET)
            ),
            str_keys=True,
        )
        del found["exit"], found["notices"]
        return found
