"""From decisions to one finished chain: views, manifest, the run's id in everything it writes.

What the chain holds is counted and put in words here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.derived import derived_files
from memrepo.actions.pending import Part
from memrepo.actions.work import Work
from memrepo.core import corrections
from memrepo.core.changes import Change, Create, Plan, Step, Update, Write
from memrepo.core.ids import digest, text_hash
from memrepo.core.judge import Judge, Usage
from memrepo.core.manifest import Consumed, Manifest, Receipt, Removal
from memrepo.core.messages import SUBJECT_LENGTH, counted, counted_as
from memrepo.core.problems import Problem
from memrepo.core.secrets import redact
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.purify.holds import Parted, on_record
from memrepo.purify.pipeline import Mode, Purified
from memrepo.store.landings import RECORD


def with_run(step: Step, run: str) -> Step:
    """Write the run's id into the reasons of a retirement and into corrections."""
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


SAID = (
    ("memories_new", "new"),
    ("superseded", "superseded"),
    ("memories_retired", "retired"),
    ("memories_reworded", "reworded"),
    ("contested", "contested"),
    ("memories_met_again", "met again"),
    ("notes_new", "notes"),
    ("notes_grown", "grown"),
    ("nominated", "nominated"),
    ("tier_moves", "moved"),
    ("pruned", "pruned"),
    ("archived", "archived"),
    ("summaries", "summaries"),
    ("hot_new", "to first page"),
    ("hot_gone", "off first page"),
    ("restored", "restored"),
    ("linked", "linked"),
)
"""Counts for the subject of a run's merge, the weightiest first."""
_LIFE = (
    ("nominated", "nominate"),
    ("tier_moves", "tier"),
    ("pruned", "prune"),
    ("archived", "archive"),
    ("summaries", "compress"),
    ("hot_new", "promote"),
    ("hot_gone", "demote"),
    ("restored", "restore"),
)


_GATHERED = ("promote", "demote", "tier")


def count_of(state: State, steps: Sequence[Step]) -> dict[str, int]:
    """Count what the chain really holds: parts of what was purified may wait elsewhere."""
    reworded = _updated(steps, "reword")
    notes = {id_ for id_ in reworded if id_ in state.memories and state.memories[id_].is_note}
    changes = [change for step in steps if step.op != "restore" for change in step.changes]
    made = [change.memory for change in changes if isinstance(change, Create)]
    new = [memory for memory in made if memory.type not in ("summary", "chunk")]
    ops = [step.op for step in steps]
    summarised = _updated(steps, "compress")
    return {
        "memories_new": sum(not m.is_note for m in new),
        "notes_new": sum(m.is_note for m in new),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "memories_retired": len(_updated(steps, "retire")),
        "memories_reworded": sum(id_ not in notes for id_ in reworded),
        "notes_grown": sum(id_ in notes for id_ in reworded),
        **({"linked": count} if (count := len(_updated(steps, "link"))) else {}),
        **({"summarised": len(summarised)} if summarised else {}),
        **{name: count for name, op in _LIFE if (count := _held(steps, op))},
    }


def _held(steps: Sequence[Step], op: str) -> int:
    """Count the steps of a kind; one promotion, or move, may hold several memories."""
    if op in _GATHERED:
        return len(_updated(steps, op))
    return sum(step.op == op for step in steps)


def count_parts(state: State, parts: Sequence[Part]) -> dict[str, int]:
    """Count what parts of an earlier chain hold, whose changes are not at hand."""

    def of(op: str) -> list[str]:
        return [id_ for part in parts if part.entry.op == op for id_ in part.memories]

    found = state.memories
    ops = [part.entry.op for part in parts]
    notes = {id_ for id_, memory in found.items() if memory.is_note}
    new = [id_ for id_ in of("create") if id_ not in found or found[id_].type != "summary"]
    return {
        "memories_new": sum(id_ not in notes for id_ in new),
        "notes_new": sum(id_ in notes for id_ in new),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "memories_retired": len(of("retire")),
        "memories_reworded": sum(id_ not in notes for id_ in of("reword")),
        "notes_grown": sum(id_ in notes for id_ in of("reword")),
        "linked": len(of("link")),
        **{n: len(of(op)) if op in _GATHERED else ops.count(op) for n, op in _LIFE},  # type: ignore[arg-type]
    }


def in_words(counts: Mapping[str, int]) -> list[str]:
    """Return counts in words, those of nothing left out."""
    return [counted_as(counts[key], word) for key, word in SAID if counts.get(key)]


def headline(run: str, counts: Mapping[str, int]) -> str:
    """Return what the subject of a run's merge says: its id, and the weightiest counts."""
    said = in_words(counts)
    while len(start := f"Run {run}: ") + len(", ".join(said)) > SUBJECT_LENGTH:
        said.pop()  # the manifest and the answer hold every count
    return f"{start}{', '.join(said) or 'no change'}"


def record(files: Sequence[Change], pages: Sequence[Change], reason: str) -> Step:
    """Return the last step of a run: its manifest, and the pages that follow from the others."""
    if pages:
        reason = f"{reason}; {counted(len(pages), 'page', 'pages')} regenerated"
    return Step(op="run", what=RECORD, reason=reason, changes=(*pages, *files))


def _updated(steps: Sequence[Step], op: str) -> list[str]:
    return [c.id for s in steps if s.op == op for c in s.changes if isinstance(c, Update)]


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One chain as it would be written, and why it must wait (empty: it need not)."""

    run: str
    plan: Plan
    counts: Mapping[str, int]
    wait: str = ""
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    ledger: str = ""
    """The ledger's commit that its lifecycle stage decided from."""
    removals: tuple[Removal, ...] = ()
    """What it would take away, of a chain that waits."""

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Return its steps but pages and records."""
        return tuple(step for step in self.plan.steps if step.op not in ("view", "run"))

    @property
    def told(self) -> list[str]:
        """Return the counts in words, those of nothing left out."""
        return in_words(self.counts)

    @property
    def merge(self) -> Step:
        """Return the step of the merge commit."""
        return Step(op="run", what=headline(self.run, self.counts), reason=self.wait)


def waiting_units(parted: Parted, purified: Purified) -> frozenset[tuple[str, str]]:
    """Return the units that speak only for memories that wait."""
    held: set[tuple[str, str]] = set()
    for id_ in parted.open_ids:
        held.update(purified.behind.get(id_, ()))
    for id_, pairs in purified.behind.items() if held else ():
        if id_ not in parted.open_ids:
            held.difference_update(pairs)
    return frozenset(held)


class Drafter(msgspec.Struct, frozen=True, kw_only=True):
    """Turns steps into a finished chain: views, run id, stamps, manifest."""

    work: Work
    state: State
    judge: Judge
    now: datetime
    mode: Mode
    manifest: bool = False
    runs: tuple[str, ...] = ()
    """Ids of the runs in the tree, oldest first."""

    def draft(
        self,
        steps: list[Step],
        purified: Purified,
        *,
        consumed: tuple[Consumed, ...],
        files: tuple[Any, ...] = (),
        held: tuple[Removal, ...] = (),
        decided: tuple[Removal, ...] = (),
    ) -> Proposal | None:
        """Return the finished chain, or None when there is nothing to write.

        `held` goes on record as waiting, `decided` as what the chain takes away after it waited.
        Steps are taken out of the list as they are finished: a first run has no room for its
        memories twice, and whoever calls holds no step beside the list.
        """
        problems = tuple(_redact(steps))
        purified = replace(purified, problems=(*purified.problems, *problems))
        notices = self.work.store.notices
        notices += (problem for problem in problems if problem not in notices)
        changes = (change for step in steps for change in step.changes)
        # The state with all its files goes before they are written: a first run holds much.
        pages = derived_files(self.work, apply(self.state, changes))
        if not (steps or pages or consumed or files or self.manifest):
            return None
        base = self.work.tree.commit
        run = f"{run_stamp(self.now, self.runs)}-{_plan_digest(base, steps)}"
        steps.reverse()
        made: list[Step] = []
        while steps:
            made.append(with_run(steps.pop(), run))
        manifest = replace(
            self._manifest(run, purified, consumed, made), held=held, decided=decided
        )
        taken = counted(len(consumed), "source file", "source files")
        said = f"{taken} read, judged by {self.judge.name}"
        path = self.work.tree.layout.manifest(run)
        made.append(record((*files, Write(path=path, data=manifest.to_bytes())), pages, said))
        return Proposal(
            run=run,
            plan=Plan(base=base, steps=tuple(made)),
            counts=manifest.counts,
            receipt=manifest.receipt,
        )

    def draft_held(
        self,
        parted: Parted,
        purified: Purified,
        *,
        paid: bool,
        removals: Sequence[Step] = (),
        why: str = "",
    ) -> Proposal | None:
        """Return the chain of the decisions that wait, as if they were taken on this base.

        `removals` wait too, because of `why`. `paid` says that another chain of this run carries
        the receipt: it counts once.
        """
        if paid:
            purified = replace(purified, receipt=replace(purified.receipt, usage=Usage()))
        units = waiting_units(parted, purified)
        consumed = tuple(
            entry
            if (entry.resource, "") in units
            else replace(
                entry,
                from_=entry.to,
                except_=(),
                also=tuple(sorted(h for r, h in units if r == entry.resource)),
            )
            for entry in purified.consumed
            if any(r == entry.resource for r, _ in units)
        )
        decided = on_record(removals, "")
        steps = [*parted.held, *removals]
        proposal = self.draft(steps, purified, consumed=consumed, decided=decided)
        if proposal is None:
            return None
        said = "; ".join(filter(None, (parted.why, why)))
        return replace(proposal, wait=said, removals=decided)

    def _manifest(
        self,
        run: str,
        purified: Purified,
        consumed: tuple[Consumed, ...],
        steps: Sequence[Step],
    ) -> Manifest:
        ids = {id_ for step in steps for id_ in step.memory_ids}
        return Manifest(
            run=run,
            mode=self.mode,
            judge=self.judge.name,
            profile=self.work.config.profile,
            base=self.work.tree.commit,
            now=format_time(self.now),
            package=__version__,
            consumed=consumed,
            counts={**purified.counts, **count_of(self.state, steps)},
            judgements={i: v for i, v in purified.judgements.items() if i in ids},
            warnings=tuple(p.as_json() for p in purified.problems),
            quarantined=purified.quarantined,
            receipt=purified.receipt,
        )


def _redact(steps: list[Step]) -> Iterator[Problem]:
    """Replace what looks like a secret in new memories as they will be shown, below their context.

    Sources are redacted when they are read, but below its headings a thought may show a value
    behind another word. A run that was refused for that would be refused every night.
    """
    for at, step in enumerate(steps):
        changes = list(step.changes)
        for place, change in enumerate(changes):
            if not isinstance(change, Create):
                continue
            memory = change.memory
            shown, secrets = redact(f"### {memory.fields.get('context', '')}\n\n- {memory.body}")
            if not secrets:
                continue
            body = shown.partition("\n\n- ")[2]
            folder = memory.path.rpartition("/")[0]  # the words of a name are those of the text
            path = f"{folder}/redacted-{memory.id[4:10]}.md"
            changes[place] = Create(memory=replace(memory.with_fields({}, body), path=path))
            kinds = ", ".join(sorted({secret.kind for secret in secrets}))
            yield Problem(
                path=path,
                rule="source-secret-redacted",
                message=f"found a secret ({kinds}): the memory holds a placeholder instead",
                fix="remove the secret from the workspace too",
                severity="warning",
            )
        steps[at] = replace(step, changes=tuple(changes))


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
