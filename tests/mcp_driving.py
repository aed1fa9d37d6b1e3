"""Driving `memrepo mcp` as a client does: the official client library, a process, stdio."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
from driving import NOW
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Implementation

Found = TypeVar("Found")


def with_client(
    repo: Path,
    work: Callable[[Client], Awaitable[Found]],
    *options: str,
    name: str = "test-client",
    mode: str = "auto",
    now: str = NOW,
    seconds: float = 90,
    **environment: str,
) -> Found:
    """Start a server for a repository, hand a connected client to `work`, return its result."""
    line = ["-m", "memrepo", "-C", str(repo), *(["--now", now] if now else []), "mcp", *options]
    server = StdioServerParameters(
        command=sys.executable, args=line, env={**os.environ, **environment}
    )

    async def main() -> Found:
        about = Implementation(name=name, version="1")
        with anyio.fail_after(seconds):
            async with Client(server, client_info=about, mode=mode) as client:
                return await work(client)

    return anyio.run(main)


def text(result: CallToolResult) -> str:
    """Return the text of a tool's answer."""
    return "\n".join(block.text for block in result.content)


def told(result: CallToolResult) -> str:
    """Return the text of a tool's answer, which must not be a refusal."""
    assert not result.is_error, text(result)
    return text(result)
