"""The day until which a statement says that it is true."""

from __future__ import annotations

import pytest

from memrepo.text.dates import date_until

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
        ("The shop is open from Monday until Friday.", ""),
        ("It is open every week until Friday.", ""),
        ("Standup is on Friday.", ""),
        ("Öffnet montags bis freitags um 9.", ""),
    ],
)
def test_the_day_until_which_a_statement_is_true(text: str, day: str) -> None:
    assert date_until(text, THURSDAY) == day
    assert date_until(text) == (day if "2026" in text else "")
