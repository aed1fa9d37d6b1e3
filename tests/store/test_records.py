"""Rows of memories beside the search index: read back whole, or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hoards import hoard

from memrepo.core.memory import Memory
from memrepo.store import records
from memrepo.store.records import NAME, Records

MANY = {f"{n:040x}": memory for n, memory in enumerate(hoard(30))}
WANTED = {blob: memory.path for blob, memory in MANY.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file in which thirty memories and one page are kept."""
    path = tmp_path / "memrepo" / NAME
    kept = Records(path)
    for memory in MANY.values():
        memory.derived.clear()
        memory.once("class", lambda: "stable")
    kept.pages["of"] = "digest"
    kept.keep(MANY)
    return path


def told(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)


def test_what_was_kept_is_read_back_with_what_was_worked_out(path: Path) -> None:
    found = Records(path)
    assert found.read(WANTED) == MANY
    assert {m.once("class", str) for m in found.read(WANTED).values()} == {"stable"}
    assert found.pages == {"of": "digest"}
    assert found.read({"f" * 40: "a.md"}) == {}


def test_only_what_is_new_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Records(path)
    memories = found.read(WANTED)
    written: list[str] = []
    monkeypatch.setattr(records, "_spelled", lambda fresh: written.extend(fresh) or [])
    found.keep(memories)
    assert written == []
    blob = min(memories)
    memories[blob].once("score", lambda: 0.5)
    found.keep(memories)
    assert written == [blob]


def overwritten(path: Path) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at as if it were one" * 99)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


DAMAGES: tuple[Callable[[Path], None], ...] = (
    Path.unlink,
    overwritten,
    cut_off,
    lambda path: path.write_bytes(b""),
    lambda path: told(path, "UPDATE kept_by SET version = '0'"),
    lambda path: told(path, "DROP TABLE record"),
    lambda path: told(path, "UPDATE record SET said = replace(said, 'active', 'passive')"),
    lambda path: told(path, "UPDATE record SET said = '[[{'"),
    lambda path: told(path, "UPDATE record SET said = NULL"),
    lambda path: told(path, "UPDATE record SET said = replace(said, 'fact', 'note')"),
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_no_row_and_the_next_but_one_run_has_all_again(
    path: Path, damage: Callable[[Path], None]
) -> None:
    damage(path)
    found = Records(path).read(WANTED)
    assert all(MANY[blob] == memory for blob, memory in found.items())
    for _ in range(2):
        Records(path).keep(MANY)
    assert Records(path).read(WANTED) == MANY


def test_a_file_that_is_taken_away_is_written_whole_again(path: Path) -> None:
    found = Records(path)
    memories = found.read(WANTED)
    assert found.pages
    path.unlink()
    found.keep(memories)
    assert Records(path).read(WANTED) == MANY
    assert Records(path).pages == {"of": "digest"}


def test_nobody_waits_for_long_for_a_file_that_another_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "WAIT_S", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("BEGIN EXCLUSIVE")
        assert Records(path).read(WANTED) == {}
        Records(path).keep({"f" * 40: Memory(path="a.md")})
    assert Records(path).read(WANTED) == MANY


def test_rows_that_no_file_has_any_more_are_dropped_once_they_are_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_SPARE", 5)
    monkeypatch.setattr(records, "_PAGES", 2)
    few = dict(list(MANY.items())[:5])
    found = Records(path)
    found.pages |= {f"of {n}": "digest" for n in range(4)}
    found.keep(few)
    assert Records(path).read(WANTED) == few
    assert list(Records(path).pages) == ["of 2", "of 3"]


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "memrepo").write_text("a file where a folder should be")
    found = Records(tmp_path / "memrepo" / NAME)
    found.keep(MANY)
    assert found.read(WANTED) == {}
    assert found.pages == {}


def test_few_rows_are_asked_for_by_name_and_many_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dict(list(WANTED.items())[:3])
    assert Records(path).read(few).keys() == few.keys()
    assert Records(path).read({}) == {}
    monkeypatch.setattr(records, "_FEW", 2)
    assert Records(path).read(few).keys() == few.keys()


def test_up_to_which_commit_memories_were_compared_is_kept_and_read_back(path: Path) -> None:
    kept = Records(path)
    assert kept.compared == {}
    upto = records.Compared(commit="c" * 40, left=("mem-0000000000000000",))
    kept.compared["who"] = upto
    kept.keep(kept.read(WANTED))
    assert Records(path).compared == {"who": upto}
    told(path, "UPDATE compared SET said = replace(said, 'c', 'd')")
    assert Records(path).compared == {}
