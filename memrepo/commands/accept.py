"""`memrepo accept`: let a waiting run take effect, whole or in part.

A replay, not a merge of the branch: each accepted decision is merged field by field onto HEAD, in a
new chain. Only decisions in effect are ancestors of the branch; what is left out is on record by
fingerprint and not proposed again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memrepo.commands.finding import find
from memrepo.commands.landing import chain
from memrepo.commands.lifecycle import derived_files
from memrepo.commands.log import NoSuchRun, run_merge
from memrepo.commands.reporting import handed
from memrepo.commands.revert import Wanted, revert
from memrepo.commands.session import MACHINE, Answer, Desk, Session, opened
from memrepo.commands.waiting import (
    NothingWaits,
    Waiting,
    left_behind,
    put_away,
    put_decided_away,
    refuse_on_waiting,
    the_waiting,
)
from memrepo.core.changes import BULK_OPS, Plan, Step
from memrepo.core.errors import Exit
from memrepo.core.messages import Context, message
from memrepo.core.state import State, play
from memrepo.merge.states import Facts, MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import Conflict
from memrepo.purify.holding import fingerprints
from memrepo.store import history
from memrepo.store.stream import Chain, Commit

ACCEPTED = "refs/memrepo/accepted/"
_DERIVED = ("view", "run")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which memories a person takes: all, only these, or all but these."""

    only: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()

    def takes(self, id_: str) -> bool:
        """Tell whether one memory is taken."""
        return id_ not in self.without and (not self.only or id_ in self.only)


@dataclass(slots=True)
class _Replay:
    """A chain under construction on top of HEAD.

    `people` are the memories that a person changed or removed since the run was computed, `barred`
    those that say what a person rejected since.
    """

    state: State
    people: frozenset[str] = frozenset()
    commits: list[Commit] = field(default_factory=list)
    edited: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    barred: set[str] = field(default_factory=set)
    conflicts: list[tuple[history.Entry, tuple[Conflict, ...]]] = field(default_factory=list)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run", nargs="?", default="", metavar="RUN", help="the waiting run")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--only", nargs="+", default=[], metavar="ID", help="only these memories")
    part.add_argument(
        "--except", dest="without", nargs="+", default=[], metavar="ID", help="all but these"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the merge commit")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Replay the accepted decisions onto HEAD and join them with one merge commit."""
    with opened(session) as desk:
        desk.require_writable()
        desk.store.refuse_unfit()
        refuse_on_waiting(desk)
        decided = [] if options.dry_run else put_decided_away(desk, ACCEPTED)
        if len(decided) == 1 and (not options.run or decided[0].startswith(options.run)):
            return Answer(
                data={"run": decided[0], "commits": [], "conflicts": []},
                text=f"{decided[0]} was decided already",
            )
        try:
            waits = the_waiting(desk, options.run)
        except NothingWaits:
            if (reverted := _reverted(desk, options.run)) is None:
                raise
            return revert(desk, session, _brought_back(desk, reverted, options))
        replayed, choice = _replay(desk, waits, options)
        made = _chain(desk, session, waits, replayed, options.reason)
        if options.dry_run:
            return _answer(waits, replayed, choice, "")
        commit = desk.store.land(made, f"accept-{waits.run}")
        put_away(desk, waits, ACCEPTED)
        more, problems = handed(desk.store, waits.run)
    answer = _answer(waits, replayed, choice, commit)
    return replace(answer, data={**answer.data, **more}, problems=problems)


def _reverted(desk: Desk, run: str) -> history.Entry | None:
    """Return the revert in effect that took a landed run back; accepting the run reverts it."""
    try:
        target = run_merge(desk, run) if run else None
    except NoSuchRun:
        return None
    gone: set[str] = set()
    repo, head = desk.store.repo, desk.tree.commit
    for entry in history.reverts(repo, head) if target else ():
        if entry.commit in gone:
            continue
        gone.update(entry.trailers.get("Reverts", ()))
        if target is not None and target.commit in gone:
            return entry
    return None


def _brought_back(desk: Desk, entry: history.Entry, options: argparse.Namespace) -> Wanted:
    told = frozenset(entry.trailers.get("Memory", ()))
    before = desk.store.snapshot(entry.parents[0]).state()
    only = frozenset(find(before, word).id for word in options.only)
    without = frozenset(find(before, word).id for word in options.without)
    return Wanted(
        target=entry,
        latest=entry.commit == desk.tree.commit,
        only=only or (told - without if without else frozenset()),
        dry_run=options.dry_run,
        reason=options.reason or "accepted after it was taken back",
    )


def _replay(desk: Desk, waits: Waiting, options: argparse.Namespace) -> tuple[_Replay, Choice]:
    tip = desk.store.snapshot(waits.tip).state()
    choice = Choice(
        only=frozenset(find(tip, word).id for word in options.only),
        without=frozenset(find(tip, word).id for word in options.without),
    )
    replay = _Replay(state=desk.tree.state(), people=_people(desk, waits))
    for entry in waits.chain(desk):
        if entry.op not in _DERIVED:
            _step(desk, waits, replay, entry, choice)
    return replay, choice


def _people(desk: Desk, waits: Waiting) -> frozenset[str]:
    """Return the memories that a person changed or removed since the run was computed."""
    states = (desk.store.snapshot(waits.base).state(), desk.tree.state())
    owner = {m.path: id_ for state in states for id_, m in state.memories.items()}
    span = f"{waits.base}..{desk.tree.commit}"
    return frozenset(
        owner[path]
        for entry in history.entries(desk.store.repo, "--no-merges", span)
        if entry.parents and (_by_hand(entry) or entry.trailer("Actor").startswith("human:"))
        for path in desk.store.work.changed(entry.parents[0], entry.commit)
        if path in owner
    )


def _by_hand(entry: history.Entry) -> bool:
    return not entry.trailer("Op")


def _step(
    desk: Desk, waits: Waiting, replay: _Replay, entry: history.Entry, choice: Choice
) -> None:
    """Merge one decision onto the state so far; what is in conflict is left out and listed."""
    base = desk.store.snapshot(entry.parents[0]).state()
    theirs = desk.store.snapshot(entry.commit).state()
    ids = _concerned(entry, base, theirs)
    if not ids and choice.only:
        return
    barred = _barred(replay.state, base, theirs, ids)
    replay.barred |= barred
    taken = _share(entry, ids, [i for i in ids if choice.takes(i) and i not in barred])
    if ids and not taken:
        replay.left |= _prints(entry, ids)
        return
    result = _merged(desk, replay, entry, base, _without(base, theirs, _rest(ids, taken)))
    if result.conflicts:
        replay.conflicts.append((entry, result.conflicts))
        clashing = {c.id for c in result.conflicts}
        # Of a file that is no memory there is no part to leave out.
        kept = [] if "" in clashing else [id_ for id_ in taken if id_ not in clashing]
        taken = _share(entry, ids, kept)
        result = _merged(desk, replay, entry, base, _without(base, theirs, _rest(ids, taken)))
        taken = [] if result.conflicts else taken
    if out := _rest(ids, taken):
        replay.left |= _prints(entry, out)
    if result.conflicts or (ids and not taken) or not result.effect.files:
        return
    replay.state = result.state
    replay.edited |= result.effect.files.keys()
    replay.commits.append(Commit(message=_message(waits, entry, taken), effect=result.effect))


def _barred(state: State, base: State, theirs: State, ids: Sequence[str]) -> frozenset[str]:
    """Return the memories of a step that would say what a person rejected."""
    if not tombstones_in(state):
        return frozenset()
    new = {i: m for i in ids if (m := theirs.memories.get(i)) and m.status != "forgotten"}
    return frozenset(
        i
        for i, m in new.items()
        if m != base.memories.get(i) and tombstones_in(state).bar(m) is not None
    )


def _concerned(entry: history.Entry, base: State, theirs: State) -> tuple[str, ...]:
    """Return the memories of a step; of a commit that git alone made, those that differ."""
    if not _by_hand(entry):
        return entry.trailers.get("Memory", ())
    every = sorted({*base.memories, *theirs.memories})
    return tuple(i for i in every if base.memories.get(i) != theirs.memories.get(i))


def _share(entry: history.Entry, ids: Sequence[str], taken: list[str]) -> list[str]:
    """Return what can be taken of a step: a supersession is one decision, and has no parts."""
    parts = entry.op in BULK_OPS or _by_hand(entry)
    return taken if parts or len(taken) == len(ids) else []


def _rest(ids: Sequence[str], taken: Sequence[str]) -> list[str]:
    return [id_ for id_ in ids if id_ not in taken]


def _merged(
    desk: Desk, replay: _Replay, entry: history.Entry, base: State, theirs: State
) -> MergeResult:
    ours = _differing(desk, entry, desk.tree.commit) | replay.edited
    return merge_states(
        base,
        replay.state,
        theirs,
        our_facts=Facts(paths=ours, people=replay.people),
        their_facts=Facts(paths=_differing(desk, entry, entry.commit)),
    )


def _message(waits: Waiting, entry: history.Entry, taken: Sequence[str]) -> str:
    step = Step(
        op=entry.op,
        what=_what(entry, len(taken)),
        reason=entry.trailer("Reason"),
        memories=tuple(taken),
    )
    context = Context(
        actor=entry.trailer("Actor") or MACHINE,
        run=waits.run,
        prints=tuple(p for p in entry.prints if p.split(":")[1] in taken),
    )
    return message(step, context)


def _prints(entry: history.Entry, ids: Sequence[str]) -> frozenset[str]:
    """Return the fingerprints of what a step does to some of its memories."""
    mine = [p for p in entry.prints if p.split(":")[1] in ids]
    return fingerprints(entry.op, ids, mine)


def _differing(desk: Desk, entry: history.Entry, commit: str) -> frozenset[str]:
    return frozenset(desk.store.work.changed(entry.parents[0], commit))


def _what(entry: history.Entry, count: int) -> str:
    what = entry.subject.partition(": ")[2] or entry.subject
    first, _, rest = what.partition(" ")
    return f"{count} {rest}" if entry.op in BULK_OPS and first.isdigit() else what


def _without(base: State, theirs: State, ids: Sequence[str]) -> State:
    """Return a step's outcome as if it had not touched some memories."""
    memories, edits = dict(theirs.memories), {}
    for id_ in ids:
        new, old = theirs.memories.get(id_), base.memories.get(id_)
        if new is not None:
            edits[new.path] = base.files.get(new.path)
            del memories[id_]
        if old is not None:
            memories[id_] = old
            edits[old.path] = base.files[old.path]
    return replace(theirs, memories=memories, files=theirs.files.edited(edits))


def _chain(desk: Desk, session: Session, waits: Waiting, replay: _Replay, reason: str) -> Chain:
    pages = derived_files(desk, replay.state)
    steps = [
        Step(
            op="run",
            what="manifest and candidates",
            reason="accepted after review",
            changes=left_behind(desk, waits, replay.left),
        )
    ]
    if pages:
        steps.insert(
            0,
            Step(op="view", what="pages", reason="they follow the memories", changes=tuple(pages)),
        )
    context = Context(actor=MACHINE, run=waits.run)
    effects, _ = play(replay.state, Plan(base=desk.tree.commit, steps=tuple(steps)))
    derived = [
        Commit(message=message(step, context), effect=effect)
        for step, effect in zip(steps, effects, strict=True)
    ]
    merge = Step(
        op="run",
        what=waits.entry.subject.partition(": ")[2],
        reason=reason or "accepted after review",
    )
    return chain(
        desk.store,
        desk.tree.state(),
        replay.state,
        [*replay.commits, *derived],
        base=desk.tree.commit,
        now=session.now,
        merge=message(merge, Context(actor=desk.actor(session), run=waits.run)),
    )


def _answer(waits: Waiting, replay: _Replay, choice: Choice, commit: str) -> Answer:
    conflicts: list[dict[str, Any]] = [
        {"step": entry.subject, "commit": entry.commit, "memory": c.id, "kind": c.kind}
        for entry, found in replay.conflicts
        for c in found
    ]
    count = len(replay.commits)
    lines = [
        f"accepted {waits.run}: {count} decision{'' if count == 1 else 's'} in effect"
        + (f" ({commit[:10]})" if commit else " (dry run)")
    ]
    if replay.left:
        lines.append(f"left out, and not proposed again: {len(replay.left)}")
    if replay.barred:
        lines.append(f"of these, a person rejected what they say: {len(replay.barred)}")
    lines += [f"conflict: {c['step']}: {c['kind']} {c['memory']}" for c in conflicts]
    return Answer(
        data={
            "run": waits.run,
            "commits": [commit] if commit else [],
            "conflicts": conflicts,
            "refused": sorted(replay.left),
            "rejected": sorted(replay.barred),
            "only": sorted(choice.only),
            "except": sorted(choice.without),
        },
        text="\n".join(lines),
        exit=Exit.DECIDE if conflicts else Exit.DONE,
    )
