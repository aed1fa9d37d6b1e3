"""The crontab's block: one a repository, foreign lines untouched, and no table lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.store import crontab
from memrepo.store.errors import CrontabFailed, NoCrontab

NAME = "/srv/memory"
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
    with pytest.raises(CrontabFailed, match="do not match"):
        crontab.with_block(table, NAME, ["a"])
    with pytest.raises(CrontabFailed, match="do not match"):
        crontab.block(table, NAME)


@pytest.mark.parametrize(("name", "lines"), [("/a\nb", ["x"]), ("/a", ["x\n* * * * * y"])])
def test_a_line_break_never_gets_into_the_table(name: str, lines: list[str]) -> None:
    with pytest.raises(ValueError, match="line break"):
        crontab.with_block(b"", name, lines)


# -- the door ------------------------------------------------------------------------------------


def test_a_table_that_cannot_be_read_is_not_an_empty_one(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_FAILS", "you are not allowed to use this program")
    with pytest.raises(CrontabFailed, match="not allowed"):
        crontab.read()


def test_a_table_that_another_program_changed_is_noticed(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_ADDS", "0 0 * * * theirs")
    with pytest.raises(CrontabFailed, match="another program changed the crontab"):
        crontab.write(b"0 0 * * * ours\n")


def test_without_the_program_it_is_said_what_else_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCrontab) as caught:
        crontab.read()
    assert "--launcher" in caught.value.fix
