"""A year of runs over a workspace in use: the same twice, and nothing dear is lost.

`make test-long` runs each day with 2,000 retrievals; else there are a few runs with some hundred.
`MEMREPO_LOCOMO` names a folder of workspaces, the first of which is lived in then.
"""

from __future__ import annotations

import os
import random
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LONG, NOW, assert_sound, classic, done, git, memories, memrepo, operations

from memrepo.core.access import RETRIEVAL, SESSION, Event, seconds
from memrepo.core.times import format_time, parse_time
from memrepo.store.ledger import REF, ledger_of
from memrepo.store.repo import open_repository

STEP, DAYS, RETRIEVALS = (1, 365, 2_000) if LONG else (60, 365, 300)
DEAR = ("pinned", "critical")
# Read at import: the session's fixture hides every MEMREPO_ variable from the tests.
FOLDER = os.environ.get("MEMREPO_LOCOMO", "")
LIFE = {"tier", "prune", "archive", "promote", "demote", "restore", "nominate"}


def workspace(base: Path) -> Path:
    """Return the first workspace that the environment names, or a small one of our own."""
    if FOLDER:
        found = min(p for p in Path(FOLDER).iterdir() if p.is_dir())
        return Path(shutil.copytree(found, base / "workspace"))
    made = workspaces.growing(base / "workspace", 0)
    with (made / "MEMORY.md").open("a") as page:
        page.writelines(f"- The locker {n} belongs to crew {n % 7} for good.\n" for n in range(30))
    return made


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, Path]:
    """Return a repository with some memories that are dear to a person, and its copy."""
    done(tmp_path, "init", "one", "--from", workspace(tmp_path))
    one = classic(tmp_path / "one")
    done(one, "run")
    ids = sorted(id_ for id_, m in memories(one).items() if not m.is_note)
    done(one, "pin", ids[0])
    done(one, "promote", ids[1], "--critical")
    done(one, "edit", ids[2], "--set", "decay=permanent")
    note = min(id_ for id_, m in memories(one).items() if m.is_note)
    done(one, "pin", note)
    shutil.copytree(one, tmp_path / "two", symlinks=True)
    return one, tmp_path / "two"


def events(ids: list[str], luck: random.Random) -> list[Event]:
    """Return the retrievals and sessions of a year, oldest first: a few memories are used much."""
    start, found = parse_time(NOW), []
    for number in range(RETRIEVALS):
        at = seconds(start + timedelta(seconds=luck.randrange(DAYS * 86_400)))
        session = f"s{at // 43_200}"
        id_ = ids[min(int(luck.paretovariate(0.6)) - 1, len(ids) - 1)]
        found.append(Event(kind=RETRIEVAL, at=at, session=session, memory=id_))
        if number % 3 == 0:
            found.append(Event(kind=SESSION, at=at, session=session))
    return sorted(found, key=lambda e: (e.at, e.kind, e.session, e.memory))


def remember(repo: Path, found: list[Event], now: datetime) -> None:
    with open_repository(repo) as store:
        ledger = ledger_of(store)
        ledger.record(found, now)
        ledger.flush(now)


def assert_moved(ran: dict[str, Any], before: str, after: str) -> bool:
    """Assert that a run committed just where something moved; tell whether it did."""
    ops = {commit["op"] for commit in ran["commits"]}
    assert (before == after) == (ran["status"] == "skipped")
    assert ran["status"] == "skipped" or ops & LIFE, ops
    return before != after


def test_a_year_is_lived_the_same_twice_and_loses_nothing_dear(
    twins: tuple[Path, Path],
) -> None:
    one, two = twins
    start = memories(one)
    dear = {id_ for id_, m in start.items() if any(map(m.flag, DEAR)) or m.fields.get("decay")}
    assert len(dear) == 4
    coming = events(sorted(start), random.Random(7))
    quiet = 0
    for day in range(STEP, DAYS + 1, STEP):
        now = parse_time(NOW) + timedelta(days=day)
        due = [e for e in coming if e.at <= seconds(now)]
        coming = coming[len(due) :]
        remember(one, due, now)
        git(two, "fetch", "-q", str(one), f"+{REF}:{REF}")
        heads = []
        for repo in (one, two):
            before = git(repo, "rev-parse", "HEAD")
            ran = done(repo, "run", now=format_time(now))
            heads.append(git(repo, "rev-parse", "HEAD"))
            quiet += not assert_moved(ran, before, heads[-1])
        assert heads[0] == heads[1], day
        there = {p.stem[-6:] for p in (one / "memories").rglob("*.md")}
        assert {id_[4:10] for id_ in dear} <= there
    end = memories(one)
    assert all(end[id_].status == "active" for id_ in dear)
    assert {"tier", "promote"} <= {*operations(one)}
    assert not LONG or quiet
    before = git(one, "rev-parse", "HEAD")
    at_the_end = format_time(parse_time(NOW) + timedelta(days=DAYS // STEP * STEP))
    assert memrepo(one, "run", now=at_the_end).data["status"] == "skipped"
    assert git(one, "rev-parse", "HEAD") == before
    assert_sound(one)
