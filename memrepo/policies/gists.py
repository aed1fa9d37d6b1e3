"""What recall shows of an old note, made offline: its heading, tags and salient sentences."""

from __future__ import annotations

import re
from collections import Counter

from memrepo.core.ids import visible
from memrepo.core.memory import Gist, Memory
from memrepo.policies.matching import tokens

SENTENCES, LENGTH, TAGS, TITLE = 3, 400, 5, 120
"""The most that a gist holds: sentences, characters of its summary, tags, and of its title."""
_CUT = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_MARKS = re.compile(r"^[\s>#*+\-|]+|[\s|]+$")
_TELLING = frozenset(
    "decided decision agreed must never always learned because fixed shipped chose deadline"
    " entschieden beschlossen immer nie décidé toujours jamais decidido siempre nunca".split()
)
_OFTEN, _SALIENT = 3, 4
"""What a word counts at most, and what a word that tells of an outcome adds."""


def gist_of(note: Memory) -> Gist:
    """Return the gist of a note; equal notes have equal gists, whoever makes them and when."""
    said = sentences(note.body)
    counts = Counter(word for one in said for word in tokens(one) if len(word) > 3)
    title = " ".join(visible(note.text("title") or (said[0] if said else note.slug)).split())
    common = [w for w, n in sorted(counts.items(), key=lambda p: (-p[1], p[0])) if n > 1]
    tags = tuple(dict.fromkeys((*note.texts("tags"), *common)))[:TAGS]
    return Gist(title=title[:TITLE].rstrip(), tags=tags, summary=_summary(said, counts))


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences and list items, without the marks that begin a line."""
    found = (" ".join(_MARKS.sub("", visible(part)).split()) for part in _CUT.split(text))
    return [part for part in found if part]


def _summary(said: list[str], counts: Counter[str]) -> str:
    ranked = sorted(range(len(said)), key=lambda n: (-_weight(said[n], counts), n))
    kept: list[int] = []
    for number in ranked[:SENTENCES]:
        if len(" ".join(said[n] for n in (*kept, number))) <= LENGTH:
            kept.append(number)
    if not kept and ranked:
        return said[ranked[0]][: LENGTH - 1].rstrip() + "…"
    return " ".join(said[n] for n in sorted(kept))


def _weight(sentence: str, counts: Counter[str]) -> float:
    words = tokens(sentence)
    if not words:
        return 0.0
    common = sum(min(counts[word], _OFTEN) for word in words) / len(words)
    return common + _SALIENT * len(words & _TELLING)
