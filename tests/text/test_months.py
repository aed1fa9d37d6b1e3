"""Which month dates a statement: one that opens its text, or that of its heading."""

from __future__ import annotations

import pytest

from memrepo.text.dates import date_unit, is_date_heading, opening_date


@pytest.mark.parametrize(
    ("text", "day", "rest"),
    [
        ("As of 2026-02 the fleet has 12 vans.", "2026-02-01", "the fleet has 12 vans."),
        ("**2026-03**: twelve vans", "2026-03-01", "twelve vans"),
        ("Stand März 2026: 12 Busse", "2026-03-01", "12 Busse"),
        ("En marzo de 2026 hay 12 autobuses", "2026-03-01", "hay 12 autobuses"),
        ("2026年3月: 车队有12辆", "2026-03-01", "车队有12辆"),
        ("[2026-01-20] Decided", "2026-01-20", "Decided"),
        ("12 March 2026 - sold", "2026-03-12", "sold"),
        ("Kim joined in March 2026.", "", "Kim joined in March 2026."),
        ("CVE-2026-12 is fixed", "", "CVE-2026-12 is fixed"),
        ("2026-123 is an issue", "", "2026-123 is an issue"),
    ],
)
def test_a_text_may_begin_with_a_month(text: str, day: str, rest: str) -> None:
    found, end = opening_date(text)
    assert (found, text[end:]) == (day, rest)


@pytest.mark.parametrize(
    ("headings", "path", "expected"),
    [
        (("Fleet", "March 2026"), "MEMORY.md", ("2026-03-01", "heading")),
        (("Status 2026-05", "Vans"), "MEMORY.md", ("2026-05-01", "heading")),
        (("Plan for May 2026 and after", "Vans"), "MEMORY.md", ("", "")),
        (("Budget March 2026",), "memory/2026-06-09.md", ("2026-06-09", "file")),
        (("Budget 2026-03-02",), "memory/2026-06-09.md", ("2026-03-02", "heading")),
    ],
)
def test_the_month_of_a_heading_dates_what_is_below(
    headings: tuple[str, ...], path: str, expected: tuple[str, str]
) -> None:
    assert date_unit("Twelve vans", headings, path) == expected


def test_a_month_alone_is_a_heading_of_a_time() -> None:
    assert is_date_heading("March 2026")
    assert is_date_heading("2026-03")
    assert not is_date_heading("Vans in March 2026")
