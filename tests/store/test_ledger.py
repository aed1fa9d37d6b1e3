"""The access ledger: nothing acknowledged is lost, and no order of uniting changes an account."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import crashing
import driving
import hubs
import pytest
from driving import done, memrepo
from hubs import ledger, segments, tip

from memrepo.core.access import RETRIEVAL, SESSION, Accesses, Event, fold
from memrepo.store import ledger as ledgercache
from memrepo.store import ledger as ledgers
from memrepo.store.ledger import (
    REF,
    Ledger,
    ledger_of,
    read_segment,
)
from memrepo.store.repo import open_repository

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def event(at: int, memory: str = "m", session: str = "s") -> Event:
    return Event(kind=RETRIEVAL, at=at, session=session, memory=memory)


@contextmanager
def opened(repo: Path) -> Iterator[Ledger]:
    with open_repository(repo) as store:
        yield ledger_of(store)


def plain(accesses: Accesses) -> tuple[dict[str, object], object]:
    return dict(accesses.by_memory), accesses.sessions


def total(repo: Path, memory: str = "m") -> int:
    with opened(repo) as ledger:
        return ledger.accesses().of(memory).total


def test_an_access_counts_before_it_is_flushed_and_once_after(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1), event(2, "n")], NOW)
        assert ledger.accesses().of("m").total == 1
        tip = ledger.flush(NOW)
        assert tip == ledger.tip() != ""
        assert ledger.flush(NOW) == tip
        assert ledger.accesses().of("m").total == 1
        ledger.record([event(3)], NOW)
        assert ledger.accesses().of("m").total == 2
    driving.assert_sound(repo)


def test_a_torn_line_is_passed_over_and_the_next_is_whole(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1)], NOW)
        with (ledger.folder / ledgers.BUFFER).open("ab") as buffer:
            buffer.write(b'["retrieval",2,"s')
        ledger.record([event(3)], NOW)
        assert ledger.accesses().of("m").total == 2
        ledger.flush(NOW)
        assert ledger.accesses().of("m").total == 2


def test_many_segments_are_united_into_one(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "COMPACT_AT", 3)
    with opened(repo) as ledger:
        for at in range(11):
            ledger.record([event(at, f"m{at % 2}", f"s{at}")], NOW)
            ledger.record([Event(kind=SESSION, at=at, session=f"s{at}")], NOW)
            ledger.flush(NOW)
        assert len(ledger.blobs(ledger.tip())) <= 3
        found = ledger.accesses()
        expected = [event(at, f"m{at % 2}", f"s{at}") for at in range(11)]
        starts = [Event(kind=SESSION, at=at, session=f"s{at}") for at in range(11)]
        assert plain(found) == plain(fold([*expected, *starts]))
        # A cache that saw every step and one made anew agree.
        (ledger.folder / ledgercache.NAME).unlink()
        assert plain(ledger.accesses()) == plain(found)
    driving.assert_sound(repo)


@pytest.mark.parametrize("damage", [b"", b"not a database", None])
def test_a_damaged_cache_is_built_again(repo: Path, damage: bytes | None) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1)], NOW)
        ledger.flush(NOW)
        assert ledger.accesses().of("m").total == 1
        path = ledger.folder / ledgercache.NAME
        if damage is None:
            path.unlink()
        else:
            path.write_bytes(damage)
        assert ledger.accesses().of("m").total == 1


def test_ledgers_of_two_clones_unite_the_same_either_way(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "COMPACT_AT", 2)
    one, other = place / "repo", tmp_path / "other" / "repo"
    shutil.copytree(place / "repo", other)
    expected = []
    for repo, session, count in ((one, "a", 5), (other, "b", 4)):
        with opened(repo) as ledger:
            for at in range(count):
                expected.append(event(at, f"m{at % 3}", session))
                ledger.record(expected[-1:], NOW)
                ledger.flush(NOW)
    results = []
    for here, there in ((one, other), (other, one)):
        copy = tmp_path / f"{here.parent.name}-copy"
        shutil.copytree(here, copy)
        driving.git(copy, "fetch", "-q", str(there), f"{REF}:refs/memrepo/remote/x/access")
        with opened(copy) as ledger:
            theirs = driving.git(copy, "rev-parse", "refs/memrepo/remote/x/access").strip()
            ledger.join(theirs, NOW)
            assert ledger.join(theirs, NOW) == ledger.tip()
            results.append(plain(ledger.accesses()))
            (ledger.folder / ledgercache.NAME).unlink()
            results.append(plain(ledger.accesses()))
            # What was joined is compacted no further by this clone, and stays exact.
            ledger.record([event(9, "m9")], NOW)
            ledger.flush(NOW)
            assert ledger.accesses().of("m0").total == results[-1][0]["m0"].total
    whole = plain(fold(expected))
    assert results == [whole] * 4


def test_a_process_killed_in_a_flush_loses_no_access(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "COMPACT_AT", 2)
    with opened(place / "repo") as ledger:
        for at in range(4):  # the third unites, the one that dies unites again
            ledger.record([event(at)], NOW)
            ledger.flush(NOW)
    seen = 0
    for turn in range(1, 40):
        copy = crashing.copied(place, tmp_path / str(turn)) / "repo"
        with opened(copy) as ledger:
            ledger.record([event(10)], NOW)

        def act(where: Path = copy, turn: int = turn) -> None:
            crashing.die_at(turn)
            with opened(where) as ledger:
                ledger.flush(NOW)

        killed = crashing.fork(act) == crashing.KILLED
        assert total(copy) == 5
        with opened(copy) as ledger:
            ledger.flush(NOW)
        assert total(copy) == 5
        driving.assert_sound(copy)
        with opened(copy) as ledger:
            assert len(ledger.blobs(ledger.tip())) == 1, "they were not united"
        if not killed:
            break
        seen += 1
    assert seen >= 4


def test_processes_that_record_at_once_lose_nothing(repo: Path) -> None:
    import os

    children = []
    for number in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with opened(repo) as ledger:
                    for at in range(40):
                        ledger.record([event(at, session=str(number))], NOW)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 4
    assert total(repo) == 160


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"{}",
        b'{"covers": []}',
        b'{"covers": 3, "sessions": []}',
        b'{"sessions": [[1]]}',
        b'{"covers": [], "sessions": []}\n["m"]',
        b'{"covers": [], "sessions": []}\n["m", 7]',
        b'{"covers": [], "sessions": []}\n{}',
        b"\xff\xfe",
        b"[]",
        b"",
    ],
)
def test_a_segment_from_elsewhere_that_is_none_counts_nothing(data: bytes) -> None:
    found = read_segment(data)
    assert (dict(found.accesses.by_memory), found.covers) == ({}, frozenset())


ACCESS = "refs/memrepo/access"


@pytest.fixture(scope="module")
def _machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ledgers")
    hubs.begin(base, "laptop", "desk", "phone")
    return base


@pytest.fixture
def machines(_machines: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return three clones of one hub, in sync and without a ledger."""
    shutil.copytree(_machines, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path / "laptop", tmp_path / "desk", tmp_path / "phone"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_ledgers_unite_in_any_order(machines: tuple[Path, ...], order: tuple[int, ...]) -> None:
    for name, repo in zip("abc", machines, strict=True):
        ledger(repo, {f"{name}/1-{name * 4}.jsonl": f'{{"by": "{name}"}}\n'})
        ledger(repo, {f"{name}/2-{name * 4}.jsonl": "{}\n"})
    for turn in (*order, *order):
        done(machines[turn], "sync")
    wanted = {f"{name}/{n}-{name * 4}.jsonl" for name in "abc" for n in (1, 2)}
    for repo in machines:
        assert set(segments(repo)) == wanted
    assert len({tip(repo, ACCESS) for repo in (*machines, machines[0].parent / "hub.git")}) == 1
    assert done(machines[0], "sync")["ledger"] == {"pulled": 0, "pushed": 0}


def test_a_segment_that_differs_under_one_name_is_told_and_neither_ledger_changes(
    machines: tuple[Path, ...],
) -> None:
    laptop, desk, _ = machines
    theirs = ledger(desk, {"x/1-aa.jsonl": "one\n"})
    done(desk, "sync")
    mine = ledger(laptop, {"x/1-aa.jsonl": "two\n"})
    done(laptop, "add", "The cat is called Miso.")
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert answer.data["pushed"] == 1
    said = memrepo(laptop, "sync", as_json=False)
    assert "ledger-differs" in said.err
    assert "x/1-aa.jsonl" in said.err
    assert tip(laptop, ACCESS) == mine
    assert tip(laptop.parent / "hub.git", ACCESS) == theirs


def test_a_hub_that_refuses_the_ref_gets_a_branch(machines: tuple[Path, ...]) -> None:
    laptop, desk, _ = machines
    hook = laptop.parent / "hub.git" / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) ;; *) exit 1;; esac\n')
    hook.chmod(0o755)
    ledger(laptop, {"l/1-ll.jsonl": "l\n"})
    done(laptop, "add", "The cat is called Miso.")
    assert done(laptop, "sync")["pushed"] == 1
    said = memrepo(laptop, "sync", as_json=False)
    assert said.exit == 0
    assert "ledger-refused" in said.err
    assert "memrepo.toml" in said.err
    config = (laptop / "memrepo.toml").read_text()
    hubs.write(laptop, "memrepo.toml", config + '\n[ledger]\nref = "memrepo-access"\n')
    hubs.commit_all(laptop, "the ledger on a branch")
    assert done(laptop, "sync")["ledger"] == {"pulled": 0, "pushed": 1}
    assert tip(laptop.parent / "hub.git", "refs/heads/memrepo-access") == tip(laptop, ACCESS)
    done(desk, "sync")
    done(desk, "sync")
    assert segments(desk) == {"l/1-ll.jsonl": "l\n"}
