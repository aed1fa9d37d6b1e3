"""The formats that `memrepo import` reads, by name.

A new format is a reader and an entry here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from memrepo.core.problems import Problem
from memrepo.formats import exports, folders, purifier
from memrepo.formats.records import Files, ImportRecord, Report, is_markdown


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a reader: records, problems, and counts of skipped items."""

    records: tuple[ImportRecord, ...] = ()
    problems: tuple[Problem, ...] = ()
    passed: Mapping[str, int] = msgspec.field(default_factory=dict)


class Format(NamedTuple):
    """A format that can be imported: its name, description, file predicate and reader."""

    name: str
    what: str
    wants: Callable[[str], bool]
    reader: Callable[[Files, Report], Iterable[ImportRecord]]
    is_database: bool = False
    """Whether the files are SQLite databases. The reader gets a snapshot of each."""

    def read(self, files: Files) -> Read:
        """Read files by name.

        A file on which the reader fails is left out and named. The others are still read.
        """
        try:
            report = Report()
            records = tuple(self.reader(files, report))
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop an import
            return self._without_faulty(files, error)
        passed = {name: count for name, count in report.skipped.items() if count}
        return Read(records=records, problems=tuple(report.problems), passed=passed)

    def _without_faulty(self, files: Files, error: Exception) -> Read:
        """Read the files that the reader can read by itself, and refuse the others.

        If the fault is in no single file, all are refused.
        """
        faulty = {}
        for path, data in files.items() if len(files) > 1 else ():
            try:
                deque(self.reader({path: data}, Report()), maxlen=0)
            except Exception as fault:  # noqa: BLE001
                faulty[path] = fault
        faulty = faulty or dict.fromkeys(files, error)
        rest = {path: data for path, data in files.items() if path not in faulty}
        read = self.read(rest) if rest else Read()
        report = Report()
        for path, cause in faulty.items():
            report.refuse(path, f"found text that cannot be read ({type(cause).__name__})")
        return msgspec.structs.replace(read, problems=(*report.problems, *read.problems))


FORMATS = {
    name: Format(name, what, wants, reader, is_database=name == "claude-mem")
    for name, what, wants, reader in (
        (
            "artifacts",
            "a purifier's workspace or its runtime folder",
            purifier.wants,
            purifier.read,
        ),
        ("jsonl", "output of `memrepo export jsonl`", exports.wants_jsonl, exports.read_jsonl),
        ("openclaw", "an OpenClaw workspace", folders.wants_openclaw, folders.read_openclaw),
        (
            "memory-fs",
            "memory_fs of context-clear, with refcount.json",
            folders.wants_memory_fs,
            folders.read_memory_fs,
        ),
        ("claude-code", "a memory folder of Claude Code", is_markdown, folders.read_claude_code),
        (
            "chatgpt",
            "conversations.json of a ChatGPT export",
            exports.wants_conversations,
            exports.read_chatgpt,
        ),
        (
            "claude",
            "conversations.json of a Claude export",
            exports.wants_conversations,
            exports.read_claude,
        ),
        (
            "mcp-memory",
            "memory.json of the reference MCP memory server",
            exports.wants_mcp_memory,
            exports.read_mcp_memory,
        ),
        (
            "claude-mem",
            "the database of claude-mem",
            exports.wants_claude_mem,
            exports.read_claude_mem,
        ),
        ("obsidian", "an Obsidian vault", is_markdown, folders.read_obsidian),
    )
}
"""All formats by name."""
