"""The names of the months as people write them, in the languages that memory files are in."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_ELSEWHERE = """
januar jänner janvier enero gennaio janeiro januari stycznia styczeń январь января ocak
februar februari février febrero febbraio fevereiro lutego luty февраль февраля şubat
märz maerz mars marzo março maart marts marca marzec март марта mart
avril abril aprile kwietnia kwiecień апрель апреля nisan
mai mayo maggio maio mei maj май мая mayıs
juni juin junio giugno junho czerwca czerwiec июнь июня haziran
juli juillet julio luglio julho lipca lipiec июль июля temmuz
août agosto augustus augusti sierpnia sierpień август августа ağustos
septembre septiembre settembre setembro września wrzesień сентябрь сентября eylül
oktober octobre octubre ottobre outubro października październik октябрь октября ekim
novembre noviembre novembro listopada listopad ноябрь ноября kasım
dezember décembre diciembre dicembre dezembro grudnia grudzień декабрь декабря aralık
"""


@cache
def month_names() -> Mapping[str, int]:
    """Return the number of each month by its name in small letters, with accents and without.

    German, Romance, Dutch, Nordic, Polish, Russian and Turkish names are in it, English ones also
    by their first three letters.
    """
    names = {name: n for n, row in enumerate(_ELSEWHERE.split("\n")) for name in row.split()}
    names |= {_bare(name): number for name, number in names.items()}
    english = {name: number for number, name in enumerate(MONTHS, start=1)}
    return names | {name[:3]: number for name, number in english.items()} | english


def _bare(name: str) -> str:
    return "".join(ch for ch in unicodedata.normalize("NFD", name) if not unicodedata.combining(ch))
