"""The crontab's block: one a repository, foreign lines untouched, and no table lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.errors import CrontabFailed, NoCrontab
from memrepo.store import settings

NAME = "/srv/100% memory"
line = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=20)
tables = st.lists(line, max_size=5).map(lambda rows: "".join(f"{r}\n" for r in rows).encode())
entries = st.lists(line, min_size=1, max_size=4)


@given(table=tables, lines=entries, newer=entries)
def test_entries_come_change_and_go_and_all_else_stays(
    table: bytes, lines: list[str], newer: list[str]
) -> None:
    there = settings.with_entries(table, NAME, lines)
    assert settings.entries(there, NAME) == tuple(lines)
    assert there.startswith(table)
    assert settings.with_entries(there, NAME, lines) == there
    changed = settings.with_entries(there, NAME, newer)
    assert settings.entries(changed, NAME) == tuple(newer)
    assert settings.entries(changed, "/srv/other") == ()
    assert settings.with_entries(changed, NAME, ()) == table


# -- the door ------------------------------------------------------------------------------------


def test_a_table_that_cannot_be_read_is_not_an_empty_one(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_FAILS", "you are not allowed to use this program")
    with pytest.raises(CrontabFailed, match="not allowed"):
        settings.read()


def test_a_table_that_another_program_changed_is_noticed(
    fake_crontab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRONTAB_ADDS", "0 0 * * * theirs")
    with pytest.raises(CrontabFailed, match="another program changed the crontab"):
        settings.write(b"0 0 * * * ours\n")


def test_without_the_program_it_is_said_what_else_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCrontab) as caught:
        settings.read()
    assert "--launcher" in caught.value.fix
