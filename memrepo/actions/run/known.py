"""The memories of a run as its changes make them, found by everything that identifies a claim.

A run changes memories here first: a statement adds a memory, its lines are more evidence for one,
or its words replace those of one. The changes then become steps, and later decisions of the run
see what the earlier ones changed.

A change that a person decided against is refused here, so nothing else of the run depends on it: a
rejected or corrected statement, one similar to it, or what was reverted or discarded before
(`merge.tombstones`). The report of the run names each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from memrepo.core.codec import changed_keys
from memrepo.core.errors import MemrepoError, Problem
from memrepo.core.ids import digest
from memrepo.core.memory import (
    MAX_LISTED,
    Memory,
    Source,
    hashes_of,
    listed_places,
)
from memrepo.core.messages import counted, words_of
from memrepo.core.state import (
    BULK_OPS,
    Change,
    Create,
    Op,
    State,
    Step,
    Update,
    is_decided,
    traits_of,
)
from memrepo.merge.tombstones import Corrected, Tombstone, binds, decided_against, tombstones_in
from memrepo.policies.claims import (
    find_reflecting,
    free_path,
    is_by_person,
    is_held_by_person,
    merge_sources,
    storage_fault,
    texts_of,
)
from memrepo.policies.phrases import are_apart
from memrepo.policies.standing import RETIRED, is_settled
from memrepo.read.intake import Reader

_Value = TypeVar("_Value")
REVERTED = "reverted-left-out"
"""The rule of the warning about changes that a person reverted or discarded before."""
MAX_REFUSED, REFUSED_LENGTH = 5, 60
"""The most texts that the warning of what was reverted quotes, and the characters of each."""
_STATEMENT_FIELDS = ("subject", "predicate", "object", "scope")
Marks = Callable[[Memory], frozenset[Hashable]]
"""Return what identifies a memory, by one rule of `policies.claims`."""


class DecidedAgainst(MemrepoError):
    """Raised when a run would make a change that a person decided against."""


class Known:
    """The memories of a state with a run's changes so far, and the steps that make them.

    `ops` maps a changed memory to `create`, `reword` or `confirm`. `made` maps a statement to the
    memory that contains it, and `replaced` to the memory whose edited line it is. `settled` are
    memories whose lost line is accounted for, so that no edited line rewords them. `faults` has
    what could not be handled, with the reason. `barred` are the warnings about rejected statements.
    """

    def __init__(
        self,
        state: State,
        now: datetime,
        reader: Reader,
        *,
        decided: Collection[str],
        whole: bool,
        scope: str,
    ) -> None:
        """Start without changes.

        `decided` is what was reverted or discarded (`core.changes.traits`). If `whole`, the run
        also reads corrected statements that are still in their sources. `scope` is that of the
        workspace.
        """
        self.state, self.now, self.reader, self.run = state, now, reader, ""
        self.steps: list[Step] = []
        self.ops: dict[str, Op] = {}
        self.made: dict[str, str] = {}
        self.settled: set[str] = set()
        self.replaced: dict[str, str] = {}
        self.faults: dict[str, str] = {}
        self.barred: list[Problem] = []
        self._reverted: dict[Op, list[str]] = {}
        self._refused: dict[str, str] = {}
        self._decided, self._whole = decided, whole
        self._scope = scope
        self._changed: dict[str, Memory] = {}
        self._undo: list[tuple[str, Memory | None, Op | None]] = []
        self._paths: set[str] = set()
        self._marks: dict[Marks, dict[Hashable, dict[str, None]]] = {}

    # -- looking up --------------------------------------------------------------------------

    def memory(self, id_: str) -> Memory | None:
        """Return a memory with this run's changes so far, or None if it does not exist."""
        return self._changed.get(id_) or self.state.memories.get(id_)

    def current(self, id_: str) -> Memory:
        """Return a memory with this run's changes so far. Raises KeyError if it does not exist."""
        return self._changed[id_] if id_ in self._changed else self.state.memories[id_]

    def is_active(self, id_: str) -> bool:
        """Return whether a memory is active after this run's changes so far."""
        memory = self.memory(id_)
        return memory is not None and memory.status == "active"

    def scope_of(self, resource: str) -> str:
        """Return the scope of what a source states."""
        return self._scope if self.state.layout.is_mirrored(resource) else ""

    @property
    def changed(self) -> Mapping[str, Memory]:
        """Return the memories that this run added or changed so far, by id."""
        return self._changed

    def find(self, marks: Marks, wanted: Iterable[Hashable]) -> list[Memory]:
        """Return the memories with any of the wanted marks, sorted by path. Notes have none."""
        if marks not in self._marks:
            self._marks[marks] = {}
            for memory in (*self.state.memories.values(), *self._changed.values()):
                self._mark(marks, memory)
        index, keys = self._marks[marks], frozenset(wanted)
        found = [self.memory(id_) for id_ in {i: None for key in keys for i in index.get(key, ())}]
        current = (m for m in found if m is not None and not keys.isdisjoint(marks(m)))
        return sorted(current, key=lambda memory: memory.path)

    def _mark(self, marks: Marks, memory: Memory) -> None:
        for mark in () if memory.is_note else marks(memory):
            self._marks[marks].setdefault(mark, {})[memory.id] = None

    def find_text(self, hashes: Iterable[str]) -> list[Memory]:
        """Return the memories with any of these texts, or a source with one, sorted by path."""
        return self.find(texts_of, hashes)

    # -- evidence ----------------------------------------------------------------------------

    def is_stated(self, memory: Memory) -> bool:
        """Return whether a memory is still stated by a line of a source or by a note."""
        noted = any(self.state.layout.is_memory(s.resource) for s in memory.sources)
        return noted or self._has_line(memory)

    def _has_line(self, memory: Memory) -> bool:
        """Return whether a memory is still stated by a line of a source."""
        return self._is_at(memory) or bool(self.other_places(memory))

    def _is_at(self, memory: Memory) -> bool:
        """Return whether any place that a memory lists still contains the memory's text."""
        return any(self.reader.is_at(memory, source) for source in memory.sources)

    def is_of_other_heading(self, memory: Memory, claim: Memory, hash_: str) -> bool:
        """Return whether a file states one text for a memory and a claim under two headings."""
        files = {s.resource for s in claim.sources} & {*memory.files}
        return are_apart(memory.context, claim.context) and any(
            len(self.reader.headings_of(file, hash_)) > 1 for file in files
        )

    def tags_of(self, sources: Iterable[Source]) -> tuple[str, ...]:
        """Return the tags of the notes that state something."""
        return tuple(dict.fromkeys(tag for s in sources for tag in self.reader.tags(s.resource)))

    def other_places(self, memory: Memory) -> tuple[Source, ...]:
        """Return the current places of a memory that may have more sources than it lists."""
        is_full = len(memory.sources) >= MAX_LISTED
        return self.reader.holding(hashes_of(memory)) if is_full else ()

    def lost_its_line(self, memory: Memory) -> bool:
        """Return whether an active memory has no line any more, and nothing else took its place."""
        is_open = memory.status == "active" and memory.id not in self.settled
        return is_open and not self._has_line(memory)

    def is_decided_by_person(self, memory: Memory) -> bool:
        """Return whether a person wrote the replacement of a memory, or decided on replacing it."""
        heirs = filter(None, map(self.state.memories.get, memory.superseded_by))
        return any(is_by_person(heir) or is_settled(self.state, heir, memory) for heir in heirs)

    # -- changing ----------------------------------------------------------------------------

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Undo what a decision changed if it fails, and name the failure in `faults`."""
        begun, steps = len(self._undo), len(self.steps)
        try:
            yield
        except Exception as error:  # noqa: BLE001 one statement must not stop a run
            while len(self._undo) > begun:
                id_, memory, op = self._undo.pop()
                _restore(self._changed, id_, memory)
                _restore(self.ops, id_, op)
            del self.steps[steps:]
            if not isinstance(error, DecidedAgainst):
                what = f"an internal error ({type(error).__name__}: {error}); please report it"
                self.faults[name] = error.message if isinstance(error, MemrepoError) else what

    def create(self, memory: Memory) -> None:
        """Add a new memory at a free path. Raise MemrepoError if it could not be stored."""
        memory = replace(memory, path=free_path(self.state, self._paths, memory))
        self._put(memory, "create")
        self._paths.add(memory.path)

    def reword(self, memory: Memory) -> None:
        """Give an existing memory new words. Raise MemrepoError if it could not be stored."""
        self._put(memory, "create" if self.ops.get(memory.id) == "create" else "reword")
        self.settled.add(memory.id)

    def _put(self, memory: Memory, op: Op) -> None:
        if why := storage_fault(self._bounded(memory)):
            raise MemrepoError(why)
        old = self.memory(memory.id)
        stated: Change = Update(id=memory.id, fields=memory.fields, body=memory.body)
        if self._is_refused(op, [stated if old is not None else Create(memory=memory)]):
            raise DecidedAgainst(f"{memory.id} is left out")
        self._change(memory, op)

    def _change(self, memory: Memory, op: Op | None = None) -> None:
        before = self._changed.get(memory.id), self.ops.get(memory.id)
        self._undo.append((memory.id, *before))
        self._changed[memory.id] = memory
        if op is not None:
            self.ops[memory.id] = op
        for marks in self._marks:
            self._mark(marks, memory)

    def add_evidence(self, id_: str, sources: Sequence[Source]) -> None:
        """Merge sources into those of a memory, and restore it if its source was gone.

        Sources that only reflect on others are marked as `inferred`.
        """
        old = self.current(id_)
        if old.status == "forgotten" and (stone := self._barring(old)) is not None:
            self.barred.append(_why_barred(old, *stone))
            return
        reflecting = find_reflecting([*old.sources, *sources])
        new = [
            replace(s, kind="inferred") if s.resource in reflecting else s
            for s in sources
            if not is_listed(old, s.resource, s.text_hash)
        ]
        # Each on its own: a new source must not bring back one that was reverted.
        left = [s for s in new if not self._is_reverted_source(id_, s)]
        if new and not left:
            return
        fields = {"sources": merge_sources(old.sources, left), **self._revived(old)}
        grown = old.with_fields(fields)
        if id_ not in self.ops and self._bounded(grown) == old:
            return  # all these places are known
        self._change(grown, self.ops.get(id_, "confirm"))

    def _is_reverted_source(self, id_: str, source: Source) -> bool:
        """Return whether a person reverted the evidence of a source, and record that."""
        known = self.state.memories.get(id_)
        sources = (*known.sources, source) if known is not None else ()
        return self._is_refused("confirm", [Update(id=id_, fields={"sources": sources})])

    def _revived(self, memory: Memory) -> dict[str, object]:
        """Return the fields that restore a retired memory that is stated again."""
        if memory.standing != "retire_candidate":
            return {}
        if memory.status != "archived" or is_held_by_person(memory):
            return {"standing": None}
        return {"standing": None, "status": None, "archived_at": None}

    def _bounded(self, memory: Memory) -> Memory:
        """Return a memory that lists as many sources as may be listed.

        If no listed place contains the text any more, new places are listed first.
        """
        sources, old = memory.sources, self.state.memories.get(memory.id)
        if len(sources) <= MAX_LISTED:
            return memory
        if old is not None and len(old.sources) >= MAX_LISTED and not self._is_at(old):
            sources = merge_sources(sources[len(old.sources) :], old.sources)
        return memory.with_fields({"sources": listed_places(sources)})

    # -- what a person decided against -------------------------------------------------------

    def _is_refused(self, op: Op, changes: Sequence[Change]) -> bool:
        """Return whether a person decided against changes that belong together, and record that."""
        for change in changes:
            memory = self._stated_by(change)
            if memory is not None and (stone := self._barring(memory)) is not None:
                self.barred.append(_why_barred(memory, *stone))
                return True
        traits = traits_of(self.state.memories, changes)
        if self._repeats_reverted_words(changes) or is_decided(traits, self._decided):
            ids = Step(op=op, changes=tuple(changes)).memory_ids
            self._reverted.setdefault(op, []).extend(ids)
            stated = filter(None, map(self._stated_by, changes))
            self._refused |= {one.id: f'"{words_of(one, REFUSED_LENGTH)}"' for one in stated}
            return True
        return False

    def _repeats_reverted_words(self, changes: Sequence[Change]) -> bool:
        """Return whether changes repeat a reverted wording.

        A new memory can state one again, and a memory that got its former words back has no line.
        """
        new = (one.memory.body for one in changes if isinstance(one, Create))
        ends = tuple(f":{digest([body])[:12]}" for body in new)
        marks = (one for one in changes if isinstance(one, Update))
        ids = tuple(f"{one.id}:" for one in marks if one.fields.get("standing") == RETIRED)
        return bool(ends or ids) and any(
            trait.endswith(ends) or trait.startswith(ids) for trait in self._decided
        )

    def _stated_by(self, change: Change) -> Memory | None:
        """Return the memory to which a change gives a new statement, after the change, or None."""
        match change:
            case Create(memory=memory):
                return memory
            case Update(id=id_, fields=fields, body=body):
                old = self.current(id_)
                is_stated = body is not None or not fields.keys().isdisjoint(_STATEMENT_FIELDS)
                if is_stated and old.status != "forgotten":
                    return old.with_fields(fields, body)
        return None

    def _barring(self, memory: Memory) -> tuple[Tombstone, str] | None:
        """Return a decision against a new text and the rule of its warning, or None.

        A correction bars texts that are read from sources, not texts that a person writes.
        """
        against = decided_against(self.state)
        if not against:
            return None
        for stone in against.barring_whole(memory) if memory.sources else ():
            days = [
                (s.resource, s.captured * (s.captured_from != "commit")) for s in memory.sources
            ]
            is_bound = all(binds(stone, *at, whole=self._whole) for at in days)
            if isinstance(stone, Corrected) and is_bound:
                return stone, "corrected-left-out"
        if (rejected := tombstones_in(self.state).find_barring(memory)) is not None:
            return rejected, "rejected-left-out"
        similar = tombstones_in(self.state).near(memory)
        return (similar, "rejected-similar") if similar is not None else None

    def left_out(self) -> Iterator[Problem]:
        """Yield a warning for each rejected statement, and for each operation reverted before."""
        yield from self.barred
        for op, ids in self._reverted.items():
            first, *others = dict.fromkeys(ids)
            memory = self.memory(first)
            more = f" and {counted(len(others), 'other', 'others')}" if others else ""
            texts = [self._refused[id_] for id_ in (first, *others) if id_ in self._refused]
            text = ": " * bool(texts) + ", ".join(texts[:MAX_REFUSED])
            yield Problem(
                path=memory.path if memory else first,
                rule=REVERTED,
                severity="warning",
                message=f"{op} {first}{more}: a person deleted, reverted or discarded the same"
                f" before, so it is left out{text}",
                fix="if it is right after all, make the change by hand",
            )

    def unstated(self) -> Iterator[Problem]:
        """Yield a warning for each memory that stays without a line, unless `left_out` names it."""
        named = {id_ for ids in self._reverted.values() for id_ in ids}
        now = (self.current(one.id) for one in self.state.active if one.id not in named)
        yield from kept_unstated(now, self._decided, self.reader)

    # -- steps -------------------------------------------------------------------------------

    def add(self, *steps: Step) -> None:
        """Add steps, and apply their updates for the rest of this run.

        What a person decided against is left out: of a step for several memories only their
        changes, else the whole step.
        """
        for step in steps:
            is_bulk = step.op in BULK_OPS
            groups = [(one,) for one in step.changes] if is_bulk else [step.changes]
            kept = [g for g in groups if not self._is_refused(step.op, g)]
            changes = tuple(change for group in kept for change in group)
            for change in changes:
                if isinstance(change, Update):
                    old = self.current(change.id)
                    self._change(old.with_fields(change.fields, change.body))
            if changes:
                self.steps.append(replace(step, changes=changes))

    def add_bulk(self, op: Op, reason: str, *, notes: bool = False) -> None:
        """Add the step for all notes, or all other memories, that were changed in one way."""
        changes = tuple(
            self._change_of(id_, op)
            for id_, one in self.ops.items()
            if one == op and self._changed[id_].is_note == notes
        )
        if changes:
            self.steps.append(Step(op=op, reason=reason, changes=changes))

    def _change_of(self, id_: str, op: Op) -> Change:
        memory = self._bounded(self._changed[id_])
        if op == "create":
            return Create(memory=memory)
        old, fields = self.state.memories[id_].fields, dict(memory.fields)
        if "sources" in fields:
            fields["sources"] = memory.sources
        changes = {key: fields.get(key) for key in changed_keys(old, memory.fields)}
        return Update(id=id_, fields=changes, body=memory.body if op == "reword" else None)


def kept_unstated(
    memories: Iterable[Memory], decided: Collection[str], reader: Reader
) -> Iterator[Problem]:
    """Yield a warning for each claim without a line whose removal or new words were reverted."""
    end = f" standing {RETIRED}"
    kept = {one.removesuffix(end).partition(":")[0] for one in decided}
    found = (memory for memory in memories if memory.id in kept and memory.status == "active")
    for memory in found:
        if not (memory.is_note or memory.standing == RETIRED or reader.is_stated(memory)):
            yield Problem(
                path=memory.path,
                rule="kept-unstated",
                severity="warning",
                message=f"no source states {memory.id} any more; it stays because its removal or"
                " its new words were reverted",
                fix=f"`memrepo forget {memory.id}`, if it is no longer true",
            )


def _why_barred(memory: Memory, stone: Tombstone, rule: str) -> Problem:
    how, fix = stone.why
    what = "is close to" if rule == "rejected-similar" else "says"
    return Problem(
        path=memory.path,
        rule=rule,
        severity="warning",
        message=f"{memory.id} left out: it {what} what was {how}",
        fix=fix,
    )


def _restore(values: dict[str, _Value], key: str, value: _Value | None) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value


def is_listed(memory: Memory, resource: str, hash_: str) -> bool:
    """Return whether a memory lists a text of a source, under its current or an earlier wording."""
    return any(s.resource == resource and hash_ in memory.wordings(s) for s in memory.sources)
