"""What is made of memrepo's own files is kept for the next process, equal to what is made anew."""

from __future__ import annotations

import marshal
import re
import sys
from pathlib import Path

import pytest

from memrepo.core import patterns


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep things in a folder of the test, in a process that begins with nothing."""
    monkeypatch.setattr(patterns, "_path", lambda: tmp_path / "kept.data")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(patterns, "_save_at_exit", lambda: None)
    patterns._entries.cache_clear()
    patterns._compiled.cache_clear()
    return tmp_path / "kept.data"


def begin_again() -> None:
    """Save as a process does at its end, and forget as the next one."""
    patterns._save()
    patterns._entries.cache_clear()
    patterns._compiled.cache_clear()


def test_what_was_made_once_is_not_made_again(file: Path) -> None:
    assert patterns.load_or_make(("k", 1), lambda: {"a": (1, None)}) == {"a": (1, None)}
    begin_again()
    assert patterns.load_or_make(("k", 1), lambda: pytest.fail("made again")) == {"a": (1, None)}
    assert [one.name for one in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "found",
    [b"", b"?", b"\xff" * 50, marshal.dumps(("another Python", {("k", 1): marshal.dumps(1)}))],
)
def test_a_file_that_is_of_no_use_is_replaced(file: Path, found: bytes) -> None:
    file.write_bytes(found)
    assert patterns.load_or_make(("k", 1), lambda: 2) == 2
    begin_again()
    assert patterns.load_or_make(("k", 1), lambda: 3) == 2


def test_a_damaged_file_is_replaced(file: Path) -> None:
    patterns.load_or_make(("k", 1), lambda: "kept")
    patterns._save()
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        patterns._entries.cache_clear()
        assert patterns.load_or_make(("k", 1), lambda: "made again") == "made again"


def test_a_read_only_folder_keeps_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    assert patterns.load_or_make(("k", 1), lambda: 2) == 2
    patterns._save()
    assert not file.exists()


def test_where_no_byte_code_is_written_nothing_is_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert patterns.load_or_make(("k", 1), lambda: 2) == 2
    begin_again()
    assert not file.exists()


@pytest.mark.parametrize(
    ("pattern", "flags"),
    [(r"(?P<a>x)(y)?(?P<b>z)", 0), (b"a|b", re.I), ("(?im)^ü[а-я]", 0), (r"\w+", re.ASCII)],
)
def test_a_kept_pattern_is_the_one_that_re_compiles(
    file: Path, pattern: str | bytes, flags: int
) -> None:
    wanted = re.compile(pattern, flags)
    for _ in range(2):
        found = patterns._compiled(pattern, int(flags))
        assert isinstance(found, re.Pattern)
        assert (found, found.flags, found.groups, dict(found.groupindex)) == (
            *(wanted, wanted.flags, wanted.groups),
            dict(wanted.groupindex),
        )
        begin_again()
    match = patterns.compiled(r"(?P<a>x)(y)?(?P<b>z)").search("xz")
    assert match is not None
    assert (match.lastgroup, match.groupdict()) == ("b", {"a": "x", "b": "z"})
    assert file.exists()


def test_another_implementation_of_re_is_asked_itself(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "_sre", None)
    assert patterns.compiled("ab+").fullmatch("abb")
    assert not file.exists()
