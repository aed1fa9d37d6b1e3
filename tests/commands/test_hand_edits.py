"""A memory that a person edits in any editor: the next run knows whose statement it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, begin, done, git, memories, subjects

from memrepo.policies.standing import trust_of


def edit(repo: Path, author: str, text: str = "The kettle is blue.") -> str:
    """Reword a memory in its file and commit it by hand; return its id."""
    memory = next(m for m in memories(repo).values() if not m.is_note)
    path = repo / memory.path
    path.write_text(path.read_text().replace(memory.body, text))
    git(repo, "add", memory.path)
    subprocess.run(
        ["git", "-C", repo, "commit", "-qm", "mine", f"--author=Some One <{author}>"], check=True
    )
    return memory.id


@pytest.mark.parametrize(
    ("author", "by", "trust"),
    [
        ("person@example.org", "human:person@example.org", "human-reviewed"),
        ("bot@example.org", "process:unknown", "unverified"),
    ],
)
def test_the_next_run_stamps_an_edit_with_who_committed_it(
    small_repo: Path, author: str, by: str, trust: str
) -> None:
    id_ = edit(small_repo, author)
    done(small_repo, "run", now=LATER)
    assert "Record who edited 1 memory by hand" in subjects(small_repo)
    memory = memories(small_repo)[id_]
    assert (memory.stamp.by, memory.body) == (by, "The kettle is blue.")
    assert memory.former
    assert trust_of(memory) == trust
    tip = git(small_repo, "rev-parse", "HEAD")
    done(small_repo, "run", now=LATER)
    assert git(small_repo, "rev-parse", "HEAD") == tip


def test_an_edit_that_was_overtaken_is_not_claimed(small_repo: Path) -> None:
    id_ = edit(small_repo, "person@example.org")
    done(small_repo, "edit", id_, "--text", "The kettle is red.", now=LATER)
    done(small_repo, "run", now=LATER)
    assert "Record who edited 1 memory by hand" not in subjects(small_repo)


def test_what_a_commit_leaves_of_a_memory_alone_is_no_statement(small_repo: Path) -> None:
    memory = next(iter(memories(small_repo).values()))
    path = small_repo / memory.path
    path.write_text(path.read_text() + "\n")
    git(small_repo, "commit", "-qam", "a blank line")
    done(small_repo, "run", now=LATER)
    assert subjects(small_repo)[0] == "a blank line"


def test_an_edit_that_cannot_be_read_is_named_and_search_has_the_committed_text(
    small_repo: Path,
) -> None:
    done(small_repo, "add", "The quay lamp is green.")
    (memory,) = (m for m in memories(small_repo).values() if "quay" in m.body)
    path = small_repo / memory.path
    path.write_text(path.read_text().replace("type: fact", "type: Fact"))
    (hit,) = [h for h in done(small_repo, "search", "quay lamp")["hits"] if "quay" in h["text"]]
    assert hit["id"] == memory.id
    (found,) = (p for p in done(small_repo, "status")["problems"] if p["path"] == memory.path)
    assert "'Fact'" in found["message"]
    assert "did you mean fact?" in found["fix"]


def test_a_short_correction_gets_no_twin_from_another_file_with_the_old_line(
    tmp_path: Path,
) -> None:
    old = "- We decided to sell the old bike.\n"
    (tmp_path / "ws/memory").mkdir(parents=True)
    (tmp_path / "ws/memory/2026-02-20.md").write_text(f"# Day\n\n{old}", encoding="utf-8")
    repo = begin(tmp_path, tmp_path / "ws")
    (id_,) = (m.id for m in memories(repo).values() if m.type == "decision")
    done(repo, "edit", id_, "--text", "We keep the bike.", now=LATER)
    (tmp_path / "ws/MEMORY.md").write_text(f"# Memory\n\n## House\n\n{old}", encoding="utf-8")
    done(repo, "run", now=NEXT_DAY)
    found = [m.body for m in memories(repo).values() if not m.is_note]
    assert found == ["We keep the bike."]


def test_check_names_a_bullet_whose_memory_lost_its_first_words(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/MEMORY.md").write_text("# Memory\n\n- Never deploy on Fridays after lunch.\n")
    repo = begin(tmp_path, tmp_path / "ws")
    assert done(repo, "check")["problems"] == []
    (memory,) = (m for m in memories(repo).values() if not m.is_note)
    path = repo / memory.path
    path.write_text(path.read_text().replace(memory.body, "deploy on Fridays after lunch."))
    git(repo, "commit", "-qam", "mine", "--no-verify")
    assert [p["rule"] for p in done(repo, "check")["problems"]] == ["hot-stale"]
