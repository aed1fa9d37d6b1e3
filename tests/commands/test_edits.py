"""What runs make of edited sources: what a judge could not see stays, notes keep their sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo

ALPHA = "- The server alpha keeps the archive of the choir."
LOG = "# 2026-02-01\n\n## 10:00 Log\n\n{}\n\n## 10:00 Log\n\n{}\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(f"# Infra\n\n{ALPHA}\n")
    (workspace / "memory" / "2026-02-01.md").write_text(LOG.format("First thing.", "Other thing."))
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    return tmp_path / "repo"


def write(repo: Path, name: str, text: str) -> None:
    (repo.parent / "workspace" / name).write_text(text)


def notes(repo: Path) -> dict[str, str]:
    return {i: m.body for i, m in memories(repo).items() if m.is_note and m.status == "active"}


def test_a_line_that_no_judge_could_see_yet_does_not_retire_its_memory(repo: Path) -> None:
    git(repo, "config", "memrepo.judge.command", "false")
    write(repo, "MEMORY.md", f"# Infra\n\n{ALPHA.replace('choir', 'parish')}\n")
    assert memrepo(repo, "run", "--judge", "command", now=LATER).exit == 4
    (claim,) = [m for m in memories(repo).values() if not m.is_note]
    assert claim.standing in ("resolved", "unresolved")
    done(repo, "run", now="2026-03-01T11:10:00Z")
    (claim,) = [m for m in memories(repo).values() if not m.is_note]
    assert "parish" in claim.body
    assert_sound(repo)


def test_two_sections_of_one_heading_that_grow_keep_their_notes(repo: Path) -> None:
    before = {body: i for i, body in notes(repo).items()}
    write(repo, "memory/2026-02-01.md", LOG.format("First thing. And more.", "Other thing. Too."))
    done(repo, "run", now=LATER)
    after = notes(repo)
    assert after[before["First thing."]] == "First thing. And more."
    assert after[before["Other thing."]] == "Other thing. Too."
    assert len(after) == 2


def test_a_forgotten_note_does_not_swallow_what_is_written_later(repo: Path) -> None:
    (first,) = [i for i, body in notes(repo).items() if body == "First thing."]
    done(repo, "forget", first)
    text = LOG.format("First thing. The launch moved to May.", "Other thing.")
    write(repo, "memory/2026-02-01.md", text)
    done(repo, "run", now=LATER)
    assert any("launch" in body for body in notes(repo).values())
    assert done(repo, "search", "launch")["hits"]
