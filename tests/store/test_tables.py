"""Work that a child shares: the same comes of it, whatever becomes of the child."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from memrepo.store import tables as child
from memrepo.store.tables import Row

# What the tests share with their runner has threads; a child of ours touches nothing of these.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
HERE = os.getpid
THREADS = child._threads
EARLIER: set[str] = set()
ITEMS = list(range(200))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    EARLIER.update(children())
    monkeypatch.setattr(child, "WORTH_IT", 100)
    monkeypatch.setattr(child, "BATCH", 30)
    monkeypatch.setattr(child, "_threads", lambda: 1)  # whoever runs the tests may have more
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def squares(items: Sequence[int]) -> Iterator[Row]:
    """Give no row, one or two an item, each with who made it."""
    return ((n, n * n, f"{n}", HERE()) for n in items for _ in range(n % 3))


def values(rows: Iterator[Row]) -> list[Row]:
    return [row[:3] for row in rows]


WANTED = values(squares(ITEMS))


def makers(rows: Iterator[Row]) -> int:
    return len({row[3] for row in rows})


def children() -> set[str]:
    """Return the children that this program has, but for those of earlier tests."""
    return set(Path(f"/proc/self/task/{HERE()}/children").read_text().split()) - EARLIER


def until(come: Callable[[], bool]) -> bool:
    """Wait for something, at most some ten seconds; tell whether it came."""
    return any(come() or time.sleep(0.01) for _ in range(1000))


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 200])
def test_the_same_comes_in_the_same_order(count: int) -> None:
    assert values(child.forked_rows(squares, ITEMS[:count])) == values(squares(ITEMS[:count]))
    assert not children()


def test_a_child_does_a_part_where_it_is_worth_it() -> None:
    assert makers(child.forked_rows(squares, ITEMS)) == 2
    assert makers(child.forked_rows(squares, ITEMS[:99])) == 1


def test_a_program_of_several_threads_and_one_processor_get_no_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = THREADS()
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert THREADS() == before + 1
    finally:
        end.set()
        thread.join()
    monkeypatch.setattr(child, "_threads", lambda: 2)
    assert makers(child.forked_rows(squares, ITEMS)) == 1
    monkeypatch.setattr(child, "_threads", lambda: 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert makers(child.forked_rows(squares, ITEMS)) == 1


def test_where_no_process_more_may_be_had_all_is_done_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert values(child.forked_rows(squares, ITEMS)) == WANTED
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("at", [80, 135, 199])
def test_what_a_child_leaves_when_it_is_killed_is_done_here(at: int) -> None:
    parent = HERE()

    def work(items: Sequence[int]) -> Iterator[Row]:
        for row in squares(items):
            if row[0] >= at and HERE() != parent:
                os.kill(HERE(), signal.SIGKILL)
            yield row

    assert values(child.forked_rows(work, ITEMS)) == WANTED
    assert not children()


def test_what_goes_wrong_in_a_child_goes_wrong_here() -> None:
    def work(items: Sequence[int]) -> Iterator[Row]:
        for row in squares(items):
            if row[0] == 151:
                raise ValueError("a bad item")
            yield row

    found: list[Row] = []
    with pytest.raises(ValueError, match="a bad item"):
        found.extend(row[:3] for row in child.forked_rows(work, ITEMS))
    assert not children()


def test_nobody_is_left_behind_where_the_rest_is_not_asked_for() -> None:
    rows = child.forked_rows(squares, ITEMS)
    assert len(list(islice(rows, 3))) == 3
    assert children()
    rows.close()
    assert not children()


def test_where_nobody_waits_for_children_the_same_comes() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # as some start their programs
    try:
        assert values(child.forked_rows(squares, ITEMS)) == WANTED
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "child"
    parent = os.fork()
    if not parent:
        me = HERE()

        def work(items: Sequence[int]) -> Iterator[Row]:
            if HERE() != me:
                told.write_text(str(HERE()))
                until(lambda: os.getppid() != me)
            else:
                until(told.exists)
                os.kill(me, signal.SIGKILL)
            return squares(items)

        list(child.forked_rows(work, ITEMS))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(parent, 0)[1]) == -signal.SIGKILL
    orphan = Path("/proc") / told.read_text()
    assert until(lambda: not orphan.exists() or " Z " in (orphan / "stat").read_text())
