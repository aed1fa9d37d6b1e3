"""The writer refuses rather than guesses, and a refusal changes nothing at all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import driving
import pytest
import standing
import workspaces
from driving import git

from memrepo.core.errors import BranchMoved
from memrepo.core.layout import Layout
from memrepo.core.times import parse_time
from memrepo.store.git import opened
from memrepo.store.objects import Chain, NewCommit
from memrepo.store.repo import Repository, open_repository

WRITERS = (("run",), ("ingest",), ("revert", "--reason", "test"))


def refused(repo: Path, exit_code: int, word: str, *argv: str) -> None:
    """Run a command that must refuse, and check that it left everything as it was."""
    before = standing.prints(repo)
    answer = driving.memrepo(repo, *argv, now=driving.LATER)
    assert answer.exit == exit_code, answer
    assert word in answer.error["message"]
    assert standing.prints(repo) == before
    assert standing.left_behind(repo) == []


def diverge(repo: Path) -> None:
    """Make a branch `side` that conflicts with main in one file."""
    (repo / "own.txt").write_text("one\n")
    git(repo, "add", "own.txt")
    git(repo, "commit", "-qm", "one")
    git(repo, "switch", "-qc", "side", "HEAD~")
    (repo / "own.txt").write_text("two\n")
    git(repo, "add", "own.txt")
    git(repo, "commit", "-qm", "two")
    git(repo, "switch", "-q", "main")


MIDDLES: dict[str, tuple[str, ...]] = {
    "a merge": ("merge", "-q", "side"),
    "a rebase": ("rebase", "-q", "side"),
    "a cherry-pick": ("cherry-pick", "side"),
    "a revert": ("revert", "--no-edit", "HEAD~"),
    "a bisect": ("bisect", "start"),
}


@pytest.mark.parametrize("argv", WRITERS, ids=lambda argv: argv[0])
@pytest.mark.parametrize("what", MIDDLES)
def test_in_the_middle_of_something_nothing_is_written(
    repo: Path, what: str, argv: tuple[str, ...]
) -> None:
    diverge(repo)
    if what == "a revert":
        (repo / "own.txt").write_text("three\n")
        git(repo, "commit", "-qam", "three")
    git(repo, *MIDDLES[what], check=False)
    refused(repo, 5, f"in the middle of {what}", *argv)


def test_unmerged_paths_without_a_merge_are_refused(repo: Path) -> None:
    diverge(repo)
    git(repo, "merge", "-q", "side", check=False)
    (repo / ".git" / "MERGE_HEAD").unlink()
    refused(repo, 5, "unmerged", "run")


@pytest.mark.parametrize("argv", WRITERS, ids=lambda argv: argv[0])
def test_a_detached_head_is_refused(repo: Path, argv: tuple[str, ...]) -> None:
    git(repo, "switch", "-q", "--detach")
    refused(repo, 5, "detached", *argv)
    assert driving.memrepo(repo, "status").exit == 0


def test_a_shallow_clone_is_refused(repo: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", str(shallow))
    git(shallow, "config", "memrepo.workspace", str(repo.parent / "ws"))
    refused(shallow, 5, "shallow", "run")


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes"])
def test_a_filter_on_a_path_to_be_written_is_refused(repo: Path, where: str) -> None:
    if where == ".gitattributes":
        path = repo / "memories" / where
    else:
        path = repo / where
        path.parent.mkdir(exist_ok=True)
    path.write_text("*.md filter=crypt\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "attributes", check=False)
    driving.memrepo(repo, "ingest", now=driving.LATER)
    refused(repo, 5, "git filter 'crypt'", "run")


TRACKED = {
    "modified": 'echo mine > "$p"',
    "staged": 'echo mine > "$p"; git add "$p"',
    "staged and restored": 'cp "$p" ../old; echo mine > "$p"; git add "$p"; cp ../old "$p"',
    "removed": 'git rm -q "$p"',
    "made a program": 'chmod +x "$p"',
    "made a program and staged": 'chmod +x "$p"; git add "$p"',
    "linked": 'rm "$p"; ln -s "$PWD/../elsewhere" "$p"',
    "hidden": 'git update-index --assume-unchanged "$p"; echo mine > "$p"',
    "skipped": 'git update-index --skip-worktree "$p"; echo mine > "$p"',
    "replaced by a folder": 'rm "$p"; mkdir "$p"; echo mine > "$p/inside.txt"',
    "made a pipe": 'rm "$p"; mkfifo "$p"',
}
"""What a person does with a tracked path `$p`."""
NEW = {
    "untracked": 'echo mine > "$p"',
    "ignored": 'echo mine > "$p"; echo "/$p" >> .git/info/exclude',
    "in an ignored folder": 'echo mine > "$p"; echo "/${p%/*}/" >> .git/info/exclude',
    "staged": 'echo mine > "$p"; git add "$p"',
    "intended": 'echo mine > "$p"; git add -N "$p"',
    "a folder": 'mkdir "$p"; echo mine > "$p/inside.txt"',
    "a folder of ignored files": (
        'mkdir "$p"; echo mine > "$p/inside.txt"; echo "/$p/inside.txt" >> .git/info/exclude'
    ),
}
"""What a person makes of a path `$p` at which there is no file yet."""


@pytest.mark.parametrize("how", [*TRACKED, *(f"new: {how}" for how in NEW)])
def test_a_persons_work_on_a_path_to_be_written_is_left_alone(repo: Path, how: str) -> None:
    driving.done(repo, "ingest", now=driving.LATER)
    is_new, script = how.startswith("new: "), {**TRACKED, **{f"new: {k}": NEW[k] for k in NEW}}[how]
    path = next(
        p
        for p in standing.paths_of_next_run(repo)
        if (repo / p).exists() != is_new and (not is_new or "/notes/" in p)
    )
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["sh", "-ec", script], cwd=repo, env={**os.environ, "p": path}, check=True)
    refused(repo, 5, f"on paths to be written: {path}" if "program" in how else path, "run")


@pytest.mark.parametrize("area", ["memories", "sources", "views", "runs"])
def test_an_area_that_became_a_link_is_never_written_through(repo: Path, area: str) -> None:
    outside = repo.parent / "outside"
    (repo / area).rename(outside)
    (repo / area).symlink_to(outside)
    before = driving.files(outside)
    answer = driving.memrepo(repo, "run", now=driving.LATER)
    assert answer.exit == 5
    assert area in answer.error["message"]
    assert driving.files(outside) == before
    assert (repo / area).is_symlink()


def test_the_branch_that_moved_meanwhile_is_not_written(repo: Path) -> None:
    with open_repository(repo) as store:
        chain = Chain(
            base=store.head(),
            commits=[NewCommit(message="a\n", effect={"a": b"1"})],
            when=store.commit_time(store.head()),
        )
        git(repo, "commit", "-q", "--allow-empty", "-m", "meanwhile")
        before = standing.prints(repo)
        with pytest.raises(BranchMoved):
            store.land(chain, "late")
    assert standing.prints(repo) == before
    assert standing.left_behind(repo) == []


@pytest.mark.parametrize("how", ["untracked", "staged", "intended", "ignored"])
def test_a_file_in_the_inbox_is_taken_as_it_lies(repo: Path, how: str) -> None:
    driving.done(repo, "ingest", now=driving.LATER)
    inbox = repo / "sources" / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / "a.md").write_text("- Holt moved to Bergen.\n")
    inode = (inbox / "a.md").stat().st_ino
    if how == "staged":
        git(repo, "add", "sources/inbox/a.md")
    elif how == "intended":
        git(repo, "add", "-N", "sources/inbox/a.md")
    elif how == "ignored":
        (repo / ".git" / "info" / "exclude").write_text("inbox/\n")
    done = driving.done(repo, "ingest", now=driving.LATER)
    assert done["added"] == ["sources/inbox/a.md"]
    assert (inbox / "a.md").stat().st_ino == inode
    assert git(repo, "status", "--porcelain") == ""


def test_a_waiting_branch_with_a_persons_commits_is_not_overwritten(repo: Path) -> None:
    git(repo, "branch", "run/x")
    with open_repository(repo) as store:
        chain = Chain(
            base=store.head(),
            commits=[NewCommit(message="a\n", effect={"a": b"1"})],
            when=store.commit_time(store.head()),
        )
        before = standing.prints(repo)
        with pytest.raises(Exception, match="run/x already exists"):
            store.leave(chain, "run/x")
        assert standing.prints(repo) == before
        tip = store.leave(chain, "run/y")
        assert store.leave(chain, "run/y") == tip
    assert git(repo, "rev-parse", "run/y").strip() == tip
    assert standing.left_behind(repo) == []


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    workspaces.small(tmp_path / "ws")
    made = subprocess.run(
        ["git", "init", "-q", "--object-format=sha256", str(tmp_path / "repo")], check=False
    )
    assert made.returncode == 0
    repo = driving.begin(tmp_path, tmp_path / "ws")
    assert len(git(repo, "rev-parse", "HEAD").strip()) == 64
    driving.done(repo, "revert")
    assert git(repo, "status", "--porcelain") == ""


def test_an_unborn_branch_takes_a_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_bytes(b"1")
    with opened(tmp_path) as repo:
        store = Repository(repo, Layout())
        tip = store.land(
            Chain(
                base="",
                commits=[NewCommit(message="a\n", effect={"a": b"1"})],
                when=parse_time(driving.NOW),
            ),
            "first",
        )
        assert store.head() == tip
    assert git(tmp_path, "status", "--porcelain") == ""
