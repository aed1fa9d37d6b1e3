"""Whether a note supports what a judge calls its gist: nothing may stand there that it lacks.

Words are compared, not meanings: every word, name and number of the gist must stand in the note,
and no sentence may lose or gain a negation against the sentence it is made of. A sentence that
joins words of several true ones into a false one is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memrepo.core.ids import normalise, visible
from memrepo.core.memory import Gist, Memory
from memrepo.judges.wordlists import NEGATION
from memrepo.policies.gists import LENGTH, TAGS, TITLE, gist_of, sentences
from memrepo.policies.matching import tokens

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_TAG = re.compile(r"[\w][\w .+/-]{0,39}")
_SHORT = 3
"""Words of so many letters join others; they may differ from the note's."""


def fault_in(gist: Gist, note: Memory) -> str:
    """Return what is wrong with a gist of a note, as a judge is told it; empty when it is sound."""
    if gist == gist_of(note):
        return ""
    return next(_faults(gist, note), "")


def _faults(gist: Gist, note: Memory) -> Iterator[str]:
    yield from _misshapen(gist)
    whole = "\n".join((note.text("title"), *note.texts("tags"), note.body))
    known, numbers = tokens(whole), set(_NUMBER.findall(normalise(whole)))
    for place, text in _texts(gist):
        if foreign := sorted(w for w in tokens(text) - known if _tells(w, text)):
            yield f"{place}: not in the note: {', '.join(foreign[:5])}"
        if wrong := sorted(set(_NUMBER.findall(normalise(text))) - numbers):
            yield f"{place}: a number that is not in the note: {', '.join(wrong[:5])}"
    said = sentences(whole)
    for sentence in sentences(gist.summary):
        near = max(said, key=lambda s: _likeness(sentence, s), default="")
        if _negated(sentence) != _negated(near):
            yield "summary: a negation was lost or added"


def _misshapen(gist: Gist) -> Iterator[str]:
    for place, text in _texts(gist):
        if text != " ".join(visible(text).split()):
            yield f"{place}: more than one line, or characters that nobody sees"
    for place, text, most in (("title", gist.title, TITLE), ("summary", gist.summary, LENGTH)):
        if not text or len(text) > most:
            yield f"{place}: {len(text)} characters, expected 1 to {most}"
    if len(gist.tags) > TAGS:
        yield f"tags: {len(gist.tags)}, expected at most {TAGS}"
    if any(not _TAG.fullmatch(tag) for tag in gist.tags) or len(set(gist.tags)) < len(gist.tags):
        yield "tags: each must be one to forty letters, and none may stand twice"


def _texts(gist: Gist) -> Iterator[tuple[str, str]]:
    yield "title", gist.title
    yield "summary", gist.summary
    for tag in gist.tags:
        yield "tags", tag


def _tells(word: str, text: str) -> bool:
    """Tell whether a word may say something: it is long, no plain Latin word, or a name."""
    plain = word.isascii() and word.isalpha()
    return not plain or len(word) > _SHORT or word.upper() in text or word.capitalize() in text


def _likeness(one: str, other: str) -> float:
    mine, theirs = tokens(one), tokens(other)
    return len(mine & theirs) / (len(mine | theirs) or 1)


def _negated(text: str) -> bool:
    return bool(NEGATION.search(normalise(text)))
