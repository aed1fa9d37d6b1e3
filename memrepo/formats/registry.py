"""The formats that `memrepo import` reads, by name.

A new format is a reader and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from memrepo.formats import exports, folders, purifier
from memrepo.formats.records import Files, Found, refused


class Format(NamedTuple):
    """A format that can be imported: its description, file predicate and reader."""

    what: str
    wants: Callable[[str], bool]
    reader: Callable[[Files], Iterable[Found]]
    is_database: bool = False
    """Whether the files are SQLite databases. The reader gets a snapshot of each."""

    def read(self, files: Files) -> tuple[Found, ...]:
        """Read files by name.

        A file on which the reader fails by itself is left out and named, and the others are read.
        If the fault is in no single file, all are refused.
        """
        try:
            return tuple(self.reader(files))
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop an import
            faults = {path: self._fault({path: data}) for path, data in files.items()}
            faulty = {path: one for path, one in faults.items() if one}
            faulty = faulty or dict.fromkeys(files, type(error).__name__)
        rest = {path: data for path, data in files.items() if path not in faulty}
        refusals = [refused(p, f"found text that cannot be read ({e})") for p, e in faulty.items()]
        return (*refusals, *(self.read(rest) if rest else ()))

    def _fault(self, files: Files) -> str:
        """Return the name of the exception that the reader raises for files, or an empty string."""
        try:
            tuple(self.reader(files))
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return ""


_CONVERSATIONS = "conversations.json of a {} export"
FORMATS = {
    "artifacts": Format(
        "a purifier's workspace or its runtime folder", purifier.wants, purifier.read
    ),
    "jsonl": Format("output of `memrepo export jsonl`", exports.wants_jsonl, exports.read_jsonl),
    "openclaw": Format("an OpenClaw workspace", folders.wants_openclaw, folders.read_openclaw),
    "memory-fs": Format(
        "memory_fs of context-clear, with refcount.json",
        folders.wants_memory_fs,
        folders.read_memory_fs,
    ),
    "claude-code": Format(
        "a memory folder of Claude Code", folders.is_markdown, folders.read_claude_code
    ),
    "chatgpt": Format(
        _CONVERSATIONS.format("ChatGPT"), exports.wants_conversations, exports.read_chatgpt
    ),
    "claude": Format(
        _CONVERSATIONS.format("Claude"), exports.wants_conversations, exports.read_claude
    ),
    "mcp-memory": Format(
        "memory.json of the reference MCP memory server",
        exports.wants_mcp_memory,
        exports.read_mcp_memory,
    ),
    "claude-mem": Format(
        "the database of claude-mem",
        exports.wants_claude_mem,
        exports.read_claude_mem,
        is_database=True,
    ),
    "obsidian": Format("an Obsidian vault", folders.is_markdown, folders.read_obsidian),
}
"""All formats by name."""
