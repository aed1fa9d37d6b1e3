"""The bytes of a merged memory: foreign keys, comments and looks of two files in one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.merge.states import own_words
from memrepo.merge.versions import FileVersion, join_bytes, join_versions

PATH = "memories/knowledge/2026-01/m-111111.md"
HEAD = "id: mem-1111111111111111\ntype: fact\n"


def version(header: str, body: str = "One.", *, end: str = "\n") -> FileVersion:
    data = f"---\n{header}---\n\n{body}\n".replace("\n", end).encode()
    memory, problems = codec.decode(PATH, data)
    assert memory is not None, problems
    return FileVersion(PATH, data, memory)


def joined(base: str | None, older: str, newer: str) -> tuple[str, tuple[str, ...]]:
    """Join headers that hold the lines of one memory and what else is said; `|` ends a line."""
    sides = [None if h is None else version(h.replace("|", "\n")) for h in (base, older, newer)]
    assert sides[1] is not None
    assert sides[2] is not None
    assert sides[2].memory is not None
    found = join_bytes(sides[0], sides[1], sides[2], sides[2].memory)
    assert codec.decode(PATH, found[0].data)[0] == found[0].memory
    return found[0].data.decode().split("---\n")[1].replace("\n", "|"), found[1]


B = HEAD.replace("\n", "|")
LONG = "note: >|  one|  two|"
LIST = "colours:|  - red|"


@pytest.mark.parametrize(
    ("base", "older", "newer", "expected", "lost"),
    [
        (B, f"{B}a: 1|", f"{B}b: 2|", f"{B}b: 2|a: 1|", ()),
        (f"{B}a: 0|", f"{B}a: 1|", f"{B}a: 0|", f"{B}a: 1|", ()),
        (f"{B}a: 0|", f"{B}a: 0|", f"{B}a: 2|", f"{B}a: 2|", ()),
        (f"{B}a: 0|", f"{B}a: 1|", f"{B}a: 2|", f"{B}a: 2|", ("a",)),
        (f"{B}a: 0|", B, f"{B}a: 0|", B, ()),
        (f"{B}a: 0|", B, f"{B}a: 2|", f"{B}a: 2|", ()),
        (f"{B}a: 0|", f"{B}a: 1|", B, f"{B}a: 1|", ()),
        (f"{B}a: 0|", B, B, B, ()),
        (None, f"{B}a: 1|", f"{B}a: 2|", f"{B}a: 2|", ("a",)),
        (f"{B}a: 0 # why|", f"{B}a: 1 # why|", f"{B}a: 0 # why|b: 2|", f"{B}a: 1 # why|b: 2|", ()),
        (B, f"{B}a:|  - x|  - y|", f"{B}z: 1|", f"{B}z: 1|a:|  - x|  - y|", ()),
        (f"{B}{LONG}", f"{B}{LONG.replace('two', 'TWO')}z: 1|", f"{B}{LONG}  three|",
         f"{B}{LONG}  three|z: 1|", ("note",)),
        (f"{B}{LONG}", f"{B}{LONG}  three|", f"{B}{LONG.replace('two', 'TWO')}z: 1|",
         f"{B}{LONG.replace('two', 'TWO')}z: 1|", ("note",)),
        (f"{B}{LIST}", f"{B}{LIST}z: 1|", f"{B}{LIST}  - blue|", f"{B}{LIST}  - blue|z: 1|", ()),
        (f"{B}{LIST}", f"{B}{LIST}  - blue|", f"{B}{LIST}z: 1|", f"{B}{LIST}  - blue|z: 1|", ()),
        (B, f"# one|{B}", f"{B}# two|", f"# one|{B}# two|", ()),
        (f"# one|{B}", B, f"# one|{B}a: 1|", f"{B}a: 1|", ()),
        (f"# one|{B}", f"# one|{B}", f"{B}a: 1|", f"{B}a: 1|", ()),
        (f"# one|{B}", f"# two|{B}", f"# three|{B}", f"# three|{B}", ("header",)),
        (B, f"{B}# last|", f"{B}a: 1|", f"{B}a: 1|# last|", ()),
        (B, B.replace("|type", "|# why|type"), f"{B}a: 1|",
         B.replace("|type", "|# why|type") + "a: 1|", ()),
    ],
)  # fmt: skip
def test_other_keys_are_merged_one_by_one_and_comments_by_line(
    base: str | None, older: str, newer: str, expected: str, lost: tuple[str, ...]
) -> None:
    assert joined(base, older, newer) == (expected, lost)


def test_added_lines_take_the_line_ends_and_the_margin_of_the_file() -> None:
    base, ours = version(HEAD, end="\r\n"), version(f"{HEAD}b: 2\n", end="\r\n")
    assert ours.memory is not None
    found = join_bytes(base, version(f"{HEAD}a: 1\n"), ours, ours.memory)
    assert b"\r\na: 1\r\n" in found[0].data
    assert b"\n" not in found[0].data.replace(b"\r\n", b"")
    indented = "  id: mem-1111111111111111\n  type: fact\n"
    ours = version(f"{indented}  b: 2\n")
    assert ours.memory is not None
    found = join_bytes(version(indented), version(f"{HEAD}a:\n  - x\n"), ours, ours.memory)
    assert b"\n  a:\n    - x\n" in found[0].data


def test_what_no_file_can_hold_together_is_the_newer_side_s() -> None:
    big = "x" * 600_000
    base, ours, theirs = version(HEAD), version(f"{HEAD}a: {big}\n"), version(f"{HEAD}b: {big}\n")
    assert theirs.memory is not None
    assert join_bytes(base, ours, theirs, theirs.memory) == (theirs, ("",))
    assert join_versions(base, ours, theirs, ours_wins=True).lost == ("",)


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        (HEAD, HEAD, True),
        (HEAD, f"{HEAD}title: t\n", True),
        (HEAD, f"{HEAD}a: 1\n", False),
        (f"{HEAD}a: 1\n", f"{HEAD}a: 2\n", False),
        (f"{HEAD}# why\n", f"{HEAD}# why\n", True),
        (f"{HEAD}# why\n", f"{HEAD}# how\n", False),
        (f"{HEAD}title: t # why\n", f"{HEAD}title: u # why\n", True),
        (f"{HEAD}title: t # why\n", f"{HEAD}title: t\n", False),
        (f'{HEAD}title: "# no"\n', f"{HEAD}title: t\n", True),
    ],
)
def test_foreign_keys_and_comments_are_a_person_s_words(
    one: str, other: str, is_equal: bool
) -> None:
    assert (own_words(version(one)) == own_words(version(other))) is is_equal


def test_a_move_and_an_edit_are_both_in_the_merged_file() -> None:
    base, edited = version(HEAD), version(HEAD, "Two.")
    assert base.memory is not None
    path = PATH.replace("2026-01", "2026-02")
    moved = FileVersion(path, base.data, replace(base.memory, path=path))
    for ours, theirs in ((moved, edited), (edited, moved)):
        merged = join_versions(base, ours, theirs).version
        assert merged is not None
        assert (merged.path, merged.data) == (path, edited.data)
        assert merged.memory is not None
        assert (merged.memory.path, merged.memory.body) == (path, "Two.")
    unreadable = FileVersion(PATH, b"<<<<<<<", None)
    kept = join_versions(base, moved, unreadable).version
    assert kept is not None
    assert (kept.path, kept.data, kept.memory) == (path, b"<<<<<<<", None)
