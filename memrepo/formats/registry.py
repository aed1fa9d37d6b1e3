"""The formats that `memrepo import` reads, by name.

A new format is a reader and an entry here.
"""

from __future__ import annotations

from memrepo.formats import exports, notes, own, purifier, workspaces
from memrepo.formats.pages import is_markdown
from memrepo.formats.records import Format

FORMATS = {
    name: Format(name, what, wants, reader, is_database=name == "claude-mem")
    for name, what, wants, reader in (
        (
            "artifacts",
            "a purifier's workspace or its runtime folder",
            purifier.wants,
            purifier.read,
        ),
        ("jsonl", "output of `memrepo export jsonl`", own.wants_lines, own.read_jsonl),
        ("openclaw", "an OpenClaw workspace", workspaces.wants_openclaw, workspaces.read_openclaw),
        (
            "memory-fs",
            "memory_fs of context-clear, with refcount.json",
            workspaces.wants_memory_fs,
            workspaces.read_memory_fs,
        ),
        (
            "layered",
            "MEMORY.md as the hot cache of memory/LAYER.md",
            workspaces.wants_layered,
            workspaces.read_layered,
        ),
        ("hybrid", "output of `openclaw hybrid-mem export`", notes.wants_hybrid, notes.read_hybrid),
        ("claude-code", "a memory folder of Claude Code", is_markdown, notes.read_claude_code),
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
        ("obsidian", "an Obsidian vault", is_markdown, own.read_obsidian),
    )
}
"""All formats by name."""
