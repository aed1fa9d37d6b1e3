"""The formats that `memrepo import` reads, by name; one of ours is a module and a line here.

Another package adds one by an entry point of the group `memrepo.formats` that names a
`memrepo.formats.records.Format`; the entry's name is the format's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

from memrepo.core.errors import Exit, MemrepoError
from memrepo.formats import (
    claude_code,
    hybrid,
    layered,
    mem0,
    memory_fs,
    obsidian,
    okf,
    openclaw,
    own,
    remnic,
)
from memrepo.formats.pages import is_markdown
from memrepo.formats.records import Format

GROUP = "memrepo.formats"
"""The group of entry points under which other packages add formats."""

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        one.name: one
        for one in (
            Format(
                name="jsonl",
                what="what `memrepo export jsonl` wrote",
                wants=own.wants_lines,
                read=own.read_jsonl,
            ),
            Format(
                name="okf", what="an Open Knowledge Format bundle", wants=okf.wants, read=okf.read
            ),
            Format(
                name="openclaw",
                what="an OpenClaw workspace",
                wants=openclaw.wants,
                read=openclaw.read,
            ),
            Format(
                name="memory-fs",
                what="memory_fs of context-clear, with refcount.json",
                wants=memory_fs.wants,
                read=memory_fs.read,
            ),
            Format(
                name="layered",
                what="MEMORY.md as the hot cache of memory/LAYER.md",
                wants=layered.wants,
                read=layered.read,
            ),
            Format(
                name="remnic",
                what="a memory folder of Remnic (engram)",
                wants=is_markdown,
                read=remnic.read,
            ),
            Format(
                name="hybrid",
                what="what `openclaw hybrid-mem export` wrote",
                wants=hybrid.wants,
                read=hybrid.read,
            ),
            Format(
                name="claude-code",
                what="a memory folder of Claude Code",
                wants=is_markdown,
                read=claude_code.read,
            ),
            Format(name="mem0", what="memories of mem0 as JSON", wants=mem0.wants, read=mem0.read),
            Format(
                name="obsidian", what="an Obsidian vault", wants=is_markdown, read=obsidian.read
            ),
        )
    }
)
"""Our own formats."""


class BrokenFormat(MemrepoError):
    """An entry point that another package declares is no format, or takes a name that is taken."""

    exit_code = Exit.USAGE

    def __init__(self, point: EntryPoint, what: str) -> None:
        package = point.dist.name if point.dist is not None else "a package"
        super().__init__(
            f"{package}: entry point {GROUP} {point.name!r} ({point.value}): {what}",
            fix=f"mend or uninstall {package}",
        )


@cache
def formats() -> Mapping[str, Format]:
    """Return our formats, then those that other packages add, by name; raises BrokenFormat."""
    found = dict(FORMATS)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            added = point.load()
        except Exception as error:
            raise BrokenFormat(point, f"{type(error).__name__}: {error}") from error
        if not isinstance(added, Format):
            raise BrokenFormat(point, f"found {type(added).__name__}, expected a Format")
        if point.name != added.name or point.name in found:
            raise BrokenFormat(
                point, f"its format is called {added.name!r}: taken, or another name"
            )
        found[point.name] = added
    return MappingProxyType(found)
