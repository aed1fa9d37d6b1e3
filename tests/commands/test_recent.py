"""`memrepo recent`: what is new or changed since a day, a run or a commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import begin, done, git, memrepo
from workspaces import small


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", tmp_path / "repo", now="2026-03-01T09:00:00Z")
    return tmp_path / "repo"


def changes(repo: Path, *words: str, now: str) -> list[tuple[str, str]]:
    found = done(repo, "recent", *words, now=now)["changes"]
    return [(one["change"], one["hit"]["text"]) for one in found]


def test_each_change_is_told_once_and_newest_first(repo: Path) -> None:
    tea = done(repo, "add", "Tea is drunk at four.", now="2026-03-02T09:00:00Z")["id"]
    bo = done(repo, "add", "Bo is in Cebu.", now="2026-03-02T10:00:00Z")["id"]
    cy = done(repo, "add", "Cy sings.", now="2026-03-02T11:00:00Z")["id"]
    before = git(repo, "rev-parse", "HEAD").strip()
    done(repo, "supersede", tea, "Tea is drunk at five.", now="2026-03-09T09:00:00Z")
    done(repo, "edit", bo, "--text", "Bo is in Davao.", now="2026-03-10T09:00:00Z")
    done(repo, "forget", cy, now="2026-03-11T09:00:00Z")
    wanted = {
        ("new", "Tea is drunk at five."),
        ("superseded", "Tea is drunk at four."),
        ("reworded", "Bo is in Davao."),
        ("forgotten", "Cy sings."),
    }
    for since in ("2026-03-09", "2026-03-03", before, "2026-03-02T11:00:01Z", ""):
        found = changes(repo, *filter(None, [since]), now="2026-03-10T12:00:00Z")
        assert set(found) == wanted
        assert found[0] == ("reworded", "Bo is in Davao.")
    told = memrepo(repo, "recent", before, as_json=False).out
    assert "was: Bo is in Cebu." in told
    assert f"superseded {tea}" in told
    assert changes(repo, "2026-03-12", now="2026-03-12T09:00:00Z") == []


def test_since_before_the_first_commit_everything_is_new(repo: Path) -> None:
    done(repo, "add", "Cy sings.")
    assert changes(repo, "1999-01-01", now="2026-03-10T12:00:00Z") == [("new", "Cy sings.")]


def test_since_a_run_is_what_came_after_it(tmp_path: Path) -> None:
    repo = begin(tmp_path, small(tmp_path / "ws"))
    run = done(repo, "status")["last_run"]["run"]
    assert changes(repo, run, now="2026-03-10T12:00:00Z") == []
    done(repo, "add", "Cy sings.")
    assert changes(repo, run, now="2026-03-10T12:00:00Z") == [("new", "Cy sings.")]


def test_more_than_was_asked_for_is_counted(repo: Path) -> None:
    for name in ("Ana", "Bo", "Cy"):
        done(repo, "add", f"{name} sings.")
    found = done(repo, "recent", "1999-01-01", "-k", "2")
    assert (len(found["changes"]), found["left_out"]) == (2, 1)
    assert "and 1 more" in memrepo(repo, "recent", "1999-01-01", "-k", "2", as_json=False).out


def test_what_is_neither_a_date_nor_a_revision_is_refused(repo: Path) -> None:
    assert memrepo(repo, "recent", "soon").exit == 2


def test_what_a_person_rejected_is_told_to_nobody_as_news(repo: Path) -> None:
    done(repo, "add", "Ana sings.")
    gone = done(repo, "add", "Bo sings.")["id"]
    rejected = done(repo, "add", "Cy sings.")["id"]
    assert len(changes(repo, "1999-01-01", now="2026-03-10T12:00:00Z")) == 3
    done(repo, "forget", gone)
    done(repo, "reject", rejected, "--reason", "it never was")
    assert changes(repo, "1999-01-01", now="2026-03-10T12:00:00Z") == [("new", "Ana sings.")]
    assert changes(repo, "HEAD~1", now="2026-03-10T12:00:00Z") == []
    done(repo, "reject", rejected, "--undo")
    assert ("new", "Cy sings.") in changes(repo, "1999-01-01", now="2026-03-10T12:00:00Z")
