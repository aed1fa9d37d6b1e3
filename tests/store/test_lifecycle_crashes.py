"""What ages, prunes, demotes and counts, killed at any moment: no access and no file is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import crashing
import driving
import pytest
from driving import done, git, memories

from memrepo.core.codec import encode
from memrepo.policies.hotcache import hot_of
from memrepo.store.repo import open_repository
from memrepo.store.run_files import Ledger

SOON, LATE, LATER_STILL = "2026-03-01T10:00:00Z", "2026-03-09T09:00:00Z", "2026-03-09T09:00:01Z"
MONTH, MONTH_ON = "2026-04-20T09:00:00Z", "2026-04-20T09:00:01Z"


def test_a_run_that_moves_notes_loses_nothing_wherever_it_dies(place: Path, tmp_path: Path) -> None:
    repo = place / "repo"
    short = done(repo, "add", "The hall is wet.", "--class", "short")["id"]
    notes = [m for m in memories(repo).values() if m.is_note]
    done(repo, "show", notes[0].id, now=SOON)
    texts = {m.id: m.body for m in memories(repo).values() if m.id != short}
    seen = 0
    for _, copy in crashing.deaths(place, tmp_path / "dead", "run", now=LATE):
        done(copy, "run", now=LATER_STILL)
        after = memories(copy)
        assert {i: m.body for i, m in after.items()} == texts
        assert {after[n.id].tier for n in notes} == {"gist"}
        shown = done(copy, "show", notes[0].id, "--no-touch", now=SOON)
        assert shown["derived"]["retrievals"] == 1
        driving.assert_sound(copy)
        seen += 1
    assert seen >= 3


def prune(repo: Path) -> tuple[str, ...]:
    old = done(repo, "add", "The hall is wet.", "--class", "normal")["id"]
    new = done(repo, "supersede", old, "The hall is dry.")["id"]
    done(repo, "edit", new, "--set", "decay=short")
    done(repo, "show", min(memories(repo)), now=SOON)
    return "health", "--prune"


def refresh(repo: Path) -> tuple[str, ...]:
    for hour in range(10, 13):
        done(repo, "session", "start", "--id", f"s{hour}", now=f"2026-03-01T{hour}:00:00Z")
        done(repo, "show", min(memories(repo)), now=f"2026-03-01T{hour}:01:00Z")
        done(repo, "session", "end", now=f"2026-03-01T{hour}:02:00Z")
    done(repo, "show", min(memories(repo)), now="2026-03-01T13:01:00Z")
    return "session", "refresh", "--id", "again"


def stand(repo: Path) -> dict[str, object]:
    """Return what must not depend on where something died: moments and run ids aside."""
    with open_repository(repo) as store:
        accesses = Ledger(store).accesses()
    counts = {id_: accesses.of(id_) for id_ in accesses.by_memory}
    left = {
        id_: (m.path, m.body, m.status, m.tier, bool(m.tier_since), hot_of(m) is not None)
        for id_, m in memories(repo).items()
    }
    return {"memories": left, "retrievals": counts, "page": (repo / "MEMORY.md").exists()}


@pytest.mark.parametrize("prepare", [prune, refresh])
def test_what_time_asks_for_is_done_once_and_whole_wherever_it_dies(
    place: Path, tmp_path: Path, prepare: Callable[[Path], tuple[str, ...]]
) -> None:
    argv = prepare(place / "repo")
    before = {m.path: encode(m) for m in memories(place / "repo").values()}
    whole = crashing.copied(place, tmp_path / "whole") / "repo"
    done(whole, *argv, now=MONTH)
    done(whole, "run", now=MONTH_ON)
    assert stand(whole) != stand(place / "repo"), "nothing happened"
    for turn, copy in crashing.deaths(place, tmp_path / "dead", *argv, now=MONTH):
        done(copy, *argv, now=MONTH_ON)
        done(copy, "run", now=MONTH_ON)
        assert stand(copy) == stand(whole), turn
        for path, data in before.items():
            kept = git(copy, "log", "-1", "--format=%H", "--all", "--", path)
            assert kept or (copy / path).read_bytes() == data
        driving.assert_sound(copy)
