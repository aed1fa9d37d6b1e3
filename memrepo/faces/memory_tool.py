"""A backend for Claude's memory tool: pass `MemoryTool(folder, clock=...)` to the tool runner.

The Messages API's memory tool expects the calling program to maintain a directory `/memories`. Here
each file in that directory is a memory, and each write is one validated commit. This module imports
the SDK, so only programs that use the tool should import it. docs/python.md has examples.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memrepo.actions.work import Call
from memrepo.core.codec import CodecError
from memrepo.core.errors import MemrepoError
from memrepo.core.secrets import harmless
from memrepo.faces.mcp.calls import acting
from memrepo.faces.memory_files import MemoryFiles

__all__ = ("MemoryTool",)


_UNFIT = {
    "frontmatter-second-header": "a file cannot begin with a header between lines of ---,"
    " begin it with a heading instead",
    "file-nul": "a file cannot hold a NUL character, leave it out",
    "file-not-utf8": "a file cannot hold half a surrogate pair, write the whole character",
}
"""Explanations of invalid file contents for the model, by rule."""


class MemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool, with its directory stored in a memory repository.

    `clock` returns the current time with its time zone. `actor` is the author of the commits and is
    never a person. With a `scope`, Claude reads and writes only memories of that scope. A refused
    command is reported to Claude as the tool's error. Examples are a path outside the directory, a
    secret, and a text that a person rejected.
    """

    def __init__(
        self,
        where: str | Path,
        *,
        clock: Callable[[], datetime],
        actor: str = "process:claude",
        scope: str = "",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        folder = Path(where).absolute()
        self._files = MemoryFiles(
            lambda: acting(Call(where=folder, now=clock(), actor=actor, scope=scope), "claude")
        )

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the numbered lines of a file, or a list of the files in a directory."""
        return _told(lambda: self._files.view(command.path, command.view_range or ()))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file, and return a message that confirms it."""
        return _told(lambda: self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs exactly once in a file."""
        return _told(
            lambda: self._files.replace(command.path, command.old_str, command.new_str or "")
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        return _told(
            lambda: self._files.insert(command.path, command.insert_line, command.insert_text)
        )

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory, by forgetting its memories. History retains them."""
        return _told(lambda: self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a directory."""
        return _told(lambda: self._files.rename(command.old_path, command.new_path))


def _told(work: Callable[[], str]) -> str:
    try:
        return "\r\n".join(map(harmless, work().split("\r\n")))
    except CodecError as error:
        unfit = _UNFIT.get(error.problem.rule, error.problem.message)
        raise ToolError(f"Nothing was written: {harmless(unfit)}.") from error
    except MemrepoError as error:
        more = f". {error.fix}." if error.fix else ""
        raise ToolError(harmless(f"{error.message}{more}")) from error
