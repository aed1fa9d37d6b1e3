"""`memrepo ingest`: copy the allowed files of the workspace to `sources/`, in one commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import prepare, retried
from memrepo.actions.work import MACHINE, DryRun, Reason, VerbResult, Work
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.ids import slugify, visible
from memrepo.core.layout import CLONES, home_of, in_workspace
from memrepo.core.messages import MAX_STEPS, PREFIX, Context, counted
from memrepo.core.secrets import clean_digests, scan_rules
from memrepo.core.state import Delete, Step, Write
from memrepo.core.times import format_time, local_day
from memrepo.read.kinds import SHIPPED_FILES
from memrepo.read.sources import SourceRules, distilled, kind_of
from memrepo.store import history, settings
from memrepo.store.git import scratch
from memrepo.store.workspace import (
    WorkspaceFiles,
    committed_times,
    find_unread,
    not_followed,
    read_workspace,
)

if TYPE_CHECKING:
    from memrepo.read.intake import Cursor, SourceText

INBOX = "inbox/"
NAMED = 3
_CLEAN = "clean"
_PRIVATE = "private-2"
"""The version of the rules by which private text is left out of copies."""
_IN_JSON = 50


class SourcesGone(MemrepoError):
    """Raised when the workspace is missing or empty, which a person must check first."""

    exit_code = Exit.DECIDE

    def __init__(self, what: str, fix: str = "check the workspace") -> None:
        super().__init__(f"{what}; nothing was ingested", fix=fix)


class SourcesTaken(MemrepoError):
    """Raised instead of replacing what another clone copied from its own workspace."""

    exit_code = Exit.DECIDE

    def __init__(self, work: Work, who: str, path: str) -> None:
        root = settings.workspace(work.store.repo) or Path()
        near = choose_folder(work, root)[1]
        super().__init__(
            f"{work.tree.layout.area('sources')} holds the workspace of {who}, and this one would"
            f" replace {path}; nothing was copied",
            fix=f"`memrepo init --from {root}` copies it to a folder of its own;"
            f"{to_join(work, near)}",
        )


class Unmatched(msgspec.Struct, frozen=True, kw_only=True):
    """The number of text files that match no configured pattern, and the first of these files."""

    count: int = 0
    paths: tuple[str, ...] = ()
    """Files, and folders with a trailing slash."""

    @property
    def summary(self) -> str:
        """Return the number of files and some names as text; empty if there are none."""
        if not self.count:
            return ""
        first = ", ".join(visible(name) for name in self.paths[:NAMED])
        more = f" and {self.count - NAMED} more" if self.count > NAMED else ""
        what = counted(self.count, "text file or folder", "text files or folders")
        return f"{what} that no pattern names: {first}{more}"


class Ingested(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an ingest. `commit` is empty if there was nothing to commit."""

    commit: str = ""
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    refused: tuple[Problem, ...] = ()
    unmatched: Unmatched = Unmatched()

    @property
    def is_pending(self) -> bool:
        """Return whether there are uncommitted changes, as after a dry run."""
        return not self.commit and bool(self.added or self.changed or self.removed)

    @property
    def summary(self) -> str:
        """Return the counts as text."""
        return summary(self.added, self.changed, self.removed)


def summary(added: Sequence[str], changed: Sequence[str], removed: Sequence[str]) -> str:
    """Return the numbers of added, changed and removed files as text; empty if all are zero."""
    counts = (("added", added), ("changed", changed), ("removed", removed))
    return ", ".join(f"{len(names)} {word}" for word, names in counts if names)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `ingest`."""

    dry_run: DryRun = False
    reason: Reason = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The ingested files. `commit` is empty if there was nothing to commit."""

    source: str
    """The folder that was read."""
    commit: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    refused: tuple[Problem, ...]
    unmatched: Unmatched


def do(work: Work, request: Request) -> Result:
    """Ingest the current files of the workspace."""
    work.require_writable()
    if not request.dry_run:
        work.store.recover()
    at = work.refreshed()
    done = take_in(
        at,
        dry_run=request.dry_run,
        reason=request.reason,
    )
    where = settings.workspace(at.store.repo) or at.store.root / at.tree.layout.area("sources")
    return Result(
        source=str(where),
        **msgspec.structs.asdict(done),
        notices=(*done.refused, *at.store.notices),
    )


def take_in(work: Work, *, dry_run: bool = False, reason: str = "") -> Ingested:
    """Mirror the workspace into `sources/`, including deletions. Inbox files are already there."""

    def attempt() -> Ingested:
        at = work if work.tree.commit == work.store.head() else work.refreshed()
        found = preview_ingest(at, dry_run=dry_run)
        if dry_run or not (found.fresh or found.done.removed):
            return found.done
        where = found.mirrored or at.tree.layout.area("sources")
        return _commit(at, found, reason or f"mirrored from workspace {where}")

    return retried(work.store, attempt)


class IngestPreview(msgspec.Struct, frozen=True, kw_only=True):
    """A preview of an ingest: its report, the bytes of new files, and the workspace name.

    `blobs` are the resulting blobs of `sources/` by path, and `times` when files were written.
    """

    done: Ingested
    fresh: Mapping[str, bytes]
    mirrored: str
    blobs: Mapping[str, str]
    times: Mapping[str, datetime]


def preview_ingest(work: Work, *, dry_run: bool = True) -> IngestPreview:
    """Return a preview of an ingest. Raises SourcesGone in the same cases as an ingest."""
    work.require_writable()
    found, mirrored = _desired(work, dry_run=dry_run)
    layout = work.tree.layout
    area = layout.area("sources")
    wanted = {area + name: data for name, data in found.files.items()}
    before = work.tree.files.below(area)
    own = before if not mirrored else [*own_copies(work), *work.tree.files.below(area + INBOX)]
    gone = [p for p in own if p not in wanted and not found.keeps(layout.source_name(p))]
    ids = {path: work.store.work.blob_id(data) for path, data in wanted.items()}
    fresh = {path: data for path, data in wanted.items() if before.get(path) != ids[path]}
    if mirrored and not settings.get(work.store.repo, settings.FOLDER):
        replaced = [p for p in own_copies(work) if p in fresh or p in gone]
        who = copied_by_other_person(work) if replaced else ""
        if who and not is_copy_of(own_copies(work), ids):
            raise SourcesTaken(work, who, replaced[0])
    done = Ingested(
        added=tuple(sorted(p for p in fresh if p not in before)),
        changed=tuple(sorted(p for p in fresh if p in before)),
        removed=tuple(sorted(gone)),
        refused=found.problems,
        unmatched=find_unmatched(work),
    )
    stays = {p: blob for p, blob in before.items() if p not in gone}
    blobs = {**stays, **{p: ids[p] for p in fresh}}
    return IngestPreview(done=done, fresh=fresh, mirrored=mirrored, blobs=blobs, times=found.times)


def _desired(work: Work, *, dry_run: bool) -> tuple[WorkspaceFiles, str]:
    """Return the desired contents of `sources/` and, if there is one, the mirrored workspace.

    Digests of files without secrets are cached, together with the scan rules. Unchanged files are
    not scanned again.
    """
    path, rules = work.store.folder / _CLEAN, f"{scan_rules()} {_PRIVATE}"
    before = path.read_text("ascii", "replace").split("\n") if path.is_file() else [""]
    known = frozenset(before[1:]) if before[0] == rules else frozenset[str]()
    with suppress(ValueError):  # ignore a damaged cache and scan everything
        clean_digests().update(map(bytes.fromhex, known))
    found, mirrored = _read(work)
    if not dry_run and found.clean != known:
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join((rules, *sorted(found.clean)))
        scratch(path.parent, f".{_CLEAN}.", text.encode("ascii")).replace(path)
    return found, mirrored


def _read(work: Work) -> tuple[WorkspaceFiles, str]:
    """Read the workspace and the inbox or, if there is no workspace, all of `sources/`."""
    rules, layout = work.config.source_rules(), work.tree.layout
    root, area = settings.workspace(work.store.repo), layout.area("sources")
    own, only = WorkspaceFiles(files={}, refused=frozenset(), problems=()), INBOX if root else ""
    if work.store.work.linked(area.rstrip("/")):
        own = not_followed(area, only)
    elif (work.store.root / area).is_dir():
        own = read_workspace(work.store.root / area, rules, only=only, original=True)
    found, what = own, f"no file of {area} is in the work tree"
    fix = f"`git restore --source=HEAD --staged --worktree {area}` checks them out"
    if root is not None:
        if not root.is_dir():
            raise SourcesGone(f"the workspace {root} does not exist")
        found = _read_workspace(work, root)
        what = f"the workspace {root} contains no file that runs may read"
        fix = "check the workspace path and the patterns in sources.claims of memrepo.toml"
    if not (found.files or found.refused) and own_copies(work):
        raise SourcesGone(what, fix=fix)
    if root is None:
        return own, ""
    folder = settings.folder(work.store.repo)
    united = WorkspaceFiles(
        files={**own.files, **{folder + name: data for name, data in found.files.items()}},
        refused=own.refused | {folder + name for name in found.refused},
        problems=found.problems + own.problems,
        clean=found.clean | own.clean,
        times={**own.times, **{folder + name: time for name, time in found.times.items()}},
    )
    return united, root.name


def _read_workspace(work: Work, root: Path) -> WorkspaceFiles:
    return read_workspace(root, workspace_rules(work), home=work.store.root.resolve())


def workspace_rules(work: Work) -> SourceRules:
    """Return the rules for a workspace, in which no folder may look like that of another clone."""
    rules = work.config.source_rules()
    return replace(rules, deny=(*rules.deny, CLONES))


def own_copies(work: Work, folder: str | None = None) -> dict[str, str]:
    """Return the blobs of the copies in a folder of `sources/`, by path: by default, in our own."""
    folder = settings.folder(work.store.repo) if folder is None else folder
    area = work.tree.layout.area("sources")
    others = (area + INBOX, area + CLONES) if not folder else ()
    below = work.tree.files.below(area + folder).items()
    return {path: blob for path, blob in below if not path.startswith(others)}


def copied_by_other_person(work: Work, folder: str = "") -> str:
    """Return the other person who last copied a workspace to a folder of `sources/`, or "".

    What this clone copied is its own, whoever it was: it records the commit of its last copy.
    A workspace inside the repository has no other person's copies.
    """
    repo, area, record = work.store.repo, work.tree.layout.area("sources"), _record(work)
    if _is_inside(work, settings.workspace(repo)):
        return ""
    is_ours = not folder and record.is_file()
    since = record.read_text("ascii", "replace").strip() if is_ours else ""
    known = work.store.resolve(since)
    if since and not (known and work.store.is_ancestor(known, work.tree.commit)):
        return ""  # the history was rewritten, as by a purge
    others = (f":(top,exclude){area}{name}" for name in (INBOX, CLONES) if not folder)
    copied = f"--grep=^{PREFIX}Op: ingest$"
    after = [f"^{since}"] if since else []
    words = ("-1", copied, work.tree.commit, *after, "--", f":(top){area}{folder}", *others)
    found = history.entries(repo, *words, env={"GIT_LITERAL_PATHSPECS": "0"})
    return next(map(work.other_person, found), "")


def _is_inside(work: Work, root: Path | None) -> bool:
    return root is not None and root.resolve().is_relative_to(work.store.root.resolve())


def is_copy_of(copies: Mapping[str, str], ids: Mapping[str, str]) -> bool:
    """Return whether most copies are as in a workspace, apart from files that each agent has."""
    chosen = _own_files(copies)
    return 2 * sum(ids.get(path) == blob for path, blob in chosen.items()) > len(chosen)


def _own_files(copies: Mapping[str, str]) -> Mapping[str, str]:
    """Return the copies without files that each agent has, or all if there are no others."""
    return {p: b for p, b in copies.items() if in_workspace(p) not in SHIPPED_FILES} or copies


def choose_folder(work: Work, root: Path) -> tuple[str, str | None]:
    """Return the folder of `sources/` for a workspace, and the one that may hold it, if any.

    The folder is the one that surely holds it, or `sources/` itself while that is free, or a new
    one, named after the person and the clone.
    """
    if _is_inside(work, root):
        return "", None
    area, files = work.tree.layout.area("sources"), _read_workspace(work, root).files
    blobs = {name: work.store.work.blob_id(data) for name, data in files.items()}
    lines = _lines(files.values())
    homes = {home_of(p).removeprefix(area) for p in work.tree.files.below(area + CLONES)}
    found: list[tuple[bool, bool, float, str]] = []
    for folder in ("", *homes):
        copies = own_copies(work, folder)
        held = _lines(work.tree.files.each([*_own_files(copies).items()]))
        share = len(held & lines) / max(1, len(held))
        is_own = not copied_by_other_person(work, folder)
        ids = {area + folder + name: blob for name, blob in blobs.items()}
        fits = bool(copies) and is_copy_of(copies, ids)
        found.append((fits or (is_own and share >= _SAME), is_own, share, folder))
    is_this, is_own, share, near = max(found)
    if is_this or not own_copies(work, ""):
        return near if is_this else "", None
    repo = work.store.repo
    name = slugify(settings.get(repo, settings.CLONE) or settings.person(repo)[0] or root.name)
    return f"{CLONES}{name}-{settings.clone_id(repo)[:4]}/", near if is_own or share else None


def _lines(texts: Iterable[bytes]) -> set[bytes]:
    """Return the lines of texts, without headings, which many workspaces share."""
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return {line for line in lines if line and not line.startswith(b"#")}


_SAME = 0.8
"""The share of the lines of a person's copies that the same workspace still has. Two agents of one
person may share more than half of their lines."""


def to_join(work: Work, folder: str | None, first: str = "") -> str:
    """Return advice for the case that a folder of `sources/` holds this workspace already."""
    if folder is None:
        return ""
    where = work.tree.layout.area("sources") + folder
    config = f"`git config {settings.FOLDER} {folder.rstrip('/') or '.'}`"
    who = copied_by_other_person(work, folder) or "you"
    return f"; if it is the workspace that {who} copied to {where}: {first}{config}"


def _record(work: Work) -> Path:
    """Return the file that records the last commit by which this clone copied its workspace."""
    return work.store.folder / "copied"


def find_unmatched(work: Work) -> Unmatched:
    """Return the unmatched text files in the workspace or, if there is none, in `sources/`."""
    rules, area = workspace_rules(work), work.tree.layout.area("sources")
    root, own = settings.workspace(work.store.repo), work.store.root / area
    found = [*find_unread(root, rules, home=work.store.root.resolve())] if root else []
    if own.is_dir() and not work.store.work.linked(area.rstrip("/")):
        found += find_unread(own, rules, only=INBOX if root else "")
    names = sorted({one.name for one in found if not one.denied})
    return Unmatched(count=len(names), paths=tuple(names[:_IN_JSON]))


def _commit(work: Work, found: IngestPreview, reason: str) -> Ingested:
    done, fresh = found.done, found.fresh
    rows = (("added", done.added), ("changed", done.changed), ("removed", done.removed))
    layout = work.tree.layout
    files = [(word, layout.source_name(name)) for word, names in rows for name in names]
    one = " ".join(files[0]) if len(files) == 1 else ""
    step = Step(
        op="ingest",
        what=f"Copy sources: {one or done.summary}",
        reason=reason,
        changes=(
            *(Write(path=path, data=data) for path, data in sorted(fresh.items())),
            *(Delete(path=path) for path in done.removed),
        ),
    )
    lines = [f"{word} {name}" for word, name in files[:MAX_STEPS]]
    rest = len(files) - len(lines)
    lines += [f"and {rest} more"] if rest else []
    context = Context(actor=MACHINE, lines=tuple(lines), written=tuple(_written(work, found)))
    tree, now = work.tree, work.call.now
    landing = prepare(work.store, tree.state(), tree.commit, (step,), context, now)
    commit = work.store.land(landing.chain, "ingest")
    if found.mirrored and not settings.folder(work.store.repo):
        _record(work).write_text(f"{commit}\n", "ascii")
    return replace(done, commit=commit)


def _written(work: Work, found: IngestPreview) -> Iterator[str]:
    """Yield a time and a path for each copied file whose text was written before today.

    The time is that of the last commit in the workspace's own history, or of the file.
    """
    layout, root, zone = work.tree.layout, settings.workspace(work.store.repo), work.config.zone
    files = {layout.source_name(path): data for path, data in found.fresh.items()}
    times = dict(found.times)
    if root is not None:
        folder = settings.folder(work.store.repo)
        own = {n.removeprefix(folder): d for n, d in files.items() if not n.startswith(INBOX)}
        times |= {folder + name: time for name, time in committed_times(root, own).items()}
    today = local_day(work.call.now, zone)
    for path, name in sorted(zip(found.fresh, files, strict=True)):
        if name in times and local_day(times[name], zone) < today:
            yield f"{format_time(times[name])} {path}"


def workspace_of(where: Path) -> Path:
    """Return the absolute form of a workspace path that a person entered."""
    return where.expanduser().absolute()


def texts_at(
    work: Work, cursor: Mapping[str, Cursor], blobs: Mapping[str, str] | None = None
) -> list[SourceText]:
    """Return the sources that runs distil, in path order, then those read before that are no more.

    They are gone, or are no longer distilled.

    `blobs`, if given, replaces the blobs of the commit. Changed files are then dated now.
    """
    from memrepo.read.intake import SourceText

    layout, rules = work.tree.layout, work.config.source_rules()
    area = layout.area("sources")
    here = work.tree.files.below(area)
    blobs = here if blobs is None else blobs
    names = {path: layout.source_name(path) for path in sorted(blobs) if path.startswith(area)}
    read = {path: layout.source_name(path) for path in sorted(cursor) if any(cursor[path])}
    kinds = distilled(names.values(), rules, {*read.values()})
    paths = [path for path, name in names.items() if name in kinds]
    fresh = [p for p in paths if cursor.get(p) != (blobs[p], blobs[p])]
    when = dict.fromkeys(fresh, work.call.now)
    old = [p for p in fresh if here.get(p) == blobs[p]]
    when |= history.last_changed(work.store.repo, work.tree.commit, old)
    dated = history.last_changed(work.store.repo, work.tree.commit, old, recorded=True)
    present = [
        SourceText(
            name=names[path],
            resource=path,
            blob=blobs[path],
            kind=kinds[names[path]],
            committed=local_day(when[path], work.config.zone) if path in when else "",
            is_dated=path in dated,
            as_kind=rules.configured_kind(names[path]),
        )
        for path in paths
    ]
    gone = [
        SourceText(
            name=name,
            resource=path,
            blob="",
            kind="notes" if kind_of(name, rules) == "notes" else "claims",
            committed="",
        )
        for path, name in read.items()
        if name not in kinds
    ]
    return [*present, *gone]
