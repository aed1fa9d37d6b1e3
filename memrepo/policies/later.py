"""Find the latest line of newer texts that answers the same question as a search hit.

Nothing is decided by it: recall shows the line below the hit. The question decides what is shown: a
newer line that has most of its words, or news about a name of the hit. A word that many texts have,
a time and the name of the person or agent whose memory it is do not count.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TypeVar

import msgspec

from memrepo.core.memory import Memory
from memrepo.policies.change import are_apart, change_of
from memrepo.policies.phrases import read, stem
from memrepo.policies.ranking import question_of
from memrepo.policies.standing import changed_at, contradicts, newer_of
from memrepo.text.dates import find_date, is_time_heading, opening_date, without_dates
from memrepo.text.sentences import sentences
from memrepo.text.words import (
    ENGLISH,
    entries,
    fold,
    index_terms,
    stems,
    terms,
    words,
)

MAX_HOLDERS, MAX_SHARE = 16, 50
"""A telling word is in at most this many blocks, or one of this many of all blocks."""
MAX_LINES = 40
"""Maximum lines of a text that are compared."""
_NEAR = 0.6
"""Of the lines with at least this share of the best score, the latest is shown."""
MOST, SOME = 0.75, 0.5
"""A later line has at least this share of what is asked for, by weight: one of a key, or with news,
the lower one."""

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
        found = question_of(self.question, languages=self.languages)
        dull = _times(tuple(self.languages)) | {*self.unnamed}
        every = {term: frozenset((term, *forms)) for term, forms in found.terms.items()}
        return {
            term: forms
            for term, forms in every.items()
            if dull.isdisjoint(forms) and term not in found.faint and not term.isdigit()
        }

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines of the hit that contain most terms of the question, or all if none."""
        every = [line for line in self.hit.text.splitlines()[:MAX_LINES] if line.strip()]
        counts = {
            line: len(self.asked_in(_terms_of(line))) for line in every if not line.startswith("#")
        }
        most = max(counts.values(), default=0)
        return [line for line, count in counts.items() if count == most > 0] or every

    def asked_in(self, found: Collection[str]) -> frozenset[str]:
        """Return the terms of the question that are among the terms of a text."""
        return frozenset(t for t, forms in self.asked.items() if not forms.isdisjoint(found))

    @cached_property
    def stated(self) -> list[frozenset[str]]:
        """Return the terms of each line of the hit, with those of its headings."""
        lines = self.hit.text.splitlines()
        above = _terms_of("\n".join(line for line in lines if line.startswith("#")))
        return [above | _terms_of(line) for line in lines]

    @cached_property
    def common(self) -> frozenset[str]:
        """Return the terms of the question that its lines contain, or what is above them."""
        return self.asked_in(_terms_of("\n".join((*self.lines, without_dates(self.hit.context)))))

    @cached_property
    def named(self) -> frozenset[str]:
        """Return the words of the names in the one sentence that answers."""
        if len(self.lines) != 1 or not self.common:
            return frozenset()
        line = self.lines[0]
        parts = (line[start:end] for start, end in sentences(line))
        best = max(parts, key=lambda part: len(self.asked_in(_terms_of(part))), default="")
        reading, opened = read(best), _OPENING.match(best)
        first = (w for w in words(opened[0] if opened else "") if stem(w) in reading.content)
        names = {*first, *(word for name in reading.names for word in words(name))}
        return frozenset(word for word in names if not word.isdigit())

    @cached_property
    def names(self) -> Terms:
        """Return the terms of these names that are not asked for."""
        dull = {*self.unnamed, *(form for forms in self.asked.values() for form in forms)}
        return {name: frozenset((name, *stems([name]))) for name in self.named - dull}

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the keys in these lines."""
        return frozenset(one.key for one in map(read, self.lines) if one.key)

    @property
    def every(self) -> Terms:
        """Return all telling terms."""
        return {**self.asked, **self.names}

    def weights(self, holders: Mapping[str, int], size: int) -> TermWeights:
        """Return the weights of the terms, by the number of blocks of `size` with each of them."""
        counts = {
            term: max(1, *(holders.get(form, 0) for form in forms))
            for term, forms in self.every.items()
        }
        every = {term: math.log(1 + max(size, 50) / count) for term, count in counts.items()}
        most = max(MAX_HOLDERS, size // MAX_SHARE)
        return TermWeights(
            asked={t: every[t] for t in self.asked if not holders.keys().isdisjoint(self.asked[t])},
            telling={t: weight for t, weight in every.items() if counts[t] <= most},
        )

    def forms(self, found: Collection[str]) -> frozenset[str]:
        """Return terms of the topic with their other forms."""
        return frozenset(form for term in found for form in self.every[term])


_OPENING = re.compile(r"[\W_]*((?:[A-Z\u00c0-\u00de][\w-]+ ?){1,3})")
"""The words with a capital with which a statement begins."""


@lru_cache(maxsize=1 << 12)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset((*index_terms(text).terms, *words(text)))


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

    It answers the question nearly as well as the hit, or is news about what both name, or belongs
    to the next dated state of the hit. No line of the hit itself is later. A line may begin with
    its own day. One after `today` is yet to come.
    """
    held = topic.hit.text.splitlines()
    own = {tuple(words(line)) for line in held}
    is_dated = any(opening_date(line, months=False)[0] for line in held)
    found: list[tuple[float, Text, str, str]] = []
    for text in newer:
        is_next = _is_next_state(topic.hit, text)
        for line in text.text.splitlines()[:MAX_LINES]:
            opened = opening_date(line, months=False)[0]
            day = opened or text.day
            is_later = topic.hit.day < day or (opened == topic.hit.day and not is_dated)
            if not is_later or day > today or line.startswith((">", "#")):
                continue
            if tuple(words(line)) in own:
                continue
            score = _score(topic, line, without_dates(text.context), weights)
            if score or (is_next and any(map(str.isalnum, line))):
                found.append((score, text, line, day))
    best = max((score for score, *_ in found), default=0.0)
    near = [one for one in found if one[0] >= _NEAR * best]
    if not near:
        return None
    _, text, line, day = max(near, key=lambda one: (one[3], one[0]))
    return text, line, day


def _score(topic: Topic, line: str, above: str, weights: TermWeights) -> float:
    """Return the weight of what a line has of a question, or of the names of a hit, or 0.

    A sentence has most of what is asked, or some of it with a key of the hit or as news, or with a
    name a name asked for, or some of what the hit has. The only word asked for is not
    enough, except in the heading above. News may have only a name; it is about what was named up to
    it. Questions, plans and quotes say nothing, and neither does what repeats a line of the hit.
    """
    stated, news, asked = frozenset[str](), frozenset[str](), frozenset[str]()
    over, under = _terms_of(above), _terms_of(above.rpartition(" › ")[2])
    is_dated = bool(opening_date(line)[0])
    for start, end in sentences(line):
        reading, held = read(line[start:end]), _terms_of(line[start:end])
        if reading.is_open:
            continue
        stated |= held
        news = stated if reading.is_news else news
        if is_dated or topic.asked_in(held | under):
            asked = max(asked, topic.asked_in(held | over), key=len)
    if not news and (not stated or any(stated <= one for one in topic.stated)):
        return 0.0
    telling, every = weights.telling, sum(weights.asked.values())
    score = sum(weights.asked.get(term, 0.0) for term in asked)
    named = {term for term in topic.names if not stated.isdisjoint(topic.names[term])}
    is_keyed = read(line).key in topic.keys and not are_apart(topic.hit.context, above)
    common = sum(weights.asked.get(term, 0.0) for term in topic.common)
    is_fresh = is_keyed or not news.isdisjoint(topic.forms(asked))
    is_wide = len(topic.asked) > 1 or bool(topic.asked_in(under))
    is_enough = score >= (SOME if is_fresh else MOST) * every and (is_fresh or is_wide)
    is_about = score >= SOME * common or not topic.named.isdisjoint(topic.forms(asked))
    is_enough |= bool(named & telling.keys()) and is_about
    if asked & telling.keys() and is_enough:
        return score
    return sum(telling.get(t, 0.0) for t in named if not news.isdisjoint(topic.names[t]))


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
