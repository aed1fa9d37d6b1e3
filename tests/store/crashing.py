"""Dying on purpose: a command line in a forked child that is gone before its n-th touch of disk.

An audit hook (sys.addaudithook) sees every file written and every process started, so nothing is
patched: what dies is the program as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import driving
from driving import LONG

from memrepo.faces import cli
from memrepo.store.settings import CLONE_FILE as CLONE

KILLED = 137
QUICK = 6
"""So many moments to die at where not every one is tried."""
WRITING_GIT = {
    *("fast-import", "update-index", "read-tree", "update-ref", "checkout-index", "config"),
    *("init", "maintenance", "fetch", "push"),
}
WRITING_CALLS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod")


def touches(event: str, arguments: tuple[Any, ...]) -> bool:
    """Tell whether an audit event changes something on disk."""
    if event == "subprocess.Popen":
        return bool(WRITING_GIT & set(map(str, arguments[1])))
    if event == "open":
        path, mode, flags = arguments
        writes = (isinstance(mode, str) and bool(set(mode) & set("wax+"))) or bool(
            (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        )
        return writes and _counts(path) and path[-5:] != ".lock"
    return event in WRITING_CALLS and _counts(arguments[0])


def _counts(path: object) -> bool:
    """Tell whether a path is of the repository, and not of memrepo's logs and caches."""
    return isinstance(path, (str, Path)) and "/repo" in str(path) and "/.memrepo" not in str(path)


def fork(act: Callable[[], object]) -> int:
    """Run something in a child and return its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            act()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die_at(turn: int) -> Callable[[], int]:
    """Let this process be killed before its `turn`-th touch of disk, or just after the last git.

    A git process that writes counts twice: before it starts, and when it has ended, which is
    before whatever comes next. What is returned tells how many touches there were so far.
    """
    seen, running = 0, False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen, running
        if not (running or touches(event, arguments)):
            return
        if event in ("subprocess.Popen", "open", *WRITING_CALLS):
            seen += 1
            if seen == turn:
                os._exit(KILLED)
            running = event == "subprocess.Popen" and touches(event, arguments)

    sys.addaudithook(hook)
    return lambda: seen


def die_before(word: str) -> None:
    """Let this process be killed when it is about to start git with this word."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen" and word in arguments[1]:
            os._exit(KILLED)

    sys.addaudithook(hook)


def command(where: Path, *argv: str, now: str) -> Callable[[], object]:
    """Return a command line as a thing to do."""
    return lambda: cli.main(["-C", str(where), "--now", now, "-q", *argv])


def copied(place: Path, to: Path) -> Path:
    """Copy a place; the repository in it is told that it is the same clone still.

    Else it would take a new id, and the segments of its ledger would be another clone's to unite.
    """
    shutil.copytree(place, to, symlinks=True)
    common = to / "repo" / ".git"
    known = common / "memrepo" / CLONE
    if known.exists():
        found = {**json.loads(known.read_bytes()), "inode": common.stat().st_ino}
        known.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return to


def deaths(place: Path, scratch: Path, *argv: str, now: str) -> Iterator[tuple[int, Path]]:
    """Yield a copy of a place for every moment at which a command can die in it.

    That is the long form; the quick one takes the first moment, the last and some between. A moment
    that leaves the very same files as the one before is passed over.
    """
    last: dict[str, bytes] = {}
    for turn in _moments(_counted(place, scratch, *argv, now=now)):
        copy = copied(place, scratch / f"{turn}")

        def act(where: Path = copy / "repo", turn: int = turn) -> None:
            die_at(turn)
            command(where, *argv, now=now)()

        assert fork(act) == KILLED, turn
        files = {
            name: data
            for name, data in driving.files(copy / "repo", git_too=True).items()
            if not name.startswith((".memrepo/", ".git/memrepo/index"))
        }
        if files != last:
            yield turn, copy / "repo"
        last = files
        shutil.rmtree(copy)


def _moments(count: int) -> Iterable[int]:
    if LONG:
        return range(1, count + 1)
    return sorted({1 + n * (count - 1) // (QUICK - 1) for n in range(QUICK)})


def _counted(place: Path, scratch: Path, *argv: str, now: str) -> int:
    """Count the moments at which a command can die in a place, in a copy of it."""
    copy = copied(place, scratch / "count")
    reading, writing = os.pipe()

    def act() -> None:
        seen = die_at(0)
        command(copy / "repo", *argv, now=now)()
        os.write(writing, str(seen()).encode())

    assert fork(act) == 0
    os.close(writing)
    with os.fdopen(reading) as pipe:
        count = int(pipe.read())
    shutil.rmtree(copy)
    return count


def stopped_before_merge(place: Path, *argv: str, now: str) -> tuple[str, str, dict[str, str]]:
    """Kill a command in a place before its fast-forward; return base, tip, and blobs by path."""
    repo = place / "repo"

    def act() -> None:
        die_before("read-tree")
        command(repo, *argv, now=now)()

    assert fork(act) == KILLED
    (repo / ".git" / "index.lock").unlink()  # a case of its own, for those who want it
    base = driving.git(repo, "rev-parse", "HEAD").strip()
    tip = json.loads((repo / ".git" / "memrepo" / "journal.json").read_bytes())["tip"]
    raw = driving.git(repo, "diff-tree", "-r", "-z", "--no-renames", base, tip)
    parts = raw.split("\0")
    changed = {p: h.split(" ")[3] for h, p in zip(parts[0::2], parts[1::2], strict=False)}
    return base, tip, changed


def kill_self() -> None:
    """Die as by `kill -9`."""
    os.kill(os.getpid(), signal.SIGKILL)
