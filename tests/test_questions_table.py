"""Memories are found by questions in other words, languages and spellings, of days and by names."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.questions import TABLE, measure, read

LEAST = 0.85
"""Share of a section's questions whose memory is among the first three hits; of all, more."""
OF_ALL = 0.97


@pytest.fixture(scope="module")
def answered() -> dict[str, list[bool]]:
    return measure(TABLE)[0]


def test_the_table_asks_at_least_two_hundred_questions_of_ten_languages() -> None:
    _, asked = read(TABLE)
    assert len(asked) >= 200
    assert len({one.section for one in asked}) >= 20


def test_each_section_is_answered_among_the_first_three(answered: dict[str, list[bool]]) -> None:
    shares = {name: sum(found) / len(found) for name, found in answered.items()}
    assert not {name: share for name, share in shares.items() if share < LEAST}
    every = [one for found in answered.values() for one in found]
    assert sum(every) / len(every) >= OF_ALL


def test_a_memory_of_another_table_is_not_found(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text("## one\n- The kiln is hot.\n? where is the harbour\n", encoding="utf-8")
    found, missed = measure(table)
    assert found == {"one": [False]}
    assert [hits for _, hits in missed] == [[]]
