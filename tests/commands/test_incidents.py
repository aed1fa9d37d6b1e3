"""Incidents that other memory systems had, played here and contained."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LATER, assert_sound, begin, done, git, memories, memrepo

from memrepo.actions.run import run as run_command

COUNT, LEFT = 62, 3


# A run that took 59 of 62 memories away, and reported success


def bullets(count: int) -> dict[str, bytes]:
    lines = [f"- Depot {n} of the harbour line opens at {n % 24:02}:15." for n in range(count)]
    return {"MEMORY.md": ("# Memory\n\n## Depots (2026-01-10)\n\n" + "\n".join(lines)).encode()}


def recalled(repo: Path) -> set[str]:
    hidden = ("stale", "retire_candidate")
    return {
        i
        for i, m in memories(repo).items()
        if m.status == "active" and m.standing not in hidden and not m.is_note
    }


@pytest.fixture
def depots(tmp_path: Path) -> Path:
    """Return a repository with 62 memories, from whose source 59 lines are gone."""
    repo = begin(tmp_path, workspaces.write(tmp_path / "workspace", bullets(COUNT)))
    assert len(recalled(repo)) == COUNT
    workspaces.write(tmp_path / "workspace", bullets(LEFT))
    return repo


def test_the_notes_of_a_workspace_of_which_most_files_vanished_stay(tmp_path: Path) -> None:
    files = {
        f"memory/2026-01-{n:02}.md": f"# A day\n\n## 09:00\n\nRain for {n} hours.\n".encode()
        for n in range(1, 29)
    }
    repo = begin(tmp_path, workspaces.write(tmp_path / "workspace", files))
    workspaces.write(tmp_path / "workspace", dict(list(files.items())[:2]))
    before = {m.id for m in memories(repo).values()}
    done(repo, "run", now=LATER)
    assert {m.id for m in memories(repo).values()} == before, "what deleted files said is kept"


@pytest.mark.parametrize("verb", ["confirm", "pin"])
def test_who_confirms_or_pins_a_marked_memory_keeps_it(depots: Path, verb: str) -> None:
    marked = done(depots, "run", now=LATER)["marked"][0]
    done(depots, verb, marked, now=LATER)
    assert memories(depots)[marked].standing == "resolved"
    tried = memrepo(depots, "accept", "removals", "--dry-run", now=LATER, as_json=False)
    assert tried.out.startswith("would be archived: ")
    done(depots, "accept", "removals", now=LATER)
    assert memories(depots)[marked].status == "active"
    assert_sound(depots)


# A model took two minutes, and a person went on working meanwhile


@pytest.fixture
def during(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Return how to make something happen while the next run's judge reads."""
    judge = run_command.judge
    calls: list[object] = []

    def plan(meanwhile: Callable[[], object]) -> None:
        def reading(*given: Any) -> Any:
            calls.append(given)
            if len(calls) == 1:
                meanwhile()
            return judge(*given)

        monkeypatch.setattr(run_command, "judge", reading)

    return plan


During = Callable[[Callable[[], object]], None]


def superseded(repo: Path) -> tuple[str, Path]:
    """Return the memory that the next run replaces, and its file."""
    workspaces.growing(repo.parent / "workspace", 3)
    id_, memory = next((i, m) for i, m in memories(repo).items() if "every 3 days" in m.body)
    return id_, repo / memory.path


def edited(path: Path) -> None:
    path.write_text(path.read_text().replace("every 3 days", "every 3 days, in May every 2"))


def test_an_edit_committed_during_the_call_stays_and_the_run_lands(
    small_repo: Path, during: During
) -> None:
    id_, path = superseded(small_repo)

    def meanwhile() -> None:
        edited(path)
        git(small_repo, "commit", "-qam", "my own words")

    during(meanwhile)
    answer = memrepo(small_repo, "run", now=LATER)
    assert answer.exit in (0, 3)
    assert "in May every 2" in memories(small_repo)[id_].body
    assert "my own words" in git(small_repo, "log", "--format=%s")
    assert_sound(small_repo)
