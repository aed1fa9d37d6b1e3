"""The commits of a run: drafting and writing its chains, and putting pending parts on a branch."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from memrepo import __version__
from memrepo.actions.landing import Landing, derived_files, prepare, redact_steps, stale_pages
from memrepo.actions.pending import PREFIX, all_waiting, put_away
from memrepo.actions.run.decide import Decisions
from memrepo.actions.run.gather import Answers, RunPlan
from memrepo.actions.work import MACHINE, Work
from memrepo.core.ids import digest
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
from memrepo.judge.ask import Failure
from memrepo.policies.upkeep import interlock
from memrepo.store.git import keep_newest
from memrepo.store.history import RECORD
from memrepo.store.run_files import Ledger
from memrepo.views.report import counts_in_words

# -- drafts ----------------------------------------------------------------------------------------


def draft(work: Work, plan: RunPlan, found: Decisions, run: str) -> None:
    """Complete the steps of a run by its id, its pages and its manifest, if it has any effect."""
    kept, redacted = redact_steps(found.steps)
    steps = found.steps = tuple(kept)
    work.store.notices += (one for one in redacted if one not in work.store.notices)
    state = apply_steps(plan.state, steps)
    # Most runs change nothing, and rendering the pages takes the most time of them.
    is_stale = not steps and bool(stale_pages(work))
    pages = derived_files(work, state) if steps or is_stale else []
    if is_stale and not pages:  # what changed is on no page
        stale_pages(work, rendered=True)
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
_BY_MEMORY = ("promote", "demote", "tier")
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
    stale_pages(work.at(work.store.snapshot(tip), work.config), rendered=True)


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
