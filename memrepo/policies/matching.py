"""Whether a claim is known already, and which statements are alike: keys and cosines.

Tell whether a claim is known already: reuse keys and probable duplicates.

Lineage: memory-purifier, assembly (reuse by normalised triple; composite score, threshold 0.80).
Deliberate differences:

- Where both objects are present and differ, a claim is no duplicate unless the texts agree by half
  (Jaccard >= 0.5, and 0.7 where the objects share no word): "port 8080" and "port 9090" differ in
  one word and are two statements.
- An empty subject or predicate equals nothing, else all bullets under one heading were duplicates.
- Texts are compared by words, or by pairs of characters in scripts without blanks.
"""

from __future__ import annotations

import math
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from functools import lru_cache

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judge import CanonicalClaim, PriorClaim, Wording
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.text.tokens import content_words

DUPLICATE_THRESHOLD = 0.80
DIFFERENT_OBJECT_JACCARD = 0.5
APART_OBJECT_JACCARD = 0.7
"""Two objects without a common word: "loves basil" and "loves mint" are two statements."""
INACTIVE_STANDINGS = ("stale", "retire_candidate")

ReuseKey = tuple[str, str, str]

_ARTICLE = regex(r"^(?:the|a|an) (?=\S)")
_SUFFIXES = (("ing", 3), ("ed", 3), ("s", 4))


class Statement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is compared of a claim: its triple, text and home."""

    subject: str
    predicate: str
    object: str
    text: str
    home: str


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that a claim probably repeats, with the composite score and its spelling."""

    memory_id: str
    score: float
    reason: str


class PriorIndex:
    """Active priors under the three keys by which a duplicate can reach the threshold.

    It grows while a run makes claims, so that these are compared with each other too. Keys are made
    of the priors of a subject that is asked for: of a large store these are few.
    """

    __slots__ = (
        "_alike",
        "_by_key",
        "_by_object",
        "_by_tokens",
        "_met",
        "_named",
        "_of",
        "_spelled",
        "_waiting",
    )

    def __init__(
        self, priors: Iterable[PriorClaim] | Callable[[str], Iterable[PriorClaim]] = ()
    ) -> None:
        """Index priors, or what finds those of a subject; stale and retired ones stay out."""
        self._by_key: dict[ReuseKey, list[PriorClaim]] = {}
        self._by_object: dict[ReuseKey, list[PriorClaim]] = {}
        self._alike: dict[tuple[str, str], list[PriorClaim]] = {}
        self._by_tokens: dict[tuple[str, str], dict[frozenset[str], list[PriorClaim]]] = {}
        self._waiting: dict[str, list[PriorClaim]] = {}
        self._spelled: list[str] = []
        self._named: dict[str, list[str]] = {}
        self._met: set[str] = set()
        self._of: Callable[[str], Iterable[PriorClaim]] = lambda _: ()
        if callable(priors):
            self._of = priors
        else:
            for prior in priors:
                self.add(prior)

    def add(self, prior: PriorClaim) -> None:
        """Add a prior, unless its standing is stale or retired or it has no subject or home."""
        if (same := self._waiting.get(prior.subject)) is None:
            same = self._waiting[prior.subject] = []
            self._spelled.append(prior.subject)
        same.append(prior)

    def _meet(self, subject: str) -> None:
        """Make the keys of the priors of a subject, however it is spelled, that wait for them."""
        if subject not in self._met:
            self._met.add(subject)
            for prior in self._of(subject):
                self._put(prior)
        for spelled in self._spelled:
            self._named.setdefault(normal_subject(spelled), []).append(spelled)
        self._spelled.clear()
        for spelled in self._named.get(subject, ()):
            for prior in self._waiting[spelled]:
                self._put(prior)
            self._waiting[spelled].clear()

    def _put(self, prior: PriorClaim) -> None:
        subject, home = normal_subject(prior.subject), prior.home.strip()
        if prior.standing in INACTIVE_STANDINGS or not (subject and home):
            return
        if key := reuse_key(prior.subject, prior.predicate, prior.home):
            self._by_key.setdefault(key, []).append(prior)
        if object_ := normal_subject(prior.object):
            self._by_object.setdefault((subject, home, object_), []).append(prior)
        self._alike.setdefault((subject, home), []).append(prior)
        if (cut := self._by_tokens.get((subject, home))) is not None:
            cut.setdefault(content_words(prior.text), []).append(prior)

    def with_key(self, statement: Statement) -> tuple[PriorClaim, ...]:
        """Return the priors with the same reuse key: newest evidence first, then by id."""
        key = reuse_key(statement.subject, statement.predicate, statement.home)
        if key is None:
            return ()
        self._meet(key[0])
        found = sorted(self._by_key.get(key, ()), key=lambda p: p.memory_id)
        return tuple(sorted(found, key=newest_capture, reverse=True))

    def near(self, statement: Statement) -> tuple[PriorClaim, ...]:
        """Return every prior that may score 0.80: same subject and home, and one thing more.

        Without an equal subject the score ends at 0.70; with one it needs the same predicate, the
        same set of tokens or the same object. Three look-ups so find what a comparison with every
        prior would find.
        """
        subject, home = normal_subject(statement.subject), statement.home.strip()
        if not (subject and home):
            return ()
        self._meet(subject)
        found = [*self._with_tokens(subject, home).get(content_words(statement.text), ())]
        if object_ := normal_subject(statement.object):
            found += self._by_object.get((subject, home, object_), ())
        return tuple({p.memory_id: p for p in (*found, *self.with_key(statement))}.values())

    def _with_tokens(
        self, subject: str, home: str
    ) -> Mapping[frozenset[str], Sequence[PriorClaim]]:
        """Return the priors of a subject by their tokens; the texts of others are not cut."""
        cut = self._by_tokens.get((subject, home))
        if cut is None:
            cut = self._by_tokens[subject, home] = {}
            for prior in self._alike.get((subject, home), ()):
                cut.setdefault(content_words(prior.text), []).append(prior)
        return cut


@lru_cache(maxsize=1 << 14)
def normal_subject(text: str) -> str:
    """Fold a subject or object: no leading article, no plain plural s (`windows` is `window`)."""
    text = _ARTICLE.sub("", normalise(text))
    plural = len(text) >= 4 and text[-1] == "s" and text[-2] not in "saeiou"
    return text[:-1] if plural else text


def normal_predicate(text: str) -> str:
    """Fold a predicate: the first suffix of ing, ed, s whose stem is long enough goes."""
    text = normalise(text)
    for suffix, stem in _SUFFIXES:
        if text.endswith(suffix) and len(text) - len(suffix) >= stem:
            return text[: -len(suffix)]
    return text


def reuse_key(subject: str, predicate: str, home: str) -> ReuseKey | None:
    """Return the normalised triple under which a claim is reused; None where a part is empty."""
    key = (normal_subject(subject), normal_predicate(predicate), home.strip())
    return key if all(key) else None


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common tokens, 0 to 1; 0 where both sets are empty."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def statement_of(claim: CanonicalClaim | PriorClaim) -> Statement:
    """Return what is compared of a claim."""
    said = claim.wording if isinstance(claim, CanonicalClaim) else claim
    return Statement(
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        text=said.said if isinstance(said, Wording) else said.text,
        home=claim.home,
    )


def duplicate_score(one: Statement, other: Statement) -> float:
    """Return the composite score of two statements, four decimals.

    0.4 subject + 0.2 predicate + 0.2 home + 0.2 Jaccard of texts + 0.1 for equal objects; 0 for
    different homes, and for different objects whose texts agree by less than half (0.7 where
    the objects share no word).
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
    """Return the newest ISO date of a prior's evidence, or an empty string."""
    return max((s.captured for s in prior.sources), default="")


def probable_duplicate(statement: Statement, index: PriorIndex) -> Duplicate | None:
    """Return the best prior that scores 0.80 or more; ties go to the smallest id."""
    near = index.near(statement)
    scored = [(-duplicate_score(statement, statement_of(p)), p.memory_id) for p in near]
    score, memory_id = min(scored, default=(0.0, ""))
    if -score < DUPLICATE_THRESHOLD:
        return None
    return Duplicate(memory_id=memory_id, score=-score, reason=f"composite_{-score:.2f}_subject")


def cosine(one: frozenset[str], other: Collection[str]) -> float:
    """Return the cosine of two sets of words, 0 to 1; 0 where one is empty."""
    if not one or not other:
        return 0.0
    return len(one.intersection(other)) / math.sqrt(len(one) * len(other))


AKIN = 0.4
"""From this cosine on a memory is suggested as a link of another."""
FEW = 3


def akin(memory: Memory, others: Iterable[Memory]) -> list[tuple[Memory, float]]:
    """Return the few memories of its scope whose words are most like a memory's, best first."""
    mine, scope = content_words(memory.body), memory.text("scope")
    scored = [
        (other, cosine(mine, content_words(other.body)))
        for other in others
        if other.id != memory.id and other.text("scope") == scope
    ]
    alike = [(other, round(score, 2)) for other, score in scored if score >= AKIN]
    return sorted(alike, key=lambda pair: (-pair[1], pair[0].id))[:FEW]
