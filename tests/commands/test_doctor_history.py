"""`doctor` on real histories: what is sound, and what is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LATER, done, git, memories, memrepo


def checks(repo: Path) -> dict[str, dict[str, Any]]:
    return {c["name"]: c for c in memrepo(repo, "doctor").data["checks"]}


def commit(repo: Path, message: str) -> None:
    git(repo, "add", "-A")
    git(repo, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", message)


@pytest.fixture
def long_repo(small_repo: Path) -> Path:
    """Return a repository in which everything that memrepo does so far was done once."""
    first = next(iter(memories(small_repo)))
    workspaces.growing(small_repo.parent / "workspace", 1)
    done(small_repo, "run", now=LATER)
    done(small_repo, "pin", first, now=LATER)
    done(small_repo, "revert", now=LATER)
    done(small_repo, "revert", "HEAD", now=LATER)
    new = done(small_repo, "add", "The office moved to Oslo", now=LATER)["id"]
    done(small_repo, "supersede", new, "The office moved to Bergen", now=LATER)
    assert memrepo(small_repo, "run", "--mode", "reconciliation", now=LATER).exit in (0, 3)
    return small_repo


def test_a_sound_history_passes_every_check(long_repo: Path) -> None:
    found = checks(long_repo)
    assert found["rules"]["ok"], found


def test_a_supersession_cut_in_half_is_found(long_repo: Path) -> None:
    old = next(m for m in memories(long_repo).values() if m.status == "superseded")
    path = long_repo / old.path
    text = path.read_text()
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("superseded_")]
    path.write_text("".join(lines))
    commit(long_repo, "tidied up")
    for text in ("One more", "And another"):
        done(long_repo, "add", text, now=LATER)
    found = checks(long_repo)["rules"]
    assert not found["ok"]
    assert {p["rule"] for p in found["problems"]} >= {"supersession-half", "supersession-status"}
    assert "supersession-half" in {p["rule"] for p in done(long_repo, "status")["problems"]}
