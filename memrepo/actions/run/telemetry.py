"""Record and report a run: events, the last run's record, its report, notifications, hand-off.

A failure here never fails a run. It becomes a warning. Dry runs are not recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions.pending import PREFIX, all_waiting, marked_memories, needs, tell
from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.guard import marked_in
from memrepo.actions.run.ingest import Ingested
from memrepo.actions.run.plan import Mode, Outcome
from memrepo.actions.run.preconditions import UpgradeRequired
from memrepo.actions.run.timetable import (
    LAST,
    last_record,
    local_folder,
    next_of,
    timetable,
    updated_record,
)
from memrepo.actions.work import Work, outside
from memrepo.config import ConfigError
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.manifest import Receipt
from memrepo.core.messages import cut
from memrepo.core.problems import Problem
from memrepo.core.times import format_time
from memrepo.policies.cadence import next_fire
from memrepo.policies.hotcache import hot_of
from memrepo.read.marks import marked
from memrepo.store import run_files
from memrepo.store.errors import Locked
from memrepo.store.git import agent_name
from memrepo.store.settings import workspace
from memrepo.store.workspace import find_unread
from memrepo.views.report import (
    RunRecord,
    chat,
    counts_in_words,
    event_of,
    last_run,
)

WIDTH = 90
"""Maximum characters shown of a pending text."""


Report: TypeAlias = Literal["silent", "summary", "full"]
REPORTS: tuple[Report, ...] = ("silent", "summary", "full")


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the run, and the memories that it concerns."""

    id: str
    op: str
    subject: str
    memories: tuple[str, ...]


class Example(msgspec.Struct, frozen=True, kw_only=True):
    """A new memory and its source line, shown as an example."""

    type: str
    text: str
    source: str


class FirstRun(msgspec.Struct, frozen=True, kw_only=True):
    """The input and the result of a repository's first run."""

    files: int
    statements: int
    memories: int
    unread: int
    """Number of text files in the workspace that runs do not read."""
    unread_pct: float
    examples: tuple[Example, ...]
    first_page: str
    """Path of the first page."""
    is_quoted: bool = False
    """Whether rules quoted the lines, because no model was asked."""


_EXAMPLES = 3


def is_first(work: Work) -> bool:
    """Return whether no run has been committed in the repository."""
    return not any(work.tree.files.below(work.tree.layout.area("runs")))


def first_run(work: Work, run: Result) -> FirstRun:
    """Return a first run's statistics, and three example memories."""
    layout = work.tree.layout
    claims = [m for m in work.tree.state().active if m.sources and not m.is_note]
    root = workspace(work.store.repo)
    rules = work.config.source_rules()
    unread = find_unread(root, rules, home=work.store.root.resolve()) if root else None
    shown = sorted(claims, key=lambda m: (hot_of(m) is None, m.path))
    by_file = {m.sources[0].resource: m for m in reversed(shown)}
    examples = dict.fromkeys((*sorted(by_file.values(), key=shown.index), *shown))
    return FirstRun(
        is_quoted=not run.tokens.get("total"),
        files=sum(1 for _ in work.tree.files.below(layout.area("sources"))),
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
            for m in [*examples][:_EXAMPLES]
        ),
        first_page=next((p for p in work.tree.blobs if layout.is_hot(p)), ""),
    )


def _place(name: str, lines: tuple[int, int] | None) -> str:
    return f"{visible(name)}:{lines[0]}" if lines else visible(name)


class Result(VerbResult, frozen=True, kw_only=True):
    """The result of one run. It contains at most one committed and one pending chain."""

    run: str
    """Id of the committed or pending run."""
    mode: Mode
    status: str
    base: str
    head: str
    branch: str
    """The branch of a pending run; empty if there is none."""
    why: str
    """Why the run is pending or was skipped."""
    pending: int
    """Number of decisions of a pending run; zero if an equal run was already pending."""
    marked: tuple[str, ...]
    """Memories that the run marked for removal. A person decides about them."""
    ingest: Ingested
    commits: tuple[Landed, ...]
    counts: Mapping[str, int]
    tokens: Mapping[str, Any]
    cost_usd: float | None
    partial: str
    """Why some candidates were not judged; empty if all were."""
    reused: int
    warnings: tuple[Problem, ...]
    quarantined: tuple[Mapping[str, str], ...]
    landed: bool
    """Whether a chain of decisions was committed."""
    said: str
    """The run's decisions as text."""
    unsaid: bool
    """Whether `said` reports no change although there is new text that was not judged."""
    spent: str
    """The cost of judging as text; empty if it was free."""
    report: Report
    """How much of the report to print."""
    taken_over: str = ""
    """Message about taking over the runs from another clone."""
    views: tuple[str, ...] = ()
    """The changed pages."""
    duration_s: float | None = None
    first: FirstRun | msgspec.UnsetType = msgspec.UNSET
    """Set for the first committed run of a repository."""
    questions: Mapping[str, int] | msgspec.UnsetType = msgspec.UNSET
    """For an estimate, the number of questions by kind."""


_EXITS = {"held": Exit.DECIDE, "partial": Exit.MODEL, "failed": Exit.MODEL}


def result_of(done: Outcome, report: Report, notices: tuple[Problem, ...]) -> Result:
    """Return the result of a run. `report` is how much of it to print."""
    found, made = done.decisions, done.decisions.draft
    is_skipped = done.status == "skipped"
    words = counts_in_words(made.counts) if made else []
    problems = (*done.ingested.problems, *found.problems, *found.warnings)
    return Result(
        run="" if is_skipped else made.run if made else done.branch.removeprefix(PREFIX),
        mode=done.mode,
        status=done.status,
        base=done.base,
        head=done.head,
        branch=done.branch,
        why=done.why,
        pending=len(made.decisions) if made and done.branch else 0,
        marked=marked_in(made.steps) if made else (),
        ingest=done.ingested,
        commits=tuple(
            Landed(
                id=e.commit,
                op=e.op,
                subject=e.subject,
                memories=tuple(e.trailers.get("Memory", ())),
            )
            for e in done.commits
        ),
        counts=dict(made.counts) if made else {},
        tokens=done.used.tokens(),
        cost_usd=done.used.cost_usd,
        partial=found.receipt.partial,
        reused=done.reused,
        warnings=problems,
        quarantined=found.quarantined,
        landed=done.has_landed,
        said=(", ".join(words) or "no change") if made else "nothing",
        unsaid=done.ingested.is_pending and not words,
        spent=Receipt(usage=done.used).trailer,
        report=report,
        exit=_EXITS.get(done.status, done.ingested.exit),
        notices=(*problems, *notices),
    )


PRESETS = ("none", "openclaw")
OPENCLAW = ("~/.openclaw/telemetry", "memory-purifier.purifier")
"""The shared log folder of OpenClaw's memory packages, and the purifier's component name there."""


class ReportPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where events and reports are written. `within` is the work tree that contains it, if any.

    `runtime` is the folder that receives the artifacts of each committed run, if set.
    """

    folder: Path
    component: str
    within: Path | None
    runtime: Path | None = None
    notifies: bool = False
    """Whether notifications are configured."""

    @property
    def report(self) -> Path:
        """Return the path of `last-run.md`. Its folder differs from that of the shared log."""
        return self.folder / self.component.partition(".")[0] / "last-run.md"


def place_of(at: Work) -> ReportPlace:
    """Return the place for telemetry: a folder in this clone, a configured one, or OpenClaw's."""
    found = outside(at)
    preset, folder = found.get("telemetry.preset"), found.get("telemetry.dir")
    component, path = "memrepo", ""
    runtime: Path | None = None
    if preset is not None and preset.value not in PRESETS:
        raise ConfigError(
            0,
            "telemetry.preset",
            f"found {preset.value!r}, expected {' or '.join(PRESETS)}",
            place=preset.origin,
        )
    if preset is not None and preset.value == "openclaw":
        path, component = OPENCLAW
        runtime = (workspace(at.store.repo) or at.store.root) / "runtime"
    path = str(folder.value) if folder is not None else path
    return ReportPlace(
        folder=at.store.root / Path(path).expanduser() if path else local_folder(at) / "telemetry",
        component=component,
        within=None if path else at.store.root,
        runtime=runtime,
        notifies=any(name.startswith("notify.") for name in found),
    )


def record_run(
    first: Work, inner: Callable[[], Result], *, mode: str = "", dry_run: bool = False
) -> Result:
    """Call `inner`, and record its result or its error unless this is a dry run."""
    if dry_run:
        return inner()
    begun, place = time.monotonic(), place_of(first)
    start = RunRecord(
        run_id=format_time(first.call.now).replace("-", "").replace(":", ""),
        component=place.component,
        agent=first.call.actor.removeprefix("process:") or agent_name(),
        profile=first.config.profile,
        mode=mode,
        zone=first.config.zone.key,
        started=first.call.now,
        finished=first.call.now,
        status="started",
    )
    problems = [*_log(place, event_of(start))]

    def ended(status: str, **more: Any) -> RunRecord:
        at = first.call.now + timedelta(seconds=int(time.monotonic() - begun))
        return replace(start, finished=at, status=status, **more)

    try:
        found = inner()
    except BaseException as error:
        problems += _recorded(first, place, ended(**_failure_of(error)))
        for problem in dict.fromkeys(problems):
            first.call.say(str(problem))
        raise
    after = first if found.head == first.tree.commit else first.refreshed()
    problems += _exported(after, place, landed=found.landed)
    found = replace(found, views=_views(first, after))
    is_skipped = found.status.startswith("skipped")
    fire = next_fire(first.call.now, after.config.schedule, after.config.zone)
    run = ended(
        found.status,
        mode=found.mode,
        run=found.run,
        branch=found.branch,
        why=found.why or found.partial,
        counts=found.counts,
        tokens=found.tokens,
        cost_usd=found.cost_usd,
        warnings=tuple(f"{p.path}: {p.rule} {p.message}" for p in found.warnings),
        quarantined=len(found.quarantined),
        views=found.views,
        landed=found.landed,
        claims_total=None if is_skipped else sum(not m.is_note for m in after.tree.state().active),
        next_schedule=msgspec.to_builtins(next_of(fire)) if is_skipped else None,
    )
    problems += _recorded(first, place, run)
    return replace(
        found,
        duration_s=round(time.monotonic() - begun, 3),
        notices=(*found.notices, *dict.fromkeys(problems)),
    )


def _failure_of(error: BaseException) -> dict[str, str]:
    """Return the status, the message and the fix of an error that ended a run."""
    message, fix, status = "interrupted", "", "failed"
    if isinstance(error, MemrepoError):
        message, fix = error.message, error.fix
    elif isinstance(error, Exception):
        message = f"{type(error).__name__}: {error}"
    if isinstance(error, UpgradeRequired | Locked):
        status = "locked" if isinstance(error, Locked) else "upgrade_required"
    return {"status": status, "why": message, "fix": fix}


def _exported(after: Work, place: ReportPlace, *, landed: bool) -> list[Problem]:
    """Write the files for other programs, and return the errors."""
    problems: list[Problem] = []
    if place.runtime is not None and (landed or not place.runtime.exists()):
        from memrepo.actions.exchange.export import write_runtime

        problems += write_runtime(after, place.runtime)
    if after.config.hot.layers:
        from memrepo.actions.exchange.export import write_layers

        problems += write_layers(after)
    return problems


def _recorded(at: Work, place: ReportPlace, run: RunRecord) -> list[Problem]:
    """Write the event, the report and this clone's record, notify, and return the errors.

    If the run could not get the lock, only the event is written. The report and record belong to
    the other run.
    """
    problems = [*_log(place, event_of(run))]
    if run.status == "locked":
        return problems
    path = local_folder(at) / LAST
    text = run_files.to_json(msgspec.to_builtins(updated_record(last_record(at), run)))
    report = last_run(run)
    problems += _tried(
        place.report, lambda: run_files.write_file(place.report, report, within=place.within)
    )
    problems += _tried(path, lambda: run_files.write_file(path, text, within=at.store.root))
    if place.notifies:
        problems += _notify(at.refreshed(), run.finished)
    return problems


def _notify(at: Work, now: datetime) -> tuple[Problem, ...]:
    """Send notifications about conditions that need a person's attention. Return the errors."""
    from memrepo.actions.setup.survey import budgets, survey

    spent = budgets(at, 0, now).spent
    waiting = len(marked_memories(at.tree.state()))
    found = needs(all_waiting(at), timetable(at, now), survey(at).contradictions, spent, waiting)
    return tell(at, found)[1]


def _views(before: Work, after: Work) -> tuple[str, ...]:
    """Return the pages that the run changed."""
    if before is after:
        return ()
    area = after.tree.layout.area("views")
    one, other = (work.tree.files.below(area) for work in (before, after))
    return tuple(sorted({path.removeprefix(area) for path, _ in one.items() ^ other.items()}))


def _log(place: ReportPlace, event: Mapping[str, Any]) -> tuple[Problem, ...]:
    day = datetime.fromisoformat(event["timestamp"]).date()
    return _tried(
        place.folder, lambda: run_files.append_event(place.folder, day, event, within=place.within)
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
                message=f"the run was not recorded: {error.strerror or error}",
                fix="make the folder writable, or name another: `git config memrepo.telemetry.dir`",
            ),
        )
    return ()


# -- the verb `report` -----------------------------------------------------------------------------


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `report`."""

    chat: Annotated[
        bool, option("text for a chat; empty unless reporting.enabled is true", "--chat")
    ] = False
    report: Annotated[
        Report | None,
        option("level of detail for the chat (reporting.mode)", "--report", choices=REPORTS),
    ] = None


class Chat(VerbResult, frozen=True, kw_only=True):
    """The text to send to a chat; empty if there is nothing to send."""

    text: str
    enabled: bool
    mode: Report


class LastRunReport(VerbResult, frozen=True, kw_only=True):
    """The record of the last run, and its report for the operator."""

    last: RunRecord | None
    text: str


def do(work: Work, request: Request) -> Chat | LastRunReport:
    """Return the operator's report or, with --chat, the text to send to a chat."""
    config, run = work.config, last_record(work).last
    if request.chat:
        enabled, mode = config.reporting.enabled, request.report or config.reporting.mode
        text = chat(run, enabled=enabled, mode=mode) if run else ""
        return Chat(text=text, enabled=enabled, mode=mode)
    if run is None:
        return LastRunReport(last=None, text="no run was recorded in this clone yet")
    text = last_run(run)
    if run.run:
        text += f"\n## Changes\n\n- `memrepo diff {run.run}` lists them\n"
    from memrepo.actions.setup.survey import budgets

    text += f"\n## Spent\n\n- {budgets(work, 0, work.call.now).month.said}"
    return LastRunReport(last=run, text=marked("report", text))
