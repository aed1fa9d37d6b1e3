"""What a run's chain holds, counted and put in words."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.core.changes import Create, Step, Update
from memrepo.core.state import State

SAID = (
    ("memories_new", "new"),
    ("superseded", "superseded"),
    ("memories_retired", "retired"),
    ("memories_reworded", "reworded"),
    ("contested", "contested"),
    ("memories_met_again", "met again"),
    ("notes_new", "notes"),
    ("notes_grown", "grown"),
    ("nominated", "nominated"),
    ("tier_moves", "moved"),
    ("pruned", "pruned"),
    ("archived", "archived"),
    ("summaries", "summaries"),
    ("hot_new", "made hot"),
    ("hot_gone", "no longer hot"),
    ("restored", "restored"),
    ("linked", "linked"),
)
"""Counts for the subject of a run's merge, the weightiest first."""
_LIFE = (
    ("nominated", "nominate"),
    ("tier_moves", "tier"),
    ("pruned", "prune"),
    ("archived", "archive"),
    ("summaries", "compress"),
    ("hot_new", "promote"),
    ("hot_gone", "demote"),
    ("restored", "restore"),
)


def count_of(state: State, steps: Sequence[Step]) -> dict[str, int]:
    """Count what the chain really holds: parts of what was purified may wait elsewhere."""
    notes = {id_ for id_, memory in state.memories.items() if memory.is_note}
    reworded = _updated(steps, "reword")
    changes = [change for step in steps if step.op != "restore" for change in step.changes]
    new = [c.memory for c in changes if isinstance(c, Create) and c.memory.type != "summary"]
    ops = [step.op for step in steps]
    summarised = _updated(steps, "compress")
    return {
        "memories_new": sum(not m.is_note for m in new),
        "notes_new": sum(m.is_note for m in new),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "memories_retired": len(_updated(steps, "retire")),
        "memories_reworded": sum(id_ not in notes for id_ in reworded),
        "notes_grown": sum(id_ in notes for id_ in reworded),
        **({"linked": count} if (count := len(_updated(steps, "link"))) else {}),
        **({"summarised": len(summarised)} if summarised else {}),
        **{name: count for name, op in _LIFE if (count := ops.count(op))},  # type: ignore[arg-type]
    }


def _updated(steps: Sequence[Step], op: str) -> list[str]:
    return [c.id for s in steps if s.op == op for c in s.changes if isinstance(c, Update)]
