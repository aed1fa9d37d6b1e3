"""Notes that were looked for again and again are judged by a run, once, and become memories."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from driving import NOW, assert_sound, done, git, memories, standing

from memrepo.core.memory import Memory
from memrepo.core.times import format_time, parse_time

SAID = "The backup of the wiki runs at 03:40 and writes to the second disk in the cellar."


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def noted(repo: Path, text: str) -> str:
    return str(done(repo, "add", text, "--type", "note")["id"])


def looked_for(repo: Path, id_: str, times: int = 3) -> None:
    for hour in range(times):
        done(repo, "show", id_, now=after(hours=hour))


def promoted(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.origin == "promotion"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace."""
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def test_a_note_looked_for_three_times_becomes_a_memory_that_quotes_it(repo: Path) -> None:
    id_ = noted(repo, SAID)
    looked_for(repo, id_)
    ran = done(repo, "run", now=after(days=1))
    assert (ran["counts"]["nominated"], ran["counts"]["memories_new"]) == (1, 1)
    (made,) = promoted(repo)
    note = memories(repo)[id_]
    assert note.promoted
    assert made.body == SAID
    assert made.type != "note"
    (source,) = made.sources
    assert source.resource == note.path
    (quoted,) = done(repo, "why", made.id, now=after(days=1))["evidence"]
    assert (quoted["quote"], quoted["missing"]) == (SAID, False)
    body = git(repo, "log", "--format=%B", "-20")
    assert (
        f"Memrepo-Reason: 3 retrievals in 7 days, last retrieved {after(hours=2)}: became" in body
    )
    assert f"Memrepo-Memory: {made.id}" in body
    assert_sound(repo)


def test_a_nominated_note_makes_no_memory_twice(tmp_path: Path) -> None:
    said = "Never open the kiln before it has cooled for nine hours."
    log = tmp_path / "workspace" / "memory" / "2026-03-01.md"
    log.parent.mkdir(parents=True)
    log.write_text(
        f"# 2026-03-01\n\n## 09:10 Kiln\n\n- {said}\n- We decided to fire recipe 14 hotter.\n"
    )
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    done(repo, "run")
    (note,) = [m for m in memories(repo).values() if m.type == "note"]
    claims = {i for i, m in memories(repo).items() if m.type != "note"}
    looked_for(repo, note.id)
    done(repo, "run", now=after(days=1))
    assert len(claims) == 2
    assert {i for i, m in memories(repo).items() if m.type != "note"} == claims
    assert memories(repo)[note.id].promoted
    assert_sound(repo)


def test_a_nomination_that_a_person_took_back_is_not_made_again(repo: Path) -> None:
    id_ = noted(repo, SAID)
    looked_for(repo, id_)
    run = done(repo, "run", now=after(days=1))["run"]
    done(repo, "revert", run, now=after(days=1))
    assert (promoted(repo), memories(repo)[id_].promoted) == ([], False)
    done(repo, "run", now=after(days=2))
    assert (promoted(repo), memories(repo)[id_].promoted) == ([], False)


def test_a_dry_run_counts_the_nomination_and_writes_nothing(repo: Path) -> None:
    id_ = noted(repo, SAID)
    looked_for(repo, id_)
    before = standing(repo)
    dry = done(repo, "run", "--dry-run", now=after(days=1))
    assert dry["counts"]["nominated"] == 1
    assert standing(repo) == before
    assert done(repo, "run", now=after(days=1))["counts"] == dry["counts"]
