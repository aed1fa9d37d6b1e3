"""One child reads all objects: whatever becomes of it, an answer is git's or there is an error."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from driving import git

from memrepo.core.errors import GitFailed
from memrepo.store.git import Repo, opened

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


KINDS: dict[str, Callable[[Path], object]] = {
    "a branch": lambda repo: None,
    "detached": lambda repo: git(repo, "switch", "-q", "--detach"),
    "unborn": lambda repo: git(repo, "switch", "-q", "--orphan", "fresh"),
    "a link for HEAD": lambda repo: (
        (repo / ".git/HEAD").unlink(),
        (repo / ".git/HEAD").symlink_to("refs/heads/main"),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_branch_is_what_git_says(repo: Path, kind: str) -> None:
    KINDS[kind](repo)
    with opened(repo) as found:
        assert found.head == git(repo, "rev-parse", "-q", "--verify", "HEAD", check=False).strip()
        assert found.branch == git(repo, "symbolic-ref", "-q", "HEAD", check=False).strip()
        assert found.ref("refs/tags/none") == ""
