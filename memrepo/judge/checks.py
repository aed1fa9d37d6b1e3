"""Check a judge's operations against the lines that they cite, the memories, and each other.

These checks are exact: lines, figures, names, negations, ids, lengths. `needs_second_question`
decides which operations a model is asked about once more.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from math import fsum
from pathlib import PurePosixPath
from textwrap import shorten

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normal_claim, normalise, strip_marker
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.secrets import secret_fault
from memrepo.judge.documents import Batch, Document, day_of, is_heading
from memrepo.judge.grounding import (
    Grounds,
    find_unsupported,
    literals_of,
)
from memrepo.judge.interface import MAX_TEXT, Operation
from memrepo.policies.claims import MAX_SPAN, jaccard
from memrepo.text.words import content_words

MIN_TEXT = 10
"""Minimum characters of a text. A wide character counts twice."""
MAX_BELOW = 8
"""Statements below a line that states nothing, from which a judge is asked to choose."""
MIN_STATED = 3
"""Words with content from which a line that no statement has may be cited."""
NEAR_LINES = 3
"""Distance in lines up to which a line that was shown may support a wording."""
SPARE = 1.1
"""How much longer a text may be than its limit, because models count badly."""
MAX_VERBATIM = 400
"""Maximum characters of lines that are quoted together."""
SAME = 0.9
"""Share of common words from which a new text repeats a known memory."""
MAX_LATER, MAX_SHOWN = 2, 240
"""Later lines shown with an item of a verification, and their maximum characters."""
COVERED, COVERED_NEAR = 0.15, 0.6
"""Share of a text's rare words that a later line has in common with it, and the share in the same
section."""
_REFERENCE = regex(r"(F\d+):(\d+)(?:\s*[-–]\s*(\d+))?")
_DAY = regex(r"\d{4}-\d{2}-\d{2}")
_MONTH = regex(r"(\d{4})-(0[1-9]|1[0-2])")
_SENTENCE = regex(r"(?<=[.!?])\s+|(?<=[。！？])")
_OPEN = regex(r"\s*(?:[-*+]|\d+[.)])?\s*\[ \]|.*\b(?:TODO|to-do)\b", re.IGNORECASE)


class Place(msgspec.Struct, frozen=True):
    """Some lines of a document."""

    document: Document
    first: int
    last: int


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """The lines that an operation cites, and what explains them.

    `under` has the headings and lead-ins above them, and `above` also their files and how these
    begin. `topics` has what the question shows, which may name a subject. `near` has the
    neighbouring lines that were shown, nearest first, by their references. `days` are those that
    the lines, their files and headings have, and `newest` that of the newest log. Lines that state
    nothing have a fault, and the places from which others may be cited.
    """

    places: tuple[Place, ...] = ()
    own: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    near: Mapping[str, str] = msgspec.field(default_factory=dict)
    days: tuple[str, ...] = ()
    newest: str = ""
    fault: str = ""

    @property
    def grounds(self) -> tuple[str, ...]:
        """Return the days that give a date its year. An undated page has that of the newest log."""
        return self.days or tuple(filter(None, (self.newest,)))

    @property
    def evidence(self) -> str:
        """Return the cited lines and what is above them, as one text."""
        return "\n".join((*self.own, *self.above))


def cite(lines: str, batch: Batch) -> Cited:
    """Return the lines that a reference names, or the fault of the reference."""
    found = _REFERENCE.findall(lines)
    if not found:
        return Cited(fault="lines: none given, cite them such as F1:12-14")
    places: list[Place] = []
    leads: list[Place] = []
    own: list[str] = []
    above: list[str] = []
    under: list[str] = []
    near: dict[str, str] = {}
    days: list[str] = []
    files, visible = batch.files, batch.shown
    for id_, first, last in found:
        document, start, end = files.get(id_), int(first), int(last or first)
        if document is None:
            return Cited(fault=f"lines: there is no {id_}")
        shown = [n for n in range(start, min(end, start + 999) + 1) if n in visible[id_]]
        if end < start or end > len(document.lines):
            return Cited(fault=f"lines: {id_} has {len(document.lines)} lines")
        if not shown:
            return Cited(fault=f"lines: {id_}:{start} was not shown")
        if len(shown) > MAX_SPAN:
            return Cited(fault=f"lines: {id_}:{start}-{end} is too much, cite what you used")
        if not _states_something(document, shown, is_alone=len(found) == 1):
            under += [document.lines[n - 1].strip("# ") for n in shown]
            below = [n for n in sorted(document.stating & visible[id_]) if n > start]
            leads.append(Place(document, start, (below or [start])[:MAX_BELOW][-1]))
            continue
        places.append(Place(document, shown[0], shown[-1]))
        own += [document.lines[n - 1].strip() for n in shown]
        under += [line.strip("# ") for line in document.headings(shown[0])]
        above += [*_names(document), *document.head]
        adjacent = (m for away in range(1, NEAR_LINES + 1) for m in (start - away, end + away))
        near |= {f"{id_}:{n}": document.lines[n - 1] for n in adjacent if n in visible[id_]}
        days += _DAY.findall("\n".join((document.name, *under, *above)))
        days += [document.as_of, document.changed, document.day]
    if leads and not places:
        id_ = next(id_ for id_, document in files.items() if document is leads[0].document)
        why = "states nothing by itself, cite the lines below it"
        return Cited(places=tuple(leads[:1]), fault=f"lines: {id_}:{leads[0].first} {why}")
    return Cited(
        places=tuple(places),
        own=tuple(own),
        under=tuple(dict.fromkeys(under)),
        above=tuple(dict.fromkeys((*under, *above))),
        topics=batch.topics,
        near=near,
        days=tuple(sorted({day for day in days if day})),
        newest=max((d.day for d in files.values()), default=""),
    )


def _states_something(document: Document, numbers: Sequence[int], *, is_alone: bool) -> bool:
    """Return whether one of the lines is no heading, label or lead-in.

    A line of code or of a quotation is none, and neither is a sentence before a lead-in, or one
    that is cited without the list that it introduces.
    """
    if not document.stating or not document.stating.isdisjoint(numbers):
        return True
    lines = [strip_marker(document.lines[n - 1]).strip() for n in numbers]
    whole = (one for one in lines if not is_heading(one))
    return any(
        ((is_alone or not one.endswith((":", "："))) and len(content_words(one)) >= MIN_STATED)
        or (len(parts := _SENTENCE.split(one)) > 1 and all(map(content_words, parts[:2])))
        for one in whole
    )


def _names(document: Document) -> tuple[str, ...]:
    path = PurePosixPath(document.name)
    return path.stem, *path.parts


def with_days(op: Operation) -> Operation:
    """Return an operation with a day for a month: the first for `as_of`, the last for `until`."""
    since, until = _MONTH.fullmatch(op.as_of), _MONTH.fullmatch(op.until)
    if since:
        op = replace(op, as_of=f"{op.as_of}-01")
    if until:
        last = calendar.monthrange(int(until[1]), int(until[2]))[1]
        op = replace(op, until=f"{op.until}-{last}")
    return op


def check(
    op: Operation,
    cited: Cited,
    known: Mapping[str, Memory],
    names: Sequence[str],
    spoken: Sequence[str] = (),
) -> list[str]:
    """Return what is wrong with an operation, or nothing if it is accepted.

    `known` are the memories that were shown, by their short id. `names` are those of owner and
    agent. `spoken` are texts of the same answer that were accepted before.
    """
    if cited.fault:
        return [cited.fault]
    old = known.get(op.id)
    if op.op == "add" and op.id:
        return ["id: an operation `add` names no memory; use `same` or `replace`"]
    if op.op != "add" and old is None:
        return [f"id: no memory {op.id or '(none)'} was shown"]
    if op.op in ("replace", "close") and old and max(op.as_of, *cited.days, "") < day_of(old):
        return [f"id: {op.id} is of {day_of(old)}, later than the lines, which cannot end it"]
    if op.op == "close" or (op.op == "same" and not op.text):
        return [*_about(old, cited)] if op.op == "close" and old else []
    found = [*_shape_faults(op, cited)]
    if found:
        return found
    grounds = _grounds(op, cited, old, names)
    subject = [("subject", op.subject)] if op.subject else []
    if next(find_unsupported(subject, grounds), None):
        named = replace(grounds, context=(*grounds.context, *cited.near.values(), *cited.topics))
        found += islice(map(str, find_unsupported(subject, named)), 1)
    if not found:  # a text names what it is about
        grounds = replace(grounds, context=(*grounds.context, op.subject))
    found += map(str, find_unsupported(_fields(op), grounds))
    own = "".join(cited.own)
    if _wide(own) > 0.3 * len(own) and not _wide(op.text):
        found.append("text: not in the language of the lines")
    found += _copies(op, known, spoken)
    if op.op == "replace" and old is not None:
        found += _losses(op, old, cited)
    return found


def _fields(op: Operation) -> list[tuple[str, str]]:
    return [one for one in (("text", op.text), ("still", op.still)) if one[1]]


def _grounds(op: Operation, cited: Cited, old: Memory | None, names: Sequence[str]) -> Grounds:
    return Grounds(
        evidence=evidence_of(op, cited, old),
        context=(*cited.above, *names, *((old.body, old.subject) if old else ())),
        others=tuple(line for place in cited.places for line in place.document.lines),
        days=cited.grounds,
    )


def with_near_lines(
    op: Operation, batch: Batch, old: Memory | None, names: Sequence[str]
) -> tuple[Operation, Cited]:
    """Return an operation and its lines, with the neighbours that its wording has pieces of.

    What a wording rests on becomes its evidence, also where a judge forgot to cite it.
    """
    cited = cite(op.lines, batch)
    if not (op.text and cited.places):
        return op, cited
    files = (name for place in cited.places for name in _names(place.document))
    context = (*cited.under, *files, *names, *((old.body, old.subject) if old else ()))
    grounds, more = replace(_grounds(op, cited, old, names), context=context), [op.lines]
    lacking = set(map(str, find_unsupported(_fields(op), grounds)))
    for place, line in cited.near.items() if lacking else ():
        wider = replace(grounds, evidence=(*grounds.evidence, line))
        left = set(map(str, find_unsupported(_fields(op), wider)))
        if left < lacking:
            grounds, lacking = wider, left
            more.append(place)
    op = replace(op, lines=", ".join(more))
    return op, cite(op.lines, batch)


def _wide(text: str) -> int:
    """Return the number of characters of scripts without blanks."""
    return sum(ch > "\u2e80" for ch in text)


def _shape_faults(op: Operation, cited: Cited) -> Iterator[str]:
    length = len(op.text)
    is_short = length + _wide(op.text) < MIN_TEXT
    if (is_short or length > SPARE * MAX_TEXT) and op.text not in cited.own:
        yield f"text: {length} characters, expected {MIN_TEXT} to {MAX_TEXT}"
    for name in ("text", "subject", "still"):
        if len(getattr(op, name).splitlines()) > 1:
            yield f"{name}: more than one line"
    if fault := secret_fault(op.text, op.subject, op.still):
        yield fault
    for name in ("as_of", "until"):
        if (value := getattr(op, name)) and not _is_day(value):
            yield f"{name}: {value} is no date such as 2026-03-01"
    if op.until and op.as_of and op.until < op.as_of:
        yield "until: it is before as_of"
    if op.as_of and _is_day(op.as_of) and cited.grounds and op.as_of > max(cited.grounds):
        named = op.as_of.removesuffix("-01")  # the lines may name only the month
        lines = (*cited.own, *cited.under)
        grounds = Grounds(evidence=lines, days=cited.grounds, has_near_days=False)
        days = find_unsupported((("as_of", named),), grounds)
        yield from map(str, days)


def later_lines(op: Operation, cited: Cited, batch: Batch) -> list[str]:
    """Return the lines of later logs that share most with a new text, with their places.

    A second question decides whether one of them ends or changes what the text states. Lines of the
    same section are about the same event unless most rare words are the same, and lines without
    other words or figures repeat it.
    """
    if op.op not in ("add", "replace") or not cited.places:
        return []
    files = [*batch.files.values()]
    last = max((files.index(p.document), p.last) for p in cited.places)
    since = max((day for day in cited.days if day <= (op.as_of or day)), default="")
    stated = "\n".join((op.text, *cited.own))
    terms, old = batch.terms_of(f"{op.subject} {op.text}"), content_words(f"{op.subject} {stated}")
    figures = set(_figures(stated))
    sections = {(p.document.resource, _section(p.document, p.first)) for p in cited.places}
    rarity = batch.rarity
    whole = fsum(rarity.get(term, 0.0) for term in terms)
    found: list[tuple[float, int, int]] = []
    for (at, number), row in batch.terms.items():
        document = files[at]
        if (at, number) <= last or document.kind != "log" or document.day < since:
            continue
        line = document.lines[number - 1]
        shared = terms & (row | batch.terms_of(next(iter(document.headings(number)), "")))
        score = fsum(rarity.get(term, 0.0) for term in shared)
        is_near = (document.resource, _section(document, number)) in sections
        if (
            shared
            and score > (COVERED_NEAR if is_near else COVERED) * whole
            and not is_heading(line)
            and not (content_words(line) <= old and figures.issuperset(_figures(line)))
        ):
            found.append((score, at, number))
    best = sorted(found, reverse=True)[:MAX_LATER]
    places = sorted((at, n) for _, at, n in best)
    words = content_words(f"{op.subject} {op.text}")
    return [f"F{at + 1}:{n} {_shortened(files[at].lines[n - 1], words)}" for at, n in places]


def _shortened(line: str, words: frozenset[str]) -> str:
    """Return a line or, if it is long, its whole sentences that have some of the words."""
    if len(line) <= MAX_SHOWN:
        return line.strip()
    parts = [part for part in _SENTENCE.split(line) if words & content_words(part)]
    return shorten(" ".join(parts), MAX_SHOWN, placeholder=" ...") if parts else line[:MAX_SHOWN]


def _section(document: Document, number: int) -> str:
    """Return the heading of the section of a line, or an empty string directly below a title."""
    return next((h for h in document.headings(number) if h.startswith("##")), "")


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2026-03-01")


def evidence_of(op: Operation, cited: Cited, old: Memory | None) -> tuple[str, ...]:
    """Return the lines that a text must state. A memory that has grown keeps what it stated."""
    return (old.body, *cited.own) if op.op == "same" and old is not None else cited.own


def _copies(op: Operation, known: Mapping[str, Memory], spoken: Sequence[str]) -> Iterator[str]:
    words = content_words(op.text)
    for id_, memory in known.items():
        alike = jaccard(words, content_words(memory.body)) >= SAME
        if id_ != op.id and alike and _figures(op.text) == _figures(memory.body):
            yield f"text: {id_} states this already: use `same`"
            return
    if any(normalise(op.text) == normalise(text) for text in spoken):
        yield "text: an earlier operation states the same"


def _figures(text: str) -> list[str]:
    return sorted(re.findall(r"\d+", text))


def _about(old: Memory, cited: Cited) -> Iterator[str]:
    """Yield a fault if the cited lines have no word in common with the memory they close."""
    if not content_words(old.body) & content_words(
        "\n".join((cited.evidence, *cited.near.values()))
    ):
        yield "lines: they have no word in common with the memory"


def _losses(op: Operation, old: Memory, cited: Cited) -> Iterator[str]:
    """Yield an identifier of a replaced memory that its page has and neither text nor lines have.

    An answer that says what is still true has decided about the rest.
    """
    if op.still:
        return
    new = normalise("\n".join((op.text, *cited.own)))
    page = normalise("\n".join(line for p in cited.places for line in p.document.lines))
    for literal in literals_of(old.body):
        plain = normalise(literal)
        if plain in page and plain not in new:
            yield f"still: {op.id} also states {literal}: keep it in `text` or in `still`"
            return


def leftovers(
    batch: Batch, known: Mapping[str, Memory], changed: Collection[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (memory, value, line) for memories that still state a value that an edit removed.

    `changed` are the memories that operations name. `line` cites the place of the edit.
    """
    present = normalise("\n".join(line for d in batch.files.values() for line in d.lines))
    shown = batch.shown
    for file, document in batch.files.items():
        for number, rows in document.removed.items():
            values = {v for row in rows for v in literals_of(row) if normalise(v) not in present}
            line = min(shown[file], key=lambda n, at=number: abs(n - at), default=0)  # type: ignore[misc]
            for value in sorted(values):
                for id_, memory in known.items():
                    if id_ not in changed and normalise(value) in normalise(memory.body):
                        yield id_, value, f"{file}:{line}"


def needs_second_question(
    op: Operation, cited: Cited, old: Memory | None = None, batch: Batch | None = None
) -> bool:
    """Return whether a model is asked again whether the lines state what an operation states.

    Only whole lines in their own words need no second question, unless later lines of the question
    are about the same, or a line is a task, which may be worded as a fact.
    """
    if op.op in ("replace", "close"):
        return True
    if not op.text:
        return False
    if batch is not None and later_lines(op, cited, batch):
        return True
    lines = evidence_of(op, cited, old)
    if op.type != "commitment" and any(map(_OPEN.match, lines)):
        return True
    return normalise(op.text).rstrip(".") not in (normal_claim(x).rstrip(".") for x in lines)


def verbatim(op: Operation, cited: Cited, reasons: Sequence[str]) -> Operation | None:
    """Return the operation with the cited lines as its text, because its wording was refused.

    Fields that `reasons` do not name stay. Return None if no reader could use the lines: they are
    in several places, too long, a lead-in, or do not name the subject.
    """
    if op.op == "same":
        return replace(op, text="")
    text = " ".join(filter(None, map(strip_marker, cited.own)))
    named = content_words(op.subject) <= content_words(text)
    if op.op == "close" or len(cited.places) != 1 or not named or text.endswith((":", "：")):
        return None
    if day := cited.places[0].document.day:
        text = f"({day}) {text}"
    if not MIN_TEXT <= len(text) <= MAX_VERBATIM:
        return None
    faulty = {reason.partition(":")[0]: "" for reason in reasons} | {"id": "", "still": ""}
    fields = {name: "" for name in ("subject", "as_of", "until", "id", "still") if name in faulty}
    return replace(op, op="add", text=text, **fields)
