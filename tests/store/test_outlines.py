"""Memories with an outline: it tells what the memory says, and no more is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hoards import hoard, memory
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.memory import Memory, Source
from memrepo.store import records
from memrepo.store.outlines import Kept, row_of, rows_of, segment
from memrepo.store.records import NAME, Records

HASH = "th-0123456789abcdef"
SEEN = (
    Source(resource="sources/a.md", lines=(3, 4), captured="2026-02-01", text_hash=HASH),
    Source(resource="sources/b.md", lines=(1, 1), captured="2026-03-01"),
)
MANY = {
    f"{n:040x}": one
    for n, one in enumerate(
        [
            *hoard(30),
            memory(40, "Bakery: The oven is new.", subject="Bakery", lead="Bakery", sources=SEEN),
            memory(41, "A" * 300, subject="S" * 300, critical=True),
            memory(42, "A note of the day.", type="note", tags=("tea",)),
        ]
    )
}
WANTED = {blob: one.path for blob, one in MANY.items()}
FILES = {path: blob for blob, path in sorted(WANTED.items(), key=lambda item: item[1])}


def outlined(records: Records) -> dict[str, Kept]:
    """Return by blob the memories of which outlines are kept."""
    table = records.table(FILES)
    return {FILES[path]: table.memory(at) for at, path in enumerate(table.paths)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the file in which outlines are kept."""
    path = tmp_path / "memrepo" / NAME
    for one in MANY.values():
        one.derived.clear()
        one.once("class", lambda: "stable")
    Records(path).keep(MANY)
    return path


def never(*_: object) -> Any:
    raise AssertionError("it was read whole")


def test_an_outline_tells_what_the_memory_says_without_reading_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Records(path)
    monkeypatch.setattr(Records, "_whole", never)
    kept = outlined(found)
    assert kept.keys() == MANY.keys()
    for blob, one in MANY.items():
        seen = kept[blob]
        assert not seen.is_whole
        assert (seen.id, seen.type, seen.status, seen.standing, seen.is_note) == (
            *(one.id, one.type, one.status, one.standing, one.is_note),
        )
        assert seen.keys == one.keys
        assert (seen.files, seen.first, seen.captured) == (one.files, one.first, one.captured)
        assert seen.said == one.said
        assert seen.once("class", never) == "stable"
        assert {key in seen.fields for key in one.fields} == {True}
        assert not seen.has("no such field")
        assert seen.texts("aliases") == ()
        assert one.has("pinned") or not seen.flag("pinned")
        assert seen.fields.get("hot", 7) == 7
        for key in ("subject", "lead", "scope", "home", "predicate"):
            if len(one.text(key)) < 200:
                assert seen.text(key) == one.text(key)


def test_what_no_column_holds_is_read_when_it_is_asked_for(path: Path) -> None:
    found = Records(path)
    for blob, seen in outlined(found).items():
        assert seen.body == MANY[blob].body
        assert seen.is_whole
        assert seen == MANY[blob]
        assert [*seen.fields.items()] == [*MANY[blob].fields.items()]
        assert codec.encode(seen) == codec.encode(MANY[blob])
    found.close()


def test_a_copy_says_what_a_copy_of_the_memory_would(path: Path) -> None:
    found = Records(path)
    for blob, seen in outlined(found).items():
        one = MANY[blob]
        assert replace(seen, path="b.md") == replace(one, path="b.md")
        other = replace(seen, body="other")
        assert other == replace(one, body="other")
        assert other.once("class", lambda: "new") == "new"  # what followed from the old text
        assert seen.with_fields({"title": "x"}) == one.with_fields({"title": "x"})
    found.close()


def test_once_many_are_read_all_are(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_FEW", 1)
    found = Records(path)
    kept = [*outlined(found).values()]
    for one in kept[:12]:
        assert one.body
    monkeypatch.setattr(Records, "_single", never)
    assert {one.path: one.body for one in kept} == {one.path: one.body for one in MANY.values()}
    found.close()


def test_a_row_that_is_gone_meanwhile_is_read_from_its_file(path: Path) -> None:
    found = Records(path)
    found.read_file = lambda _, blob: codec.encode(MANY[blob])
    kept = outlined(found)
    path.unlink()
    assert all(seen == MANY[blob] for blob, seen in kept.items())
    found.close()


# What may happen to a cache.
DAMAGES = (
    "UPDATE outline SET said = NULL",
    "UPDATE outline SET said = x'93'",
    "UPDATE outline SET sum = sum + 1",
    "DELETE FROM outline",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_segment_is_none_and_the_next_run_writes_another(path: Path, damage: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute(damage)
    found = Records(path)
    assert outlined(found) == {}
    found.keep(found.read(WANTED))
    assert outlined(Records(path)).keys() == MANY.keys()


def test_small_segments_become_one_that_tells_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_SEGMENTS", 3)
    for rule in ("one", "two", "three", "four"):
        found = Records(path)
        kept: dict[str, Memory] = {**outlined(found)}
        first = next(iter(kept.values()))
        first.once(rule, lambda: [1])
        found.keep(kept)
    with closing(sqlite3.connect(path)) as base:
        (count,) = base.execute("SELECT count(*) FROM outline").fetchone()
    assert count < 4
    last = outlined(Records(path))
    assert last.keys() == MANY.keys()
    told = next(iter(last.values()))
    assert [told.once(rule, never) for rule in ("one", "two", "three", "four")] == [[1]] * 4
    assert isinstance(told, Kept)


def test_a_segment_is_read_back_as_it_was() -> None:
    rows = {blob: row_of(one) for blob, one in MANY.items()}
    read = rows_of(segment(rows))
    for blob, row in rows.items():
        assert {name: value for name, value in read[blob].items() if value is not None} == row
