from __future__ import annotations

from datetime import date

import pytest

from memrepo.text.dates import (
    date_of_path,
    date_unit,
    date_until,
    date_updated,
    find_clock,
    find_date,
    is_date_heading,
    opening_date,
    timespans,
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
        ("The lease of the flat in Berlin ends 31. Dez 2026", "2026-12-31"),
        ("12 Okt 2026: Kick-off with the team", "2026-10-12"),
        ("3 lug nuts, set 2026 times", ""),
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
        ("ferry on 2026-07-14", ("y",), "2026-01-03.md", ("2026-01-03", "file")),  # yet to come
        ("ferry on 2026-07-14", ("y",), "z.md", ("2026-07-14", "unit")),
        ("ferry on 2026-07-14", ("2026-03-02 Harbour",), "z.md", ("2026-03-02", "heading")),
        ("ferry on 2026-02-14", ("2026-03-02 Harbour",), "z.md", ("2026-02-14", "unit")),
        ("ferry on 2026-07-14", ("y",), "tides-2026-01-03.md", ("2026-07-14", "unit")),
        ("[2026-07-14] ferry", ("y",), "2026-01-03.md", ("2026-07-14", "unit")),
        ("In July 2026: a ferry", ("y",), "2026-01-03.md", ("2026-01-03", "file")),
        ("Tides are in tides-2026-01-03.md", ("y",), "z.md", ("", "")),
        ("Tides are in logs/2026-01-03.md, 2026-02-01", ("y",), "z.md", ("2026-02-01", "unit")),
        ("Run `tide --day 2026-01-03`", ("y",), "z.md", ("", "")),
        ("See https://tide.example/2026/01/03/", ("y",), "z.md", ("", "")),
        ("`2026-01-03`: a ferry", ("y",), "z.md", ("2026-01-03", "unit")),
        ("Seen 2026-01-03T10:00:00Z", ("y",), "z.md", ("2026-01-03", "unit")),
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
        ("# Prices\n\n> Of 2025-12-01. Last update: 2026-02-07 morning.\n", "2026-02-07"),
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
        ("until 2026-10-20, " * 100_000, "2026-10-20"),
    ],
)
def test_a_statement_says_until_when_it_is_true(text: str, day: str) -> None:
    assert date_until(text) == day


# -- which month dates a statement: one that opens its text, or that of its heading ----------------


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


# -- the day until which a statement says that it is true ------------------------------------------

THURSDAY, FRIDAY = "2026-10-01", "2026-10-02"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Ben lends us the van until 2026-10-03.", "2026-10-03"),
        ("The shop stays closed until Friday.", FRIDAY),
        ("The report for Norlux must be delivered by Friday.", FRIDAY),
        ("The boat is in dry dock until Thursday.", "2026-10-08"),
        ("Die Wohnung ist bis Freitag an Lena vermietet.", FRIDAY),
        ("La oficina está cerrada hasta el viernes.", FRIDAY),
        ("Le bureau est fermé jusqu'à vendredi.", FRIDAY),
        ("O escritório fica fechado até sexta-feira.", FRIDAY),
        ("哈娜休假到2026年10月3日。", "2026-10-03"),
        ("Офис закрыт до пятницы.", FRIDAY),
        ("Ben lends us the van (until 2. Oktober 2026).", FRIDAY),
        ("**Valid until:** 2026-10-03", "2026-10-03"),
        ("- **Guest:** Lena\n- **Valid until:** 2026-10-03", ""),
        ("Lena\n- Phone: 555 0100\n- Away until: 2026-10-03\n- Role: cook", ""),
        ("Lena is our cook. She is away until 2026-10-03.", ""),
        ("Lena is our cook. She is away until Friday.", ""),
        ("- The van\n- Ben lends it until 2026-10-03 to us", ""),
        ("The shop is open from Monday until Friday.", ""),
        ("It is open every week until Friday.", ""),
        ("Standup is on Friday.", ""),
        ("Öffnet montags bis freitags um 9.", ""),
    ],
)
def test_the_day_until_which_a_statement_is_true(text: str, day: str) -> None:
    assert date_until(text, THURSDAY) == day
    assert date_until(text) == (day if "2026" in text else "")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Until 15 October we moor at the old quay.", "2026-10-15"),
        ("The library is shut until October 15th.", "2026-10-15"),
        ("Bis zum 15. Oktober liegt das Boot in Halle 3.", "2026-10-15"),
        ("Hasta el 15 de octubre usamos la nave 3.", "2026-10-15"),
        ("Jusqu'au 15 octobre, 38 euros de l'heure, ensuite 45.", "2026-10-15"),
        ("放学后去晚托班,到10月15日为止", "2026-10-15"),
        ("Hana is on leave until 3 January.", "2027-01-03"),
        ("Until 28 September the quay was closed.", "2026-09-28"),
        ("The lease of 3 May runs until 15 October 2027.", "2027-10-15"),
        ("Every year the quay is closed until 15 October.", ""),
        ("Jedes Jahr bis 15. Oktober ist der Kai zu.", ""),
        ("每年到10月15日关门", ""),
        ("The quay is heated from 1 October until 15 April.", ""),
        ("Hana is on leave until 30 September 2027.", "2027-09-30"),
        ("Hana is on leave until 31 July.", "2027-07-31"),
        ("The fair opens on 15 October.", ""),
        ("Hana is on leave until 31 February.", ""),
    ],
)
def test_a_day_without_a_year_is_the_next_or_has_just_passed(text: str, day: str) -> None:
    assert date_until(text, captured=THURSDAY) == day
    assert date_until(text, THURSDAY) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The pool is closed until February 2028.", "2028-02-29"),
        ("Das Bad ist bis Oktober 2026 geschlossen.", "2026-10-31"),
        ("The pool opened in February 2028.", ""),
    ],
)
def test_a_month_ends_on_its_last_day(text: str, day: str) -> None:
    assert date_until(text, THURSDAY) == date_until(text, captured=THURSDAY) == day


# -- days that a question names --------------------------------------------------------------------

WEDNESDAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("letzte Woche", "2026-02-23", "2026-03-01"),
        ("на прошлой неделе", "2026-02-23", "2026-03-01"),
    ],
)
def test_spans_are_days(text: str, first: str, last: str) -> None:
    assert [span.days for span in timespans(text, WEDNESDAY)] == [(first, last)]


@pytest.mark.parametrize("text", ["between 31 May and 3 May 99999", "since 31 February", "may day"])
def test_no_text_breaks_the_calendar(text: str) -> None:
    for span in timespans(text, WEDNESDAY):
        assert span.days[0] <= span.days[1]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("w zeszłym tygodniu", "2026-02-23"),
        ("Heute", "2026-03-04"),
    ],
)
def test_other_languages_name_days_too(text: str, first: str) -> None:
    assert first in [span.days[0] for span in timespans(text, WEDNESDAY)]


@pytest.mark.parametrize("text", ["What did Mars sell to Martin?", "How long is the natal chart?"])
def test_english_is_not_read_as_another_language(text: str) -> None:
    assert timespans(text, WEDNESDAY) == []
