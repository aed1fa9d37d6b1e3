"""Find prior claims that a new claim repeats.

Lineage: memory-purifier, assembly (reuse by normalised triple; composite score, threshold 0.80).
Deliberate differences:

- If both objects are present and differ, a claim is only a duplicate if the texts are similar
  (Jaccard >= 0.5, or 0.7 if the objects have no word in common). "port 8080" and "port 9090"
  differ in one word and are two statements.
- Empty subjects or predicates never match. Otherwise all bullets under a heading were duplicates.
- Texts are compared by words, or by pairs of characters in scripts without blanks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judge import PriorClaim, Statement
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.text.words import content_words

DUPLICATE_THRESHOLD = 0.80
DIFFERENT_OBJECT_JACCARD = 0.5
APART_OBJECT_JACCARD = 0.7
"""For objects without a common word: "loves basil" and "loves mint" are two statements."""
INACTIVE_STANDINGS = ("stale", "retire_candidate")

ReuseKey = tuple[str, str, str]

_ARTICLE = regex(r"^(?:the|a|an) (?=\S)")
_SUFFIXES = (("ing", 3), ("ed", 3), ("s", 4))


class ClaimParts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The parts of a claim that are compared: its triple, its text and its primary page."""

    subject: str
    predicate: str
    object: str
    text: str
    home: str


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that a claim probably duplicates, with the score and the reason."""

    memory_id: str
    score: float
    reason: str


class PriorIndex:
    """An index for finding duplicates among active prior claims, by three keys."""

    def __init__(
        self,
        priors: Iterable[PriorClaim] = (),
        of_subject: Callable[[str], Iterable[PriorClaim]] = lambda _: (),
    ) -> None:
        """Index the given prior claims, and load those of a subject when it is looked up."""
        self._by_key: dict[ReuseKey, list[PriorClaim]] = defaultdict(list)
        self._by_object: dict[ReuseKey, list[PriorClaim]] = defaultdict(list)
        self._by_words: dict[tuple[str, str, frozenset[str]], list[PriorClaim]] = defaultdict(list)
        self._loaded: set[str] = set()
        self._of_subject = of_subject
        for prior in priors:
            self.add(prior)

    def add(self, prior: PriorClaim) -> None:
        """Add a prior claim, unless it is stale, retired, or has no subject or primary page."""
        subject, home = normal_subject(prior.subject), prior.home.strip()
        if prior.standing in INACTIVE_STANDINGS or not (subject and home):
            return
        if key := reuse_key(prior.subject, prior.predicate, prior.home):
            self._by_key[key].append(prior)
        if object_ := normal_subject(prior.object):
            self._by_object[subject, home, object_].append(prior)
        self._by_words[subject, home, content_words(prior.text)].append(prior)

    def _load(self, subject: str) -> None:
        if subject not in self._loaded:
            self._loaded.add(subject)
            for prior in self._of_subject(subject):
                self.add(prior)

    def with_key(self, statement: ClaimParts) -> tuple[PriorClaim, ...]:
        """Return the prior claims with the reuse key of a statement, newest evidence first."""
        key = reuse_key(statement.subject, statement.predicate, statement.home)
        if key is None:
            return ()
        self._load(key[0])
        found = sorted(self._by_key.get(key, ()), key=lambda p: p.memory_id)
        return tuple(sorted(found, key=newest_capture, reverse=True))

    def near(self, statement: ClaimParts) -> tuple[PriorClaim, ...]:
        """Return the prior claims whose similarity to a statement may reach 0.80.

        These have the same subject and primary page, and also the same predicate, words or object.
        A different subject limits the score to 0.70. Three look-ups therefore find the same claims
        as a comparison with all.
        """
        subject, home = normal_subject(statement.subject), statement.home.strip()
        if not (subject and home):
            return ()
        self._load(subject)
        found = [*self._by_words.get((subject, home, content_words(statement.text)), ())]
        if object_ := normal_subject(statement.object):
            found += self._by_object.get((subject, home, object_), ())
        return tuple({p.memory_id: p for p in (*found, *self.with_key(statement))}.values())


@lru_cache(maxsize=1 << 14)
def normal_subject(text: str) -> str:
    """Normalise a subject or object, removing a leading article and a plural s."""
    text = _ARTICLE.sub("", normalise(text))
    plural = len(text) >= 4 and text[-1] == "s" and text[-2] not in "saeiou"
    return text[:-1] if plural else text


def normal_predicate(text: str) -> str:
    """Normalise a predicate, removing a suffix (ing, ed or s) if the stem is long enough."""
    text = normalise(text)
    for suffix, stem in _SUFFIXES:
        if text.endswith(suffix) and len(text) - len(suffix) >= stem:
            return text[: -len(suffix)]
    return text


def reuse_key(subject: str, predicate: str, home: str) -> ReuseKey | None:
    """Return the reuse key of a claim, or None if a part is empty."""
    key = (normal_subject(subject), normal_predicate(predicate), home.strip())
    return key if all(key) else None


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard index of two sets, 0 to 1. The index of two empty sets is 0."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def statement_of(claim: Statement | PriorClaim) -> ClaimParts:
    """Return the parts of a claim that are compared with other claims."""
    return ClaimParts(
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        text=claim.text,
        home=claim.home,
    )


def duplicate_score(one: ClaimParts, other: ClaimParts) -> float:
    """Return the similarity of two statements, 0 to 1.1, rounded to four decimals.

    The score is the sum of these weights:

    - 0.4 for equal subjects
    - 0.2 for equal predicates
    - 0.2 for equal primary pages
    - 0.2 times the Jaccard index of the texts
    - 0.1 for equal objects, which few claims have; so the sum may exceed 1

    It is 0 for different primary pages. It is also 0 for different objects if the Jaccard index is
    below 0.5, or below 0.7 if the objects have no word in common.
    """
    if one.home.strip() != other.home.strip():
        return 0.0
    overlap = jaccard(content_words(one.text), content_words(other.text))
    objects = normal_subject(one.object), normal_subject(other.object)
    if all(objects) and objects[0] != objects[1]:
        common = content_words(one.object) & content_words(other.object)
        if overlap < (DIFFERENT_OBJECT_JACCARD if common else APART_OBJECT_JACCARD):
            return 0.0
    subjects = normal_subject(one.subject), normal_subject(other.subject)
    predicates = normal_predicate(one.predicate), normal_predicate(other.predicate)
    score = 0.2 + 0.2 * overlap
    for (left, right), weight in ((subjects, 0.4), (predicates, 0.2), (objects, 0.1)):
        score += weight if left and left == right else 0.0
    return round(score, 4)


def newest_capture(prior: PriorClaim) -> str:
    """Return the ISO date of a claim's newest evidence, or an empty string if undated."""
    return max((s.captured for s in prior.sources), default="")


def probable_duplicate(statement: ClaimParts, index: PriorIndex) -> Duplicate | None:
    """Return the prior claim most similar to a statement, or None if no score reaches 0.80."""
    near = index.near(statement)
    scored = [(-duplicate_score(statement, statement_of(p)), p.memory_id) for p in near]
    score, memory_id = min(scored, default=(0.0, ""))
    if -score < DUPLICATE_THRESHOLD:
        return None
    return Duplicate(memory_id=memory_id, score=-score, reason=f"composite_{-score:.2f}_subject")


def cosine(one: frozenset[str], other: Collection[str]) -> float:
    """Return the cosine similarity of two sets of words, 0 to 1. With an empty set it is 0."""
    if not one or not other:
        return 0.0
    return len(one.intersection(other)) / math.sqrt(len(one) * len(other))


AKIN = 0.4
"""The minimum cosine to suggest a link between two memories."""
FEW = 3


def _may_share(words: Collection[str], text: str, least: float) -> bool:
    """Return whether a text may contain enough of the words. Splitting it takes longer."""
    low = text.lower()
    return not low.isascii() or sum(word in low for word in words) >= least


def akin(memory: Memory, others: Iterable[Memory]) -> list[tuple[Memory, float]]:
    """Return up to three memories of the same scope whose words are most similar, best first."""
    mine = content_words(memory.body)
    least = AKIN**2 * len(mine)
    scored = [
        (other, cosine(mine, content_words(other.body)))
        for other in others
        if other.id != memory.id
        and other.scope == memory.scope
        and _may_share(mine, other.body, least)
    ]
    alike = [(other, round(score, 2)) for other, score in scored if score >= AKIN]
    return sorted(alike, key=lambda pair: (-pair[1], pair[0].id))[:FEW]
