"""Shorten notes and summarise groups of memories by rules, without a model.

Recall shows the gist of an old note: its title, tags and most important sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memrepo.core.ids import visible
from memrepo.core.judge import Summary
from memrepo.core.memory import Gist, Memory
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.policies.entities import mentions
from memrepo.text.tables import entries
from memrepo.text.tokens import content_words

SENTENCES, LENGTH, TAGS, TITLE = 3, 400, 5, 120
"""Limits of a gist: sentences and characters of the summary, tags, and characters of the title."""
_CUT = regex(r"(?<=[.!?。！？])\s+|\n+")
_MARKS = regex(r"^[\s>#*+\-|]+|[\s|]+$")
_OFTEN, _SALIENT = 3, 4
"""The maximum count of a word, and the bonus for each distinctive word of an outcome."""


def gist_of(note: Memory) -> Gist:
    """Return the gist of a note, computed from the note only."""
    said = sentences(without_secrets(note.body))
    counts = word_counts(said)
    title = without_secrets(note.text("title")) or (said[0] if said else note.slug)
    title = " ".join(visible(title).split())
    common = [w for w, n in sorted(counts.items(), key=lambda p: (-p[1], p[0])) if n > 1]
    tags = tuple(dict.fromkeys((*note.texts("tags"), *common)))[:TAGS]
    return Gist(
        title=title[:TITLE].rstrip(),
        tags=tags,
        summary=" ".join(telling(said, counts, SENTENCES, LENGTH)),
    )


def sentences(text: str) -> list[str]:
    """Split a text into sentences and list items, and remove list and heading markers."""
    found = (" ".join(_MARKS.sub("", visible(part)).split()) for part in _CUT.split(text))
    return [part for part in found if part]


def word_counts(said: Iterable[str]) -> Counter[str]:
    """Count, for each word of more than three letters, the sentences that contain it."""
    return Counter(word for one in said for word in content_words(one) if len(word) > 3)


def telling(said: Sequence[str], counts: Counter[str], most: int, length: int) -> list[str]:
    """Return the most important sentences in text order.

    There are at most `most` sentences with `length` characters in all. A single longer sentence is
    truncated.
    """

    def weight(sentence: str) -> float:
        words = content_words(sentence)
        common = sum(min(counts[word], _OFTEN) for word in words) / max(1, len(words))
        return common + _SALIENT * len(words & outcomes)

    outcomes = frozenset(entries("language", "outcome"))
    ranked = sorted(range(len(said)), key=lambda n: (-weight(said[n]), n))
    kept: list[int] = []
    for number in ranked[:most]:
        if len(" ".join(said[n] for n in (*kept, number))) <= length:
            kept.append(number)
    if not kept and ranked:
        return [clipped(said[ranked[0]], length)]
    return [said[n] for n in sorted(kept)]


def clipped(sentence: str, length: int) -> str:
    """Truncate a sentence to `length` characters."""
    return sentence if len(sentence) <= length else sentence[: length - 1].rstrip() + "…"


SUMMARY_SENTENCES, SUMMARY_LENGTH = 4, 600
FACTS, FACT, ENTITIES = 10, 240, 10
"""Limits of a summary: facts, characters per fact, and names."""
_WORDS = 3


def summary_of(topic: str, memories: Sequence[Memory]) -> Summary:
    """Summarise memories by selecting their most important sentences."""
    said = list(dict.fromkeys(s for m in memories for s in sentences(without_secrets(m.body))))
    counts = word_counts(said)
    text = telling(said, counts, SUMMARY_SENTENCES, SUMMARY_LENGTH)
    rest = [clipped(s, FACT) for s in said if s not in text]
    names = Counter(name for m in memories for name in mentions(m.body)[0])
    common = sorted(counts, key=lambda word: (-counts[word], word))[:_WORDS]
    return Summary(
        title=clipped(" ".join((topic or ", ".join(common) or memories[0].slug).split()), TITLE),
        text=" ".join(text),
        facts=tuple(telling(rest, counts, FACTS, FACTS * FACT)),
        entities=tuple(sorted(names, key=lambda name: (-names[name], name))[:ENTITIES]),
    )


def body_of(said: Summary, memories: Sequence[Memory]) -> str:
    """Format a summary as the body of a memory, with text, facts, names and the period covered."""
    days = sorted(filter(None, map(day_of, memories)))
    parts = [said.text]
    if said.facts:
        parts += ["## Key facts", "\n".join(f"- {fact}" for fact in said.facts)]
    if said.entities:
        parts += ["## Entities", ", ".join(said.entities)]
    span = f", from {days[0]} to {days[-1]}" if days else ""
    parts += ["## Sources", f"{counted(len(memories), 'memory', 'memories')}{span}."]
    return "\n\n".join(parts)


def day_of(memory: Memory) -> str:
    """Return the ISO date of a memory's newest evidence, or else of its creation.

    Return an empty string if both are unknown.
    """
    created = memory.time("created")
    return memory.captured[:10] or (created.date().isoformat() if created else "")
