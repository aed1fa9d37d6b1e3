"""How many git processes a command starts, and that none of them, nor an open file, is left."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LONG, begin, configure, done

from memrepo.actions.work import Call
from memrepo.faces.mcp import TOOLS, Tool, answer

TEXT = "The spare key of the greenhouse hangs behind the blue door."
CALLS = 100 if LONG else 12
"""Of each tool in one server; what a call leaves behind shows at the third."""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository after its first run, beside its workspace."""
    return begin(tmp_path, workspaces.small(tmp_path / "ws"))


def children() -> set[str]:
    """Return the processes that this one has started and not ended, those of its threads too."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {process for task in tasks for process in task.read_text().split()}


# -- one server, many calls ----------------------------------------------------------------------


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Collect nothing meanwhile: what a call opened it has to close itself."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def arguments(tool: Tool, repo: Path, turn: int) -> dict[str, Any]:
    """Return what a client asks of a tool; where it names a memory, of a new one."""
    id_ = ""
    if "id" in tool.required:
        id_ = done(repo, "add", f"Tea is drunk at {turn} o'clock.")["id"]
    known: dict[str, Any] = {
        "query": "tea",
        "id": id_,
        "text": f"{TEXT} This is number {turn}.",
        "reason": "a person asked for it",
    }
    return {name: known[name] for name in tool.required}


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("name", TOOLS)
def test_a_server_holds_no_more_after_many_calls_than_after_two(repo: Path, name: str) -> None:
    tool, held, before = TOOLS[name], [], children()
    configure(repo, "agents.removals", "allow")  # else they wait for the person
    moment = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    for turn in range(CALLS):
        caller = Call(where=repo, now=moment + timedelta(minutes=turn))
        reply = answer(caller, tool, arguments(tool, repo, turn), "test")
        assert not reply.failed, reply
        held.append((len(children() - before), len(list(Path("/proc/self/fd").iterdir()))))
    assert held[1:] == held[1:2] * (CALLS - 1)
    assert held[1][0] == held[0][0] == 0
