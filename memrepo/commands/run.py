"""`memrepo run`: ingest, purify, upkeep, views; one merge commit, or a branch for review."""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memrepo.commands.amounts import amount, percent, whole
from memrepo.commands.claiming import claim_edits
from memrepo.commands.drafting import Proposal
from memrepo.commands.ingest import Ingested, take_in
from memrepo.commands.judging import Choice, judge_of
from memrepo.commands.landing import TRIES, Landing, prepare
from memrepo.commands.outcome import Outcome, answer_of
from memrepo.commands.ownership import refuse_other, take_over
from memrepo.commands.progress import WatchedJudge
from memrepo.commands.proposal import STAGES, Proposed, Wish, propose
from memrepo.commands.reporting import reported
from memrepo.commands.resuming import kept_for, resumed
from memrepo.commands.session import MACHINE, Answer, Desk, Session, desk, opened
from memrepo.commands.timetable import superseded
from memrepo.commands.upgrade import upgrade_due
from memrepo.commands.waiting import PREFIX, Waiting, all_waiting, put_away, refuse_no_room
from memrepo.config import JUDGES
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import Context
from memrepo.purify.pipeline import Mode
from memrepo.purify.removals import prints_in
from memrepo.store import history
from memrepo.store.kept import KeptAnswers
from memrepo.store.ledger import ledger_of
from memrepo.store.repo import BranchMoved


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--mode",
        choices=("incremental", "reconciliation"),
        help="what is new (incremental, the default), or everything again, for review",
    )
    parser.add_argument(
        "--only",
        type=_stages,
        metavar="STAGE,...",
        help=f"go through these stages alone: {', '.join(STAGES)}; views always follow",
    )
    parser.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="RUN",
        help="go on with a run that broke off (the newest, or RUN), in its mode with its judge",
    )
    parser.add_argument(
        "--acknowledge-upgrade",
        action="store_true",
        help="judge everything again after an upgrade of memrepo's logic",
    )
    parser.add_argument("--judge", choices=JUDGES, help="who scores and words")
    spent = "what the run may spend, in US dollars"
    parser.add_argument("--max-usd", type=amount, metavar="X", help=spent)
    parser.add_argument(
        "--max-tokens", type=whole, metavar="N", help="how many tokens the run may use"
    )
    parser.add_argument("--record", metavar="DIR", help="keep every answer of a live judge there")
    parser.add_argument("--replay", metavar="DIR", help="judge by the answers recorded there")
    parser.add_argument(
        "--max-change-pct",
        type=percent,
        metavar="P",
        help="wait for a person when more than P percent of the memories would leave recall",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="accept that many workspace files are gone; run even in a reconciliation's hour",
    )
    parser.add_argument(
        "--take-over", action="store_true", help="make this clone the one that runs (run.owner)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--reason", default="", help="why, for the merge commit")
    parser.add_argument(
        "--report",
        choices=("silent", "summary", "full"),
        help="how much to print (reporting.mode where it is given, else full)",
    )


def _stages(text: str) -> frozenset[str]:
    """Read a list of stages, for argparse."""
    found = [word.strip() for word in text.split(",")]
    if wrong := [word for word in found if word not in STAGES]:
        raise argparse.ArgumentTypeError(
            f"found {wrong[0]!r}, expected stages of {', '.join(STAGES)}"
        )
    return frozenset(found)


class NoSuchStage(MemrepoError):
    """A reconciliation was asked for a stage that it does not have."""

    exit_code = Exit.USAGE

    def __init__(self, stages: frozenset[str]) -> None:
        super().__init__(
            f"a reconciliation is reviewed as a whole: it has no {', '.join(sorted(stages))}",
            fix="leave --only out, or run in the mode incremental",
        )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Run once, and tell of it; a second run at the same time gives up at once."""
    with opened(session) as first:
        first.require_writable()
        refuse_other(first, take_over=options.take_over)
        options = resumed(first, options)
        with _uncollected():
            answer = reported(first, session, options, lambda: _once(first, session, options))
        if not options.dry_run:
            desk(first.store).tree.keep()
        return answer


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the cycle collector from going through all memories time and again: few cycles die."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()  # nor once more at the end
            gc.enable()


def _once(first: Desk, session: Session, options: argparse.Namespace) -> Answer:
    wish, report = _wish(first, options), options.report or _report(first)
    why = superseded(first, session.now) if wish.mode == "incremental" else ""
    if why and not options.force:
        return answer_of(_gave_way(first, wish, why), report, ())
    with first.store.running():
        with first.store.writing():
            first.store.refuse_unfit()
        taken = take_over(first, session) if options.take_over and not options.dry_run else ""
        if not options.dry_run:
            claim_edits(first, session)
        outcome = _run(first, session, options, wish)
        if outcome.landed:
            first.store.maintain()
    answer = answer_of(outcome, report, tuple(first.store.notices))
    return replace(answer, text=f"{taken}\n{answer.text}") if taken and answer.text else answer


def _report(first: Desk) -> str:
    """Return how much to print: what the configuration gives, to whoever asks by hand all."""
    given = "reporting.mode" in first.config.given
    return str(first.config.get("reporting.mode")) if given else "full"


def _gave_way(first: Desk, wish: Wish, why: str) -> Outcome:
    return Outcome(
        status="skipped_superseded",
        base=first.tree.commit,
        head=first.tree.commit,
        mode=wish.mode,
        ingested=Ingested(),
        why=why,
        proposed=Proposed(main=None, waiting=None, problems=()),
    )


def _wish(first: Desk, options: argparse.Namespace) -> Wish:
    """Return what is asked for; an acknowledged upgrade is a reconciliation on record."""
    limit = options.max_change_pct
    if limit is None:
        limit = first.config.get("run.max_change_pct")
    due = upgrade_due(first)
    if due is not None and not options.acknowledge_upgrade:
        raise due
    mode: Mode = "reconciliation" if due is not None else options.mode
    stages: frozenset[str] = options.only or frozenset(STAGES)
    if mode == "reconciliation" and options.only and (more := stages - {"ingest", "purify"}):
        raise NoSuchStage(more)
    return Wish(
        mode=mode,
        limited=options.max_change_pct is not None,
        max_change_pct=float(limit),
        manifest=due is not None,
        model=not options.dry_run,
        stages=stages,
    )


def _run(first: Desk, session: Session, options: argparse.Namespace, wish: Wish) -> Outcome:
    at = desk(first.store)
    refuse_no_room(at)
    base = at.tree.commit
    if not options.dry_run:
        ledger_of(first.store).flush(session.now)
    choice = _choice(session, options)
    kept = kept_for(at, wish.mode, options.resume, choice)
    if kept is not None:
        choice, wish = replace(choice, carried=kept.unbilled), replace(wish, kept=kept)
    judge = WatchedJudge(judge_of(first, choice), session.tick)
    ingested = Ingested()
    if "ingest" in wish.stages:
        ingested = take_in(at, session, force=options.force, dry_run=options.dry_run)
    at = desk(first.store)
    if wish.mode == "reconciliation" and options.max_change_pct is None:
        waits = [w for w in _of_mode(at, wish.mode) if w.base == at.tree.commit]
        if waits:
            # Nothing changed since it was computed: a judge would only say the same again.
            return _still_waiting(at, base, ingested, wish, waits[-1])
    for turn in range(1, TRIES + 1):
        at = desk(first.store)
        proposed = propose(at, judge, session.now, wish, session.tick)
        outcome = Outcome(
            status="dry-run",
            base=base,
            mode=wish.mode,
            head=at.tree.commit,
            ingested=ingested,
            proposed=proposed,
            landed=proposed.main,
        )
        if options.dry_run:
            return replace(outcome, used=judge.usage)
        try:
            landed = _land(at, session, proposed.main, options.reason)
        except BranchMoved:
            # A person's commit takes no lock; the plan is computed again on the new HEAD.
            if turn == TRIES:
                raise
            continue
        if kept is not None and landed is not None:
            kept.billed()
        if landed is not None and proposed.holds:
            # What waits is drafted on the commit that it would be joined to.
            again = propose(desk(first.store), judge, session.now, wish, session.tick)
            proposed = replace(proposed, waiting=again.waiting)
        _keep_raw(at, proposed)
        done = _concluded(
            first,
            session,
            replace(outcome, proposed=proposed, landed=landed, used=judge.usage),
            judged="purify" in wish.stages,
        )
        return _with_kept(done, kept)
    raise AssertionError("unreachable")


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


def _still_waiting(at: Desk, base: str, ingested: Ingested, wish: Wish, waits: Waiting) -> Outcome:
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


def _land(at: Desk, session: Session, main: Proposal | None, reason: str) -> Proposal | None:
    if main is None or main.wait:
        return None
    at.store.land(_landing(at, session, main, reason).chain, main.run)
    return main


def _concluded(first: Desk, session: Session, outcome: Outcome, *, judged: bool) -> Outcome:
    """Leave on a branch what may not merge itself, and say what the run came to.

    A run that has not `judged` what is new leaves the branch that there is.
    """
    at, proposed = desk(first.store), outcome.proposed
    waits = proposed.main if proposed.main is not None and proposed.main.wait else proposed.waiting
    branch = _left_waiting(at, session, waits, outcome.mode) if judged else ""
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


def _of_mode(at: Desk, mode: Mode) -> list[Waiting]:
    return [w for w in all_waiting(at) if w.manifest(at)["mode"] == mode]


def _left_waiting(at: Desk, session: Session, waits: Proposal | None, mode: Mode) -> str:
    """Leave one branch that waits, and return its name; one that says the same stays as it is.

    Where no removal waits any more, a branch of removals goes. A reconciliation holds all that an
    incremental run would, and so replaces what waits, and is waited for.
    """
    older, every = _of_mode(at, mode), all_waiting(at)
    if mode == "incremental" and len(older) < len(every):
        return next(w.branch for w in every if w not in older) if waits else ""
    if waits is None:
        for one in older:
            if one.removals(at):
                put_away(at, one)
        return ""
    prints = prints_in(waits.decisions)
    if same := [w for w in older if waits.removals and w.prints(at) == prints]:
        return same[-1].branch
    for one in every:
        put_away(at, one)
    return _leave(at, session, waits)


def _choice(session: Session, options: argparse.Namespace) -> Choice:
    return Choice(
        judge=options.judge or "",
        now=session.now,
        max_usd=options.max_usd,
        max_tokens=options.max_tokens,
        record=session.where / options.record if options.record else None,
        replay=session.where / options.replay if options.replay else None,
    )


def _status(proposed: Proposed, *, branch: str, landed: Proposal | None, news: bool) -> str:
    """Say what a run came to: partial when some of it could not be judged, failed when all."""
    if branch:
        return "held"
    if proposed.partial:
        return "partial" if landed else "failed"
    return "ok" if news else "skipped"


def _keep_raw(at: Desk, proposed: Proposed) -> None:
    """Leave what the judge said in vain where a person may look; never committed."""
    folder = at.store.root / at.tree.layout.prefix / ".memrepo" / "failed"
    run = next((p.run for p in (proposed.main, proposed.waiting) if p), "run")
    for number, failure in enumerate(proposed.failures, start=1):
        record = {
            "pass": failure.name,
            "batch": failure.batch,
            "reason": failure.reason,
            "raw": failure.raw,
        }
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(folder / f"{run}-{failure.name}-{number}.json")
        path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _landing(at: Desk, session: Session, proposal: Proposal, reason: str = "") -> Landing:
    step = replace(proposal.merge, reason=reason) if reason else proposal.merge
    return prepare(
        at.store,
        at.tree.state(),
        proposal.plan,
        Context(actor=MACHINE, run=proposal.run),
        session.now,
        merge=step,
        cost=proposal.receipt.trailer,
        access=proposal.ledger,
    )


def _leave(at: Desk, session: Session, proposal: Proposal) -> str:
    branch = PREFIX + proposal.run
    at.store.leave(_landing(at, session, proposal).chain, branch)
    return branch
