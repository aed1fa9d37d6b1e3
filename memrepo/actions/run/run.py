"""`memrepo run`: gather new text, ask the judge, decide, guard, commit.

`propose` computes a run at one commit and writes nothing. `run_once` handles locks, signing and
stored answers. `draft` and `land` make the chains of commits, and a run that waits is a branch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.landing import (
    Landing,
    are_pages_current,
    derived_files,
    prepare,
    redact_steps,
    restore_pages,
    retried,
)
from memrepo.actions.pending import PREFIX, all_waiting, put_away, refuse_no_room
from memrepo.actions.run.decide import Decisions, add_upkeep, decide
from memrepo.actions.run.gather import Answers, RunPlan, claim_edits, gather_sources, read_commit
from memrepo.actions.run.ingest import Ingested, take_in
from memrepo.actions.run.judge import JudgeChoice, desk_of, estimate_of, judge, kind_of
from memrepo.actions.run.record import (
    REPORTS,
    Landed,
    MayNotRun,
    Report,
    Result,
    UpgradeRequired,
    collides_with_reconciliation,
    explain_first,
    is_first,
    record_run,
    unhooked_problems,
)
from memrepo.actions.work import MACHINE, DryRun, Work, option, uncollected
from memrepo.config import JUDGES
from memrepo.core.errors import Exit, Problem, UsageError
from memrepo.core.ids import digest
from memrepo.core.judge import BudgetReached, Usage
from memrepo.core.manifest import LOGIC_VERSION, SCHEMA_VERSION, Judged, Manifest
from memrepo.core.messages import SUBJECT_LENGTH, Context, counted
from memrepo.core.secrets import clean_page
from memrepo.core.state import (
    Change,
    Create,
    State,
    Step,
    Update,
    Write,
    apply_steps,
)
from memrepo.core.times import format_time
from memrepo.judge.ask import Desk, Failure
from memrepo.policies.latest import lines_of_logs
from memrepo.policies.rules import MODES, RunMode
from memrepo.policies.upkeep import due, interlock
from memrepo.store import history
from memrepo.store.git import keep_newest
from memrepo.store.history import RECORD
from memrepo.store.run_files import Ledger, SavedAnswers
from memrepo.store.settings import clone_names
from memrepo.views.report import counts_in_words


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `run`."""

    mode: Annotated[
        RunMode | None,
        option(
            "incremental (default): read what is new; reconciliation: read all again, for review",
            "--mode",
            choices=("incremental", "reconciliation"),
        ),
    ] = None
    acknowledge_upgrade: Annotated[
        bool,
        option(
            "judge everything again after an upgrade of memrepo's logic", "--acknowledge-upgrade"
        ),
    ] = False
    judge: Annotated[
        str | None, option("judge that reads the sources", "--judge", choices=JUDGES)
    ] = None
    max_usd: Annotated[
        float | None,
        option("maximum cost of the run, in US dollars", "--max-usd", metavar="X", ge=0),
    ] = None
    max_tokens: Annotated[
        int | None, option("maximum tokens of the run", "--max-tokens", metavar="N", ge=1)
    ] = None
    scheduled: Annotated[
        bool, option("make the run that is due now, if any: the crontab's call", "--scheduled")
    ] = False
    force: Annotated[bool, option("run also close to a reconciliation", "--force")] = False
    dry_run: DryRun = False
    estimate: Annotated[
        bool,
        option(
            "estimate the tokens and cost (US dollars) of a run; call no judge, write nothing",
            "--estimate",
        ),
    ] = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""
    report: Annotated[
        Report | None,
        option(
            "level of detail (default: reporting.mode if set, else full)",
            "--report",
            choices=REPORTS,
        ),
    ] = None


def do(work: Work, request: Request) -> Result:
    """Run once and report the result. Raise immediately if another run is active."""
    work.require_writable()
    if request.scheduled:
        if request.mode or request.estimate:
            raise UsageError(
                "run --scheduled: the schedule chooses the run",
                fix="leave out --mode and --estimate",
            )
        schedule, zone, now = work.config.schedule, work.config.zone, work.call.now
        found = [mode for mode in reversed(MODES) if due(now, schedule, zone, mode)]
        if not found:
            here = work.tree.commit
            return Result(
                mode="incremental", status="skipped", base=here, head=here, report="silent"
            )
        level = request.report or work.config.reporting.mode
        request = replace(request, mode=found[0], report=level)
    refuse_other_owner(work)
    mode = request.mode or "incremental"
    if request.estimate:
        return _estimated(work, request)
    if request.dry_run:
        return run_once(work, request).after(unhooked_problems(work))
    first, unhooked = is_first(work), unhooked_problems(work)
    with uncollected():
        if request.scheduled and mode == "reconciliation":  # it may wait, the day's notes must not
            news = replace(request, mode="incremental", force=True)
            record_run(work, lambda: run_once(work, news), mode="incremental")
            work = work.refreshed()
        result = record_run(work, lambda: run_once(work, request), mode=mode)
    at = work.refreshed()
    if first and result.landed:
        result = replace(result, first=tuple(explain_first(at, result)))
    _update_caches(work, at)
    return result.after(unhooked)


def refuse_other_owner(work: Work) -> None:
    """Raise MayNotRun if another clone owns the runs."""
    owner = work.config.run.owner
    if owner and owner not in (names := clone_names(work.store.repo)):
        raise MayNotRun(
            f"runs are {owner}'s (run.owner in memrepo.toml), and this clone is {names[0]}",
            fix="`memrepo sync` brings what it distils; to run here, name this clone as run.owner"
            " (`git config memrepo.clone NAME` gives it a name)",
        )


def upgrade_due(work: Work) -> UpgradeRequired | None:
    """Return the upgrade to acknowledge before a run, or None.

    Raise MayNotRun if a newer memrepo made the last run: this version must not write over it.
    """
    manifests = reversed(work.tree.manifests[0])
    last = next(manifests, None)
    if last is None:
        return None
    # A partial run did not judge everything again.
    whole = next((m for m in (last, *manifests) if not m.receipt.partial), last)
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


def run_once(first: Work, request: Request) -> Result:
    """Run once and return the result, without recording it."""
    plan = _asked(first, request)
    report = request.report or _report(first)
    why = collides_with_reconciliation(first, first.call.now) if plan.mode == "incremental" else ""
    if why and not request.force:
        here, status = first.tree.commit, "skipped_superseded"
        return Result(mode=plan.mode, status=status, why=why, base=here, head=here, report=report)
    with first.store.running():
        with first.store.writing():
            first.store.refuse_unfit()
        done = _run(first, request, plan)
        if done.landed:
            first.store.maintain()
    notices = (*done.notices, *first.store.notices)
    return replace(done, report=report, notices=notices)


def _run(first: Work, request: Request, plan: RunPlan) -> Result:
    """Record edits by hand, copy the sources, then propose changes and commit them.

    Each of the three lands by itself. Retry the proposal if another commit landed first.
    """
    if not request.dry_run:
        claim_edits(first)
    at = first.refreshed()
    if plan.mode == "reconciliation":
        refuse_no_room(at)
    report_clock(at)
    if not request.dry_run:
        Ledger(first.store).close()
        restore_pages(at)
    desk, stored = _desk(first, request)
    plan, since = replace(plan, desk=desk), at.tree.commit
    taken = take_in(at, dry_run=request.dry_run)
    if plan.mode == "reconciliation":
        head = first.store.head()
        waits = [one for one in all_waiting(at) if one.base == head]
        if waits:  # nothing changed since it was computed
            return _result(at, plan, Decisions(), taken, since, branch=waits[-1].branch)

    def attempt() -> Decisions:
        first.store.refuse_switched()
        there = first.refreshed()
        found = propose(there, plan)
        if found.lands:
            land(there, found, request.reason, dry_run=request.dry_run)
        return found

    found = retried(first.store, attempt)
    if request.dry_run:
        return _result(at, plan, found, taken, since, status="dry-run")
    now = first.refreshed()
    keep_unusable_answers(now, desk.failures if desk is not None else (), found.run or "run")
    branch = put_on_branch(now, found) if found.wait else ""
    reused = stored.used if stored is not None else 0
    if stored is not None and not found.receipt.partial:
        stored.remove_used()
    elif stored is not None and found.run:
        stored.billed()  # the manifest of the run has the receipt
    return replace(_result(now, plan, found, taken, since, branch=branch), reused=reused)


def _desk(first: Work, request: Request) -> tuple[Desk | None, SavedAnswers | None]:
    """Return what asks the model, if one is to be asked, and its stored answers if it is paid."""
    choice = _choice(request)
    stored = SavedAnswers(first.store.folder) if kind_of(first, choice) != "offline" else None
    if stored is not None:
        choice = replace(choice, carried=stored.unbilled)
    desk = desk_of(first, choice)
    if desk is not None:
        desk.carried = choice.carried
        desk.stored, desk.tick, desk.in_time = stored, first.call.tick, _deadline(first)
    return desk, stored


def _deadline(work: Work) -> Callable[[], None]:
    """Return a function that raises BudgetReached after the run's time limit."""
    most, clock = work.config.run.max_minutes, work.call.clock
    ends = work.call.now + timedelta(minutes=most)

    def refuse() -> None:
        if clock is not None and clock() > ends:
            raise BudgetReached(
                f"a run may take {counted(most, 'minute', 'minutes')}",
                fix="the next run continues; or raise run.max_minutes",
            )

    return refuse


_EXITS = {"held": Exit.DECIDE, "partial": Exit.MODEL, "failed": Exit.MODEL}


def _result(
    at: Work,
    plan: RunPlan,
    found: Decisions,
    taken: Ingested,
    since: str,
    *,
    branch: str = "",
    status: str = "",
) -> Result:
    """Return what became of a run. `at` is the repository after it, `since` the commit before."""
    is_dry, partial, head = status == "dry-run", found.receipt.partial, at.tree.commit
    landed = found.lands and not is_dry
    if branch:
        status = "held"
    elif partial and not is_dry:
        status = "partial" if landed else "failed"
    elif not is_dry:
        status = "ok" if landed or taken.commit else "skipped"
    waits = [one for one in all_waiting(at) if one.branch == branch] if branch else []
    why = found.wait or (waits[-1].entry.trailer("Reason") if waits else "") or partial
    problems = (*taken.refused, *found.problems, *found.warnings)
    entries = history.entries(at.store.repo, f"{since}..{head}") if head != since else ()
    used = plan.desk.usage if plan.desk is not None else Usage()
    return Result(
        mode=plan.mode,
        status=status,
        run="" if status == "skipped" else found.run or branch.removeprefix(PREFIX),
        base=since,
        head=head,
        branch=branch,
        why=why,
        pending=len({i for step in found.decisions for i in step.memory_ids}) if branch else 0,
        marked=marked_in(found.steps) if found.run else (),
        ingest=taken,
        commits=tuple(
            Landed(
                id=e.commit,
                op=e.op,
                subject=e.subject,
                memories=tuple(e.trailers.get("Memory", ())),
            )
            for e in entries
        ),
        counts=dict(found.counts) if found.run else {},
        tokens=used.tokens(),
        cost_usd=used.cost_usd,
        warnings=problems,
        quarantined=found.quarantined,
        landed=landed,
        refusals=tuple(plan.desk.refusals) if plan.desk is not None else (),
        exit=_EXITS.get(status, Exit.DONE),
        notices=problems,
    )


def propose(work: Work, plan: RunPlan) -> Decisions:
    """Compute a run at a commit without writing anything."""
    plan = read_commit(work, plan)
    given = gather_sources(work, plan)
    answers = judge(plan, given)
    run = name_run(work, plan, answers)
    found = decide(plan, given, answers, run)
    if plan.mode == "incremental":
        add_upkeep(work, plan, found)
    if (desk := plan.desk) is not None:
        usage = desk.carried + desk.usage
        found.receipt = replace(found.receipt, usage=usage, prompt_hash=desk.prompt_hash)
    found.problems = (*plan.problems, *found.problems)
    draft(work, plan, found, run)
    return found


def _asked(first: Work, request: Request) -> RunPlan:
    """Return the plan for a request. After an acknowledged upgrade, plan a reconciliation."""
    due = upgrade_due(first)
    if due is not None and not request.acknowledge_upgrade:
        raise due
    is_wide = due is not None or request.mode == "reconciliation"
    mode: RunMode = "reconciliation" if is_wide else "incremental"
    return RunPlan(
        now=first.call.now,
        mode=mode,
        is_upgrade=due is not None,
        asks_about_old=not request.dry_run,
    )


def _choice(request: Request) -> JudgeChoice:
    return JudgeChoice(
        judge=request.judge or "",
        max_usd=request.max_usd,
        max_tokens=request.max_tokens,
    )


def _report(first: Work) -> Report:
    """Return how much to print: the configured mode, or everything by default."""
    given = "reporting.mode" in first.config.given
    mode: Report = first.config.reporting.mode
    return mode if given else "full"


def _estimated(work: Work, request: Request) -> Result:
    """Return an estimate of the run's questions, without locking, asking or writing anything."""
    at = work.refreshed()
    _asked(work, request)
    found = estimate_of(at, _choice(request))
    return replace(found, report=request.report or _report(at))


MIN_INDEXED = 50
"""Minimum number of memories for a run to update the search index.

Below it, the next search does.
"""


def _update_caches(before: Work, at: Work) -> None:
    """Update the caches that speed up the next start: memories and search index."""
    count = len(at.tree.state().memories)
    lines_of_logs(at.tree.state())  # each page from now on needs them
    if at.tree.commit != before.tree.commit and count >= MIN_INDEXED:
        from memrepo.actions.recall.recall import embed, index_of

        index_of(at, edits=False, passages=True).follow()
        embed(at)
    at.tree.cache_memories()  # a new index has no derived values


# -- drafts ----------------------------------------------------------------------------------------


def draft(work: Work, plan: RunPlan, found: Decisions, run: str) -> None:
    """Complete the steps of a run by its id, its pages and its manifest, if it has any effect."""
    kept, redacted = redact_steps(found.steps)
    steps = found.steps = tuple(kept)
    work.store.notices += (one for one in redacted if one not in work.store.notices)
    state = apply_steps(plan.state, steps)
    # Most runs change nothing, and rendering the pages takes the most time of them.
    pages = derived_files(work, state) if steps or not are_pages_current(work) else []
    # Without any change, a run is recorded only for the cost of its questions.
    cost = found.receipt.usage.calls
    if not (steps or pages or found.consumed or plan.is_upgrade or cost):
        return
    found.base, found.run = work.tree.commit, run
    found.counts = {**found.counts, **count_of(plan.state, steps)}
    manifest = Manifest(
        run=found.run,
        mode=plan.mode,
        judge=plan.judge_name,
        profile=plan.config.profile,
        base=found.base,
        now=format_time(plan.now),
        package=__version__,
        logic=LOGIC_VERSION,
        schema=SCHEMA_VERSION,
        consumed=found.consumed,
        counts=found.counts,
        judgements=_judgements_of(found, steps),
        warnings=tuple(problem.as_json() for problem in (*found.warnings, *redacted)),
        quarantined=found.quarantined,
        receipt=found.receipt,
        used=Ledger(work.store).unrecorded(),
    )
    read = counted(len(found.consumed), "source file", "source files")
    why = f"{read} read, judged by {plan.judge_name}" if found.consumed else "no source file read"
    path = work.tree.layout.manifest(found.run)
    # A text of the record may look like a secret beside another one: it must not stop the run.
    data = clean_page(path, manifest.to_bytes())
    last = record((Write(path=path, data=data),), pages, why)
    found.steps = (*steps, last)
    found.wait = _why_wait(work, plan, found)


def _why_wait(work: Work, plan: RunPlan, found: Decisions) -> str:
    """Return why a run waits for review: a reconciliation does. Empty if it may land."""
    if plan.mode != "reconciliation" or not found.decisions:
        return ""
    if work.config.run.reconciliation == "land":
        changes = (change for step in found.steps for change in step.changes)
        return interlock(plan.state, changes, plan.config.run.max_change_pct)
    return "a reconciliation is reviewed before it takes effect"


def _judgements_of(found: Decisions, steps: Sequence[Step]) -> dict[str, tuple[Judged, ...]]:
    ids = {id_ for step in steps for id_ in step.memory_ids}
    return {id_: tuple(judged) for id_, judged in found.judgements.items() if id_ in ids}


def name_run(work: Work, plan: RunPlan, answers: Answers) -> str:
    """Return the id of a run: its time, and a hash of the commit and what the judge answered."""
    read = [[one.id, one.op, one.text, one.memory] for one in answers.statements]
    used = sorted(Ledger(work.store).unrecorded())
    parts = [work.tree.commit, plan.mode, plan.judge_name, read, used]
    return f"{run_stamp(plan.now, [m.run for m in plan.manifests])}-{digest(parts)[:8]}"


def run_stamp(now: datetime, runs: Sequence[str]) -> str:
    """Return the time part of a new run's id: now, or one second after the latest run.

    Manifests are processed in the order of their ids. Two runs in one second, or a clock that went
    back, must not change what counts as consumed.
    """
    stamp = f"{now:%Y%m%dT%H%M%SZ}"
    last = max((run[:16] for run in runs), default="")
    if stamp > last:
        return stamp
    after = datetime.fromisoformat(last) + timedelta(seconds=1)
    return f"{after:%Y%m%dT%H%M%SZ}"


def record(files: Sequence[Change], pages: Sequence[Change], reason: str) -> Step:
    """Return the last step of a run, which adds its manifest and the regenerated pages."""
    if pages:
        reason = f"{reason}; {counted(len(pages), 'page', 'pages')} regenerated"
    return Step(op="run", what=RECORD, reason=reason, changes=(*pages, *files))


# -- counts ----------------------------------------------------------------------------------------

_UPKEEP = (
    ("nominated", "nominate"),
    ("tier_moves", "tier"),
    ("pruned", "prune"),
    ("archived", "archive"),
    ("summaries", "compress"),
    ("hot_new", "promote"),
    ("hot_gone", "demote"),
    ("restored", "restore"),
)
_ALWAYS = (
    *("memories_new", "notes_new", "superseded", "contested", "memories_retired"),
    *("memories_reworded", "notes_grown"),
)
"""Counts that are recorded even if they are zero."""
_BY_MEMORY = ("promote", "demote", "tier", "archive")
"""Operations whose steps may concern several memories, which are counted individually."""


def marked_in(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the memories that some steps mark for removal without archiving them."""
    return tuple(
        c.id
        for step in steps
        if step.op == "retire"
        for c in step.changes
        if isinstance(c, Update) and c.fields.get("standing") and "status" not in c.fields
    )


def count_of(state: State, steps: Sequence[Step]) -> dict[str, int]:
    """Count the changes of a run."""
    changes = [change for step in steps if step.op != "restore" for change in step.changes]
    made = [change.memory for change in changes if isinstance(change, Create)]
    new = [memory.id for memory in made if memory.type not in ("summary", "chunk")]
    rows = [(s.op, [c.id for c in s.changes if isinstance(c, Update)]) for s in steps]
    notes = {m.id for m in (*state.every, *made) if m.is_note}
    ops: list[str] = [op for op, _ in rows]

    def of(op: str) -> list[str]:
        return [id_ for one, ids in rows if one == op for id_ in ids]

    counts = {
        "memories_new": sum(id_ not in notes for id_ in new),
        "notes_new": sum(id_ in notes for id_ in new),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "memories_retired": len(of("retire")) - len(marked_in(steps)),
        "marked": len(marked_in(steps)),
        "memories_reworded": sum(id_ not in notes for id_ in of("reword")),
        "notes_grown": sum(id_ in notes for id_ in of("reword")),
        "linked": len(of("link")),
        "summarised": len(of("compress")),
        **{name: len(of(op)) if op in _BY_MEMORY else ops.count(op) for name, op in _UPKEEP},
    }
    return {name: count for name, count in counts.items() if count or name in _ALWAYS}


def headline(run: str, counts: Mapping[str, int]) -> str:
    """Return the subject of a run's merge: its id and the most important counts."""
    words = counts_in_words(counts)
    while len(start := f"Run {run}: ") + len(", ".join(words)) > SUBJECT_LENGTH:
        words.pop()  # the manifest and the result contain all counts
    return f"{start}{', '.join(words) or 'no change'}"


# -- writing ---------------------------------------------------------------------------------------


def land(work: Work, made: Decisions, reason: str, *, dry_run: bool = False) -> None:
    """Commit a run. Raise BranchMoved if another commit landed in the meantime.

    A dry run only raises what would refuse the contents.
    """
    landing = _landing(work, made, reason)
    if dry_run:
        return
    tip = work.store.land(landing.chain, made.run)
    are_pages_current(work.at(work.store.snapshot(tip), work.config), rendered=True)


def _landing(work: Work, found: Decisions, reason: str = "") -> Landing:
    return prepare(
        work.store,
        work.tree.state(),
        found.base,
        found.steps,
        Context(actor=MACHINE, run=found.run),
        work.call.now,
        merge=Step(op="run", what=headline(found.run, found.counts), reason=reason or found.wait),
        cost=found.receipt.trailer,
    )


def put_on_branch(work: Work, made: Decisions) -> str:
    """Put a run on a branch for review, and return the branch.

    It replaces the runs that are pending, because it reads everything and covers what they propose.
    """
    for one in all_waiting(work):
        put_away(work, one)
    branch = PREFIX + made.run
    work.store.leave(_landing(work, made).chain, branch)
    return branch


MAX_FAILED = 200
"""Maximum number of unusable answers to retain; the newest are retained."""


def keep_unusable_answers(work: Work, failures: Sequence[Failure], run: str) -> None:
    """Store each unusable answer byte for byte, together with the reason.

    These files are never committed.
    """
    folder = work.store.root / work.tree.layout.prefix / ".memrepo" / "failed"
    for number, failure in enumerate(failures, start=1):
        raw = failure.raw.encode("utf-8", "surrogateescape")
        found = {
            "pass": failure.name,
            "batch": failure.batch,
            "reason": failure.reason,
            "recovery": list(failure.tried),
            "raw": raw.decode("utf-8", "replace"),
        }
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{run}-{failure.name}-{number}.json"
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".raw").write_bytes(raw)
    for pattern in ("*.json", "*.raw") if failures else ():
        keep_newest(folder, pattern, MAX_FAILED)
