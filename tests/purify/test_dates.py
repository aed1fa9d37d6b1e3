from __future__ import annotations

import pytest

from memrepo.text.dates import (
    date_of_path,
    date_unit,
    date_until,
    date_updated,
    find_clock,
    find_date,
)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on 2026-02-07 we", "2026-02-07"),
        ("[2026-02-07] moved", "2026-02-07"),
        ("2026/02/07", "2026-02-07"),
        ("2026-2-7", "2026-02-07"),
        ("2026-02-07T10:00:00Z", "2026-02-07"),
        ("8 May 2023", "2023-05-08"),
        ("May 8, 2023", "2023-05-08"),
        ("Sept. 3rd, 2024", "2024-09-03"),
        ("the 1st of March 2024", "2024-03-01"),
        ("8. Mai 2023", "2023-05-08"),
        ("am 3. März 2024", "2024-03-03"),
        ("7.2.2026", "2026-02-07"),
        ("2026年2月7日", "2026-02-07"),
        ("2026년 2월 7일", "2026-02-07"),
        ("03/04/2026", ""),
        ("13/04/2026", ""),
        ("2026-02-30", ""),
        ("2026-02-30, then 2026-03-01", "2026-03-01"),
        ("31.02.2026", ""),
        ("version 1.2.2024.5", ""),
        ("id 12026-02-071", ""),
        ("May 2023", ""),
        ("maybe 8, 2023", ""),
        ("", ""),
        ("8 May 2023 and 2022-01-01", "2023-05-08"),
    ],
)
def test_only_certain_dates_are_read(text: str, day: str) -> None:
    assert find_date(text) == day


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("15:31 session", "15:31"),
        ("at 9:05", "09:05"),
        ("3:31 pm", "15:31"),
        ("12:05 AM", "00:05"),
        ("7pm call", "19:00"),
        ("2026-02-07T10:30:00", "10:30"),
        ("25:00", ""),
        ("1.15:30", ""),
        ("16:9 screen", ""),
        ("ratio 3:1", ""),
    ],
)
def test_clock_times(text: str, clock: str) -> None:
    assert find_clock(text) == clock


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-02-07.md", "2026-02-07"),
        ("memory/2026-02-07-1430-heartbeat.md", "2026-02-07"),
        ("memory/20260207.md", "2026-02-07"),
        ("2026-02-07/x.md", ""),
        ("memory/2026-13-07.md", ""),
        ("memory/120260207.md", ""),
    ],
)
def test_the_date_of_a_path_is_in_its_name(path: str, day: str) -> None:
    assert date_of_path(path) == day


@pytest.mark.parametrize(
    ("text", "headings", "path", "expected"),
    [
        ("on 2026-01-01", ("2026-01-02",), "2026-01-03.md", ("2026-01-01", "unit")),
        ("x", ("2026-01-02", "2026-01-04", "y"), "2026-01-03.md", ("2026-01-04", "heading")),
        ("x", ("y",), "2026-01-03.md", ("2026-01-03", "file")),
        ("x", ("y",), "z.md", ("", "")),
    ],
)
def test_a_unit_is_dated_by_text_then_heading_then_file(
    text: str, headings: tuple[str, ...], path: str, expected: tuple[str, str]
) -> None:
    assert date_unit(text, headings, path) == expected


@pytest.mark.parametrize(
    ("headings", "path", "expected"),
    [
        (("Visits", "2026-05-07 Turku"), "notes.md", ("2026-05-07", "heading")),
        (("2026-05-07 Turku", "Costs"), "notes.md", ("2026-05-07", "heading")),
        (("Session: 2026-05-07 10:00 UTC", "Costs"), "notes.md", ("2026-05-07", "heading")),
        (("Left over (from 2026-05-07 work)",), "notes.md", ("2026-05-07", "heading")),
        (("Left over (from 2026-05-07 work)", "Costs"), "notes.md", ("", "")),
        (("Left over (from 2026-05-07 work)",), "memory/2026-05-20.md", ("2026-05-20", "file")),
    ],
)
def test_a_heading_that_mentions_a_date_dates_its_own_section(
    headings: tuple[str, ...], path: str, expected: tuple[str, str]
) -> None:
    assert date_unit("The kiln is cold.", headings, path) == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("# Prices\n\n*Last updated: 2026-02-07 (v1.2)*\n\n- Tea 3\n", "2026-02-07"),
        ("---\nupdated: 2026-02-07\n---\n# Prices\n", "2026-02-07"),
        ("# 价格\n\n最后更新：2026-02-07\n", "2026-02-07"),
        ("# Prices\n\nStand: 7.2.2026\n", "2026-02-07"),
        ("# Prices\n\nUpdated the roof on 2026-02-07, then had tea.\n", ""),
        ("# Prices\n\n- The list of 2026-02-07 was updated.\n", ""),
    ],
)
def test_a_file_says_when_it_was_last_updated(text: str, day: str) -> None:
    assert date_updated(text) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Hana is on leave until 2026-10-20.", "2026-10-20"),
        ("Der Vertrag läuft bis zum 20.10.2026.", "2026-10-20"),
        ("Le bail court jusqu'au 20 octobre 2026.", "2026-10-20"),
        ("优惠有效期至2026年10月20日", "2026-10-20"),
        ("The review of 2026-10-20 lasted until noon.", ""),
        ("Hana is on leave until May.", ""),
    ],
)
def test_a_statement_says_until_when_it_is_true(text: str, day: str) -> None:
    assert date_until(text) == day
