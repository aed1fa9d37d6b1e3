"""The bytes of a merged memory: foreign keys, comments and looks of two files in one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.memory import Memory
from memrepo.merge.versions import FileVersion, JoinedBytes, join_bytes, join_versions, own_words

PATH = "memories/knowledge/2026-01/m-111111.md"
HEAD = "id: mem-1111111111111111\ntype: fact\n"


def version(header: str, body: str = "One.", *, end: str = "\n") -> FileVersion:
    data = f"---\n{header}---\n\n{body}\n".replace("\n", end).encode()
    memory, problems = codec.decode(PATH, data)
    assert memory is not None, problems
    return FileVersion(PATH, data, memory)


def joined(
    base: str | None, older: str, newer: str, memory: Memory | None = None, body: str = "One."
) -> JoinedBytes:
    """Join headers that hold the lines of one memory and what else is said; `|` ends a line."""
    sides = [
        None if h is None else version(h.replace("|", "\n"), body) for h in (base, older, newer)
    ]
    result = join_bytes(sides[0], sides[1], sides[2], memory or sides[2].memory)
    assert result is not None
    assert codec.decode(PATH, result.data)[0] == result.memory
    return result


def header(result: JoinedBytes) -> str:
    return result.data.decode().split("---\n")[1]


B = HEAD.replace("\n", "|")


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
        (
            f"{B}a: 0|",
            f"{B}a:|  - x|  - y|",
            f"{B}a: 2|",
            f"{B}a: 2|",
            ("a",),
        ),
        (B, f"{B}a:|  - x|  - y|", f"{B}z: 1|", f"{B}z: 1|a:|  - x|  - y|", ()),
    ],
)
def test_foreign_keys_are_merged_one_by_one(
    base: str | None, older: str, newer: str, expected: str, lost: tuple[str, ...]
) -> None:
    found = joined(base, older, newer)
    assert header(found) == expected.replace("|", "\n")
    assert found.lost == lost


@pytest.mark.parametrize(
    ("base", "older", "newer", "expected"),
    [
        (B, f"# one|{B}", f"{B}# two|", f"# one|{B}# two|"),
        (f"# one|{B}", B, f"# one|{B}a: 1|", f"{B}a: 1|"),
        (f"# one|{B}", f"# one|{B}", f"{B}a: 1|", f"{B}a: 1|"),
        (B, "id: mem-1111111111111111|# why|type: fact|", f"{B}a: 1|", ""),
        (B, f"{B}# last|", f"{B}a: 1|", f"{B}a: 1|# last|"),
    ],
)
def test_comments_of_both_sides_stand_where_they_stood(
    base: str, older: str, newer: str, expected: str
) -> None:
    wanted = expected or "id: mem-1111111111111111|# why|type: fact|a: 1|"
    assert header(joined(base, older, newer)) == wanted.replace("|", "\n")


def test_added_lines_take_the_line_ends_and_the_margin_of_the_file() -> None:
    base, ours = version(HEAD, end="\r\n"), version(f"{HEAD}b: 2\n", end="\r\n")
    found = join_bytes(base, version(f"{HEAD}a: 1\n"), ours, ours.memory)
    assert found is not None
    assert b"\r\na: 1\r\n" in found.data
    assert b"\n" not in found.data.replace(b"\r\n", b"")
    indented = "  id: mem-1111111111111111\n  type: fact\n"
    shifted = version(f"{indented}  b: 2\n")
    found = join_bytes(version(indented), version(f"{HEAD}a:\n  - x\n"), shifted, shifted.memory)
    assert found is not None
    assert b"\n  a:\n    - x\n" in found.data


def test_what_no_file_can_hold_together_is_none() -> None:
    big = "x" * 600_000
    base, ours, theirs = version(HEAD), version(f"{HEAD}a: {big}\n"), version(f"{HEAD}b: {big}\n")
    assert join_bytes(base, ours, theirs, theirs.memory) is None


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
