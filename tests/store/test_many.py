"""Many clones, many writers, and syncs that meet or die: nothing is lost, nothing stands twice."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import crashing
import driving
import hubs
import pytest
import standing
from driving import LATER, LONG, NOW, assert_sound, done, git, memories, memrepo, tree
from hubs import tip

from memrepo.actions import sync
from memrepo.store import remote
from memrepo.store.remote import Hub
from memrepo.store.repo import open_repository

CLONES, ACTIONS, SEEDS = (20, 300, range(3)) if LONG else (5, 40, range(1))
ROUNDS = 10 if LONG else 2


@pytest.fixture(scope="module")
def _machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("many")
    hubs.begin(base, "repo", "desk")
    for name in ("repo", "desk"):
        git(base / name, "config", "core.fsync", "none")
    return base


@pytest.fixture
def machines(_machines: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return two clones of one hub, in sync."""
    shutil.copytree(_machines, tmp_path / "place", symlinks=True)
    return tmp_path / "place" / "repo", tmp_path / "place" / "desk"


def bodies(repo: Path) -> list[str]:
    return sorted(memory.body for memory in memories(repo).values())


def together(*acts: Callable[[], int]) -> list[int]:
    """Run things at the same time, each in a process of its own; return their exit codes."""
    children = []
    for act in acts:
        child = os.fork()
        if child == 0:
            code = 99
            try:
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, 1)
                os.dup2(sink, 2)
                code = act()
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def insistent(repo: Path, text: str) -> int:
    """Add a text, again for as long as others hold the lock: that is told, and is no loss."""
    code = memrepo(repo, "add", text).exit
    while code == 6:
        code = memrepo(repo, "add", text).exit
    return code


# -- many clones -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_clones_that_capture_and_sync_in_any_order_end_alike(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    clones = hubs.begin(tmp_path, *(f"m{n}" for n in range(CLONES)))
    (first,) = memories(clones[0])
    added, tags = set(bodies(clones[0])), set[str]()
    for turn in range(ACTIONS):
        repo, now = dice.choice(clones), f"2026-03-01T10:{turn // 60:02}:{turn % 60:02}Z"
        match dice.choices(("add", "tag", "sync"), (6, 1, 4))[0]:
            case "add":
                text = f"Machine {repo.name} noted fact number {turn}."
                done(repo, "add", text, now=now)
                added.add(text)
            case "tag":
                mine = ",".join([*memories(repo)[first].tags, f"t{turn}"])
                done(repo, "edit", first, "--set", f"tags={mine}", now=now)
                tags.add(f"t{turn}")
            case "sync":
                done(repo, "sync", now=now)
    for repo in (*clones, *clones):
        done(repo, "sync", now=LATER)
    hub = tmp_path / "hub.git"
    assert {tip(repo) for repo in clones} == {tip(hub, "main")}
    assert {tree(repo) for repo in clones} == {tree(hub, "main")}
    assert bodies(clones[-1]) == sorted(added)
    assert set(memories(clones[0])[first].tags) == tags
    for repo in (clones[0], clones[-1]):
        assert_sound(repo)
    before = tip(hub, "main")
    done(clones[0], "sync", now="2026-03-09T09:00:00Z")
    assert tip(hub, "main") == before


# -- many writers ------------------------------------------------------------------------------


def test_writers_and_syncs_at_the_same_time_lose_nothing(machines: tuple[Path, Path]) -> None:
    repo, desk = machines

    def writer(where: Path) -> int:
        return sum(insistent(where, f"{where.name} noted fact {n}.") for n in range(6 * ROUNDS))

    def syncer(where: Path) -> int:
        return sum(memrepo(where, "sync", now=LATER).exit for _ in range(2 * ROUNDS))

    codes = together(
        lambda: writer(repo), lambda: syncer(repo), lambda: writer(desk), lambda: syncer(desk)
    )
    assert codes == [0, 0, 0, 0]
    hubs.converge(repo, desk, now=LATER)
    wanted = {f"{where.name} noted fact {n}." for where in machines for n in range(6 * ROUNDS)}
    assert wanted < set(bodies(repo))
    assert len(bodies(desk)) == len(wanted) + 1
    for where in machines:
        assert_sound(where)


# -- races -------------------------------------------------------------------------------------


def meddling(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[], object], times: int
) -> list[str]:
    """Let something happen just before a push, so many times; return the commits pushed."""
    pushed: list[str] = []
    real = Hub.push

    def push(self: Hub, commit: str, ref: str) -> bool:
        nonlocal times
        if times and ref == self.head:
            times -= 1
            before()
        pushed.append(commit)
        return real(self, commit, ref)

    monkeypatch.setattr(Hub, "push", push)
    monkeypatch.setattr(remote.time, "sleep", lambda _: None)
    return pushed


def test_a_hub_that_never_stands_still_is_given_up_with_nothing_changed(
    machines: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, desk = machines
    turns = iter(range(100))

    def move() -> None:
        hubs.write(desk, "other.txt", f"{next(turns)}\n")
        hubs.commit_all(desk, "move")
        git(desk, "push", "-q", "origin", "main")

    done(repo, "add", "The cat is called Miso.")
    before = tip(repo)
    pushed = meddling(monkeypatch, move, times=99)
    answer = memrepo(repo, "sync")
    assert answer.exit == 3
    assert "no data was lost" in answer.error["message"]
    assert len(pushed) == sync.TRIES
    assert tip(repo) == before
    assert tip(repo.parent / "hub.git", "main") == tip(desk)


def test_what_is_committed_here_during_a_push_is_joined_next(
    machines: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, desk = machines
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(repo, "add", "The cat is called Miso.")
    meddling(monkeypatch, lambda: done(repo, "add", "The lamp is made of brass."), times=1)
    answer = done(repo, "sync", now=LATER)
    assert len(bodies(repo)) == 4
    assert answer["commit"] == tip(repo) == tip(repo.parent / "hub.git", "main")
    assert_sound(repo)


# -- death -------------------------------------------------------------------------------------


def recover(repo: Path) -> None:
    with open_repository(repo) as store, store.writing():
        pass


def parted(repo: Path, desk: Path) -> None:
    """Let both clones go on, the hub's side in sync."""
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(repo, "add", "The cat is called Miso.")


@pytest.mark.parametrize("case", ["join", "pull", "push"])
def test_dying_at_any_step_of_a_sync_leaves_the_old_state_or_the_new(
    machines: tuple[Path, Path], tmp_path: Path, case: str
) -> None:
    repo, desk = machines
    parted(repo, desk)
    if case == "pull":
        git(repo, "reset", "-q", "--hard", "HEAD^")
    if case == "push":
        done(repo, "sync", now=NOW)
        done(repo, "add", "The lamp is made of brass.")
    hubs.write(repo, "mine.txt", "uncommitted\n")
    place = repo.parent
    old, hub = tip(repo), tip(place / "hub.git", "main")
    shutil.copytree(place, tmp_path / "whole", symlinks=True)
    done(tmp_path / "whole" / "repo", "sync", now=LATER)
    new = tip(tmp_path / "whole" / "repo")
    seen, moments = set(), 0
    for turn, copy in crashing.deaths(place, tmp_path / "dead", "sync", now=LATER):
        moments += 1
        there = copy.parent / "hub.git"
        recover(copy)
        assert tip(copy) in (old, new), turn
        assert tip(there, "main") in (hub, new), turn
        seen.add((tip(copy) == new, tip(there, "main") == new))
        assert standing.left_behind(copy) == []
        git(copy, "fsck", "--strict", "--no-dangling", "--no-progress")
        git(there, "fsck", "--strict", "--no-dangling", "--no-progress")
        assert git(copy, "status", "--porcelain") == "?? mine.txt\n"
        done(copy, "sync", now=LATER)
        assert tip(copy) == tip(there, "main") == new, turn
    assert moments > 2
    assert old == new or (True, False) not in seen
    if LONG and case == "join":
        assert seen == {(False, False), (False, True), (True, True)}


def test_dying_right_after_the_push_is_mended_by_the_next_sync(machines: tuple[Path, Path]) -> None:
    repo, desk = machines
    parted(repo, desk)
    old = tip(repo)

    def act() -> None:
        crashing.die_before("checkout-index")  # of the work tree; the merge is pushed before
        crashing.command(repo, "sync", now=LATER)()

    assert crashing.fork(act) == crashing.KILLED
    new = tip(repo.parent / "hub.git", "main")
    assert git(repo, "log", "-1", "--format=%P", new).split() == [tip(desk), old]
    done(repo, "sync", now=LATER)
    assert tip(repo) == new
    assert driving.files(repo)
    assert_sound(repo)
