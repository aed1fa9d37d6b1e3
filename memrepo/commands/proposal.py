"""What a run would do at one commit: read, purify, part, render. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memrepo import __version__
from memrepo.commands.progress import Tick, watched
from memrepo.commands.session import Desk
from memrepo.core.changes import BULK_OPS, Create, Plan, Step, Update, Write
from memrepo.core.ids import digest, text_hash
from memrepo.core.judging import Judge, Usage
from memrepo.core.memory import CLAIM_TYPES
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.policies.interlock import interlock
from memrepo.policies.retrieval import Near, Query
from memrepo.purify.asking import Failure
from memrepo.purify.holding import Parted, fingerprints, part
from memrepo.purify.intake import SourceText
from memrepo.purify.manifest import Consumed, Manifest, Receipt, Recorded, read_manifests
from memrepo.purify.pipeline import Mode, Purified, Setting, purify
from memrepo.purify.retire import with_run
from memrepo.purify.scope import Cursor, cursors
from memrepo.purify.sources import kind_of
from memrepo.store import history
from memrepo.store.index import Filter, search
from memrepo.store.tree import read_blob
from memrepo.views.pages import render_views


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One chain as it would be written, and why it must wait (empty: it need not)."""

    run: str
    plan: Plan
    counts: Mapping[str, int]
    wait: str = ""
    receipt: Receipt = field(default_factory=Receipt)

    @property
    def told(self) -> list[str]:
        """Return the counts in words, those of nothing left out."""
        return [f"{self.counts[key]} {word}" for key, word in _SAID if self.counts.get(key)]

    @property
    def merge(self) -> Step:
        """Return the step of the merge commit."""
        said = self.told
        while len(f"{self.run}: {', '.join(said)}") > WHAT_LENGTH:
            said.pop()  # the manifest and the answer hold every count
        what = f"{self.run}: {', '.join(said) or 'no new memory'}"
        return Step(op="run", what=what, reason=self.wait)


WHAT_LENGTH = 66
"""What a subject has room for after `run: `."""
PROPOSED = 100
"""Priors that the index proposes for one cluster."""
_SAID = (
    ("memories_new", "new"), ("superseded", "superseded"), ("memories_retired", "retired"),
    ("memories_reworded", "reworded"), ("contested", "contested"),
    ("memories_met_again", "met again"), ("notes_new", "notes"), ("notes_grown", "grown"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a run is asked to do.

    `manifest` wants one written even when nothing else is: an acknowledged upgrade is on record.
    """

    mode: Mode = "incremental"
    max_change_pct: float = 20.0
    manifest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The chain that may land, the chain that waits, and findings on the way."""

    main: Proposal | None
    waiting: Proposal | None
    problems: tuple[Problem, ...]
    quarantined: tuple[Mapping[str, str], ...] = ()
    partial: str = ""
    """Why some of what is new could not be judged."""
    failures: tuple[Failure, ...] = ()


def propose(
    desk: Desk, judge: Judge, now: datetime, wish: Wish, tick: Tick = lambda _: None
) -> Proposed:
    """Compute what a run on the desk's commit would do."""
    state = desk.tree.state()
    manifests, damaged = read_manifests(state.files, desk.tree.layout)
    purified = _purify(desk, state, manifests, judge, now, wish.mode, tick)
    problems = (*state.problems, *damaged, *purified.problems)
    never: frozenset[str] = frozenset().union(*(m.refused for m in manifests))
    parted = part(purified.steps, taken_back(desk), never)
    drafter = _Drafter(
        desk=desk, state=state, judge=judge, now=now, mode=wish.mode, manifest=wish.manifest,
        runs=tuple(m.run for m in manifests),
    )  # fmt: skip
    main = drafter.draft(
        parted.kept, purified,
        consumed=_without(purified.consumed, _units(parted, purified)),
        files=tuple(purified.files),
    )  # fmt: skip
    if main is not None:
        main = replace(main, wait=_why_wait(state, main, purified, wish))
    waiting = drafter.draft_held(parted, purified, paid=main is not None) if parted.held else None
    if main is None and waiting is None and purified.receipt.usage.calls:
        # Nothing came of it, but it was paid for: the receipt is kept.
        main = replace(drafter, manifest=True).draft((), purified, consumed=())
    return Proposed(
        main=main, waiting=waiting, problems=problems, quarantined=purified.quarantined,
        partial=purified.receipt.partial, failures=purified.failures,
    )  # fmt: skip


def _why_wait(state: State, main: Proposal, purified: Purified, wish: Wish) -> str:
    """Say why a chain must not merge itself, or return an empty string."""
    reasons = [interlock(state, main.plan.changes, wish.max_change_pct), *purified.alarms]
    decides = any(step.op not in ("view", "run") for step in main.plan.steps)
    if wish.mode == "reconciliation" and decides:
        reasons.append("a reconciliation is reviewed before it takes effect")
    return "; ".join(filter(None, reasons))


def texts_at(desk: Desk, cursor: Mapping[str, Cursor]) -> list[SourceText]:
    """Return the sources at the desk's commit, in path order, undated where they are consumed."""
    layout, rules = desk.tree.layout, desk.config.source_rules()
    area = layout.area("sources")
    paths = [p for p in sorted(desk.tree.blobs) if p.startswith(area)]
    fresh = [p for p in paths if not cursor.get(p, Cursor()).is_at(desk.tree.blobs[p])]
    touched = history.last_touched(desk.store.repo, desk.tree.commit, fresh)
    found = []
    for path in paths:
        kind = kind_of(layout.source_name(path), rules)
        if kind is not None:
            when = touched.get(path)
            found.append(
                SourceText(
                    name=layout.source_name(path), resource=path, blob=desk.tree.blobs[path],
                    kind=kind, committed=when.date().isoformat() if when else "",
                )
            )  # fmt: skip
    return found + _gone(desk, cursor, set(paths))


def _gone(desk: Desk, cursor: Mapping[str, Cursor], present: set[str]) -> list[SourceText]:
    """Return the sources that earlier runs consumed and that the tree no longer holds."""
    layout, rules = desk.tree.layout, desk.config.source_rules()
    return [
        SourceText(
            name=layout.source_name(path), resource=path, blob="", committed="",
            kind=kind_of(layout.source_name(path), rules) or "claims",
        )
        for path in sorted(cursor)
        if path not in present and cursor[path].last
    ]  # fmt: skip


def _purify(
    desk: Desk,
    state: State,
    manifests: Sequence[Recorded],
    judge: Judge,
    now: datetime,
    mode: Mode,
    tick: Tick,
) -> Purified:
    cursor = cursors(manifests)
    setting = Setting(
        now=now, judge=judge, profile=desk.config.profile, mode=mode, near=_near(desk),
        read=watched(lambda blob: read_blob(desk.store.repo, blob), tick),
    )  # fmt: skip
    return purify(state, texts_at(desk, cursor), cursor, setting)


def _near(desk: Desk) -> Near:
    """Let the search index propose priors: no memory is cut into words for it again."""

    def near(query: Query) -> list[str]:
        words = sorted(query.words | query.subject_words | query.entities)
        only = Filter(types=CLAIM_TYPES, limit=PROPOSED)
        return [m.id for m in search(desk.store.folder, desk.tree, words, only)]

    return near


def taken_back(desk: Desk) -> frozenset[str]:
    """Return fingerprints of decisions that a person took back and has not brought back since."""
    found: frozenset[str] = frozenset()
    repo = desk.store.repo
    for commit, gone in history.taken_back(repo, desk.tree.commit).items():
        for entry in history.chain_of(repo, commit):
            ids = entry.trailers.get("Memory", ())
            mine = [id_ for id_ in ids if id_ in gone]
            if entry.op in BULK_OPS:
                prints = [p for p in entry.prints if p.split(":")[1] in gone]
                found |= fingerprints(entry.op, mine, prints) if mine else frozenset()
            elif mine:
                found |= fingerprints(entry.op, ids, entry.prints)
    return found


def _units(parted: Parted, purified: Purified) -> frozenset[tuple[str, str]]:
    """Return the units that speak only for memories that wait."""
    held: set[tuple[str, str]] = set()
    for id_ in parted.open_ids:
        held |= purified.behind.get(id_, frozenset())
    for id_, pairs in purified.behind.items():
        if id_ not in parted.open_ids:
            held -= pairs
    return frozenset(held)


def _without(
    consumed: Sequence[Consumed], units: frozenset[tuple[str, str]]
) -> tuple[Consumed, ...]:
    found = []
    whole = {resource for resource, hash_ in units if not hash_}
    for entry in consumed:
        if entry.resource in whole:
            # What left this source waits for review: its next version is compared from here again.
            continue
        mine = {hash_ for resource, hash_ in units if resource == entry.resource}
        also = tuple(h for h in entry.also if h not in mine)
        entry = replace(entry, except_=tuple(sorted({*entry.except_, *mine})), also=also)
        # A source of which everything new waits, and that was seen before, is not news again.
        if mine and entry.from_ == entry.to and not also:
            continue
        found.append(entry)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drafter:
    """Turns steps into a finished chain: views, run id, stamps, manifest."""

    desk: Desk
    state: State
    judge: Judge
    now: datetime
    mode: Mode
    manifest: bool = False
    runs: tuple[str, ...] = ()
    """Ids of the runs in the tree, oldest first."""

    def draft(
        self,
        steps: Sequence[Step],
        purified: Purified,
        *,
        consumed: tuple[Consumed, ...],
        files: tuple[Any, ...] = (),
    ) -> Proposal | None:
        """Return the finished chain, or None when there is nothing to write."""
        after = apply(self.state, (change for step in steps for change in step.changes))
        pages = render_views(after, personal=self.desk.config.profile == "personal")
        if not (steps or pages or consumed or files or self.manifest):
            return None
        base = self.desk.tree.commit
        run = f"{run_stamp(self.now, self.runs)}-{_plan_digest(base, steps)}"
        made = [_stamped(step, run) for step in steps]
        if pages:
            made.append(
                Step(
                    op="view", what=counted(len(pages), "page", "pages"),
                    reason="they follow the memories",
                    changes=tuple(pages),
                )
            )  # fmt: skip
        manifest = self._manifest(run, purified, consumed, steps)
        made.append(
            Step(
                op="run", what="manifest and candidates",
                reason=f"{len(consumed)} sources taken in, judged by {self.judge.name}",
                changes=(
                    *files,
                    Write(path=self.desk.tree.layout.manifest(run), data=manifest.to_bytes()),
                ),
            )
        )  # fmt: skip
        return Proposal(
            run=run, plan=Plan(base=base, steps=tuple(made)), counts=manifest.counts,
            receipt=manifest.receipt,
        )  # fmt: skip

    def draft_held(self, parted: Parted, purified: Purified, *, paid: bool) -> Proposal | None:
        """Return the chain of the decisions that wait, as if they were taken on this base.

        `paid` says that another chain of this run carries the receipt: it counts once.
        """
        if paid:
            purified = replace(purified, receipt=replace(purified.receipt, usage=Usage()))
        units = _units(parted, purified)
        consumed = tuple(
            entry if (entry.resource, "") in units else replace(
                entry, from_=entry.to, except_=(),
                also=tuple(sorted(h for r, h in units if r == entry.resource)),
            )
            for entry in purified.consumed
            if any(r == entry.resource for r, _ in units)
        )  # fmt: skip
        proposal = self.draft(parted.held, purified, consumed=consumed)
        if proposal is None:
            return None
        return replace(proposal, wait="the same changes were taken back before")

    def _manifest(
        self,
        run: str,
        purified: Purified,
        consumed: tuple[Consumed, ...],
        steps: Sequence[Step],
    ) -> Manifest:
        ids = {id_ for step in steps for id_ in step.memory_ids}
        return Manifest(
            run=run, mode=self.mode, judge=self.judge.name,
            profile=self.desk.config.profile, base=self.desk.tree.commit,
            now=format_time(self.now), package=__version__, consumed=consumed,
            counts={**purified.counts, **_count(self.state, steps)},
            judgements={i: v for i, v in purified.judgements.items() if i in ids},
            warnings=(*(p.as_json() for p in purified.problems), *purified.routes),
            quarantined=purified.quarantined, receipt=purified.receipt,
        )  # fmt: skip


def _count(state: State, steps: Sequence[Step]) -> dict[str, int]:
    """Count what the chain really holds: parts of what was purified may wait elsewhere."""
    notes = {id_ for id_, memory in state.memories.items() if memory.is_note}
    reworded = _updated(steps, "reword")
    changes = [change for step in steps for change in step.changes]
    new = [c.memory for c in changes if isinstance(c, Create)]
    ops = [step.op for step in steps]
    return {
        "memories_new": sum(not m.is_note for m in new), "notes_new": sum(m.is_note for m in new),
        "superseded": ops.count("supersede"), "contested": ops.count("flag"),
        "memories_retired": len(_updated(steps, "retire")),
        "memories_reworded": sum(id_ not in notes for id_ in reworded),
        "notes_grown": sum(id_ in notes for id_ in reworded),
    }  # fmt: skip


def _updated(steps: Sequence[Step], op: str) -> list[str]:
    return [c.id for s in steps if s.op == op for c in s.changes if isinstance(c, Update)]


def _stamped(step: Step, run: str) -> Step:
    """Write the run's id into every memory it writes."""
    changes: list[Any] = []
    for change in step.changes:
        match change:
            case Create(memory=memory):
                changes.append(Create(memory=memory.with_fields({"run": run})))
            case Update():
                changes.append(replace(change, fields={**change.fields, "run": run}))
            case _:
                changes.append(change)
    return with_run(replace(step, changes=tuple(changes)), run)


def run_stamp(now: datetime, runs: Sequence[str]) -> str:
    """Return the time part of a new run's id: now, but always after every run in the tree.

    Manifests are folded in the order of their ids; two runs in one second, or a clock that went
    back, must not change what counts as consumed.
    """
    stamp = f"{now:%Y%m%dT%H%M%SZ}"
    last = max((run[:16] for run in runs), default="")
    if stamp > last:
        return stamp
    after = datetime.strptime(last, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC) + timedelta(seconds=1)
    return f"{after:%Y%m%dT%H%M%SZ}"


def _plan_digest(base: str, steps: Sequence[Step]) -> str:
    parts: list[Any] = [base]
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
