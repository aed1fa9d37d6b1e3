"""Trust: who stands behind the wording of a memory, derived from its stamps and never stored."""

from __future__ import annotations

from memrepo.core.memory import Memory, Stamp


def trust_of(memory: Memory) -> str:
    """Return `human-reviewed`, `machine-confirmed` or `unverified`.

    A confirmation counts for the wording that it was given to: one from before the last change by
    another actor is none. Trust is never above that of the evidence: where all of it is inferred,
    only a person's confirmation counts, since the person is evidence too.
    """
    written: Stamp | None = memory.fields.get("generated")
    stamps: tuple[Stamp, ...] = memory.fields.get("verified", ())
    since = written.at if written else None
    held = [s for s in stamps if since is None or s.at is None or s.at >= since]
    if any(s.by.startswith("human:") for s in held):
        return "human-reviewed"
    if memory.sources and all(source.kind == "inferred" for source in memory.sources):
        return "unverified"
    if written and written.by.startswith("human:"):
        return "human-reviewed"
    return "machine-confirmed" if held else "unverified"
