"""The commits of a run: drafting and writing its chains, and putting pending parts on a branch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.guard import redact_steps
from memrepo.actions.landing import Landing, call_settled, derived_files, prepare
from memrepo.actions.pending import PREFIX, Part, Waiting, all_waiting, is_wish, put_away
from memrepo.actions.run.guard import on_record, prints_in, wait_for_review
from memrepo.actions.run.plan import Draft, RunPlan, Units
from memrepo.actions.work import MACHINE, Work
from memrepo.core import corrections
from memrepo.core.changes import Change, Create, Delete, Plan, Step, Update, Write
from memrepo.core.ids import digest, text_hash
from memrepo.core.judge import Usage
from memrepo.core.manifest import Consumed, Manifest, Removal
from memrepo.core.messages import SUBJECT_LENGTH, Context, counted
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.store import history
from memrepo.store.history import RECORD
from memrepo.store.lock import keep_newest
from memrepo.views.report import counts_in_words

# -- drafts ----------------------------------------------------------------------------------------


def draft(work: Work, plan: RunPlan) -> None:
    """Draft the chain to commit and the chain to review. Either may be None."""
    if plan.only_waiting:
        draft_waiting(work, plan)
        return
    units = _waiting_units(plan)
    main = _drafted(
        work,
        plan,
        list(plan.steps),
        consumed=_without(plan.consumed, units),
        files=_files(plan),
        held=plan.new_removals,
        decided=plan.landed_removals,
    )
    if main is not None:
        main = replace(wait_for_review(work, plan, main), ledger=plan.ledger)
    plan.main = main
    draft_waiting(work, plan)
    if main is None and plan.waiting is None and plan.receipt.usage.calls:
        # There are no changes, but record the cost of the questions.
        plan.main = _drafted(work, plan, [], consumed=(), always=True)


def draft_waiting(work: Work, plan: RunPlan) -> None:
    """Draft the chain of pending decisions on top of the current commit.

    Removals are drafted only after the main chain is committed, because they apply to its result.
    The receipt is counted once, in the main chain.
    """
    removals = plan.removals if plan.main is None else ()
    paid = plan.main is not None or plan.only_waiting
    if not (plan.split.held or removals):
        return
    units = _waiting_units(plan)
    consumed = tuple(
        entry
        if (entry.resource, "") in units
        else replace(
            entry,
            from_=entry.to,
            except_=(),
            also=tuple(sorted(h for r, h in units if r == entry.resource)),
        )
        for entry in plan.consumed
        if any(r == entry.resource for r, _ in units)
    )
    decided = on_record(removals, "")
    steps = [*plan.split.held, *removals]
    found = _drafted(work, plan, steps, consumed=consumed, decided=decided, paid=paid)
    if found is not None:
        why = "; ".join(filter(None, (plan.split.why, plan.removal_reason)))
        plan.waiting = replace(found, wait=why, removals=decided)


def _drafted(
    work: Work,
    plan: RunPlan,
    steps: list[Step],
    *,
    consumed: Sequence[Consumed],
    files: Sequence[Write | Delete] = (),
    held: tuple[Removal, ...] = (),
    decided: tuple[Removal, ...] = (),
    paid: bool = False,
    always: bool = False,
) -> Draft | None:
    """Return the finished chain for the given steps, or None if there is nothing to write.

    `held` are removals to record as pending. `decided` are formerly pending removals that this
    chain performs. `paid` states that another chain records the receipt.
    """
    steps, redacted = redact_steps(steps)
    work.store.notices += (one for one in redacted if one not in work.store.notices)
    state = apply(plan.state, (change for step in steps for change in step.changes))
    pages = derived_files(work, state)
    if not (steps or pages or consumed or files or plan.is_upgrade or always):
        return None
    base = work.tree.commit
    stamp = run_stamp(plan.now, [m.run for m in plan.manifests])
    run = f"{stamp}-{_digest_of(base, steps)}"
    steps = [_with_run(step, run) for step in steps]
    ids = {id_ for step in steps for id_ in step.memory_ids}
    receipt = replace(plan.receipt, usage=Usage()) if paid else plan.receipt
    counts = {**plan.counts, **count_of(plan.state, steps)}
    manifest = Manifest(
        run=run,
        mode=plan.mode,
        judge=plan.judge.name,
        profile=plan.profile,
        base=base,
        now=format_time(plan.now),
        package=__version__,
        consumed=tuple(consumed),
        counts=counts,
        judgements={i: judged for i, judged in plan.judgements.items() if i in ids},
        warnings=tuple(problem.as_json() for problem in (*plan.warnings, *redacted)),
        quarantined=plan.quarantined,
        receipt=receipt,
        held=held,
        decided=decided,
    )
    taken = counted(len(consumed), "source file", "source files")
    why = f"{taken} read, judged by {plan.judge.name}" if consumed else "no source file read"
    if deferred := sum(isinstance(f, Write) and "/deferred/" in f.path for f in files):
        why += f"; {counted(deferred, 'statement', 'statements')} newly deferred"
    path = work.tree.layout.manifest(run)
    last = record((*files, Write(path=path, data=manifest.to_bytes())), pages, why)
    return Draft(run=run, base=base, steps=(*steps, last), counts=counts, receipt=receipt)


def _waiting_units(plan: RunPlan) -> frozenset[tuple[str, str]]:
    """Return the units that support only pending memories, not committed ones."""
    held: set[tuple[str, str]] = set()
    waiting = plan.split.open_ids
    for id_ in waiting:
        held.update(plan.behind.get(id_, ()))
    for id_, units in plan.behind.items() if held else ():
        if id_ not in waiting:
            held.difference_update(units)
    return frozenset(held)


def _without(consumed: Sequence[Consumed], units: Units) -> tuple[Consumed, ...]:
    """Return the consumption records, leaving out the units of pending memories."""
    found = []
    whole = {resource for resource, hash_ in units if not hash_}
    for entry in consumed:
        if entry.resource in whole:
            # A removal from this source is pending, so the next run compares it with this version
            # again.
            continue
        mine = {hash_ for resource, hash_ in units if resource == entry.resource}
        also = tuple(h for h in entry.also if h not in mine)
        entry = replace(entry, except_=tuple(sorted({*entry.except_, *mine})), also=also)
        # Skip a known source if all its new units are pending.
        if not mine or entry.from_ != entry.to or also:
            found.append(entry)
    return tuple(found)


def _files(plan: RunPlan) -> tuple[Write | Delete, ...]:
    """Return the changes to candidate files.

    A file remains while the memory it became is pending.
    """
    waiting, none = plan.split.open_ids, frozenset[str]()
    return tuple(
        change
        for change in plan.files
        if not (isinstance(change, Delete) and plan.returned.get(change.path, none) & waiting)
    )


def _with_run(step: Step, run: str) -> Step:
    """Add the run's id to retirements and corrections."""
    changes: list[Change] = []
    for change in step.changes:
        match change:
            case Update(fields=fields) if step.op == "retire" and fields.get("retired"):
                *rest, last = fields["retired"]
                named = {**fields, "retired": (*rest, replace(last, run=run))}
                changes.append(replace(change, fields=named))
            case Write(path=path, data=data):
                changes.append(Write(path=path, data=corrections.with_run(path, data, run)))
            case _:
                changes.append(change)
    return replace(step, changes=tuple(changes))


def run_stamp(now: datetime, runs: Sequence[str]) -> str:
    """Return the time part of a new run's id: now, or one second after the latest run.

    Manifests are processed in the order of their ids. Two runs in one second, or a clock that went
    back, must not change what counts as consumed.
    """
    stamp = f"{now:%Y%m%dT%H%M%SZ}"
    last = max((run[:16] for run in runs), default="")
    if stamp > last:
        return stamp
    after = datetime.strptime(last, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) + timedelta(seconds=1)
    return f"{after:%Y%m%dT%H%M%SZ}"


def _digest_of(base: str, steps: Sequence[Step]) -> str:
    parts: list[object] = [base]
    for step in steps:
        for change in step.changes:
            match change:
                case Create(memory=memory):
                    parts.append([step.op, memory.id, text_hash(memory.body)])
                case Update(id=id_, fields=fields, body=body):
                    parts.append([step.op, id_, sorted(fields), text_hash(body or "")])
                case _:
                    parts.append([step.op])
    return digest(parts)[:8]


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


def count_of(state: State, steps: Sequence[Step]) -> dict[str, int]:
    """Count the changes in a chain. It may omit decisions of the run that are still pending."""
    changes = [change for step in steps if step.op != "restore" for change in step.changes]
    made = [change.memory for change in changes if isinstance(change, Create)]
    new = [memory.id for memory in made if memory.type not in ("summary", "chunk")]
    rows = [(s.op, [c.id for c in s.changes if isinstance(c, Update)]) for s in steps]
    counts = _counts(rows, new, {m.id for m in (*state.every, *made) if m.is_note})
    return {name: count for name, count in counts.items() if count or name in _ALWAYS}


def count_parts(state: State, parts: Sequence[Part]) -> dict[str, int]:
    """Count the changes in parts of an earlier chain, using only operations and ids."""
    found, rows = state.memories, [(part.entry.op, part.memories) for part in parts]
    made = [id_ for op, ids in rows if op == "create" for id_ in ids]
    new = [id_ for id_ in made if id_ not in found or found[id_].type != "summary"]
    return _counts(rows, new, {m.id for m in state.every if m.is_note})


def _counts(
    rows: Sequence[tuple[str, Sequence[str]]], new: Sequence[str], notes: set[str]
) -> dict[str, int]:
    """Count operations, given as (operation, ids of changed memories) pairs."""

    def of(op: str) -> list[str]:
        return [id_ for one, ids in rows if one == op for id_ in ids]

    ops = [op for op, _ in rows]
    return {
        "memories_new": sum(id_ not in notes for id_ in new),
        "notes_new": sum(id_ in notes for id_ in new),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "memories_retired": len(of("retire")),
        "memories_reworded": sum(id_ not in notes for id_ in of("reword")),
        "notes_grown": sum(id_ in notes for id_ in of("reword")),
        "linked": len(of("link")),
        "summarised": len(of("compress")),
        **{name: len(of(op)) if op in _BY_MEMORY else ops.count(op) for name, op in _UPKEEP},
    }


def headline(run: str, counts: Mapping[str, int]) -> str:
    """Return the subject of a run's merge: its id and the most important counts."""
    words = counts_in_words(counts)
    while len(start := f"Run {run}: ") + len(", ".join(words)) > SUBJECT_LENGTH:
        words.pop()  # the manifest and the result contain all counts
    return f"{start}{', '.join(words) or 'no change'}"


# -- writing ---------------------------------------------------------------------------------------


def land(work: Work, plan: RunPlan, reason: str) -> None:
    """Commit the main chain, unless it must be reviewed first.

    Raise BranchMoved if another commit landed meanwhile.
    """
    main = plan.main
    if main is None or main.wait:
        return
    commit = work.store.land(_landing(work, main, reason).chain, main.run)
    plan.landed = main
    if (there := work.refreshed()).tree.commit == commit:
        call_settled(there)


def _landing(work: Work, found: Draft, reason: str = "") -> Landing:
    return prepare(
        work.store,
        work.tree.state(),
        Plan(base=found.base, steps=found.steps),
        Context(actor=MACHINE, run=found.run),
        work.call.now,
        merge=Step(op="run", what=headline(found.run, found.counts), reason=reason or found.wait),
        cost=found.receipt.trailer,
        access=found.ledger,
    )


def conclude(work: Work, plan: RunPlan) -> None:
    """Put the pending chain on a branch, and set the plan's final status.

    A run without the purify stage does not change an existing branch.
    """
    waits = plan.main if plan.main is not None and plan.main.wait else plan.waiting
    if "purify" in plan.stages:
        plan.branch = _left_waiting(work, plan, waits)
    plan.head, plan.why = work.tree.commit, waits.wait if waits else ""
    if plan.branch:
        plan.status = "held"
    elif plan.receipt.partial:
        plan.status = "partial" if plan.landed else "failed"
    else:
        plan.status = "ok" if plan.landed or plan.ingested.commit else "skipped"
    if plan.head != plan.base:
        plan.commits = tuple(history.entries(work.store.repo, f"{plan.base}..{plan.head}"))


def waiting_of(work: Work, mode: str) -> list[Waiting]:
    """Return the pending runs of the given mode, oldest first."""
    return [waiting for waiting in all_waiting(work) if waiting.manifest(work)["mode"] == mode]


def _left_waiting(work: Work, plan: RunPlan, waits: Draft | None) -> str:
    """Put the pending chain on a branch, reusing one with equal content. Return its name.

    If no removals are pending any more, their branch is deleted. A reconciliation covers everything
    an incremental run would propose. It therefore replaces pending runs, and later incremental runs
    wait for it.
    """
    older = waiting_of(work, plan.mode)
    every = [one for one in all_waiting(work) if not is_wish(work, one)]
    if plan.mode == "incremental" and len(older) < len(every):
        return next(w.branch for w in every if w not in older) if waits else ""
    if waits is None:
        for one in older:
            if one.removals(work):
                put_away(work, one)
        return ""
    prints, head = prints_in(waits.decisions), work.tree.commit
    there = [one for one in older if waits.removals or one.base == head]
    if same := [one for one in there if one.prints(work) == prints]:
        return same[-1].branch
    for one in every:
        put_away(work, one)
    branch = PREFIX + waits.run
    work.store.leave(_landing(work, waits).chain, branch)
    return branch


MAX_FAILED = 200
"""Maximum number of unusable answers to retain; the newest are retained."""


def keep_unusable_answers(work: Work, plan: RunPlan) -> None:
    """Store each unusable answer byte for byte, together with the reason.

    These files are never committed.
    """
    folder = work.store.root / work.tree.layout.prefix / ".memrepo" / "failed"
    run = next((p.run for p in (plan.main, plan.waiting) if p), "run")
    for number, failure in enumerate(plan.failures, start=1):
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
    for pattern in ("*.json", "*.raw") if plan.failures else ():
        keep_newest(folder, pattern, MAX_FAILED)
