"""`memrepo import`: import the memories of another program, in one commit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import asdict, replace

from memrepo import __version__
from memrepo.actions.landing import derived_files, prepare
from memrepo.actions.request import DryRun, Reason, VerbResult, option
from memrepo.actions.run.land import run_stamp
from memrepo.actions.work import Work
from memrepo.core.changes import Create, Plan, Step, Write
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import digest
from memrepo.core.manifest import Manifest, read_manifests
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import apply
from memrepo.core.times import format_time
from memrepo.formats.plan import Imported, ImportTerms, take
from memrepo.formats.purifier import Workspace, read_hashes
from memrepo.formats.registry import FORMATS, Format
from memrepo.store.workspace import read_folder, repository_of
from memrepo.views.claims import IMPORT, read_runs

ARTIFACTS = "artifacts"
_NEW = "memories_new"


class NothingToImport(MemrepoError):
    """Raised when the given path contains no readable file of the requested format."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, format_: Format, *unread: Problem) -> None:
        what = f"found no file that an import of {format_.name} reads"
        if unread:
            what = unread[0].message
        elif not where.exists():
            what = "there is no such file or folder"
        fix = f"name the folder or file with {format_.what}"
        super().__init__(f"{where}: {what}", fix=fix)


class IsRepository(NothingToImport):
    """Raised when the given path is a memrepo repository, or one of its own folders."""

    def __init__(self, where: Path, format_: Format, repository: Path) -> None:
        super().__init__(where, format_)
        self.message = f"{where}: {repository} is a memrepo repository, which is never imported"
        self.fix = "run `memrepo export jsonl` there, and import that file as jsonl"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo import`."""

    format: Annotated[
        str, option("; ".join(f"{f.name}: {f.what}" for f in FORMATS.values()), metavar="FORMAT")
    ]
    path: Annotated[str, option("the folder, or the one file", metavar="PATH")]
    dry_run: DryRun = False
    reason: Reason = ""


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an import. `commit` is empty if nothing changed."""

    commit: str = ""
    run: str = ""
    imported: int = 0
    """The number of records that became memories."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class Result(VerbResult, frozen=True, kw_only=True):
    """The outcome of an import. `commit` is empty if nothing changed."""

    commit: str
    run: str
    imported: int
    """The number of records that became memories."""
    counts: Mapping[str, int]
    problems: tuple[Problem, ...]
    dry_run: bool


def do(work: Work, request: Request) -> Result:
    """Import the records of a path. Existing memories are not changed."""
    if request.format not in FORMATS:
        raise UsageError(
            f"import {request.format}: invalid choice, there is no such format",
            fix=f"name one of {', '.join(FORMATS)}",
        )
    sources: dict[str, bytes] = {}
    if request.format == ARTIFACTS:
        layout = work.tree.layout
        paths = (path for path in work.tree.blobs if path.startswith(layout.area("sources")))
        sources = {layout.source_name(path): work.tree.files[path] for path in paths}
    where = (work.call.where / request.path).absolute()
    done = bring_in(
        work, request.format, where, sources, reason=request.reason, dry_run=request.dry_run
    )
    notices = (*done.problems, *work.store.notices)
    return Result(**asdict(done), dry_run=request.dry_run, notices=notices)


def was_imported(work: Work) -> bool:
    """Return whether a purifier's claims were ever imported, even if they were removed since."""
    runs, _ = read_runs(work.tree.files, work.tree.layout)
    judges = (ARTIFACTS, "memory-purifier")
    return any(run.mode == IMPORT and run.judge in judges for run in runs)


def bring_in(
    work: Work,
    format_name: str,
    where: Path,
    sources: Mapping[str, bytes],
    *,
    reason: str = "",
    dry_run: bool = False,
) -> Brought:
    """Import a folder or file in one commit. `sources` contains the texts that claims refer to."""
    work.require_writable()
    work.store.refuse_unfit()
    format_ = FORMATS[format_name]
    if not os.path.lexists(where):
        raise NothingToImport(where, format_)
    if where.is_dir() and (repository := repository_of(where)):
        raise IsRepository(where, format_, repository)
    if format_.is_database:
        files, unread = read_databases(where, format_)
    else:
        files, unread = read_folder(where, format_.wants)
    if not files and (not unread or not where.is_dir()):
        raise NothingToImport(where, format_, *unread)
    state = work.tree.state()
    runs, _ = read_runs(work.tree.files, work.tree.layout)
    brought = {id_ for run in runs if run.mode == IMPORT for id_ in run.judgements}
    terms = ImportTerms(
        format=format_.name,
        profile=work.config.profile,
        now=work.call.now,
        zone=work.config.zone,
        left=brought - state.memories.keys(),
        workspace=Workspace(
            sources=sources,
            blobs={name: work.store.work.blob_id(data) for name, data in sources.items()},
            read_hashes=read_hashes(files) if sources else {},
        ),
    )
    found = take(state, format_.read(files), terms)
    counts = dict(found.counts)
    if empty := sum(not data.strip() for data in files.values()):
        counts["empty_files_passed_over"] = empty
    problems = (*unread, *found.problems)
    done = Brought(imported=counts.get(_NEW, 0), counts=counts, problems=problems)
    if dry_run or not found.changes:
        return done
    pages = derived_files(work, apply(state, found.changes))
    found = replace(found, changes=(*found.changes, *pages), counts=counts, problems=problems)
    news = sum(isinstance(change, Create) for change in found.changes)
    changed = counts.get("memories_changed", 0)
    reworded = f", {changed} reworded" if changed else ""
    layout = work.tree.layout
    manifests, _ = read_manifests(work.tree.files, layout)
    run_id = _run_id(work, work.tree.commit, found, [m.run for m in manifests])
    step = Step(
        op="import",
        what=f"Import {counted(news, 'memory', 'memories')} from {format_.name}{reworded}",
        reason=reason or f"kept as {format_.name} before",
        changes=(
            *found.changes,
            Write(
                path=layout.manifest(run_id),
                data=_manifest(work, run_id, found, format_.name).to_bytes(),
            ),
        ),
    )
    landing = prepare(
        work.store,
        state,
        Plan(base=work.tree.commit, steps=(step,)),
        work.context(run=run_id),
        work.call.now,
        author=work.author,
    )
    commit = work.store.land(landing.chain, "import")
    return replace(done, commit=commit, run=run_id)


def read_databases(where: Path, format_: Format) -> tuple[dict[str, bytes], list[Problem]]:
    """Return a snapshot per database, by file name, including uncommitted WAL content."""
    import sqlite3

    if where.is_dir():
        places = sorted(p for p in where.iterdir() if p.is_file() and format_.wants(p.name))
    else:
        places = [where] if where.is_file() else []
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for place in places:
        try:
            with (
                closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as found,
                closing(sqlite3.connect(":memory:")) as copy,
            ):
                found.backup(copy)
                files[place.name] = copy.serialize()
        except sqlite3.Error as error:
            problems.append(
                Problem(
                    path=place.name,
                    rule="source-unreadable",
                    message=f"could not be read as a database: {error}",
                    fix=f"name {format_.what}",
                )
            )
    return files, problems


_TAIL = "-import"


def _run_id(work: Work, base: str, found: Imported, runs: list[str]) -> str:
    ids = [c.memory.id for c in found.changes if isinstance(c, Create)]
    return f"{run_stamp(work.call.now, runs)}-{digest([base, *ids])[:8]}{_TAIL}"


def _manifest(work: Work, run_id: str, found: Imported, judge: str) -> Manifest:
    """Return an import's manifest. It marks no source as read, so the next run reads all."""
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
