"""`memrepo export`: write the memories to a folder in another program's format.

The formats are memory-purifier's artifacts (`views/artifacts.py`), JSON objects, hygiene.json and
its monthly logs (lineage: layered-memory-manager), and refcount.json (lineage: context-clear). Log
entries older than 180 days move to the file of their month. If the tracker is still too large, the
oldest months move too.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from memrepo.actions.recall.lookup import heading, work_at
from memrepo.actions.work import At, VerbResult, Work, option
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.ids import strip_deceptive, visible
from memrepo.core.layout import AREAS, stamped, standing_of
from memrepo.core.manifest import Access
from memrepo.core.memory import FIELDS, Memory, defaults_of, node_of
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State
from memrepo.formats.readers import spell_lines
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.ageing import effective, nominated
from memrepo.policies.hotcache import RETENTION, hot_of, unused
from memrepo.store import history, run_files
from memrepo.store.run_files import Ledger
from memrepo.store.settings import append_local, workspace
from memrepo.views.artifacts import Export, Exported, artifacts


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


def jsonl(memories: Iterable[Memory]) -> dict[str, bytes]:
    """Return one JSON lines file with the memories by path."""
    ordered = sorted(memories, key=lambda m: m.path)
    return {"memories.jsonl": spell_lines(map(memory_json, ordered))}


def memory_json(memory: Memory) -> dict[str, object]:
    """Return a memory's path, layer, fields and text as JSON values."""
    given = {**memory.fields, **({"sources": memory.sources} if memory.sources else {})}
    fields = {f.name: _value(given[f.name]) for f in FIELDS if f.name in given}
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def _value(value: Any) -> Any:
    match value:
        case msgspec.Struct():
            defaults = defaults_of(type(value))
            names = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
            parts = ((key, getattr(value, name), defaults[name]) for key, name in names)
            return {key: _value(part) for key, part, default in parts if part != default}
        case tuple():
            return [_value(part) for part in value]
        case bool() | int() | float():
            return value
        case _:
            return str(node_of(value))


def layer_pages(state: State) -> dict[str, str]:
    """Return the whole text of active memories as `memory/LAYER.md` pages, by path."""
    layers: dict[str, list[Memory]] = defaultdict(list)
    for memory in state.active:
        if memory.type not in ("note", "chunk"):
            layers[memory.layer].append(memory)
    return {
        f"memory/{layer}.md": f"# {layer.capitalize()}\n\n{''.join(map(_bullet, members))}"
        for layer, members in sorted(layers.items())
    }


def _bullet(memory: Memory) -> str:
    text = _safe_text(memory.body or memory.title).replace("\n", "\n  ")
    return f"- {text}\n".encode("utf-8", "replace").decode()


def _safe_text(text: str) -> str:
    """Escape HTML comments in a text, since some programs treat comments as commands."""
    return visible(without_secrets(text)).replace("\\<!--", "<!--").replace("<!--", "&lt;!--")


SIZE = 50 * 1024
WEEK = 7
_LOGS = {"promotionLog": ("promote", "L2", "L1"), "demotionLog": ("demote", "L1", "L2")}
"""The logs of hygiene.json: the operation, and the layers between which it moves a memory."""


def _file_key(memory: Memory) -> str:
    """Return a memory's name in the log of memory files: `memory/<layer>.md:<slug>`."""
    return f"memory/{memory.layer}.md:{memory.slug}"


def _hygiene(work: Work, state: State) -> Exported:
    """Return hygiene.json and its monthly logs, computed from memories, ledger and history.

    Memories without an access are omitted, except those that left the hot cache, whose count
    restarts.
    """
    accesses, now = Ledger(work.store).accesses(), work.call.now
    events = defaultdict[str, list[tuple[datetime, str, str]]](list)
    for entry in history.entries(work.store.repo, work.tree.commit):
        if entry.op in ("promote", "demote", "archive"):
            for id_ in entry.trailers.get("Memory", ()):
                events[entry.op].append((entry.when, id_, entry.trailer("Reason")))
    hot, cold, archived = dict[str, Any](), dict[str, Any](), list[Any]()
    for memory in sorted(state.memories.values(), key=lambda m: m.path):
        if memory.type in ("note", "chunk") or memory.status not in ("active", "archived"):
            continue
        left = memory.hot
        if hot_of(memory) is not None:
            last = next(iter(accesses.of(memory.id).recent), None)
            hot[f"{memory.layer}:{memory.slug}"] = {
                "sessionsSinceAccess": unused(memory, accesses, now),
                "lastAccess": _day(accesses.of(memory.id).last),
                "lastSessionId": last[1] if last else None,
                "pinned": memory.pinned,
            }
        elif memory.status == "active":
            recent = accesses.of(memory.id).since(left.until if left is not None else None)
            if recent or left is not None:
                sessions = sorted({id_ for _, id_ in recent})
                cold[_file_key(memory)] = {
                    "accessCount": len(sessions),
                    "sessions": sessions,
                    "lastAccess": _day(Access(recent=tuple(recent)).last),
                }
        if memory.status == "archived":
            mine = sorted(one for one in events["archive"] if one[1] == memory.id)
            reason = mine[-1][2] if mine else ""
            at = _day(memory.archived_at)
            archived.append({"entry": _file_key(memory), "archivedAt": at, "reason": reason})
    logs = {name: _log(events[op], op, ends, state) for name, (op, *ends) in _LOGS.items()}
    tracker = {"L1accessLog": hot, "accessLog": cold, **logs, "archiveQueue": archived}
    files = _cut(tracker, (now - RETENTION).date().isoformat())
    return Exported(files=files, counts={"files": len(files)}, left_out={})


def _log(
    events: Sequence[tuple[datetime, str, str]], op: str, ends: Sequence[str], state: State
) -> list[dict[str, str]]:
    """Return the log entries of one operation, oldest first."""
    rows, newest = [], set[str]()
    for when, id_, reason in sorted(events, reverse=True):
        if (memory := state.memories.get(id_)) is None:
            continue
        hot = memory.hot
        known = None if hot is None else hot.since if op == "promote" else hot.until
        at = when if id_ in newest or known is None else known
        newest.add(id_)
        row = {"entry": _file_key(memory), "from": ends[0], "to": ends[1]}
        rows.append({**row, "at": at.date().isoformat(), "reason": reason})
    return rows[::-1]


def _cut(tracker: dict[str, Any], oldest: str) -> dict[str, bytes]:
    """Move old log entries to monthly files, and more months while the tracker is too large."""
    months: dict[str, dict[str, list[object]]] = defaultdict(lambda: {name: [] for name in _LOGS})
    while rows := sorted(row["at"] for name in _LOGS for row in tracker[name]):
        if rows[0] >= oldest and len(_spelled(tracker)) <= SIZE:
            break
        month = rows[0][:7]
        for name in _LOGS:
            moved = [
                r
                for r in tracker[name]
                if r["at"][:7] == month and (r["at"] < oldest or rows[0] >= oldest)
            ]
            months[month][name] += moved
            tracker[name] = [r for r in tracker[name] if r not in moved]
    files = {f"hygiene-log-{month}.json": _spelled(logs) for month, logs in sorted(months.items())}
    return {"hygiene.json": _spelled(tracker), **files}


def _day(when: datetime | None) -> str | None:
    return when.date().isoformat() if when is not None else None


def _spelled(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False, indent=1).encode() + b"\n"


def _refcount(work: Work, state: State) -> Exported:
    """Return refcount.json, which has each note's retrievals, and the report of nominated notes."""
    accesses, rules = Ledger(work.store).accesses(), work.config.rules.tiers
    now, notes = work.call.now, [m for m in state.active if m.is_note]
    found: dict[str, dict[str, object]] = {}
    for note in sorted(notes, key=lambda m: m.path):
        access = accesses.of(note.id)
        created = note.created
        found[f"{effective(note, access, now, rules)}/{note.slug}.md"] = {
            "total": access.total,
            "7d": access.within(WEEK, now),
            "timestamps": sorted(at for at, _ in access.recent),
            "user_marked": note.user_marked,
            "summarized": "gist" in note.fields,
            "created": int(created.timestamp()) if created else 0,
            **({"promoted": True} if note.promoted else {}),
        }
    rows = nominated(notes, accesses, now, rules)
    lines = ["# Promotion report", "", f"{counted(len(rows), 'note is', 'notes are')} nominated."]
    for one in rows:
        last = f", last {one.last}" if one.last else ""
        lines += ["", f"## {one.name}", "", f"- file: `{one.path}`"]
        lines += [f"- retrievals: {one.retrievals}{last}", f"- why: {', '.join(one.why)}"]
        lines += [f"- destination: {one.destination}"]
    report = "".join(f"{line}\n" for line in lines).encode()
    files = {"refcount.json": _spelled(found), "promote_report.md": report}
    return Exported(files=files, counts={"notes": len(notes), "nominated": len(rows)}, left_out={})


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
