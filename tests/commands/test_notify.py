"""A person is told when something waits, failed, was missed or costs too much: once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import done, git, memrepo
from mornings import MORNING, OLD, copied, waiting


@pytest.fixture(scope="module")
def _night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return waiting(tmp_path_factory.mktemp("notify"))


@pytest.fixture
def repo(_night: Path, tmp_path: Path) -> Path:
    return copied(_night, tmp_path / "base")


@pytest.fixture
def told(tmp_path: Path, repo: Path) -> Path:
    """Have a program of the person's write down what it is told; return the file."""
    script, out = tmp_path / "tell me", tmp_path / "told"
    script.write_text(f"#!/bin/sh\n{{ echo \"$1\"; cat; echo; }} >> '{out}'\n")
    script.chmod(0o755)
    git(repo, "config", "memrepo.notify.command", f"'{script}'")
    return out


def test_a_person_is_told_once_of_what_waits_and_again_of_what_is_new(
    repo: Path, told: Path
) -> None:
    first = done(repo, "status", "--notify", now=MORNING)
    assert first["notified"] is True
    assert [need["kind"] for need in first["needs"]] == ["waits"]
    line, record = told.read_text().splitlines()
    assert line.startswith("memrepo repo: 2026")
    assert "waits for review: a reconciliation is reviewed" in line
    assert json.loads(record)["needs"][0]["kind"] == "waits"
    assert done(repo, "status", "--notify", now=MORNING)["notified"] is False
    done(repo, "discard", now=MORNING)
    assert done(repo, "status", "--notify", now=MORNING)["needs"] == []
    assert len(told.read_text().splitlines()) == 2


def test_a_run_that_waits_tells_at_its_end(repo: Path, told: Path) -> None:
    done(repo, "discard", now=MORNING)
    (repo.parent / "ws/MEMORY.md").write_text(OLD.replace("tea", "coffee"))
    assert memrepo(repo, "run", "--mode", "reconciliation", now=MORNING).exit == 3
    assert len(told.read_text().splitlines()) == 2  # a line, and the record
    assert "waits for review" in told.read_text()


def test_a_run_that_fails_tells(repo: Path, told: Path) -> None:
    done(repo, "accept", now=MORNING)
    (repo.parent / "ws").rename(repo.parent / "away")
    assert memrepo(repo, "run", now="2026-03-02T11:00:00Z").exit == 3
    assert "does not exist" in told.read_text()


@pytest.mark.parametrize(
    ("value", "said"),
    [("/no/such/program", "cannot be started"), ("false", "exit code 1")],
)
def test_who_cannot_be_told_is_a_warning(repo: Path, value: str, said: str) -> None:
    git(repo, "config", "memrepo.notify.command", value)
    answer = memrepo(repo, "status", "--notify", now=MORNING, as_json=False)
    assert answer.exit == 0
    assert said in answer.err


def test_the_exit_code_says_whether_something_needs_a_person(repo: Path) -> None:
    assert memrepo(repo, "status", now=MORNING).exit == 0
    assert memrepo(repo, "status", "--exit-code", now=MORNING).exit == 1
    done(repo, "accept", now=MORNING)
    assert memrepo(repo, "status", "--exit-code", now=MORNING).exit == 0


def test_a_repository_cannot_name_who_is_told(repo: Path) -> None:
    path = repo / "memrepo.toml"
    path.write_text(path.read_text() + '\n[notify]\ncommand = "touch owned"\n')
    answer = memrepo(repo, "status", "--notify", now=MORNING)
    assert answer.exit == 2
    assert "not read from a repository" in answer.error["message"]


# -- timers ----------------------------------------------------------------------------------------
