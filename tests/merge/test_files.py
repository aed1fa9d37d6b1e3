"""Files that are not memories, side by side: which one stands, what is lost, what is told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from memrepo.core.layout import Layout
from memrepo.merge.states import is_derived, join_file
from memrepo.merge.tombstones import Tombstone, read_tombstone, tombstone_bytes

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
Found = tuple[bytes | None, bool]


def join(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, prefix: str = ""
) -> Found:
    """Join a file and, with the sides swapped, once more: the result is the same."""
    layout = Layout(prefix)
    found = join_file(layout, prefix + path, base, ours, theirs)
    assert join_file(layout, prefix + path, base, theirs, ours) == found
    return found.data, found.is_lost


@pytest.mark.parametrize("path", ["runs/2026-03/a.json", "threads/a.json", "sources/a.md"])
@pytest.mark.parametrize(
    ("base", "ours", "theirs", "data"),
    [
        (b"a", b"a", b"b", b"b"),
        (b"a", b"b", b"b", b"b"),
        (None, None, b"b", b"b"),
        (b"a", None, b"a", None),
        (b"a", None, None, None),
    ],
)
def test_what_one_side_changed_or_both_alike_is_no_conflict(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, data: bytes | None
) -> None:
    assert join(path, base, ours, theirs) == (data, False)


def test_what_was_removed_and_changed_stays() -> None:
    assert join("threads/a.json", b"a", None, b"b") == (b"b", False)


@pytest.mark.parametrize("prefix", ["", "memrepo/"])
@pytest.mark.parametrize("path", ["runs/2026-03/a.json", "threads/a.json"])
def test_the_longer_version_stands(prefix: str, path: str) -> None:
    assert join(path, b"o", b"theirs", b"ours", prefix) == (b"theirs", True)
    assert join(path, None, b"1", b"2", prefix) == (b"2", True)


def test_of_two_files_for_people_about_one_case_the_longer_stands_and_nothing_is_lost() -> None:
    assert join("corrections/a.md", None, b"theirs", b"ours") == (b"theirs", False)


@pytest.mark.parametrize("path", ["sources/a.md", "memrepo.toml"])
@pytest.mark.parametrize("prefix", ["", "memrepo/"])
def test_sources_and_the_configuration_are_joined_by_line(path: str, prefix: str) -> None:
    base, ours, theirs = (
        b"a = 1\nb = 2\nc = 3\n",
        b"a = 9\nb = 2\nc = 3\n",
        b"a = 1\nb = 2\nc = 4\n",
    )
    assert join(path, base, ours, theirs, prefix=prefix) == (b"a = 9\nb = 2\nc = 4\n", False)
    clash = join(path, base, b"a = 8\n", b"a = 9\n", prefix)
    assert clash == (b"a = 9\n", True)


def test_a_configuration_that_could_not_be_read_is_not_made() -> None:
    base, ours, theirs = b"a = 1\n", b"a = 1\nb = 2\n", b"a = 1\n\nb = 3\n"
    found = join("memrepo.toml", base, ours, theirs)
    assert found == (theirs, True), "a key would stand twice"
    data, conflict = join("sources/a.md", base, ours, theirs)
    assert data is not None
    assert b"b = 2" in data
    assert b"b = 3" in data
    assert conflict is False


def test_line_ends_are_those_of_the_side_that_changed_them() -> None:
    base, theirs = b"a\nb\nc\n", b"a\nb\nz\n"
    assert join("sources/a.md", base, b"a\r\nb\r\nc\r\n", theirs)[0] == b"a\r\nb\r\nz\r\n"
    dos = b"a\r\nb\r\nc\r\n"
    assert join("sources/a.md", dos, b"x\r\nb\r\nc\r\n", b"a\nb\nc\n")[0] == b"x\nb\nc\n"
    assert (
        join("sources/a.md", dos, b"x\r\nb\r\nc\r\n", b"a\r\nb\r\nz\r\n")[0] == b"x\r\nb\r\nz\r\n"
    )


def test_bytes_that_are_no_text_stand_whole() -> None:
    found = join("sources/a.md", b"a\nb\nc\n", b"x\nb\nc\n", b"a\nb\n\xff\n")
    assert found == (b"x\nb\nc\n", True)


STONE = Tombstone(
    key="ts-" + "0" * 16, statement="No.", by="human:a@b.c", at=T0, units=("th-" + "2" * 16,)
)


def test_two_tombstones_are_one_with_all_evidence() -> None:
    path = f"tombstones/{STONE.key}.md"
    later = replace(STONE, at=T0.replace(year=2031), units=())
    data, conflict = join(path, None, tombstone_bytes(STONE), tombstone_bytes(later))
    assert conflict is False
    assert data is not None
    assert read_tombstone(path, data) == replace(later, units=STONE.units)


@pytest.mark.parametrize("broken", [b"---\nkey: x\n---\n", b"nothing"])
def test_a_tombstone_that_cannot_be_read_gives_way_to_one_that_can(broken: bytes) -> None:
    path = f"tombstones/{STONE.key}.md"
    whole = tombstone_bytes(STONE)
    assert join(path, None, broken, whole) == (whole, False)
    assert join(path, None, whole, broken) == (whole, False)
    other = broken + b"\n"
    assert join(path, None, broken, other) == (other, True)


@pytest.mark.parametrize(
    ("path", "derived"),
    [
        ("views/LTMEMORY.md", True),
        ("MEMORY.md", True),
        ("HOT.md", True),
        ("sources/MEMORY.md", False),
        ("runs/2026-03/a.json", False),
    ],
)
@pytest.mark.parametrize("prefix", ["", "memrepo/"])
def test_what_is_rendered_after_a_merge_is_derived(path: str, derived: bool, prefix: str) -> None:
    assert is_derived(Layout(prefix), prefix + path) is derived
