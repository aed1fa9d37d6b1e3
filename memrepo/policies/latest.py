"""Choose the lines of the newest daily logs that say how things are, for the first page.

Files that are kept up to date lag behind the logs. What was decided, changed or finished, what is
current and what waits is shown with its day, one line for each subject, and what is due until its
day. It remains in its note.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from math import fsum

import msgspec

from memrepo.core.layout import in_workspace
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.merge.tombstones import decided_against, forgotten_in, without_rejected
from memrepo.policies.first_page import (
    DUE_DAYS,
    SEPARATOR,
    TOPIC_KINDS,
    differ,
    due_of,
    is_same_event,
    repeats,
)
from memrepo.policies.hotcache import place_of, was_removed
from memrepo.policies.phrases import read
from memrepo.read.kinds import TURN, file_kind, is_below, kinds, section_kind, signs_of
from memrepo.read.learned import features, worth
from memrepo.read.notes import names_state, scan_state
from memrepo.read.shelf import type_of
from memrepo.read.thoughts import Unit, field_of, function_words, scan, width
from memrepo.text.dates import (
    date_of_path,
    days_of,
    due_day,
    find_date,
    is_date_heading,
    without_dates,
)
from memrepo.text.words import content_words, entries, fold, patterns, stems, words

MAX_LINES, DAYS, OPEN_DAYS = 11, 14, 1
"""The most lines, the days before the newest log in which a log is new, and those in which what it
calls current still is."""
MAX_DUE, MAX_NEWS, MIN_NEWS = 7, 8, 4
"""The most of these lines for what is due within DUE_DAYS, in logs of as many days before today.
What is new has MAX_NEWS without them, and MIN_NEWS of its own."""
_OF_A_DAY = (2, 4)
"""The most lines of one day, first while other days have any."""
MIN_SCORE, FIRST = 0.5, 0.4
"""The least score of a line, and the bonus of the first line about a subject."""
SHORT, LONG, MIN_WORDS, MAX_ITEMS, OPENING = 30, 320, 4, 6, 160
"""The widths between which a line is read at once, the fewest words with content of a line, the
number of items from which a list is an inventory, and of leading characters that say what
happened."""
FIRST_PLACE = 1000
"""The score of the first line of a file, if what waits is ranked by its place."""
LEARNED, LOGIT_LIMIT = 0.25, 4.0
_UNFIT = frozenset("code row table question quoted path tiny refers template".split())
"""Signs of what says nothing on a line of its own, in addition to those of no memory."""
_NO_NEWS = ("closed", "option", "example")
_OPEN = frozenset(("now", "plan", "open_box", "promise"))
"""Signs and sections of what is current or waits."""
_WEIGHTS = {
    "decision": 1.5,
    "now": 1.0,
    "promise": 1.0,
    "plan": 1.0,
    "status": 1.0,
    "done": 1.0,
    "news": 1.0,
    "titled": 1.0,
    "constraint": 0.5,
    "commitment": 0.5,
    "lesson": 0.5,
    "identifier": -0.7,
    "unsure": -0.7,
    "filing": -2.0,
    "progress": -0.3,
    "short": -0.5,
    "where": -0.3,
    "span": -0.5,
    "day": -2.5,
}
"""What signs, kinds of sections and types add to the score of a line."""
_WORD = regex(r"\w+")
_CLOCK = regex(
    r"[(（]\W*(?:\w+\s+)*[)）]|\([^()\n]*\d:\d\d[^()\n]*\)|\b\d{1,2}:\d\d(?::\d\d)?(?:\s*[-–—~]\s*\d{1,2}:\d\d)?\b"
)
_KEPT_FILE = regex(r"\b(?!SKILL|README)[A-Z]{3,}\.md\b|\bmemory/|\b\d{4}-\d\d-\d\d\.md\b")
"""A file of the agent's memory: what was done to it is no news."""
_MONTHS = regex(r"(?:/\d[\d-]*)+$")
"""The folders of years and months."""
_ASKS = regex(r"[?？]")
_EDGES = regex(r"^[^\w(]+|[\s:：–—-]+$")


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """A line of a log: what it is about, its text and place, and whether it is open.

    That of a file about the state of work is so until the file changes. `about` are the words that
    introduce it on the page.
    """

    subject: str
    text: str
    score: float
    place: int
    text_hash: str
    is_open: bool = False
    due: str = ""
    is_state: bool = False
    about: str = ""


def latest(
    state: State, notes: Iterable[Memory], shown: Sequence[Memory], most: int
) -> list[Memory]:
    """Return at most `most` lines of the newest logs, newest first, that `shown` does not state.

    A line is a copy of its note with only this text. The days are counted from the newest log that
    is not dated after it was read, and those until something is due from when a log was last read.
    """
    dated = [n for n in notes if n.captured and _day(n) <= f"{_read_at(n) or 9999}"[:10]]
    most = 0 if any(map(place_of, shown)) else min(most, MAX_LINES)
    if most < 1 or not dated:
        return []  # a model chose the page, news and all
    stated = [n for n in dated if any(s.captured_from != "commit" for s in n.sources)] or dated
    newest = date.fromisoformat(max(map(_day, stated)))
    today = max(newest, *(at.date() for at in map(_read_at, dated) if at))
    first, recent = (str(newest - timedelta(days=days)) for days in (DAYS, OPEN_DAYS))
    since, until = (str(today + timedelta(days=days)) for days in (-DUE_DAYS, DUE_DAYS))
    over = (m for m in state.every if not m.is_note and (m.status != "active" or was_removed(m)))
    gone = {source.text_hash for memory in over for source in memory.sources}
    found = [
        (note, entry)
        for note in without_rejected(state, [n for n in dated if _day(n) >= min(since, first)])
        for entry in _entries(note)
        if entry.text_hash not in gone
    ]
    due = [pair for pair in found if pair[1].due]
    folders = set(map(_folder, dated)) - {""}
    news = [
        (note, one)
        for note, one in found
        if _day(note) >= (recent if one.is_open else first)
        and not (one.due or is_below(_folder(note).rpartition("/")[0], folders))
    ]
    waiting = [m for m in _due(state, due, news, shown) if str(today) <= m.valid_until <= until]
    waiting = waiting[: min(most, MAX_DUE)]
    room = max(MAX_NEWS - len(waiting), MIN_NEWS)
    lines = _chosen(state, news, [*shown, *waiting], min(most - len(waiting), room))
    return [*waiting, *sorted(lines, key=_day, reverse=True)]


def lines_of_logs(state: State) -> list[Memory]:
    """Return the lines of logs for which a page leaves room."""
    return latest(state, [m for m in state.active if m.is_note], (), MAX_LINES)


def _day(note: Memory) -> str:
    return note.captured[:10]


def _read_at(note: Memory) -> datetime | None:
    """Return when the text of a note was read, which a later run may have replaced."""
    return note.stamp.at if note.stamp else note.created


def _folder(note: Memory) -> str:
    """Return the folder of a log. One in a folder of logs has feeds and diaries of programs."""
    file = note.first[0]
    folder = in_workspace(file).rpartition("/")[0]
    return _MONTHS.sub("", folder) if date_of_path(file) else ""


@lru_cache(maxsize=1 << 12)
def _words(text: str) -> frozenset[str]:
    return frozenset(stems(sorted(content_words(text) - function_words())))


def _due(
    state: State,
    found: Sequence[tuple[Memory, Entry]],
    news: Sequence[tuple[Memory, Entry]],
    shown: Sequence[Memory],
) -> list[Memory]:
    """Return the lines of what is due, first due first, that no later line ends or moves."""
    known, lines = list[Memory](), list[Memory]()
    done = [(_day(note), _words(one.text)) for note, one in news if _is_done(one.text)]
    for note, one in sorted(found, key=lambda pair: _day(pair[0]), reverse=True):
        own = _words(days_of(f"{one.subject} {one.text}", _day(note))[1])
        is_done = any(day > _day(note) and 2 * len(own & words) > len(own) for day, words in done)
        for line in () if is_done else _line_of(state, note, one):
            if not any(is_same_event(other, line) for other in known):
                on_page = (memory for memory in shown if due_of(memory) == one.due)
                lines += [line] * (not any(is_same_event(memory, line) for memory in on_page))
                known.append(line)
    return sorted(lines, key=lambda line: line.valid_until)


def _line_of(state: State, note: Memory, one: Entry) -> list[Memory]:
    """Return a note with one line as its text, below its subject, unless a person rejected it."""
    line = note.with_fields({"context": None, "gist": None, "valid_until": one.due}, one.text)
    if decided_against(state).find_barring(line) or forgotten_in(state).stated(one.text):
        return []
    is_named = _words(one.about) <= _words(one.text)
    return [line if is_named else line.with_fields({}, f"# {one.about}\n{one.text}")]


def _chosen(
    state: State, found: Sequence[tuple[Memory, Entry]], shown: Sequence[Memory], most: int
) -> list[Memory]:
    """Return the best lines, newest first, that no later line or section replaces."""
    lines = list[Memory]()
    known = [_words(memory.body) for memory in shown]
    days, subjects = Counter[str](), set[str]()
    best = sorted(_of_last_sections(found), key=lambda pair: (_day(pair[0]), pair[1].score))
    for most_of_day in _OF_A_DAY:
        for note, one in reversed(best):
            own = _words(f"{one.subject} {one.text}")
            of = note.first[0] if one.is_state else _day(note)
            is_known = one.subject in subjects and not one.is_state
            is_full = days[of] >= most_of_day or is_known
            if len(lines) >= most or is_full or any(repeats(own, other) for other in known):
                continue
            line = _line_of(state, note, one)
            lines += line
            known.append(own)
            days[of] += len(line)
            subjects |= {one.subject} - {""}
    return lines


def _of_last_sections(found: Iterable[tuple[Memory, Entry]]) -> Iterator[tuple[Memory, Entry]]:
    """Yield the lines to whose subject no later section returns. What is open needs less for it."""
    later = dict[str, frozenset[str]]()
    names = defaultdict[str, set[str]](set)
    for note, one in sorted(found, key=lambda p: (_day(p[0]), p[0].first[1], p[1].place))[::-1]:
        subject = _words("" if one.is_state else one.subject)
        own = _words(f"{one.subject} {one.text}")
        others = {name for word in own for name in names.get(word, ())} - {one.subject}
        is_over = any(_is_about(later[name], subject, own, is_open=one.is_open) for name in others)
        if one.text and not is_over:
            yield note, one
        if subject and one.subject not in later:
            later[one.subject] = subject
            for word in subject:
                names[word].add(one.subject)


def _is_about(
    later: frozenset[str], subject: frozenset[str], own: frozenset[str], *, is_open: bool
) -> bool:
    """Return whether a later heading shares most words with that of a line, or is in its text."""
    shared, least = len(later & subject), min(len(later), len(subject))
    is_named = len(later) > 1 and 3 * len(later & own) > 2 * len(later)
    is_same = is_named or 2 * shared > least or (is_open and shared > 1)
    return is_same and not differ(later, own)


# -- the lines of a log ----------------------------------------------------------------------------


def _entries(note: Memory) -> list[Entry]:
    """Return the lines of a note that say something, which the cache keeps by its content."""
    place, day = note.first[0], _day(note)
    found = note.once("lines of a log", lambda: _read_log(place, day, note.title, note.body))
    return msgspec.convert(found, list[Entry])


@lru_cache(maxsize=1 << 10)
def _read_log(resource: str, day: str, title: str, body: str) -> object:
    return msgspec.to_builtins(list(_lines_of(resource, day, title, body)))


def _lines_of(resource: str, day: str, title: str, body: str) -> Iterator[Entry]:
    data = f"# {title}\n\n{body}".encode()
    units = scan(resource, data).units
    kind = file_kind(resource, body, units).kind.name
    is_state = kind in kinds().groups["states"] and bool(scan_state(resource, data))
    if not (is_state or kind == "day log") or any(map(TURN.match, body.split("\n"))):
        return  # a transcript, or what a program wrote
    places = dict[str, int]()
    for unit in units:
        place = unit.lines[0]
        subject, found, about = _name_above(unit), _found_in(unit), _label_above(unit, is_state)
        if is_state:
            subject, found = _state_of(unit, subject, found)
        score = _score(unit, found) + FIRST * (subject not in places)
        if is_state and "plan" in found and score > MIN_SCORE - 1:
            score = max(score, FIRST_PLACE - place)  # in the order of the one who wrote the list
        places[subject] = place
        if not found.isdisjoint(_void()):
            continue
        if score >= MIN_SCORE:
            yield Entry(
                subject=subject,
                text=unit.text,
                score=round(score, 3),
                place=place,
                text_hash=unit.text_hash,
                is_open=not is_state and not found.isdisjoint(_OPEN),
                is_state=is_state,
                about=_labels(about, subject) if is_state else subject or about,
            )
        for line in unit.text.split("\n"):
            due = due_day(line, day)
            if due and not _ASKS.search(line) and _words(days_of(line, day)[1]):
                text = line.strip()
                yield Entry(about, text, 0.0, place, unit.text_hash, due=due, about=about)
    for subject, last in () if is_state else places.items():
        yield Entry(subject, "", 0.0, last, "")  # it ends what earlier sections say of the subject


@cache
def _void() -> frozenset[str]:
    return _UNFIT | kinds().groups["void_signs"]


def _name_above(unit: Unit) -> str:
    """Return the outermost heading that names a thing, without day and time.

    One with a day is rather the title of a log, and counts last.
    """
    own = unit.text.partition("\n")[0]
    headings = (*unit.headings, own.lstrip("# ")) if own.startswith("#") else unit.headings
    named = [(bool(find_date(h)), _name(h)) for h in headings if not is_date_heading(h)]
    named.sort(key=lambda pair: pair[0])
    return next((name for is_dated, name in named if _is_name(name, is_dated=is_dated)), "")


def _label_above(unit: Unit, is_state: bool) -> str:
    """Return the innermost heading that says what a line is about, or nothing.

    A heading with a day, or of a kind of section, needs more words for it. The title of a file
    about current work says what the file is.
    """
    for heading in reversed(unit.headings[is_state:]):
        name, is_dated = _name(heading), bool(find_date(heading))
        if len(content_words(name)) > 1 + (is_dated or bool(section_kind([name]))):
            return name
    return ""


def _labels(*names: str) -> str:
    return SEPARATOR.join(dict.fromkeys(filter(None, names)))


def _state_of(unit: Unit, name: str, found: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Return what a line in a file about current work is about, and its signs.

    The heading that names its state is its subject. Below no such heading, only a line with an open
    box counts. What is done is no news.
    """
    label = next((h for h in reversed(unit.headings[1:]) if names_state(h)), "")
    name = "" if name == _name(unit.headings[0]) else name
    is_open = unit.task == "open" or bool(label and not patterns().headings["state"].search(label))
    is_over = unit.task == "done" or "titled" in found or not (label or is_open)
    more = {"plan": is_open, "unset": is_over}
    signs = {*(found - {"done", "decision", "status"}), *(one for one in more if more[one])}
    return _name(label) or name, frozenset(signs)


def _name(heading: str) -> str:
    bare = _CLOCK.sub(" ", without_dates(heading.replace("`", "")))
    return " ".join(_EDGES.sub("", bare).split())


def _is_name(heading: str, *, is_dated: bool) -> bool:
    """Return whether a heading names a thing, or says what was done."""
    count, kind = len(content_words(heading)), section_kind([heading])
    is_long = count > 1 if kind in TOPIC_KINDS else count > 2 and _is_done(heading)
    return count > 2 * is_dated and (not kind or is_long)


def _is_done(text: str) -> bool:
    """Return whether a word of a text says that something is done."""
    done = patterns().sentences["done"].pattern_for(text)
    return any(done.search(text[word.start() :]) for word in _WORD.finditer(text))


def _found_in(unit: Unit) -> frozenset[str]:
    """Return the signs of a statement, with the kind of its section, its type and its news."""
    signs, opening = signs_of(unit), unit.text[:OPENING]
    first = opening.partition("\n")[0].strip("-*+ ")
    label = unit.key or field_of(first)[0] or (first if first.endswith((":", "：")) else unit.lead)
    above = [label] if label else unit.headings
    section = section_kind(above)
    is_of_day = not _times().isdisjoint(word for name in above for word in words(name))
    is_bare = len(content_words(unit.text)) < MIN_WORDS or section in _NO_NEWS
    is_table = "\n|" in unit.text or unit.text.count("\n") >= MAX_ITEMS
    more = {
        "done": _is_done(opening),
        "news": read(opening).is_news,
        "titled": _is_done(unit.headings[-1]),
        "span": "`" in unit.text,
        "day": is_of_day,
        "filing": bool(_KEPT_FILE.search(opening)),
        "unset": is_bare or is_table or without_secrets(unit.text) != unit.text,
    }
    type_ = type_of(unit, "day log", section, signs)
    return frozenset({*signs, section, type_, *(name for name, shown in more.items() if shown)})


@cache
def _times() -> frozenset[str]:
    return frozenset(map(fold, entries("dates", "times")))


def _score(unit: Unit, found: Collection[str]) -> float:
    """Return how much a statement says about how things are now."""
    size = width(unit.text)
    score = fsum(_WEIGHTS.get(name, 0.0) for name in found) - 0.5 * (size > LONG or size < SHORT)
    logit = worth(features(unit, "day log", "", ()))
    return score + LEARNED * max(-LOGIT_LIMIT, min(LOGIT_LIMIT, logit))
