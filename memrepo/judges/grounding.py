"""Whether memories support what a judge makes of them: nothing may stand there that they lack.

Words are compared, not meanings: every word, name and number of a gist must stand in its note,
and no sentence may lose or gain a negation against the sentence it is made of. A sentence that
joins words of several true ones into a false one is not found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from memrepo.core.ids import normalise, visible
from memrepo.core.judge import Summary, SummaryRequest
from memrepo.core.memory import Gist, Memory
from memrepo.core.patterns import regex
from memrepo.judges.wordlists import NEGATION
from memrepo.policies import summaries
from memrepo.policies.entities import LONGEST
from memrepo.policies.gists import LENGTH, TAGS, TITLE, gist_of, sentences
from memrepo.policies.matching import tokens
from memrepo.policies.summaries import summary_of

Places = Sequence[tuple[str, str]]
"""Texts of an answer, each with the name of its field."""

_NUMBER = regex(r"\d+(?:[.,:/-]\d+)*")
_TAG = regex(r"[\w][\w .+/-]{0,39}")
_SHORT = 3
"""Words of so many letters join others; they may differ from the note's."""


def fault_in(gist: Gist, note: Memory) -> str:
    """Return what is wrong with a gist of a note, as a judge is told it; empty when it is sound."""
    if gist == gist_of(note):
        return ""
    places = [("title", gist.title), ("summary", gist.summary), *(("tags", t) for t in gist.tags)]
    bounds = {"title": TITLE, "summary": LENGTH}
    faults = chain(
        _misshapen(places, bounds),
        _bad_tags(gist.tags),
        _unsupported(places, [note], ("summary",), "the note"),
    )
    return next(faults, "")


def fault_in_summary(said: Summary, request: SummaryRequest) -> str:
    """Return what is wrong with a summary of memories, as a judge is told it."""
    if said == summary_of(request.topic, request.memories):
        return ""
    places = [("title", said.title), ("text", said.text)]
    places += [("facts", fact) for fact in said.facts]
    places += [("entities", name) for name in said.entities]
    bounds = {
        "title": summaries.TITLE,
        "text": summaries.LENGTH,
        "facts": summaries.FACT,
        "entities": LONGEST,
    }
    faults = chain(
        _misshapen(places, bounds),
        _too_many(said),
        _unsupported(places, request.memories, ("text", "facts"), "the memories", request.topic),
    )
    return next(faults, "")


def _misshapen(places: Places, bounds: Mapping[str, int]) -> Iterator[str]:
    for place, text in places:
        if text != " ".join(visible(text).split()):
            yield f"{place}: more than one line, or characters that nobody sees"
    for place, text in places:
        most = bounds.get(place, 0)
        if most and not 0 < len(text) <= most:
            yield f"{place}: {len(text)} characters, expected 1 to {most}"


def _bad_tags(tags: Sequence[str]) -> Iterator[str]:
    if len(tags) > TAGS:
        yield f"tags: {len(tags)}, expected at most {TAGS}"
    if any(not _TAG.fullmatch(tag) for tag in tags) or len(set(tags)) < len(tags):
        yield "tags: each must be one to forty letters, and none may stand twice"


def _too_many(said: Summary) -> Iterator[str]:
    if not 0 < len(said.facts) <= summaries.FACTS:
        yield f"facts: {len(said.facts)}, expected 1 to {summaries.FACTS}"
    if len(said.entities) > summaries.ENTITIES:
        yield f"entities: {len(said.entities)}, expected at most {summaries.ENTITIES}"


def _unsupported(
    places: Places,
    memories: Sequence[Memory],
    sentenced: Collection[str],
    name: str,
    beside: str = "",
) -> Iterator[str]:
    """Yield words and numbers that memories lack, and sentences whose negation differs."""
    whole = "\n".join(part for m in memories for part in _parts(m))
    known = tokens(f"{whole}\n{beside}")
    numbers = set(_NUMBER.findall(normalise(f"{whole} {beside}")))
    for place, text in places:
        if foreign := sorted(w for w in tokens(text) - known if _tells(w, text)):
            yield f"{place}: not in {name}: {', '.join(foreign[:5])}"
        if wrong := sorted(set(_NUMBER.findall(normalise(text))) - numbers):
            yield f"{place}: a number that is not in {name}: {', '.join(wrong[:5])}"
    said = sentences(whole)
    for place, text in places:
        for sentence in sentences(text) if place in sentenced else ():
            near = max(said, key=lambda s: _likeness(sentence, s), default="")
            if _negated(sentence) != _negated(near):
                yield f"{place}: a negation was lost or added"


def _parts(memory: Memory) -> Iterator[str]:
    yield from (memory.text("title"), *memory.texts("tags"), memory.text("subject"), memory.body)


def _tells(word: str, text: str) -> bool:
    """Tell whether a word may say something: it is long, no plain Latin word, or a name."""
    plain = word.isascii() and word.isalpha()
    return not plain or len(word) > _SHORT or word.upper() in text or word.capitalize() in text


def _likeness(one: str, other: str) -> float:
    mine, theirs = tokens(one), tokens(other)
    return len(mine & theirs) / (len(mine | theirs) or 1)


def _negated(text: str) -> bool:
    return bool(NEGATION.search(normalise(text)))
