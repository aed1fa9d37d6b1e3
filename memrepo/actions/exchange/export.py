"""`memrepo export`: write the memories to a folder in another program's format."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from memrepo.actions.recall.lookup import heading, work_at
from memrepo.actions.work import At, VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.ids import strip_deceptive
from memrepo.core.layout import AREAS, stamped, standing_of
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.ageing import nominated
from memrepo.store import history, run_files
from memrepo.store.ledger import ledger_of
from memrepo.store.settings import append_local, workspace
from memrepo.views.artifacts import Export, Exported, artifacts
from memrepo.views.bundles import (
    REFCOUNT,
    REPORT,
    Logged,
    hygiene_files,
    jsonl,
    layer_pages,
    refcount_file,
    report,
)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo export`."""

    format: Annotated[
        str,
        option(
            "artifacts (the purifier's files), jsonl (one memory per line) or refcount (the"
            " notes' tracker and report)",
            metavar="FORMAT",
            choices=tuple(_FORMATS),
        ),
    ]
    dir: Annotated[str, option("the folder to write, outside the repository", metavar="DIR")]
    force: Annotated[bool, option("write into a folder that is not empty", "--force")] = False
    at: At = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The written files, and the numbers of memories that were left out."""

    format: str
    path: str
    commit: str
    files: tuple[str, ...]
    counts: Mapping[str, int]
    left_out: Mapping[str, int]
    warnings: tuple[Problem, ...]
    heading: tuple[str, ...] = ()
    """The time of the exported state, if it is not the current time."""


def do(work: Work, request: Request) -> Result:
    """Export the memories at HEAD or at another time, without changing the repository."""
    where = (work.call.where / request.dir).absolute()
    refuse_place(work, where, force=request.force)
    there = work_at(work, request.at)
    state = there.tree.state()
    made = _FORMATS[request.format](there, state)
    place(where, made.files)
    return Result(
        format=request.format,
        path=str(where),
        commit=there.tree.commit,
        files=tuple(sorted(made.files)),
        counts=dict(made.counts),
        left_out=dict(made.left_out),
        warnings=made.problems,
        heading=tuple(heading(there, request.at)),
        notices=(*state.problems, *made.problems),
    )


def write_runtime(work: Work, folder: Path) -> tuple[Problem, ...]:
    """Write the artifacts to a workspace's runtime folder. Return a problem if writing fails."""
    try:
        made = _artifacts(work, work.tree.state())
        place(folder, made.files)
        root = work.store.root.resolve()
        if folder.resolve().is_relative_to(root):
            names = (folder.resolve() / name for name in made.files)
            lines = [f"/{path.relative_to(root).as_posix()}" for path in names]
            append_local(work.store.repo, "exclude", lines)
    except (MemrepoError, OSError) as error:
        return (_unwritten(folder, str(getattr(error, "message", error))),)
    return ()


def write_layers(work: Work) -> tuple[Problem, ...]:
    """Write `memory/hygiene.json` and `memory/LAYER.md` into the work tree, where git ignores them.

    These files are derived from memories and ledger. Files written by others are not overwritten.
    If the work tree is also the workspace, only the tracker is written, because layers would be
    read as sources.
    """
    state, root, prefix = work.tree.state(), work.store.root, work.tree.layout.prefix
    hygiene = _hygiene(work, state)
    read = workspace(work.store.repo)
    is_read = read is not None and read.resolve() == root.resolve()
    layers = {} if is_read else layer_pages(state)
    pages = {path: stamped("layer", text) for path, text in layers.items()}
    found: list[Problem] = []
    for path in sorted((root / prefix / "memory").glob("*.md")):
        name = path.relative_to(root / prefix).as_posix()
        if is_read or standing_of("layer", path.read_bytes()) == "foreign":
            if pages.pop(name, None) is not None:
                found.append(_unwritten(path, "contains text that memrepo did not write"))
        elif name not in pages:
            path.unlink()
    pages |= {f"memory/{name}": data for name, data in hygiene.files.items()}
    append_local(work.store.repo, "exclude", [f"/{prefix}{name}" for name in pages])
    drafts = root / prefix / ".memrepo" / "drafts"  # git ignores what a crash leaves there
    shutil.rmtree(drafts, ignore_errors=True)
    drafts.mkdir(parents=True, exist_ok=True)
    for name, data in pages.items():
        try:
            run_files.write_file(root / prefix / name, data.decode(), within=root, draft_in=drafts)
        except OSError as error:
            found.append(_unwritten(root / prefix / name, error.strerror or str(error)))
    return (*hygiene.problems, *found)


def _unwritten(path: Path, why: str) -> Problem:
    return Problem(
        path=str(path),
        rule="live-unwritten",
        severity="warning",
        message=f"was not written: {why}",
        fix='reduce the other layers, or set `lifecycle.profile = "evidence"`',
    )


def _artifacts(work: Work, state: State) -> Exported:
    config = work.config
    export = Export(state, profile=config.profile, zone=config.zone, now=work.call.now)
    return artifacts(export, config.source_rules())


def _jsonl(work: Work, state: State) -> Exported:
    """Return the line of every memory that was neither forgotten nor rejected."""
    del work
    stones = tombstones_in(state)
    shown: list[Memory] = []
    left: Counter[str] = Counter()
    for memory in state.memories.values():
        if stones.find_barring(memory) is not None:
            left["rejected"] += 1
        elif memory.status == "forgotten":
            left["forgotten"] += 1
        else:
            shown.append(memory)
    return Exported(files=jsonl(shown), counts={"memories": len(shown)}, left_out=dict(left))


def _hygiene(work: Work, state: State) -> Exported:
    """Return hygiene.json and its monthly logs, computed from memories, ledger and history."""
    files = hygiene_files(
        state.memories, ledger_of(work.store).accesses(), _logged(work), work.call.now
    )
    return Exported(files=files, counts={"files": len(files)}, left_out={})


def _logged(work: Work) -> Iterator[Logged]:
    for entry in history.entries(work.store.repo, work.tree.commit):
        if entry.op in ("promote", "demote", "archive"):
            for id_ in entry.trailers.get("Memory", ()):
                yield Logged(
                    op=entry.op, memory=id_, when=entry.when, reason=entry.trailer("Reason")
                )


def _refcount(work: Work, state: State) -> Exported:
    """Return the contents of refcount.json and promote_report.md."""
    accesses, rules = ledger_of(work.store).accesses(), work.config.rules.tiers
    notes = [m for m in state.active if m.is_note]
    found = nominated(notes, accesses, work.call.now, rules)
    files = {
        REFCOUNT: refcount_file(notes, accesses, work.call.now, rules),
        REPORT: "".join(f"{line}\n" for line in report(found)).encode(),
    }
    counts = {"notes": len(notes), "nominated": len(found)}
    return Exported(files=files, counts=counts, left_out={})


_Make = Callable[[Work, State], Exported]
_FORMATS: Mapping[str, _Make] = {
    "artifacts": _artifacts,
    "jsonl": _jsonl,
    "refcount": _refcount,
}


class NoPlace(MemrepoError):
    """Raised when a folder cannot receive an export."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, why: str, fix: str) -> None:
        super().__init__(f"{where}: {why}; nothing was written", fix=fix)


def refuse_place(work: Work, where: Path, *, force: bool) -> None:
    """Raise NoPlace if an export would overwrite files of the repository.

    Without `force`, the folder must be empty.
    """
    if where.resolve() == work.store.root.resolve() or _is_own(work, where):
        raise NoPlace(where, "is the repository's own", "name a folder outside of it")
    if where.exists() and not where.is_dir():
        raise NoPlace(where, "is a file, expected a folder", "name another folder")
    if where.is_dir() and any(where.iterdir()) and not force:
        raise NoPlace(
            where, "is not empty", "name a new folder, or --force to replace the files in it"
        )


def _is_own(work: Work, where: Path) -> bool:
    """Return whether a path is inside a git or memrepo folder, after resolving symbolic links."""
    root, real = work.store.root.resolve(), where.resolve()
    own = [root / f"{work.tree.layout.prefix}{area}" for area in AREAS]
    own += [root / ".git", work.store.repo.git_dir, work.store.repo.common_dir]
    return any(real.is_relative_to(path.resolve()) for path in own)


def place(where: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder, each one atomically. Other files there are not changed.

    Invisible characters could hide instructions from whoever looks at the files, so they are left
    out.
    """
    for name in files:
        if (where / name).is_dir() and not (where / name).is_symlink():
            raise NoPlace(where / name, "is a folder, expected a file", "move it away")
    for name, data in files.items():
        text = strip_deceptive(data.decode("utf-8", "replace"))
        run_files.write_file(where.resolve() / name, text, within=None)
