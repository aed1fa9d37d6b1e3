"""`memrepo search --layered`: tier by tier, and stop at the first that answers.

Lineage: context-clear, layered search; two to five words, no more than three hits at once, and an
honest answer where nothing is found. Deliberate difference: a note answers that holds all of the
words, in any form, so that a common word in a fresh note does not hide the old one that is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.recall import Recalled, holding, recall
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import counted
from memrepo.policies.gists import gist_of
from memrepo.policies.rules import Weights
from memrepo.policies.tiers import TIERS
from memrepo.store.index import Filter, Index
from memrepo.text.terms import query_terms, telling_words, terms

WORDS = (2, 5)
MANY = 3


class WordCount(MemrepoError):
    """A layered search takes two to five words: one finds too much, many find by accident."""

    exit_code = Exit.USAGE

    def __init__(self, count: int) -> None:
        super().__init__(
            f"found {counted(count, 'distinctive word', 'distinctive words')} what is looked for,"
            f" expected {WORDS[0]} to {WORDS[1]}",
            fix="name the words that matter most, from the question and the conversation",
        )


class NotLayered(MemrepoError):
    """A layered search looks at the notes of now, in all their tiers."""

    exit_code = Exit.USAGE

    def __init__(self, option: str) -> None:
        super().__init__(
            f"--layered looks at the active notes as they are now, and found {option} with it",
            fix=f"leave out {option}, or --layered",
        )


class Layered(msgspec.Struct, frozen=True, kw_only=True):
    """What the first tier that answered holds; `hits` is empty where there are too many.

    Where no note answered, `partly` counts the notes that hold some of the words, and `others` the
    memories that hold them all and are no notes.
    """

    tier: str = ""
    hits: tuple[Recalled, ...] = ()
    count: int = 0
    partly: int = 0
    others: int = 0

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
        lines = [
            f"no note about {words!r} was found. Possible reasons:",
            "- it was never written down",
            "- it was forgotten and has left the tree (`memrepo log --op prune` and git have it)",
            "- the words are not the right ones: try others",
        ]
        if self.partly:
            notes = counted(self.partly, "note holds", "notes hold")
            lines.append(f"{notes} some of the words (`memrepo search --type note`)")
        if self.others:
            memories = counted(self.others, "other memory holds", "other memories hold")
            lines.append(f"{memories} them all (`memrepo search`)")
        return "\n".join(lines)


def layered(
    work: Work, index: Index, words: Sequence[str], only: Filter, now: datetime, weights: Weights
) -> Layered:
    """Ask hot, warm, gist (tags first, then words) and forgotten notes in turn; raises WordCount.

    A note matches that holds every word, but for those that only ask and join.
    """
    asked = [word for text in words for word in text.split()]
    telling = len(telling_words(" ".join(asked)))
    if not WORDS[0] <= telling <= WORDS[1]:
        raise WordCount(telling)
    notes = replace(only, types=("note",))
    found = holding(work, index, asked, notes, now)
    for tier in TIERS:
        mine = [one for one in found if one.tier == tier]
        hits = (_tagged(mine, asked) if tier == "gist" else []) or mine
        if len(hits) > MANY:
            return Layered(tier=tier, count=len(hits))
        if hits:
            paths = frozenset(one.memory.path for one in hits)
            best = recall(work, index, asked, replace(notes, paths=paths), now, weights)
            return Layered(tier=tier, hits=tuple(best.hits), count=len(hits))
    others = len(index.holding(asked, only))
    return Layered(partly=index.count(asked, notes)[0], others=others)


def _tagged(found: Sequence[Recalled], asked: Sequence[str]) -> list[Recalled]:
    hits = []
    for one in found:
        gist = one.memory.fields.get("gist") or gist_of(one.memory)
        tags = set(terms(" ".join((*gist.tags, *one.memory.texts("tags")))))
        if tags.issuperset(query_terms(" ".join(asked))):
            hits.append(one)
    return hits
