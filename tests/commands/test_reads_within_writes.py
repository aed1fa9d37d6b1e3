"""No command reads a database through a second connection while it writes to it.

SQLite holds back other readers as soon as the pages of a transaction no longer fit its cache. A
command that then opens another connection waits for itself.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, begin, done, git, memories
from hoards import hoard, stored

from memrepo.core.memory import Link
from memrepo.store import tree
from memrepo.store.records import records_at

LOCKED: list[str] = []


class Watched(sqlite3.Connection):
    """A connection that spills at once, and notes what it had to wait for."""

    def __init__(self, *args: object, **options: object) -> None:
        options["timeout"] = 0.0
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.execute("PRAGMA cache_size = 1")

    def execute(self, sql: str, *given: object) -> sqlite3.Cursor:  # type: ignore[override]
        try:
            return super().execute(sql, *given)  # type: ignore[arg-type]
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                LOCKED.append(sql)
            raise


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every connection spill at once; return the statements that found a lock."""
    connect = sqlite3.connect

    def opened(*args: object, **options: object) -> sqlite3.Connection:
        return connect(*args, **{**options, "factory": Watched})  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", opened)
    LOCKED.clear()
    return LOCKED


def fresh(repo: Path, *argv: str) -> dict[str, Any]:
    """Run a command as a process of its own would: nothing is known from the one before."""
    tree._DECODED.clear()
    records_at.cache_clear()
    return done(repo, *argv, now=LATER)


def test_no_command_waits_for_its_own_write(tmp_path: Path, watched: list[str]) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("# Tools\n\n- The lathe in bay 4 takes 12 mm rods.\n")
    repo = begin(tmp_path, workspace)
    lone, *others = hoard(600)
    to_it = {"links": (Link(target=lone.id, type="supports"),)}
    stored(repo, [lone, *(one.with_fields(to_it) for one in others)])
    # The run keeps outlines; each command after it reads the rest of a memory when it needs it.
    (workspace / "MEMORY.md").write_text("# Tools\n\n- The lathe in bay 4 takes 16 mm rods.\n")
    fresh(repo, "run")
    found = fresh(repo, "status")
    assert sum(found["memories"].values()) >= 600
    fresh(repo, "search", "gate")
    first, second = sorted(memories(repo))[:2]
    fresh(repo, "reject", first, "--reason", "wrong")
    fresh(repo, "status")
    fresh(repo, "search", "gate")
    with (repo / "memrepo.toml").open("a") as handle:
        handle.write('\n[importance.words]\ncritical = ["parcel"]\n')
    git(repo, "commit", "-qam", "other words", "--no-verify")
    fresh(repo, "reject", second, "--reason", "wrong")
    fresh(repo, "search", "parcel")
    fresh(repo, "run")
    fresh(repo, "check")
    assert watched == []


def test_a_run_of_many_memories_leaves_the_first_search_nothing_to_index(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    lines = [f"- The gauge in bay {n} reads {n * 7} bar before each shift." for n in range(60)]
    (workspace / "MEMORY.md").write_text("\n".join(["# Gauges", "", *lines, ""]))
    repo = begin(tmp_path, workspace)
    with closing(sqlite3.connect(repo / ".git/memrepo/index.sqlite3")) as base:
        known = dict(base.execute("SELECT key, value FROM meta"))
    assert known["commit"] == git(repo, "rev-parse", "HEAD").strip()
    assert int(known["size"]) >= 60
