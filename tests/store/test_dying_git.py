"""A git process that dies is an error or is asked again: what is decided is the same, or nothing.

A program named git stands first on the PATH. It counts its calls and, at one of them, ends by a
signal, either before git did anything or after all of its work and before a word of its answer. Or
what reads objects for a whole command ends after so many requests, as if it had answered all.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import driving
import hubs
import pytest
import standing
from driving import LONG, git

from memrepo.store.repo import open_repository

TEXT = "Vera keeps the spare key under the third pot."
SCRIPT = """\
#!/bin/sh
n=$(($(cat "{count}" 2>/dev/null || echo 0) + 1)); echo $n > "{count}"
case "$DIES $*" in
  early*" --batch") sed -u "${{DIES_AT}}q" | {git} "$@"; exit ;;
  early*) exec {git} "$@" ;;
esac
[ $n = "$DIES_AT" ] || exec {git} "$@"
case "$DIES $*" in
  before*|*" --batch") ;;  # one that stands waits for its owner, who waits for it
  *) {git} "$@" > /dev/null 2>&1 ;;
esac
kill -9 $$
"""
VERBS: dict[str, tuple[str, ...]] = {
    "add": ("add", TEXT),
    "run": ("run",),
    "revert": ("revert",),
    "ingest": ("ingest",),
    "undo": ("undo",),
    "accept": ("accept",),
    "sync": ("sync",),
    "status": ("status",),
}
EARLY = range(1, 60) if LONG else (1, 3, 9)
"""After how many requests what reads objects ends."""


def prepared(repo: Path, verb: str) -> None:
    """Bring a repository to where a command has something to do."""
    if verb == "run":
        driving.done(repo, "ingest", now=driving.LATER)  # lands by itself
    if verb == "accept":
        again = driving.memrepo(repo, "run", "--mode", "reconciliation", now=driving.LATER)
        assert again.exit == 3
    if verb == "sync":
        base = repo.parent
        git(base, "init", "-q", "--bare", "hub.git")
        git(repo, "remote", "add", "origin", "../hub.git")
        driving.done(repo, "sync", now=driving.LATER)
        other = hubs.clone(base, "other")
        driving.done(other, "add", "The cat is called Miso.", now=driving.LATER)
        driving.done(other, "sync", now=driving.LATER)
        driving.done(repo, "add", TEXT, now=driving.LATER)


class Dying:
    """Git that dies at its n-th start: 0 is never."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._count, self._patch = folder / "count", patch
        program = folder / "bin" / "git"
        program.parent.mkdir()
        real = f"{git(folder, '--exec-path').strip()}/git"
        program.write_text(SCRIPT.format(count=self._count, git=real))
        program.chmod(0o755)
        self._path = f"{program.parent}:{os.environ['PATH']}"

    def run(self, repo: Path, turn: int, how: str, *argv: str) -> tuple[driving.Done, int]:
        """Run a command; return its answer and how often it started git."""
        self._count.unlink(missing_ok=True)
        with self._patch.context() as patch:
            patch.setenv("PATH", self._path)
            patch.setenv("DIES_AT", str(turn))
            patch.setenv("DIES", how)
            answer = driving.memrepo(repo, *argv, now=driving.LATER)
        return answer, int(self._count.read_text())


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dying:
    return Dying(tmp_path, monkeypatch)


def decided(repo: Path, verb: str = "") -> tuple[str, str, str]:
    """Return what a command decides: the tree at HEAD, the subjects, and what waits.

    A sync that broke off after its push joins nothing any more: its subject is another.
    """
    return (
        driving.tree(repo),
        "" if verb == "sync" else git(repo, "log", "--format=%s"),
        git(repo, "for-each-ref", "refs/heads"),
    )


@pytest.mark.parametrize("how", ["before", "after", "early"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_git_that_dies_changes_no_decision(
    repo: Path, tmp_path: Path, dying: Dying, verb: str, how: str
) -> None:
    argv = VERBS[verb]
    if verb == "status" and how != "before":
        pytest.skip("what only reads dies alike")
    prepared(repo, verb)
    old = decided(repo, verb)
    whole = Path(shutil.copytree(repo.parent, tmp_path / "whole", symlinks=True)) / "repo"
    answer, starts = dying.run(whole, 0, "never", *argv)
    assert answer.exit == 0, answer
    new = decided(whole, verb)
    for turn in EARLY if how == "early" else range(1, starts + 1, 1 if LONG else 4):
        copy = Path(shutil.copytree(repo.parent, tmp_path / f"{turn}", symlinks=True)) / "repo"
        before = standing.status(copy)
        answer, _ = dying.run(copy, turn, how, *argv)
        assert answer.exit in (0, 5), (turn, answer)
        found = decided(copy, verb)
        # An accepted run's branch may be left: it counts as decided, and the next accept ends it.
        landed = verb == "accept" and found[:2] == new[:2]
        assert landed or found in ([new] if not answer.exit else [old, new]), (turn, answer)
        if decided(copy, verb) != new and not landed:
            driving.done(copy, *argv, now=driving.LATER)
            assert decided(copy, verb) == new, turn
        with open_repository(copy) as store, store.writing():
            pass  # as every write begins
        assert standing.left_behind(copy) == []
        assert standing.status(copy) == before
        shutil.rmtree(copy.parent)
