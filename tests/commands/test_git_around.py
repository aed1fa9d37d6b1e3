"""Plain git around a run: whatever became of its commits, it is listed, taken back, kept away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import assert_sound, done, git, memories, memrepo, runs, tree

LATEST, NIGHT = "2026-03-01T11:10:00Z", "2026-03-01T12:10:00Z"


def by_hand(repo: Path, name: str = "note.txt", text: str = "mine\n") -> str:
    """Commit a file of a person's own; return the commit."""
    (repo / name).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", f"write {name}", "--no-verify")
    return git(repo, "rev-parse", "HEAD").strip()


def amended_in_date(repo: Path) -> None:
    git(repo, "commit", "--amend", "-q", "--no-edit", "--no-verify", "--date=2020-01-01T00:00:00Z")


def rebased_with_merges(repo: Path) -> None:
    git(repo, "checkout", "-q", "-b", "other", "HEAD~1")
    by_hand(repo)
    git(repo, "checkout", "-q", "main")
    git(repo, "rebase", "-q", "--rebase-merges", "other")


def in_an_octopus(repo: Path) -> None:
    run = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "reset", "-q", "--hard", "HEAD^1")
    for name in ("one", "two"):
        git(repo, "checkout", "-q", "-b", name, "main")
        by_hand(repo, f"{name}.txt")
    git(repo, "checkout", "-q", "main")
    by_hand(repo)
    git(repo, "merge", "-q", "--no-edit", run, "one", "two")


CHANGED: dict[str, Callable[[Path], None]] = {
    "amended in its date": amended_in_date,
    "rebased with its merge": rebased_with_merges,
    "merged with others": in_an_octopus,
}


def owned(repo: Path) -> str:
    return git(repo, "ls-tree", "-r", "HEAD", "memories", "runs", "views", "corrections")


@pytest.fixture(params=CHANGED)
def changed(request: pytest.FixtureRequest, two_runs: Path) -> tuple[Path, str, str]:
    """Return a repository whose newest run has other commits by now, the run, and what was before.

    What was before are the files of memrepo as they were before the run.
    """
    run = runs(two_runs)[0]
    before = git(two_runs, "ls-tree", "-r", "HEAD^1", "memories", "runs", "views", "corrections")
    CHANGED[request.param](two_runs)
    return two_runs, run, before


def test_a_run_with_other_commits_is_listed_and_taken_back(changed: tuple[Path, str, str]) -> None:
    repo, run, before = changed
    assert run == runs(repo)[0] == done(repo, "status")["last_run"]["run"]
    told = [e for e in done(repo, "log")["entries"] if e["run"] == run]
    assert [e["op"] for e in told] == ["run"]
    assert run in str(done(repo, "diff", run))
    (line,) = [c for c in memrepo(repo, "doctor").data["checks"] if c["name"] == "runs"]
    assert line["ok"]
    assert line["message"].startswith("2 runs in effect")
    done(repo, "revert", run, now=LATEST)
    assert owned(repo) == before
    assert runs(repo) == runs(repo)[-1:]
    again = memrepo(repo, "revert", run, now=LATEST)
    assert again.exit == 2
    assert "is already reverted" in again.error["message"]
    assert_sound(repo)


# -- taken back by git, whole or in part -----------------------------------------------------------


def test_a_run_that_git_took_back_does_not_come_back_by_itself(two_runs: Path) -> None:
    second, first = runs(two_runs)
    git(two_runs, "revert", "--no-edit", "-m", "1", "HEAD")
    assert not done(two_runs, "status", now=NIGHT).get("problems")
    held = {i: m.status for i, m in memories(two_runs).items()}
    assert runs(two_runs) == [first]
    assert done(two_runs, "status")["last_run"]["run"] == first
    for word in ((), (second,)):
        answer = memrepo(two_runs, "revert", *word, now=LATEST)
        assert answer.exit == 2
        assert f"{second} is already reverted" in answer.error["message"]
    undo = memrepo(two_runs, "undo", now=LATEST)
    assert undo.exit == 2
    assert "commit by hand" in undo.error["message"]
    for now, status in ((NIGHT, "ok"), ("2026-03-01T13:10:00Z", "skipped")):
        night = memrepo(two_runs, "run", now=now)
        assert (night.exit, night.data["status"]) == (0, status)
        assert {i: m.status for i, m in memories(two_runs).items()} == held


# -- undo ------------------------------------------------------------------------------------------

LAST: dict[str, tuple[str, ...]] = {
    "a run": (),
    "a pin": ("pin", "alpha"),
    "a forgetting": ("forget", "alpha"),
    "a supersession": ("supersede", "alpha", "The server delta keeps the archive."),
    "a new memory": ("add", "A person added this afterwards."),
    "a rewording": ("edit", "alpha", "--text", "The server alpha keeps two archives."),
    "a revert": ("revert",),
}


@pytest.mark.parametrize("last", LAST)
def test_undo_twice_is_the_identity_pages_included(two_runs: Path, last: str) -> None:
    found = {m.body: i for i, m in memories(two_runs).items() if "alpha" in m.body}
    if LAST[last]:
        argv = next(iter(found.values())) if "alpha" in LAST[last] else ""
        done(two_runs, *(argv if word == "alpha" else word for word in LAST[last]), now=LATEST)
    full = tree(two_runs)
    done(two_runs, "undo", now=NIGHT)
    assert tree(two_runs) != full
    done(two_runs, "undo", now="2026-03-01T13:10:00Z")
    assert tree(two_runs) == full
    assert_sound(two_runs)


def test_without_a_name_never_something_older_goes(changed: tuple[Path, str, str]) -> None:
    repo, run, before = changed
    assert done(repo, "revert", "--dry-run")["name"] == run
    answer = memrepo(repo, "undo", now=LATEST)
    if answer.exit:
        assert run in answer.error["fix"] or "commit by hand" in answer.error["message"]
        return
    assert answer.data["name"] == run
    assert owned(repo) == before
    gone = memrepo(repo, "revert", now=LATEST)
    assert (gone.exit, run in gone.error["message"]) == (2, True)
