"""History in memory terms: trailers as they were meant, and nobody else's for ours."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path

import driving
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


def read(repo: Path, *argv: str) -> list[history.Entry]:
    with opened(repo) as found:
        return list(history.entries(found, *(argv or ("HEAD",))))


def taken_back(repo: Path) -> frozenset[str]:
    with opened(repo) as found:
        return frozenset(history.taken_back(found, "HEAD"))


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


def test_long_values_and_many_memories_are_read_whole(bare: Path) -> None:
    ids = tuple(f"mem-{n:016x}" for n in range(300))
    reason = "日記 " + "wörd " * 90 + "end"
    step = Step(op="forget", what="many", reason=reason, memories=ids)
    commit(bare, message(step, Context(actor="process:" + "n" * 400)))
    (entry,) = read(bare)
    assert entry.trailers["Memory"] == ids
    assert entry.trailer("Reason") == reason
    assert entry.trailer("Actor") == "process:" + "n" * 400
    assert entry.as_json()["memories"] == list(ids)


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


def test_an_empty_message_and_another_encoding_are_read(bare: Path) -> None:
    git(bare, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    git(bare, "-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-m", "caf\xe9")
    assert [e.op for e in read(bare)] == ["edit", "edit"]


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


def test_reverts_on_another_branch_count_when_it_is_joined(bare: Path) -> None:
    run = commit(bare, "a run")
    git(bare, "switch", "-qc", "side")
    revert(bare, run)
    git(bare, "switch", "-q", "main")
    commit(bare, "on main")
    assert taken_back(bare) == frozenset()
    git(bare, "merge", "-q", "--no-ff", "-m", "join", "side")
    assert taken_back(bare) == {run}


def test_a_long_row_of_reverts_is_followed(bare: Path) -> None:
    run = last = commit(bare, "a run")
    for _ in range(30):
        last = revert(bare, last)
    assert taken_back(bare) == frozenset()
    revert(bare, last)
    assert taken_back(bare) == {run}


def test_the_chain_of_a_run_is_read_oldest_first(place: Path) -> None:
    repo = place / "repo"
    with opened(repo) as found:
        merge = next(e for e in history.entries(found, "--first-parent", "HEAD") if e.is_run)
        chain = history.chain_of(found, merge.commit)
    assert chain[-1].op == "run"
    assert chain[-1].commit == merge.parents[1]
    assert chain[0].parents == (merge.parents[0],)
    assert {e.run for e in chain} == {merge.run}


def test_the_chain_of_a_merge_is_its_second_side_and_of_one_commit_itself(bare: Path) -> None:
    root = commit(bare, "root")
    git(bare, "switch", "-qc", "side")
    one, two = commit(bare, "one"), commit(bare, "two")
    git(bare, "switch", "-q", "main")
    own = commit(bare, "on main meanwhile")
    git(bare, "merge", "-q", "--no-ff", "-m", "join", "side")
    with opened(bare) as found:
        assert [e.commit for e in history.chain_of(found, "HEAD")] == [one, two]
        for single in (root, own, two):
            assert [e.commit for e in history.chain_of(found, single)] == [single]


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
        assert days(history.last_touched(found, "HEAD", names)) == wanted
        # Not one folder: the whole tree is walked.
        assert days(history.last_touched(found, "HEAD", [*names, "root.md"])) == {
            **wanted,
            "root.md": 3,
        }
        assert days(history.last_touched(found, "HEAD~3", ["s/*.md", "other.md"])) == {"s/*.md": 1}
        assert history.last_touched(found, "HEAD", []) == {}


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
        days = history.last_touched(found, "HEAD", [*names, "s/none.md"])
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


def test_entries_print_as_json(place: Path) -> None:
    entry = read(place / "repo", "-1", "HEAD")[0].as_json()
    assert entry["op"] == "run"
    assert entry["when"] == driving.NOW
