"""A ledger of a million events: what a run reads of it, against counting the events again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from memrepo.core.access import RETRIEVAL, Event, fold
from memrepo.store.ledger import BUFFER, NAME, Ledger
from memrepo.store.repo import open_repository

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MEMORIES = 10_000
BOUND = 0.1
_A_FLUSH = 20_000


def _events(first: int, count: int) -> list[Event]:
    return [
        Event(
            kind=RETRIEVAL,
            at=1_700_000_000 + 60 * n,
            session=f"s{n // 200}",
            memory=f"mem-{n * 7919 % MEMORIES:016x}",
        )
        for n in range(first, first + count)
    ]


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Time reading the accounts after one more flush, against folding every event."""
    Machine(folder).memrepo("init", "repo", where=folder)
    with open_repository(folder / "repo") as store:
        return [_measure(Ledger(store.repo, store.folder), sizes)]


def _measure(ledger: Ledger, sizes: Sizes) -> Ratio:
    for first in range(0, sizes.events, _A_FLUSH):
        some = _events(first, min(_A_FLUSH, sizes.events - first))
        ledger.folder.mkdir(parents=True, exist_ok=True)
        # One write a flush instead of one an event: what is measured is reading.
        (ledger.folder / BUFFER).write_text("".join(e.line() for e in some), encoding="ascii")
        ledger.flush(NOW)
    ledger.accesses()
    at = sizes.events

    def read() -> float:
        nonlocal at
        ledger.record(_events(at, 1), NOW)
        ledger.flush(NOW)
        at += 1
        return timed(lambda: sum(1 for _ in ledger.accesses().by_memory))

    lines = [event.line() for event in _events(0, sizes.events)]

    def again() -> float:
        from memrepo.core.access import read_event

        return timed(lambda: fold(filter(None, map(read_event, lines))))

    taken = medians_s(sizes.turns, read=read, again=again)
    assert (ledger.folder / NAME).exists()
    return Ratio(
        name="accounts of a ledger after a flush / counting its events",
        bound=BOUND,
        ratio=taken["read"] / taken["again"],
        count=sizes.events,
        turns=sizes.turns,
    )
