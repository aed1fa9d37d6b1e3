"""Edits that a hand committed, claimed for whoever made them: the next run stamps the memories.

A memory that one of `human_authors` edited is then a person's statement, which no machine rewords;
what anybody else committed counts as `process:unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from memrepo.actions.past.timeline import landed
from memrepo.actions.run.landing import prepare
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import Plan, Step, Update
from memrepo.core.codec import changed_keys
from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import counted
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State
from memrepo.store.light import HandCommit, changes, hand_commits

CLAIMED = "a commit by hand says who means it"
"""The reason of a commit that stamps; by it `undo` and `revert` know one from a decision."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One memory as a commit by hand left it, who committed it, and its wording before."""

    memory: Memory
    stamp: Stamp
    before: str = ""


def claim_edits(first: Work) -> str:
    """Stamp what hands edited since the last run, in one commit; return it, or an empty string."""
    at = first.refreshed()
    last = next(iter(landed(at)), None)
    state = at.tree.state()
    updates = _updates(state, _claims(at, f"{last.entry.commit}..HEAD" if last else "HEAD"))
    if not updates:
        return ""
    step = Step(
        op="edit",
        what=counted(len(updates), "memory", "memories") + " edited by hand",
        reason=CLAIMED,
        changes=tuple(updates),
    )
    plan = Plan(base=at.tree.commit, steps=(step,))
    landing = prepare(at.store, state, plan, at.context(), first.call.now)
    return at.store.land(landing.chain, f"edit-{at.tree.commit[:10]}")


def _claims(at: Work, revisions: str) -> Iterator[Claim]:
    """Yield what commits by hand changed of memories, oldest first."""
    git = at.store.repo.light
    hands = {hand.id: hand for hand in hand_commits(git, revisions)}
    for commit, path, old, new in changes(git, hands):
        if not (new and at.tree.layout.is_memory(path)):
            continue
        memory, _ = codec.decode(path, git.read(new))
        was = codec.decode(path, git.read(old))[0] if old else None
        if memory is not None and memory.id and _meant(memory, was):
            before = was.body if was is not None and was.body != memory.body else ""
            yield Claim(memory=memory, stamp=_stamp(at, hands[commit]), before=before)


def _stamp(at: Work, hand: HandCommit) -> Stamp:
    known = hand.email in at.config.human_authors
    return Stamp(
        by=f"human:{hand.email}" if known else "process:unknown",
        at=datetime.fromtimestamp(hand.when, UTC),
    )


def _meant(memory: Memory, was: Memory | None) -> bool:
    """Tell whether a hand said something: a new wording, or a field that a person may set."""
    if was is None:
        return "generated" not in memory.fields  # else it came back as it once was
    keys = changed_keys(was.fields, memory.fields)
    return was.body != memory.body or any(BY_NAME[key].writer == "person" for key in keys)


def _updates(state: State, claims: Iterator[Claim]) -> list[Update]:
    """Return the stamps of memories that still say what the hand wrote; the last hand counts."""
    found: dict[str, Update] = {}
    for claim in claims:
        memory = state.memories.get(claim.memory.id)
        if memory is None or memory.body != claim.memory.body:
            continue
        stamp: Stamp | None = memory.fields.get("generated")
        if stamp is not None and stamp.at and claim.stamp.at and stamp.at >= claim.stamp.at:
            continue
        aliases = memory.texts("aliases")
        if claim.before and (alias := text_hash(claim.before)) not in aliases:
            aliases = (*aliases, alias)
        found[memory.id] = Update(
            id=memory.id, fields={"generated": claim.stamp, "aliases": aliases or None}
        )
    return list(found.values())
