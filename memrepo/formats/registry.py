"""The formats that `memrepo import` reads, by name.

A new format is one module and an entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memrepo.formats import (
    claude_code,
    claude_mem,
    conversations,
    hybrid,
    layered,
    mcp_memory,
    mem0,
    memory_fs,
    obsidian,
    okf,
    openclaw,
    own,
    purifier,
    remnic,
)
from memrepo.formats.pages import is_markdown
from memrepo.formats.records import Format

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        one.name: one
        for one in (
            Format(
                name="artifacts",
                what="a purifier's workspace or its runtime folder",
                wants=purifier.wants,
                read=purifier.read,
            ),
            Format(
                name="jsonl",
                what="output of `memrepo export jsonl`",
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
                what="output of `openclaw hybrid-mem export`",
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
                name="chatgpt",
                what="conversations.json of a ChatGPT export",
                wants=conversations.wants,
                read=conversations.read_chatgpt,
            ),
            Format(
                name="claude",
                what="conversations.json of a Claude export",
                wants=conversations.wants,
                read=conversations.read_claude,
            ),
            Format(
                name="mcp-memory",
                what="memory.json of the reference MCP memory server",
                wants=mcp_memory.wants,
                read=mcp_memory.read,
            ),
            Format(
                name="claude-mem",
                what="the database of claude-mem",
                wants=claude_mem.wants,
                read=claude_mem.read,
                is_database=True,
            ),
            Format(
                name="obsidian", what="an Obsidian vault", wants=is_markdown, read=obsidian.read
            ),
        )
    }
)
"""All formats by name."""
