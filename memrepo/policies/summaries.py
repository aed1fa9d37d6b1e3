"""What a summary of several memories says: made offline here, and laid out for its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memrepo.core.judge import Summary
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.policies.entities import mentions
from memrepo.policies.gists import clipped, sentences, telling, word_counts

TITLE, SENTENCES, LENGTH = 120, 4, 600
FACTS, FACT, ENTITIES = 10, 240, 10
"""The most that a summary holds: characters of its title, sentences and characters of its text,
facts, characters of a fact, names."""
_WORDS = 3


def summary_of(topic: str, memories: Sequence[Memory]) -> Summary:
    """Return the most telling sentences of memories; equal memories have equal summaries."""
    said = list(dict.fromkeys(s for m in memories for s in sentences(without_secrets(m.body))))
    counts = word_counts(said)
    text = telling(said, counts, SENTENCES, LENGTH)
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
    """Lay out a summary as the body of a memory: text, facts, names, and the time it covers."""
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
