"""What is checked and settled before a run: its owner, upgrades, stored answers, edits by hand.

If `run.owner` is set, only that clone runs. After an upgrade of the logic, a run needs an
acknowledgement. A memory edited by one of `human_authors` counts as a statement of a person, which
no program rewords. Edits by others are attributed to `process:unknown`.
"""

from __future__ import annotations

from itertools import groupby

from memrepo.actions.landing import prepare, retried
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.changes import Plan, Step, Update
from memrepo.core.codec import changed_keys
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import text_hash
from memrepo.core.manifest import LOGIC_VERSION, SCHEMA_VERSION
from memrepo.core.memory import BY_NAME, Memory, Stamp
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.store.git import Git
from memrepo.store.history import changes, hand_commits
from memrepo.store.settings import clone_name, is_called

# -- before a run: ownership, upgrades and resumed answers -----------------------------------------


class MayNotRun(MemrepoError):
    """Raised when a person must decide something before a run."""

    exit_code = Exit.DECIDE


def refuse_other_owner(work: Work) -> None:
    """Raise MayNotRun if another clone owns the runs."""
    owner, repo = work.config.run.owner, work.store.repo
    if owner and not is_called(repo, owner):
        raise MayNotRun(
            f"runs are {owner}'s (run.owner in memrepo.toml), and this clone is {clone_name(repo)}",
            fix="`memrepo sync` brings what it distils; to run here, name this clone as run.owner"
            " (`git config memrepo.clone NAME` gives it a name)",
        )


class UpgradeRequired(MayNotRun):
    """Raised when the last run used an older version of the logic or of the manifest schema.

    Everything must be judged again.
    """


def upgrade_due(work: Work) -> UpgradeRequired | None:
    """Return the upgrade to acknowledge before a run, or None.

    Raise MayNotRun if a newer memrepo made the last run: this version must not write over it.
    """
    manifests = reversed(work.tree.manifests[0])
    last = next(manifests, None)
    if last is None:
        return None
    # A partial run did not judge everything again.
    whole = last if not last.partial else next((m for m in manifests if not m.partial), last)
    found = (whole.logic, whole.schema)
    if last.logic > LOGIC_VERSION or last.schema > SCHEMA_VERSION:
        raise MayNotRun(
            f"the last run {last.run} was made by a newer version of memrepo",
            fix="upgrade memrepo on this machine",
        )
    if found >= (LOGIC_VERSION, SCHEMA_VERSION):
        return None
    return UpgradeRequired(
        f"upgrade required: the last run {whole.run} has logic {found[0]} and schema {found[1]},"
        f" this memrepo has {LOGIC_VERSION} and {SCHEMA_VERSION}",
        fix="`memrepo run --acknowledge-upgrade` judges everything again, for review",
    )


def report_clock(work: Work) -> None:
    """Warn that a run is dated after the current time, because the last run has a later date."""
    last = max((m.run for m in work.tree.manifests[0]), default="")
    if last[:16] > f"{work.call.now:%Y%m%dT%H%M%SZ}":
        found = f"found {format_time(work.call.now)}, which is before the last run"
        problem = Problem(
            path=work.tree.layout.manifest(last),
            rule="time-before-last-run",
            severity="warning",
            message=f"{found}: this run is dated just after it",
            fix="check the system clock, or the value of `--now`",
        )
        work.store.notices.append(problem)


CLAIMED = ("the author of a commit by hand, for the header", "a commit by hand says who means it")
"""Reasons of an attribution commit, the second of older versions.

`undo` and `revert` use them to distinguish it from a decision.
"""


def claim_edits(first: Work) -> str:
    """Commit the attributions of manual edits since the last run.

    Return the commit, or an empty string.
    """
    return retried(first.store, lambda: _claim_edits(first))


def _claim_edits(first: Work) -> str:
    at = first.refreshed()
    last = next(iter(at.landed()), None)
    if last is not None and last.entry.commit == at.tree.commit:
        return ""
    state = at.tree.state()
    updates = _attributions(at, state, f"{last.entry.commit}..HEAD" if last else "HEAD")
    if not updates:
        return ""
    step = Step(
        op="edit",
        what=f"Record who edited {counted(len(updates), 'memory', 'memories')} by hand",
        reason=CLAIMED[0],
        changes=tuple(updates),
    )
    plan = Plan(base=at.tree.commit, steps=(step,))
    context, now = at.context(), first.call.now
    landing = prepare(at.store, state, plan, context, now, author=at.author)
    return at.store.land(landing.chain, f"edit-{at.tree.commit[:10]}")


def _attributions(at: Work, state: State, revisions: str) -> list[Update]:
    """Return updates for memories that still have a text edited by hand, naming the last editor.

    Memories that repeat a rejected statement are skipped. Moved or swapped files are no edits.
    """
    git, found = at.store.repo, dict[str, Update]()
    hands = {hand.commit: hand for hand in hand_commits(git, revisions)}
    for commit, group in groupby(changes(git, hands), key=lambda change: change[0]):
        olds, edits = dict[str, Memory](), dict[str, Memory]()
        for _, path, before, after in group:
            if at.tree.layout.is_memory(path):
                olds |= _decoded(git, path, before)
                edits |= _decoded(git, path, after)
        hand = hands[commit]
        is_known = hand.email in at.config.human_authors
        stamp = Stamp(by=f"human:{hand.email}" if is_known else "process:unknown", at=hand.when)
        for id_, edited in edits.items():
            memory, old = state.memories.get(id_), olds.get(id_)
            if memory is None or memory.body != edited.body or not _is_authored(edited, old):
                continue
            if memory.status == "forgotten" != edited.status and tombstones_in(state).bar(memory):
                continue
            earlier: Stamp | None = memory.fields.get("generated")
            if earlier is not None and earlier.at and stamp.at and earlier.at >= stamp.at:
                continue
            former = memory.former_hashes
            if old is not None and old.body != edited.body:
                former = tuple(dict.fromkeys((*former, text_hash(old.body))))
            found[id_] = Update(id=id_, fields={"generated": stamp, "former": former or None})
    return list(found.values())


def _decoded(git: Git, path: str, blob: str) -> dict[str, Memory]:
    memory = codec.decode(path, git.read(blob))[0] if blob else None
    return {memory.id: memory} if memory is not None and memory.id else {}


def _is_authored(memory: Memory, old: Memory | None) -> bool:
    """Return whether an edit changed the text or a field that a person may set."""
    if old is None:
        return "generated" not in memory.fields  # otherwise the memory was only restored
    keys = changed_keys(old.fields, memory.fields)
    return old.body != memory.body or any(BY_NAME[key].is_by_person for key in keys)
