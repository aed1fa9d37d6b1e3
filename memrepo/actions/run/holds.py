"""Proposals that wait for review: removals, and decisions reverted or rejected before.

Additions are committed, removals may have to wait. A pending removal is recorded in the manifest of
the run that found it, so it survives in clones and later runs. It is proposed again until a
manifest records a decision.

An exact match of a rejection is dropped, and a similar one waits for review. Decisions that a
person reverted wait as well. All are identified by fingerprint: operation, memories and proposed
text. Equal proposals have equal fingerprints in every run. A dependent decision is treated like the
decision it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.retire import retire
from memrepo.core.changes import (
    BULK_OPS,
    Change,
    Create,
    Delete,
    Remove,
    Step,
    Update,
    Write,
    prints_of,
)
from memrepo.core.manifest import CARRIED, Removal
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.merge.statements import contains
from memrepo.merge.tombstones import (
    Corrected,
    Tombstone,
    Tombstones,
    corrected_in,
    describe_bar,
    tombstones_in,
)
from memrepo.policies.upkeep import losses
from memrepo.purify.decisions import replaced_pair
from memrepo.purify.intake import Reader
from memrepo.purify.known import Former, Known, Marks


def told_apart(state: State, steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps to commit, and the steps that remove active memories."""
    takes = [can_wait(step) and bool(losses(state, step.changes)) for step in steps]
    adding = tuple(s for s, taking in zip(steps, takes, strict=True) if not taking)
    return adding, tuple(s for s, taking in zip(steps, takes, strict=True) if taking)


def can_wait(step: Step) -> bool:
    """Return whether a step can be carried over to later runs. Only such steps are held back."""
    return step.op in CARRIED and (step.op == "retire" or len(step.memory_ids) == 2)


def on_record(steps: Iterable[Step], why: str) -> tuple[Removal, ...]:
    """Return pending steps as records for the manifest, with one removal per decision."""
    found: list[Removal] = []
    for step in filter(can_wait, steps):
        if step.op == "supersede":
            found.append(Removal(op=step.op, memories=step.memory_ids, reason=step.reason, why=why))
        else:
            found += [
                Removal(op=step.op, memories=(id_,), reason=step.reason, why=why)
                for id_ in step.memory_ids
            ]
    return tuple(found)


def prints_in(steps: Iterable[Step]) -> frozenset[str]:
    """Return the fingerprints of all decisions in the given steps."""
    found: set[str] = set()
    for step in steps:
        prints = [p for change in step.changes for p in prints_of(step.op, change)]
        found |= fingerprints(step.op, step.memory_ids, prints if step.op in BULK_OPS else ())
    return frozenset(found)


def carried(
    state: State,
    removals: Sequence[Removal],
    reader: Reader,
    now: datetime,
    run: str,
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return steps for those pending removals that still apply, and why they are pending.

    A removal no longer applies if the line is back, if a person confirmed the memory, or if it left
    recall otherwise.
    """
    there = state.memories
    retiring = {
        removal.memories[0]
        for removal in removals
        if removal.op == "retire" and (memory := there.get(removal.memories[0])) is not None
        if not any(stamp.by.startswith("human:") for stamp in memory.fields.get("verified", ()))
    }
    steps = [*retire(state, None, reader, (), run, now, among=retiring)]
    pairs = [
        removal
        for removal in removals
        if removal.op == "supersede"
        if all(i in there and there[i].status == "active" for i in removal.memories)
    ]
    if pairs:
        former = Former(standing=reader.standing, holding=reader.holding)
        known = Known(state=state, former=former, now=now, marks=Marks(state.memories))
        made = (replaced_pair(known, r.memories[1], r.memories[0], r.reason) for r in pairs)
        steps += [step for step in made if step is not None]
    due = {(step.op, id_) for step in steps for id_ in step.memory_ids}
    why = (r.why for r in removals if (r.op, r.memories[0]) in due)
    return tuple(steps), tuple(dict.fromkeys(filter(None, why)))


_SAID = ("subject", "predicate", "object", "scope")


class Bars(msgspec.Struct, frozen=True, kw_only=True):
    """The fingerprints of proposals to drop, and those of proposals to review."""

    dropped: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()


def barred(
    state: State,
    steps: Sequence[Step],
    left_out: Mapping[tuple[str, str], str],
    *,
    whole: bool,
) -> tuple[tuple[Step, ...], tuple[Problem, ...], Bars]:
    """Return the steps without rejected statements, with the problems and barred fingerprints.

    `left_out` maps a source text to the tombstone that shortened its unit. `whole` marks a
    reconciliation, which also reads corrected statements that are still in their sources.
    """
    steps = tuple(steps)
    stones = tombstones_in(state)
    corrected = corrected_in(state) if steps else None
    if not (stones or corrected):
        return steps, stones.problems, Bars()
    dropped: set[str] = set()
    held: set[str] = set()
    told: list[Problem] = []
    shorter: dict[int, Change] = {}
    for op, change, memory in _news(state, steps):
        said, update = memory, None
        if stones.bar_whole(memory) is None:
            update = stones.shortening(memory)
        if update is not None and update.body is not None:
            change = shorter[id(change)] = _with_body(change, update)
            said = memory.with_fields(update.fields, update.body)
        if stone := _corrected(corrected, said, whole) if corrected else None:
            dropped |= prints_of(op, change)
            told.append(_told(memory, stone, "corrected-left-out", "left out: it says"))
        elif stone := stones.bar(said):
            dropped |= prints_of(op, change)
            told.append(_told(memory, stone, "rejected-left-out", "left out: it says"))
        elif stone := stones.near(said) or _repeats_left_out(stones, said, left_out):
            held |= prints_of(op, change)
            what = "waits for review: it is close to"
            told.append(_told(memory, stone, "rejected-similar", what))
    if shorter:
        steps = tuple(
            replace(step, changes=tuple(shorter.get(id(c), c) for c in step.changes))
            for step in steps
        )
    bars = Bars(dropped=frozenset(dropped), held=frozenset(held))
    return steps, (*stones.problems, *told), bars


def _corrected(corrected: Corrected, memory: Memory, whole: bool) -> Tombstone | None:
    """Return the correction that bars a new memory's text wherever it occurs, or None.

    Memories without sources, such as those written by a person, are never barred.
    """
    stone = corrected.bar_whole(memory) if memory.sources else None
    if stone is None:
        return None
    dated = (
        (s.resource, "" if s.captured_from == "commit" else s.captured) for s in memory.sources
    )
    return stone if all(corrected.binds(stone, *place, whole=whole) for place in dated) else None


def _with_body(change: Change, update: Update) -> Change:
    match change:
        case Create(memory=memory):
            return replace(change, memory=memory.with_fields(update.fields, update.body))
        case Update(fields=fields):
            return replace(change, fields={**fields, **update.fields}, body=update.body)
        case _:
            return change


def _repeats_left_out(
    stones: Tombstones, memory: Memory, left_out: Mapping[tuple[str, str], str]
) -> Tombstone | None:
    """Return the tombstone that shortened a memory's source, if the memory repeats its words."""
    if memory.is_note:
        return None
    for source in memory.sources:
        for (_, text), key in left_out.items():
            stone = stones.found.get(key) if text == source.text_hash else None
            if stone is not None and contains(stone.tokens, memory.said):
                return stone
    return None


def _news(state: State, steps: Sequence[Step]) -> Iterator[tuple[str, Change, Memory]]:
    """Yield (operation, change, memory) for each change that gives a memory a new statement."""
    for step in steps:
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    yield step.op, change, memory
                case Update(id=id_, fields=fields, body=body):
                    old = state.memories.get(id_)
                    if old is None or old.status == "forgotten":
                        continue
                    if body is not None or not fields.keys().isdisjoint(_SAID):
                        yield step.op, change, old.with_fields(fields, body)
                case Remove() | Write() | Delete():
                    pass


def _told(memory: Memory, stone: Tombstone, rule: str, what: str) -> Problem:
    how, way = describe_bar(stone.key)
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} {what} what was {how}",
        fix=way,
    )


class Parted(msgspec.Struct, frozen=True, kw_only=True):
    """The steps to commit, the steps that need review, and the steps refused for good.

    `held_ids` and `refused_ids` are the memories whose creation is pending or refused.
    """

    kept: tuple[Step, ...]
    held: tuple[Step, ...]
    refused: tuple[Step, ...] = ()
    held_ids: frozenset[str] = frozenset()
    refused_ids: frozenset[str] = frozenset()
    why: str = ""
    """Why the held steps are pending."""

    @property
    def open_ids(self) -> frozenset[str]:
        """Return every memory that a pending step concerns.

        The units that support it remain open.
        """
        return self.held_ids | {id_ for step in self.held for id_ in step.memory_ids}


def fingerprints(op: str, memories: Iterable[str], prints: Iterable[str] = ()) -> frozenset[str]:
    """Return the fingerprints of a commit: one per change in bulk steps, otherwise only one.

    `prints` are the fingerprints listed in the commit's trailers, which take precedence.
    """
    if found := frozenset(prints):
        return found
    if op == "create":
        return frozenset(f"{op}:{id_}" for id_ in memories)
    return frozenset({f"{op}:{'+'.join(sorted(memories))}"})


def prints_between(before: State, after: State) -> dict[str, frozenset[str]]:
    """Return every fingerprint that decisions between two states could have, by memory.

    This is for changes without recorded decisions. An extra fingerprint does no harm.
    """
    found: dict[str, frozenset[str]] = {}
    for id_ in {*before.memories, *after.memories}:
        old, new = before.memories.get(id_), after.memories.get(id_)
        if old is new or old == new:
            continue
        if old is None or new is None:
            found[id_] = fingerprints("create" if old is None else "prune", (id_,))
            continue
        fields = {k: v for k, v in new.fields.items() if old.fields.get(k) != v}
        update = Update(id=id_, fields=fields, body=new.body if new.body != old.body else None)
        prints = {p for op in BULK_OPS for p in prints_of(op, update)}
        prints |= {p for other in fields.get("superseded_by", ()) for p in _pair(id_, other)}
        if fields.get("status") in _RESTING:
            prints |= fingerprints(_RESTING[fields["status"]], (id_,))
        found[id_] = frozenset(prints)
    return found


_RESTING = {"archived": "archive", "forgotten": "forget"}


def _pair(one: str, other: str) -> frozenset[str]:
    return fingerprints("supersede", (one, other))


TAKEN_BACK = "the same changes were reverted before"
LEFT_OUT = "it was left out when a run was accepted"
SIMILAR = "what it says is close to what was rejected"


def part(
    steps: Sequence[Step],
    taken_back: frozenset[str],
    refused: frozenset[str] = frozenset(),
    *,
    similar: frozenset[str] = frozenset(),
    offered: frozenset[str] = frozenset(),
) -> Parted:
    """Split steps by fingerprint into kept, pending and refused steps.

    Reverted decisions, texts `similar` to rejected ones, and decisions `offered` again become
    pending. A decision that needs a pending or refused memory is treated like that memory.
    """
    rest, out = _split(steps, refused)
    # The judgement of a note remains, even if the resulting memory was refused.
    rest += tuple(replace(s, memories=()) for s in out if s.op == "nominate")
    kept, held = _split(rest, taken_back | similar | offered)
    others, alike = _split(held, similar)
    others, again = _split(others, offered - taken_back)
    causes = ((alike, SIMILAR), (others, TAKEN_BACK), (again, LEFT_OUT))
    why = [said for steps, said in causes if steps]
    held_ids, refused_ids = _created(held), _created(out)
    return Parted(
        kept=_without_twins(kept, held_ids | refused_ids),
        held=_without_twins(held, refused_ids),
        refused=out,
        held_ids=held_ids,
        refused_ids=refused_ids,
        why="; ".join(why),
    )


def _split(
    steps: Sequence[Step], prints: frozenset[str]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Split steps into those to keep and those excluded by fingerprint or by memory."""
    stay: list[Step] = []
    leave: list[Step] = []
    gone: set[str] = set()
    for step in steps:
        if step.op in BULK_OPS:
            hit = [bool(prints_of(step.op, c) & prints) for c in step.changes]
            out = [c for c, yes in zip(step.changes, hit, strict=True) if yes]
            stay += _some(step, [c for c, yes in zip(step.changes, hit, strict=True) if not yes])
            leave += _some(step, out)
            gone |= {id_ for change in out if isinstance(change, Create) for id_ in _ids(change)}
        elif fingerprints(step.op, step.memory_ids) & prints or gone & set(step.memory_ids):
            leave.append(step)
        else:
            stay.append(step)
    return tuple(stay), tuple(leave)


def _without_twins(steps: tuple[Step, ...], gone: frozenset[str]) -> tuple[Step, ...]:
    """Remove duplicate marks that refer to memories that will not be created."""
    return tuple(
        replace(step, changes=tuple(_without_twin(change, gone) for change in step.changes))
        for step in steps
    )


def _without_twin(change: Change, gone: frozenset[str]) -> Change:
    if not isinstance(change, Create) or change.memory.text("duplicate_of") not in gone:
        return change
    fields: dict[str, None] = {"duplicate_of": None}
    if change.memory.standing == "probable_duplicate":
        fields["standing"] = None
    return Create(memory=change.memory.with_fields(fields))


def _created(steps: Sequence[Step]) -> frozenset[str]:
    return frozenset(id_ for s in steps if s.op == "create" for id_ in s.memory_ids)


def _some(step: Step, changes: Sequence[Change]) -> list[Step]:
    if not changes:
        return []
    if len(changes) == len(step.changes):
        return [step]
    return [replace(step, changes=tuple(changes))]


def _ids(change: Change) -> tuple[str, ...]:
    match change:
        case Create(memory=memory):
            return (memory.id,)
        case Update(id=id_) | Remove(id=id_):
            return (id_,)
        case Write() | Delete():
            return ()
