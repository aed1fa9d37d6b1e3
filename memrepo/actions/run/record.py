"""The record of a run, and everything made from it: text, event, report, chat.

`Result` is the answer of `memrepo run` and what this clone records of its last run. Events and
reports follow from it. A failure to record never fails a run: it becomes a warning. Dry runs are
not recorded.

Lineage: memory-purifier, reporting surfaces. Deliberate differences: failed, pending and locked-out
runs are reported too. Times are in the configured zone. The token block contains actual counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.pending import removals_in_words
from memrepo.actions.run.ingest import Ingested, texts_at
from memrepo.actions.work import VerbResult, Work, option, outside
from memrepo.config import ConfigError
from memrepo.core.errors import Exit, Locked, MemrepoError, Problem
from memrepo.core.ids import visible
from memrepo.core.messages import counted, cut
from memrepo.core.times import EARLIEST, format_time, parse_time
from memrepo.policies.rules import RunMode
from memrepo.policies.upkeep import Failure, Timetable, guard, missed, next_fire
from memrepo.read.marks import marked
from memrepo.store import run_files, settings
from memrepo.store.git import agent_name
from memrepo.views.report import WORDS, count_lines, counts_in_words

Report: TypeAlias = Literal["silent", "summary", "full"]
REPORTS: tuple[Report, ...] = ("silent", "summary", "full")
MAX_ISSUES = 20
"""Maximum number of warnings that the report of a run lists."""


class MayNotRun(MemrepoError):
    """Raised when a person must decide something before a run."""

    exit_code = Exit.DECIDE


class UpgradeRequired(MayNotRun):
    """Raised when the last run used an older version of the logic or of the manifest schema.

    Everything must be judged again.
    """


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the run, and the memories that it concerns."""

    id: str
    op: str
    subject: str
    memories: tuple[str, ...]


class Result(VerbResult, frozen=True, kw_only=True):
    """What became of one run. It contains at most one committed and one pending chain."""

    unlisted = ("report", "first", "lines_read", "refusals")

    mode: RunMode
    status: str
    started: datetime | None = None
    finished: datetime | None = None
    run: str = ""
    """Id of the committed or pending run."""
    base: str = ""
    head: str = ""
    branch: str = ""
    """The branch of a pending run; empty if there is none."""
    why: str = ""
    """Why the run is pending, was skipped, failed, or left some text unread."""
    fix: str = ""
    """How to fix a failure."""
    pending: int = 0
    """Number of memories a pending run would change; zero if an equal run was already pending."""
    marked: tuple[str, ...] = ()
    """Memories that the run marked for removal. A person decides about them."""
    ingest: Ingested = msgspec.field(default_factory=Ingested)
    commits: tuple[Landed, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    tokens: Mapping[str, int | str] = msgspec.field(default_factory=dict)
    cost_usd: float | None = None
    reused: int = 0
    """Number of answers taken from an interrupted run."""
    warnings: tuple[Problem, ...] = ()
    quarantined: tuple[Mapping[str, str], ...] = ()
    landed: bool = False
    """Whether a chain of decisions was committed."""
    questions: Mapping[str, int] = msgspec.field(default_factory=dict)
    """For an estimate, the number of questions by kind."""
    report: Report | msgspec.UnsetType = msgspec.UNSET
    """How much of the report to print."""
    first: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Lines that explain the first run of a repository."""
    refusals: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """What became of operations of the judge that were not taken as they were worded."""
    lines_read: int | msgspec.UnsetType = msgspec.UNSET
    """For an estimate, the number of new lines."""

    @property
    def event(self) -> str:
        """Return the name of the telemetry event for the run's end, which depends on the status."""
        return str(WORDS["events"].get(self.status, "run_failed"))

    @property
    def summary(self) -> str:
        """Return the decisions of the run as text."""
        return ", ".join(counts_in_words(self.counts)) or "no change"

    @property
    def headline(self) -> str:
        """Return the result on one line: for the terminal, the chat and the report alike."""
        lost = f"; {len(self.quarantined)} quarantined (see the manifest)"
        return _headline(self) + (lost if self.quarantined else "")

    @property
    def estimated(self) -> str:
        """Return an estimate as text."""
        calls = sum(self.questions.values())
        if not calls:
            return "the next run would make no paid call"
        cost = "price unknown" if self.cost_usd is None else f"about {self.cost_usd:.4f} USD"
        lines = counted(self.lines_read or 0, "new line", "new lines")
        asked = f"{counted(calls, 'question', 'questions')}, {self.tokens['total']} tokens"
        return f"the next run reads {lines}: about {asked}, {cost}"

    @property
    def details(self) -> list[str]:
        """Return the counts, the removals to decide about, and the cost, on lines of their own."""
        lines = [f"ingest: {self.ingest.summary}"] if self.ingest.summary else []
        if self.status != "skipped":
            lines += [f"{count:>6}  {words}" for count, words in count_lines(self.counts)]
        if self.marked:
            lines.append(removals_in_words(len(self.marked)))
        if self.reused:
            lines.append(f"{self.reused:>6}  answers reused from an interrupted run")
        tokens = self.tokens
        if self.status != "estimate" and tokens.get("source", "unavailable") != "unavailable":
            used = f"{tokens['prompt']} in, {tokens['completion']} out, {tokens['total']} in all"
            cost = "price unknown" if self.cost_usd is None else f"{self.cost_usd:.4f} USD"
            lines.append(f"Token usage: {used} ({tokens['source']}), {cost}")
        return lines


def _headline(run: Result) -> str:
    why = _line(run.why)
    taken = run.ingest
    files = len(taken.added) + len(taken.changed) + len(taken.removed) if taken.is_pending else 0
    one, many = "source file changed and is", "source files changed and are"
    later = f"{counted(files, one, many)} judged only without --dry-run ({taken.summary})"
    rest = f"; {later}" if files else ""
    match run.status:
        case "skipped":
            return "nothing new: no commit was made"
        case "skipped_superseded" | "locked":
            return f"skipped: {why}"
        case "estimate":
            over = f"; {why}: the rest would remain for later runs" if why else ""
            return f"estimate: {run.estimated}{over}; no judge was called, nothing was written"
        case "dry-run":
            # Unjudged sources may add memories, so "no change" would be wrong.
            parts = [run.summary] if run.run and not (files and run.summary == "no change") else []
            parts += [later] if files else []
            parts = [*parts, "nothing was written"] if parts else ["nothing new"]
            return f"dry run: {'; '.join(parts)}"
        case "held":
            changes = counted(run.pending, "change is", "changes are")
            what = changes if run.pending else "the changes are"
            how = "`memrepo diff` shows them, `memrepo accept` or `memrepo discard` decides"
            return f"held: {why}; {what} pending on {_line(run.branch)} ({how}){rest}"
        case "partial":
            return f"partial: {why}; {run.summary} landed, the next run reads the rest"
        case "ok" if run.run:
            return f"run {run.run}: {run.summary}"
        case "ok":
            return f"sources copied ({taken.summary}), no new statements"
        case "upgrade_required":
            return f"refused: {why}"
        case _:
            return f"failed: {why}{'' if run.fix else '; the next run reads the new text'}"


def _line(text: object) -> str:
    """Return a text on one line without invisible characters, since others may have written it."""
    return " ".join(visible(str(text)).split())


def chat(run: Result, *, enabled: bool, mode: str) -> str:
    """Return the message about a run that an agent may pass on to a chat.

    The message is empty if chat is disabled or the run was skipped. A failed run gets a second line
    with its fix. Otherwise `summary` is one line, and `full` adds the details.
    """
    if not enabled or mode == "silent" or run.event == "run_skipped":
        return ""
    lines = [f"memrepo: {run.headline}"]
    if run.event == "run_failed":
        lines.append(_line(run.fix) or "`memrepo doctor` shows why")
    elif mode == "full" and run.status != "held":
        lines += _listed(run.details)
    return "\n".join(lines)


def _listed(lines: Iterable[str]) -> list[str]:
    return [f"- {_line(line)}" for line in lines]


def last_run(work: Work, run: Result) -> str:
    """Return `last-run.md`. Equal runs give equal bytes, and no text comes from a model."""
    zone, found = work.config.zone, run.warnings
    lines = [run.headline, f"mode: {run.mode}, profile: {work.config.profile}"]
    if run.started and run.finished:
        start, end = (at.astimezone(zone) for at in (run.started, run.finished))
        lines.append(f"from {start:%Y-%m-%d %H:%M:%S} to {end:%H:%M:%S} {zone.key}")
    lines += [f"try: {run.fix}"] if run.fix else []
    lines += run.details
    lines += [f"{p.path}: {p.rule} {p.message}" for p in found[:MAX_ISSUES]]
    lines += [f"{len(found) - MAX_ISSUES} more"] if len(found) > MAX_ISSUES else []
    if run.event == "run_skipped" and run.started:
        due = next_fire(run.started, work.config.schedule, zone)
        lines += [f"next: {due.describe(zone.key)}"] if due else []
    lines += [f"`memrepo diff {run.run}` lists the changes"] if run.run else []
    return "\n".join([f"# Last run: {run.status}", "", *_listed(lines)]) + "\n"


def unhooked_problems(work: Work) -> tuple[Problem, ...]:
    """Return the errors in commits by hand since the last run that are still in the tree.

    No hook runs with `--no-verify`, for edits on a web page, for rebases, or in clones without
    hooks.
    """
    last = next(iter(work.landed()), None)
    if last is None or last.commit == work.tree.commit:
        return ()
    from memrepo.actions.commits import errors_since

    return errors_since(work, last.commit)


# -- the first run ---------------------------------------------------------------------------------


def is_first(work: Work) -> bool:
    """Return whether no run has been committed in the repository."""
    return not any(work.tree.files.below(work.tree.layout.area("runs")))


def explain_first(work: Work, run: Result) -> Iterator[str]:
    """Yield lines that explain a first run: files, statements, memories and next steps."""
    from memrepo.policies.hotcache import hot_of
    from memrepo.read.intake import cursors
    from memrepo.views.hot import plain

    layout = work.tree.layout
    claims = [m for m in work.tree.state().active if m.sources and not m.is_note]
    statements = run.counts.get("units", 0)
    rest = max(0, statements - len(claims))
    read = {text.resource for text in texts_at(work, cursors(work.tree.manifests[0])) if text.blob}
    silent = read - {source.resource for memory in claims for source in memory.sources}
    searched = {*work.tree.files.below(layout.area("sources"))} - read
    made, files = counted(len(claims), "memory", "memories"), counted(len(read), "file", "files")
    yield ""
    parts = f"{made} of {counted(statements, 'statement', 'statements')} in {files}"
    yield f"{parts}: a run stores lasting facts, up to a"
    others = f"the other {rest}" if claims else "all of them"
    found = f"; `memrepo search` finds {others}" if rest else ""
    yield f"share of each file (`run.shelf`){found}"
    if silent or searched:
        others = counted(len(searched), "more file is", "more files are")
        more = f", {others} for search only" if searched else ""
        yield f"{len(silent)} of these files gave none{more}: `memrepo sources` lists their kinds"
    shown = sorted(claims, key=lambda m: (hot_of(m) is None, m.path))
    by_file = {m.sources[0].resource: m for m in reversed(shown)}
    examples = [*dict.fromkeys((*sorted(by_file.values(), key=shown.index), *shown))][:3]
    if examples:
        yield "for example:"
    for memory in examples:
        source, text = memory.sources[0], cut(plain(memory), 70)
        line = f":{source.lines[0]}" if source.lines else ""
        place = f"{visible(layout.source_name(source.resource))}{line}"
        yield f"  {text} ({memory.type}, {place})"
    if examples and not run.tokens.get("total"):
        yield "rules chose and quoted these lines. A model would name who and what they are about,"
        yield "join what several lines state, and order the first page: `memrepo doctor` names"
        yield "those that can judge here, and `memrepo judge next` lets your agent do it"
    first_page = next((path for path in work.tree.blobs if layout.is_hot(path)), "")
    page = f"read {first_page}, the start of each session; " if first_page else ""
    yield f"next: {page}`git log` lists each decision"
    yield "      `memrepo revert` undoes the run, `memrepo schedule install` runs it every night"


# -- recording -------------------------------------------------------------------------------------

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
        runtime = (settings.workspace(at.store.repo) or at.store.root) / "runtime"
    path = str(folder.value) if folder is not None else path
    return ReportPlace(
        folder=at.store.root / Path(path).expanduser() if path else local_folder(at) / "telemetry",
        component=component,
        within=None if path else at.store.root,
        runtime=runtime,
    )


def event_of(work: Work, place: ReportPlace, run: Result) -> dict[str, object]:
    """Return the telemetry event for the start of a run, or for its end."""
    is_started = run.status == "started"
    start = run.started or work.call.now
    moment = run.finished or start
    zone, none = work.config.zone, None if is_started else 0
    details: dict[str, object] = {"package_version": __version__}
    if not is_started:
        details |= {
            "run": run.run,
            "reason": run.why,
            "counts": run.counts,
            "warnings_count": len(run.warnings),
            "partial_failures_count": len(run.quarantined),
            "downstream_wiki_ingest_suggested": run.landed,
            "cost_usd": run.cost_usd,
            "duration_s": int((moment - start).total_seconds()),
        }
    found = {
        "timestamp": moment.astimezone(zone).isoformat(),
        "timestamp_utc": format_time(moment),
        "timezone": zone.key,
        "domain": "memory",
        "component": place.component,
        "event": run.event,
        "run_id": format_time(start).replace("-", "").replace(":", ""),
        "status": run.status,
        "agent": work.call.actor.removeprefix("process:") or agent_name(),
        "profile": work.config.profile,
        "mode": run.mode,
        "token_usage": {
            "prompt_tokens": run.tokens.get("prompt", none),
            "completion_tokens": run.tokens.get("completion", none),
            "total_tokens": run.tokens.get("total", none),
            "source": run.tokens.get("source", "unavailable"),
        },
        "details": details,
    }
    return dict(msgspec.to_builtins(found))


def record_run(first: Work, inner: Callable[[], Result], *, mode: RunMode) -> Result:
    """Call `inner`, and record its result or its error."""
    begun, place, now = time.monotonic(), place_of(first), first.call.now
    problems = [*_keep(first, place, Result(mode=mode, status="started", started=now))]

    def ended(found: Result) -> Result:
        at = now + timedelta(seconds=int(time.monotonic() - begun))
        return replace(found, started=now, finished=at)

    try:
        found = inner()
    except BaseException as error:
        problems += _keep(first, place, ended(_failure_of(error, mode)))
        for problem in _once(problems):
            first.call.say(str(problem))
        raise
    after = first if found.head == first.tree.commit else first.refreshed()
    problems += _export(after, place, landed=found.landed)
    found = ended(found)
    problems += _keep(first, place, found)
    return replace(found, notices=(*found.notices, *_once(problems)))


def _once(problems: Iterable[Problem]) -> Iterable[Problem]:
    """Return one problem per file and rule: a folder fails with another error on each access."""
    return {(one.path, one.rule): one for one in problems}.values()


def _failure_of(error: BaseException, mode: RunMode) -> Result:
    """Return the result of a run that an error ended."""
    message, fix, status = "interrupted", "", "failed"
    if isinstance(error, MemrepoError):
        message, fix = error.message, error.fix
    elif isinstance(error, Exception):
        message = f"{type(error).__name__}: {error}"
    if isinstance(error, UpgradeRequired | Locked):
        status = "locked" if isinstance(error, Locked) else "upgrade_required"
    return Result(mode=mode, status=status, why=message, fix=fix)


def _export(after: Work, place: ReportPlace, *, landed: bool) -> list[Problem]:
    """Write the files for other programs, and return the errors."""
    problems: list[Problem] = []
    if place.runtime is not None and (landed or not place.runtime.exists()):
        from memrepo.actions.export import write_runtime

        problems += write_runtime(after, place.runtime)
    if after.config.hot.layers:
        from memrepo.actions.export import write_layers

        problems += write_layers(after)
    return problems


def _keep(at: Work, place: ReportPlace, run: Result) -> tuple[Problem, ...]:
    """Write this clone's record, the report and the event, and return what cannot be written.

    When a run starts, or could not get the lock, only the event is written. The report and record
    belong to the other run.
    """
    event, folder = event_of(at, place, run), place.folder
    day = datetime.fromisoformat(str(event["timestamp"])).date()
    try:
        if run.status not in ("started", "locked"):
            text = run_files.to_json(_updated_record(last_record(at), run))
            run_files.write_file(local_folder(at) / LAST, text, within=at.store.root)
            report = folder / place.component.partition(".")[0] / "last-run.md"
            run_files.write_file(report, last_run(at, run), within=place.within)
        run_files.append_event(folder, day, event, within=place.within)
    except OSError as error:
        return (
            Problem(
                path=str(folder),
                rule="telemetry-unwritable",
                severity="warning",
                message=f"the run was not recorded: {error.strerror or error}",
                fix="make the folder writable, or name another: `git config memrepo.telemetry.dir`",
            ),
        )
    return ()


# -- what this clone recorded ----------------------------------------------------------------------

BY = "memrepo.schedule.by"
SINCE = "memrepo.schedule.since"
LAST = "last-run.json"


class CloneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The record of this clone's runs: the last one, the last failure and the last success."""

    last: Result | None = None
    failed: Failure | None = None
    """Set until a run succeeds."""
    succeeded: datetime | None = None


def local_folder(work: Work) -> Path:
    """Return `.memrepo/`, the git-ignored folder for logs and records of this clone."""
    return work.store.root / work.tree.layout.prefix / ".memrepo"


def last_record(work: Work) -> CloneRecord:
    """Return the record of this clone's last runs; empty if it cannot be read."""
    found = run_files.load_json(local_folder(work) / LAST, within=work.store.root)
    try:
        return msgspec.convert(found, CloneRecord)
    except msgspec.ValidationError:
        return CloneRecord()


def _updated_record(before: CloneRecord, run: Result) -> dict[str, Any]:
    """Return this clone's record after a run, as JSON.

    A run skipped for a reconciliation changes no status.
    """
    failed, succeeded = before.failed, before.succeeded
    if run.event == "run_failed" or run.status == "partial":
        times, at = failed.times + 1 if failed else 1, format_time(run.finished or EARLIEST)
        failed = Failure(at=at, error=visible(run.why), times=times)
    elif run.status != "skipped_superseded":
        failed, succeeded = None, run.finished
    now = CloneRecord(failed=failed, succeeded=succeeded)
    return {**msgspec.to_builtins(now), "last": run.as_json()}


def timetable(work: Work, now: datetime) -> Timetable:
    """Compare the configured cadence with the runs recorded in this clone."""
    here, record = settings.local(work.store.repo), last_record(work)
    cadence, zone = work.config.schedule, work.config.zone
    by, since = here.get(BY, ""), record.succeeded
    try:
        installed = parse_time(str(here.get(SINCE, "")))
        since = max(installed, since) if since else installed
    except ValueError:
        pass
    count = missed(since, now, cadence, zone) if by and since else 0
    return Timetable(
        by=by,
        missed=count if count > 1 else 0,
        failed=record.failed,
        next=next_fire(now, cadence, zone),
    )


def collides_with_reconciliation(work: Work, now: datetime) -> str:
    """Return why an incremental run would collide with a reconciliation; empty if it would not.

    Without an installed schedule in this clone, no reconciliation will start. A manual first run
    must not depend on the time of day.
    """
    cadence, zone = work.config.schedule, work.config.zone
    if not settings.local(work.store.repo).get(BY) or not guard(now, cadence, zone):
        return ""
    local = f"{now.astimezone(zone):%H:%M} {zone.key}"
    return f"{local} is within an hour of a reconciliation, which has priority (--force runs now)"


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


class LastRun(VerbResult, frozen=True, kw_only=True):
    """The record of the last run, and its report or the text to send to a chat."""

    last: Result | None
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON-compatible values."""
        return {"last": self.last.as_json() if self.last else None, "text": self.text}


def do(work: Work, request: Request) -> LastRun:
    """Return the operator's report or, with --chat, the text to send to a chat."""
    config, run = work.config, last_record(work).last
    if request.chat:
        enabled, mode = config.reporting.enabled, request.report or config.reporting.mode
        return LastRun(last=run, text=chat(run, enabled=enabled, mode=mode) if run else "")
    if run is None:
        return LastRun(last=None, text="no run was recorded in this clone yet")
    return LastRun(last=run, text=marked("report", last_run(work, run)))
