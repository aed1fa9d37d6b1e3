"""`memrepo import`: take in what another program keeps as memory, in one commit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions import result
from memrepo.actions.derived import derived_files
from memrepo.actions.landing import prepare
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.run.chain import run_stamp
from memrepo.actions.work import Work
from memrepo.actions.write.commit import write_steps
from memrepo.core.changes import Create, Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import digest
from memrepo.core.manifest import Manifest, read_manifests
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.core.times import format_time
from memrepo.formats.plan import Terms, take
from memrepo.formats.records import Format
from memrepo.formats.registry import FORMATS
from memrepo.purify.imported_counts import Counts, read_hygiene, read_refcount
from memrepo.purify.imported_memories import READ, Imported, Offer, import_artifacts
from memrepo.purify.lineage import CLAIMS
from memrepo.store.ledger import ledger_of
from memrepo.store.workspace import read_folder
from memrepo.views.artifacts_runs import IMPORT, read_runs
from memrepo.views.hygiene import HYGIENE, REFCOUNT

RUNTIME = "runtime"
ARTIFACTS = "artifacts"
PURIFIER = "memory-purifier"
TRACKERS = {"hygiene": HYGIENE, "refcount": REFCOUNT}
_NEW = "memories_new"


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """What one import did; `commit` is empty when there was nothing to do."""

    commit: str = ""
    run: str = ""
    imported: int = 0
    """How many claims became memories."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class NothingToImport(MemrepoError):
    """The path holds no file of the format."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, format_: Format) -> None:
        super().__init__(
            f"{where}: found no file that an import of {format_.name} reads"
            if where.exists()
            else f"{where}: there is no such file or folder",
            fix=f"name what holds {format_.what}",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `import`."""

    format: Annotated[
        str,
        option(
            f"{ARTIFACTS}: a purifier's workspace or its runtime folder; "
            + "; ".join(f"{f.name}: {f.what}" for f in FORMATS.values())
            + "; hygiene, refcount: what hygiene.json or refcount.json tells of memories here",
            metavar="FORMAT",
        ),
    ]
    path: Annotated[str, option("the folder, or the one file", metavar="PATH")]
    dry_run: DryRun = False
    reason: Reason = ""


class Result(result.Result, frozen=True, kw_only=True):
    """What one import did; `commit` is empty when there was nothing to do."""

    commit: str
    run: str
    imported: int
    """How many became memories."""
    counts: Mapping[str, int]
    problems: tuple[Problem, ...]
    dry_run: bool


class Tracked(result.Result, frozen=True, kw_only=True):
    """What a tracker told of memories here: retrievals, and changes of one commit each."""

    commit: str
    """The last one; empty: none."""
    retrievals: int
    steps: tuple[str, ...]
    dry_run: bool
    problems: tuple[Problem, ...]


def do(work: Work, request: Request) -> Result | Tracked:
    """Import once; what is a memory already is left as it is."""
    where = (work.call.where / request.path).absolute()
    if request.format in TRACKERS:
        return _bring_counts(work, request, where)
    if request.format == ARTIFACTS:
        done = _bring_artifacts(work, where, request)
    else:
        done = _bring(work, where, request)
    return Result(
        commit=done.commit,
        run=done.run,
        imported=done.imported,
        counts=done.counts,
        problems=done.problems,
        dry_run=request.dry_run,
        notices=(*done.problems, *work.store.notices),
    )


def _bring_artifacts(work: Work, where: Path, request: Request) -> Brought:
    folder = artifacts_folder(where)
    if folder is None:
        raise UsageError(
            f"{where}: found no {CLAIMS}, there or below {RUNTIME}/",
            fix="name the purifier's workspace, or its runtime folder",
        )
    area = work.tree.layout.area("sources")
    sources = {
        work.tree.layout.source_name(path): work.tree.files[path]
        for path in work.tree.blobs
        if path.startswith(area)
    }
    return bring_in(work, folder, sources, reason=request.reason, dry_run=request.dry_run)


def _bring(work: Work, where: Path, request: Request) -> Brought:
    """Import a folder or file of another program's format."""
    work.require_writable()
    work.store.refuse_unfit()
    if request.format not in FORMATS:
        raise UsageError(
            f"import {request.format}: invalid choice, there is no such format",
            fix=f"name one of {', '.join((ARTIFACTS, *FORMATS, *TRACKERS))}",
        )
    format_ = FORMATS[request.format]
    if not os.path.lexists(where):
        raise NothingToImport(where, format_)
    files, unread = read_folder(where, format_.wants)
    if not files and not unread:
        raise NothingToImport(where, format_)
    state = work.tree.state()
    runs, _ = read_runs(work.tree.files, work.tree.layout)
    brought = {id_ for run in runs if run.mode == IMPORT for id_ in run.judgements}
    terms = Terms(
        format=format_.name,
        profile=work.config.profile,
        now=work.call.now,
        zone=work.config.zone,
        left=brought - state.memories.keys(),
    )
    found = take(state, format_.read(files), terms)
    news = sum(isinstance(change, Create) for change in found.changes)
    changed = found.counts.get("memories_changed", 0)
    reworded = f", {changed} reworded" if changed else ""
    trip = Trip(
        judge=format_.name,
        what=f"Import {counted(news, 'memory', 'memories')} from {format_.name}{reworded}",
        reason=request.reason or f"kept as {format_.name} before",
        dry_run=request.dry_run,
    )
    if empty := sum(not data.strip() for data in files.values()):
        found = replace(found, counts={**found.counts, "empty_files_passed_over": empty})
    pages = derived_files(work, apply(state, found.changes)) if found.changes else []
    made = replace(found, changes=(*found.changes, *pages), problems=(*unread, *found.problems))
    return _land(work, made, trip)


def artifacts_folder(where: Path) -> Path | None:
    """Return the folder that holds a purifier's claims: this one, or its runtime folder."""
    for folder in (where / RUNTIME, where):
        if (folder / CLAIMS).is_file():
            return folder
    return None


def was_imported(work: Work) -> bool:
    """Tell whether the purifier's claims were imported: what came may have been removed since."""
    runs, _ = read_runs(work.tree.files, work.tree.layout)
    return any(run.mode == IMPORT and run.record.get("judge") == PURIFIER for run in runs)


def bring_in(
    work: Work,
    folder: Path,
    sources: Mapping[str, bytes],
    *,
    reason: str = "",
    dry_run: bool = False,
) -> Brought:
    """Import a purifier's files in a commit of its own; `sources` are texts by their name."""
    work.require_writable()
    work.store.refuse_unfit()
    files, unread = _files(folder)
    offer = Offer(
        files=files,
        sources=sources,
        profile=work.config.profile,
        now=work.call.now,
        blobs={name: work.store.work.blob_id(data) for name, data in sources.items()},
    )
    found = import_artifacts(work.tree.state(), offer)
    trip = Trip(
        judge=PURIFIER,
        what=f"Import {counted(found.counts.get(_NEW, 0), 'claim', 'claims')} of {PURIFIER}",
        dry_run=dry_run,
        reason=reason or "what the purifier had published before",
    )
    return _land(work, replace(found, problems=(*unread, *found.problems)), trip)


class Trip(msgspec.Struct, frozen=True, kw_only=True):
    """How an import is told of: who judged before us, subject and reason of its commit."""

    judge: str
    what: str
    reason: str
    dry_run: bool = False


def _land(work: Work, found: Imported, trip: Trip) -> Brought:
    """Commit what an import found, with a manifest of its own, unless there is nothing new."""
    done = Brought(imported=found.counts.get(_NEW, 0), counts=found.counts, problems=found.problems)
    if trip.dry_run or not (found.changes or found.files):
        return done
    layout = work.tree.layout
    manifests, _ = read_manifests(work.tree.files, layout)
    run_id = _run_id(work, work.tree.commit, found, [m.run for m in manifests])
    step = Step(
        op="import",
        what=trip.what,
        reason=trip.reason,
        changes=(
            *found.changes,
            *found.files,
            Write(
                path=layout.manifest(run_id),
                data=_manifest(work, run_id, found, trip.judge).to_bytes(),
            ),
        ),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    landing = prepare(
        work.store,
        work.tree.state(),
        plan,
        work.context(run=run_id),
        work.call.now,
        author=work.author,
    )
    commit = work.store.land(landing.chain, "import")
    return replace(done, commit=commit, run=run_id)


_TAIL = "-import"


def _run_id(work: Work, base: str, found: Imported, runs: list[str]) -> str:
    ids = [c.memory.id for c in found.changes if isinstance(c, Create)]
    return f"{run_stamp(work.call.now, runs)}-{digest([base, *ids])[:8]}{_TAIL}"


def _manifest(work: Work, run_id: str, found: Imported, judge: str) -> Manifest:
    """Return the manifest: it consumes nothing, so that a run meets every source."""
    return Manifest(
        run=run_id,
        mode=IMPORT,
        judge=judge,
        profile=work.config.profile,
        base=work.tree.commit,
        now=format_time(work.call.now),
        package=__version__,
        counts=found.counts,
        judgements=found.judgements,
        warnings=tuple(p.as_json() for p in found.problems),
    )


def _files(folder: Path) -> tuple[dict[str, bytes], list[Problem]]:
    """Read the files of an import; a link is never followed."""
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for name in READ:
        if not os.path.lexists(folder / name):
            continue
        try:
            descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as handle:
                files[name] = handle.read()
        except OSError as error:
            problems.append(
                Problem(
                    path=name,
                    rule="import-unreadable",
                    fix="make it a file that can be read",
                    message=f"could not be read: {error.strerror}",
                )
            )
    return files, problems


def _bring_counts(work: Work, request: Request, where: Path) -> Tracked:
    """Take in a tracker: a commit each for what it says of memories, the rest to the ledger."""
    name = TRACKERS[request.format]
    path = where / name if where.is_dir() else where
    if path.is_symlink() or not path.is_file():
        raise UsageError(
            f"{where}: found no {name}",
            fix="name the file, or the folder it is in",
        )
    data = path.read_bytes()
    read: list[Counts] = []

    def draft(at: Work, state: State) -> Sequence[Step]:
        read[:] = [_counts(at, request.format, data, state)]
        return read[0].steps

    wrote = write_steps(work, request, draft)
    found = read[0]
    if not request.dry_run and found.events:
        ledger = ledger_of(work.store)
        ledger.record(found.events, work.call.now)
        ledger.flush(work.call.now)
    return Tracked(
        exit=wrote.exit,
        commit=wrote.commit,
        retrievals=len(found.events),
        steps=tuple(step.what for step in wrote.steps),
        dry_run=request.dry_run,
        problems=tuple(found.problems),
        notices=(*found.problems, *wrote.notices),
    )


def _counts(at: Work, format_: str, data: bytes, state: State) -> Counts:
    accesses = ledger_of(at.store).accesses()
    notes = [m for m in state.active if m.is_note]
    if format_ == "refcount":
        return read_refcount(data, REFCOUNT, notes, accesses)
    rest = [m for m in state.memories.values() if not m.is_note and m.type != "chunk"]
    return read_hygiene(data, HYGIENE, rest, accesses, at.call.now)
