"""`memrepo import`: import the memories of another program, in one commit."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec.structs import replace

from memrepo import __version__
from memrepo.actions.landing import derived_files, prepare
from memrepo.actions.run.run import marked_in, run_stamp
from memrepo.actions.run.settle import retiring
from memrepo.actions.verbs import narrowed
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError, problem
from memrepo.core.ids import digest
from memrepo.core.manifest import IMPORT, LOGIC_VERSION, SCHEMA_VERSION, Manifest
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.state import Create, State, Step, Write, apply
from memrepo.core.times import format_time
from memrepo.formats import plan, readers
from memrepo.formats.plan import Imported, ImportTerms, Workspace, read_hashes, take
from memrepo.formats.readers import Format
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.standing import RETIRED
from memrepo.policies.upkeep import interlock
from memrepo.read.intake import is_much
from memrepo.read.sources import matches
from memrepo.store import run_files
from memrepo.store.workspace import read_folder, repository_of, template_folders

_MARKDOWN = r"(?!\.|.*/\.).*\.md"
"""The paths of markdown files outside of hidden folders."""
_CONVERSATIONS = r"(.*/)?conversations[^/]*\.json"
"""The path of an export of conversations. A large one has several numbered files."""
FORMATS = {
    "artifacts": Format(
        "a purifier's workspace or its runtime folder",
        r"(runtime/)?purified-(claims\.jsonl|contradictions\.jsonl|manifest\.json)",
        plan.read,
    ),
    "jsonl": Format("output of `memrepo export jsonl`", r".*\.jsonl", readers.read_jsonl),
    "memory-fs": Format(
        "memory_fs of context-clear, with refcount.json",
        r"([^/]+/)?(refcount\.json|(hot|warm|forgotten|gist)/[^/]+\.md)",
        readers.read_memory_fs,
    ),
    "claude-code": Format(
        "a memory folder of Claude Code", _MARKDOWN, readers.read_claude_code, is_followed=True
    ),
    "chatgpt": Format(
        "conversations.json of a ChatGPT export", _CONVERSATIONS, readers.read_chatgpt
    ),
    "claude": Format("conversations.json of a Claude export", _CONVERSATIONS, readers.read_claude),
    "mcp-memory": Format(
        "memory.json of the reference MCP memory server",
        r"[^/]*\.jsonl?",
        readers.read_mcp_memory,
    ),
    "claude-mem": Format(
        "the database of claude-mem",
        r"[^/]*\.(db|sqlite)",
        readers.read_claude_mem,
        is_database=True,
    ),
    "obsidian": Format("an Obsidian vault", _MARKDOWN, readers.read_obsidian),
}
"""All formats by name."""
ARTIFACTS = "artifacts"


class NothingToImport(MemrepoError):
    """Raised when the given path contains nothing that an import of the format reads."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, format_: str, found: str) -> None:
        fix = f"name the folder or file with {FORMATS[format_].what}"
        super().__init__(f"{where}: {found}", fix=fix)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo import`."""

    format: Annotated[
        str, option("; ".join(f"{name}: {f.what}" for name, f in FORMATS.items()), metavar="FORMAT")
    ]
    path: Annotated[str, option("the folder, or the one file", metavar="PATH")]
    scope: Annotated[
        str,
        option("the scope of what is imported (default: that of the project's notes)", "--scope"),
    ] = ""
    dry_run: DryRun = False
    reason: Reason = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The outcome of an import. `commit` is empty if nothing changed."""

    commit: str = ""
    run: str = ""
    imported: int = 0
    """The number of records that became memories."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    dry_run: bool = False


def do(work: Work, request: Request) -> Result:
    """Import the records of a path. A changed record that nobody edited here is followed."""
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
    done = bring_in(work, request, sources)
    return replace(done, notices=(*done.problems, *work.store.notices))


def was_imported(work: Work) -> bool:
    """Return whether a purifier's claims were ever imported, even if they were removed since."""
    runs = work.tree.manifests[0]
    return any(run.mode == IMPORT and run.judge == ARTIFACTS for run in runs)


def bring_in(work: Work, request: Request, sources: Mapping[str, bytes]) -> Result:
    """Import a folder or file in one commit. `sources` contains the texts that claims refer to."""
    work.require_writable()
    work.store.refuse_unfit()
    scope = narrowed(work.call.scope, request.scope) or _scope_of(work, request)
    work = Work(replace(work.call, scope=scope), store=work.store)
    state, where = work.whole.state(), work.call.where / request.path
    is_followed = FORMATS[request.format].is_followed and where.is_dir()
    folder, place = (_folder(where), where.resolve().as_uri()) if is_followed else ("", "")
    known = _imported_from(work, state, place) if is_followed else []
    files, unread = _read(where, request.format, is_known=bool(known))
    if is_followed:
        files, unsure = run_files.without_private_sessions(work.store.folder, where, files)
        if unsure:
            count = counted(unsure, "line", "lines")
            unread = [*unread, problem("import-beside-private", folder, count=count)]
    runs = work.tree.manifests[0]
    brought = {id_ for run in runs if run.mode == IMPORT for id_ in run.judgements}
    terms = ImportTerms(
        format=request.format,
        folder=folder,
        scope=work.call.scope,
        profile=work.config.profile,
        now=work.call.now,
        zone=work.config.zone,
        left=brought - state.memories.keys(),
        workspace=Workspace(
            sources=sources,
            read_hashes=read_hashes(files) if sources else {},
        ),
    )
    found = take(state, FORMATS[request.format].read(files), terms)
    created = [change.memory.id for change in found.changes if isinstance(change, Create)]
    stamp = run_stamp(work.call.now, [run.run for run in runs])
    run_id = f"{stamp}-{digest([work.tree.commit, *created])[:8]}-import"
    faulty = (p.path for p in found.problems if p.severity == "error")
    missed = {*faulty, *(p.path for p in unread)}
    there = dict.fromkeys(files, True) | dict.fromkeys(missed, False)
    gone = _ended(work, state, known, found, f"{request.format}://{folder}", there, run_id)
    ended, marked = {id_ for step in gone for id_ in step.memory_ids}, len(marked_in(gone))
    more = {
        "memories_retired": len(ended) - marked,
        "marked": marked,
        "empty_files_passed_over": sum(not data.strip() for data in files.values()),
    }
    counts = {**found.counts, **{name: count for name, count in more.items() if count}}
    problems = (*unread, *found.problems)
    new, dry_run = counts["memories_new"], request.dry_run
    done = Result(imported=new, counts=counts, problems=problems, dry_run=dry_run)
    if dry_run:
        return done
    if found.changes or gone:
        commit = _land(work, request, state, found, gone, done, run_id)
        done = replace(done, commit=commit, run=run_id)
    if is_followed:
        # What was ended is not ended again after an undo.
        record = run_files.load(work.store.folder)
        ours = record.get(place, set()).difference(ended).union(found.seen)
        run_files.save(work.store.folder, {**record, place: ours})
    return done


def _land(
    work: Work,
    request: Request,
    state: State,
    found: Imported,
    gone: Sequence[Step],
    done: Result,
    run_id: str,
) -> str:
    """Commit what an import found and what it ends. Return the commit."""
    changes = (*found.changes, *(change for step in gone for change in step.changes))
    pages = derived_files(work, apply(state, changes))
    words = {"memories_changed": "reworded", "memories_retired": "retired", "marked": "marked"}
    more = "".join(f", {done.counts[k]} {word}" for k, word in words.items() if k in done.counts)
    created = [change.memory.id for change in found.changes if isinstance(change, Create)]
    what, layout = counted(len(created), "memory", "memories"), work.tree.layout
    manifest = Manifest(  # it marks no source as read, so the next run reads all
        run=run_id,
        mode=IMPORT,
        judge=request.format,
        profile=work.config.profile,
        base=work.tree.commit,
        now=format_time(work.call.now),
        package=__version__,
        logic=LOGIC_VERSION,
        schema=SCHEMA_VERSION,
        counts=done.counts,
        judgements=dict.fromkeys(created, ()),
        warnings=tuple(p.as_json() for p in done.problems),
    )
    reason = request.reason or f"taken from {FORMATS[request.format].what}"
    step = Step(
        op="import",
        what=f"Import {what} from {request.format}{more}",
        reason="\n".join((reason, *(one.reason for one in gone))),
        changes=(
            *changes,
            *pages,
            Write(path=layout.manifest(run_id), data=manifest.to_bytes()),
        ),
    )
    landing = prepare(
        work.store,
        state,
        work.tree.commit,
        (step,),
        work.context(run=run_id),
        work.call.now,
        author=work.author,
    )
    return work.store.land(landing.chain, "import")


def _scope_of(work: Work, request: Request) -> str:
    """Return the scope of the project whose notes Claude Code keeps in a folder, if it is known."""
    name = (work.call.where / request.path).resolve().parent.name
    known = run_files.bound(work.store.folder).items() if request.format == "claude-code" else ()
    return next((scope for folder, scope in known if run_files.project_name(folder) == name), "")


def _folder(where: Path) -> str:
    """Return how sources name a folder, as Claude Code names a project above its `memory`."""
    place = where.resolve()
    return f"{place.parent.name if place.name == 'memory' else place.name}/"


def _imported_from(work: Work, state: State, place: str) -> list[Memory]:
    """Return the active memories of the call's scope that this clone imported from a folder.

    Those of another folder with the same name are not among them, nor are those that this clone
    also imported from another folder that is there.
    """
    record = run_files.load(work.store.folder)
    ours = record.pop(place, set())
    for other, ids in record.items():
        if Path(os.fsdecode(unquote_to_bytes(other.removeprefix("file://")))).is_dir():
            ours -= ids
    return [m for m in state.active if m.id in ours and m.scope == work.call.scope]


def _ended(
    work: Work,
    state: State,
    known: Sequence[Memory],
    found: Imported,
    prefix: str,
    there: Mapping[str, bool],
    run_id: str,
) -> tuple[Step, ...]:
    """Return what ends the memories that a folder no longer states, by the rules of runs.

    `known` are those that were imported from it before. `prefix` is how sources name the folder.
    `there` are its files, and whether their records are all known.
    """
    ours, lost = 0, defaultdict[str, list[Memory]](list)
    against = tombstones_in(state).changes
    for memory in known:
        places = [s.resource.partition("#")[0] for s in memory.sources]
        if memory.standing == RETIRED or not all(place.startswith(prefix) for place in places):
            continue
        names = [place.removeprefix(prefix) for place in places]
        if names and memory.origin == "import" and all(there.get(name, True) for name in names):
            ours += 1
            if memory.id not in found.seen and f"{memory.id} standing {RETIRED}" not in against:
                lost[names[0]].append(memory)

    def steps(why: str) -> tuple[Step, ...]:
        return tuple(
            retiring(members, prefix + name, run_id, work.call.now, name in there, why)
            for name, members in sorted(lost.items())
        )

    count = sum(map(len, lost.values()))
    if is_much(count, ours):
        return steps(f"{prefix} lost {count} of its {ours} memories")
    changes = (change for step in steps("") for change in step.changes)
    return steps(interlock(state, changes, work.config.run.max_change_pct))


def _read(
    where: Path, format_: str, *, is_known: bool
) -> tuple[Mapping[str, bytes], Sequence[Problem]]:
    """Return the files that a format reads.

    Raise NothingToImport if there are none, except in a folder that was imported before.
    """
    if not os.path.lexists(where):
        raise NothingToImport(where, format_, "there is no such file or folder")
    if where.is_dir() and repository_of(where):
        raise UsageError(
            f"{where} belongs to a memrepo repository, which is never imported",
            fix="run `memrepo export jsonl` there, and import that file as jsonl",
        )
    wants = FORMATS[format_].wants
    read = _read_databases if FORMATS[format_].is_database else read_folder
    files, unread = read(where, wants)
    if format_ == "obsidian" and where.is_dir():
        for folder in ("**/Templates/", "**/templates/", *template_folders(where)):
            apart = [name for name in files if matches(name, folder)]
            files = {name: data for name, data in files.items() if name not in apart}
            unread += [_templates(apart)] if apart else []
    if not files and not is_known and (not unread or not where.is_dir()):
        found = unread[0].message if unread else f"found no file that an import of {format_} reads"
        raise NothingToImport(where, format_, found)
    return files, unread


def _templates(names: Sequence[str]) -> Problem:
    return Problem(
        path=f"{names[0].rpartition('/')[0]}/",
        rule="templates-passed-over",
        severity="warning",
        message=f"{counted(len(names), 'template was', 'templates were')} left out",
        fix="to import them too, name their folder",
    )


def _read_databases(
    where: Path, wants: Callable[[str], bool]
) -> tuple[dict[str, bytes], list[Problem]]:
    """Return a snapshot per database, by file name, including uncommitted WAL content."""
    import sqlite3

    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for place in sorted(where.iterdir()) if where.is_dir() else [where]:
        if not place.is_file() or (where.is_dir() and not wants(place.name)):
            continue
        try:
            with (
                closing(sqlite3.connect(f"{place.absolute().as_uri()}?mode=ro", uri=True)) as found,
                closing(sqlite3.connect(":memory:")) as copy,
            ):
                found.backup(copy)
                files[place.name] = copy.serialize()
        except sqlite3.Error as error:
            message, fix = f"could not be read as a database: {error}", "name another file"
            problems.append(
                Problem(path=place.name, rule="source-unreadable", message=message, fix=fix)
            )
    return files, problems
