"""What recall shows of an old note, made offline: its heading, tags and salient sentences."""

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
"""The most that a gist holds: sentences, characters of its summary, tags, and of its title."""
_CUT = regex(r"(?<=[.!?。！？])\s+|\n+")
_MARKS = regex(r"^[\s>#*+\-|]+|[\s|]+$")
_OFTEN, _SALIENT = 3, 4
"""What a word counts at most, and what a distinctive word of an outcome adds."""


def gist_of(note: Memory) -> Gist:
    """Return the gist of a note; equal notes have equal gists, whoever makes them and when."""
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
    """Cut a text into its sentences and list items, without the marks that begin a line."""
    found = (" ".join(_MARKS.sub("", visible(part)).split()) for part in _CUT.split(text))
    return [part for part in found if part]


def word_counts(said: Iterable[str]) -> Counter[str]:
    """Count in how many of some sentences each longer word stands."""
    return Counter(word for one in said for word in content_words(one) if len(word) > 3)


def telling(said: Sequence[str], counts: Counter[str], most: int, length: int) -> list[str]:
    """Return the sentences that say most, at most so many and so long together, in their order."""

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
    """Return a sentence, cut where it is longer than allowed."""
    return sentence if len(sentence) <= length else sentence[: length - 1].rstrip() + "…"


SUMMARY_SENTENCES, SUMMARY_LENGTH = 4, 600
FACTS, FACT, ENTITIES = 10, 240, 10
"""The most that a summary holds: characters of its title, sentences and characters of its text,
facts, characters of a fact, names."""
_WORDS = 3


def summary_of(topic: str, memories: Sequence[Memory]) -> Summary:
    """Return the most telling sentences of memories; equal memories have equal summaries."""
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
    """Format a summary as the body of a memory: text, facts, names, and the time it covers."""
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
    """Return the ISO day of a memory's newest evidence, or that of its creation."""
    created = memory.time("created")
    return memory.captured[:10] or (created.date().isoformat() if created else "")
