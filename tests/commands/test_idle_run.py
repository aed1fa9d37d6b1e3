"""A run that would find nothing to do says so without reading memories and sources again."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, git, memories, memrepo

from memrepo.actions.run import run as running

NOON, SOON, NIGHT = "2026-03-01T12:00:00Z", "2026-03-01T12:05:00Z", "2026-03-02T00:00:00Z"


def computes(repo: Path, patch: pytest.MonkeyPatch, now: str, *argv: str) -> bool:
    """Return whether a run computes anything, compared with one that returns what it knows."""
    calls: list[int] = []
    before = running.run_once

    def counting(*args: object, **kwargs: object) -> object:
        calls.append(1)
        return before(*args, **kwargs)  # type: ignore[arg-type]

    with patch.context() as here:
        here.setattr(running, "run_once", counting)
        memrepo(repo, "run", *argv, now=now)
    return bool(calls)


def write_line(repo: Path) -> None:
    with (repo.parent / "workspace" / "MEMORY.md").open("a") as file:
        file.write("- The server gamma rings the bells at noon.\n")


def edit_memory(repo: Path) -> None:
    path = repo / next(iter(memories(repo).values())).path
    path.write_text(path.read_text() + "More.\n")
    git(repo, "commit", "-qam", "by hand", "--no-verify")


def retrieve(repo: Path) -> None:
    id_ = next(iter(memories(repo)))
    done(repo, "show", id_, now=NOON)


def configure(repo: Path) -> None:
    path = repo / "memrepo.toml"
    path.write_text(path.read_text() + '\n[importance.words]\ncritical = ["alfa"]\n')


def add_unread(repo: Path) -> None:
    (repo.parent / "workspace" / "other.txt").write_text("Nobody reads this.\n")


def test_an_idle_run_returns_what_the_last_one_found(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = done(two_runs, "run", now=NOON)
    assert not computes(two_runs, monkeypatch, SOON)
    again = done(two_runs, "run", now=SOON)
    assert {**again, "duration_s": 0} == {**first, "duration_s": 0}
    assert again["status"] == "skipped"


def test_a_landed_run_leaves_nothing_for_the_next(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_line(two_runs)
    landed = done(two_runs, "run", now=NOON)
    assert landed["status"] == "ok"
    assert not computes(two_runs, monkeypatch, SOON)
    after = done(two_runs, "run", now=SOON)
    assert (after["status"], after["head"], after["commits"]) == ("skipped", landed["head"], [])


@pytest.mark.parametrize("change", [write_line, edit_memory, retrieve, configure, add_unread])
def test_a_run_computes_again_when_what_it_reads_changed(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch, change: object
) -> None:
    done(two_runs, "run", now=NOON)
    assert not computes(two_runs, monkeypatch, SOON)
    change(two_runs)  # type: ignore[operator]
    assert computes(two_runs, monkeypatch, SOON)


@pytest.mark.parametrize(
    ("now", "argv"),
    [(NIGHT, ()), ("2026-03-01T11:59:59Z", ()), (SOON, ("--dry-run",)), (SOON, ("--force",))],
)
def test_a_run_computes_again_on_another_day_or_with_other_options(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch, now: str, argv: tuple[str, ...]
) -> None:
    done(two_runs, "run", now=NOON)
    assert computes(two_runs, monkeypatch, now, *argv)


def test_an_idle_run_still_refuses_a_second_run(two_runs: Path) -> None:
    from memrepo.store.lock import lock

    done(two_runs, "run", now=NOON)
    with lock(two_runs / ".git" / "memrepo", "run"):
        assert memrepo(two_runs, "run", now=SOON).exit != 0
