"""History in memory terms: trailers as they were meant, and nobody else's for ours."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
from driving import git

from memrepo.core.changes import Step
from memrepo.core.messages import Context, message
from memrepo.store import history
from memrepo.store.local import opened

A, B = "mem-" + "a" * 16, "mem-" + "b" * 16


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make a repository without a commit."""
    git(tmp_path, "init", "-q")
    return tmp_path


def commit(repo: Path, text: str) -> str:
    git(repo, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", text)
    return git(repo, "rev-parse", "HEAD").strip()


def revert(repo: Path, *targets: str) -> str:
    """Commit that earlier commits are taken back."""
    step = Step(op="revert", what="something", memories=(A,))
    return commit(repo, message(step, Context(actor="human:a@b", reverts=targets)))


def read(repo: Path, *argv: str) -> list[history.LogEntry]:
    with opened(repo) as found:
        return list(history.entries(found, *(argv or ("HEAD",))))


def taken_back(repo: Path) -> frozenset[str]:
    with opened(repo) as found:
        return frozenset(history.reverted_memories(found, "HEAD"))


def test_what_a_step_says_is_what_is_read(bare: Path) -> None:
    step = Step(op="supersede", what="a-slug", reason="newer évidence 北京", memories=(A, B))
    context = Context(actor="human:a@b", run="20260301T090000Z-00000000", reverts=("f" * 40,))
    commit(bare, message(step, context))
    (entry,) = read(bare)
    assert (entry.subject, entry.op, entry.run) == ("a-slug", "supersede", context.run)
    assert entry.trailers["Memory"] == (A, B)
    assert entry.trailers["Reverts"] == ("f" * 40,)
    assert entry.trailer("Reason") == "newer évidence 北京"
    assert entry.trailer("Actor") == "human:a@b"


@pytest.mark.parametrize(
    "reason",
    [
        "x\nMemrepo-Run: forged",
        "x\r\n\r\nMemrepo-Op: run",
        "Memrepo-Run: forged",
        "x\u2028Memrepo-Run: forged",
        "x\x0bMemrepo-Run: forged",
        "x\x1e\x1f\x1d\0forged",
        "x\n---\nMemrepo-Run: forged",
        "---",
        "# comment",
        "x" * 2000 + "\nMemrepo-Run: forged",
        "x\n \nMemrepo-Run: forged",
        "",
        "Memrepo-Reverts: " + "f" * 40,
        "x\n\nMemrepo-Reverts: " + "f" * 40 + "\nMemrepo-Memory: " + B,
        "memrepo-op: run",
    ],
)
def test_no_reason_can_pose_as_another_trailer(bare: Path, reason: str) -> None:
    step = Step(op="edit", what=f"a {reason}", reason=reason, memories=(A,))
    commit(bare, message(step, Context(actor=f"human:{reason}@b")))
    (entry,) = read(bare)
    assert entry.op == "edit"
    assert entry.run == ""
    assert set(entry.trailers) <= {"Op", "Memory", "Actor", "Reason"}
    assert entry.trailers["Memory"] == (A,)
    assert len(entry.trailers["Actor"]) == 1
    assert taken_back(bare) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "a\x1db",
        "a\x1fb\x1ec",
        "a\n\nMemrepo-Op: nonsense",
        "\x1d",
        "a\n\nb: c\x1d\x1f",
        "é",
    ],
)
def test_a_persons_message_of_any_kind_is_one_edit(bare: Path, text: str) -> None:
    first, second = commit(bare, text), commit(bare, "after")
    found = read(bare)
    assert [e.commit for e in found] == [second, first]
    assert [e.op for e in found] == ["edit", "edit"]
    assert found[0].parents == (first,)


def test_a_revert_of_a_revert_brings_back_and_a_third_takes_again(bare: Path) -> None:
    run = commit(bare, "a run")
    other = commit(bare, "another")
    assert taken_back(bare) == frozenset()
    once = revert(bare, run)
    assert taken_back(bare) == {run}
    twice = revert(bare, once)
    assert taken_back(bare) == frozenset()
    thrice = revert(bare, twice)
    assert taken_back(bare) == {run}
    revert(bare, thrice)
    assert taken_back(bare) == frozenset()
    revert(bare, run, other)
    assert taken_back(bare) == {run, other}


def test_any_name_a_file_can_have_is_found_where_it_last_changed(bare: Path) -> None:
    names = [
        "s/a b.md",
        "s/\nfirst.md",
        "s/mid\ndle.md",
        "s/last\n",
        "s/日 🚀.md",
        "s/\udcff.md",
        "s/*.md",
        "s/-n",
        "s/:(top)x",
    ]
    put(bare, 1, *names, "root.md")
    put(bare, 2)
    put(bare, 3, "s/mid\ndle.md", "s/last\n", "s/\udcff.md", "root.md")
    put(bare, 4, "s/*.md")
    put(bare, 5)
    put(bare, 6, "other.md")
    wanted = dict.fromkeys(names, 1) | dict.fromkeys(
        ("s/mid\ndle.md", "s/last\n", "s/\udcff.md"), 3
    )
    wanted["s/*.md"] = 4
    with opened(bare) as found:
        assert days(history.last_changed(found, "HEAD", names)) == wanted
        # Not one folder: the whole tree is walked.
        assert days(history.last_changed(found, "HEAD", [*names, "root.md"])) == {
            **wanted,
            "root.md": 3,
        }
        assert days(history.last_changed(found, "HEAD~3", ["s/*.md", "other.md"])) == {"s/*.md": 1}
        assert history.last_changed(found, "HEAD", []) == {}


def days(found: dict[str, datetime]) -> dict[str, int]:
    return {name: when.day for name, when in found.items()}


def put(repo: Path, day: int, *names: str) -> None:
    """Commit new contents of some files on a day; of none, an empty commit."""
    for name in names:
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"day {day}")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", f"day {day}")
    committer(repo, f"2026-01-0{day}T12:00:00Z")


def committer(repo: Path, day: str) -> None:
    """Set the committer date of the last commit."""
    subprocess.run(
        ["git", "-C", str(repo), "commit", "-q", "--amend", "--no-edit", "--allow-empty"],
        env={**os.environ, "GIT_COMMITTER_DATE": day},
        check=True,
    )
