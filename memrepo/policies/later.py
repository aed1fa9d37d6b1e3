"""Find the latest line of newer texts about the same as a search hit.

Nothing is decided by it: recall shows the line below the hit. A line is about the same if it says
what became of the hit (`policies.change`), or if it shares telling words with the lines of the hit
that answer the question. A word that many texts have, a time and the name of the person or agent
whose memory it is do not count.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TypeVar

import msgspec

from memrepo.core.memory import Memory
from memrepo.policies.change import are_apart, change_of
from memrepo.policies.phrases import Reading, read
from memrepo.policies.standing import changed_at, contradicts, newer_of
from memrepo.text.dates import find_date, is_time_heading, opening_date, without_dates
from memrepo.text.sentences import sentences
from memrepo.text.words import (
    ENGLISH,
    asked_terms,
    entries,
    fold,
    index_terms,
    is_spaceless,
    patterns,
    stems,
    terms,
    words,
)

MAX_HOLDERS, MAX_SHARE = 8, 50
"""A telling word is in at most this many blocks, or one of this many of all blocks."""
MAX_LINES = 40
"""Maximum lines of a text that are compared."""
_NEAR = 0.6
"""Of the lines with at least this share of the best score, the latest is shown."""

_START = 4
"""Forms of a word mostly begin with the same letters, of which this many are compared first."""

Terms = Mapping[str, frozenset[str]]
"""Terms, each with its other forms."""


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its day, its place, and the headings above it, outermost first."""

    text: str
    context: str
    day: str
    path: str = ""


class TermWeights(msgspec.Struct, frozen=True, kw_only=True):
    """The weights of the terms that a question asks for, and of those that few blocks contain."""

    asked: Mapping[str, float]
    telling: Mapping[str, float]


class Topic(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a hit says about a question. `unnamed` are words for the person or the agent."""

    hit: Text
    question: str
    unnamed: Collection[str] = ()
    languages: Collection[str] = ()

    @cached_property
    def asked(self) -> Terms:
        """Return the telling terms of the question."""
        return self._terms(self.question)

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines of the hit that contain most terms of the question, or all if none."""
        every = [line for line in self.hit.text.splitlines()[:MAX_LINES] if line.strip()]
        counts = {line: len(self._asked_in(line)) for line in every if not line.startswith("#")}
        most = max(counts.values(), default=0)
        return [line for line, count in counts.items() if count == most > 0] or every

    def _asked_in(self, text: str) -> frozenset[str]:
        held = frozenset(index_terms(text).terms)
        return frozenset(term for term, forms in self.asked.items() if not held.isdisjoint(forms))

    @cached_property
    def common(self) -> frozenset[str]:
        """Return the terms of the question that these lines contain."""
        return self._asked_in("\n".join(self.lines))

    @cached_property
    def own(self) -> Terms:
        """Return the telling terms of these lines."""
        return self._terms("\n".join(self.lines))

    @cached_property
    def head(self) -> Terms:
        """Return the telling terms of the innermost heading that is no date."""
        parts = [part for part in self.hit.context.split(" › ")[1:] if not is_time_heading(part)]
        return self._terms(parts[-1]) if parts else {}

    @cached_property
    def names(self) -> list[frozenset[str]]:
        """Return the words of each name in these lines."""
        found = (frozenset(words(name)) for line in self.lines for name in read(line).names)
        return [name for name in found if name]

    @property
    def every(self) -> Terms:
        """Return all telling terms."""
        return {**self.head, **self.asked, **self.own}

    def weights(self, holders: Mapping[str, int], size: int) -> TermWeights:
        """Return the weights of the terms, by the number of blocks of `size` with each of them."""
        counts = {
            term: max(1, *(holders.get(form, 0) for form in forms))
            for term, forms in self.every.items()
        }
        every = {term: math.log(1 + max(size, 50) / count) for term, count in counts.items()}
        most = max(MAX_HOLDERS, size // MAX_SHARE)
        return TermWeights(
            asked={term: every[term] for term in self.asked},
            telling={term: weight for term, weight in every.items() if counts[term] <= most},
        )

    def forms(self, found: Collection[str]) -> frozenset[str]:
        """Return terms of the topic with their other forms."""
        return frozenset(form for term in found for form in self.every[term])

    def _terms(self, text: str) -> Terms:
        found = {
            term: frozenset((term, *forms)) for term, forms in asked_terms(text, self.languages)
        }
        dull = _times(tuple(self.languages)) | {*self.unnamed}
        return {
            term: forms
            for term, forms in found.items()
            if dull.isdisjoint(forms) and not (term.isdigit() or len(term) < 2)
        }


@lru_cache(maxsize=8)
def _times(languages: Sequence[str]) -> frozenset[str]:
    """Return the words for times of some languages and of English, and their stems."""
    keys = (("change", "times"), ("dates", "weekdays"), ("dates", "times"))
    found = [one for key in keys for one in entries(*key, (ENGLISH, *languages))]
    plain = [fold(word) for word in found]
    return frozenset((*plain, *stems(plain)))


def later_line(
    topic: Topic, newer: Sequence[Text], weights: TermWeights, today: str = "9999"
) -> tuple[Text, str, str] | None:
    """Return the latest line about the same as a hit, with its text and its day, or None.

    A line has a telling term, unless it belongs to the next dated state of the hit. No line of the
    hit itself is later. A line may begin with its own day. One after `today` is yet to come.
    """
    starts = {re.escape(form[:_START]) for form in topic.forms(weights.telling)}
    telling = re.compile("|".join(sorted(starts)) or "(?!)")
    own = {tuple(words(line)) for line in topic.hit.text.splitlines()}
    found: list[tuple[float, Text, str, str]] = []
    for text in newer:
        is_next = _is_next_state(topic.hit, text)
        is_apart = are_apart(topic.hit.context, text.context)
        is_same = text.path == topic.hit.path and is_time_heading(text.context.split(" › ")[-1])
        for line in text.text.splitlines()[:MAX_LINES]:
            day = opening_date(line, months=False)[0] or text.day
            is_later = topic.hit.day < day <= today
            if not is_later or line.startswith((">", "#")) or tuple(words(line)) in own:
                continue
            score = 0.0
            if telling.search(fold(line)):
                score = _score(topic, line, weights, is_near=is_same or is_next, is_apart=is_apart)
                score = score or _rekeyed(topic, line, weights.telling, is_apart=is_apart)
            if score or (is_next and any(map(str.isalnum, line))):
                found.append((score, text, line, day))
    best = max((score for score, *_ in found), default=0.0)
    near = [one for one in found if one[0] >= _NEAR * best]
    if not near:
        return None
    _, text, line, day = max(near, key=lambda one: (one[3], one[0]))
    return text, line, day


def _score(
    topic: Topic, line: str, weights: TermWeights, *, is_near: bool, is_apart: bool
) -> float:
    """Return the weight of the telling words that a line shares with a hit, or 0 if too few.

    For a question, two words are enough, or one that it has too, if the headings above both do not
    name two things. So is a name not asked for, or the hit's heading, before or in news.
    Questions, plans and quotes say nothing, and neither does a line that only repeats the hit.
    """
    telling = weights.telling
    readings = [(line[a:b], read(line[a:b])) for a, b in sentences(line)]
    stated = [(text, reading) for text, reading in readings if not reading.is_open]
    held, fresh = set[str](), set[str]()
    for text, reading in stated:
        held |= {*index_terms(text).terms, *words(text)}
        if reading.is_news or patterns().sentences["decision"].search(text):
            fresh |= held  # news is about what was named up to it

    def in_line(found: Terms) -> set[str]:
        return {t for t, forms in found.items() if t in telling and not held.isdisjoint(forms)}

    own, asked, head = in_line(topic.own), in_line(topic.asked), in_line(topic.head)
    shared = own | asked | head
    if len(own) == len(topic.own) and not fresh:
        return 0.0
    named = frozenset[str]().union(*(name for name in topic.names if name <= held))
    names = {term for term in own if not named.isdisjoint(topic.own[term])}
    subject = (names - asked) | (head if head == topic.head.keys() else set())
    is_news = any(not fresh.isdisjoint(topic.every[term]) for term in subject)
    found = {term for term, forms in topic.asked.items() if not held.isdisjoint(forms)}
    is_fresh = any(
        not fresh.isdisjoint(topic.asked[term]) for term in asked if not is_spaceless(term)
    )
    is_about = _is_about(topic, found, weights.asked) and (not is_apart or bool(names or head))
    is_enough = (
        (bool(topic.question) and is_about and len(own) > 1 and bool(names or asked))
        or bool(is_about and asked and own | head and len(shared | found) > 1)
        or (is_fresh and not is_apart and len(shared | found) >= min(2, len(topic.common)))
        or is_news
        or (is_near and bool(shared))
        or any(_is_replaced(topic, reading) for _, reading in stated)
    )
    return sum(telling[term] for term in shared) if is_enough else 0.0


def _is_about(topic: Topic, found: AbstractSet[str], weights: Mapping[str, float]) -> bool:
    """Return whether a line has half of what a question and a hit have in common, by weight.

    Two hosts run the same program, but a question about one is not answered by the other. So a line
    that names what question and heading name is enough.
    """
    if topic.head and topic.head.keys() <= found:
        return True
    common = topic.common
    return 2 * sum(weights[t] for t in common & found) >= sum(weights[t] for t in common) > 0


def _is_replaced(topic: Topic, new: Reading) -> bool:
    """Return whether a line says that the whole value of a key of the hit was replaced."""
    values = {one.value for one in map(read, topic.lines) if one.key}
    return any(part.old in values for part in new.replaced)


def _rekeyed(topic: Topic, line: str, weights: Mapping[str, float], *, is_apart: bool) -> float:
    """Return the weight of a line that gives another value to a key that a question asks for.

    If the headings above both name two things, the key has to name the thing of the hit.
    """
    new, label = read(line), line.replace("：", ":").partition(":")[0]
    held = {*index_terms(label).terms, *words(label)}
    is_asked = any(t in weights and not held.isdisjoint(fs) for t, fs in topic.asked.items())
    is_asked &= not is_apart or any(not held.isdisjoint(forms) for forms in topic.head.values())
    old = [one.value for one in map(read, topic.lines) if is_asked and one.key == new.key]
    is_other = bool(new.key and old) and new.value not in old
    return max(weights.values(), default=1.0) if is_other else 0.0


def _is_next_state(old: Text, new: Text) -> bool:
    """Return whether two texts are dated states of one thing: `As of 2026-01-31` and a later day.

    Their headings are equal except for the date, and name more than the date.
    """
    one, two = old.context.split(" › "), new.context.split(" › ")
    if old.path != new.path or one[:-1] != two[:-1] or is_time_heading(one[-1]):
        return False
    if not (find_date(one[-1]) and find_date(two[-1])):
        return False
    return _undated(one[-1]) == _undated(two[-1]) != []


def _undated(heading: str) -> list[str]:
    return words(without_dates(heading))


def _restates(new: Text, old: Text) -> bool:
    """Return whether a text is the next dated state of another, or has other values for its keys.

    Of the values of one key in a text none is newer than the others.
    """
    if new.day <= old.day:
        return False
    if _is_next_state(old, new):
        return True
    if are_apart(old.context, new.context):
        return False
    before, after = _fields(old.text), _fields(new.text)
    return any(
        len(after[key]) == len(before[key]) == 1
        for key in before.keys() & after.keys()
        if before[key] != after[key]
    )


def _fields(text: str) -> dict[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in map(read, text.splitlines()[:MAX_LINES]):
        if one.key:
            found[one.key].add(one.value)
    return found


_T = TypeVar("_T")


def newer_first(
    found: Sequence[_T],
    texts: Sequence[Text],
    asked: frozenset[str],
    is_newer: Callable[[int, int], bool],
) -> list[_T]:
    """Reorder what was found: of two about the same, the newer one comes first.

    The two swap positions, if `is_newer` is true for the numbers of the newer and the older, or if
    they are dated states of one thing. `texts` are what was found as texts. An older one stays
    first if it has a query word that the newer one lacks.
    """
    order = list(range(len(found)))
    held = [frozenset(terms(f"{one.context} {one.text}")) & asked for one in texts]
    for one, other in combinations(range(len(found)), 2):
        first, second = order.index(one), order.index(other)
        ahead, behind = (one, other) if first < second else (other, one)
        if held[ahead] <= held[behind] and (
            _restates(texts[behind], texts[ahead]) or is_newer(behind, ahead)
        ):
            order[first], order[second] = order[second], order[first]
    return [found[n] for n in order]


def replaces(new: Memory, old: Memory) -> bool:
    """Return whether a memory is newer than another one and contradicts or changes it."""
    is_doubted = new.standing == old.standing == "contested" and contradicts(new, old)
    if is_doubted and not (new.sources and old.sources):
        return changed_at(new) > changed_at(old)
    if newer_of(new.sources, old.sources)[0] != "first":
        return False
    return is_doubted or not (new.is_note or old.is_note or change_of(old, new) is None)
