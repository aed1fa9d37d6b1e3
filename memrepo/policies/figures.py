"""What must stand in the evidence as it is: quotations, paths, numbers, units, dates and times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.patterns import regex
from memrepo.policies.languages import bare
from memrepo.policies.wording_lists import Words, is_rhythm, unit_of
from memrepo.policies.wording_marks import Statement, Token, parted

_QUOTE = regex(
    r"`([^`\n]+)`|\"([^\"\n]{2,})\"|“([^“”\n]{2,})”|«([^«»\n]{2,})»|„([^„“”\n]{2,})[“”]|「([^「」]+)」"
)
_PATH = regex(
    r"https?://[^\s)>\]\"'`]+|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:[~.]{0,2}/)?(?<![\w.-])[\w.-]+(?:/[\w.-]+)+/?|\b(?<![\w-][-.])[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,5}\b|--[\w-]+|\b\w+_\w+\b|\b[A-Z]+-\d+\b|/[\w.-]+"
)
_ISO = regex(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
_DOTTED = regex(r"\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b")
_DAY_MONTH = regex(r"\b(\d{1,2})\.(\d{1,2})\.(?!\d)")
_EAST = regex(r"(?:(\d{4})年)?(\d{1,2})月(?:(\d{1,2})日)?")
_CLOCK = regex(
    r"\b(\d{1,2})(?:[:h.](\d{2}))?\s?([ap])\.?m\b\.?|\b(\d{1,2})[:h](\d{2})(?::\d{2})?\b|\b(\d{1,2})\s?(?:Uhr|h|uur)\b",
    2,
)
_SCALED = regex(
    r"\b(\d+(?:[.,]\d+)?)\s?([kKM]|thousand|million|mio\.?|tausend|millionen|millions?|milioni)\b"
)
Day = tuple[int, int, int]
"""Year, month and day; 0 where one is not told."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a wording may draw on.

    `texts` is what it words. `beside` are headings, parents and neighbours, which may name its
    subject. `named` are other statements, of which it may take names and numbers. `days` are the
    ISO dates on which it was said.
    """

    texts: tuple[str, ...]
    beside: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    days: tuple[str, ...] = ()


# -- what stands as it is ------------------------------------------------------------------------


def literal_faults(said: str, sources: Sequence[str]) -> Iterator[str]:
    """Yield a quotation or a path that does not stand in the evidence letter by letter."""
    known = normalise("\n".join(sources))
    loose = "".join(ch for ch in known if ch.isalnum() or ch.isspace())
    for match in _QUOTE.finditer(said):
        quote = normalise(next(filter(None, match.groups())))
        plain = "".join(ch for ch in quote if ch.isalnum() or ch.isspace())
        if quote not in known and plain not in loose:
            yield f"a quotation that is not in the evidence: {quote[:60]}"
    for match in _PATH.finditer(said):
        path = normalise(match[0]).rstrip(".,:;/")
        if path not in known and not _is_plain(path):
            yield f"not in the evidence as it is written: {path[:60]}"


def _is_plain(path: str) -> bool:
    """Tell whether what looks like a path is words: `and/or`, `e.g`, a date or a number."""
    parts = regex(r"[/.]").split(path)
    return (
        all(p.isdigit() for p in parts if p)
        or ("/" in path and len(parts) == 2 and all(p.isalpha() for p in parts))
        or (len(path) <= 3 and "." in path)
    )


# -- numbers and dates ---------------------------------------------------------------------------


def _days(text: str, words: Words) -> Iterator[Day]:
    for year, month, day in _ISO.findall(text):
        yield int(year), int(month), int(day or 0)
    for day, month, year in _DOTTED.findall(text):
        yield int(year), int(month), int(day)
    for day, month in _DAY_MONTH.findall(text):
        if 0 < int(month) <= 12:
            yield 0, int(month), int(day)
    for year, month, day in _EAST.findall(text):
        yield int(year or 0), int(month), int(day or 0)
    tokens = Statement(parted(_ISO.sub(" ", text)), words).tokens
    for at, token in enumerate(tokens):
        month_number = words.months.get(token.text, 0)
        if not month_number or (token.text in ("may", "mar", "sept") and token.raw.islower()):
            continue
        near = [t for t in tokens[max(0, at - 3) : at] if t.text.isalnum()]
        after = [t for t in tokens[at + 1 : at + 5] if t.text.isalnum()]
        numbers = [t.number for t in (*near[::-1], *after) if t.number.isdigit()]
        for number in (n for n in _of_range(near) if 0 < int(n) < 32):
            yield 0, month_number, int(number)
        day_number = next((int(n) for n in numbers if 0 < int(n) < 32), 0)
        year_number = next((int(n) for n in numbers if 1900 < int(n) < 2200), 0)
        yield year_number, month_number, day_number


def _of_range(near: Sequence[Token]) -> list[str]:
    """Return the first day of days that share a month: 3 to 9 May."""
    match [t.number or t.text for t in near]:
        case [*_, first, joint, last] if first.isdigit() and last.isdigit() and joint in _TO:
            return [first]
        case _:
            return []


_TO = frozenset("to and until till bis und au al a y e et ao até tot en".split())


def date_faults(said: str, evidence: Evidence, words: Words) -> Iterator[str]:
    """Yield a date that the evidence does not tell; a part of one that it tells may stand."""
    mine = set(_days(said, words))
    if not mine:
        return
    texts = (*evidence.texts, *evidence.beside, *evidence.named)
    told = set(_days("\n".join(texts), words))
    given = {d for day in evidence.days for d in _days(day, words)}
    years = {y for y, _, _ in told | given if y}
    for day in mine:
        if not any(_same_day(day, other, years) for other in told) and day not in given:
            spelled = "-".join(f"{part:02}" for part in day if part)
            yield f"a date that is not in the evidence: {spelled}"


def _same_day(mine: Day, other: Day, years: set[int]) -> bool:
    year = mine[0] in (other[0], 0) or (other[0] == 0 and mine[0] in years)
    return year and mine[1] == other[1] and mine[2] in (other[2], 0)


def _clocks(text: str) -> Iterator[str]:
    for hour, minute, half, hour24, minute24, oclock in _CLOCK.findall(text):
        if half:
            at = int(hour) % 12 + (12 if half in "pP" else 0)
            yield f"{at}:{minute or '00'}"
        elif hour24:
            yield f"{int(hour24)}:{minute24}"
        elif oclock:
            yield f"{int(oclock)}:00"


_THOUSAND = ("k", "K", "thousand", "tausend")


def _scaled(text: str) -> dict[str, str]:
    """Return what `10k` and `2.5M` stand for, by the number that is written."""
    found = {}
    for number, scale in _SCALED.findall(text):
        value = float(number.replace(",", ".")) * (1000 if scale in _THOUSAND else 1_000_000)
        found[f"{value:g}" if value < 1e15 else number] = number
        found[str(int(value))] = number
    return found


def _figures(one: Statement, raw: str) -> set[str]:
    found = {t.number for t in one.tokens if t.number}
    found |= set(_scaled(raw))
    for clock in _clocks(raw):
        found.add(clock)
        if clock.endswith(":00"):
            found.add(clock[:-3])
            hour = int(clock[:-3])
            found.add(str(hour % 12 or 12))
    found |= {str(part) for day in _days(raw, one.words) for part in day if part}
    return found


def number_faults(
    mine: Statement, raw: str, sources: tuple[Statement, Statement, Statement], evidence: Evidence
) -> Iterator[str]:
    """Yield a number that is not there, has another unit there, or belongs to something else."""
    theirs = sources[0]
    known = set().union(*(_figures(one, one.raw) for one in sources))
    known |= {str(int(p)) for day in evidence.days for p in day[:10].split("-") if p.isdigit()}
    clocks = set(_clocks(raw))
    hours = {p.lstrip("0") or "0" for clock in clocks for p in clock.split(":")}
    hours |= {str(int(c.split(":")[0]) % 12 or 12) for c in clocks}
    hours |= {f"{int(c.split(':')[0]) % 12 or 12}:{c.split(':')[1]}" for c in clocks}
    dated = {str(part) for day in _days(raw, mine.words) for part in day if part}
    scaled = _scaled(raw)
    for clock in clocks:
        if clock not in known and clock.removesuffix(":00") not in known:
            yield f"a time that is not in the evidence: {clock}"
    ours, others = _rhythm(mine), _rhythm(theirs)
    if ours and others and ours.isdisjoint(others):
        yield "how often was changed"
    if any(t.text in _TWICE for t in theirs.tokens) and any(t.text in _ONCE for t in mine.tokens):
        yield "how many times was changed"
    for at, token in enumerate(mine.tokens):
        number = token.number
        if not number or number in dated or _ISO.search(token.raw):
            continue
        if "." in token.raw and all(p.lstrip("0") in dated for p in token.raw.split(".")):
            continue
        if number in hours or (":" in number and plain_clock(number) in clocks):
            continue
        if number in scaled.values() and any(v in known for v, n in scaled.items() if n == number):
            continue
        if number not in known:
            if _converted(mine, at, sources):
                continue
            if not token.raw[0].isdigit() and token.stem in theirs.stems:
                continue
            if not token.raw[0].isdigit() and number == "1" and not _counted(mine, at, theirs):
                continue
            yield f"a number that is not in the evidence: {token.raw}"
            continue
        yield from _measure(mine, at, theirs)
        yield from _moved_number(mine, at, theirs)


def _converted(mine: Statement, at: int, sources: Sequence[Statement]) -> bool:
    """Tell whether the evidence says as much in another unit: 14 days are two weeks."""
    own = _amount(mine.tokens, at)
    return bool(own[1]) and any(
        _amount(one.tokens, n) == own
        for one in sources
        for n, token in enumerate(one.tokens)
        if token.number
    )


def _amount(tokens: Sequence[Token], at: int) -> tuple[float, str]:
    """Return how much a number and its unit say in the smallest unit of its kind."""
    try:
        value = float(tokens[at].number)
    except ValueError:
        return 0.0, ""
    if tokens[at].text in _FRACTIONS:
        return value * 100, "percent"
    factor, kind = _SCALES.get(_unit(tokens, at), (1, ""))
    return value * factor, kind


_FRACTIONS = frozenset("half halb halbe hälfte demi moitié mitad medio metà metade helft".split())
_SCALES = {
    "percent": (1, "percent"),
    "millisecond": (1, "second"),
    "second": (1000, "second"),
    "minute": (60_000, "second"),
    "hour": (3_600_000, "second"),
    "day": (86_400_000, "second"),
    "week": (604_800_000, "second"),
    "month": (1, "month"),
    "year": (12, "month"),
    "gram": (1, "gram"),
    "kilogram": (1000, "gram"),
    "centimetre": (1, "length"),
    "metre": (100, "length"),
    "kilometre": (100_000, "length"),
}
"""Units that are so many of another, and which. A megabyte is a thousand or 1024: none of them."""


_ONCE = frozenset("once einmal".split())
_TWICE = frozenset("twice thrice zweimal dreimal".split())


def _counted(mine: Statement, at: int, theirs: Statement) -> bool:
    """Tell whether what follows "one" stands behind a number in the evidence."""
    after = next((t.stem for t in mine.tokens[at + 1 : at + 3] if mine.tells(t)), "")
    return any(
        t.number and after in {other.stem for other in theirs.tokens[n + 1 : n + 3]}
        for n, t in enumerate(theirs.tokens)
    )


def plain_clock(number: str) -> str:
    """Return a time of day as `_clocks` spells it."""
    hour, _, minute = number.partition(":")
    return f"{int(hour)}:{minute}" if hour.isdigit() else number


_EACH = frozenset("every each alle jeden chaque tous cada ogni elke каждые каждый".split())


def _rhythm(one: Statement) -> set[str]:
    """Return how many days, weeks or Mondays lie between, where it is said: every 2 weeks."""
    row = one.tokens
    found = {_OFTEN[word] for t in row if (word := bare(t.text)) in _OFTEN}
    for n, token in enumerate(row[:-1]):
        if token.text not in _EACH:
            continue
        after = row[n + 1 : n + 3]
        number = after[0].number
        unit = next((t.text for t in after if is_rhythm(t.text)), "") if number else after[0].text
        if is_rhythm(unit):
            found.add(f"{number or 1} {unit_of(unit) or _PARTS.get(unit, 'week')}")
    return found


_OFTEN = {
    word: f"1 {unit}"
    for unit, words in (
        ("hour", "hourly stundlich"),
        ("day", "daily nightly taglich quotidien quotidienne diario diariamente dagelijks"),
        ("day", "giornaliero giornalmente diariamente"),
        ("week", "weekly wochentlich hebdomadaire semanal semanalmente settimanale wekelijks"),
        ("month", "monthly monatlich mensuel mensuelle mensual mensile mensal maandelijks"),
        ("quarter", "quarterly quartalsweise trimestriel trimestral trimestrale"),
        ("year", "yearly annually jahrlich annuel annuelle anual annuale jaarlijks"),
    )
    for word in words.split()
}
_PARTS = dict.fromkeys(
    """
morning evening night noon morgen abend nacht matin soir nuit manana noche mattina sera notte
manha noite ochtend avond nacht утро вечер ночь
""".split(),
    "day",
) | {"quarter": "quarter"}
"""Parts of a day come as often as days do; a day of the week comes once a week."""


def _unit(tokens: Sequence[Token], at: int) -> str:
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is not None and (found := unit_of(after.text)):
        return found
    before = tokens[at - 1] if at else None
    return unit_of(before.text) if before is not None and before.text in "€$£" else ""


def _measure(mine: Statement, at: int, theirs: Statement) -> Iterator[str]:
    """Yield a number that has another unit in the evidence."""
    unit = _unit(mine.tokens, at)
    if not unit:
        return
    number = mine.tokens[at].number
    units = {_unit(theirs.tokens, n) for n, t in enumerate(theirs.tokens) if t.number == number} - {
        ""
    }
    if units and unit not in units:
        yield f"{mine.tokens[at].raw} has another unit in the evidence"


def _moved_number(mine: Statement, at: int, theirs: Statement) -> Iterator[str]:
    """Yield a number that belongs to something else in the evidence."""
    token = mine.tokens[at]
    if token.text in mine.words.times:
        return
    around = _around(mine, at)
    others: dict[str, int] = {}
    if any(one.replaces(n) for one in (mine, theirs) for n in range(len(one.tokens))):
        return  # "two instead of three": the order tells which is which
    for n, other in enumerate(theirs.tokens):
        cadence = n and theirs.tokens[n - 1].text in _EACH
        if other.number and other.text not in theirs.words.times and not cadence:
            shared = len(around & _around(theirs, n))
            others[other.number] = max(others.get(other.number, 0), shared)
    own = others.pop(token.number, None)
    if own is None or not others or not around:
        return
    mine_too = {t.number for t in mine.tokens if t.number}
    best = max((n for number, n in others.items() if number in mine_too), default=0)
    alone = max(others.values(), default=0)
    if best > own or (own == 0 and alone > 0 and len(around) > 1):
        yield f"{token.raw} belongs to something else in the evidence"


def _around(one: Statement, at: int) -> frozenset[str]:
    """Return the stems of the words near a number, within its clause."""
    clause = one.tokens[at].clause
    row = [t for t in one.tokens if t.clause == clause]
    here = row.index(one.tokens[at])
    near = row[max(0, here - 4) : here] + row[here + 1 : here + 5]
    return frozenset(t.stem for t in near if one.tells(t) and not unit_of(t.text))
