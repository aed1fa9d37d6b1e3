"""What a verb answers: a record whose fields are the keys of `--json`.

A verb's `Result` says everything that a face may tell; how it is worded for a reader is the face's
(`memrepo.faces.text`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec

from memrepo.core.errors import Exit
from memrepo.core.problems import Problem


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The base of all results; these two are told next to the record and are no keys of it."""

    beside: ClassVar[tuple[str, ...]] = ()
    """More fields that a face words and that are no keys of the record."""

    exit: Exit = Exit.DONE
    notices: tuple[Problem, ...] = ()
    """What was noticed on the way: warnings about files, rules and the repository."""

    def after(self, notices: tuple[Problem, ...]) -> Self:
        """Return the result with findings from before the verb in front of its own."""
        return msgspec.structs.replace(self, notices=(*notices, *self.notices))

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON can hold it."""
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.structs.replace(
                self, exit=Exit.DONE, notices=(), **dict.fromkeys(self.beside, msgspec.UNSET)
            ),
            str_keys=True,
        )
        del found["exit"], found["notices"]
        return found
