"""What a run came to, and who is told: events, the last run's record and report, the hand-off.

Nothing here can fail a run: what cannot be written or told is a warning. Dry runs tell nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions import result
from memrepo.actions.pending import PREFIX, all_waiting
from memrepo.actions.run.guard import UpgradeRequired
from memrepo.actions.run.holds import on_record
from memrepo.actions.run.ingest import Ingested, followed
from memrepo.actions.run.plan import Mode, RunPlan
from memrepo.actions.run.report import Report
from memrepo.actions.run.timetable import (
    LAST,
    last_record,
    local_folder,
    next_of,
    record_of,
    stamp,
    timetable,
)
from memrepo.actions.work import Setting, Work, outside
from memrepo.config import ConfigError
from memrepo.core.changes import BULK_OPS, Create, Step, Update
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.manifest import Receipt, Removal
from memrepo.core.messages import cut
from memrepo.core.problems import Problem
from memrepo.core.secrets import without_secrets
from memrepo.policies.cadence import next_fire
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import recall_surface
from memrepo.store import telemetry
from memrepo.store.git import agent_name
from memrepo.store.lock import Locked
from memrepo.store.settings import workspace
from memrepo.store.telemetry import hand_off
from memrepo.store.workspace import find_unread
from memrepo.views.report import RunSummary, counts_in_words, ended_event, last_run, started_event

WIDTH = 90
"""Characters that are told of a text that waits."""


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the run, with the memories that it concerns."""

    id: str
    op: str
    subject: str
    memories: tuple[str, ...]


class Withheld(msgspec.Struct, frozen=True, kw_only=True):
    """A decision that waits, and what it would say; of a decision about several the new text."""

    op: str
    memories: tuple[str, ...]
    text: str
    reason: str


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """One of the new memories, with the line that it comes from."""

    type: str
    text: str
    source: str


class FirstRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the first run of a repository read, and what it made of it."""

    files: int
    statements: int
    memories: int
    unread: int
    """Text files of the workspace that runs do not read."""
    unread_pct: float
    examples: tuple[Example, ...]
    largest: str
    """A file, or a folder with its slash, that makes more than a third of the memories, if any."""
    largest_pct: int
    first_page: str
    """The path of the first page."""


_LARGE = 1 / 3
_EXAMPLES = 3


def is_first(work: Work) -> bool:
    """Return whether no run has landed in a repository."""
    return not any(work.tree.files.below(work.tree.layout.area("runs")))


def first_run(work: Work, run: Result) -> FirstRun:
    """Return what a first run read, three of its memories, and what makes most of them."""
    layout = work.tree.layout
    claims = [m for m in work.tree.state().active if m.sources and not m.is_note]
    files = Counter(layout.source_name(m.sources[0].resource) for m in claims)
    read = [layout.source_name(path) for path in work.tree.files.below(layout.area("sources"))]
    folders = Counter(f"{name.rpartition('/')[0]}/" for name in read if "/" in name)
    counts = dict(files)
    for folder, held in folders.items():
        if held * 2 < len(read):  # a folder that holds most files may make most memories
            counts[folder] = sum(n for name, n in files.items() if name.startswith(folder))
    largest, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    is_large = len(claims) > 2 * _EXAMPLES and len(files) > 2 and count > len(claims) * _LARGE
    root = workspace(work.store.repo)
    rules = work.config.source_rules()
    unread = find_unread(root, rules, follow=followed(work)) if root else None
    shown = sorted(claims, key=lambda m: (hot_of(m) is None, m.path))
    by_file = {m.sources[0].resource: m for m in reversed(shown)}
    examples = [*sorted(by_file.values(), key=shown.index), *shown]
    examples = list({m.id: m for m in examples}.values())
    return FirstRun(
        files=len(read),
        statements=run.counts.get("units", 0),
        memories=len(claims),
        unread=len(unread.files) if unread else 0,
        unread_pct=unread.percent() if unread else 0.0,
        examples=tuple(
            Example(
                type=m.type,
                text=cut(visible(m.body.replace("\n", " ")), WIDTH - 20),
                source=_place(layout.source_name(m.sources[0].resource), m.sources[0].lines),
            )
            for m in examples[:_EXAMPLES]
        ),
        largest=largest if is_large else "",
        largest_pct=round(100 * count / len(claims)) if is_large else 0,
        first_page=next((p for p in work.tree.blobs if layout.is_hot(p)), ""),
    )


def _place(name: str, lines: tuple[int, int] | None) -> str:
    return f"{visible(name)}:{lines[0]}" if lines else visible(name)


class Result(result.Result, frozen=True, kw_only=True):
    """What one run came to: at most one chain landed and one waits."""

    run: str
    """The run that landed or waits."""
    mode: Mode
    status: str
    base: str
    head: str
    branch: str
    """Where something waits for review."""
    why: str
    """Why it waits, or was skipped."""
    held: tuple[Removal, ...]
    """What waits because it would take memories away."""
    withheld: tuple[Withheld, ...]
    """Every decision that waits; none of a run that found what waits already."""
    ingest: Ingested
    commits: tuple[Landed, ...]
    counts: Mapping[str, int]
    tokens: Mapping[str, Any]
    cost_usd: float | None
    partial: str
    """Why not all of it was judged."""
    resume: str
    reused: int
    warnings: tuple[Problem, ...]
    quarantined: tuple[Mapping[str, str], ...]
    landed: bool
    """Whether a chain of decisions took effect."""
    said: str
    """What the run decided, in words."""
    unsaid: bool
    """Whether those words tell of nothing while there is news that was not judged."""
    spent: str
    """What judging cost, in words; empty for nothing."""
    report: Report
    """How much of it is printed."""
    taken_over: str = ""
    """What became of the clone that ran before."""
    views: tuple[str, ...] = ()
    """The pages that changed."""
    downstream: Downstream | msgspec.UnsetType = msgspec.UNSET
    """Of a run that landed."""
    context: Mapping[str, Any] | msgspec.UnsetType = msgspec.UNSET
    """Of a run that was skipped: what its report says next to it."""
    duration_s: float | None = None
    first: FirstRun | msgspec.UnsetType = msgspec.UNSET
    """Of the first run that landed in a repository."""
    questions: Mapping[str, int] | msgspec.UnsetType = msgspec.UNSET
    """Of an estimate: how many questions of each kind the run would ask."""


_EXITS = {"held": Exit.DECIDE, "partial": Exit.MODEL, "failed": Exit.MODEL}


def result_of(plan: RunPlan, report: Report, notices: tuple[Problem, ...]) -> Result:
    """Return the result of a run; `report` says how much of it is printed."""
    draft = plan.landed or plan.main or plan.waiting
    run = draft.run if draft else plan.branch.removeprefix(PREFIX)
    words = counts_in_words(draft.counts) if draft else []
    problems = (*plan.ingested.problems, *plan.problems, *plan.warnings)
    shows_removals = plan.branch or plan.status == "dry-run"
    return Result(
        run=run if plan.status != "skipped" else "",
        mode=plan.mode,
        status=plan.status,
        base=plan.base,
        head=plan.head,
        branch=plan.branch,
        why=plan.why,
        held=on_record(plan.removals, plan.removal_reason) if shows_removals else (),
        withheld=tuple(_withheld(plan)),
        ingest=plan.ingested,
        commits=tuple(
            Landed(
                id=e.commit,
                op=e.op,
                subject=e.subject,
                memories=tuple(e.trailers.get("Memory", ())),
            )
            for e in plan.commits
        ),
        counts=dict(draft.counts) if draft else {},
        tokens=plan.used.tokens(),
        cost_usd=plan.used.cost_usd,
        partial=plan.receipt.partial,
        resume=plan.resume,
        reused=plan.reused,
        warnings=problems,
        quarantined=plan.quarantined,
        landed=plan.landed is not None,
        said=(", ".join(words) or "no change") if draft else "nothing",
        unsaid=plan.ingested.is_pending and not words,
        spent=Receipt(usage=plan.used).trailer,
        report=report,
        exit=_EXITS.get(plan.status, plan.ingested.exit),
        notices=(*problems, *notices),
    )


def _withheld(plan: RunPlan) -> Iterator[Withheld]:
    main = plan.main
    waits = main if main is not None and main.wait else plan.waiting
    for step in waits.decisions if plan.branch and waits else ():
        made = [c.memory for c in step.changes if isinstance(c, Create)]
        if step.op in BULK_OPS:
            for change in step.changes:
                if isinstance(change, Create):
                    yield _one(step, (change.memory.id,), change.memory.body)
                elif isinstance(change, Update):
                    yield _one(step, (change.id,), change.body or "")
        else:
            yield _one(step, step.memory_ids, made[0].body if made else "")


def _one(step: Step, ids: tuple[str, ...], text: str) -> Withheld:
    shown = cut(visible(without_secrets(text)), WIDTH)
    return Withheld(op=step.op, memories=ids, text=shown, reason=step.reason)


PRESETS = ("none", "openclaw")
OPENCLAW = ("~/.openclaw/telemetry", "memory-purifier.purifier")
"""The shared log of OpenClaw's memory packages, and the name its readers know the purifier by."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where events and reports go; `within` is the work tree when they stay in it.

    `downstream` is the command that is given the manifest of each landed run, where one is set.
    `runtime` is the folder that gets the artifacts of each.
    """

    folder: Path
    component: str
    within: Path | None
    downstream: Setting | None = None
    runtime: Path | None = None
    notifies: bool = False
    """Whether somebody is to be told of what needs a person, or of each end."""

    @property
    def report(self) -> Path:
        """Return the path of `last-run.md`, in a folder of ours: the log is shared."""
        return self.folder / self.component.partition(".")[0] / "last-run.md"


def place_of(at: Work) -> Place:
    """Return where telemetry goes: this clone, the person's own folder, or OpenClaw's."""
    found = outside(at)
    preset, folder = found.get("telemetry.preset"), found.get("telemetry.dir")
    component, path = at.config.get("telemetry.component"), ""
    runtime: Path | None = None
    if preset is not None and preset.value not in PRESETS:
        raise ConfigError(
            0,
            "telemetry.preset",
            f"found {preset.value!r}, expected {' or '.join(PRESETS)}",
            place=preset.origin,
        )
    if preset is not None and preset.value == "openclaw":
        path = OPENCLAW[0]
        component = component if "telemetry.component" in at.config.given else OPENCLAW[1]
        runtime = (workspace(at.store.repo) or at.store.root) / "runtime"
    path = str(folder.value) if folder is not None else path
    return Place(
        folder=at.store.root / Path(path).expanduser() if path else local_folder(at) / "telemetry",
        component=component,
        within=None if path else at.store.root,
        downstream=found.get("downstream.command"),
        runtime=runtime,
        notifies=any(name.startswith("notify.") for name in found),
    )


class Downstream(msgspec.Struct, frozen=True, kw_only=True):
    """A landed run's manifest, and what became of handing it off (empty: nobody asked for it)."""

    manifest: str
    result: Literal["", "done", "failed"] = ""
    said: str = ""


_LATER = ("context", "duration_s", "questions")
"""Fields of a result that its report does not hold."""


def reported(
    first: Work, inner: Callable[[], Result], *, mode: str = "", dry_run: bool = False
) -> Result:
    """Run `inner` and report it, whatever becomes of it; a dry run is not reported."""
    if dry_run:
        return inner()
    begun, place = time.monotonic(), place_of(first)

    def now() -> datetime:
        return first.call.now + timedelta(seconds=int(time.monotonic() - begun))

    start = _told(first, place, {"mode": mode, "status": "started"}, first.call.now)
    start = replace(start, context={"package_version": __version__})
    problems = [*_log(place, started_event(start))]
    try:
        found = inner()
    except BaseException as error:
        problems += _recorded(first, place, _told(first, place, _data_of(error, mode), now()))
        for problem in dict.fromkeys(problems):
            first.call.say(str(problem))
        raise
    after = first if found.head == first.tree.commit else first.refreshed()
    problems += _exported(after, place, landed=found.landed)
    downstream, failed = _hand_off(after, place.downstream, found.run)
    problems += failed
    context = _context(first, after)
    found = replace(found, views=_views(first, after), downstream=downstream or msgspec.UNSET)
    data = {key: value for key, value in found.as_json().items() if key not in _LATER}
    told = replace(_told(first, place, data, now()), context=context)
    problems += _recorded(first, place, told)
    return replace(
        found,
        context=context if told.event == "run_skipped" else msgspec.UNSET,
        duration_s=round(time.monotonic() - begun, 3),
        notices=(*found.notices, *dict.fromkeys(problems)),
    )


def _data_of(error: BaseException, mode: str) -> dict[str, object]:
    """Return what a run which stopped would have answered."""
    message, fix = "interrupted", ""
    match error:
        case MemrepoError():
            message, fix = error.message, error.fix
        case Exception():
            message = f"{type(error).__name__}: {error}"
    status = "failed"
    match error:
        case UpgradeRequired():
            status = "upgrade_required"
        case Locked():
            status = "locked"
    return {"status": status, "mode": mode, "error": message, "fix": fix}


def _exported(after: Work, place: Place, *, landed: bool) -> list[Problem]:
    """Write the files that other programs read; return what could not be written."""
    problems: list[Problem] = []
    if place.runtime is not None and (landed or not place.runtime.exists()):
        from memrepo.actions.exchange.export import write_runtime

        problems += write_runtime(after, place.runtime)
    if after.config.get("hot.layers"):
        from memrepo.actions.exchange.export import write_layers

        problems += write_layers(after)
    return problems


def _recorded(at: Work, place: Place, told: RunSummary) -> list[Problem]:
    """Write the event, the report and this clone's record, and notify; return what failed.

    A run that was refused the lock leaves the report and record of the other alone.
    """
    problems = [*_log(place, ended_event(told))]
    if told.status == "locked":
        return problems
    path = local_folder(at) / LAST
    text = telemetry.dumped(record_of(last_record(at), told))
    report = last_run(told)
    problems += _tried(
        place.report, lambda: telemetry.put(place.report, report, within=place.within)
    )
    problems += _tried(path, lambda: telemetry.put(path, text, within=at.store.root))
    if place.notifies:
        problems += _notify(at.refreshed(), told.finished)
    return problems


def _notify(at: Work, now: datetime) -> tuple[Problem, ...]:
    """Report what needs a person; return what could not be reported."""
    from memrepo.actions.needs import needs, tell
    from memrepo.actions.setup.budgets import budgets
    from memrepo.actions.setup.survey import survey

    spent = budgets(at, 0, now).spent
    found = needs(all_waiting(at), timetable(at, now), survey(at).undecided, spent)
    return tell(at, found)[1]


def _told(at: Work, place: Place, data: Mapping[str, object], now: datetime) -> RunSummary:
    return RunSummary(
        run_id=stamp(at.call.now),
        component=place.component,
        agent=at.call.actor.removeprefix("process:") or agent_name(),
        profile=at.config.profile,
        mode=str(data.get("mode", "")),
        zone=at.config.zone,
        started=at.call.now,
        finished=now,
        status=str(data["status"]),
        data=data,
        error=str(data.get("error", "")),
        fix=str(data.get("fix", "")),
    )


def _views(before: Work, after: Work) -> tuple[str, ...]:
    """Return the pages that the run changed."""
    area = after.tree.layout.area("views")
    one, other = (work.tree.files.below(area) for work in (before, after))
    return tuple(sorted({path.removeprefix(area) for path, _ in one.items() ^ other.items()}))


def _context(before: Work, after: Work) -> dict[str, object]:
    """Return what a report says next to the run."""
    state = after.tree.state()
    due = next_fire(before.call.now, after.config.cadence, after.config.zone)
    surfaced = recall_surface(state.every, before.call.now)
    return {
        "claims_total": sum(not memory.is_note for memory in state.active),
        "next_schedule": msgspec.to_builtins(next_of(due)),
        "recall_surface": surfaced.as_json() if surfaced else None,
    }


def handed(work: Work, run: str) -> tuple[Downstream | None, tuple[Problem, ...]]:
    """Pass on a run that a person accepted; return what became of it, and what failed."""
    after = work.refreshed()
    return _hand_off(after, outside(after).get("downstream.command"), run)


def _hand_off(
    after: Work, setting: Setting | None, run: str
) -> tuple[Downstream | None, tuple[Problem, ...]]:
    """Give a landed run's manifest to the command that the person set, if any."""
    manifest = after.tree.layout.manifest(run) if run else ""
    if manifest not in after.tree.blobs:
        return None, ()
    if setting is None:
        return Downstream(manifest=manifest), ()
    said = hand_off(str(setting.value), after.store.root / manifest, after.store.root)
    if not said:
        return Downstream(manifest=manifest, result="done"), ()
    problem = Problem(
        path=setting.origin,
        rule="downstream-failed",
        key="downstream.command",
        message=f"{setting.value}: {said}",
        severity="warning",
        fix=f"the run landed; repeat it by hand with {manifest}",
    )
    return Downstream(manifest=manifest, result="failed", said=said), (problem,)


def _log(place: Place, event: Mapping[str, Any]) -> tuple[Problem, ...]:
    day = datetime.fromisoformat(event["timestamp"]).date()
    return _tried(
        place.folder, lambda: telemetry.append(place.folder, day, event, within=place.within)
    )


def _tried(path: Path, write: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        write()
    except OSError as error:
        return (
            Problem(
                path=str(path),
                rule="telemetry-unwritable",
                severity="warning",
                message=f"the run is not recorded here: {error.strerror or error}",
                fix="make the folder writable, or name another: `git config memrepo.telemetry.dir`",
            ),
        )
    return ()
