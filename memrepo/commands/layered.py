"""`memrepo search --layered`: tier by tier, and stop at the first that answers.

Lineage: context-clear, layered search; two to five words, no more than three hits at once, and an
honest answer where nothing is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memrepo.commands.recalling import Recalled, recall
from memrepo.commands.session import Desk
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import normalise
from memrepo.policies.gists import gist_of
from memrepo.policies.tiers import TIERS
from memrepo.store.index import Filter, Index

WORDS = (2, 5)
MANY = 3
_READ = 200


class WordCount(MemrepoError):
    """A layered search takes two to five words: one finds too much, many find by accident."""

    exit_code = Exit.USAGE

    def __init__(self, count: int) -> None:
        super().__init__(
            f"found {count} {'word' if count == 1 else 'words'}, expected {WORDS[0]} to {WORDS[1]}",
            fix="name the words that matter most, from the question and what was said before",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Layered:
    """What the first tier that answered holds; `hits` is empty where there are too many."""

    tier: str = ""
    hits: tuple[Recalled, ...] = ()
    count: int = 0

    @property
    def too_many(self) -> bool:
        """Tell whether so many notes match that none was read."""
        return self.count > MANY

    def told(self, words: str) -> str:
        """Say how the search ended, where it did not end in hits."""
        if self.too_many:
            return (
                f"{self.count} notes of tier {self.tier} match {words!r}, more than {MANY}:"
                " use narrower words; none was read"
            )
        return (
            f"no note about {words!r} was found. Possible reasons:\n"
            "- it was never written down\n"
            "- it was forgotten and has left the tree (`memrepo log --op prune` and git have it)\n"
            "- the words are not the right ones: try others"
        )


def layered(desk: Desk, index: Index, words: Sequence[str], now: datetime) -> Layered:
    """Ask hot, warm, gist (tags first, then words) and forgotten notes in turn; raises WordCount.

    A note matches that holds every word.
    """
    asked = [word for text in words for word in normalise(text).split()]
    if not WORDS[0] <= len(asked) <= WORDS[1]:
        raise WordCount(len(asked))
    found = recall(desk, index, words, Filter(types=("note",), limit=_READ), now)
    for tier in TIERS:
        mine = [one for one in found if one.tier == tier]
        hits = _tagged(mine, asked) if tier == "gist" else []
        hits = hits or [one for one in mine if _holds(one, asked)]
        if hits:
            kept = tuple(hits) if len(hits) <= MANY else ()
            return Layered(tier=tier, hits=kept, count=len(hits))
    return Layered()


def _tagged(found: Sequence[Recalled], asked: Sequence[str]) -> list[Recalled]:
    hits = []
    for one in found:
        gist = one.memory.fields.get("gist") or gist_of(one.memory)
        tags = normalise(" ".join((*gist.tags, *one.memory.texts("tags"))))
        if all(word in tags for word in asked):
            hits.append(one)
    return hits


def _holds(one: Recalled, asked: Sequence[str]) -> bool:
    text = normalise(f"{one.memory.text('title')} {one.memory.body}")
    return all(word in text for word in asked)
