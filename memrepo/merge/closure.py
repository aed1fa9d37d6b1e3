"""Consistency rules for references between memories: targets exist, supersessions are mutual.

A merge can break rules that each side satisfied. `findings` detects this and `close` repairs it if
there is one clear repair. No repair removes a memory or excludes it from recall.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.core.errors import Problem
from memrepo.core.memory import REFERENCES, Memory, cut_ids

if TYPE_CHECKING:  # importing these takes a hook longer than everything else
    from memrepo.core.state import State, Update

_ROUNDS = 20  # one repair may reveal another problem, but such chains are short
_Memories = Mapping[str, Memory]


class BrokenRule(msgspec.Struct, frozen=True, kw_only=True):
    """A broken rule, with the field changes that repair it. The value None removes a field."""

    problem: Problem
    repairs: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> tuple[str, str, str]:
        """Return a key that identifies the same finding in another state, even in another file."""
        return self.problem.rule, self.problem.key, self.problem.message


def closure(state: State) -> tuple[Problem, ...]:
    """Return the broken rules of a state, duplicate ids first, the rest ordered by path."""
    same = [p for p in state.problems if p.rule == "memory-same-id"]
    return (*same, *(finding.problem for finding in findings(state)))


def findings(state: State) -> tuple[BrokenRule, ...]:
    """Return the broken rules between the memories of a state."""
    return broken(state.memories)


def known_in(*states: State) -> frozenset[tuple[str, str, str]]:
    """Return the names of all findings in the given states."""
    return frozenset(finding.name for state in states for finding in findings(state))


def close(
    state: State, known: Collection[tuple[str, str, str]] = ()
) -> tuple[tuple[Update, ...], tuple[BrokenRule, ...]]:
    """Return updates that repair the references of a state, with the findings repaired.

    Findings in `known` (by name) are not repaired: a merge repairs only what it broke itself.
    """
    memories, repaired = fix_findings(state.memories, lambda finding: finding.name not in known)
    return tuple(_updates(state, memories)), repaired


def fix_findings(
    memories: _Memories, is_wanted: Callable[[BrokenRule], bool]
) -> tuple[dict[str, Memory], tuple[BrokenRule, ...]]:
    """Fix the wanted findings between memories. Return the memories and what was fixed."""
    memories = dict(memories)
    repaired: dict[tuple[str, str, str], BrokenRule] = {}
    for _ in range(_ROUNDS):
        found = [f for f in broken(memories) if f.name not in repaired and is_wanted(f)]
        busy: set[str] = set()
        for finding in found:
            if busy.isdisjoint(finding.repairs):
                busy |= finding.repairs.keys()
                repaired[finding.name] = finding
                for id_, fields in finding.repairs.items():
                    memories[id_] = memories[id_].with_fields(fields)
        if not busy:
            break
    return memories, tuple(repaired.values())


def _updates(state: State, memories: _Memories) -> Iterator[Update]:
    from memrepo.core.state import Update

    for id_, new in memories.items():
        old = state.memories[id_]
        if new is not old:
            keys = sorted(
                k for k in {*old.fields, *new.fields} if old.fields.get(k) != new.fields.get(k)
            )
            yield Update(id=id_, fields={k: new.fields.get(k) for k in keys})


def broken(memories: _Memories) -> tuple[BrokenRule, ...]:
    """Return the broken rules between memories, ordered by path, each with a repair."""
    found: list[BrokenRule] = []
    for memory in memories.values():
        fields = memory.fields
        if not fields.keys().isdisjoint(REFERENCES):
            found += _lost(memory, memories)
        if "supersedes" in fields or "superseded_by" in fields:
            found += _halves(memory, memories)
        if ("superseded_by" in fields) != (memory.status == "superseded"):
            found += _odd_status(memory)
    found += _cycles(memories)
    return tuple(sorted(found, key=lambda f: (f.problem.path, f.name)))


def _lost(memory: Memory, memories: _Memories) -> Iterator[BrokenRule]:
    # `gone` is sorted, so the name of the finding is the same if a merge reorders the list.
    for key, gone, rest in cut_ids(memory, lambda id_: id_ not in memories):
        yield _finding(
            memory,
            "reference-lost",
            key,
            f"no such memory: {', '.join(gone)}",
            {memory.id: {key: rest}},
            "remove the reference",
        )


def _halves(memory: Memory, memories: _Memories) -> Iterator[BrokenRule]:
    """Yield supersessions that are recorded in only one of the two memories concerned.

    If the old memory is superseded or forgotten, the repair completes the record. Otherwise it
    removes the reference.
    """
    for key, other_key in (("superseded_by", "supersedes"), ("supersedes", "superseded_by")):
        for target in getattr(memory, key):
            other = memories.get(target)
            if other is None or memory.id in getattr(other, other_key):
                continue
            repairs: dict[str, dict[str, object]]
            old = memory if key == "superseded_by" else other
            if old.status in ("superseded", "forgotten"):
                repairs = {target: {other_key: (*getattr(other, other_key), memory.id)}}
                fix = f"add it to {other_key} of {target}"
            else:
                rest = tuple(t for t in getattr(memory, key) if t != target)
                repairs = {memory.id: {key: rest or None}}
                fix = "remove the reference"
            yield _finding(
                memory,
                "supersession-half",
                key,
                f"found {target}, which does not name this memory in {other_key}",
                repairs,
                fix,
            )


def _odd_status(memory: Memory) -> Iterator[BrokenRule]:
    if memory.status == "superseded":
        yield _finding(
            memory,
            "supersession-status",
            "status",
            "found the status superseded, but no memory that replaced it",
            {memory.id: {"status": None, "superseded_at": None}},
            "make it active again",
        )
    elif memory.status != "forgotten":
        yield _finding(
            memory,
            "supersession-status",
            "superseded_by",
            f"found a replaced memory with the status {memory.status}, expected superseded",
            {memory.id: {"superseded_by": None, "superseded_at": None}},
            "remove the reference",
        )


def _cycles(memories: _Memories) -> Iterator[BrokenRule]:
    """Yield cycles of memories that supersede each other, with the one that remains active."""
    for ring in _rings(memories):
        from memrepo.merge.versions import rank

        stays = max((memories[i] for i in ring), key=lambda m: rank(m, None))
        repairs: dict[str, dict[str, object]] = {}
        for id_ in ring:
            rest = tuple(t for t in memories[id_].supersedes if t != stays.id)
            if rest != memories[id_].supersedes:
                repairs[id_] = {"supersedes": rest or None}
        heirs = tuple(t for t in stays.superseded_by if t not in ring)
        mine: dict[str, object] = {"superseded_by": heirs or None}
        if not heirs:
            mine |= {"superseded_at": None}
            if stays.status == "superseded":
                mine |= {"status": None}
        repairs[stays.id] = {**repairs.get(stays.id, {}), **mine}
        yield _finding(
            stays,
            "supersession-cycle",
            "superseded_by",
            f"found memories that replace each other in a cycle: {', '.join(sorted(ring))}",
            repairs,
            f"let {stays.id} stay",
        )


def _rings(memories: _Memories) -> Iterator[frozenset[str]]:
    """Yield the cycles of memories that supersede each other, ordered by smallest id."""
    done: set[str] = set()
    for start in sorted(i for i, m in memories.items() if "superseded_by" in m.fields):
        heirs = _heirs(start, memories) if start not in done else frozenset()
        if start in heirs:
            ring = frozenset(id_ for id_ in heirs if start in _heirs(id_, memories))
            done |= ring
            yield ring


def _heirs(id_: str, memories: _Memories) -> frozenset[str]:
    """Return the ids of all memories that superseded a memory, directly or indirectly."""
    found: set[str] = set()
    rest = [id_]
    while rest:
        memory = memories.get(rest.pop())
        new = {*memory.superseded_by} - found if memory is not None else set()
        found |= new
        rest += new
    return frozenset(found)


def _finding(
    memory: Memory,
    rule: str,
    key: str,
    message: str,
    repairs: Mapping[str, Mapping[str, object]],
    fix: str,
) -> BrokenRule:
    problem = Problem(
        path=memory.path, line=1, rule=rule, key=key, message=f"{memory.id}: {message}", fix=fix
    )
    return BrokenRule(problem=problem, repairs=repairs)
