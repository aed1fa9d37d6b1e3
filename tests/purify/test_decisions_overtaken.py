"""Values of one key in one run: the older is superseded by the next newer, end to end."""

from pathlib import Path

import pytest
from driving import LATER, done, memories, memrepo, subjects


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text(
        "# MEMORY\n\n## Anna\n\n"
        "- [2024-02-01] **Editor:** vim\n"
        "- [2024-01-01] **Editor:** emacs\n"
        "- [2024-03-01] **Editor:** helix\n"
        "- [2024-01-01] **Project:** Atlas\n"
        "- [2024-03-01] **Project:** Borealis\n",
        encoding="utf-8",
    )
    done(tmp_path, "init", tmp_path / "repo", "--from", workspace)
    done(tmp_path / "repo", "run")
    return tmp_path / "repo"


def test_older_values_are_superseded_in_a_chain(repo: Path):
    found = {m.text("object"): m for m in memories(repo).values()}
    assert {value: m.status for value, m in found.items()} == {
        "emacs": "superseded",
        "vim": "superseded",
        "helix": "active",
        "Atlas": "active",
        "Borealis": "active",
    }
    assert found["emacs"].texts("superseded_by") == (found["vim"].id,)
    assert found["vim"].texts("supersedes") == (found["emacs"].id,)
    assert found["vim"].texts("superseded_by") == (found["helix"].id,)
    assert sum(s.startswith("supersede:") for s in subjects(repo, "--all")) == 2


def test_a_reconciliation_finds_nothing_new_in_what_was_replaced(repo: Path):
    before = memories(repo)
    answer = memrepo(repo, "run", "--mode", "reconciliation", now=LATER)
    assert (answer.exit, answer.data["status"]) == (0, "skipped")
    assert memories(repo) == before


def test_a_newer_value_in_a_later_run_replaces_the_newest(repo: Path, tmp_path: Path):
    source = tmp_path / "workspace" / "MEMORY.md"
    line = "- [2024-05-01] **Editor:** kakoune\n"
    source.write_text(source.read_text(encoding="utf-8") + line, encoding="utf-8")
    done(repo, "run", now=LATER)
    found = {m.text("object"): m.status for m in memories(repo).values()}
    assert found["helix"] == "superseded"
    assert found["kakoune"] == "active"
