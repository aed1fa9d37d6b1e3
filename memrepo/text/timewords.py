"""What other languages say for days and spans, put into English, which `timespans` reads.

Written by hand from general usage, without accents. Only what names days is put into English; the
rest of a text stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from memrepo.core.times import MONTHS
from memrepo.text.languages import ENGLISH, bare, small_words

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS_ELSEWHERE = """
montag lundi lunes lunedi segunda-feira maandag mandag maanantai maanantaina poniedzialek
понедельник pazartesi mandags; dienstag mardi martes martedi terca-feira dinsdag tisdag tirsdag
tiistai tiistaina wtorek вторник sali tisdags; mittwoch mercredi miercoles mercoledi quarta-feira
woensdag onsdag keskiviikko sroda srode среда среду carsamba onsdags; donnerstag jeudi jueves
giovedi quinta-feira donderdag torsdag torstai torstaina czwartek четверг persembe torsdags;
freitag vendredi viernes venerdi sexta-feira vrijdag fredag perjantai perjantaina piatek пятница
пятницу cuma fredags; samstag sonnabend samedi sabado sabato zaterdag lordag lauantai sobota
sobote суббота субботу cumartesi lordags; sonntag dimanche domingo domenica zondag sondag
sunnuntai niedziela niedziele воскресенье sondags
"""
_UNITS = {
    "day": "tag|tage|tagen|jours?|dias?|giorn[oi]|dagen|dagar|dager|dage|dag|dni"
    "|днеи|дня|день|gun|paivaa",
    "week": "wochen?|semaines?|semanas?|settiman[ae]|weken|week|veckor|vecka|uker|uke|uger|uge"
    "|tygodnie|tygodni|tydzien|недел[июь]|hafta|viikkoa",
    "month": "monate?n?|mois|mes|meses|mes[ei]|maanden|maand|manader|manad|maneder|maned|miesiace"
    "|miesiecy|miesiac|месяца?|месяцев|ay|kuukautta",
    "year": "jahre?n?|ans?|annees?|anos?|ann[oi]|jaren|jaar|ar|lata?|rok|лет|года?|yil|vuotta",
}
_NUMBERS_ELSEWHERE = """
ein eine einem einer einen un une uno una um uma een en ett et jeden один одну bir yksi; zwei deux
dos due dois duas twee tva to dwa dwie два две iki kaksi; drei trois tres tre drie trzy три uc
kolme; vier quatre cuatro quattro quatro fyra fire cztery четыре dort nelja; funf cinq cinco
cinque vijf fem piec пять bes viisi; sechs six seis sei zes sex seks szesc шесть alti kuusi;
sieben sept siete sette sete zeven sju syv siedem семь yedi seitseman; acht huit ocho otto oito
atta atte otte osiem восемь sekiz kahdeksan; neun neuf nueve nove negen nio ni dziewiec девять
dokuz yhdeksan; zehn dix diez dieci dez tien tio ti dziesiec десять on kymmenen
"""
_FEASTS = {
    "christmas eve": "vespera de natal|kerstavond|julafton|julaften|juleaften|wigili[aie]"
    "|jouluaatto|平安夜",
    "christmas": "o natal|no natal|kerstmis|kerst|bozym narodzeni|boze narodzenie|jul[en]?|joulu"
    "|圣诞节|聖誕節|クリスマス|크리스마스",
    "new years eve": "sylwestra?|oudejaarsavond|nyarsafton|nytarsaften|nyttarsaften|reveillon"
    "|saint-sylvestre|san silvestro|vispera de ano nuevo|除夕|大晦日",
    "new years day": "capodanno|ano nuevo|ano novo|nieuwjaar|nouvel an|nowy rok|новыи год|yilbasi"
    "|元旦|元日",
    "epiphany": "dia de reyes|befana|dreikonigstag|trzech kroli",
    "valentines day": "saint-valentin|san valentin|san valentino|walentynki|sevgililer gunu|情人节",
    "all saints day": "allerheiligen|toussaint|todos los santos|ognissanti|wszystkich swietych",
    "easter monday": "ostermontag|pasquetta|lundi de paques|tweede paasdag",
    "easter": "pascoa|pasen|pask|paske|wielkanoc|wielkanocy|paasiainen|paasiaisena",
    "good friday": "vendredi saint|viernes santo|venerdi santo|sexta-feira santa|goede vrijdag"
    "|langfredagen|wielki piatek",
    "pentecost": "pentecote|pinksteren|pingst|pinse|zielone swiatki",
}
_LAST = (
    r"(?:letzte[nrm]?|vergangene[nr]?|vorige[nr]?|afgelopen|laatste|forra|forrige|sidste|siste|viime"
    r"|gecen|zeszl(?:y|a|e|ego|ym)|ostatni(?:a|e)?|прошлыи|прошлую|прошлое|прошлая)"
)
_LAST_BEHIND = r"(?:derniere?|pasad[oa]|scors[oa]|passad[oa])"
_LAST_ONES = (
    r"(?:letzten|vergangenen|derniere?s|ultim[oaie]s?|afgelopen|laatste|senaste|siste|sidste"
    r"|ostatni(?:ch|e)|последни[ехи]|son|viime)"
)
_AGO_BEFORE = r"(?:vor|il y a|hace|ha|faz|for)"
_AGO_BEHIND = r"(?:fa|geleden|temu|назад|once|sitten|sedan|siden|atras)"
_SINCE = r"(?:seit|depuis|desde|sinds|sedan|siden|dal|dalla|od|с|со)"
_BETWEEN = r"(?:zwischen|entre|tra|fra|tussen|mellan|mellom|mellem|miedzy|между)"
_AND = r"(?:und|et|y|e|en|och|og|a|i|и)"
_ARTICLE = r"(?:dem|der|den|le|la|el|il|lo|o|de|het)"
_EARLY = (
    r"(?:anfang|debut|principios|comienzos|inizio|inicio|begin|borjan|poczatek|poczatku|начале)"
)
_MIDDLE = r"(?:mitte|milieu|mediados|meta|meados|medio|mitten|polowie|середине)"
_LATE = r"(?:ende|fin|finales|fine|final|fim|eind|slutet|slutten|koniec|koncu|конце)"
_OF = r"(?: (?:de|d|di|du mois de|van|av|af))?"
_EAST_UNITS = {
    "天": "day",
    "日": "day",
    "일": "day",
    "周": "week",
    "週": "week",
    "주": "week",
    "月": "month",
    "달": "month",
    "年": "year",
    "년": "year",
}
_EAST_NUMBERS = {c: str(n) for n, c in enumerate("一二三四五六七八九十", start=1)} | {"两": "2"}
_EAST_DIGITS = "".join(_EAST_NUMBERS)
_LETTERS = str.maketrans({"ł": "l", "ø": "o", "ı": "i", "ß": "ss", "æ": "ae"})
"""Letters that are no other with an accent to Unicode."""
Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def in_english(plain: str, months: Mapping[str, int]) -> str:
    """Return a text in small letters with the days it names in English, if it is not in English.

    `months` are the numbers of months by their names.
    """
    if plain.isascii() and not _english_alone().isdisjoint(plain.split()):
        return plain
    plain = bare(plain).translate(_LETTERS)
    for pattern, english in _rules(tuple(months.items())):
        plain = pattern.sub(english, plain)
    return plain


@lru_cache(maxsize=1)
def _english_alone() -> frozenset[str]:
    """Return the small words that English shares with no other language."""
    others = (found for language, found in small_words().items() if language != ENGLISH)
    return small_words()[ENGLISH].difference(*others)


@lru_cache(maxsize=1)
def _rules(months: tuple[tuple[str, int], ...]) -> list[Rule]:
    """Return what is said for what, in the order in which it is replaced."""
    days = {w: WEEKDAYS[n] for n, row in _rows(_WEEKDAYS_ELSEWHERE) for w in row}
    numbers = {w: str(n + 1) for n, row in _rows(_NUMBERS_ELSEWHERE) for w in row}
    named = {w.translate(_LETTERS): MONTHS[n - 1] for w, n in months if w not in MONTHS}
    month, day = "|".join(MONTHS), "|".join(WEEKDAYS)
    count = rf"(\d{{1,4}}|{'|'.join(numbers)})"
    units = "|".join(_UNITS.values())

    def counted(english: str) -> Callable[[re.Match[str]], str]:
        def said(match: re.Match[str]) -> str:
            number = numbers.get(match[1], match[1])
            return english.format(number, _unit(match[2]))

        return said

    feasts = [(_any(told), f" {english} ") for english, told in _FEASTS.items()]
    written = (
        (rf"\b{_AGO_BEFORE} {count} ({units})\b(?: {_AGO_BEHIND}\b)?", counted("{} {}s ago")),
        (rf"\b{count} ({units}) {_AGO_BEHIND}\b", counted("{} {}s ago")),
        (rf"\b{_LAST_ONES} {count} ({units})\b", counted("last {} {}s")),
        (rf"\b{count} {_LAST_ONES} ({units})\b", counted("last {} {}s")),
        (r"(\d{1,2})月(\d{1,2})[日号]", lambda m: f" {m[2]} {_month(m[1])} "),
        (
            rf"(\d{{1,3}}|[{_EAST_DIGITS}]) ?[个かヶ개]?([天日일周週주月달年년])[间間]? ?之?[前전]",
            lambda m: f" {_EAST_NUMBERS.get(m[1], m[1])} {_EAST_UNITS[m[2]]}s ago ",
        ),
        (
            r"上(?:个)?(?:周|週|星期|礼拜)([一二三四五六日天])",
            lambda m: f" on {_east_day(m[1])} last week ",
        ),
        (r"(?:周|星期|礼拜)([一二三四五六日天])", lambda m: f" on {_east_day(m[1])} "),
        (r"([月火水木金土日])曜日?", lambda m: f" on {WEEKDAYS['月火水木金土日'.index(m[1])]} "),
        (r"([월화수목금토일])요일", lambda m: f" on {WEEKDAYS['월화수목금토일'.index(m[1])]} "),
        (rf"\b({'|'.join(days)})\b", lambda m: days[m[1]]),
        (rf"\b({'|'.join(named)})\b", lambda m: named[m[1]]),
        (rf"(\d)(?:\.|er|º)?(?: (?:de|di))? ({month})\b(?:(?: (?:de|del))? (\d{{4}}))?", _dated),
        (rf"\b{_LAST} ({day})", r"last \1"),
        (rf"\b({day}) {_LAST_BEHIND}\b", r"last \1"),
        (rf"\b{_EARLY}{_OF} ({month})\b", r"early \1"),
        (rf"\b{_MIDDLE}{_OF} ({month})\b", r"mid \1"),
        (rf"\b{_LATE}{_OF} ({month})\b", r"late \1"),
        (rf"\b{_SINCE} (?:{_ARTICLE} )?(?=(?:last )?(?:{day}|{month}|\d|yesterday))", "since "),
        (
            (
                rf"\b{_BETWEEN} (?:{_ARTICLE} )?((?:\d{{1,2}} )?(?:{month}|{day})(?: \d{{4}})?)"
                rf" {_AND} (?:{_ARTICLE} )?(?=\d|{month}|{day})"
            ),
            r"between \1 and ",
        ),
        (
            (
                rf"\b{_BETWEEN} (?:{_ARTICLE} )?(\d{{1,2}})\.? {_AND}"
                rf" (?:{_ARTICLE} )?(\d{{1,2}} ({month}))\b"
            ),
            r"between \1 \3 and \2",
        ),
        (rf"(?<!last )(?<!since )(?<!and )(?<!between )(?<!on )\b({day})\b", r"on \1"),
    )
    return [*feasts, *((re.compile(pattern), english) for pattern, english in written)]


def _rows(table: str) -> enumerate[list[str]]:
    return enumerate(row.split() for row in table.split(";"))


def _any(told: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{t}\b" if t[0] < "\u3000" else t for t in told.split("|")))


def _unit(word: str) -> str:
    return next(unit for unit, told in _UNITS.items() if re.fullmatch(told, word))


def _month(number: str) -> str:
    return MONTHS[int(number) - 1] if 1 <= int(number) <= len(MONTHS) else ""


def _east_day(sign: str) -> str:
    return WEEKDAYS["一二三四五六日".find(sign)]  # another sign for the last day is not found


def _dated(match: re.Match[str]) -> str:
    return " ".join(filter(None, match.groups()))
