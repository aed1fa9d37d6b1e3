"""Find the operation that `revert` and `undo` name: a run, a decision, or a memory's last one."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.actions.past.log import NoSuchRun, landing_of
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.run.preconditions import CLAIMED
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import BULK_OPS
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import ID_PATTERN, visible
from memrepo.core.messages import PREFIX
from memrepo.store import history
from memrepo.store.history import LandedOperation, commit_landing, newest_in_effect
from memrepo.store.tree import file_at


class NothingToRevert(MemrepoError):
    """Raised when the branch contains no operation that can be reverted."""

    exit_code = Exit.USAGE

    def __init__(self, why: str, fix: str = "`memrepo log` lists runs and operations") -> None:
        super().__init__(why, fix=fix)


class AlreadyReverted(MemrepoError):
    """Raised when memrepo or git has already reverted the run."""

    exit_code = Exit.USAGE

    def __init__(self, run: str, by: history.LogEntry | None, older: str = "") -> None:
        fix = "`git revert` the commit that removed it to restore it"
        if by is not None:
            program = "memrepo" if by.op == "revert" else "git"
            fix = f"`{program} revert {by.commit[:10]}` restores it"
        if older:
            fix += f"; `memrepo revert {older}` reverts the run before it"
        super().__init__(f"{run} is already reverted", fix=fix)


class NotOurs(MemrepoError):
    """Raised when the newest commit was made by hand, because memrepo does not revert those."""

    exit_code = Exit.USAGE

    def __init__(self, hand: history.LogEntry, older: LandedOperation | None) -> None:
        newest = f"{hand.commit[:10]} ({visible(hand.subject)})"
        message = f"the newest commit, {newest}, is a commit by hand"
        fix = f"`git revert {hand.commit[:10]}` undoes it"
        if older is not None and older.in_effect:
            name, subject = older.run or older.entry.commit[:10], visible(older.entry.subject)
            fix += f"; `memrepo revert {name}` reverts the operation before it: {subject}"
        super().__init__(message, fix=fix)


def find_target(work: Work, word: str) -> tuple[LandedOperation, frozenset[str]]:
    """Return the operation to revert, and the memories to which the user's word limits it."""
    head, only = work.tree.commit, frozenset[str]()
    if word:
        found, only = _named(work, word)
    else:
        found = _latest(work)
    entry = found.entry
    if not work.store.is_ancestor(entry.commit, head):
        raise NothingToRevert(f"{word} is not an operation on this branch")
    if not found.before or not entry.trailer("Op"):
        raise NothingToRevert(f"{entry.commit[:10]} was not written by memrepo: use `git revert`")
    if entry.op == "init":
        raise NothingToRevert(f"{entry.commit[:10]} created this repository")
    if not found.run and (known := history.reverted_by(work.store.repo, head, entry.commit)):
        by, gone = known
        if gone.issuperset(only or entry.trailers.get("Memory", ())):
            raise UsageError(
                f"{entry.commit[:10]} ({visible(entry.subject)}) is reverted already,"
                f" by {by.commit[:10]}",
                fix=f"`memrepo revert {by.commit[:10]}` restores its changes",
            )
    return found, only


def _latest(work: Work) -> LandedOperation:
    """Return the newest run on the branch.

    Raise if it is already reverted, and never choose an older run instead.
    """
    runs, store, tree = work.landed(), work.store, work.tree
    removed = history.manifest_removals(store.repo, tree.commit, tree.layout)
    here = tree.files.below(tree.layout.area("runs"))
    gone = {history.run_of(p) for e in removed for p in e.paths if p not in here}
    there = newest_in_effect(runs)
    last = max(gone, default="")
    if there is None and not last:
        raise NothingToRevert("no run has landed on this branch")
    if there is None or last > there.run:
        raise AlreadyReverted(last, _removal(removed, last), there.run if there else "")
    return there


def _removal(removed: Sequence[history.LogEntry], run: str) -> history.LogEntry | None:
    """Return the newest commit that removed a run's manifest, or None."""
    return next((e for e in removed if run in map(history.run_of, e.paths)), None)


def _named(work: Work, word: str) -> tuple[LandedOperation, frozenset[str]]:
    runs = work.landed()
    try:
        landing = landing_of(work, word, runs)
    except NoSuchRun:
        commit = work.store.resolve(word)
        if commit:
            # The last commit of a run names the whole run.
            known = next((one for one in runs if one.entry.commit == commit), None)
            entry = next(iter(history.entries(work.store.repo, "-1", commit)))
            return known or commit_landing(entry), frozenset()
        memory = _memory(work, word)
        if not memory:
            raise
    else:
        if not landing.in_effect:
            removed = history.manifest_removals(work.store.repo, work.tree.commit, work.tree.layout)
            raise AlreadyReverted(landing.run, _removal(removed, landing.run))
        return landing, frozenset()
    return _last_of(work, memory)


def _last_of(work: Work, memory: str) -> tuple[LandedOperation, frozenset[str]]:
    """Return the last decision that concerned a memory.

    If the memory's part of the commit can be reverted separately, limit the decision to the memory.
    """
    grep = f"^{PREFIX}Memory: {memory}$"
    walk = history.entries(work.store.repo, "--no-merges", "--grep", grep, work.tree.commit)
    for entry in walk:
        if memory in entry.trailers.get("Memory", ()):
            hand = _by_hand_since(work, memory, entry)
            if hand is not None:
                fix = f"`git revert {hand.commit[:10]}` undoes it"
                if entry.trailer("Reason") not in CLAIMED:
                    done = f"`memrepo revert {entry.commit[:10]}`"
                    fix += f"; {done} reverts what memrepo did before: {visible(entry.subject)}"
                name = f"{hand.commit[:10]} ({visible(hand.subject)})"
                raise UsageError(f"{memory} was last changed by hand, in {name}", fix=fix)
            several = entry.op in _PARTS or len(entry.trailers["Memory"]) > 1
            alone = several and entry.op not in _WHOLE
            return commit_landing(entry), frozenset({memory} if alone else ())
    raise NothingToRevert(f"no operation on this branch names {memory}")


_PARTS = (*BULK_OPS, "revert", "import", "edit")
"""Operations whose memories can be reverted separately, or in the groups of `together`."""
_WHOLE = ("resolve", "reject", "unreject", "run")
"""Operations that also write other files. No part of them can be reverted separately."""


def _by_hand_since(work: Work, memory: str, entry: history.LogEntry) -> history.LogEntry | None:
    """Return the newest manual commit that changed a memory after an operation, or None.

    A commit that only records the authorship of a commit by hand does not count as an operation.
    """
    held = work.tree.state().memories.get(memory)
    if held is None:
        return None
    repo = work.store.repo
    stamped = entry.trailer("Reason") in CLAIMED
    span = work.tree.commit if stamped else f"{entry.commit}..{work.tree.commit}"
    for hand in history.entries(repo, "--no-merges", span, "--", held.path):
        if not hand.trailer("Op") and hand.parents:
            sides = (file_at(repo, commit, held.path) for commit in (hand.parents[0], hand.commit))
            old, new = (codec.decode(held.path, d)[0] if d is not None else None for d in sides)
            if old != new:
                return hand
    return None


def _memory(work: Work, word: str) -> str:
    """Return the id of the memory that a word identifies, or "". Removed ones need the full id."""
    if ID_PATTERN.fullmatch(word):
        return word
    try:
        return find(work.tree.state(), word).id
    except NoSuchMemory:
        return ""


def last_operation(work: Work) -> LandedOperation:
    """Return the last operation, ignoring manual commits that concern no memory."""
    runs = {landing.entry.commit: landing for landing in work.landed()}
    hand: history.LogEntry | None = None
    for entry in history.entries(work.store.repo, "--first-parent", work.tree.commit):
        if entry.trailer("Op") == "init" or not entry.parents:
            break
        if found := runs.get(entry.commit) or _operation(entry):
            if hand is not None:
                raise NotOurs(hand, found)
            return found
        if hand is None and (entry.trailer("Op") or _concerns(work, entry)):
            hand = entry
    if hand is not None:
        raise NotOurs(hand, None)
    raise NothingToRevert(
        "no memrepo operation to undo",
        fix="use `git revert` for your own commits",
    )


def _operation(entry: history.LogEntry) -> LandedOperation | None:
    """Return the landing of a commit that memrepo made, or None.

    A commit that only records the authorship of a commit by hand is not a decision.
    """
    decided = entry.trailer("Op") and entry.trailer("Reason") not in CLAIMED
    return commit_landing(entry) if decided else None


def _concerns(work: Work, entry: history.LogEntry) -> bool:
    """Return whether a manual commit changed memrepo files other than the configuration."""
    layout = work.tree.layout
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    return any(layout.owns(path) and path != layout.config for path in changed)
