"""One child reads all objects: whatever becomes of it, an answer is git's or there is an error."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driving import git

from memrepo.store.git import GitFailed, TreeEntry
from memrepo.store.local import Repo, opened

NONE = "1" * 40


@pytest.fixture
def found(repo: Path) -> Iterator[Repo]:
    with opened(repo) as made:
        yield made


def standing() -> list[int]:
    """Return the children of this process, those of its threads too."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(word) for task in tasks for word in task.read_text().split()]


def blobs(repo: Path) -> list[str]:
    return git(repo, "ls-tree", "-r", "--format=%(objectname)", "HEAD").split()


def broken(repo: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a script answer for `git cat-file`, and git itself for all else."""
    folder = repo.parent / "bin"
    folder.mkdir()
    real = git(repo, "--exec-path").strip() + "/git"
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\ncase " $* " in *" cat-file "*) {script};; esac\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


# -- what is read --------------------------------------------------------------------------------


def test_a_tree_is_listed_as_git_lists_it(repo: Path, found: Repo) -> None:
    (repo / "a.b").write_text("x")
    (repo / "a").mkdir()
    (repo / "a" / "b c").write_text("x")
    (repo / os.fsdecode(b"\xff\n")).write_text("x")
    (repo / "a" / "link").symlink_to("nowhere")
    (repo / "run").write_text("#!/bin/sh\n")
    (repo / "run").chmod(0o755)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--no-verify", "-m", "more")
    listed = git(repo, "ls-tree", "-r", "-z", "--full-tree", "HEAD").split("\0")[:-1]
    rows = (row.split("\t") for row in listed)
    wanted = {path: TreeEntry(head.split(" ")[0], head.split(" ")[2]) for head, path in rows}
    objects = found.objects
    assert dict(objects.files("HEAD")) == wanted
    assert all(objects.at("HEAD", path) == one for path, one in wanted.items())
    assert [objects.at("HEAD", path) for path in ("none", "a.b/c", "a/b c/d", "memories/x")] == (
        [None] * 4
    )


def swapped(repo: Path) -> None:
    """Put a folder in the place of a file, and a file in that of a folder."""
    (repo / "memrepo.toml").unlink()
    (repo / "memrepo.toml").mkdir()
    (repo / "memrepo.toml" / "x").write_text("x")
    shutil.rmtree(repo / "sources")
    (repo / "sources").write_text("x")


CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda repo: None,
    "a file": lambda repo: (repo / "memrepo.toml").write_text("x"),
    "a mode": lambda repo: (repo / "memrepo.toml").chmod(0o755),
    "all gone": lambda repo: git(repo, "rm", "-rq", "."),
    "file and folder": swapped,
}


@pytest.mark.parametrize("kind", CHANGES)
def test_two_commits_differ_as_git_says(repo: Path, found: Repo, kind: str) -> None:
    CHANGES[kind](repo)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--no-verify", "--allow-empty", "-m", "more")
    objects, empty = found.objects, git(repo, "hash-object", "-t", "tree", "/dev/null")
    for one, other in (("HEAD^", "HEAD"), ("HEAD", "HEAD^"), ("", "HEAD"), ("HEAD", "")):
        sides = (one or empty.strip(), other or empty.strip())
        raw = git(repo, "diff-tree", "-r", "-z", "--no-renames", "--raw", *sides).split("\0")
        wanted = {}
        for head, path in zip(raw[0::2], raw[1::2], strict=False):
            before, after, old, new, _ = head.removeprefix(":").split(" ")
            ids = (blob.strip("0") and blob for blob in (old, new))
            wanted[path] = tuple(map(TreeEntry, (before, after), ids))
        assert {path: (a, b) for path, a, b in objects.differences(one, other)} == wanted


# -- what becomes of the child -------------------------------------------------------------------


def test_a_child_that_is_killed_is_followed_by_another(repo: Path, found: Repo) -> None:
    before = set(standing())
    for id_ in blobs(repo):
        found.read(id_)
        (child,) = set(standing()) - before
        os.kill(child, signal.SIGKILL)
        assert found.objects.find(NONE) is None
    assert found.objects.commit("HEAD") == git(repo, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize(
    "script",
    [
        "exit 0",
        "exit 128",
        "kill -9 $$",
        "read line; exit 0",
        "read line; echo half",
        "echo 2222222222222222222222222222222222222222 blob 1; echo x",
        'read line; echo "$line blob 1000"; echo x; exit 0',
    ],
)
def test_a_child_that_gives_no_answer_is_an_error_and_never_a_no(
    repo: Path, found: Repo, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    broken(repo, monkeypatch, script)
    with pytest.raises(GitFailed, match="cat-file"):
        found.read(git(repo, "rev-parse", "HEAD").strip())
    with pytest.raises(GitFailed, match="cat-file"):
        found.objects.find(NONE)
