"""Stored memories next to the search index: read back whole, or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hoards import hoard

import memrepo
from memrepo.core.memory import Memory
from memrepo.store import catalogue
from memrepo.store.catalogue import NAME, Catalogue, program_print

MANY = {f"{n:040x}": memory for n, memory in enumerate(hoard(30))}
WANTED = {blob: memory.path for blob, memory in MANY.items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file in which thirty memories and one answer are stored."""
    path = tmp_path / "memrepo" / NAME
    kept = Catalogue(path)
    for memory in MANY.values():
        memory.derived.clear()
        memory.once("class", lambda: "stable")
    kept.stale["of"] = ["page.md"]
    kept.store(MANY)
    return path


def told(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)


def test_what_was_kept_is_read_back_with_what_was_worked_out(path: Path) -> None:
    found = Catalogue(path)
    assert found.read(WANTED) == MANY
    assert {m.once("class", str) for m in found.read(WANTED).values()} == {"stable"}
    assert found.stale == {"of": ["page.md"]}
    assert found.read({"f" * 40: "a.md"}) == {}


def test_only_what_is_new_is_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Catalogue(path)
    memories = found.read(WANTED)
    written: list[str] = []
    monkeypatch.setattr(catalogue, "_rows", lambda fresh: written.extend(fresh) or [])
    found.store(memories)
    assert written == []
    blob = min(memories)
    memories[blob].once("score", lambda: 0.5)
    found.store(memories)
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
    lambda path: told(path, "UPDATE made_by SET program = '0'"),
    lambda path: told(path, "DROP TABLE parsed"),
    lambda path: told(path, "UPDATE parsed SET memory = replace(memory, 'crane', 'house')"),
    lambda path: told(path, "UPDATE parsed SET memory = x'93'"),
    lambda path: told(path, "UPDATE parsed SET memory = NULL"),
    lambda path: told(path, "UPDATE parsed SET blob = 'f' || substr(blob, 2)"),
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_row_is_no_row_and_the_next_but_one_run_has_all_again(
    path: Path, damage: Callable[[Path], None]
) -> None:
    damage(path)
    found = Catalogue(path).read(WANTED)
    assert all(MANY[blob] == memory for blob, memory in found.items())
    for _ in range(2):
        Catalogue(path).store(MANY)
    assert Catalogue(path).read(WANTED) == MANY


def test_a_file_that_is_taken_away_is_written_whole_again(path: Path) -> None:
    found = Catalogue(path)
    memories = found.read(WANTED)
    assert found.stale
    path.unlink()
    found.store(memories)
    assert Catalogue(path).read(WANTED) == MANY
    assert Catalogue(path).stale == {"of": ["page.md"]}


def test_nobody_waits_for_long_for_a_file_that_another_holds(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "WAIT_S", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("BEGIN EXCLUSIVE")
        assert Catalogue(path).read(WANTED) == {}
        Catalogue(path).store({"f" * 40: Memory(path="a.md")})
    assert Catalogue(path).read(WANTED) == MANY


def test_rows_that_no_file_has_any_more_are_dropped_once_they_are_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "SPARE_ROWS", 5)
    monkeypatch.setitem(catalogue.MAX_ANSWERS, "stale", 2)
    few = dict(list(MANY.items())[:5])
    found = Catalogue(path)
    found.stale.update({f"of {n}": [] for n in range(4)})
    found.store(few)
    assert Catalogue(path).read(WANTED) == few
    assert list(Catalogue(path).stale) == ["of 2", "of 3"]


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "memrepo").write_text("a file where a folder should be")
    found = Catalogue(tmp_path / "memrepo" / NAME)
    found.store(MANY)
    assert found.read(WANTED) == {}
    assert found.stale == {}


def test_few_rows_are_asked_for_by_name_and_many_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = dict(list(WANTED.items())[:3])
    assert Catalogue(path).read(few).keys() == few.keys()
    assert Catalogue(path).read({}) == {}
    monkeypatch.setattr(catalogue, "MAX_BY_NAME", 2)
    assert Catalogue(path).read(few).keys() == few.keys()


def test_rows_of_another_program_are_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "program_print", lambda: "a rule was edited")
    assert Catalogue(path).read(WANTED) == {}
    assert Catalogue(path).stale == {}


def test_an_edited_module_or_table_makes_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    monkeypatch.setattr(memrepo, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "policies").mkdir()
    for name, text in (("a.py", "X = 1"), ("a.py", "X = 12"), ("policies/words.toml", "")):
        (tmp_path / name).write_text(text)
        found.append(program_print.__wrapped__())
        (tmp_path / "__pycache__").mkdir(exist_ok=True)
        assert program_print.__wrapped__() == found[-1]
    assert len({*found}) == 3
