"""Decide which memories a statement replaces or contradicts, each in a separate commit.

`policies.change` determines how a statement affects another. Evidence determines which one is
newer. A date in a text, heading or file name is certain, and so is the order in which git saw two
lines of one file. The order of two lines in a file, or of two files, is not.

The commit of each decision also writes the contradiction's file under `corrections/`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.changes import Step, Write
from memrepo.core.corrections import Correction, Side, contradiction_id, corrections_of
from memrepo.core.judge import CanonicalClaim, Contradiction, Finding, Newer, PriorClaim
from memrepo.core.memory import CLAIM_TYPES, OWN_ACTOR, Link, Memory, Source
from memrepo.core.state import State
from memrepo.policies.change import (
    MAX_VALUES,
    Change,
    change_of,
    is_dated,
    newer_of,
    read,
    same_place,
)
from memrepo.policies.matching import INACTIVE_STANDINGS, cosine
from memrepo.policies.standing import contradicts, links_of, still_contested
from memrepo.purify.known import Known, by_person, prior_of
from memrepo.text.tokens import content_words

SURE_CHANGE, UNSURE = 0.95, 0.5
MAX_COMPARED = 12
"""Maximum number of statements to compare a statement with, chosen by its rarest words."""
MIN_SIMILARITY = 0.35
"""Minimum cosine of words for a pair that a model compares. One common name is not enough."""
MAX_RARE_WORDS, MAX_HOLDERS = 12, 2000
"""Maximum rare words that select neighbours, and maximum statements read for these words."""


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two statements, which of them is newer, and whether that is certain."""

    change: Change
    newer: Newer
    is_certain: bool

    @property
    def finding(self) -> Finding:
        """Return the change in the form of a judge's answer to a comparison.

        The confidence is high if no person needs to check.
        """
        return Finding(
            is_contradiction=True,
            confidence=SURE_CHANGE if self.is_certain else UNSURE,
            reasoning=self.change.reason,
            newer=self.newer if self.is_certain else "unknown",
        )


def noticed(first: PriorClaim, second: PriorClaim) -> Noticed | None:
    """Return how one of two statements changes the other, or None if both may be true.

    A statement that declares the other over is certain if a date or git shows that it is newer. A
    statement that only gives another value is certain if a date shows it.
    """
    if same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    pairs: list[tuple[PriorClaim, PriorClaim, Newer]] = [
        (second, first, "first"),
        (first, second, "second"),
    ]
    if newer != "unknown":
        pairs.sort(key=lambda pair: pair[2] != newer)
    together = _are_together(first.sources, second.sources)
    for old, new, side in pairs:
        is_order_known = newer in (side, "unknown")
        # An undated statement may have existed long before it was first seen.
        if not is_order_known and (
            basis == "dated" or is_dated(old.sources) or not is_dated(new.sources)
        ):
            continue
        change = change_of(old, new, together=together)
        if change is None:
            continue
        if change.is_event and _is_of_a_day(old.sources) and _is_of_a_day(new.sources):
            continue  # each describes its own day
        certain = newer == side and (
            basis == "dated" or (change.stated and _is_later_line(old.sources, new.sources))
        )
        return Noticed(change=change, newer=side if certain else newer, is_certain=certain)
    return None


def _is_of_a_day(sources: Sequence[Source]) -> bool:
    """Return whether the date of a statement comes from a daily log or a heading."""
    return any(s.captured_from in ("heading", "file") for s in sources)


def _are_together(first: Sequence[Source], second: Sequence[Source]) -> bool:
    """Return whether two statements are different lines of one file, written on the same day."""
    return any(
        (one.resource, one.captured[:10]) == (other.resource, other.captured[:10])
        and one.lines != other.lines
        for one in first
        for other in second
        if one.captured
    )


def _is_later_line(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """Return whether, according to git, a new statement was added later to the same file."""
    seen = {s.resource: s.captured[:10] for s in old if s.captured}
    return any(s.captured[:10] > seen[s.resource] for s in new if s.resource in seen)


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
            for word in content_words(old.pop(id_).said):
                self._holders[word].pop(id_, None)
        for id_, memory in new:
            old[id_] = memory
            for word in content_words(memory.said):
                self._holders.setdefault(word, {})[id_] = None

    def prior(self, id_: str) -> PriorClaim:
        """Return an indexed memory in the form that a judge sees."""
        return prior_of(self._held[id_])

    def changed(self, claim: PriorClaim) -> dict[str, Noticed]:
        """Map neighbours of a statement to how the statement and the neighbour change each other.

        Several values of one key form a list, so one more value changes nothing. If a statement may
        end several others, only the one whose words it repeats best counts. If that is a tie, none
        counts.
        """
        if read(claim.text).is_open or not self._held:
            return {}
        found = {}
        for id_ in self.neighbours(claim):
            if one := noticed(claim, self.prior(id_)):
                found[id_] = one
        given = [id_ for id_, one in found.items() if not one.change.stated]
        contested = [id_ for id_ in given if self._held[id_].standing == "contested"]
        if len(given) > MAX_VALUES or (len(given) > 1 and len(contested) < len(given)):
            found = {id_: one for id_, one in found.items() if id_ not in given}
        return _covered_best(found)

    def follows(self, claim: PriorClaim) -> list[str]:
        """Return the ids of other days' statements that a day's statement gives a new value."""
        if read(claim.text).is_open or not self._held or not _is_of_a_day(claim.sources):
            return []
        found = {id_: self.prior(id_) for id_ in self.neighbours(claim)}
        return [
            id_
            for id_, old in found.items()
            if _is_of_a_day(old.sources)
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
            text = self._held[id_].said
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


def _covered_best(found: Mapping[str, Noticed]) -> dict[str, Noticed]:
    """Drop changes that end a statement, except the change that covers its statement best.

    If several are covered equally well, none of them is returned.
    """
    ended = {id_: one for id_, one in found.items() if one.change.stated}
    if len(ended) < 2:
        return dict(found)
    best = max(one.change.cover for one in ended.values())
    meant = [id_ for id_, one in ended.items() if one.change.cover == best]
    return {
        id_: one
        for id_, one in found.items()
        if id_ not in ended or (len(meant) == 1 and id_ == meant[0])
    }


PENDING = "pending"
"""A placeholder for the run's id until the run is planned."""


def case_of(
    known: Known, new: str, old: str, *, kept: str, reason: str, sure: float | None
) -> tuple[Write, ...]:
    """Return the write that records a correction about two memories.

    `kept` is the memory that replaced the other, or empty if the pair is only flagged. An earlier
    correction about the pair is overwritten, and its date remains.
    """
    id_, before = contradiction_id(new, old), corrections_of(known.state).between(new, old)
    case = Correction(
        id=id_,
        kind="contradiction",
        verdict="superseded" if kept else "flagged",
        kept=kept,
        sides=(Side(memory=new, text=known.text(new)), Side(memory=old, text=known.text(old))),
        confidence=sure,
        reason=reason,
        by=OWN_ACTOR,
        run=PENDING,
        at=(before.at if before else None) or known.now,
        decided=known.now if kept else None,
    )
    path = corrections_of(known.state).place(known.state.layout, case)
    return (Write(path=path, data=corrections.written(path, case)),)


def is_resolved(known: Known, new: str, old: str) -> bool:
    """Return whether a decision on two memories is still valid for their current texts.

    A person's decision is valid until one of the texts changes. A run's decision is valid until the
    superseded memory is stated again.
    """
    case = corrections_of(known.state).between(new, old)
    texts = {id_: known.text(id_) for id_ in (new, old)}
    if case is None or case.status == "open" or not case.about(texts):
        return False
    return case.by.startswith(("human:", "process:")) or not known.has_news(new)


UNNAMED = "contradiction"
"""The reason if none was given."""
Findings = Mapping[tuple[str, str], Finding]
"""Findings of the comparison, by cluster id and the id of the compared memory."""


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories between which a person must choose, and why a run cannot choose."""

    new: str
    old: str
    why: str
    sure: float | None = None


def single_decisions(
    known: Known,
    claims: Sequence[CanonicalClaim],
    became: Mapping[str, str],
    findings: Findings,
) -> Iterable[Step]:
    """Yield a step for each decision that needs a separate commit.

    For each claim, supersessions come first, then contradictions, and doubts follow at the end.
    """
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    doubts: list[_Doubt] = []
    for new, claim in stated:
        yield from _replacing(known, new, claim, doubts)
        yield from _contradicting(known, new, claim, findings, doubts)
        doubts += _stated_again(known, new)
    for doubt in doubts:
        if step := _left_behind(known, doubt) or _flag(known, doubt):
            yield step


def _left_behind(known: Known, doubt: _Doubt) -> Step | None:
    """Return the step that replaces a contradicted memory that no source states any more.

    Return None if a person worded or confirmed the older memory, or if the rules do not permit it.
    """
    new, old = known.current(doubt.new), known.current(doubt.old)
    if not (new.status == old.status == "active" and doubt.sure is not None) or by_person(old):
        return None
    if not known.rules.auto_resolve:
        return None
    if not old.sources or known.stands(old) or not known.stands(new):
        return None
    why = f"{doubt.why}; the older statement is in no source any more"
    return _supersede(known, doubt.new, doubt.old, why, doubt.sure)


def _replacing(
    known: Known, new: str, claim: CanonicalClaim, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield the steps by which a claim replaces memories, after an edit or a judge's answer.

    Doubtful replacements are added to `doubts`.
    """
    if disputed := known.disputed.get(claim.cluster_id):
        why = "its source was edited, and a person had worded it"
        doubts.append(_Doubt(new=new, old=disputed, why=why))
    replaced = known.replaced.get(claim.cluster_id, "")
    if replaced and known.current(replaced).status == "active":
        yield _supersede(known, new, replaced, "the line that stated it was edited")
    sure = claim.scores.supersession_confidence
    for old in claim.supersedes:
        if old == replaced or is_resolved(known, new, old):
            continue
        if why := _not_sure(known, new, old, sure):
            doubts.append(_Doubt(new=new, old=old, why=why, sure=sure))
        else:
            why = _dated(known, new, old) or "a newer statement of the same matter"
            yield _supersede(known, new, old, why, sure)


def _dated(known: Known, new: str, old: str) -> str:
    """Return the dates of two memories as a reason, or "" unless `new` has a later date."""
    later, earlier = (known.current(id_).captured[:10] for id_ in (new, old))
    return f"stated on {later}, newer than {earlier}" if later > earlier > "" else ""


def _stated_again(known: Known, id_: str) -> Iterator[_Doubt]:
    """Yield a doubt about each replacement of a superseded memory that is stated again."""
    memory = known.current(id_)
    if memory.status != "superseded" or not known.has_news(id_):
        return
    again = prior_of(memory.with_fields({"sources": known.grown.get(id_, memory.sources)}))
    for other in filter(known.is_active, memory.texts("superseded_by")):
        # A statement that declares the other wrong remains valid if the other is repeated.
        seen = noticed(again, prior_of(known.current(other)))
        if seen is not None and not seen.change.stated and seen.newer != "second":
            yield _Doubt(new=id_, old=other, why="a superseded statement was made again")


def _contradicting(
    known: Known, new: str, claim: CanonicalClaim, findings: Findings, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield the steps for contradictions that are resolved. Add all others to `doubts`."""
    # If the new memory was replaced already, a stale older value is no news.
    over = known.current(new).status != "active"
    named = {c.memory_id: c for c in claim.contradictions if not (over and c.relation == "stale")}
    for cluster, other in findings:
        if cluster == claim.cluster_id:
            named.setdefault(other, Contradiction(memory_id=other, relation="contested"))
    for other, said in named.items():
        if known.memory(other) is None or is_resolved(known, new, other):
            continue
        found = findings.get((claim.cluster_id, other))
        if found is not None:
            found = replace(found, reasoning=found.reasoning or said.reason)
            decided = _decided(known, new, other, found)
        else:
            sure = claim.scores.supersession_confidence or None
            decided = _Doubt(new=new, old=other, why=said.reason or UNNAMED, sure=sure)
        if isinstance(decided, Step):
            yield decided
        else:
            doubts.append(decided)


def decided_pair(known: Known, first: str, second: str, found: Finding) -> Step | None:
    """Return the step that follows from a finding about two active memories, or None if none."""
    if is_resolved(known, first, second) or not (
        known.is_active(first) and known.is_active(second)
    ):
        return None
    decided = _decided(known, first, second, found)
    return decided if isinstance(decided, Step) else _flag(known, decided)


def replaced_pair(known: Known, new: str, old: str, reason: str) -> Step | None:
    """Return the step by which a memory replaces another, or None if that is not allowed."""
    if is_resolved(known, new, old) or not (known.is_active(new) and known.is_active(old)):
        return None
    return _supersede(known, new, old, reason)


def _decided(known: Known, first: str, second: str, found: Finding) -> Step | _Doubt:
    """Return the step that replaces the older of two memories, or a doubt if uncertain."""
    sure, why = found.confidence, found.reasoning or UNNAMED
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if found.newer != "unknown" and _is_held(known, newer, older):
        return _Doubt(new=newer, old=older, why=f"{why}; a person stated the older one", sure=sure)
    if found.model and found.newer != "unknown" and (wait := _waits(known, newer, older, found)):
        return _Doubt(new=newer, old=older, why=f"{why}; {wait}", sure=sure)
    if found.newer == "unknown" or _not_sure(known, newer, older, sure):
        return _Doubt(new=first, old=second, why=why, sure=sure)
    if dated := _dated(known, newer, older):
        why = f"{why}; {dated}"
    return _supersede(known, newer, older, why, sure)


def _waits(known: Known, newer: str, older: str, found: Finding) -> str:
    """Return why a model's finding needs a person's decision, or an empty string if it does not.

    A person decides about statements by a person, about statements that are still partly true, and
    about statements that no date shows to be over.
    """
    one, two = known.current(newer), known.current(older)
    if by_person(two) and not by_person(one):
        return "a person stated the older one"
    if found.still:
        return f"a part of it still holds: {found.still}"
    if newer_of(one.sources, two.sources) == ("first", "dated"):
        return ""
    seen = noticed(prior_of(one), prior_of(two))
    if seen is not None and seen.is_certain and seen.newer == "first":
        return ""
    return "" if known.rules.undated else "no date says that it is over"


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Return whether a person supports the older memory, and no date shows that it is over."""
    if not by_person(known.current(older)) or by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _not_sure(known: Known, new: str, old: str, sure: float) -> str:
    """Return why a run may only flag a replacement, or an empty string if it may replace.

    A superseded memory that is stated again is never restored automatically, since nobody decided
    so.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if sure <= known.rules.confidence:
        return "a newer statement, but not a sure one"
    if not known.rules.auto_resolve:
        return "a newer statement, left to a person (`contradictions.auto_resolve`)"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def _supersede(known: Known, new: str, old: str, reason: str, sure: float | None = None) -> Step:
    """Return the step by which the memory `new` supersedes the memory `old`."""
    before, after = known.current(old), known.current(new)
    gains: dict[str, object] = {"supersedes": _with(after.texts("supersedes"), old)}
    doubted = new in known.fresh or contradicts(after, before)
    if (
        after.standing == "contested"
        and doubted
        and not still_contested(after, known.is_active, old)
    ):
        gains["standing"] = None
    if after.text("duplicate_of") == old:
        gains["duplicate_of"] = None  # a replacement is not a duplicate
        if after.standing == "probable_duplicate":
            gains["standing"] = None
    return Step(
        op="supersede",
        reason=reason,
        changes=(
            known.edit(
                old,
                {
                    "status": "superseded",
                    "superseded_by": _with(before.texts("superseded_by"), new),
                    "superseded_at": known.now,
                },
            ),
            known.edit(new, gains),
            *case_of(known, new, old, kept=new, reason=reason, sure=sure),
        ),
    )


def _flag(known: Known, doubt: _Doubt) -> Step | None:
    """Return the step that marks two memories as contradicting, or None if not needed."""
    new, old = doubt.new, doubt.old
    if new == old or not known.is_active(old) or is_resolved(known, new, old):
        return None
    changes = []
    for id_, other in ((new, old), (old, new)):
        memory = known.current(id_)
        links = links_of(memory)
        linked = any((x.target, x.type) == (other, "contradicts") for x in links)
        if linked and memory.standing == "contested":
            continue
        edge = () if linked else (Link(target=other, type="contradicts"),)
        changes.append(known.edit(id_, {"standing": "contested", "links": (*links, *edge)}))
    if not changes:
        return None
    case = case_of(known, new, old, kept="", reason=doubt.why, sure=doubt.sure)
    return Step(
        op="flag",
        reason=doubt.why,
        changes=(*changes, *case),
        memories=(new, old),
    )
