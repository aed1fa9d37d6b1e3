"""What an agent waits for: the server's first word, and its first search."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import filled, memories

WORDS = ("depot", "gate")
_SERVER = "import sys; from memrepo.faces.cli import main; sys.exit(main(['mcp']))"
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "0"},
}


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Start server, bare import and command line by turns, each in a process of its own."""
    machine, repo = Machine(folder), folder / "repo"
    filled(machine, repo, memories(sizes.memories))
    machine.memrepo("search", *WORDS, where=repo)
    found = medians_s(
        sizes.turns,
        handshake=lambda: _serving(machine, repo, search=False),
        imported=lambda: timed(lambda: machine.python("import mcp.server.mcpserver", where=repo)),
        search=lambda: _serving(machine, repo, search=True),
        line=lambda: timed(lambda: machine.memrepo("search", *WORDS, where=repo)),
    )
    return [
        Ratio(
            name="handshake of memrepo mcp / import of the SDK's server",
            bound=1.3,
            ratio=found["handshake"] / found["imported"],
            count=1,
            turns=sizes.turns,
        ),
        Ratio(
            name="first memory_search / memrepo search",
            ratio=found["search"] / found["line"],
            bound=2,
            count=sizes.memories,
            turns=sizes.turns,
        ),
    ]


def _serving(machine: Machine, repo: Path, *, search: bool) -> float:
    """Return the seconds to the first answer, or those that the first search takes after it."""
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        cwd=repo,
        env=machine.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        _ask(server, "initialize", _HELLO)
        taken = time.perf_counter() - start
        if search:
            _tell(server, {"method": "notifications/initialized"})
            call = {"name": "memory_search", "arguments": {"query": " ".join(WORDS)}}
            taken = timed(lambda: _ask(server, "tools/call", call))
        if server.stdin:
            server.stdin.close()
    return taken


def _ask(server: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> None:
    _tell(server, {"id": 1, "method": method, "params": params})
    answer = json.loads(server.stdout.readline() if server.stdout else b"{}")
    if answer.get("result", {}).get("isError", "result" not in answer):
        raise RuntimeError(f"{method} failed: {answer}")


def _tell(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    if server.stdin:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
