"""Find the latest line that answers the same question as a search hit.

Nothing is decided by it: recall shows the line below the hit. It is a line of the next hits, and
the weights of the words that it has of the question decide whether it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from typing import TypeVar

import msgspec

from memrepo.core.memory import Memory
from memrepo.policies.phrases import read
from memrepo.policies.ranking import Corpus
from memrepo.policies.standing import changed_at, contradicts
from memrepo.text.dates import opening_date, without_dates
from memrepo.text.sentences import sentences
from memrepo.text.words import function_words, index_terms, small_words

MAX_LINES = 40
"""Maximum lines of a text that are compared."""
SHARE = 0.3
"""The least share of a question, by weight, that a later line has."""
MIN_SHARED = 2
"""The least words in the same order of two lines that say the same of two things."""
_T = TypeVar("_T")


class Text(msgspec.Struct, frozen=True, kw_only=True):
    """A text with its day, its place, and the headings above it, outermost first.

    `subject` is the person or project whose note states it.
    """

    text: str
    context: str
    day: str
    path: str = ""
    subject: str = ""


@lru_cache(maxsize=1 << 12)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(index_terms(without_dates(text)).terms)


def later_line(
    hit: Text, others: Sequence[Text], corpus: Corpus, today: str = "9999"
) -> tuple[Text, str, str] | None:
    """Return the latest line about what a question and a hit have in common, or None.

    Return it with its text and its day. A line may begin with its own day. One after `today` is yet
    to come. Questions, plans and quotes say nothing, and neither does what repeats a line of the
    hit. A line with one word asked for is about the same if the hit has no other of these words,
    if the word is in the line's heading, or if the line names what the hit answers.
    """
    lines = [(_terms_of(line), above) for line, above in _lines(hit, hit.context)]
    stated = [own | above for own, above in lines]
    who = _terms_of(hit.subject)
    common = corpus.telling(frozenset().union(*stated))
    answers = frozenset().union(*(own for own, above in lines if corpus.telling(own | above)))
    values = answers - corpus.holders.keys() - function_words()
    found: list[tuple[str, float, Text, str]] = []
    for text in others:
        for line, above in _lines(text, text.context.rpartition(" › ")[2]):
            day = opening_date(line, months=False)[0] or text.day
            if not hit.day < day <= today or line.startswith(">"):
                continue
            parts = [line[start:end] for start, end in sentences(line)]
            own = _terms_of(" ".join(part for part in parts if not _is_open(part)))
            share = corpus.share(own | above)
            if who and who.isdisjoint(own | _terms_of(text.context)):
                continue  # of somebody else
            is_repeated = any(own <= one for one in stated)
            told = corpus.telling(own | above)
            is_named = told >= common > set() or common & corpus.telling(above)
            is_about = share >= SHARE and (len(told) > 1 or is_named)
            if is_repeated or not (is_about or (told and values & own)):
                continue
            if not _is_of_another(hit, line, corpus.rarest_missing(own | above)):
                found.append((day, share, text, line))
    if not found:
        return None
    day, _, text, line = max(found, key=lambda one: one[:2])
    return text, line, day


def _is_open(sentence: str) -> bool:
    """Return whether a sentence asks or plans. News of this week is no plan."""
    reading = read(sentence)
    return reading.is_open and not (reading.is_news and "?" not in sentence)


def _is_of_another(hit: Text, line: str, missing: Set[str]) -> bool:
    """Return whether a line says the same as a line of the hit of something else than is asked.

    Between two words that both have in this order, it has other words for one that is asked.
    """
    new = [_sequence(line[start:end]) for start, end in sentences(line)]
    stated = (old[start:end] for old, _ in _lines(hit, "") for start, end in sentences(old))
    return any(_replaces_word(_sequence(one), other, missing) for one in stated for other in new)


def _sequence(text: str) -> list[str]:
    """Return the terms of a text in their order, without those of small words."""
    found, language = index_terms(without_dates(text))
    return [term for term in found if term not in small_words().get(language, ())]


def _replaces_word(old: Sequence[str], new: Sequence[str], missing: Set[str]) -> bool:
    """Return whether, of two texts that share words in order, one has another word in a place."""
    shared = at = last = 0
    is_replaced = False
    for place, term in enumerate(old):
        if term in new[at:]:
            found = new.index(term, at)
            is_replaced |= found > at and not missing.isdisjoint(old[last:place])
            shared, at, last = shared + 1, found + 1, place + 1
    return is_replaced and shared >= MIN_SHARED


def _lines(text: Text, context: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the lines of a text, each with the terms of the context or of a heading above it."""
    above = _terms_of(context)
    for line in text.text.splitlines()[:MAX_LINES]:
        if line.startswith("#"):
            above = _terms_of(line)
        else:
            yield line, above


def newer_first(found: Sequence[_T], is_newer: Callable[[_T, _T], bool]) -> list[_T]:
    """Return what was found, each after those behind it that are newer than it and as good."""
    order: list[_T] = []
    for one in found:
        place = next((n for n, other in enumerate(order) if is_newer(one, other)), len(order))
        order.insert(place, one)
    return order


def replaces(new: Memory, old: Memory) -> bool:
    """Return whether a memory contradicts another one and was changed later."""
    is_doubted = new.standing == old.standing == "contested" and contradicts(new, old)
    return is_doubted and changed_at(new) > changed_at(old)
