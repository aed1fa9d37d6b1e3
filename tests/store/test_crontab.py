"""The crontab's block: one a repository, foreign lines untouched, and no table lost."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.store import crontab

NAME = "/srv/memory"
FOREIGN = b"# mine\nMAILTO=me@example.org\n\n*/5 * * * * /usr/bin/true\t# x\r\n# memrepo begin /srv/other\n1\n# memrepo end /srv/other\n"  # noqa: E501
line = st.text(
    st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=20
).filter(lambda text: not text.startswith("# memrepo "))
tables = st.lists(line, max_size=5).map(lambda rows: "".join(f"{r}\n" for r in rows).encode())
blocks = st.lists(line, min_size=1, max_size=4)


@given(table=tables, lines=blocks, newer=blocks)
def test_a_block_comes_changes_and_goes_and_all_else_stays(
    table: bytes, lines: list[str], newer: list[str]
) -> None:
    there = crontab.with_block(table, NAME, lines)
    assert crontab.block(there, NAME) == tuple(lines)
    assert there.startswith(table)
    assert crontab.with_block(there, NAME, lines) == there
    changed = crontab.with_block(there, NAME, newer)
    assert crontab.block(changed, NAME) == tuple(newer)
    assert changed.count(b"# memrepo begin ") == 1
    assert crontab.with_block(changed, NAME, ()) == table


def test_a_block_keeps_its_place_between_foreign_lines() -> None:
    table = crontab.with_block(FOREIGN, NAME, ["a"]) + b"0 0 * * * later\n"
    assert crontab.with_block(table, NAME, ["b", "c"]) == table.replace(b"\na\n", b"\nb\nc\n")
    assert crontab.with_block(table, NAME, ()) == FOREIGN + b"0 0 * * * later\n"


def test_two_repositories_keep_out_of_each_other_s_block() -> None:
    both = crontab.with_block(crontab.with_block(b"", NAME, ["a"]), f"{NAME}2", ["b"])
    assert (crontab.block(both, NAME), crontab.block(both, f"{NAME}2")) == (("a",), ("b",))
    assert crontab.block(crontab.with_block(both, NAME, ()), f"{NAME}2") == ("b",)


def test_a_last_line_without_an_end_gets_one() -> None:
    assert crontab.with_block(b"1 1 * * * x", NAME, ["a"]).startswith(b"1 1 * * * x\n# memrepo ")


@pytest.mark.parametrize(
    "table",
    [
        b"# memrepo begin /srv/memory\na\n",
        b"a\n# memrepo end /srv/memory\n",
        b"# memrepo end /srv/memory\n# memrepo begin /srv/memory\n",
        b"# memrepo begin /srv/memory\n# memrepo begin /srv/memory\n# memrepo end /srv/memory\n",
    ],
)
def test_marks_that_do_not_pair_stop_everything(table: bytes) -> None:
    with pytest.raises(crontab.CrontabFailed, match="do not match"):
        crontab.with_block(table, NAME, ["a"])
    with pytest.raises(crontab.CrontabFailed, match="do not match"):
        crontab.block(table, NAME)


@pytest.mark.parametrize(("name", "lines"), [("/a\nb", ["x"]), ("/a", ["x\n* * * * * y"])])
def test_a_line_break_never_gets_into_the_table(name: str, lines: list[str]) -> None:
    with pytest.raises(ValueError, match="line break"):
        crontab.with_block(b"", name, lines)


def test_a_name_that_is_not_utf8_is_written_byte_for_byte() -> None:
    name = os.fsdecode(b"/srv/m\xff")
    there = crontab.with_block(b"", name, ["a"])
    assert b"# memrepo begin /srv/m\xff\n" in there
    assert crontab.block(there, name) == ("a",)


# -- the door ------------------------------------------------------------------------------------


def test_a_table_is_written_read_back_and_removed_when_empty(fake_crontab: Path) -> None:
    assert crontab.read() == b""
    crontab.write(FOREIGN)
    assert crontab.read() == FOREIGN
    assert fake_crontab.read_bytes() == FOREIGN
    crontab.write(b"")
    assert not fake_crontab.exists()


def test_a_table_that_cannot_be_read_is_not_an_empty_one(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_FAILS", "you are not allowed to use this program")
    with pytest.raises(crontab.CrontabFailed, match="not allowed"):
        crontab.read()


def test_a_table_that_another_program_changed_is_noticed(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_ADDS", "0 0 * * * theirs")
    with pytest.raises(crontab.CrontabFailed, match="another program changed the crontab"):
        crontab.write(b"0 0 * * * ours\n")


def test_without_the_program_it_is_said_what_else_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(crontab.NoCrontab) as caught:
        crontab.read()
    assert "--launcher" in caught.value.fix


# -- what a job is made of -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "to", "hours"),
    [
        ("UTC", "Asia/Manila", {-8}),
        ("Asia/Manila", "Asia/Manila", {0}),
        ("Asia/Singapore", "Asia/Manila", {0}),
        ("Europe/Berlin", "UTC", {1, 2}),
        ("Europe/Berlin", "Europe/Paris", {0}),
        ("Asia/Kathmandu", "UTC", {5.75}),
    ],
)
def test_the_distance_of_two_zones_is_taken_over_a_year(
    of: str, to: str, hours: set[float]
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    found = crontab.offsets(ZoneInfo(of), ZoneInfo(to), now)
    assert found == {timedelta(hours=hour) for hour in hours}


def test_the_program_is_named_by_its_absolute_path() -> None:
    assert Path(crontab.program()[0]).is_absolute()
    words = crontab.timeout_words(1200)
    assert not words or (Path(words[0]).is_absolute() and words[-1] == "1200")


def test_a_git_that_cron_does_not_find_is_put_on_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert crontab.search_path() == f"{tmp_path}:/usr/bin:/bin"
    (tmp_path / "git").unlink()
    assert crontab.search_path() in ("", "/usr/local/bin:/usr/bin:/bin")
