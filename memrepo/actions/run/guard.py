"""Limits on a run: ownership, decisions that a person reverted or rejected, many removals.

If `run.owner` is set, only that clone runs. The others capture, recall and sync. After an upgrade
of the logic, a run needs an acknowledgement. Secrets are excluded where commits are built
(`actions.guard`), and budgets are checked before each question (`judges.budget`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from memrepo.actions.landing import prepare
from memrepo.actions.run.holds import (
    barred,
    carried,
    fingerprints,
    on_record,
    part,
    prints_between,
    told_apart,
)
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.run.judge_choice import CannotJudge, Choice, kind_of
from memrepo.actions.run.plan import Draft, Mode, RunPlan
from memrepo.actions.work import Work
from memrepo.config import ConfigError, line_of, parse_config
from memrepo.core.changes import BULK_OPS, Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import digest
from memrepo.core.manifest import LOGIC_VERSION, SCHEMA_VERSION, open_removals
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.policies.upkeep import interlock, losses
from memrepo.purify.intake import Reader, cursors
from memrepo.store import history
from memrepo.store.answers import Broken, KeptAnswers, broken_run, broken_runs
from memrepo.store.history import Entry
from memrepo.store.settings import clone_name, is_called
from memrepo.store.tree import read_blob

# -- before a run: ownership, upgrades and resumed answers -----------------------------------------

OWNER = "run.owner"
_LINE = regex(r"""^(\s*["']?(?:run\.)?owner["']?\s*=\s*)("[^"]*"|'[^']*')""")
_SECTION = regex(r"^\s*\[\s*run\s*\]")


class NotTheOwner(MemrepoError):
    """Raised when another clone is the owner of the runs."""

    exit_code = Exit.DECIDE

    def __init__(self, owner: str, here: str) -> None:
        super().__init__(
            f"runs are {owner}'s ({OWNER} in memrepo.toml), and this clone is {here}",
            fix="`memrepo sync` brings what it distils; `memrepo run --take-over` makes this "
            "clone the one that runs (`git config memrepo.clone NAME` gives it a name)",
        )


class CannotTakeOver(MemrepoError):
    """Raised when `run.owner` cannot be set because `memrepo.toml` has no line for it."""

    exit_code = Exit.USAGE

    def __init__(self, path: str, here: str) -> None:
        super().__init__(
            f"{path}: found no line for {OWNER} in",
            fix=f'write owner = "{here}" under [run] by hand and commit it',
        )


def refuse_other(work: Work, *, take_over: bool) -> None:
    """Raise NotTheOwner if another clone owns the runs, unless this clone is to take over."""
    owner = work.config.get(OWNER)
    if owner and not take_over and not is_called(work.store.repo, owner):
        raise NotTheOwner(owner, clone_name(work.store.repo))


def take_over(work: Work) -> str:
    """Make this clone the owner of runs. Return a message; empty if it already is the owner.

    The change is a separate commit before the run, so reverting the run does not undo it.
    """
    owner, here = work.config.get(OWNER), clone_name(work.store.repo)
    if owner and is_called(work.store.repo, owner):
        return ""
    path = work.tree.layout.config
    data = work.store.work.read(path)
    text = (work.tree.files[path] if data is None else data).decode("utf-8")
    step = Step(
        op="edit",
        what=f"Set {OWNER} to {here}",
        reason="`memrepo run --take-over`",
        changes=(Write(path=path, data=with_owner(path, text, here).encode("utf-8")),),
    )
    landing = prepare(
        work.store,
        work.tree.state(),
        Plan(base=work.tree.commit, steps=(step,)),
        work.context(),
        work.call.now,
        author=work.author,
    )
    commit = work.store.land(landing.chain, "take-over")
    return f"runs are {here}'s from now on ({commit[:10]})"


def with_owner(path: str, text: str, owner: str) -> str:
    """Return the configuration text with `run.owner` set. Raises CannotTakeOver.

    All other bytes are unchanged.
    """
    lines = text.split("\n")
    at = line_of(text, OWNER)
    section = next((n for n, line in enumerate(lines) if _SECTION.match(line)), None)
    value = f'owner = "{owner}"'
    if at:
        lines[at - 1] = _LINE.sub(lambda m: f'{m[1]}"{owner}"', lines[at - 1])
    elif section is not None:
        lines.insert(section + 1, value)
    else:
        lines = [*text.rstrip("\n").split("\n"), "", "[run]", value, ""]
    edited = "\n".join(lines)
    try:
        if parse_config(edited).get(OWNER) == owner:
            return edited
    except (ConfigError, tomllib.TOMLDecodeError):
        pass
    raise CannotTakeOver(path, owner)


class UpgradeRequired(MemrepoError):
    """Raised when the last run used an older version of the logic or of the manifest schema.

    Everything must be judged again.
    """

    exit_code = Exit.DECIDE

    def __init__(self, run: str, found: tuple[int, int]) -> None:
        super().__init__(
            f"upgrade required: the last run {run} has logic {found[0]} and schema {found[1]},"
            f" this memrepo has {LOGIC_VERSION} and {SCHEMA_VERSION}",
            fix="`memrepo run --acknowledge-upgrade` judges everything again, for review",
        )


class NewerLogic(MemrepoError):
    """Raised when a newer memrepo made the last run. This version must not write over it."""

    exit_code = Exit.DECIDE

    def __init__(self, run: str) -> None:
        super().__init__(
            f"the last run {run} was made by a newer version of memrepo",
            fix="upgrade memrepo on this machine",
        )


def upgrade_due(work: Work) -> UpgradeRequired | None:
    """Return the upgrade to acknowledge before a run, or None. Raises NewerLogic."""
    manifests = reversed(work.tree.manifests[0])
    last = next(manifests, None)
    if last is None:
        return None
    # A partial run did not judge everything again.
    whole = last if not last.partial else next((m for m in manifests if not m.partial), last)
    found = (whole.logic, whole.schema)
    if last.logic > LOGIC_VERSION or last.schema > SCHEMA_VERSION:
        raise NewerLogic(last.run)
    return UpgradeRequired(whole.run, found) if found < (LOGIC_VERSION, SCHEMA_VERSION) else None


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


PAID = ("anthropic", "claude", "openclaw", "openai", "command", "session")
"""Judges whose answers cost money or minutes. The others repeat their answers at no cost."""


def resumed(
    first: Work, mode: str | None, judge: str | None, resume: str | None
) -> tuple[Mode, str | None, str | None]:
    """Return the mode, the judge and the run to resume. Raises NotKept.

    `resume` is None for no earlier run, and empty for the newest.
    """
    if resume is not None:
        found = broken_run(first.store.folder, resume)
        for name, given, was in (("mode", mode, found.mode), ("judge", judge, found.kind)):
            if given not in (None, was):
                raise CannotJudge(
                    f"the run {found.run} that was interrupted had --{name} {was}, not {given}",
                    fix=f"leave --{name} out, or run without --resume",
                )
        mode, judge, resume = found.mode, found.kind, found.run
    return ("reconciliation" if mode == "reconciliation" else "incremental"), judge, resume


def kept_for(at: Work, mode: str, resume: str | None, choice: Choice) -> KeptAnswers | None:
    """Return the store for this run's answers, which also contains those of a resumed run.

    Without --resume, this is the newest unfinished run of the same mode and judge. Return None for
    a judge that costs nothing.
    """
    kind = kind_of(at, choice)
    if kind not in PAID or choice.now is None:
        return None
    there = [
        b
        for b in broken_runs(at.store.folder)
        if (b.mode, b.kind) == (mode, kind) and resume in (None, b.run)
    ]
    name = f"{choice.now:%Y%m%dT%H%M%SZ}-{digest([at.tree.commit, mode, kind])[:8]}"
    new = Broken(run=name, mode=mode, kind=kind)
    return KeptAnswers(at.store.folder, there[-1] if there else new)


# -- decisions of a person: reverted, left out, refused, rejected ---------------------------------


def read_decisions(work: Work, plan: RunPlan) -> None:
    """Read the decisions that a person made about earlier runs, as fingerprints."""
    plan.reverted = taken_back(work)
    plan.left_out = frozenset[str]().union(*(m.offered for m in plan.manifests))
    plan.refused = frozenset[str]().union(*(m.refused for m in plan.manifests))


def keep_rejected_out(plan: RunPlan) -> None:
    """Remove rejected proposals from the steps. Hold back similar and formerly reverted ones."""
    whole = plan.mode == "reconciliation"
    left_out = plan.reader.left_out if plan.reader else {}
    steps, problems, bars = barred(plan.state, plan.steps, left_out, whole=whole)
    if bars.dropped:
        plan.counts = {**plan.counts, "barred": len(bars.dropped)}
    plan.warnings += problems
    plan.parted = part(
        steps,
        plan.reverted,
        bars.dropped | plan.refused,
        similar=bars.held,
        offered=plan.left_out,
    )
    plan.steps = plan.parted.kept
    plan.refused |= bars.dropped


def taken_back(work: Work) -> frozenset[str]:
    """Return the fingerprints of decisions that were reverted and are not in effect again.

    A revert by memrepo lists them. A revert by git removes the manifest of a run. If git restored a
    manifest that a revert had removed, that revert no longer counts.
    """
    found: set[str] = set()
    repo, head, layout = work.store.repo, work.tree.commit, work.tree.layout
    removed = history.removals(repo, head, layout)
    void = frozenset(e.commit for e, paths in removed if work.tree.blobs.keys() >= {*paths})
    for commit, gone in history.taken_back(repo, head, void).items():
        for entry in history.chain_of(repo, commit):
            found |= _prints(work, entry, gone)
    for entry in _reverted_by_git(work, removed, void):
        found |= _prints(work, entry, None)
    return frozenset(found)


def _reverted_by_git(
    work: Work, removed: Collection[tuple[Entry, tuple[str, ...]]], void: Collection[str]
) -> Iterator[Entry]:
    """Yield the steps of runs whose manifests were removed by commits other than reverts."""
    repo, layout = work.store.repo, work.tree.layout
    for entry, paths in removed:
        if entry.op == "revert" or entry.commit in void:
            continue
        before = work.store.snapshot(work.store.parents(entry.commit)[0])
        away = {history.run_of(path) for path in paths if path not in work.tree.blobs}
        for landing in history.landings(repo, before.commit, layout, before.blobs):
            if landing.run in away:
                yield from landing.steps(repo)


def _prints(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return the fingerprints of a commit's decisions about some memories (None: about all)."""
    ids = entry.trailers.get("Memory", ())
    if not ids and len(entry.parents) == 1 and entry.op in ("edit", "run"):
        return _prints_between(work, entry, gone)
    mine = [id_ for id_ in ids if gone is None or id_ in gone]
    if not mine:
        return frozenset()
    if entry.op not in BULK_OPS:
        return fingerprints(entry.op, ids, entry.prints)
    return fingerprints(entry.op, mine, [p for p in entry.prints if p.split(":")[1] in mine])


def _prints_between(work: Work, entry: Entry, gone: Collection[str] | None) -> frozenset[str]:
    """Return fingerprints for a whole run that was squashed into one commit without trailers."""
    changed = work.store.work.changed(entry.parents[0], entry.commit)
    if not work.tree.layout.memory_files(changed):
        return frozenset()
    before, after = (work.store.snapshot(c).state() for c in (entry.parents[0], entry.commit))
    by_id = prints_between(before, after).items()
    return frozenset().union(*(found for id_, found in by_id if gone is None or id_ in gone))


# -- removals --------------------------------------------------------------------------------------


def hold_removals(work: Work, plan: RunPlan) -> None:
    """Hold back the removals of a run if there are too many.

    Removals that are already pending remain pending, unless a limit was given explicitly for this
    run.
    """
    state, limit = plan.state, plan.max_change_pct
    changes = [change for step in plan.steps for change in step.changes]
    why = "; ".join(filter(None, (interlock(state, changes, limit), *plan.intake.alarms)))
    stays, held = told_apart(state, plan.steps) if why else (plan.steps, ())
    before, causes = _carried(work, plan, played(state, (*stays, *held)))
    if before and plan.has_own_limit and not why:
        more = [change for step in (*stays, *before) for change in step.changes]
        if not interlock(state, more, limit):
            plan.steps, plan.landed_removals = (*stays, *before), on_record(before, "")
            return
    plan.steps, plan.removals = stays, (*before, *held)
    plan.removal_reasons = (*causes, why)
    plan.new_removals = on_record(held, why)


def _carried(work: Work, plan: RunPlan, state: State) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Return pending removals that no person has refused, and the reasons why they are pending."""
    removals = open_removals(plan.manifests)
    if not removals:
        return (), ()
    texts = texts_at(work, cursors(plan.manifests))
    reader = Reader(texts, lambda blob: read_blob(work.store.repo, blob))
    steps, causes = carried(state, removals, reader, plan.now, "pending")
    return part(steps, frozenset(), plan.decided).kept, causes


def hold_later_removals(plan: RunPlan, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the later steps of a run, holding back their removals if there are now too many."""
    changes = [change for step in (*plan.steps, *steps) for change in step.changes]
    why = interlock(plan.state, changes, plan.max_change_pct)
    held = [step for step in steps if why and losses(plan.state, step.changes)]
    if held:
        plan.removals += tuple(held)
        plan.removal_reasons += (why,)
        plan.new_removals += on_record(held, why)
    return tuple(step for step in steps if step not in held)


def played(state: State, steps: Sequence[Step]) -> State:
    """Return the state after the given steps."""
    return apply(state, (change for step in steps for change in step.changes))


def wait_for_review(work: Work, plan: RunPlan, main: Draft) -> Draft:
    """Return the draft, marked as pending if it is a reconciliation that needs review."""
    decides = any(step.op not in ("view", "run") for step in main.steps)
    if plan.mode != "reconciliation" or not decides:
        return main
    why = "a reconciliation is reviewed before it takes effect"
    if work.config.get("run.reconciliation") == "land":
        changes = (change for step in main.steps for change in step.changes)
        why = interlock(plan.state, changes, plan.max_change_pct)
    return replace(main, wait=why)
