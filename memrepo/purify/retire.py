"""Memories whose evidence is gone from every source stop being believed, with the reason.

Lineage: memory-purifier, stale sweep; deliberate differences: a deleted paragraph counts as well as
a deleted file, and evidence that still stands anywhere keeps the memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

from memrepo.core.changes import Step, Update
from memrepo.core.memory import Memory, Retired, Source
from memrepo.core.messages import counted
from memrepo.core.state import State

STANDING = "retire_candidate"
TextHashes = Callable[[str], frozenset[str]]
"""From a source's path to the text hashes of its current units; empty where it is gone."""


def retire(
    state: State,
    gone: Mapping[str, frozenset[str]] | None,
    standing: TextHashes,
    spared: Iterable[str],
    run: str,
    among: Collection[str] | None = None,
) -> tuple[Step, ...]:
    """Return one step a source for the memories that rested on what is gone from it.

    `gone` maps a source's path to text hashes that left it, None asks of every memory whether its
    evidence stands; `spared` are memories that this run met again or reworded. `among` limits all
    that to some ids.
    """
    kept = set(spared)
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.is_note or memory.id in kept or memory.standing == STANDING:
            continue
        if among is not None and memory.id not in among:
            continue
        lost = [s for s in memory.sources if _left(s, gone)]
        if lost and not any(_stands(state, source, standing) for source in memory.sources):
            found[lost[0].resource].append(memory)
    return tuple(_step(path, members, standing, run) for path, members in sorted(found.items()))


def _left(source: Source, gone: Mapping[str, frozenset[str]] | None) -> bool:
    return bool(source.text_hash) and (
        gone is None or source.text_hash in gone.get(source.resource, frozenset())
    )


def _stands(state: State, source: Source, standing: TextHashes) -> bool:
    """Tell whether evidence stands; a note that was promoted is none that could lose its text."""
    noted = state.layout.is_memory(source.resource)
    return noted or source.text_hash in standing(source.resource)


def _step(path: str, members: list[Memory], standing: TextHashes, run: str) -> Step:
    reason = "text_removed" if standing(path) else "source_removed"
    return Step(
        op="retire",
        what=f"{counted(len(members), 'memory', 'memories')} without evidence",
        reason=f"{reason}: {path} no longer holds what they rested on",
        changes=tuple(
            Update(
                id=memory.id,
                fields={
                    "standing": STANDING,
                    "retired": (
                        *memory.fields.get("retired", ()),
                        Retired(run=run, reason=f"{reason}: {path}"),
                    ),
                },
            )
            for memory in members
        ),
    )
