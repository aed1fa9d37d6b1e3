"""A rejected statement comes back by no path: written, run, imported, accepted, reverted."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, assert_sound, by_word, done, git, memories, memrepo, subjects

THIRD, FOURTH = "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"
ALPHA = "- The server alpha keeps the archive of the choir."
BETA = "- The server beta answers the telephone of the parish."
SAID = ALPHA.removeprefix("- ")


def write(base: Path, *lines: str) -> None:
    (base / "workspace").mkdir(exist_ok=True)
    (base / "workspace" / "MEMORY.md").write_text("# Infra\n\n" + "\n".join(lines) + "\n")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository after a run that made alpha and beta."""
    write(tmp_path, ALPHA, BETA)
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    return tmp_path / "repo"


def reject(repo: Path, word: str = "alpha", now: str = LATER) -> tuple[str, str]:
    """Reject the memory that has a word; return its id and the tombstone's key."""
    id_ = by_word(repo, word)
    done(repo, "reject", id_, "--reason", "it never did", now=now)
    (key,) = [r["key"] for r in done(repo, "reject", "--list")["rejected"] if r["memory"] == id_]
    return id_, key


def in_recall(repo: Path) -> set[str]:
    return {m.body for m in memories(repo).values() if m.status != "forgotten"}


def prune(repo: Path, id_: str) -> None:
    """Take a memory's file out of the tree, as upkeep does after a while."""
    git(repo, "rm", "-q", memories(repo)[id_].path)
    git(repo, "commit", "-qm", "prune by hand", "--no-verify")


def test_rejecting_is_one_commit_of_a_tombstone_a_memory_and_its_view(repo: Path) -> None:
    id_, key = reject(repo)
    assert memories(repo)[id_].status == "forgotten"
    changed = git(repo, "diff", "--name-only", "HEAD^").split()
    assert {memories(repo)[id_].path, f"tombstones/{key}.md", "views/LTMEMORY.md"} <= {*changed}
    assert "alpha" in (repo / f"tombstones/{key}.md").read_text()
    assert "alpha" not in (repo / "views" / "LTMEMORY.md").read_text()
    assert subjects(repo)[0] == f"Reject fact: {memories(repo)[id_].body}"
    assert_sound(repo)


def test_a_person_may_write_what_is_close_and_is_told(repo: Path) -> None:
    _, key = reject(repo)
    near = SAID.replace("choir", "parish")
    answer = memrepo(repo, "add", near, as_json=False)
    assert answer.exit == 0
    assert key in answer.err
    assert near in in_recall(repo)


def test_a_program_may_not(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reject(repo)
    monkeypatch.setenv("MEMREPO_ACTOR", "bot")
    answer = memrepo(repo, "add", SAID.replace("choir", "parish"))
    assert answer.exit == 3
    assert "is close to" in answer.error["message"]
    for argv in (("reject", "--undo", by_word(repo, "alpha")), ("undo",), ("revert", "HEAD")):
        answer = memrepo(repo, *argv)
        assert answer.exit == 3
        assert "only a person may" in answer.error["message"]


# -- the incident: forgotten, extracted again, imported again, resurrected by a revert ----------


def test_what_is_close_to_it_is_left_out_and_named(repo: Path) -> None:
    id_, key = reject(repo)
    prune(repo, id_)
    write(
        repo.parent,
        "- The server alpha keeps the old archive of the choir.",
        BETA,
        "- The organ was tuned by Mr. Holt.",
    )
    answer = memrepo(repo, "run", now=THIRD)
    (named,) = [w for w in answer.data["warnings"] if w["rule"] == "rejected-similar"]
    assert (answer.exit, key in named["message"]) == (0, True)
    assert not any("alpha" in body for body in in_recall(repo))
    assert any("organ" in body for body in in_recall(repo)), "the rest lands"


@pytest.mark.parametrize("pruned", [False, True])
def test_no_revert_of_an_older_operation_brings_it_back(repo: Path, pruned: bool) -> None:
    id_ = by_word(repo, "alpha")
    forgot = done(repo, "forget", id_)["commit"]
    reject(repo)
    if pruned:
        gone = git(repo, "rev-parse", "HEAD").strip()
        prune(repo, id_)
        assert gone
    done(repo, "revert", forgot, now=THIRD)
    assert SAID not in in_recall(repo)
    run = done(repo, "log", "--op", "run")["entries"][0]["run"]
    answer = memrepo(repo, "revert", run, "--later", now=THIRD)
    assert answer.exit == 0
    done(repo, "revert", answer.data["commits"][0], now=FOURTH)
    assert SAID not in in_recall(repo)
    assert BETA.removeprefix("- ") in in_recall(repo)
    assert_sound(repo)


def test_what_a_program_rejected_a_program_may_lift(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_ACTOR", "bot")
    id_, key = reject(repo)
    done(repo, "reject", "--undo", key, now=THIRD)
    assert memories(repo)[id_].status == "active"


def test_reverting_the_rejection_lifts_it_and_reverting_that_sets_it_again(repo: Path) -> None:
    id_, key = reject(repo)
    commit = git(repo, "rev-parse", "HEAD").strip()
    back = done(repo, "revert", commit, now=THIRD)["commits"][0]
    assert done(repo, "reject", "--list")["rejected"] == []
    assert memories(repo)[id_].status == "active"
    done(repo, "revert", back, now=FOURTH)
    (shown,) = done(repo, "reject", "--list")["rejected"]
    assert shown["key"] == key
    assert memories(repo)[id_].status == "forgotten"
    assert_sound(repo)
