"""A line that stands in many files is one memory with some of its places."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from driving import begin, commits, done, memories

from memrepo.core.memory import MAX_LISTED, Memory

LINE = "The barn door is painted green."


def night(day: int) -> str:
    return f"2026-03-{day:02}T09:00:00Z"


def page(base: Path, number: int) -> Path:
    return base / "workspace" / "memory" / f"part-{number:03}.md"


def write(base: Path, numbers: Iterable[int], line: str = LINE) -> None:
    """Let the line stand in some files; an empty one leaves them without."""
    for number in numbers:
        path = page(base, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Part {number}\n" + (f"\n- {line}\n" if line else ""))


def told(repo: Path) -> Memory:
    (found,) = (m for m in memories(repo).values() if "barn door" in m.body)
    return found


def standing_places(repo: Path, memory: Memory) -> list[str]:
    """Return the listed files that still hold the line."""
    return [f for f in memory.files if LINE in (repo / f).read_text()]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of 120 files with the line, after its first night."""
    write(tmp_path, range(120))
    return begin(tmp_path, tmp_path / "workspace")


def test_fifty_places_are_listed_and_more_of_them_change_no_memory(repo: Path) -> None:
    base, before = repo.parent, told(repo)
    assert len(before.sources) == MAX_LISTED
    assert before.first == ("sources/memory/part-000.md", 3)
    write(base, range(120, 200))
    done(repo, "run", now=night(2))
    after = told(repo)
    assert len(after.sources) == MAX_LISTED
    assert (after.id, after.first) == (before.id, before.first)
    head = commits(repo)
    assert done(repo, "run", now=night(3))["status"] == "skipped"
    assert (commits(repo), told(repo)) == (head, after)


def test_a_memory_whose_listed_places_are_gone_lists_others(repo: Path) -> None:
    before = told(repo)
    gone = [int(f[-6:-3]) for f in before.files]
    write(repo.parent, gone, line="")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.id, after.status, after.standing) == (before.id, "active", "resolved")
    assert after.captured == before.captured
    assert len(after.sources) == MAX_LISTED
    assert len(standing_places(repo, after)) > MAX_LISTED - 10
    assert after.first[0] in standing_places(repo, after)
    assert done(repo, "run", now=night(3))["status"] == "skipped"
    assert done(repo, "check")["problems"] == []


def test_a_memory_whose_last_place_is_gone_is_marked(repo: Path) -> None:
    listed = {int(f[-6:-3]) for f in told(repo).files}
    write(repo.parent, range(120), line="")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.status, after.standing) == ("active", "retire_candidate")
    assert listed


def test_a_line_edited_in_all_its_places_is_reworded(repo: Path) -> None:
    before = told(repo)
    write(repo.parent, range(120), line="The barn door is painted green and white.")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.id, after.body) == (before.id, "The barn door is painted green and white.")
    assert len(after.sources) == MAX_LISTED
