"""The one writer: a chain of commits through one fast-import stream, then a fast-forward.

The rules and their reasons: docs/git-model.md, "How a run writes". A write notes in a journal what
it does; what a crash left is finished or reverted by the next command, before it looks at anything.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict, replace

from memrepo.core.errors import MemrepoError
from memrepo.core.layout import Layout
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.store.git import GitFailed, isolate, refuse_no_git, seconds
from memrepo.store.local import (
    NotARepository,
    NoWorkTree,
    find_layout,
    known,
    opened,
    refuse_other_root,
    replacement_of,
)
from memrepo.store.lock import (
    BranchMoved,
    BranchSwitched,
    CannotWork,
    GitAtWork,
    NotAsExpected,
    branch_of,
    git_alive,
    lock,
    may_switch,
    refuse_unfit,
    uninterrupted,
)
from memrepo.store.tree import Snapshot, Snapshots
from memrepo.store.worktree import FilesInTheWay, Sides, WorkTree

if TYPE_CHECKING:
    from memrepo.store.local import Repo
    from memrepo.store.stream import Chain

__all__ = (
    "TX",
    "BranchMoved",
    "CannotWork",
    "FilesInTheWay",
    "NotAsExpected",
    "Repository",
    "open_repository",
)

WRITE_WAIT_S = 60.0
SWITCH_S = 0.5
"""How long a write waits where something is staged and a git may be about to move HEAD."""
_PAUSE_S = 0.02
LOOSE = 256
"""Loose objects above which a run packs them: each takes a block of the disk."""
_GIT_LOOSE = 6700
"""When git itself packs, unless a person says otherwise (git-gc(1))."""
_WINDOW = 250
"""Among how many objects the base of a delta is searched where a repository is small."""
_SMALL = 20_000
"""Up to how many objects, and kibibytes, everything is packed again."""
LONGEST_REVISION = 1000
_COMMITTED = regex(rb"^committer .*> (\d+) [+-]\d+$", re.MULTILINE)


class Repository:
    """A memory repository: its git repository, layout, and the only way to write to it.

    `notices` are findings of the writer itself, such as a write that a crash had cut short. With
    `expected` a chain lands on that commit (or its first digits) and on no other.
    """

    def __init__(
        self,
        repo: Repo,
        layout: Layout,
        resume: Callable[[Repository], object] | None = None,
    ) -> None:
        """Take a git repository; `resume` finishes a purge that was cut short (`store.purges`)."""
        self.repo = repo
        self._resume = resume
        self.layout = layout
        self.notices: list[Problem] = []
        self._bound = ""
        self.expected = ""
        self.trees = Snapshots(repo)
        self._held: tuple[int, ...] = ()
        self._landed: list[Journal] = []

    @cached_property
    def work(self) -> WorkTree:
        """Return the index and work tree."""
        return WorkTree(self.repo)

    @property
    def root(self) -> Path:
        """Return the work tree's folder."""
        return self.work.root

    @cached_property
    def folder(self) -> Path:
        """Return memrepo's own folder in the common git directory: locks and index."""
        return Path(self.repo.common_dir) / "memrepo"

    @cached_property
    def journals(self) -> Path:
        """Return the folder of this work tree's journal."""
        return Path(self.repo.git_dir) / "memrepo"

    @property
    def branch(self) -> str:
        """Return the full name of the branch HEAD names; raises CannotWork when detached."""
        return branch_of(self.branch_or_none)

    @property
    def branch_or_none(self) -> str:
        """Return the full name of the branch HEAD names, or an empty string when detached."""
        return self.repo.refs.branch

    def head(self) -> str:
        """Return the id of the commit at HEAD, or an empty string on a branch not yet born."""
        return self.repo.refs.head

    def resolve(self, revision: str) -> str:
        """Return the commit id a person's revision names, or an empty string."""
        if len(revision) > LONGEST_REVISION or "\0" in revision:
            return ""
        known = self.repo.light.objects.commit(revision)
        return known or replacement_of(self.repo, revision)

    def is_ancestor(self, commit: str, head: str) -> bool:
        """Return whether a commit is part of a head's history."""
        if commit == head:
            return True
        return self.repo.light.ask("rev-list", "--count", "-1", commit, f"^{head}").strip() == "0"

    def common_ancestors(self, commits: Sequence[str]) -> list[str]:
        """Return the best common ancestors of all commits; of two these are their merge bases."""
        form = () if len(commits) == 2 else ("--octopus",)
        return self.repo.light.ask("merge-base", "--all", *form, *commits, no=1).split()

    def parents(self, commit: str) -> list[str]:
        """Return the parents of a commit."""
        return self.repo.light.ask("rev-list", "-1", "--parents", commit, "--").split()[1:]

    def snapshot(self, commit: str) -> Snapshot:
        """Return the tree of a commit."""
        return self.trees.at(commit, self.layout)

    def paths(self, commit: str) -> frozenset[str]:
        """Return every path in a commit's tree, memrepo's or not."""
        return frozenset(path for path, _ in self.repo.light.objects.files(commit))

    def commit_time(self, commit: str) -> datetime:
        """Return a commit's committer date."""
        said = _COMMITTED.search(self.repo.light.objects.read(commit).split(b"\n\n", 1)[0])
        return datetime.fromtimestamp(seconds(said[1].decode() if said else ""), tz=UTC)

    def not_before(self, now: datetime, base: str) -> datetime:
        """Return the date a commit on `base` gets: never before its parent's (rulings, 5)."""
        return max(now, self.commit_time(base)) if base else now

    # -- locks and recovery ------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the run lock: a second run gives up at once with Locked."""
        with lock(self.folder, "run"):
            self._bound = self.branch_or_none
            try:
                yield
            finally:
                self._bound = ""

    def refuse_switched(self) -> None:
        """Raise BranchSwitched where a run began on another branch than the one at HEAD."""
        if self._bound and self.branch_or_none != self._bound:
            raise BranchSwitched(self._bound, self.branch_or_none)

    @contextmanager
    def syncing(self) -> Iterator[None]:
        """Hold the sync lock: two syncs of one clone follow each other."""
        with lock(self.folder, "sync", wait_s=WRITE_WAIT_S):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock, after finishing or reverting what a crash left; may be nested."""
        if self._held:
            yield
            return
        with lock(self.folder, "write", wait_s=WRITE_WAIT_S) as descriptor:
            self._held = (descriptor,)
            try:
                self._recover()
                yield
            finally:
                self._held = ()

    def recover(self) -> None:
        """Finish or revert what a crash left, where something was left."""
        if load_journal(self.journals) is not None or self._is_purged_half():
            with self.writing():
                pass

    def _is_purged_half(self) -> bool:
        return (Path(self.repo.common_dir) / "memrepo-purge" / "ready.json").exists()

    def _recover(self) -> None:
        if self._is_purged_half():
            if self._resume is None:
                raise CannotWork(
                    "a purge was cut short", fix="`memrepo status` finishes it, then try again"
                )
            self._resume(self)
        left = load_journal(self.journals)
        if left is not None:
            self.refuse_unfit()
            drop_locks(self.repo, left, journal_written_at(self.journals))
            if left.tip and not is_landed(self.repo, left, self.head()):
                self._finish(left)
        sweep(self.repo, self.journals)
        clear_journal(self.journals)

    def _finish(self, left: Journal) -> None:
        """Bring an interrupted write to its end, or to its beginning where it cannot end."""
        if self.head() == left.base and self.branch_or_none == left.branch:
            changed = self.work.changed(left.base, left.tip)
            mend_halves(self.work, left, changed)
            try:
                way = self.work.clear_way(left.base, changed)
                self._forward(replace(left, adopted=way.adopted), changed)
            except MemrepoError:
                pass  # a person works on its paths by now: it is reverted below
            else:
                return
        theirs = take_back(self.work, left, self.head())
        self.notices.append(dropped(left, theirs))

    # -- writing -----------------------------------------------------------------------------

    def refuse_unfit(self) -> None:
        """Raise CannotWork where the repository is in the middle of something, or shallow."""
        refuse_unfit(self.repo, self.branch_or_none, unmerged=self.work.is_unmerged(self.head()))

    def build(self, chain: Chain, name: str) -> str:
        """Stream a chain into a transaction ref and return its tip; the branch is untouched."""
        import tempfile

        from memrepo.store.stream import committer, write_stream

        ref = TX + name
        before = set(Path(self.repo.git_dir).glob("fast_import_crash_*"))
        try:
            with tempfile.TemporaryFile() as stream:
                write_stream(stream, chain, ref, committer(self.repo))
                stream.seek(0)
                # Its deltas are against whatever came before; left whole, git finds better ones.
                words = ("fast-import", "--quiet", "--done", "--depth=0")
                self.repo.light.ask(*words, stdin=stream.fileno(), held=self._held)
        finally:
            for report in set(Path(self.repo.git_dir).glob("fast_import_crash_*")) - before:
                report.unlink(missing_ok=True)
        return self.repo.refs.id(ref)

    def land(self, chain: Chain, name: str) -> str:
        """Write a chain and fast-forward the branch to it; return the new commit.

        Work tree files that already hold exactly the new content are taken as they lie. Raises
        BranchMoved, FilesInTheWay, CannotSign or CannotWork; then nothing changed.
        """
        with self.writing():
            self._refuse_unready(chain)
            return self._advance(chain.base, name, lambda: self._signed(chain, name))

    def draft(self, chain: Chain, name: str) -> str:
        """Write a chain that no ref keeps and return its tip, for `advance` to land later.

        It raises what `land` would raise at this moment, so that nothing is shown to others that
        could not land here.
        """
        with self.writing():
            self._refuse_unready(chain)
            tip = self.loose(chain, name)
            self.work.clear_way(chain.base, self.work.changed(chain.base, tip))
        return tip

    def loose(self, chain: Chain, name: str) -> str:
        """Write a chain that no ref keeps, on top of whatever it names, and return its tip."""
        with self.writing():
            try:
                return self.build(chain, name)
            finally:
                self.repo.light.ask("update-ref", "-d", TX + name)

    def advance(self, base: str, tip: str, name: str) -> None:
        """Fast-forward the branch from `base` to a commit that is there already.

        Raises BranchMoved, FilesInTheWay or CannotWork; then nothing changed.
        """
        with self.writing():
            self.refuse_unfit()
            self._refuse_other(base)
            self._advance(base, name, lambda: tip)

    def _signed(self, chain: Chain, name: str) -> str:
        from memrepo.store.stream import sign_merge, wants_signature

        tip = self.build(chain, name)
        if chain.merge and wants_signature(self.repo):
            return sign_merge(self.repo, chain, tip, TX + name, self._held)
        return tip

    def _refuse_unready(self, chain: Chain) -> None:
        self.refuse_unfit()
        self._refuse_other(chain.base)
        self._refuse_filters(path for commit in chain.commits for path in commit.effect.files)

    def _refuse_other(self, base: str) -> None:
        """Raise NotAsExpected or BranchMoved where a change was computed on another commit."""
        if not base.startswith(self.expected):
            raise NotAsExpected(self.expected, base)
        self.refuse_switched()
        if self.head() != base:
            raise BranchMoved(self.branch)

    def _advance(self, base: str, name: str, build: Callable[[], str]) -> str:
        note = Journal(branch=self.branch, base=base, ref=TX + name)
        save_journal(self.journals, note)
        try:
            tip = build()
            changed = self.work.changed(base, tip)
            way = self.work.clear_way(base, changed)
            note = replace(note, tip=tip, adopted=way.adopted, kept=way.kept)
            with uninterrupted():
                save_journal(self.journals, note)
                self._forward(note, changed)
        except BaseException:
            self._drop(note)
            raise
        self._landed.append(note)
        with suppress(GitFailed):  # it landed: the next write sweeps what is left of it
            self._drop(note)
        return tip

    def withdraw(self, base: str) -> None:
        """Take back what was landed here since a commit, while the branch ends in it.

        Files that lay in the work tree before stay, as after any write that is dropped.
        """
        with self.writing():
            while self._landed and base != self.head() == self._landed[-1].tip:
                note = self._landed.pop()
                save_journal(self.journals, note)
                self.repo.light.ask("update-ref", note.branch, note.base, note.tip)
                self._drop(note)

    def _drop(self, note: Journal) -> None:
        """Close a write: what did not land is reverted, and nothing of it stays behind."""
        if note.tip and not is_landed(self.repo, note, self.head()):
            take_back(self.work, note, self.head())
        self.repo.light.ask("update-ref", "-d", note.ref)
        clear_journal(self.journals)

    def leave(self, chain: Chain, branch: str) -> str:
        """Write a chain and leave it on a branch of its own for review; return its tip."""
        name = branch.replace("/", "-")
        with self.writing():
            self.refuse_unfit()
            note = Journal(branch=f"refs/heads/{branch}", base=chain.base, ref=TX + name)
            save_journal(self.journals, note)
            try:
                tip = self.build(chain, name)
                there = self.resolve(note.branch)
                if there not in ("", tip):
                    raise CannotWork(
                        f"{branch} exists already and holds something else",
                        fix="rename or delete that branch, then run the command again",
                    )
                self.repo.light.ask("update-ref", note.branch, tip)
            finally:
                self._drop(note)
        return tip

    def maintain(self) -> None:
        """Pack what many small writes left loose, and let git do what it thinks is due.

        Git itself waits for 6,700 loose objects, which take many times what they would packed.
        """
        with self.writing():
            said = self.repo.light.ask("count-objects", "-v").splitlines()
            counts = dict(line.split(": ", 1) for line in said)
            if (loose := int(counts["count"])) >= LOOSE:
                words = ["repack", "-d", "-l", "-q", "--geometric=2"]
                if loose + int(counts["in-pack"]) <= _SMALL and int(counts["size-pack"]) <= _SMALL:
                    # The files of runs are alike, wherever they are: look for better deltas.
                    words += [f"--window={_WINDOW}", "-f"]
                self.repo.light.ask(*words, held=self._held, forgive=True)
                # The history of one file is found without reading every tree.
                graph = ("write", "--reachable", "--changed-paths", "--split", "--no-progress")
                self.repo.light.ask("commit-graph", *graph)
            when = f"gc.auto={self.repo.config.get('gc.auto') or _GIT_LOOSE}"
            settings = ("gc.autoDetach=false", "maintenance.autoDetach=false", when)
            options = (word for setting in settings for word in ("-c", setting))
            due = ("maintenance", "run", "--auto", "--quiet")
            self.repo.light.ask(*options, *due, held=self._held, forgive=True)

    def _forward(self, note: Journal, changed: Mapping[str, Sides]) -> None:
        """Fast-forward: files, then index, then the branch, while no other git may write any.

        Whoever dies before the branch moved leaves a state in which a commit of all takes nothing
        away.
        """
        try:
            with self._still(note) as index:
                self.work.adopt(note.adopted, changed)
                self.work.move(note.base, note.tip, self._held)
                self.work.put_in_place(index)
                self._move_branch(note)
        except GitFailed as error:
            if self.head() == note.tip and self.branch_or_none == note.branch:
                return  # it died when all was done: the branch moves last
            if self.head() != note.base:
                raise BranchMoved(note.branch) from error
            raise CannotWork(
                f"git refused to fast-forward: {error.said}",
                fix=error.fix
                if error.by_system
                else "move the files it names out of the way and run the command again",
            ) from error

    @contextmanager
    def _still(self, note: Journal) -> Iterator[Path]:
        """Hold the index while HEAD is where a write began; yield a copy of it.

        A switch of branches writes files and index first, and moves HEAD when it has let the index
        go. In between the index has otherwise what HEAD has: as when somebody staged it.
        """
        patience = time.monotonic() + SWITCH_S
        with ExitStack() as held:
            index = held.enter_context(self.work.locked())
            while (
                self.work.staged_since(note.base)
                and time.monotonic() < patience
                and may_switch(self.repo)
            ):
                held.close()
                time.sleep(_PAUSE_S)
                index = held.enter_context(self.work.locked())
            self._refuse_moved(note, note.base)
            yield index

    def _refuse_moved(self, note: Journal, commit: str) -> None:
        if (self.branch_or_none, self.head()) != (note.branch, commit):
            raise BranchMoved(note.branch)

    def _move_branch(self, note: Journal) -> None:
        none = "0" * len(note.tip)
        said = f"merge {note.tip}: Fast-forward"
        words = ("update-ref", "-m", said, note.branch, note.tip, note.base or none)
        self.repo.light.ask(*words, held=self._held)
        if self.branch_or_none != note.branch:  # who names another branch takes no lock
            self.repo.light.ask("update-ref", note.branch, note.base or none, note.tip)
            raise BranchMoved(note.branch)

    def _refuse_filters(self, paths: Iterable[str]) -> None:
        for path, name in self.work.filtered(dict.fromkeys(paths)):
            raise CannotWork(
                f"{path}: found the git filter {name!r}, which memrepo would bypass",
                fix="exclude memrepo's folders from the filter in .gitattributes",
            )


@contextmanager
def open_repository(
    where: Path, resume: Callable[[Repository], object] | None = None
) -> Iterator[Repository]:
    """Open the memory repository that holds a folder; raises NotARepository."""
    with opened(where) as repo:
        made = Repository(repo, Layout(), resume)
        head = made.head()
        layout = find_layout(repo, head) if head else None
        if layout is None:
            refuse_other_root(repo)
            raise NotARepository(where, "found a git repository, but no memrepo.toml at its HEAD")
        made.layout = layout
        yield made


NAME = "journal.json"


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A write under way: `tip` is empty until all of its objects are in the repository.

    `adopted` are files that lay in the work tree with the new content before the write, `kept`
    those that were staged with it too: they are a person's, and dropping the write leaves them.
    """

    branch: str
    base: str
    ref: str
    tip: str = ""
    adopted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def save_journal(folder: Path, journal: Journal) -> None:
    """Write the journal so that it is either whole on disk or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{NAME}.new"
    with draft.open("w", encoding="utf-8") as handle:
        json.dump(asdict(journal), handle)
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(folder / NAME)


def load_journal(folder: Path) -> Journal | None:
    """Return the journal of an interrupted write, or None; an unreadable one counts as none."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return Journal(
            branch=str(found["branch"]),
            base=str(found["base"]),
            ref=str(found["ref"]),
            tip=str(found.get("tip", "")),
            adopted=tuple(found.get("adopted", ())),
            kept=tuple(found.get("kept", ())),
        )
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def clear_journal(folder: Path) -> None:
    """Forget the journal: the write is done or dropped."""
    for name in (NAME, f"{NAME}.new"):
        (folder / name).unlink(missing_ok=True)


def journal_written_at(folder: Path) -> float:
    """Return when the journal was last written, as a file time in seconds."""
    return (folder / NAME).stat().st_mtime


def journals_elsewhere(common: Path, own: Path) -> Iterator[Journal]:
    """Yield the journals of the other work trees of the same repository."""
    for folder in (common / "memrepo", *sorted(common.glob("worktrees/*/memrepo"))):
        if folder.resolve() != own.resolve() and (left := load_journal(folder)) is not None:
            yield left


TX = "refs/memrepo/tx/"


def drop_locks(repo: Repo, left: Journal, since: float) -> None:
    """Remove the lock files that our own interrupted git left; raises GitAtWork.

    No git process of ours lives: each keeps memrepo's write lock, which is held by the caller.
    """
    own, common = Path(repo.git_dir), Path(repo.common_dir)
    found = [common / f"{left.branch}.lock", common / "packed-refs.lock"]
    if left.tip:
        found += [own / name for name in ("index.lock", "HEAD.lock", "ORIG_HEAD.lock")]
    for path in found:
        if not path.exists():
            continue
        # One that is older than the journal stopped our git rather than being left by it.
        seen = path.stat()
        if seen.st_mtime < since - 1 or git_alive(repo) or _changed(path, seen):
            raise GitAtWork(path)
        path.unlink(missing_ok=True)
    for path in (common / TX).glob("*.lock"):
        path.unlink(missing_ok=True)


def _changed(path: Path, seen: os.stat_result) -> bool:
    """Return whether a lock is another by now: a git began while the living were looked for."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns)


def sweep(repo: Repo, folder: Path) -> None:
    """Delete the transaction refs that no journal of another work tree names."""
    refs = repo.refs.below(TX)
    left = journals_elsewhere(Path(repo.common_dir), folder) if refs else ()
    needed = {one.ref for one in left}
    for ref in refs:
        if ref not in needed:
            repo.light.ask("update-ref", "-d", ref)


def is_landed(repo: Repo, left: Journal, head: str) -> bool:
    """Return whether the branch holds the write; a tip that is gone can only be left alone."""
    if head == left.tip or not repo.light.objects.commit(left.tip):
        return True
    return bool(head) and left.tip in repo.light.ask("merge-base", left.tip, head, no=1).split()


def mend_halves(tree: WorkTree, left: Journal, changed: Mapping[str, Sides]) -> None:
    """Put right the files that the interrupted checkout had begun and not finished."""
    mine = {p: s for p, s in changed.items() if s.new and p not in (*left.adopted, *left.kept)}
    halves = [
        path
        for path in tree.dirty(mine)
        if path in mine
        and not any(tree.is_at(path, blob) for blob in (mine[path].new, mine[path].old))
        and tree.cut_short(path, mine[path].new)
    ]
    staged = tree.staged()
    tree.restore(path for path in halves if path in staged)
    for path in halves:
        if path not in staged:
            tree.remove(path)


def take_back(tree: WorkTree, left: Journal, head: str) -> tuple[str, ...]:
    """Undo in index and work tree what a dropped write had done; return paths left alone.

    A path that somebody committed, staged or edited since is theirs.
    """
    changed = tree.changed(left.base, left.tip)
    for path in tree.changed(left.base, head):
        changed.pop(path, None)
    mine = {path: sides for path, sides in changed.items() if path not in left.kept}
    staged = tree.staged()
    unstage, theirs = {}, []
    for path, sides in mine.items():
        found = staged[path].blob if path in staged else ""
        if found == sides.new:
            unstage[path] = sides.old
        elif found != sides.old:
            theirs.append(path)
    tree.stage(unstage, {path: sides.mode for path, sides in mine.items()})
    again = []
    for path, sides in mine.items():
        if path in theirs or path in left.adopted or tree.is_at(path, sides.old):
            continue
        if not (tree.is_at(path, sides.new) or (sides.new and tree.cut_short(path, sides.new))):
            theirs.append(path)
        elif sides.old:
            again.append(path)
        else:
            tree.remove(path)
    tree.restore(again)
    return tuple(theirs)


def dropped(left: Journal, theirs: tuple[str, ...]) -> Problem:
    """Report that a write was cut short and reverted."""
    name = left.ref.removeprefix(TX)
    kept = f"; left as they are: {', '.join(theirs[:5])}" if theirs else ""
    return Problem(
        path=theirs[0] if theirs else left.branch,
        rule="write-taken-back",
        severity="warning",
        message=f"an earlier write ({name}) was interrupted and has been undone{kept}",
        fix="nothing to do: the next run reads its input again",
    )


@contextmanager
def born(where: Path, layout: Layout) -> Iterator[tuple[Repository, bool]]:
    """Open the repository whose top is exactly this folder, made if need be; True when made."""
    refuse_no_git()
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    from memrepo.store.door import Door, Found

    isolate()
    try:
        Found(where).close()
        made = False
    except (InvalidGitRepositoryError, NoSuchPathError):
        # Also where a `git init` was cut short: to repeat it is safe.
        made = True
        where.mkdir(parents=True, exist_ok=True)
        git = Door(where)
        branch = git.config("--default=main", "--get", "init.defaultBranch") or "main"
        git.init("--quiet", f"--initial-branch={branch}")
    try:
        with Found(where) as found:
            repo = known(found)
    except NoWorkTree as error:
        raise CannotWork(f"{where}: {error}") from error
    try:
        yield Repository(repo, layout), made
    finally:
        repo.close()
