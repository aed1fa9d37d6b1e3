"""`memrepo revert`, `undo` and `restore`: revert a decision while preserving later work.

Reverting the latest operation restores the whole tree. Reverting an earlier one restores each field
that was not written since then, and names the later work that stays. `undo` reverts the last
operation on the branch, which may itself be a revert. If the last commit was made by hand, `undo`
reverts nothing.

`restore` brings back one memory that was pruned, forgotten, archived or superseded. If another
memory replaced it, it takes that memory's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.landing import (
    Rejected,
    Unchanged,
    Written,
    back_in_recall,
    chain,
    derived_contents,
    listed_steps,
    refuse_lifting,
    unchanged,
    with_pages,
    write,
)
from memrepo.actions.past import NoSuchRun, find_removed, landing_of
from memrepo.actions.pending import DECIDED, all_waiting
from memrepo.actions.recall.lookup import NoSuchMemory, count_retrieval, find
from memrepo.actions.run.gather import CLAIMED
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError, problem
from memrepo.core.ids import ID_PATTERN, visible
from memrepo.core.memory import Memory, Stamp
from memrepo.core.messages import PREFIX, REASON_LENGTH, SUBJECT_LENGTH, fold, message, words_of
from memrepo.core.state import (
    BULK_OPS,
    PROPOSED,
    Change,
    Delete,
    State,
    Step,
    Update,
    Write,
    apply,
    traits_between,
)
from memrepo.core.times import EARLIEST
from memrepo.merge import states
from memrepo.merge.states import LaterWork, Reverted, revert_change, together
from memrepo.merge.tombstones import (
    Tombstone,
    Tombstones,
    join_tombstones,
    lifted_changes,
    path_of,
    sweep,
    tombstone_bytes,
    tombstone_of,
    tombstone_of_changes,
    tombstones_in,
)
from memrepo.policies.standing import RETIRED
from memrepo.store import history
from memrepo.store.history import LogEntry, newest_in_effect
from memrepo.store.objects import NewCommit


class RevertRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo revert`."""

    target: Annotated[
        str,
        option(
            "run id (a unique prefix will do), commit, or a memory: what was last decided of it; "
            "the latest run when left out",
            metavar="RUN|COMMIT|ID",
        ),
    ] = ""
    only: Annotated[
        tuple[str, ...],
        option("revert only its changes to these memories", "--memory", metavar="ID", several=True),
    ] = ()
    later: Annotated[bool, option("revert later changes to its memories too", "--later")] = False
    dry_run: DryRun = False
    reason: Reason = ""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """An operation to revert, how, and which memories of it. If `only` is empty, all of them."""

    target: LogEntry
    """The commit to revert or, if there are several, the last one."""
    request: RevertRequest
    only: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return the run id or, if there is none, the short id of the commit."""
        return self.target.landed or self.target.commit[:10]


class UndoneCommit(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that an undo reverts."""

    commit: str
    op: str
    subject: str


class Result(VerbResult, frozen=True, kw_only=True):
    """The reverted operation, the new commit, and the later work that stays."""

    name: str
    """The run id, or the short id of the commit."""
    reverts: str
    commits: tuple[str, ...] = ()
    kept: tuple[LaterWork, ...] = ()
    """Later work on what the operation changed, which stays."""
    files: int = 0
    """The number of changed files."""
    latest: bool
    """Whether this was the latest operation, so that all files are restored."""
    only: tuple[str, ...] = ()
    """The named memories; all that the operation changed, if there is none."""
    together: tuple[str, ...] = ()
    """Memories reverted in addition to the named ones, because they share a supersession."""
    reads_again: bool = False
    """Whether the next run reads the input of the reverted run again."""
    waited: bool = False
    """Whether this was the decision about a run that waited for review."""
    undone: UndoneCommit | msgspec.UnsetType = msgspec.UNSET
    """What `undo` chose to revert."""


def revert(work: Work, request: RevertRequest) -> Result:
    """Revert one operation by making a new commit."""
    work.begin_write(dry_run=request.dry_run)
    target, only = find_target(work, request.target, request.only)
    return take_back(work, Wanted(target=target, request=request, only=only))


def take_back(work: Work, wanted: Wanted) -> Result:
    """Revert an operation in one commit."""
    target = wanted.target
    if target.op == "sync":
        commit = target.commit[:10]
        raise UsageError(
            f"{commit} joined this clone with its hub: reverting it would remove everything that"
            " one of the two had",
            fix="revert single runs or decisions instead:"
            f" `git log {commit}^1..{commit}^2` is this clone's, `^2..^1` the hub's",
        )
    asked, request = wanted.only, wanted.request
    if asked:
        before, after = (
            work.store.snapshot(c).state() for c in (wanted.target.before, target.commit)
        )
        wanted = replace(wanted, only=together(asked, before, after))
    undone = _undone(work, wanted)
    found = Result(
        name=wanted.name,
        reverts=target.commit,
        latest=_is_latest(work, wanted),
        only=tuple(sorted(asked)),
        together=tuple(sorted(wanted.only - asked)),
        kept=undone.kept,
        files=len(undone.effect),
    )
    if request.dry_run or not found.files:
        return found
    return replace(
        found,
        commits=(_commit(work, wanted, undone),),
        reads_again=bool(target.landed) and not wanted.only,
        waited=not wanted.only and f"{DECIDED}{target.run}" in work.store.repo.refs_below(DECIDED),
        notices=tuple(work.store.notices),
    )


def _is_latest(work: Work, wanted: Wanted) -> bool:
    return wanted.target.commit == work.tree.commit


def _undone(work: Work, wanted: Wanted) -> Reverted:
    """Compute a revert on top of HEAD, with the pages that it changes, without writing anything."""
    store = work.store
    span = wanted.target.before, wanted.target.commit
    changed = store.work.changed(*span)
    before, after = (store.snapshot(commit).state() for commit in span)
    head = work.tree.state()
    later = wanted.request.later
    done = revert_change(before, after, head, later=later, only=wanted.only, paths=changed)
    if not (done.effect or _is_latest(work, wanted)):
        return done
    pages: Mapping[str, bytes | None] = derived_contents(work, done.state)
    if _is_latest(work, wanted) and not wanted.only and not work.tree.stones:
        # Each byte is as it was, also of pages that a commit by hand left outdated.
        pages = {path: before.files.get(path) for path in changed}
    return replace(done, effect={**done.effect, **pages})


def _commit(work: Work, wanted: Wanted, undone: Reverted) -> str:
    if work.call.actor:
        from memrepo.actions.landing import refuse_taking

        refuse_taking(work, work.tree.state(), undone.state, "revert")
        gone = [p for p, data in undone.effect.items() if data is None]
        lifted = (s for s in work.tree.stones.rejected if path_of(work.tree.layout, s.key) in gone)
        refuse_lifting(lifted, work.actor)
    target, steps = wanted.target, history.chain_of(work.store.repo, wanted.target.commit)
    undone = _recorded(work, wanted, undone)
    # List only the reverted part.
    memories = dict.fromkeys(
        id_
        for id_ in (i for entry in steps for i in entry.trailers.get("Memory", ()))
        if ID_PATTERN.fullmatch(id_) and (not wanted.only or id_ in wanted.only)
    )
    step = Step(
        op="revert",
        what=f"Revert{' part of' if wanted.only else ''}: {target.subject}",
        reason=wanted.request.reason or "`memrepo revert`",
        memories=tuple(memories),
    )
    lines = listed_steps([f"undone: {entry.subject}" for entry in steps])
    text = message(step, work.context(reverts=(target.commit,), lines=lines))
    made = chain(
        work.store,
        work.tree.state(),
        undone.state,
        [NewCommit(message=text, effect=undone.effect)],
        base=work.tree.commit,
        now=work.call.now,
        author=work.author,
    )
    return work.store.land(made, f"revert-{target.commit[:10]}")


def _recorded(work: Work, wanted: Wanted, undone: Reverted) -> Reverted:
    """Add the record of what was reverted, so that no run proposes it again.

    If a part of a revert is reverted, its record loses that part.
    """
    head, target = work.tree.state(), wanted.target
    against = traits_between(undone.state.memories, head.memories)
    if target.op == "revert" and wanted.only:
        return _with(undone, lifted_changes(undone.state, wanted.only))
    if target.op not in PROPOSED or not against:
        return undone
    ids = sorted({one[: len("mem-") + 16] for one in against})
    stone = tombstone_of_changes(
        " ".join((f"Reverted: {wanted.name}", *sorted(wanted.only))),
        against,
        (head.memories[id_] for id_ in ids if id_ in head.memories),
        reason=fold(wanted.request.reason, REASON_LENGTH) or "`memrepo revert`",
        by=work.actor,
        at=work.call.now,
    )
    return _with(undone, {path_of(head.layout, stone.key): tombstone_bytes(stone)})


def _with(undone: Reverted, files: Mapping[str, bytes | None]) -> Reverted:
    state = replace(undone.state, files=undone.state.files.edited(files))
    return replace(undone, state=state, effect={**undone.effect, **files})


# -- undo ---------------------------------------------------------------------------------------


class UndoRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo undo`."""

    dry_run: DryRun = False
    reason: Reason = ""


def undo(work: Work, request: UndoRequest) -> Result:
    """Revert the newest operation, following first parents.

    Raises UsageError if a commit by hand is newer.
    """
    work.begin_write(dry_run=request.dry_run)
    target = last_operation(work)
    if who := work.other_person(target):
        raise UsageError(
            f"the last operation, {target.commit[:10]} ({visible(target.subject)}), is {who}'s",
            fix=f"`memrepo revert {target.commit[:10]}` reverts it for all who share this memory",
        )
    how = RevertRequest(dry_run=request.dry_run, reason=request.reason or "undone")
    undone = UndoneCommit(commit=target.commit, op=target.op, subject=visible(target.subject))
    return replace(take_back(work, Wanted(target=target, request=how)), undone=undone)


# -- what a word names ----------------------------------------------------------------------------


class NothingToRevert(MemrepoError):
    """Raised when the branch contains no operation that can be reverted."""

    exit_code = Exit.USAGE

    def __init__(self, why: str, fix: str = "`memrepo log` lists runs and operations") -> None:
        super().__init__(why, fix=fix)


def _already_reverted(work: Work, run: str) -> UsageError:
    """Return the error for a run that memrepo or git has reverted, with the way to restore it."""
    layout, there = work.tree.layout, newest_in_effect(work.landed())
    removed = history.manifest_removals(work.store.repo, work.tree.commit, layout)
    by = next((e for e in removed if run in map(history.run_of, e.paths)), None)
    fix = "`git revert` the commit that removed it to restore it"
    if by is not None:
        program = "memrepo" if by.op == "revert" else "git"
        fix = f"`{program} revert {by.commit[:10]}` restores it"
    if there is not None:
        fix += f"; `memrepo revert {there.landed}` reverts the run before it"
    return UsageError(f"{run} is already reverted", fix=fix)


def find_target(
    work: Work, word: str, named: Sequence[str] = ()
) -> tuple[LogEntry, frozenset[str]]:
    """Return the operation to revert, and the memories to which the user's words limit it."""
    runs = work.landed()
    if not (word or runs):
        raise NothingToRevert("no run has landed on this branch")
    # Without a word, neither an older run than the newest nor another person's is chosen.
    if not word and runs[0].in_effect and (who := work.other_person(runs[0])):
        own = next((r.run for r in runs if r.in_effect and not work.other_person(r)), "")
        mine = f", `memrepo revert {own}` your newest" if own else ""
        run = runs[0].run
        raise UsageError(
            f"the newest run is {who}'s", fix=f"`memrepo revert {run}` reverts it{mine}"
        )
    entry, only = _named(work, word, runs) if word else (runs[0], frozenset[str]())
    if entry.landed and not entry.in_effect:
        raise _already_reverted(work, entry.landed)
    if not work.store.is_ancestor(entry.commit, work.tree.commit):
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if not entry.before or not entry.trailer("Op"):
        raise NothingToRevert(f"{entry.commit[:10]} was not written by memrepo: use `git revert`")
    if entry.op == "init":
        raise NothingToRevert(f"{entry.commit[:10]} created this repository")
    if named:
        tip, before = (work.store.snapshot(c).state() for c in (entry.commit, entry.before))
        every = replace(tip, memories={**before.memories, **tip.memories})
        only = frozenset(find(every, one).id for one in named)
    return entry, only


def _named(work: Work, word: str, runs: Sequence[LogEntry]) -> tuple[LogEntry, frozenset[str]]:
    try:
        return landing_of(work, word, runs), frozenset()
    except NoSuchRun:
        if commit := work.store.resolve(word):
            # The last commit of a run names the whole run.
            known = next((one for one in runs if one.commit == commit), None)
            entry = next(iter(history.entries(work.store.repo, "-1", commit)))
            return known or entry, frozenset()
        if not (memory := _memory(work, word)):
            raise
    return _last_of(work, memory)


def _last_of(work: Work, memory: str) -> tuple[LogEntry, frozenset[str]]:
    """Return the last decision that concerned a memory.

    If the memory's part of the commit can be reverted separately, limit the decision to the memory.
    What was done by hand since is later work.
    """
    grep = f"^{PREFIX}Memory: {memory}$"
    walk = history.entries(work.store.repo, "--no-merges", "--grep", grep, work.tree.commit)
    for entry in walk:
        is_decision = entry.trailer("Reason") != CLAIMED
        if is_decision and memory in entry.trailers.get("Memory", ()):
            several = entry.op in _PARTS or len(entry.trailers["Memory"]) > 1
            alone = several and entry.op not in _WHOLE
            return entry, frozenset({memory} if alone else ())
    raise NothingToRevert(f"no operation on this branch names {memory}")


_PARTS = (*BULK_OPS, "revert", "import", "edit")
"""Operations whose memories can be reverted separately, or in the groups of `together`."""
_WHOLE = ("resolve", "reject", "unreject", "run")
"""Operations that also write other files. No part of them can be reverted separately."""


def _memory(work: Work, word: str) -> str:
    """Return the id of the memory that a word identifies, or "". Removed ones need the full id."""
    if ID_PATTERN.fullmatch(word):
        return word
    try:
        return find(work.tree.state(), word).id
    except NoSuchMemory:
        return ""


def last_operation(work: Work) -> LogEntry:
    """Return the last operation, ignoring manual commits that concern no memory."""
    runs = {run.commit: run for run in work.landed()}
    for entry in history.entries(work.store.repo, "--first-parent", work.tree.commit):
        if entry.trailer("Op") == "init" or not entry.parents:
            break
        if found := runs.get(entry.commit):
            return found
        # A commit that only records the authorship of a commit by hand is not a decision.
        if entry.trailer("Op") and entry.trailer("Reason") != CLAIMED:
            return entry
        if entry.trailer("Op") or _concerns(work, entry):
            commit = entry.commit[:10]
            raise UsageError(
                f"the newest commit, {commit} ({visible(entry.subject)}), is a commit by hand",
                fix=f"`git revert {commit}` undoes it; `memrepo log` lists the operations before"
                " it",
            )
    raise NothingToRevert(
        "no memrepo operation to undo",
        fix="use `git revert` for your own commits",
    )


def _concerns(work: Work, entry: LogEntry) -> bool:
    """Return whether a manual commit changed memrepo files other than the configuration."""
    layout = work.tree.layout
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    return any(layout.owns(path) and path != layout.config for path in changed)


class RestoreRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo restore`."""

    id: Annotated[
        str, option("the memory; only its id if it is no longer in the tree", metavar="ID")
    ]
    dry_run: DryRun = False
    reason: Reason = ""


def restore(work: Work, request: RestoreRequest) -> Written | Unchanged:
    """Restore a memory from the tree, or from the last commit that contained it."""
    actor, personal = work.actor, work.config.is_personal
    gone: list[str] = []
    passed: list[Problem] = []

    def lay(at: Work, state: State) -> State:
        try:
            find(state, request.id)
        except NoSuchMemory as error:
            passed.clear()
            back = _from_history(at, state, request.id, passed)
            if back is None:
                raise error from None
            gone[:] = [request.id]
            return back
        return state

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        if memory.status == "active":
            return unchanged(memory, "is in recall already")
        if (stone := tombstones_in(state).find_barring(memory)) is not None:
            raise Rejected(memory, stone)
        stamp = Stamp(by=actor, at=work.call.now)
        changes = _restoring(state, memory, stamp)
        return Step(
            op="restore",
            reason="restored by hand" + (" from history" if gone else f", was {memory.status}"),
            memories=(memory.id,),
            changes=with_pages(state, _closed(state, changes), personal),
        )

    done = write(work, request, draft, lay)
    if done.commit:
        count_retrieval(work, [done.id])
    return done.after(tuple(passed))


def _from_history(work: Work, state: State, word: str, passed: list[Problem]) -> State | None:
    """Return the state with the last version of a removed memory added, marked as forgotten.

    `passed` receives a notice if later versions cannot be read.
    """
    past = find_removed(work, word)
    broken = None
    for version in past.versions if past is not None else ():
        commit, memory = version.entry.commit, version.memory
        if version.unreadable:
            broken = broken or version
        elif memory is not None:
            if broken:
                last = broken.entry.commit[:10]
                name, took = broken.unreadable, commit[:10]
                passed += [problem("restored-earlier", name, took=took, last=last, name=name)]
            data = work.store.repo.read(f"{commit}:{memory.path}")
            memory = replace(memory, path=state.free_path(memory))
            # A memory outside the tree is not active. The restore step activates it.
            held = memory if memory.status == "superseded" else memory.with_fields(_ABSENT)
            return replace(
                state,
                files=state.files.edited({memory.path: data}),
                memories={**state.memories, memory.id: held},
            )
    return None


_ABSENT: Mapping[str, object] = {"status": "forgotten"}


def _restoring(state: State, memory: Memory, stamp: Stamp) -> list[Update]:
    """Return the updates needed to restore a memory. It supersedes its active successors."""
    heirs = _heirs(state, memory)
    after: dict[str, dict[str, object]] = {}
    for id_ in memory.superseded_by:
        if (heir := state.memories.get(id_)) is not None:
            rest = tuple(old for old in heir.supersedes if old != memory.id)
            after[id_] = {"supersedes": rest or None}
    for heir in heirs:
        after.setdefault(heir.id, {}).update(
            status="superseded",
            superseded_at=stamp.at,
            superseded_by=(*heir.superseded_by, memory.id),
        )
    fields: dict[str, object] = {"status": None, "superseded_by": None, "superseded_at": None}
    if new := [heir.id for heir in heirs if heir.id not in memory.supersedes]:
        fields["supersedes"] = (*memory.supersedes, *new)
    return [
        _restored(memory, stamp, fields),
        *(Update(id=id_, fields=edit) for id_, edit in after.items()),
    ]


def _restored(memory: Memory, stamp: Stamp, fields: Mapping[str, object]) -> Update:
    """Return the memory's update. It restarts timestamps, or else upkeep would undo the restore."""
    fresh: dict[str, object] = {"verified": (*memory.verified, stamp)}
    if memory.is_note:
        fresh = {"tier": "warm", "tier_since": stamp.at, "user_marked": True}
    if memory.standing == RETIRED:
        fresh["standing"] = None
    return Update(id=memory.id, fields={"archived_at": None, **fresh, **fields})


def _heirs(state: State, memory: Memory) -> tuple[Memory, ...]:
    """Return the active memories at the end of a memory's chain of successors."""
    seen: set[str] = set()
    rest = list(memory.superseded_by)
    while rest:
        id_ = rest.pop()
        if id_ in state.memories and id_ not in seen:
            seen.add(id_)
            rest += state.memories[id_].superseded_by
    found = (state.memories[id_] for id_ in sorted(seen - {memory.id}))
    return tuple(m for m in found if m.status == "active")


def _closed(state: State, changes: list[Update]) -> list[Change]:
    """Return the changes plus the updates that fix references to missing memories."""
    own = {update.id for update in changes[:1]}
    known = {n for n in states.known_in(state) if not any(id_ in n[2] for id_ in own)}
    updates, _ = states.close(apply(state, changes), known)
    return [*changes, *updates]


class RejectRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo reject`."""

    id: Annotated[
        str,
        option(
            "memory to reject, current or pending; with --undo, also a tombstone's key",
            metavar="ID",
        ),
    ] = ""
    statement: Annotated[
        str, option("reject only this line or sentence of it", "--statement", metavar="TEXT")
    ] = ""
    undo: Annotated[bool, option("lift the rejection", "--undo", group="way")] = False
    list: Annotated[bool, option("list all rejections", "--list", group="way")] = False
    dry_run: DryRun = False
    reason: Annotated[
        str, option("reason; stored as plain text, so do not repeat a secret in it", "--reason")
    ] = ""


class Rejections(VerbResult, frozen=True, kw_only=True):
    """The list of rejections, oldest first."""

    rejected: tuple[Tombstone, ...]


class RejectedStatement(Written, frozen=True, kw_only=True):
    """A rejection, and the memories that lost only the statement, such as notes."""

    shortened: tuple[str, ...] = ()


def reject(work: Work, request: RejectRequest) -> Written | Unchanged | Rejections:
    """Reject a memory and forget all matching ones in one commit, undo this, or list rejections."""
    if request.list and request.id:
        raise UsageError(
            f"reject: --list names all that is rejected, and {request.id} was given too",
            fix=f"leave out one of them; `memrepo show {request.id}` shows that memory",
        )
    if request.list:
        return _listed(work)
    if not request.id:
        raise UsageError(
            "reject: no memory was given",
            fix="name one, or list all rejections with --list",
        )
    if request.undo:
        return _lifted(work, request)
    if not request.reason:
        _there_or_waiting(work, work.tree.state(), request.id)  # report an unknown memory first
        raise UsageError(
            "reject: no reason was given", fix="add --reason; leave the value itself out"
        )
    return _rejected(work, request)


def _rejected(work: Work, request: RejectRequest) -> Written | Unchanged:
    actor, personal = work.actor, work.config.is_personal
    shortened: list[str] = []

    def draft(state: State) -> Step | Unchanged:
        memory = _there_or_waiting(work, state, request.id)
        reason = fold(request.reason, REASON_LENGTH)
        rejected = _statement(memory, request.statement) if request.statement else memory
        stone = tombstone_of(rejected, reason=reason, by=actor, at=work.call.now)
        if request.statement:
            stone = replace(stone, units=(), memory="")
        updates = list(sweep(state, Tombstones({"": stone})))
        updates.sort(key=lambda update: (update.id != stone.memory, update.id))
        gone = [update.id for update in updates if update.body is None]
        shortened[:] = [update.id for update in updates if update.body is not None]
        stone = replace(stone, forgotten=tuple(sorted(gone)))
        if (known := tombstones_in(state).found.get(stone.key)) is not None:
            stone = join_tombstones(stone, known)
            if replace(stone, by=known.by, at=known.at, reason=known.reason) == known:
                return unchanged(memory, f"is rejected already as {stone.key}")
        file = Write(path=path_of(state.layout, stone.key), data=tombstone_bytes(stone))
        return Step(
            op="reject",
            what=f"Reject {memory.type}: {words_of(memory, SUBJECT_LENGTH)}",
            memories=(memory.id,),
            changes=with_pages(state, (file, *updates), personal),
        )

    done = write(work, request, draft)
    if isinstance(done, Unchanged):
        return done
    return RejectedStatement(**asdict(done), shortened=tuple(shortened))


def _statement(memory: Memory, text: str) -> Memory:
    """Return a copy of a memory that contains only one of its statements."""
    only_this = memory.with_fields({"former": None}, text.strip())
    stone = replace(tombstone_of(only_this, reason="", by="", at=EARLIEST), memory="")
    if not Tombstones({"": stone}).stated_in(memory):
        raise UsageError(
            f"{memory.id} has no statement {text!r} that could be recognised elsewhere",
            fix="copy a complete line or sentence of the memory, or omit --statement",
        )
    return only_this


def _there_or_waiting(work: Work, state: State, word: str) -> Memory:
    """Return the memory that a word identifies at HEAD or, failing that, in a pending run."""
    try:
        return find(state, word)
    except NoSuchMemory:
        for waits in reversed(all_waiting(work)):
            with suppress(NoSuchMemory):
                return find(work.store.snapshot(waits.tip).state(), word)
        raise


def _listed(work: Work) -> Rejections:
    """List the tombstones, oldest first."""
    stones = tombstones_in(work.tree.state())
    shown = sorted(stones.found.values(), key=lambda s: (s.at, s.key))
    return Rejections(rejected=tuple(shown), notices=stones.problems)


def _lifted(work: Work, request: RejectRequest) -> Written:
    """Delete the files of rejections, and return the memories that they removed to recall."""
    actor, personal = work.actor, work.config.is_personal

    def draft(state: State) -> Step:
        lifted = tombstones_named(state, request.id)
        refuse_lifting(lifted, actor)
        keys = {stone.key for stone in lifted}
        found = tombstones_in(state).found
        rest = Tombstones({key: stone for key, stone in found.items() if key not in keys})
        ids = dict.fromkeys(id_ for stone in lifted for id_ in stone.forgotten)
        known = (state.memories[id_] for id_ in ids if id_ in state.memories)
        freed = [m for m in known if m.status == "forgotten" and rest.find_barring(m) is None]
        changes: list[Change] = [
            *(Delete(path=path_of(state.layout, key)) for key in sorted(keys)),
            *map(back_in_recall, freed),
        ]
        return Step(
            op="unreject", reason="lifted by hand", changes=with_pages(state, changes, personal)
        )

    done = write(work, request, draft)
    if not isinstance(done, Written):
        raise TypeError(f"lifting a rejection always writes, not {done!r}")
    return done


def tombstones_named(state: State, word: str) -> list[Tombstone]:
    """Return the tombstones that a word identifies by key, unique key prefix or memory."""
    found = tombstones_in(state).found
    digits = word.removeprefix("ts-")
    keyed = [s for key, s in found.items() if digits and key.startswith(f"ts-{digits}")]
    if len(keyed) == 1:
        return keyed
    try:
        memory = find(state, word)
    except NoSuchMemory:
        memory = None
    named = [
        s
        for s in found.values()
        if s.memory == (memory.id if memory else word)
        or (memory is not None and Tombstones({"": s}).find_barring(memory) is not None)
    ]
    if not named:
        raise UsageError(
            f"{word!r} is neither a rejection nor a rejected memory",
            fix="`memrepo reject --list` lists them",
        )
    return named
