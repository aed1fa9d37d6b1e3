"""Attribution of manual commits: before a run, record who edited each memory.

A memory edited by one of `human_authors` counts as a person's statement, which no program rewords.
Edits by others are attributed to `process:unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby

import msgspec

from memrepo.actions.landing import prepare, retried
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import Plan, Step, Update
from memrepo.core.codec import changed_keys
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import counted
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State
from memrepo.merge.tombstones import tombstones_in
from memrepo.store.git import Git
from memrepo.store.staged import HandCommit, changes, hand_commits

CLAIMED = "a commit by hand says who means it"
"""Reason of an attribution commit. `undo` and `revert` use it to distinguish it from a decision."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as a manual commit left it, with the commit's author and the former text."""

    memory: Memory
    stamp: Stamp
    before: str = ""


def claim_edits(first: Work) -> str:
    """Commit the attributions of manual edits since the last run.

    Return the commit, or an empty string.
    """
    return retried(first.store, lambda: _claim_edits(first))


def _claim_edits(first: Work) -> str:
    at = first.refreshed()
    last = next(iter(at.landed()), None)
    state = at.tree.state()
    updates = _updates(state, _claims(at, f"{last.entry.commit}..HEAD" if last else "HEAD"))
    if not updates:
        return ""
    from memrepo.store.stream import refuse_unsigned

    refuse_unsigned(at.store.repo)  # the run ends in a merge, so fail before the first commit
    step = Step(
        op="edit",
        what=f"Record who edited {counted(len(updates), 'memory', 'memories')} by hand",
        reason=CLAIMED,
        changes=tuple(updates),
    )
    plan = Plan(base=at.tree.commit, steps=(step,))
    context, now = at.context(), first.call.now
    landing = prepare(at.store, state, plan, context, now, author=at.author)
    return at.store.land(landing.chain, f"edit-{at.tree.commit[:10]}")


class AllRemoved(MemrepoError):
    """Raised when a manual commit removed every memory. A run must not continue without consent."""

    exit_code = Exit.DECIDE

    def __init__(self, hand: HandCommit) -> None:
        super().__init__(
            f"commit {hand.id[:10]} removed every memory from the tree, by hand",
            fix=f"`git revert {hand.id[:10]}` restores them; `memrepo run --max-change-pct 100`"
            " continues without them",
        )


def emptied(at: Work) -> HandCommit | None:
    """Return the manual commit since the last run that removed the last memories, or None.

    Removing forgotten or superseded memories does not count, because recall no longer had them.
    """
    last = next(iter(at.landed()), None)
    layout, git = at.tree.layout, at.store.repo
    hands = list(hand_commits(git, f"{last.entry.commit}..{at.tree.commit}")) if last else []
    gone = {
        commit
        for commit, path, old, new in changes(git, [hand.id for hand in hands])
        if old
        and not new
        and layout.is_memory(path)
        and any(m.status == "active" for m in _decoded(git, path, old).values())
    }
    for hand in hands:
        if hand.id in gone and not any(map(layout.is_memory, at.store.snapshot(hand.id).blobs)):
            return hand
    return None


def refuse_emptied(work: Work, *, limited: bool) -> None:
    """Raise AllRemoved if a manual commit removed every memory.

    An explicit limit overrides this.
    """
    if not limited and (hand := emptied(work.refreshed())) is not None:
        raise AllRemoved(hand)


def _claims(at: Work, revisions: str) -> Iterator[Claim]:
    """Yield the memories that manual commits changed, oldest first."""
    git = at.store.repo
    hands = {hand.id: hand for hand in hand_commits(git, revisions)}
    for commit, group in groupby(changes(git, hands), key=lambda change: change[0]):
        was, made = dict[str, Memory](), dict[str, Memory]()
        for _, path, old, new in group:
            if at.tree.layout.is_memory(path):
                was |= _decoded(git, path, old)
                made |= _decoded(git, path, new)
        for (
            id_,
            memory,
        ) in made.items():  # moved or swapped files do not count as edits
            if _meant(memory, was.get(id_)):
                old_body = was[id_].body if id_ in was else ""
                before = old_body if old_body != memory.body else ""
                yield Claim(memory=memory, stamp=_stamp(at, hands[commit]), before=before)


def _decoded(git: Git, path: str, blob: str) -> dict[str, Memory]:
    memory = codec.decode(path, git.read(blob))[0] if blob else None
    return {memory.id: memory} if memory is not None and memory.id else {}


def _stamp(at: Work, hand: HandCommit) -> Stamp:
    known = hand.email in at.config.human_authors
    return Stamp(
        by=f"human:{hand.email}" if known else "process:unknown",
        at=datetime.fromtimestamp(hand.when, UTC),
    )


def _meant(memory: Memory, was: Memory | None) -> bool:
    """Return whether an edit changed the text or a field that a person may set."""
    if was is None:
        return "generated" not in memory.fields  # otherwise the memory was only restored
    keys = changed_keys(was.fields, memory.fields)
    return was.body != memory.body or any(BY_NAME[key].writer == "person" for key in keys)


def _updates(state: State, claims: Iterator[Claim]) -> list[Update]:
    """Return updates for memories that still have the edited text, naming the last editor.

    Memories that repeat a rejected statement are skipped.
    """
    found: dict[str, Update] = {}
    for claim in claims:
        memory = state.memories.get(claim.memory.id)
        if memory is None or memory.body != claim.memory.body:
            continue
        if memory.status == "forgotten" != claim.memory.status and tombstones_in(state).bar(memory):
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
