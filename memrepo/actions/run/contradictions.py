"""Search for contradictions among claims and memories, with one question per suspected pair.

Lineage: engram, contradiction detection. A pair is suspected if the judge named it while wording a
claim, or if rules detect a change. A model is also asked about statements that may be on the same
subject. If a pair of a claim could not be judged, the claim remains open, as after any failed
question.

Existing memories are compared once per pair, whoever wrote them. A pair is not judged again if a
person decided it, if it is flagged, or if a model accepted both. A changed text makes it eligible
again.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import Assembled, assemble, decided_pair
from memrepo.actions.run.known import Former, Known, Marks, prior_of
from memrepo.core.changes import Step, Update, fingerprints
from memrepo.core.corrections import corrections_of
from memrepo.core.ids import digest, text_hash
from memrepo.core.judge import (
    CanonicalClaim,
    Cluster,
    Contradiction,
    Finding,
    Judge,
    PriorClaim,
    Suspicion,
    Why,
)
from memrepo.core.memory import CLAIM_TYPES, Memory
from memrepo.core.state import State
from memrepo.judges.asking import Asking, PassResult, ask_pairs
from memrepo.judges.offline import FoundChange, find_change, is_of_a_day
from memrepo.policies.change import (
    MAX_VALUES,
    change_of,
    read,
    same_place,
)
from memrepo.policies.matching import INACTIVE_STANDINGS, cosine
from memrepo.policies.rules import ContradictionRules
from memrepo.policies.standing import contradicts
from memrepo.text.words import content_words

_USUAL = ContradictionRules()
NEWS = ("new_claim", "probable_duplicate", "reworded")
Pair = tuple[str, str]
"""A cluster or existing memory, and the memory with which its claim is compared."""


class VerifiedClaims(msgspec.Struct, frozen=True, kw_only=True):
    """The checked claims, the changes they lead to, and the result of the questions."""

    claims: tuple[CanonicalClaim, ...]
    made: Assembled
    asked: PassResult[Finding]
    harmless: frozenset[str] = frozenset()
    """Fingerprints of pairs that a model found compatible. They are not judged again."""


def verify_claims(
    state: State,
    groups: Sequence[Cluster],
    claims: tuple[CanonicalClaim, ...],
    former: Former,
    asking: Asking,
    statements: Statements | None = None,
    marks: Marks | None = None,
    rules: ContradictionRules = _USUAL,
    judge: Judge | None = None,
) -> VerifiedClaims:
    """Assemble claims. Assemble them again if the check for contradictions changed some.

    Replacements proposed by a model are checked like contradictions. `judge` checks the pairs, if
    it is not the judge that worded the claims.
    """
    comparing = asking
    if judge is not None and judge is not asking.judge:
        comparing = replace(asking, judge=judge, stored=None)
    asked: PassResult[Finding] = PassResult(name="contradiction")
    if not rules.enabled:
        claims = tuple(replace(c, supersedes=(), contradictions=()) for c in claims)
        made = assemble(state, groups, claims, former, asking.now, marks=marks)
        return VerifiedClaims(claims=claims, made=made, asked=asked)
    replacing: frozenset[Pair] = frozenset()
    if asking.judge.prompt_hash:
        replacing = frozenset((c.cluster_id, old) for c in claims for old in c.supersedes)
        claims = tuple(map(_doubted, claims))
    by_object = asking.by_object
    made = assemble(
        state, groups, claims, former, asking.now, marks=marks, rules=rules, by_object=by_object
    )
    is_model = bool(comparing.judge.prompt_hash)
    pool = Pool(state, made, statements, rules.similarity)
    suspicions = dict(_suspicions(made, claims, replacing, pool, is_model))
    findings = ask(suspicions, comparing, asked)
    harmless = harmless_of(suspicions, findings, comparing.judge)
    rest = tuple(_believed(c, findings) for c in claims if c.cluster_id not in asked.open)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    if not held and rest == claims:
        return VerifiedClaims(claims=claims, made=made, asked=asked, harmless=harmless)
    made = assemble(
        state, groups, rest, former, asking.now, held, marks, rules, by_object=by_object
    )
    return VerifiedClaims(claims=rest, made=made, asked=asked, harmless=harmless)


def _doubted(claim: CanonicalClaim) -> CanonicalClaim:
    """Return a claim with its replacements turned into contradictions that are to be checked."""
    if not claim.supersedes:
        return claim
    named = {c.memory_id: replace(c, relation="contested") for c in claim.contradictions}
    for old in claim.supersedes:
        doubt = Contradiction(memory_id=old, relation="contested", reason=claim.rationale)
        named.setdefault(old, doubt)
    return replace(claim, supersedes=(), contradictions=tuple(named.values()))


def _believed(claim: CanonicalClaim, findings: Mapping[Pair, Finding]) -> CanonicalClaim:
    """Return a claim, leaving out the contradictions that the check denied."""
    denied = {
        other
        for (cluster, other), found in findings.items()
        if cluster == claim.cluster_id and not found.is_contradiction
    }
    kept = tuple(c for c in claim.contradictions if c.memory_id not in denied)
    if len(kept) == len(claim.contradictions):
        return claim
    standing = "resolved" if claim.standing == "contested" and not kept else claim.standing
    return replace(claim, contradictions=kept, standing=standing)


# -- asking --------------------------------------------------------------------------------------


def pair_print(one: str, text: str, other: str, other_text: str) -> str:
    """Return the fingerprint of two memories and their texts, whichever comes first."""
    sides = sorted(([one, text_hash(text)], [other, text_hash(other_text)]))
    return digest(["compared", *sides])[:16]


def harmless_of(
    suspicions: Mapping[Pair, Suspicion], findings: Mapping[Pair, Finding], judge: Judge
) -> frozenset[str]:
    """Return the fingerprints of the pairs that a model found compatible.

    Rule-based judges yield none, because their questions cost nothing.
    """
    sides = (
        (suspicions[pair].first, suspicions[pair].second)
        for pair, found in findings.items()
        if judge.prompt_hash and not found.is_contradiction
    )
    return frozenset(
        pair_print(one.memory_id, one.text, other.memory_id, other.text) for one, other in sides
    )


def ask(
    suspicions: Mapping[Pair, Suspicion], asking: Asking, asked: PassResult[Finding]
) -> dict[Pair, Finding]:
    """Return findings by pair. Each question is repeated once if the answer is unusable.

    A pair without a usable answer is missing from the result. If the dates of the evidence
    contradict the order in an answer, the order is unknown.
    """
    pairs = {suspicion.pair: pair for pair, suspicion in suspicions.items()}
    found = ask_pairs(list(suspicions.values()), asking)
    asked.join(found)
    asked.refused |= {pairs[id_][0]: why for id_, why in found.refused.items()}
    asked.left |= {pairs[id_][0] for id_ in found.left}
    answers: dict[Pair, Finding] = {}
    for finding in found.answers:
        pair = pairs[finding.pair]
        first, second = _day(suspicions[pair].first), _day(suspicions[pair].second)
        newer, older = (second, first) if finding.newer == "second" else (first, second)
        is_wrong = finding.newer != "unknown" and "" < newer < older
        answers[pair] = replace(
            finding,
            newer="unknown" if is_wrong else finding.newer,
            model=bool(asking.judge.prompt_hash),
        )
    return {pair: answers[pair] for pair in suspicions if pair in answers}


def _day(prior: PriorClaim) -> str:
    days = (s.captured[:10] for s in prior.sources if s.captured_from not in ("", "commit"))
    return max(days, default="")


# -- which pairs are suspected ---------------------------------------------------------------------

MAX_SIMILAR = 3
"""Maximum similar statements a model compares with a new one."""
MAX_ASKED = 24
"""Maximum pairs a model compares per run. The rest wait for the next run."""


def _suspicions(
    made: Assembled,
    claims: Sequence[CanonicalClaim],
    replacing: frozenset[Pair],
    pool: Pool,
    is_model: bool,
) -> Iterator[tuple[Pair, Suspicion]]:
    """Yield each suspected pair once: first those the judge named, then those that rules found."""
    became = {d.cluster_id: d for d in made.decisions}
    news = {d.memory_id for d in made.decisions if d.disposition in NEWS}
    seen: set[frozenset[str]] = set()
    left = MAX_ASKED
    for claim in claims:
        decision = became.get(claim.cluster_id)
        if decision is None:
            continue
        id_, reasons = decision.memory_id, {c.memory_id: c.reason for c in claim.contradictions}
        named = [c.memory_id for c in claim.contradictions if c.relation == "contested"]
        rows: list[tuple[str, Why]] = [
            (other, "replaced") for other in named if (claim.cluster_id, other) in replacing
        ]
        rows += [(other, "claimed") for other in named]
        if id_ in news:
            rows += pool.suspected(id_, is_model=is_model and left > 0)
            left -= sum(why == "similar" for _, why in rows)
        for other, why in rows:
            pair = frozenset((id_, other))
            is_named = why in ("claimed", "replaced")
            if pair in seen or not pool.is_open(id_, other, is_named=is_named):
                continue
            seen.add(pair)
            first, second = prior_of(pool.memories[id_]), prior_of(pool.memories[other])
            reason = reasons.get(other, "")
            suspicion = Suspicion(first=first, second=second, why=why, reason=reason)
            yield (claim.cluster_id, other), suspicion


class Pool:
    """The claims that recall will contain after the run has landed."""

    def __init__(
        self,
        state: State,
        made: Assembled | None = None,
        statements: Statements | None = None,
        similarity: float = 0.0,
    ) -> None:
        """Build the pool from a state and the changes of a run.

        `statements` is an index that may be reused.
        """
        made = made or Assembled()
        self._index = statements or Statements()
        self._similarity = similarity
        self.memories = dict(compared_in(state))
        for update in made.rewords:
            if memory := self.memories.get(update.id):
                self.memories[update.id] = memory.with_fields(update.fields, update.body)
        self.memories.update((m.id, m) for m in made.creates if is_compared(m))
        self._lost = {
            change.id
            for step in made.singles
            for change in step.changes
            if isinstance(change, Update) and change.fields.get("status") == "superseded"
        }
        self._cases = corrections_of(state)

    def is_open(self, id_: str, other: str, *, is_named: bool) -> bool:
        """Return whether a pair is still to be judged, as it is neither decided nor flagged."""
        if not {id_, other} <= self.memories.keys() or {id_, other} & self._lost:
            return False
        one, two = self.memories[id_], self.memories[other]
        if one.text("scope") != two.text("scope"):
            return False  # statements about different users or projects cannot conflict
        if same_place(one.sources, two.sources):
            return False  # consecutive words of one line belong together
        if is_named and contradicts(one, two) and contradicts(two, one):
            return False
        case = self._cases.between(id_, other)
        return case is None or not case.about({id_: one.body, other: two.body})

    def suspected(self, id_: str, *, is_model: bool) -> list[tuple[str, Why]]:
        """Return (id, reason) for each memory that may contradict a given memory.

        A model receives more pairs.
        """
        if id_ not in self.memories:
            return []
        claim, statements = prior_of(self.memories[id_]), self._statements
        rows: list[tuple[str, Why]] = [(o, "changed") for o in sorted(statements.changed(claim))]
        if is_model:
            near = statements.similar(claim, MAX_SIMILAR, self._similarity)
            rows += [(other, "similar") for other in near]
        return rows

    @cached_property
    def _statements(self) -> Statements:
        self._index.follow(self.memories)
        return self._index


class ComparedMemories(msgspec.Struct, frozen=True, kw_only=True):
    """The decided steps, the result of the questions, and the fingerprints of compatible pairs."""

    steps: tuple[Step, ...]
    asked: PassResult[Finding]
    harmless: frozenset[str] = frozenset()
    whole: bool = True
    """Whether every suspected pair was decided, so that none remains for the next run."""


def compare_memories(
    state: State,
    judge: Judge,
    now: datetime,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None = None,
    statements: Statements | None = None,
    rules: ContradictionRules = _USUAL,
) -> ComparedMemories:
    """Decide all suspected pairs of active memories, asking a model about at most MAX_ASKED.

    `never` has the fingerprints of decisions that a person reverted. `compared` has the
    fingerprints of pairs that a model found compatible. If `changed` is given, one side of each
    pair is in it. `statements` is an index that may be reused.
    """
    asked: PassResult[Finding] = PassResult(name="contradiction")
    is_model = bool(judge.prompt_hash)
    pool = Pool(state, None, statements, rules.similarity)
    pairs = _suspected_pairs(never, compared, changed, pool, is_model)
    chosen = dict(islice(pairs, MAX_ASKED) if is_model else pairs)
    findings = ask(chosen, Asking(judge=judge, now=now, local_now=now), asked)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    steps: list[Step] = []
    if held:
        marks = Marks(state.memories)
        known = Known(state=state, former=Former(), now=now, marks=marks, rules=rules)
        decided = (decided_pair(known, *pair, found) for pair, found in held.items())
        steps = [step for step in decided if step is not None]
    harmless = harmless_of(chosen, findings, judge)
    whole = len(findings) == len(chosen) and next(pairs, None) is None
    return ComparedMemories(steps=tuple(steps), asked=asked, harmless=harmless, whole=whole)


def _suspected_pairs(
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None,
    pool: Pool,
    is_model: bool,
) -> Iterator[tuple[Pair, Suspicion]]:
    """Yield the suspected pairs to judge, each with the newer memory first."""
    ids = pool.memories.keys() if changed is None else pool.memories.keys() & set(changed)
    seen: set[frozenset[str]] = set()
    for id_ in sorted(ids):
        for other, why in pool.suspected(id_, is_model=is_model):
            pair = frozenset((id_, other))
            if pair in seen:
                continue
            seen.add(pair)
            if not pool.is_open(id_, other, is_named=False):
                continue
            sides = (pool.memories[id_], pool.memories[other])
            second, first = sorted(sides, key=_age)
            if _is_decided(first, second, never, compared):
                continue
            suspicion = Suspicion(first=prior_of(first), second=prior_of(second), why=why)
            yield (first.id, second.id), suspicion


def _age(memory: Memory) -> tuple[str, str, str]:
    dated = (s.captured for s in memory.sources if s.captured_from not in ("", "commit"))
    created = memory.time("created")
    return max(dated, default=""), created.isoformat() if created else "", memory.id


def _is_decided(
    one: Memory, other: Memory, never: Collection[str], compared: Collection[str]
) -> bool:
    """Return whether a person, a flag or a model has already decided a pair."""
    if contradicts(one, other) or contradicts(other, one):
        return True
    taken_back = (fingerprints(op, (one.id, other.id)) for op in ("supersede", "flag"))
    if any(not found.isdisjoint(never) for found in taken_back):
        return True
    return pair_print(one.id, one.body, other.id, other.body) in compared


MAX_COMPARED = 12
"""Maximum number of statements to compare a statement with, chosen by its rarest words."""
MIN_SIMILARITY = 0.35
"""Minimum cosine of words for a pair that a model compares. One common name is not enough."""
MAX_RARE_WORDS, MAX_HOLDERS = 12, 2000
"""Maximum rare words that select neighbours, and maximum statements read for these words."""


def is_compared(memory: Memory) -> bool:
    """Return whether a memory is compared with new statements."""
    return (
        memory.status == "active"
        and memory.type in CLAIM_TYPES
        and memory.standing not in INACTIVE_STANDINGS
    )


def compared_in(state: State) -> Mapping[str, Memory]:
    """Return by id the memories that are compared with new statements.

    The result is cached in the state.
    """
    return state.once(_compared_in)


def _compared_in(state: State) -> Mapping[str, Memory]:
    return {memory.id: memory for memory in state.active if is_compared(memory)}


class Statements:
    """An index by words of the memories that are compared with new statements."""

    def __init__(self, memories: Mapping[str, Memory] = MappingProxyType({})) -> None:
        self._held: dict[str, Memory] = {}
        self._holders: dict[str, dict[str, None]] = {}
        self.follow(memories)

    def follow(self, memories: Mapping[str, Memory]) -> None:
        """Update the index to the given memories. Only the differences are processed."""
        old = self._held
        gone = [id_ for id_ in old if id_ not in memories]
        new = [(id_, m) for id_, m in memories.items() if old.get(id_) is not m]
        for id_ in (*gone, *(id_ for id_, _ in new if id_ in old)):
            for word in content_words(old.pop(id_).body):
                self._holders[word].pop(id_, None)
        for id_, memory in new:
            old[id_] = memory
            for word in content_words(memory.body):
                self._holders.setdefault(word, {})[id_] = None

    def prior(self, id_: str) -> PriorClaim:
        """Return an indexed memory in the form that a judge sees."""
        return prior_of(self._held[id_])

    def changed(self, claim: PriorClaim) -> dict[str, FoundChange]:
        """Map neighbours of a statement to how the statement and the neighbour change each other.

        Several values of one key form a list, so one more value changes nothing. If a statement may
        end several others, only the one whose words it repeats best counts. If that is a tie, none
        counts.
        """
        if read(claim.text).is_open or not self._held:
            return {}
        found = {}
        for id_ in self.neighbours(claim):
            if one := find_change(claim, self.prior(id_)):
                found[id_] = one
        given = [id_ for id_, one in found.items() if not one.change.stated]
        contested = [id_ for id_ in given if self._held[id_].standing == "contested"]
        if len(given) > MAX_VALUES or (len(given) > 1 and len(contested) < len(given)):
            found = {id_: one for id_, one in found.items() if id_ not in given}
        return _covered_best(found)

    def follows(self, claim: PriorClaim) -> list[str]:
        """Return the ids of other days' statements that a day's statement gives a new value."""
        if read(claim.text).is_open or not self._held or not is_of_a_day(claim.sources):
            return []
        found = {id_: self.prior(id_) for id_ in self.neighbours(claim)}
        return [
            id_
            for id_, old in found.items()
            if is_of_a_day(old.sources)
            and not same_place(old.sources, claim.sources)
            and (change := change_of(old, claim))
            and change.is_event
        ]

    def similar(self, claim: PriorClaim, most: int, above: float = 0.0) -> list[str]:
        """Return the ids of up to `most` neighbours that are most similar to a statement.

        The cosine of their words with the claim's must exceed `above` and MIN_SIMILARITY.
        """
        words, numbered, found = content_words(claim.text), read(claim.text).numbered, []
        for id_ in self.neighbours(claim):
            text = self._held[id_].body
            others = read(text).numbered
            if numbered and others and numbered.isdisjoint(others):
                continue  # bed 3 is not bed 4
            if (score := cosine(words, content_words(text))) > max(above, MIN_SIMILARITY):
                found.append((-score, id_))
        return [id_ for _, id_ in sorted(found)][:most]

    def neighbours(self, claim: PriorClaim) -> list[str]:
        """Return the ids of statements that share rare words with a claim, most relevant first."""
        held = {word: self._holders.get(word, {}) for word in content_words(claim.text)}
        rare = sorted((len(ids), word) for word, ids in held.items() if ids)[:MAX_RARE_WORDS]
        scores: dict[str, float] = {}
        room = MAX_HOLDERS
        for count, word in rare:
            if scores and count > room:
                break
            room -= count
            weight = math.log(1 + len(self._held) / count)
            for id_ in held[word]:
                scores[id_] = scores.get(id_, 0) + weight
        scores.pop(claim.memory_id, None)
        best = heapq.nsmallest(MAX_COMPARED, ((-score, id_) for id_, score in scores.items()))
        return [id_ for _, id_ in best]


def _covered_best(found: Mapping[str, FoundChange]) -> dict[str, FoundChange]:
    """Drop changes that end a statement, except the change that covers its statement best.

    If several are covered equally well, none of them is returned.
    """
    ended = {id_: one for id_, one in found.items() if one.change.stated}
    if len(ended) < 2:
        return dict(found)
    best = max(one.change.cover for one in ended.values())
    best_ids = [id_ for id_, one in ended.items() if one.change.cover == best]
    return {
        id_: one
        for id_, one in found.items()
        if id_ not in ended or (len(best_ids) == 1 and id_ == best_ids[0])
    }
