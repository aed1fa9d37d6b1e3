"""Files that are not memories, side by side: which one stands, what is lost, what is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from memrepo.core.layout import Layout
from memrepo.merge.files import FileConflict, is_derived, join_file, keep
from memrepo.merge.tombstones import Tombstone, read_tombstone, tombstone_bytes
from memrepo.merge.versions import LosingVersion, Origin, Stamps

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)
H = timedelta(hours=1)
NOBODY = Stamps()
THEIRS_LATER = Stamps(ours=Origin(committed=T0), theirs=Origin(committed=T0 + H))
OURS_BY_A_PERSON = Stamps(ours=Origin(committed=T0, person=True), theirs=Origin(committed=T0 + H))
Found = tuple[bytes | None, FileConflict | None, bytes | None]


def join(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    stamps: Stamps = NOBODY,
    prefix: str = "",
) -> Found:
    """Join a file and, with the sides swapped, once more: the result is the same."""
    layout = Layout(prefix)
    found = join_file(layout, prefix + path, base, ours, theirs, stamps)
    swapped = Stamps(ours=stamps.theirs, theirs=stamps.ours)
    assert join_file(layout, prefix + path, base, theirs, ours, swapped) == found
    return found.data, found.conflict, found.lost


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
    assert join(path, base, ours, theirs) == (data, None, None)


@pytest.mark.parametrize(("person", "conflict"), [(False, None), (True, "removed-and-edited")])
def test_what_was_removed_and_changed_stays_and_a_persons_removal_is_told(
    person: bool, conflict: FileConflict | None
) -> None:
    stamps = Stamps(ours=Origin(person=person), theirs=Origin(person=not person))
    assert join("threads/a.json", b"a", None, b"b", stamps) == (b"b", conflict, None)


@pytest.mark.parametrize("prefix", ["", "memrepo/"])
@pytest.mark.parametrize(
    ("path", "conflict"),
    [("runs/2026-03/a.json", "manifest-differs"), ("threads/a.json", "both-changed")],
)
def test_the_newer_version_stands_and_a_persons_before_any(
    prefix: str, path: str, conflict: FileConflict
) -> None:
    later = join(path, b"o", b"ours", b"theirs", THEIRS_LATER, prefix)
    assert later == (b"theirs", conflict, b"ours")
    person = join(path, b"o", b"ours", b"theirs", OURS_BY_A_PERSON, prefix)
    assert person == (b"ours", conflict, b"theirs")
    assert join(path, None, b"1", b"2", NOBODY, prefix) == (b"2", conflict, b"1")


def candidate(*sources: str, note: str = "") -> bytes:
    rows = "".join(f"  - {{resource: sources/{s}, lines: [1, 1]}}\n" for s in sources)
    head = f"sources:\n{rows}" if sources else "sources: none\n"
    return f"---\ntype: candidate\n{head}---\n\nText.{note}\n".encode()


def test_of_two_candidates_the_one_with_more_evidence_stands_whoever_wrote_it() -> None:
    more, less = candidate("a.md", "b.md"), candidate("c.md")
    path = "candidates/deferred/00/th-0.md"
    assert join(path, None, less, more, OURS_BY_A_PERSON) == (more, None, less)
    assert join(path, None, more, candidate(), THEIRS_LATER) == (more, None, candidate())
    one, other = candidate("a.md", note=" A"), candidate("a.md", note=" B")
    assert join(path, None, other, one, OURS_BY_A_PERSON) == (other, None, one)


@pytest.mark.parametrize("path", ["sources/a.md", "memrepo.toml"])
@pytest.mark.parametrize("prefix", ["", "memrepo/"])
def test_sources_and_the_configuration_are_joined_by_line(path: str, prefix: str) -> None:
    base, ours, theirs = (
        b"a = 1\nb = 2\nc = 3\n",
        b"a = 9\nb = 2\nc = 3\n",
        b"a = 1\nb = 2\nc = 4\n",
    )
    assert join(path, base, ours, theirs, prefix=prefix) == (
        b"a = 9\nb = 2\nc = 4\n",
        None,
        None,
    )
    clash = join(path, base, b"a = 8\n", b"a = 9\n", THEIRS_LATER, prefix)
    assert clash == (b"a = 9\n", "both-changed", b"a = 8\n")


def test_a_configuration_that_could_not_be_read_is_not_made() -> None:
    base, ours, theirs = b"a = 1\n", b"a = 1\nb = 2\n", b"a = 1\n\nb = 3\n"
    found = join("memrepo.toml", base, ours, theirs, THEIRS_LATER)
    assert found == (theirs, "both-changed", ours), "a key would stand twice"
    data, conflict, _ = join("sources/a.md", base, ours, theirs, THEIRS_LATER)
    assert data is not None
    assert b"b = 2" in data
    assert b"b = 3" in data
    assert conflict is None


def test_line_ends_are_those_of_the_side_that_changed_them() -> None:
    base, theirs = b"a\nb\nc\n", b"a\nb\nz\n"
    assert join("sources/a.md", base, b"a\r\nb\r\nc\r\n", theirs)[0] == b"a\r\nb\r\nz\r\n"
    dos = b"a\r\nb\r\nc\r\n"
    assert join("sources/a.md", dos, b"x\r\nb\r\nc\r\n", b"a\nb\nc\n")[0] == b"x\nb\nc\n"
    assert (
        join("sources/a.md", dos, b"x\r\nb\r\nc\r\n", b"a\r\nb\r\nz\r\n")[0] == b"x\r\nb\r\nz\r\n"
    )


def test_bytes_that_are_no_text_stand_whole() -> None:
    found = join("sources/a.md", b"a\nb\nc\n", b"x\nb\nc\n", b"a\nb\n\xff\n", THEIRS_LATER)
    assert found == (b"a\nb\n\xff\n", "both-changed", b"x\nb\nc\n")


STONE = Tombstone(
    key="ts-" + "0" * 16, text="tx-" + "1" * 32, by="human:a@b.c", at=T0, units=("th-" + "2" * 16,)
)


def test_two_tombstones_are_one_with_all_evidence() -> None:
    path = f"tombstones/{STONE.key}.md"
    later = replace(STONE, at=T0.replace(year=2031), units=())
    data, conflict, lost = join(path, None, tombstone_bytes(STONE), tombstone_bytes(later))
    assert (conflict, lost) == (None, None)
    assert data is not None
    assert read_tombstone(path, data) == replace(later, units=STONE.units)


@pytest.mark.parametrize("broken", [b"---\nkey: x\n---\n", b"nothing"])
def test_a_tombstone_that_cannot_be_read_gives_way_to_one_that_can(broken: bytes) -> None:
    path = f"tombstones/{STONE.key}.md"
    whole = tombstone_bytes(STONE)
    assert join(path, None, broken, whole, THEIRS_LATER) == (whole, None, None)
    assert join(path, None, whole, broken, THEIRS_LATER) == (whole, None, None)
    other = broken + b"\n"
    assert join(path, None, broken, other, THEIRS_LATER) == (other, "both-changed", broken)


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


def test_what_gave_way_is_a_file_named_by_what_it_holds() -> None:
    one = LosingVersion(
        path="memories/a.md", key="title", data=b"Old", id="mem-1", by="human:a@b.c", at=T0
    )
    (file,) = keep(Layout(), [one, one], T0 + H)
    assert file.path.startswith("corrections/2026-03-01-gave-way-")
    assert file.data.decode() == (
        "---\nkind: gave-way\nmemory: mem-1\npath: memories/a.md\nfield: title\n"
        'by: human:a@b.c\nat: "2026-03-01T09:00:00Z"\nmerged: "2026-03-01T10:00:00Z"\n---\nOld\n'
    )
    later = keep(Layout(), [one], T0 + 2 * H)[0]
    assert later.path == file.path, "the same thing on the same day"
    for other in (
        replace(one, data=b"Older"),
        replace(one, key="body"),
        replace(one, id="mem-2"),
        replace(one, path="memories/b.md"),
    ):
        assert keep(Layout(), [other], T0)[0].path != file.path


def test_what_is_not_known_is_left_out_and_the_text_ends_its_line_once() -> None:
    bare = LosingVersion(path="memrepo.toml", key="", data=b"a\xff\n")
    (file,) = keep(Layout("memrepo/"), [bare], T0)
    assert file.path.startswith("memrepo/corrections/2026-03-01-gave-way-")
    assert file.data.decode() == (
        '---\nkind: gave-way\npath: memrepo.toml\nmerged: "2026-03-01T09:00:00Z"\n---\na\\xff\n'
    )
    many = keep(Layout(), [replace(bare, data=f"{n}".encode()) for n in range(5)], T0)
    assert [w.path for w in many] == sorted(w.path for w in many)
    assert len(many) == 5
