"""History in memory terms: trailers as they were meant, and nobody else's for ours."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from driving import git

from memrepo.core.messages import Context, message
from memrepo.core.state import Step
from memrepo.store import history
from memrepo.store.git import opened

A, B = "mem-" + "a" * 16, "mem-" + "b" * 16


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Make a repository without a commit."""
    git(tmp_path, "init", "-q")
    return tmp_path


def commit(repo: Path, text: str) -> str:
    git(repo, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", text)
    return git(repo, "rev-parse", "HEAD").strip()


def read(repo: Path, *argv: str) -> list[history.LogEntry]:
    with opened(repo) as found:
        return list(history.entries(found, *(argv or ("HEAD",))))


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
    assert "Reverts" not in entry.trailers


@pytest.mark.parametrize(
    "text",
    [
        *("plain", "a\x1db", "a\x1fb\x1ec", "a\n\nMemrepo-Op: nonsense", "\x1d"),
        *("a\n\nb: c\x1d\x1f", "é"),
    ],
)
def test_a_persons_message_of_any_kind_is_one_edit(bare: Path, text: str) -> None:
    first, second = commit(bare, text), commit(bare, "after")
    found = read(bare)
    assert [e.commit for e in found] == [second, first]
    assert [e.op for e in found] == ["edit", "edit"]
    assert found[0].parents == (first,)


def test_when_a_file_last_changed_follows_first_parents(bare: Path) -> None:
    names = ["s/a.md", 's/with "quotes" and \\.md', "s/日記.md", "s/deep/er/b.md"]
    for number, name in enumerate(names):
        path = bare / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        git(bare, "add", "-A")
        day = f"2026-01-0{number + 1}T12:00:00Z"
        git(bare, "-c", "core.quotePath=true", "commit", "-qm", name)
        git(bare, "commit", "-q", "--amend", "--no-edit", "--date", day)
        committer(bare, day)
    git(bare, "switch", "-qc", "side")
    (bare / "s/a.md").write_text("changed on the side")
    git(bare, "commit", "-qam", "side")
    git(bare, "switch", "-q", "main")
    git(bare, "merge", "-q", "--no-ff", "-m", "join", "side")
    committer(bare, "2026-01-09T12:00:00Z")
    with opened(bare) as found:
        days = history.last_changed(found, "HEAD", [*names, "s/none.md"])
    assert {name: day.day for name, day in days.items()} == {
        "s/a.md": 9,
        names[1]: 2,
        names[2]: 3,
        names[3]: 4,
    }


def committer(repo: Path, day: str) -> None:
    """Set the committer date of the last commit."""
    subprocess.run(
        ["git", "-C", str(repo), "commit", "-q", "--amend", "--no-edit", "--allow-empty"],
        env={**os.environ, "GIT_COMMITTER_DATE": day},
        check=True,
    )


def twins(bare: Path, here: str, there: str, subject: str) -> str:
    """Commit two texts with equal parent, subject and times; return the one in HEAD."""
    commit(bare, "start")
    made = []
    for text in (there, here):
        (bare / "note.md").write_text(text)
        git(bare, "add", "-A")
        commit(bare, subject)
        git(bare, "commit", "-q", "--amend", "--no-edit", "--date", "2026-01-01T12:00:00Z")
        committer(bare, "2026-01-01T12:00:00Z")
        made.append(git(bare, "rev-parse", "HEAD").strip())
        git(bare, "update-ref", "refs/remotes/origin/main", made[0])
        if len(made) == 1:
            git(bare, "reset", "-q", "--hard", "HEAD^")
    return made[1]


@pytest.mark.parametrize("mark", ["\u2028", "\x0c", "\x1c", "\x85"])
def test_a_purge_elsewhere_is_found_whatever_a_subject_contains(bare: Path, mark: str) -> None:
    here = twins(bare, "Ana likes\ntea.\n", "PURGED tea.\n", f"Add{mark}a line")
    with opened(bare) as found:
        assert history.purged_elsewhere(found) == here


def test_another_commit_of_the_same_second_that_speaks_of_purges_is_none(bare: Path) -> None:
    twins(bare, "The lamp is green.\n", "The queue was purged.\n", "Run: 1 added")
    with opened(bare) as found:
        assert history.purged_elsewhere(found) == ""
