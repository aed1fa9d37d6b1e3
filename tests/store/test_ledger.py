"""The access ledger: nothing acknowledged is lost, and every retrieval is counted once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import hubs
import pytest
from driving import NOW, assert_sound, done, memories

from memrepo.core.manifest import RETRIEVAL, Event
from memrepo.core.times import format_time, parse_time
from memrepo.store import run_files as ledgers
from memrepo.store.repo import open_repository
from memrepo.store.run_files import BUFFER, Ledger, segments_of


def event(at: int, memory: str = "m", session: str = "s") -> Event:
    return Event(kind=RETRIEVAL, at=at, session=session, memory=memory)


@contextmanager
def opened(repo: Path) -> Iterator[Ledger]:
    with open_repository(repo) as store:
        yield Ledger(store)


def total(repo: Path, memory: str = "m") -> int:
    with opened(repo) as ledger:
        return ledger.accesses().of(memory).total


def land(repo: Path, minute: int) -> None:
    """Let a run land, whose manifest records what waits."""
    line = f"- The lamp of depot {minute} is made of brass number {minute}.\n"
    hubs.write(repo, f"sources/inbox/{minute}.md", line)
    now = format_time(parse_time(NOW) + timedelta(minutes=minute))
    assert done(repo, "run", now=now)["status"] == "ok"


def recorded(repo: Path) -> list[str]:
    """Return the names of the segments in all manifests, with repeats."""
    paths = sorted((repo / "runs").rglob("*.json"))
    return [name for path in paths for name in json.loads(path.read_bytes()).get("used", ())]


def test_a_retrieval_counts_before_a_run_records_it_and_once_after(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1), event(2, "n")])
        assert ledger.accesses().of("m").total == 1
    land(repo, 1)
    assert len(recorded(repo)) == 1
    assert (total(repo), total(repo, "n")) == (1, 1)
    with opened(repo) as ledger:
        ledger.record([event(3)])
        assert ledger.accesses().of("m").total == 2
    land(repo, 2)
    land(repo, 3)
    assert len(recorded(repo)) == len({*recorded(repo)}) == 2
    assert total(repo) == 2
    assert_sound(repo)


def test_equal_retrievals_give_equal_commits_in_two_folders(repo: Path, tmp_path: Path) -> None:
    shutil.copytree(repo.parent, tmp_path / "elsewhere", symlinks=True)
    other = tmp_path / "elsewhere" / repo.name
    tips = set()
    for one in (repo, other):
        land(one, 1)
        done(one, "show", min(memories(one)))
        land(one, 2)
        assert len(recorded(one)) == 1
        tips.add(hubs.tip(one))
    assert len(tips) == 1


def test_a_segment_in_two_manifests_counts_once(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1)])
    land(repo, 1)
    (path,) = [p for p in (repo / "runs").rglob("*.json") if "used" in json.loads(p.read_bytes())]
    copy = path.with_name(path.name.replace(path.stem, "20260301T235959Z-00000000"))
    copy.write_bytes(path.read_bytes())
    hubs.commit_all(repo, "by hand")
    assert total(repo) == 1


def test_a_torn_line_is_passed_over_and_the_next_is_whole(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1)])
        with (ledger.folder / BUFFER).open("ab") as buffer:
            buffer.write(b'["retrieval",2,"s')
        ledger.record([event(3)])
        assert ledger.accesses().of("m").total == 2
        ledger.close()
        assert ledger.accesses().of("m").total == 2


def test_a_reverted_run_leaves_its_retrievals_to_the_next(repo: Path) -> None:
    with opened(repo) as ledger:
        ledger.record([event(1)])
    land(repo, 1)
    run = max(p.stem for p in (repo / "runs").rglob("*.json"))
    done(repo, "revert", run, now=format_time(parse_time(NOW) + timedelta(minutes=2)))
    assert recorded(repo) == []
    assert total(repo) == 1
    land(repo, 3)
    assert total(repo) == 1


def test_a_full_buffer_becomes_a_segment(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "KEPT", 2)
    monkeypatch.setattr(ledgers, "FULL_BYTES", 1)
    with opened(repo) as ledger:
        for at in range(3):
            ledger.record([event(at)])
        assert not (ledger.folder / BUFFER).exists()
        assert len(ledger.unrecorded()) == 2


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b'{"used": 1}', b'{"used": {"a": 1}}', b'{"used": {"a": {"memories": []}}}'],
)
def test_a_damaged_manifest_counts_nothing(data: bytes) -> None:
    assert list(segments_of(data)) == []


def test_retrievals_of_both_clones_arrive_with_the_runs(tmp_path: Path) -> None:
    one, other = hubs.begin(tmp_path, "one", "other")
    id_ = min(memories(one))
    for minute, repo in enumerate((one, other), start=1):
        now = format_time(parse_time(NOW) + timedelta(minutes=minute))
        done(repo, "show", id_, now=now)
        hubs.tell(repo)
        done(repo, "run", now=now)
    for minute, repo in enumerate((one, other, one), start=10):
        done(repo, "sync", now=format_time(parse_time(NOW) + timedelta(minutes=minute)))
    assert total(one, id_) == total(other, id_) == 2
