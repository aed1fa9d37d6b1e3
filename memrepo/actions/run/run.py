"""`memrepo run`: ingest, purify, upkeep, views; one merge commit, or a branch for review."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.derived import call_settled, stale_files
from memrepo.actions.landing import TRIES, Landing, prepare
from memrepo.actions.pending import PREFIX, Waiting, all_waiting, is_wish, put_away, refuse_no_room
from memrepo.actions.request import DryRun, option
from memrepo.actions.run.chain import Proposal
from memrepo.actions.run.gate import kept_for, refuse_other, resumed, take_over, upgrade_due
from memrepo.actions.run.hand_edits import claim_edits, refuse_emptied
from memrepo.actions.run.ingest import Ingested, take_in
from memrepo.actions.run.judge_choice import Choice, WatchedJudge, deadline, judge_of
from memrepo.actions.run.proposal import STAGES, Proposed, Wish, propose
from memrepo.actions.run.report import REPORTS, Report
from memrepo.actions.run.telemetry import Outcome, Result, reported, result_of
from memrepo.actions.run.timetable import superseded
from memrepo.actions.work import MACHINE, Work, uncollected
from memrepo.config import JUDGES
from memrepo.core.errors import UsageError
from memrepo.core.messages import Context
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.entities import learn_names
from memrepo.purify.holds import prints_in
from memrepo.purify.pipeline import Mode
from memrepo.store import history
from memrepo.store.answers import KeptAnswers
from memrepo.store.catalogue import Compared
from memrepo.store.ledger import ledger_of
from memrepo.store.repo import WRITE_WAIT_S, BranchMoved
from memrepo.store.stream import CannotSign


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `run`."""

    mode: Annotated[
        Mode | None,
        option(
            "what is new (incremental, the default), or everything again, for review",
            "--mode",
            choices=("incremental", "reconciliation"),
        ),
    ] = None
    only: Annotated[
        frozenset[str] | None,
        option(
            f"go through these stages alone: {', '.join(STAGES)}; views always follow",
            "--only",
            metavar="STAGE,...",
            read=_stages,
        ),
    ] = None
    resume: Annotated[
        str | None,
        option(
            "go on with a run that broke off (the newest, or RUN), in its mode with its judge",
            "--resume",
            metavar="RUN",
            const="",
            optional=True,
        ),
    ] = None
    acknowledge_upgrade: Annotated[
        bool,
        option(
            "judge everything again after an upgrade of memrepo's logic", "--acknowledge-upgrade"
        ),
    ] = False
    judge: Annotated[str | None, option("who scores and words", "--judge", choices=JUDGES)] = None
    max_usd: Annotated[
        float | None,
        option("what the run may spend, in US dollars", "--max-usd", metavar="X", ge=0),
    ] = None
    max_tokens: Annotated[
        int | None, option("how many tokens the run may use", "--max-tokens", metavar="N", ge=1)
    ] = None
    record: Annotated[
        str | None, option("keep every answer of a live judge there", "--record", metavar="DIR")
    ] = None
    replay: Annotated[
        str | None, option("judge by the answers recorded there", "--replay", metavar="DIR")
    ] = None
    max_change_pct: Annotated[
        float | None,
        option(
            "wait for a person when more than P percent of the memories would leave recall",
            "--max-change-pct",
            metavar="P",
            ge=0,
            le=100,
        ),
    ] = None
    force: Annotated[
        bool,
        option(
            "accept that many workspace files are gone; run even in a reconciliation's hour",
            "--force",
        ),
    ] = False
    take_over: Annotated[
        bool, option("make this clone the one that runs (run.owner)", "--take-over")
    ] = False
    dry_run: DryRun = False
    estimate: Annotated[
        bool,
        option(
            "say what a run would ask, in tokens and US dollars; ask and write nothing",
            "--estimate",
        ),
    ] = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""
    report: Annotated[
        Report | None,
        option(
            "how much to print (reporting.mode where it is given, else full)",
            "--report",
            choices=REPORTS,
        ),
    ] = None


def _stages(text: str) -> frozenset[str]:
    """Read a list of stages; raises ValueError for what is none."""
    found = [word.strip() for word in text.split(",")]
    if wrong := [word for word in found if word not in STAGES]:
        raise ValueError(f"found {wrong[0]!r}, expected stages of {', '.join(STAGES)}")
    return frozenset(found)


def do(work: Work, request: Request) -> Result:
    """Run once, and tell of it; a second run at the same time gives up at once."""
    work.require_writable()
    refuse_other(work, take_over=request.take_over)
    mode, judge, resume = resumed(work, request)
    request = replace(request, mode=mode, judge=judge, resume=resume)
    if request.estimate:
        return _foreseen(work, request)
    with uncollected():
        result = reported(work, request, lambda: run_once(work, request))
    if not request.dry_run:
        _keep(work, work.refreshed())
    return result


_MIN_INDEXED = 50
"""From so many memories on a run updates the search index; of fewer the next search does."""


def _foreseen(work: Work, request: Request) -> Result:
    """Return what a run would ask; nothing is locked, asked or written."""
    from memrepo.actions.run.estimate import estimated

    at, wish = work.refreshed(), _wish(work, request)
    found = estimated(at, _choice(at, request), force=request.force)
    outcome = Outcome(
        status="estimate",
        base=at.tree.commit,
        head=at.tree.commit,
        mode=wish.mode,
        ingested=found.news.done,
        proposed=Proposed(main=None, waiting=None, problems=()),
        used=found.usage,
        why=found.over,
    )
    told = result_of(outcome, request.report or _report(at), ())
    return replace(told, said=found.said, unsaid=False, questions=found.questions)


def _keep(before: Work, at: Work) -> None:
    """Keep what the memories say, and what follows from each: the next start works out neither."""
    if at.tree.commit != before.tree.commit:
        stale_files(at)
        learn_names(at.tree.state().active)
    at.tree.keep()
    count = len(at.tree.state().memories)
    if at.tree.commit != before.tree.commit and count >= _MIN_INDEXED:
        from memrepo.actions.recall.recall import index_of

        index_of(at, edits=False, passages=True).follow()


def run_once(first: Work, request: Request) -> Result:
    """Run once and return what it came to; nobody is notified."""
    wish, report = _wish(first, request), request.report or _report(first)
    why = superseded(first, first.call.now) if wish.mode == "incremental" else ""
    if why and not request.force:
        return result_of(_gave_way(first, wish, why), report, ())
    with first.store.running():
        with first.store.writing():
            first.store.refuse_unfit()
        taken = take_over(first) if request.take_over and not request.dry_run else ""
        refuse_emptied(first, limited=wish.limited)
        base = first.store.head()
        try:
            if not request.dry_run:
                claim_edits(first)
            outcome = _run(first, request, wish)
        except CannotSign:
            # Signed for trial it could be, hours ago: what the merge would have covered goes too.
            first.store.withdraw(base)
            raise
        if outcome.landed:
            from memrepo.actions.recall.recall import embed

            first.store.maintain()
            embed(first.refreshed())
    return replace(result_of(outcome, report, tuple(first.store.notices)), taken_over=taken)


def _report(first: Work) -> Report:
    """Return how much to print: what the configuration gives, to whoever asks by hand all."""
    given = "reporting.mode" in first.config.given
    mode: Report = first.config.get("reporting.mode")
    return mode if given else "full"


def _gave_way(first: Work, wish: Wish, why: str) -> Outcome:
    return Outcome(
        status="skipped_superseded",
        base=first.tree.commit,
        head=first.tree.commit,
        mode=wish.mode,
        ingested=Ingested(),
        why=why,
        proposed=Proposed(main=None, waiting=None, problems=()),
    )


def _wish(first: Work, request: Request) -> Wish:
    """Return what is asked for; an acknowledged upgrade is a reconciliation on record."""
    limit = request.max_change_pct
    if limit is None:
        limit = first.config.get("run.max_change_pct")
    due = upgrade_due(first)
    if due is not None and not request.acknowledge_upgrade:
        raise due
    mode: Mode = (
        "reconciliation" if due is not None or request.mode == "reconciliation" else "incremental"
    )
    stages: frozenset[str] = request.only or frozenset(STAGES)
    if mode == "reconciliation" and request.only and (more := stages - {"ingest", "purify"}):
        raise UsageError(
            f"a reconciliation is reviewed as a whole: it has no {', '.join(sorted(more))}",
            fix="leave --only out, or run in the mode incremental",
        )
    return Wish(
        mode=mode,
        limited=request.max_change_pct is not None,
        max_change_pct=float(limit),
        manifest=due is not None,
        model=not request.dry_run,
        stages=stages,
    )


def _run(first: Work, request: Request, wish: Wish) -> Outcome:
    at = first.refreshed()
    refuse_no_room(at)
    _tell_of_an_earlier_time(at)
    base = at.tree.commit
    if not request.dry_run:
        ledger_of(first.store).flush(first.call.now)
    choice = _choice(first, request)
    kept = kept_for(at, wish.mode, request.resume, choice)
    if kept is not None:
        choice, wish = replace(choice, carried=kept.unbilled), replace(wish, kept=kept)
    judge = WatchedJudge(judge_of(first, choice), first.call.tick, deadline(first))
    ingested = Ingested()
    if "ingest" in wish.stages:
        merge = not request.dry_run
        ingested = take_in(at, force=request.force, dry_run=request.dry_run, signed=merge)
    at = first.refreshed()
    if wish.mode == "reconciliation" and request.max_change_pct is None:
        waits = [w for w in _of_mode(at, wish.mode) if w.base == at.tree.commit]
        if waits:
            # Nothing changed since it was computed: a judge would only say the same again.
            return _still_waiting(at, base, ingested, wish, waits[-1])
    took = 0.0
    for turn in range(1, TRIES + 1):
        first.store.refuse_switched()
        began = time.monotonic()
        # Others write meanwhile, but for the last time: if they need not wait for too long.
        alone = turn == TRIES and took < WRITE_WAIT_S / 2
        with first.store.writing() if alone else nullcontext():
            at = first.refreshed()
            proposed = propose(at, judge, first.call.now, wish, first.call.tick)
            outcome = Outcome(
                status="dry-run",
                base=base,
                mode=wish.mode,
                head=at.tree.commit,
                ingested=ingested,
                proposed=proposed,
                landed=proposed.main,
            )
            if request.dry_run:
                return replace(outcome, used=judge.usage)
            try:
                head = _land(at, proposed.main, request.reason)
            except BranchMoved:
                # The plan is computed again on the new HEAD.
                if turn == TRIES:
                    raise
                took = time.monotonic() - began
                continue
        landed = proposed.main if head else None
        _remember(at, proposed, head or at.tree.commit)
        if head and (there := first.refreshed()).tree.commit == head:
            call_settled(there)
        if kept is not None and landed is not None:
            kept.billed()
        if landed is not None and proposed.holds:
            # What waits is drafted on the commit that it would be joined to.
            again = propose(first.refreshed(), judge, first.call.now, wish, first.call.tick)
            proposed = replace(proposed, waiting=again.waiting)
        _keep_raw(at, proposed)
        done = _concluded(
            first,
            replace(outcome, proposed=proposed, landed=landed, used=judge.usage),
            judged="purify" in wish.stages,
        )
        return _with_kept(done, kept)
    raise AssertionError("unreachable")


def _tell_of_an_earlier_time(at: Work) -> None:
    """Tell that the run counts as later than it was asked for: its id comes after every other."""
    stamp = f"{at.call.now:%Y%m%dT%H%M%SZ}"
    area = at.tree.layout.area("runs")
    names = (p.rpartition("/")[2] for p in at.tree.files.below(area) if p.endswith(".json"))
    last = max(names, default="")
    if last[:16] > stamp:
        at.store.notices.append(
            Problem(
                path=at.tree.layout.manifest(last.removesuffix(".json")),
                rule="time-before-last-run",
                severity="warning",
                message=f"found {format_time(at.call.now)}, which is before the last run: this"
                " run is dated just after it",
                fix="check the clock, or `--now`",
            )
        )


def _with_kept(outcome: Outcome, kept: KeptAnswers | None) -> Outcome:
    """Forget the answers that all landed, or wait; say which run a partial one goes on as."""
    if kept is None:
        return outcome
    if not outcome.proposed.partial:
        kept.remove()
    elif outcome.branch:
        kept.billed()  # the receipt waits with the rest
    resume = kept.of.run if outcome.proposed.partial and kept.path.exists() else ""
    return replace(outcome, resume=resume, reused=kept.used)


def _still_waiting(at: Work, base: str, ingested: Ingested, wish: Wish, waits: Waiting) -> Outcome:
    return Outcome(
        status="held",
        base=base,
        mode=wish.mode,
        head=at.tree.commit,
        ingested=ingested,
        branch=waits.branch,
        proposed=Proposed(main=None, waiting=None, problems=()),
        why=waits.entry.trailer("Reason"),
    )


def _land(at: Work, main: Proposal | None, reason: str) -> str:
    """Write what lands, and return the commit that it led to; empty where nothing does."""
    if main is None or main.wait:
        return ""
    return at.store.land(_landing(at, main, reason).chain, main.run)


def _remember(at: Work, proposed: Proposed, commit: str) -> None:
    """Let later runs know that the memories of a commit need not be compared once more."""
    if proposed.comparer:
        upto = Compared(commit=commit, left=proposed.left)
        at.store.trees.catalogue.compared[proposed.comparer] = upto


def _concluded(first: Work, outcome: Outcome, *, judged: bool) -> Outcome:
    """Leave on a branch what may not merge itself, and say what the run came to.

    A run that has not `judged` what is new leaves the branch that there is.
    """
    at, proposed = first.refreshed(), outcome.proposed
    waits = proposed.main if proposed.main is not None and proposed.main.wait else proposed.waiting
    branch = _left_waiting(at, waits, outcome.mode) if judged else ""
    news = outcome.landed or outcome.ingested.commit
    head = at.tree.commit
    return replace(
        outcome,
        head=head,
        branch=branch,
        why=waits.wait if waits else "",
        status=_status(proposed, branch=branch, landed=outcome.landed, news=bool(news)),
        commits=tuple(history.entries(at.store.repo, f"{outcome.base}..{head}"))
        if head != outcome.base
        else (),
    )


def _of_mode(at: Work, mode: Mode) -> list[Waiting]:
    return [w for w in all_waiting(at) if w.manifest(at)["mode"] == mode]


def _left_waiting(at: Work, waits: Proposal | None, mode: Mode) -> str:
    """Leave one branch that waits, and return its name; one that says the same stays as it is.

    Where no removal waits any more, a branch of removals goes. A reconciliation holds all that an
    incremental run would, and so replaces what waits, and is waited for.
    """
    older, every = _of_mode(at, mode), [w for w in all_waiting(at) if not is_wish(at, w)]
    if mode == "incremental" and len(older) < len(every):
        return next(w.branch for w in every if w not in older) if waits else ""
    if waits is None:
        for one in older:
            if one.removals(at):
                put_away(at, one)
        return ""
    prints, head = prints_in(waits.decisions), at.tree.commit
    there = [w for w in older if waits.removals or w.base == head]
    if same := [w for w in there if w.prints(at) == prints]:
        return same[-1].branch
    for one in every:
        put_away(at, one)
    return _leave(at, waits)


def _choice(work: Work, request: Request) -> Choice:
    return Choice(
        judge=request.judge or "",
        now=work.call.now,
        max_usd=request.max_usd,
        max_tokens=request.max_tokens,
        record=work.call.where / request.record if request.record else None,
        replay=work.call.where / request.replay if request.replay else None,
    )


def _status(proposed: Proposed, *, branch: str, landed: Proposal | None, news: bool) -> str:
    """Say what a run came to: partial when some of it could not be judged, failed when all."""
    if branch:
        return "held"
    if proposed.partial:
        return "partial" if landed else "failed"
    return "ok" if news else "skipped"


FAILED = 200
"""So many answers that could not be used are kept, the newest."""


def _keep_raw(at: Work, proposed: Proposed) -> None:
    """Store each answer that could not be used, byte for byte, and why; never committed."""
    folder = at.store.root / at.tree.layout.prefix / ".memrepo" / "failed"
    run = next((p.run for p in (proposed.main, proposed.waiting) if p), "run")
    for number, failure in enumerate(proposed.failures, start=1):
        raw = failure.raw.encode("utf-8", "surrogateescape")
        record = {
            "pass": failure.name,
            "batch": failure.batch,
            "reason": failure.reason,
            "recovery": list(failure.tried),
            "raw": raw.decode("utf-8", "replace"),
        }
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(folder / f"{run}-{failure.name}-{number}.json")
        path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".raw").write_bytes(raw)
    if proposed.failures:
        from memrepo.store.damaged import keep_newest

        for pattern in ("*.json", "*.raw"):
            keep_newest(folder, pattern, FAILED)


def _landing(at: Work, proposal: Proposal, reason: str = "") -> Landing:
    step = replace(proposal.merge, reason=reason) if reason else proposal.merge
    return prepare(
        at.store,
        at.tree.state(),
        proposal.plan,
        Context(actor=MACHINE, run=proposal.run),
        at.call.now,
        merge=step,
        cost=proposal.receipt.trailer,
        access=proposal.ledger,
    )


def _leave(at: Work, proposal: Proposal) -> str:
    branch = PREFIX + proposal.run
    at.store.leave(_landing(at, proposal).chain, branch)
    return branch
