"""Decisions that are a commit of their own: what a statement changes, and what contradicts.

What changes is told by words (`policies.change`); which one is newer by evidence: a day that
stands in a text, heading or file name is sure, a later line or a later commit only says in which
order two lines were written.

A judge cannot name the memory of another claim of its own answer, since that memory does not exist
yet. It says that a claim is stale; here the newer one is found and the two are linked. Each
contradiction writes its file under `corrections/` in the commit of the decision.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core import corrections
from memrepo.core.changes import Create, Step, Write
from memrepo.core.corrections import Correction, Side, contradiction_id
from memrepo.core.judge import CanonicalClaim, Contradiction, Finding, Newer, PriorClaim
from memrepo.core.memory import (
    CLAIM_TYPES,
    OWN_ACTOR,
    Link,
    Memory,
    by_id,
    differing,
    each,
    editable,
    only,
)
from memrepo.core.patterns import regex
from memrepo.core.state import State
from memrepo.policies.conflicts import contradicts, links_of, still_contested
from memrepo.policies.evidence import Basis, is_dated, newer_of, same_place
from memrepo.policies.matching import (
    INACTIVE_STANDINGS,
    WordIndex,
    is_paired,
    normal_subject,
    reuse_key,
    tokens,
)
from memrepo.policies.shared_words import SharedWords
from memrepo.purify.known import Known, Priors, by_person, prior_of

if TYPE_CHECKING:
    from memrepo.policies.changes_told import Change
    from memrepo.policies.kept_words import KeptPostings

SURE_CHANGE, UNSURE = 0.95, 0.5
_EXAMINED = 1000
"""So many are looked at for one statement, those of its rarest words first: a word that stands
everywhere says little."""
LOOKED, _MANY, _FEWEST = 24, 10_000, 8
"""With so many statements one is compared, those that share its rarest words first. Where more than
10,000 stand it is with fewer, as the more there are the more share a few words; from 30,000 on
with the 8 that are nearest."""
_SHARED = 0.3
"""The least share of the words of the shorter of two that both hold."""
_SHARED_PAIRS = 1 / 8
"""The same where words are pairs of characters: one name makes few of them."""
_MANY_NEW = 1000
_FEW_ASKED = 200
"""For so many statements one by one is looked at; for more all at once."""
LISTED = 5
"""More statements than these that each give another value in one frame are lines of a list."""


class Noticed(msgspec.Struct, frozen=True, kw_only=True):
    """What one of two statements does to the other, which one is newer, and what says so."""

    change: Change
    newer: Newer
    basis: Basis

    @property
    def finding(self) -> Finding:
        """Return it as the answer to a question: sure where nobody has to look.

        A statement that says itself that another is over is believed where it was written later;
        one that only gives another value where a date says so.
        """
        sure = self.change.strength == "stated" and self.basis != ""
        sure = sure or (self.change.strength == "restated" and self.basis == "dated")
        return Finding(
            is_contradiction=True,
            confidence=SURE_CHANGE if sure else UNSURE,
            reasoning=self.change.reason,
            newer=self.newer if sure else "unknown",
        )


def noticed(first: PriorClaim, second: PriorClaim) -> Noticed | None:
    """Return what one of two statements changes about the other; None where both may hold.

    Where nothing says which is newer, either may be: then the first that is found counts.
    """
    from memrepo.policies.change import are_apart, change_of

    if are_apart(first.text, second.text) or same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    pairs: list[tuple[PriorClaim, PriorClaim, Newer]] = [
        (second, first, "first"),
        (first, second, "second"),
    ]
    if newer != "unknown":
        pairs.sort(key=lambda pair: pair[2] != newer)
    for old, new, side in pairs:
        sure = newer in (side, "unknown")
        # What is undated may have stood there long before it was seen.
        if not sure and (basis == "dated" or is_dated(old.sources) or not is_dated(new.sources)):
            continue
        change = change_of(old.text, new.text)
        if change is not None and not _apart(change, old, new):
            return Noticed(change=change, newer=newer, basis=basis if sure else "")
    return None


def _apart(change: Change, old: PriorClaim, new: PriorClaim) -> bool:
    """Tell whether texts that do not name their subject stand under two.

    What may be a list is one where both stand in one file, or under two headings.
    """
    subjects = normal_subject(old.subject), normal_subject(new.subject)
    if change.bare and subjects[0] != subjects[1]:
        return True
    if change.kind == "retold" and _under_others(old, new):
        return True
    if change.kind != "keyed":
        return False
    if change.strength != "doubt":
        return not (old.under.endswith(new.under) or new.under.endswith(old.under))
    files = ({source.resource for source in side.sources} for side in (old, new))
    return old.under != new.under or bool(set.intersection(*files))


def _under_others(old: PriorClaim, new: PriorClaim) -> bool:
    """Tell whether what is told in other words stands under other headings than the older one."""
    if old.under and new.under:
        return not (old.under.endswith(new.under) or new.under.endswith(old.under))
    shown, text = (old.under, new.text) if old.under else (new.under, old.text)
    words = tokens(shown)
    return len(words) > 1 and words.isdisjoint(tokens(text))


def is_compared(memory: Memory) -> bool:
    """Tell whether a memory is a statement that others are held against."""
    return _is_compared(memory.status, memory.type, memory.standing)


def _is_compared(status: str, type_: str, standing: str) -> bool:
    return status == "active" and type_ in CLAIM_TYPES and standing not in INACTIVE_STANDINGS


def compared(memories: Iterable[Memory]) -> Mapping[str, Memory]:
    """Return by id the memories that others are held against."""
    asked = (each(memories, name) for name in ("status", "type", "standing"))
    return by_id(only(memories, map(_is_compared, *asked)))


def compared_in(state: State) -> Mapping[str, Memory]:
    """Return by id the memories of a state that others are held against, found once."""
    return state.once(_compared_in)


def _compared_in(state: State) -> Mapping[str, Memory]:
    return compared(state.active)


class Near:
    """Statements by their words: what one may change is found without a look at all others."""

    def __init__(
        self, memories: Iterable[Memory] = (), kept: Callable[[], KeptPostings | None] | None = None
    ) -> None:
        """Take statements; each id once. Of those that are `kept` no words are cut."""
        self.index = WordIndex()
        self._kept = kept
        self._hold({})
        self._changed: dict[str, Mapping[str, Noticed]] = {}
        self._pairs = 0
        self._shared: SharedWords | None = None
        self._asked = 0
        self.follow({memory.id: memory for memory in memories})

    def follow(self, memories: Mapping[str, Memory]) -> None:
        """Hold these statements and no others: those of one run are mostly those of its next step.

        What was found stays known as long as every statement says what it said, where it was.
        """
        if self._kept is not None and memories:
            kept, self._kept = self._kept(), None
            if kept is not None:
                self._begin(memories, kept)
        had, index = self._held, self.index
        apart = differing(had, memories)
        if not apart:
            return
        news = [memories[id_] for id_ in memories if id_ in apart]
        gone = [id_ for id_ in had if id_ in apart and id_ not in memories]
        self._shared = None
        if gone or not all(m.id in had and prior_of(had[m.id]) == prior_of(m) for m in news):
            self._changed.clear()
        for id_ in gone:
            self._forget(id_)
        for memory in news:
            old = had.get(memory.id)
            if old is None or old.said != memory.said:
                if old is not None:
                    self._forget(memory.id)
                index.put(memory.id, memory.said)
                self._pairs += is_paired(index.words[memory.id])
            had[memory.id] = memory

    def _begin(self, memories: Mapping[str, Memory], kept: KeptPostings) -> None:
        """Take the words that are kept of the first statements, where that is most of them."""
        from memrepo.policies.kept_words import KeptIndex

        apart = differing(memories, kept.of)
        number_of = {id_: number for number, id_ in enumerate(kept.ids) if id_ not in apart}
        places = array("i", [-1]) * len(kept.ids)
        for place, id_ in enumerate(memories):
            if (number := number_of.get(id_)) is not None:
                places[number] = place
        self._hold(memories)
        ids, held = [*memories], self._held
        index = KeptIndex(kept.postings, places, ids, lambda id_: held[id_].said)
        self.index, self._pairs = index, index.pairs

    def _hold(self, memories: Mapping[str, Memory]) -> None:
        self._held = editable(memories)
        self._priors = Priors(self._held)

    def _forget(self, id_: str) -> None:
        self._pairs -= is_paired(self.index.words[id_])
        self.index.drop(id_)
        del self._held[id_]

    def changed(
        self, claim: PriorClaim, asked: Collection[str] | None = None
    ) -> Mapping[str, Noticed]:
        """Return by id what a statement and those near it change about each other.

        Several standing values of one key are a list, and nothing is changed by one more; what was
        taken back, cancelled or came back is the one thing that is covered best, or nothing. Where
        only some ids are asked about, nothing is returned that concerns none of them.
        """
        own = claim.memory_id in self._held and self._priors[claim.memory_id] == claim
        if own and (known := self._changed.get(claim.memory_id)) is not None:
            return known
        found: dict[str, Noticed | None] = {}
        if asked is not None and len(asked) <= LOOKED:
            found = {id_: noticed(claim, self._priors[id_]) for id_ in self._those(claim, asked)}
            if not any(found.values()):
                return {}
        near = self._near(claim)
        if asked is not None and not any(found.get(id_) for id_ in near):
            found |= {id_: noticed(claim, self._priors[id_]) for id_ in near if id_ in asked}
            if not any(found.get(id_) for id_ in near):
                return {}
        for id_ in near:
            if id_ not in found:
                found[id_] = noticed(claim, self._priors[id_])
        kept = {id_: one for id_ in near if (one := found[id_]) is not None}
        whole = _no_list(_one_key(_covered_best(kept), self._priors))
        if own:
            self._changed[claim.memory_id] = whole or _NOTHING
        return whole

    def compare(self, ids: Iterable[str]) -> None:
        """Find out what some statements and those near them change about each other.

        What begins alike is read once for all that it is compared with, and not held for long.
        """
        held = self._held
        news = sorted((i for i in ids if i in held), key=lambda i: held[i].said)
        for id_ in news:
            self.changed(self._priors[id_])
        if len(news) >= _MANY_NEW:
            from memrepo.policies.change import forget

            forget()  # what they change is known, and there is no room for their texts twice

    def around(self, ids: Iterable[str]) -> dict[str, set[str]]:
        """Return all statements that share enough words with one of some, and with which."""
        words = self.index.words
        found: dict[str, set[str]] = {}
        for id_ in ids:
            for other in self._sharing(frozenset(words.get(id_, ()))):
                found.setdefault(other, set()).add(id_)
        return found

    def _those(self, claim: PriorClaim, asked: Iterable[str]) -> Iterator[str]:
        """Yield which of some statements share enough words with one."""
        words, index = tokens(claim.text), self.index
        least = _least(words)
        for id_ in asked:
            if id_ in index.words:
                shared, size = index.over(words, id_)
                if shared >= least * min(len(words), size):
                    yield id_

    def _near(self, claim: PriorClaim) -> list[str]:
        if not self._held:  # as in a first run, that holds what it reads against nothing
            return []
        words = tokens(claim.text)
        most = max(_FEWEST, min(LOOKED, LOOKED * _MANY // len(self._held)))
        self._asked += 1
        if self._asked <= _FEW_ASKED:
            return self._looked_for(claim.memory_id, words, most)
        if self._shared is None:
            self._shared = SharedWords(self.index)
        return self._shared.near(claim.memory_id, words, _least(words), most, _EXAMINED)

    def _looked_for(self, own: str, words: frozenset[str], most: int) -> list[str]:
        """Return what `SharedWords.near` does, by a look at each: for few that is less work."""
        over = self.index.over
        least, size = _least(words), len(words)
        looked = {own}
        near: list[str] = []
        room = _EXAMINED
        for ids in self.index.sharing(words, least):
            for id_ in ids:
                if id_ in looked:
                    continue
                looked.add(id_)
                shared, other = over(words, id_)
                if shared >= least * (other if other < size else size):
                    near.append(id_)
                    if len(near) == most:
                        return near
                if (room := room - 1) <= 0:
                    return near
        return near

    def _sharing(self, words: frozenset[str]) -> Iterator[str]:
        """Yield the statements that share so many words with some as `_near` asks for.

        Each may be the one that `_near` is asked of: its own words say how many it takes.
        """
        index, least = self.index, _SHARED_PAIRS if self._pairs else _SHARED
        for id_ in set(chain.from_iterable(index.sharing(words, least))):
            shared, size = index.over(words, id_)
            own = _SHARED_PAIRS if index.is_paired(id_) else _SHARED
            if shared >= own * min(len(words), size):
                yield id_


def _least(words: Collection[str]) -> float:
    """Return which share of its words a statement has to have in common with another."""
    return _SHARED_PAIRS if is_paired(words) else _SHARED


def _covered_best(found: Mapping[str, Noticed]) -> dict[str, Noticed]:
    """Of several that one statement may mean keep the best; of equals none is meant for sure."""
    loose = {id_: one for id_, one in found.items() if one.change.cover < 1}
    if len(loose) < 2:
        return dict(found)
    best = max(one.change.cover for one in loose.values())
    meant = [id_ for id_, one in loose.items() if one.change.cover == best]
    return {
        id_: one
        for id_, one in found.items()
        if id_ not in loose or (len(meant) == 1 and id_ == meant[0])
    }


def _one_key(found: dict[str, Noticed], priors: Mapping[str, PriorClaim]) -> dict[str, Noticed]:
    """Leave out values of a key that has several already; those in dispute are no list."""
    keyed = [id_ for id_, one in found.items() if one.change.kind == "keyed"]
    if len(keyed) < 2 or all(priors[id_].standing == "contested" for id_ in keyed):
        return found
    return {id_: one for id_, one in found.items() if id_ not in keyed}


def _no_list(found: dict[str, Noticed]) -> dict[str, Noticed]:
    """Leave out other values of one frame where so many stand: one more line of a list."""
    valued = [id_ for id_, one in found.items() if one.change.strength == "restated"]
    if len(valued) <= LISTED:
        return found
    return {id_: one for id_, one in found.items() if id_ not in valued}


def overtaken(
    claims: Sequence[CanonicalClaim], became: Mapping[str, str], current: Callable[[str], Memory]
) -> Iterator[tuple[str, str]]:
    """Yield (newer, older) memory ids: each stale claim with the next newer one of its key.

    Only a claim that contradicts nothing known counts; without a dated successor it stays as it
    is, stale and active. Older ones come first, so that a chain grows forward.
    """
    keyed: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    stale: list[tuple[str, str, tuple[str, str, str]]] = []
    for claim in claims:
        said = claim.wording
        key = reuse_key(said.subject, said.predicate, claim.home)
        id_ = became.get(claim.cluster_id, "")
        if key is None or not id_:
            continue
        day = max((s.captured[:10] for s in current(id_).sources), default="")
        keyed.setdefault(key, []).append((day, id_))
        if claim.standing == "stale" and not claim.contradictions:
            stale.append((day, id_, key))
    for day, id_, key in sorted(stale):
        newer = [(d, other) for d, other in keyed[key] if d > day and other != id_]
        if newer:
            yield min(newer)[1], id_


_NOTHING: Mapping[str, Noticed] = MappingProxyType({})
PENDING = "pending"
"""Stands for the id of a run until its plan is made."""


def case_of(
    known: Known, new: str, old: str, *, kept: str, reason: str, sure: float | None
) -> tuple[Write, ...]:
    """Return the file about two memories: `kept` replaced the other, or empty: it is flagged.

    A case that came up before keeps its file and its day.
    """
    id_, before = contradiction_id(new, old), known.state.corrections.between(new, old)
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
    path = known.state.corrections.place(known.state.layout, case)
    return (Write(path=path, data=corrections.written(path, case)),)


def is_resolved(known: Known, new: str, old: str) -> bool:
    """Tell whether two memories, as they are worded now, are not to be compared again.

    What a person decided stands until one of the texts changes; what a run decided stands until
    the memory that lost is stated again somewhere: that is news.
    """
    case = known.state.corrections.between(new, old)
    texts = {id_: known.text(id_) for id_ in (new, old)}
    if case is None or case.status == "open" or not case.about(texts):
        return False
    return case.by.startswith(("human:", "process:")) or not known.has_news(new)


SURE = 0.9
"""A supersession is taken above this confidence (the engram lineage's revised value)."""

UNNAMED = "contradiction"
"""The reason where nobody gave one."""
Findings = Mapping[tuple[str, str], Finding]
"""What verifying found, by cluster and the id of the memory that its claim was compared with."""


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories of which a person must say which holds, and why a run does not."""

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
    """Yield the decisions that are a commit of their own: supersessions, then contradictions."""
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    doubts: list[_Doubt] = []
    for new, old in overtaken(claims, became, known.current):
        if known.current(old).status == known.current(new).status == "active":
            yield _supersede(known, new, old, "a newer value of the same key in the same run")
    for new, claim in stated:
        yield from _replacing(known, new, claim, doubts)
        yield from _contradicting(known, new, claim, findings, doubts)
    for doubt in doubts:
        if step := _left_behind(known, doubt) or _flag(known, doubt):
            yield step


def _left_behind(known: Known, doubt: _Doubt) -> Step | None:
    """Replace what a newer statement contradicts where no line says the older one any more.

    A person's own word is never replaced so, and neither is one that a person had worded.
    """
    new, old = known.current(doubt.new), known.current(doubt.old)
    if not (new.status == old.status == "active" and doubt.sure is not None) or by_person(old):
        return None
    if not old.sources or known.stands(old) or not known.stands(new):
        return None
    why = f"{doubt.why}; no line says the older one any more"
    return _supersede(known, doubt.new, doubt.old, why, doubt.sure)


def _replacing(
    known: Known, new: str, claim: CanonicalClaim, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield what a claim replaces, by its source's edit or by its judge's word."""
    if disputed := known.disputed.get(claim.cluster_id):
        why = "its source was edited, and a person had worded it"
        doubts.append(_Doubt(new=new, old=disputed, why=why))
    replaced = known.replaced.get(claim.cluster_id, "")
    if replaced and known.current(replaced).status == "active":
        yield _supersede(known, new, replaced, "the line that said it was edited")
    sure = claim.scores.supersession_confidence
    for old in claim.supersedes:
        if old == replaced or is_resolved(known, new, old):
            continue
        if why := _not_sure(known, new, old, sure):
            doubts.append(_Doubt(new=new, old=old, why=why, sure=sure))
        else:
            why = f"a newer statement of the same matter ({claim.rationale}; {sure:.2f} sure)"
            yield _supersede(known, new, old, why, sure)


def _contradicting(
    known: Known, new: str, claim: CanonicalClaim, findings: Findings, doubts: list[_Doubt]
) -> Iterator[Step]:
    """Yield what verifying a contradiction resolved; what it did not is doubted."""
    # That an older value is older than today's is no news once it has been replaced.
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
    """Return what a finding about two memories that stand leads to; None where nothing changes."""
    if is_resolved(known, first, second) or not (
        known.is_active(first) and known.is_active(second)
    ):
        return None
    decided = _decided(known, first, second, found)
    return decided if isinstance(decided, Step) else _flag(known, decided)


def replaced_pair(known: Known, new: str, old: str, reason: str) -> Step | None:
    """Return the step by which a memory replaces another, as decided; None where one may not."""
    if is_resolved(known, new, old) or not (known.is_active(new) and known.is_active(old)):
        return None
    return _supersede(known, new, old, reason)


def _decided(known: Known, first: str, second: str, found: Finding) -> Step | _Doubt:
    """Replace the older of two memories that contradict each other where that is sure."""
    sure, why = found.confidence, found.reasoning or UNNAMED
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if found.newer != "unknown" and _is_held(known, newer, older):
        return _Doubt(new=newer, old=older, why=f"{why}; a person said the older one", sure=sure)
    if found.model and found.newer != "unknown" and (wait := _waits(known, newer, older, found)):
        return _Doubt(new=newer, old=older, why=f"{why}; {wait}", sure=sure)
    if found.newer == "unknown" or _not_sure(known, newer, older, sure):
        return _Doubt(new=first, old=second, why=why, sure=sure)
    rest = None
    if found.model and found.still:
        from memrepo.purify.remainders import remainder_of

        rest = remainder_of(known, known.current(older), found.still)
        why = f"{why}; what holds on stands by itself"
    return _supersede(known, newer, older, f"{why} ({sure:.2f} sure)", sure, rest)


def _waits(known: Known, newer: str, older: str, found: Finding) -> str:
    """Return why a model's word does not take a memory out of recall, or an empty string.

    A person's statement, one that is told of somebody, one that holds on in part, and one that no
    date says is over wait for a person.
    """
    one, two = known.current(newer), known.current(older)
    if by_person(two) and not by_person(one):
        return "a person said the older one"
    if not _TOLD.isdisjoint(_WORDS.findall(f"{one.body} {two.body}".casefold())):
        return "it is what somebody said of it"
    if found.still:
        from memrepo.purify.remainders import holds_on

        if not found.still_stated or not holds_on(two, found.still):
            return f"a part of it holds on: {found.still}"
    if newer_of(one.sources, two.sources) == ("first", "dated"):
        return ""
    seen = noticed(prior_of(one), prior_of(two))
    if seen is not None and seen.finding.confidence > SURE and seen.newer == "first":
        return ""
    return "no date says that it is over"


_WORDS = regex(r"\w+")
_TOLD = frozenset(
    """
says said claims claimed told thinks believes heard reportedly mentioned allegedly wrote
sagt sagte behauptet meint laut dit affirme selon dice dijo según diz disse secondo zegt zei
говорит сказал сказала утверждает
""".split()
)
"""Words by which a statement is somebody's, and not the memory's own."""


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Tell whether a person said or confirmed the older one and no date says that it is over."""
    if not by_person(known.current(older)) or by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _not_sure(known: Known, new: str, old: str, sure: float) -> str:
    """Return why a supersession is only flagged, or an empty string.

    A value that was superseded before and is stated again never comes back by itself: that would
    be a resurrection nobody decided on.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if sure <= SURE:
        return "a newer statement, but not a sure one"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def _supersede(
    known: Known,
    new: str,
    old: str,
    reason: str,
    sure: float | None = None,
    rest: Memory | None = None,
) -> Step:
    """Replace a memory by another; `rest` is what of it holds on as a memory of its own."""
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
        gains["duplicate_of"] = None  # what replaces a memory is no duplicate of it
        if after.standing == "probable_duplicate":
            gains["standing"] = None
    return Step(
        op="supersede",
        what=f"{before.label} by {after.label}",
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
            *((Create(memory=rest),) if rest is not None else ()),
            *case_of(known, new, old, kept=new, reason=reason, sure=sure),
        ),
    )


def _flag(known: Known, doubt: _Doubt) -> Step | None:
    """Mark two memories as contradicting each other; None where both say so already."""
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
        what=f"{known.current(new).label} against {known.current(old).label}",
        reason=doubt.why,
        changes=(*changes, *case),
        memories=(new, old),
    )
