"""What counts as a retrieval, and in which session."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, memories, memrepo, standing

from memrepo.core.manifest import Access, Accesses, seconds
from memrepo.core.times import parse_time
from memrepo.store.repo import open_repository
from memrepo.store.run_files import BUFFER, Ledger


def accesses(repo: Path) -> Accesses:
    with open_repository(repo) as store:
        return Ledger(store).accesses()


def account(repo: Path, id_: str) -> Access:
    return accesses(repo).of(id_)


def any_id(repo: Path) -> str:
    return min(memories(repo))


def test_opening_a_memory_by_id_counts_and_changes_nothing_else(small_repo: Path) -> None:
    id_, before = any_id(small_repo), standing(small_repo)
    done(small_repo, "show", id_, now=LATER)
    assert account(small_repo, id_).recent == ((seconds(parse_time(LATER)), "day-2026-03-01"),)
    assert standing(small_repo) == before


def test_the_first_three_hits_of_a_query_count(small_repo: Path) -> None:
    words = " ".join(m.body for m in memories(small_repo).values())
    hits = [hit["id"] for hit in done(small_repo, "search", words)["hits"]]
    assert len(hits) > 3
    assert set(accesses(small_repo).by_memory) == set(hits[:3])


@pytest.mark.parametrize(
    "line", [["check", "--all"], ["diff"], ["why"], ["log"], ["status"], ["export", "jsonl"]]
)
def test_commands_that_only_look_count_nothing(small_repo: Path, line: list[str]) -> None:
    line = [*line, any_id(small_repo)] if line == ["why"] else line
    memrepo(small_repo, *line)
    assert not (small_repo / ".git" / "memrepo" / BUFFER).exists()


def test_reading_works_where_the_ledger_cannot_be_written(small_repo: Path) -> None:
    id_ = any_id(small_repo)
    (small_repo / ".git" / "memrepo" / BUFFER).mkdir()
    assert done(small_repo, "show", id_)["memory"]["id"] == id_


@pytest.mark.parametrize("command", ["show", "search"])
def test_no_touch_counts_nothing(small_repo: Path, command: str) -> None:
    word = any_id(small_repo) if command == "show" else "the"
    done(small_repo, command, word, "--no-touch")
    assert not (small_repo / ".git" / "memrepo" / BUFFER).exists()


def test_the_environment_names_the_session(
    small_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_SESSION", "chat 7\n")
    done(small_repo, "show", any_id(small_repo))
    assert account(small_repo, any_id(small_repo)).recent[0][1] == "chat 7"
