"""Contradictions, among what a run brings and among what stands: one question a suspected pair.

Lineage: engram, contradiction detection. A pair is suspected when the judge named it while it
worded a claim, when both give another value to one subject and predicate, when rules notice a
change, or when their words are alike. A claim whose pair could not be judged is left open, as any
other question would leave it.

Among what stands, whoever wrote it, each pair is looked at once: one that a person decided, that is
flagged, or of which a model said that both hold is not asked about again until a text changes.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from itertools import islice

import msgspec
from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.changes import Step, Update, Write
from memrepo.core.corrections import Correction, Side
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
from memrepo.core.memory import OWN_ACTOR, Memory, editable, having, listed
from memrepo.core.state import State
from memrepo.policies.conflicts import contradicts, links_of, still_contested
from memrepo.policies.evidence import same_place
from memrepo.policies.matching import (
    MOST,
    Similar,
    normal_predicate,
    normal_subject,
)
from memrepo.purify.answers import Kept
from memrepo.purify.assemble import Assembled, assemble
from memrepo.purify.batches import Asked, Asking, ask_pairs
from memrepo.purify.decisions import (
    LOOKED,
    PENDING,
    Near,
    compared_in,
    decided_pair,
    is_compared,
    noticed,
)
from memrepo.purify.holds import fingerprints
from memrepo.purify.known import Former, Known, prior_of
from memrepo.purify.marks import Marks

NEWS = ("new_claim", "probable_duplicate", "reworded")
Pair = tuple[str, str]
"""A cluster, or a memory that stands, and the memory that its claim is compared with."""
Key = tuple[str, str, str]
"""Scope, subject and predicate, folded."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may assemble: the claims that stand, their changes, and how the asking went."""

    claims: tuple[CanonicalClaim, ...]
    made: Assembled
    asked: Asked[Finding]
    harmless: frozenset[str] = frozenset()
    """Prints of the pairs of which a model said that both hold: nobody asks it again."""


def verified(
    state: State,
    groups: Sequence[Cluster],
    claims: tuple[CanonicalClaim, ...],
    former: Former,
    setting: Asking,
    near: Near | None = None,
    marks: Marks | None = None,
) -> Verified:
    """Assemble claims, once more where a second look at their contradictions changed something.

    What a model says that a claim replaces is looked at once more too, as any contradiction is.
    """
    replacing: frozenset[Pair] = frozenset()
    if setting.judge.prompt_hash:
        replacing = frozenset((c.cluster_id, old) for c in claims for old in c.supersedes)
        claims = tuple(map(_doubted, claims))
    made = assemble(state, groups, claims, former, setting.now, marks=marks)
    asked: Asked[Finding] = Asked(name="contradiction")
    suspicions = dict(_suspicions(state, made, claims, replacing, near))
    findings = ask(suspicions, setting.local_now, setting.judge, asked, setting.kept)
    harmless = harmless_of(suspicions, findings, setting.judge)
    rest = tuple(_believed(c, findings) for c in claims if c.cluster_id not in asked.open)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    if not held and rest == claims:
        return Verified(claims=claims, made=made, asked=asked, harmless=harmless)
    made = assemble(state, groups, rest, former, setting.now, held, marks)
    return Verified(claims=rest, made=made, asked=asked, harmless=harmless)


def _doubted(claim: CanonicalClaim) -> CanonicalClaim:
    """Return a claim that replaces nothing yet: each that it would is a contradiction first."""
    if not claim.supersedes:
        return claim
    named = {c.memory_id: replace(c, relation="contested") for c in claim.contradictions}
    for old in claim.supersedes:
        named.setdefault(
            old, Contradiction(memory_id=old, relation="contested", reason=claim.rationale)
        )
    return replace(claim, supersedes=(), contradictions=tuple(named.values()))


def _believed(claim: CanonicalClaim, findings: Mapping[Pair, Finding]) -> CanonicalClaim:
    """Return a claim without the contradictions that a second look denied."""
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
    """End the doubt that rules had raised, where the steps of a run left nothing of it.

    An edited line may no longer contradict the other, or one of the two left recall. What a person
    looked at, or what still stands against another memory, goes on to wait.
    """
    updates = [c for step in steps for c in step.changes if isinstance(c, Update)]
    changed = {update.id for update in updates}
    flagged = {frozenset(step.memories) for step in steps if step.op == "flag"}
    cases = [
        case
        for _, case in sorted(state.corrections.cases.items() if changed else ())
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
    """Tell whether nothing that is active contradicts a contested memory any more."""

    def active(id_: str) -> bool:
        other = now_are.get(id_) or state.memories.get(id_)
        return other is not None and other.status == "active"

    return memory.standing == "contested" and not still_contested(memory, active, "")


def _ended(memory: Memory) -> Step:
    """Return the step after which a memory is contested no more: what stood against it is gone."""
    return Step(
        op="resolve",
        what=memory.label,
        reason="what contradicted it is active no more",
        changes=(Update(id=memory.id, fields={"standing": None}),),
    )


def _closed(state: State, case: Correction, sides: Sequence[Memory], now: datetime) -> Step:
    """Return the step after which two memories stand beside each other."""
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
    path = state.corrections.place(state.layout, decided)
    return Step(
        op="resolve",
        what=f"{first.label} against {second.label}",
        reason=_EDITED,
        changes=(*updates, Write(path=path, data=corrections.written(path, decided))),
        memories=(first.id, second.id),
    )


_EDITED = "a line was edited, and the two no longer contradict each other"


# -- asking --------------------------------------------------------------------------------------


def pair_print(one: str, text: str, other: str, other_text: str) -> str:
    """Return the fingerprint of two memories as they are worded, whichever is named first."""
    sides = sorted(([one, text_hash(text)], [other, text_hash(other_text)]))
    return digest(["compared", *sides])[:16]


def harmless_of(
    suspicions: Mapping[Pair, Suspicion], findings: Mapping[Pair, Finding], judge: Judge
) -> frozenset[str]:
    """Return the prints of the pairs that a model let stand; rules cost nothing to ask again."""
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
    """Ask of each pair once, and once more where the answer is of no use; none that is kept."""
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
    """Leave the order open where the evidence is dated and says otherwise than the judge."""
    first, second = _day(suspicion.first), _day(suspicion.second)
    older = {"first": first, "second": second}.get(found.newer, "")
    newer = second if found.newer == "first" else first
    return replace(found, newer="unknown") if older and newer and older < newer else found


def _day(prior: PriorClaim) -> str:
    days = (s.captured[:10] for s in prior.sources if s.captured_from not in ("", "commit"))
    return max(days, default="")


# -- who is suspected ----------------------------------------------------------------------------


def _suspicions(
    state: State,
    made: Assembled,
    claims: Sequence[CanonicalClaim],
    replacing: frozenset[Pair],
    near: Near | None,
) -> Iterator[tuple[Pair, Suspicion]]:
    """Yield each suspected pair once: those that the judge named, those of one key, those alike."""
    pool = Pool(state, made, near)
    became = {d.cluster_id: d for d in made.decisions}
    pool.compare(d.memory_id for d in made.decisions if d.disposition in NEWS)
    seen: set[frozenset[str]] = set()
    for claim in claims:
        decision = became.get(claim.cluster_id)
        if decision is None:
            continue
        id_, reasons = decision.memory_id, {c.memory_id: c.reason for c in claim.contradictions}
        named = [c.memory_id for c in claim.contradictions if c.relation == "contested"]
        rows: list[tuple[str, Why]] = [
            (other, "replaced") for other in named if (claim.cluster_id, other) in replacing
        ]
        if decision.disposition in NEWS:
            rows += [(other, "changed") for other in pool.changed(id_)]
        rows += [(other, "claimed") for other in named]
        if decision.disposition in NEWS:
            rows += [(other, "same_key") for other in pool.other_values(id_)]
            rows += [(other, "similar") for other in pool.alike(id_)]
        for other, why in rows:
            pair = frozenset((id_, other))
            if pair in seen or not pool.open_to_doubt(
                id_, other, named=why in ("claimed", "replaced")
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


class _Around(msgspec.Struct, frozen=True):
    """Memories of which one may be suspected, and whom their words bring together with whom."""

    ids: Sequence[str]
    near: Mapping[str, Set[str]]
    alike: Set[str]


class Pool:
    """The claims that recall will see after a run, as far as the run is known."""

    def __init__(
        self, state: State, made: Assembled | None = None, near: Near | None = None
    ) -> None:
        """Take a state with what a run makes of it; `near` may know most of it already."""
        made = made or Assembled()
        self._known_near = near or Near()
        reworded = {u.id: u for u in made.rewords}
        self.memories = editable(compared_in(state))
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
        self._cases = state.corrections

    def open_to_doubt(self, id_: str, other: str, *, named: bool) -> bool:
        """Tell whether a pair is worth a question: nothing has decided or flagged it yet."""
        if not {id_, other} <= self.memories.keys() or {id_, other} & self._lost:
            return False
        one, two = self.memories[id_], self.memories[other]
        if one.text("scope") != two.text("scope"):
            return False  # what holds for one user or project says nothing of another
        if same_place(one.sources, two.sources):
            return False  # the words that follow one another in a line were meant together
        if named and contradicts(one, two) and contradicts(two, one):
            return False
        case = self._cases.between(id_, other)
        return case is None or not case.about({id_: one.body, other: two.body})

    def other_values(self, id_: str) -> list[str]:
        """Return who gives another value to the same subject and predicate; none for a list."""
        mine = self.memories.get(id_)
        key = _key(mine) if mine else None
        if mine is None or key is None or len(self._by_key[key]) > MOST + 1:
            return []
        value = normal_subject(mine.text("object"))
        others = [i for other, ids in self._by_key[key].items() if other != value for i in ids]
        return sorted(others) if len(others) <= MOST else []

    def compare(self, ids: Iterable[str]) -> None:
        """Find out what some memories change by their words, of those that are alike together."""
        self._near.compare(ids)

    def changed(self, id_: str, asked: Collection[str] | None = None) -> list[str]:
        """Return which memories one changes by its words, or which change it.

        Where only some are asked about, it is nothing that concerns none of them.
        """
        memory = self.memories.get(id_)
        if memory is None:
            return []
        if asked is not None and len(asked) <= LOOKED:
            from memrepo.policies.change import are_apart  # as in `noticed`: it reads rules

            others = [self.memories[other].said for other in asked if other in self.memories]
            if all(are_apart(memory.said, other) for other in others):
                return []  # of the others nobody has to be read
        return sorted(self._near.changed(prior_of(memory), asked))

    def alike(self, id_: str, asked: Container[str] | None = None) -> list[str]:
        """Return whose words are most like those of a memory, best first; `asked` as above."""
        return [other for other, _ in self._similar.nearest(id_, asked)]

    def around(self, ids: Collection[str]) -> _Around:
        """Return some memories, and all others that may be suspected together with one of them."""
        here = sorted(self.memories.keys() & ids)
        if not here:
            return _Around(ids=(), near={}, alike=frozenset())
        keys = {key for id_ in here if (key := _key(self.memories[id_]))}
        keyed = {i for key in keys for same in self._by_key[key].values() for i in same}
        alike, near = self._similar.around(here), self._near.around(here)
        return _Around(ids=sorted({*here, *keyed, *near} | alike), near=near, alike=alike)

    @cached_property
    def _near(self) -> Near:
        self._known_near.follow(self.memories)
        return self._known_near

    @cached_property
    def _similar(self) -> Similar:
        return Similar(self._near.index)

    @cached_property
    def _by_key(self) -> Mapping[Key, Mapping[str, list[str]]]:
        """Return the ids by value, by key."""
        found: dict[Key, dict[str, list[str]]] = {}
        for memory in having(listed(self.memories), ("predicate",)):
            if key := _key(memory):
                values = found.setdefault(key, {})
                values.setdefault(normal_subject(memory.text("object")), []).append(memory.id)
        return found


def _key(memory: Memory) -> Key | None:
    key = normal_subject(memory.text("subject")), normal_predicate(memory.text("predicate"))
    return (memory.text("scope"), *key) if all((*key, memory.text("object").strip())) else None


MOST_ASKED = 50
"""Pairs that one run asks a model about; the rest wait for the next."""


class Among(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions, how the asking went, and the prints of pairs that a model let stand."""

    steps: tuple[Step, ...]
    asked: Asked[Finding]
    harmless: frozenset[str] = frozenset()
    whole: bool = True
    """Whether every suspected pair was decided: none is left for the next run."""


def among(
    state: State,
    judge: Judge,
    now: datetime,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None = None,
    near: Near | None = None,
) -> Among:
    """Decide every suspected pair of active memories, at most MOST_ASKED with a model.

    `never` holds the fingerprints of decisions that a person took back, `compared` the prints of
    pairs that a model let stand before. Of a pair one side is among the ids `changed`, if given;
    `near` may hold most of the statements already.
    """
    asked: Asked[Finding] = Asked(name="contradiction")
    pairs = _suspected(state, never, compared, changed, near)
    chosen = dict(islice(pairs, MOST_ASKED) if judge.prompt_hash else pairs)
    findings = ask(chosen, now, judge, asked)
    held = {pair: found for pair, found in findings.items() if found.is_contradiction}
    steps: list[Step] = []
    if held:
        known = Known(state=state, former=Former(), now=now, marks=Marks(state.memories))
        decided = (decided_pair(known, *pair, found) for pair, found in held.items())
        steps = [step for step in decided if step is not None]
    harmless = harmless_of(chosen, findings, judge)
    whole = len(findings) == len(chosen) and next(pairs, None) is None
    return Among(steps=tuple(steps), asked=asked, harmless=harmless, whole=whole)


def _suspected(
    state: State,
    never: Collection[str],
    compared: Collection[str],
    changed: Collection[str] | None,
    near: Near | None,
) -> Iterator[tuple[Pair, Suspicion]]:
    """Yield the pairs worth a question, the newer memory first in each."""
    pool = Pool(state, near=near)
    new = pool.memories.keys() if changed is None else changed
    if changed is None:
        pool.compare(new)
    seen: set[frozenset[str]] = set()
    around = None if changed is None else pool.around(changed)
    for id_ in sorted(pool.memories) if around is None else around.ids:
        rows: list[tuple[str, Why]] = []
        if around is None or id_ in new:
            rows += [(other, "changed") for other in pool.changed(id_)]
        elif met := around.near.get(id_):
            rows += [(other, "changed") for other in pool.changed(id_, met)]
        rows += [(other, "same_key") for other in pool.other_values(id_)]
        if around is None or id_ in new:
            rows += [(other, "similar") for other in pool.alike(id_)]
        elif id_ in around.alike:
            rows += [(other, "similar") for other in pool.alike(id_, new)]
        for other, why in rows:
            pair = frozenset((id_, other))
            if pair in seen or not (id_ in new or other in new):
                continue
            seen.add(pair)
            if not pool.open_to_doubt(id_, other, named=False):
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
    """Tell whether a person, a flag or a model has spoken about these two already."""
    if contradicts(one, other) or contradicts(other, one):
        return True
    taken_back = (fingerprints(op, (one.id, other.id)) for op in ("supersede", "flag"))
    if any(not found.isdisjoint(never) for found in taken_back):
        return True
    return pair_print(one.id, one.body, other.id, other.body) in compared
