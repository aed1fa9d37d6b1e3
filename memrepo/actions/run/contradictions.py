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

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.assemble import Assembled, assemble
from memrepo.actions.run.holds import fingerprints
from memrepo.core import corrections
from memrepo.core.changes import Step, Update, Write
from memrepo.core.corrections import Correction, Side, corrections_of
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
from memrepo.core.memory import OWN_ACTOR, Memory
from memrepo.core.state import State
from memrepo.judges.asking import Asked, Asking, Kept, ask_pairs
from memrepo.policies.change import same_place
from memrepo.policies.rules import ContradictionRules
from memrepo.policies.standing import contradicts, links_of, still_contested
from memrepo.purify.decisions import (
    PENDING,
    Statements,
    compared_in,
    decided_pair,
    is_compared,
    noticed,
)
from memrepo.purify.known import Former, Known, Marks, prior_of

_USUAL = ContradictionRules()
NEWS = ("new_claim", "probable_duplicate", "reworded")
Pair = tuple[str, str]
"""A cluster or existing memory, and the memory with which its claim is compared."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """The checked claims, the changes they lead to, and the result of the questions."""

    claims: tuple[CanonicalClaim, ...]
    made: Assembled
    asked: Asked[Finding]
    harmless: frozenset[str] = frozenset()
    """Fingerprints of pairs that a model found compatible. They are not judged again."""


def verified(
    state: State,
    groups: Sequence[Cluster],
    claims: tuple[CanonicalClaim, ...],
    former: Former,
    setting: Asking,
    statements: Statements | None = None,
    marks: Marks | None = None,
    rules: ContradictionRules = _USUAL,
    judge: Judge | None = None,
) -> Verified:
    """Assemble claims. Assemble them again if the check for contradictions changed some.

    Replacements proposed by a model are checked like contradictions. `judge` checks the pairs, if
    it is not the judge that worded the claims.
    """
    judge = judge or setting.judge
    asked: Asked[Finding] = Asked(name="contradiction")
    if not rules.enabled:
        claims = tuple(replace(c, supersedes=(), contradictions=()) for c in claims)
        made = assemble(state, groups, claims, former, setting.now, marks=marks)
        return Verified(claims=claims, made=made, asked=asked)
    replacing: frozenset[Pair] = frozenset()
    if setting.judge.prompt_hash:
        replacing = frozenset((c.cluster_id, old) for c in claims for old in c.supersedes)
        claims = tuple(map(_doubted, claims))
    by_object = setting.by_object
    made = assemble(
        state, groups, claims, former, setting.now, marks=marks, rules=rules, by_object=by_object
    )
    pool, is_model = Pool(state, made, statements, rules.similarity), bool(judge.prompt_hash)
    pairs = _suspicions(made, claims, replacing, pool, is_model)
    suspicions = dict(pairs)
    kept = setting.kept if judge is setting.judge else None
    findings = ask(suspicions, setting.local_now, judge, asked, kept)
    harmless = harmless_of(suspicions, findings, judge)
    rest = tuple(_believed(c, findings) for c in claims if c.cluster_id not in asked.open)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    if not held and rest == claims:
        return Verified(claims=claims, made=made, asked=asked, harmless=harmless)
    made = assemble(
        state, groups, rest, former, setting.now, held, marks, rules, by_object=by_object
    )
    return Verified(claims=rest, made=made, asked=asked, harmless=harmless)


def _doubted(claim: CanonicalClaim) -> CanonicalClaim:
    """Return a claim with its replacements turned into contradictions that are to be checked."""
    if not claim.supersedes:
        return claim
    named = {c.memory_id: replace(c, relation="contested") for c in claim.contradictions}
    for old in claim.supersedes:
        named.setdefault(
            old, Contradiction(memory_id=old, relation="contested", reason=claim.rationale)
        )
    return replace(claim, supersedes=(), contradictions=tuple(named.values()))


def _believed(claim: CanonicalClaim, findings: Mapping[Pair, Finding]) -> CanonicalClaim:
    """Return a claim, leaving out the contradictions that the check denied."""
    kept = tuple(
        said
        for said in claim.contradictions
        if (found := findings.get((claim.cluster_id, said.memory_id))) is None
        or found.is_contradiction
    )
    if len(kept) == len(claim.contradictions):
        return claim
    calmed = claim.standing == "contested" and not kept
    standing = "resolved" if calmed else claim.standing
    return replace(claim, contradictions=kept, standing=standing)


def calmed(state: State, steps: Sequence[Step], now: datetime) -> Iterator[Step]:
    """Yield steps to end contradictions that rules raised and that a run's steps resolved.

    An edited line may no longer contradict the other, or one memory may have left recall. A
    contradiction remains if a person examined it or if another memory still contradicts it.
    """
    updates = [c for step in steps for c in step.changes if isinstance(c, Update)]
    changed = {update.id for update in updates}
    flagged = {frozenset(step.memories) for step in steps if step.op == "flag"}
    cases = [
        case
        for _, case in sorted(corrections_of(state).cases.items() if changed else ())
        if case.kind == "contradiction" and (case.verdict, case.by) == ("flagged", OWN_ACTOR)
        if not changed.isdisjoint(case.memories) and frozenset(case.memories) not in flagged
    ]
    now_are = {i: state.memories[i] for c in cases for i in c.memories if i in state.memories}
    for update in updates:
        if update.id in now_are:
            now_are[update.id] = now_are[update.id].with_fields(update.fields, update.body)
    for case in cases:
        sides = [now_are[i] for i in case.memories if i in now_are]
        active = [memory for memory in sides if memory.status == "active"]
        if len(active) == len(case.sides) and noticed(*map(prior_of, active)) is None:
            step = _closed(state, case, active, now)
        elif len(active) == 1 and _is_calm(active[0], state, now_are):
            step = _ended(active[0])
        else:
            continue
        for update in (c for c in step.changes if isinstance(c, Update)):
            now_are[update.id] = now_are[update.id].with_fields(update.fields)
        yield step


def _is_calm(memory: Memory, state: State, now_are: Mapping[str, Memory]) -> bool:
    """Return whether a contested memory is no longer contradicted by any active memory."""

    def active(id_: str) -> bool:
        other = now_are.get(id_) or state.memories.get(id_)
        return other is not None and other.status == "active"

    return memory.standing == "contested" and not still_contested(memory, active, "")


def _ended(memory: Memory) -> Step:
    """Return the step that ends a memory's status as contested."""
    return Step(
        op="resolve",
        reason="what contradicted it is no longer active",
        changes=(Update(id=memory.id, fields={"standing": None}),),
    )


def _closed(state: State, case: Correction, sides: Sequence[Memory], now: datetime) -> Step:
    """Return the step that records both memories of a contradiction as valid."""
    updates = []
    for memory, other in (sides, sides[::-1]):
        links = tuple(
            x for x in links_of(memory) if (x.type, x.target) != ("contradicts", other.id)
        )
        fields: dict[str, object] = {"links": links or None}
        if memory.standing == "contested" and not any(x.type == "contradicts" for x in links):
            fields["standing"] = None
        updates.append(Update(id=memory.id, fields=fields))
    first, second = sides
    decided = replace(
        case,
        verdict="both",
        sides=(Side(memory=first.id, text=first.body), Side(memory=second.id, text=second.body)),
        decided=now,
        run=PENDING,
        reason=_EDITED,
    )
    path = corrections_of(state).place(state.layout, decided)
    return Step(
        op="resolve",
        reason=_EDITED,
        changes=(*updates, Write(path=path, data=corrections.written(path, decided))),
        memories=(first.id, second.id),
    )


_EDITED = "a line was edited, and the two no longer contradict each other"


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
    if not judge.prompt_hash:
        return frozenset()
    let_be = (suspicions[pair] for pair, found in findings.items() if not found.is_contradiction)
    return frozenset(
        pair_print(s.first.memory_id, s.first.text, s.second.memory_id, s.second.text)
        for s in let_be
    )


def ask(
    suspicions: Mapping[Pair, Suspicion],
    now: datetime,
    judge: Judge,
    asked: Asked[Finding],
    kept: Kept | None = None,
) -> dict[Pair, Finding]:
    """Return findings by pair. Each question is repeated once if the answer is unusable.

    A pair without a usable answer is missing from the result.
    """
    of = {suspicion.pair: pair for pair, suspicion in suspicions.items()}
    found = ask_pairs(list(suspicions.values()), now, judge, kept)
    asked.failures += found.failures
    asked.stopped = found.stopped
    asked.batches_done += found.batches_done
    asked.batches_left += found.batches_left
    asked.refused |= {of[id_][0]: why for id_, why in found.refused.items()}
    asked.left |= {of[id_][0] for id_ in found.left}
    by_model = bool(judge.prompt_hash)
    answers = {of[f.pair]: replace(f, model=by_model) for f in found.answers}
    return {
        pair: _dated(suspicion, answers[pair])
        for pair, suspicion in suspicions.items()
        if pair in answers
    }


def _dated(suspicion: Suspicion, found: Finding) -> Finding:
    """Return a finding with the order set to unknown if the dates of the evidence contradict it."""
    first, second = _day(suspicion.first), _day(suspicion.second)
    older = {"first": first, "second": second}.get(found.newer, "")
    newer = second if found.newer == "first" else first
    return replace(found, newer="unknown") if older and newer and older < newer else found


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
            if pair in seen or not pool.is_open(
                id_, other, is_named=why in ("claimed", "replaced")
            ):
                continue
            seen.add(pair)
            yield (
                (claim.cluster_id, other),
                Suspicion(
                    first=prior_of(pool.memories[id_]),
                    second=prior_of(pool.memories[other]),
                    why=why,
                    reason=reasons.get(other, ""),
                ),
            )


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
        self._statements = statements or Statements()
        self._is_followed = False
        self._similarity = similarity
        reworded = {u.id: u for u in made.rewords}
        self.memories = dict(compared_in(state))
        for id_ in sorted(self.memories.keys() & reworded):
            update = reworded[id_]
            self.memories[id_] = self.memories[id_].with_fields(update.fields, update.body)
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
        claim, statements = prior_of(self.memories[id_]), self._follow()
        rows: list[tuple[str, Why]] = [(o, "changed") for o in sorted(statements.changed(claim))]
        if is_model:
            near = statements.similar(claim, MAX_SIMILAR, self._similarity)
            rows += [(other, "similar") for other in near]
        return rows

    def _follow(self) -> Statements:
        if not self._is_followed:
            self._statements.follow(self.memories)
            self._is_followed = True
        return self._statements


class Among(msgspec.Struct, frozen=True, kw_only=True):
    """The decided steps, the result of the questions, and the fingerprints of compatible pairs."""

    steps: tuple[Step, ...]
    asked: Asked[Finding]
    harmless: frozenset[str] = frozenset()
    whole: bool = True
    """Whether every suspected pair was decided, so that none remains for the next run."""


def among(
    state: State,
    judge: Judge,
    now: datetime,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None = None,
    statements: Statements | None = None,
    rules: ContradictionRules = _USUAL,
) -> Among:
    """Decide all suspected pairs of active memories, asking a model about at most MAX_ASKED.

    `never` has the fingerprints of decisions that a person reverted. `compared` has the
    fingerprints of pairs that a model found compatible. If `changed` is given, one side of each
    pair is in it. `statements` is an index that may be reused.
    """
    asked: Asked[Finding] = Asked(name="contradiction")
    is_model = bool(judge.prompt_hash)
    pool = Pool(state, None, statements, rules.similarity)
    pairs = _suspected(never, compared, changed, pool, is_model)
    chosen = dict(islice(pairs, MAX_ASKED) if is_model else pairs)
    findings = ask(chosen, now, judge, asked)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    steps: list[Step] = []
    if held:
        marks = Marks(state.memories)
        known = Known(state=state, former=Former(), now=now, marks=marks, rules=rules)
        decided = (decided_pair(known, *pair, found) for pair, found in held.items())
        steps = [step for step in decided if step is not None]
    harmless = harmless_of(chosen, findings, judge)
    whole = len(findings) == len(chosen) and next(pairs, None) is None
    return Among(steps=tuple(steps), asked=asked, harmless=harmless, whole=whole)


def _suspected(
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
            if _spared(first, second, never, compared):
                continue
            yield (
                (first.id, second.id),
                Suspicion(first=prior_of(first), second=prior_of(second), why=why),
            )


def _age(memory: Memory) -> tuple[str, str, str]:
    dated = (s.captured for s in memory.sources if s.captured_from not in ("", "commit"))
    created = memory.time("created")
    return max(dated, default=""), created.isoformat() if created else "", memory.id


def _spared(one: Memory, other: Memory, never: Collection[str], compared: Collection[str]) -> bool:
    """Return whether a person, a flag or a model has already decided a pair."""
    if contradicts(one, other) or contradicts(other, one):
        return True
    taken_back = (fingerprints(op, (one.id, other.id)) for op in ("supersede", "flag"))
    if any(not found.isdisjoint(never) for found in taken_back):
        return True
    return pair_print(one.id, one.body, other.id, other.body) in compared
