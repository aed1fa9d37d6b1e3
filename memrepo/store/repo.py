"""Write to the repository: stream a chain of commits to fast-import, then fast-forward.

The index and the work tree move together with the branch. Symlinks are never followed.
All writes go through this module. docs/git-model.md, "How a run is written", has the rules and
their reasons. A write records its progress in a journal. After a crash, the next command reverts
the write before it does anything else.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.errors import (
    BranchMoved,
    FilesInTheWay,
    GitFailed,
    NotARepository,
    Problem,
    StoreError,
    problem,
)
from memrepo.core.ids import blob_id
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout, folders_of
from memrepo.core.patterns import regex
from memrepo.store.git import (
    Git,
    Repo,
    branch_of,
    found_at,
    git_alive,
    index_lock,
    isolate,
    lock,
    opened,
    refuse_unfit,
    replacement_of,
    seconds,
    uninterrupted,
)
from memrepo.store.objects import ABSENT, TreeEntry
from memrepo.store.tree import BlobFiles, Snapshot, is_text

if TYPE_CHECKING:
    from memrepo.store.database import MemoryCache
    from memrepo.store.objects import Chain

WRITE_WAIT_S = 60.0
LOOSE = 256
"""Number of loose objects from which a run packs them, because each occupies a disk block."""
LONGEST_REVISION = 1000
MAX_SNAPSHOTS = 4
_COMMITTED = regex(rb"^committer .*> (\d+) [+-]\d+$", re.MULTILINE)


class Repository:
    """A memory repository: its git repository, its layout, and the only means of writing to it.

    `notices` are problems found by the writer itself, such as a write interrupted by a crash. If
    `expected` is set, a chain lands only on the commit with that id or id prefix.
    """

    def __init__(
        self,
        repo: Repo,
        layout: Layout,
        resume: Callable[[Repository], object] | None = None,
    ) -> None:
        """Wrap a git repository. With `resume`, finish an interrupted purge (`store.purges`)."""
        self.repo = repo
        self._resume = resume
        self.layout = layout
        self.notices: list[Problem] = []
        self._bound = ""
        self.expected = ""
        self._snapshots: dict[tuple[str, Layout], Snapshot] = {}
        self._descriptors: tuple[int, ...] = ()

    @cached_property
    def work(self) -> WorkTree:
        """Return the object that manages the index and work tree."""
        return WorkTree(self.repo)

    @property
    def root(self) -> Path:
        """Return the top folder of the work tree."""
        return self.work.root

    @cached_property
    def folder(self) -> Path:
        """Return memrepo's folder in the common git directory, with locks and search index."""
        return self.repo.common_dir / "memrepo"

    @cached_property
    def journals(self) -> Path:
        """Return the folder that contains the journal of this work tree."""
        return self.repo.git_dir / "memrepo"

    @property
    def branch(self) -> str:
        """Return the full name of the current branch. Raises StoreError if HEAD is detached."""
        return branch_of(self.branch_or_none)

    @property
    def branch_or_none(self) -> str:
        """Return the full name of the current branch, or "" if HEAD is detached."""
        return self.repo.branch

    def head(self) -> str:
        """Return the id of the commit at HEAD, or an empty string if there is no commit yet."""
        return self.repo.head

    def resolve(self, revision: str) -> str:
        """Return the id of the commit that a revision refers to, or an empty string."""
        if len(revision) > LONGEST_REVISION or "\0" in revision:
            return ""
        return self.repo.objects.commit(revision) or replacement_of(self.repo, revision)

    def is_ancestor(self, commit: str, head: str) -> bool:
        """Return whether a commit is `head` itself or one of its ancestors."""
        if commit == head:
            return True
        return self.repo.call("rev-list", "--count", "-1", commit, f"^{head}").strip() == "0"

    def common_ancestors(self, commits: Sequence[str]) -> list[str]:
        """Return the best common ancestors of the given commits."""
        form = () if len(commits) == 2 else ("--octopus",)
        return self.repo.call("merge-base", "--all", *form, *commits, accepted=1).split()

    def parents(self, commit: str) -> list[str]:
        """Return the ids of a commit's parents."""
        return self.repo.call("rev-list", "-1", "--parents", commit, "--").split()[1:]

    @cached_property
    def cache(self) -> MemoryCache:
        """Return the cache of decoded memories, which saves reading all files."""
        from memrepo.store.database import NAME, memory_cache

        return memory_cache(self.folder / NAME)

    def snapshot(self, commit: str, layout: Layout | None = None) -> Snapshot:
        """Return a snapshot of the files in a commit's tree. The last ones are cached."""
        key = commit, layout or self.layout
        if key not in self._snapshots:
            if len(self._snapshots) == MAX_SNAPSHOTS:
                del self._snapshots[next(iter(self._snapshots))]
            files = BlobFiles(self.repo, *key)
            self._snapshots[key] = Snapshot(
                commit=commit, layout=key[1], files=files, cache=lambda: self.cache
            )
        return self._snapshots[key]

    def commit_time(self, commit: str) -> datetime:
        """Return the committer date of a commit."""
        match = _COMMITTED.search(self.repo.objects.read(commit).split(b"\n\n", 1)[0])
        return datetime.fromtimestamp(seconds(match[1].decode() if match else ""), tz=UTC)

    def not_before(self, now: datetime, base: str) -> datetime:
        """Return the later of two dates for a new commit: `now`, or the date of `base`."""
        return max(now, self.commit_time(base)) if base else now

    # -- locks and recovery ------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the block while holding the run lock. Raises Locked if another run holds the lock."""
        with lock(self.folder, "run"):
            self._bound = self.branch_or_none
            try:
                yield
            finally:
                self._bound = ""

    def refuse_switched(self) -> None:
        """Raise BranchSwitched if another branch was checked out since the run began."""
        if self._bound and self.branch_or_none != self._bound:
            before, now = (
                name.removeprefix("refs/heads/") for name in (self._bound, self.branch_or_none)
            )
            raise StoreError("branch-switched", before=before, now=now or "no branch")

    @contextmanager
    def syncing(self) -> Iterator[None]:
        """Run the block while holding the sync lock. Wait until any other sync has ended."""
        with lock(self.folder, "sync", wait_s=WRITE_WAIT_S):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run the block while holding the write lock, after crash recovery. Calls may be nested."""
        if self._descriptors:
            yield
            return
        with lock(self.folder, "write", wait_s=WRITE_WAIT_S) as descriptor:
            self._descriptors = (descriptor,)
            try:
                self._recover()
                yield
            finally:
                self._descriptors = ()

    def recover(self) -> None:
        """Revert an interrupted write, and finish an interrupted purge, if any."""
        if load_journal(self.journals) is not None or self._is_purge_ready():
            with self.writing():
                pass

    def _is_purge_ready(self) -> bool:
        return (self.repo.common_dir / "memrepo-purge" / "ready.json").exists()

    def _recover(self) -> None:
        if self._is_purge_ready():
            if self._resume is None:
                raise StoreError("purge-interrupted")
            self._resume(self)
        journal = load_journal(self.journals)
        if journal is not None:
            self.refuse_unfit()
            drop_locks(self.repo, journal, (self.journals / JOURNAL).stat().st_mtime)
            if not is_landed(self.repo, journal, self.head()):
                unchanged = revert_write(self.work, journal, self.head())
                self.notices.append(reverted_notice(journal, unchanged))
        clear_journal(self.journals)

    # -- writing -----------------------------------------------------------------------------

    def refuse_unfit(self, *, index: bool = True) -> None:
        """Raise StoreError during a merge, rebase or similar, or in a shallow clone.

        With `index`, also if the index has unmerged paths.
        """
        unmerged = index and "U" in self.work.staged_since(self.head()).values()
        refuse_unfit(self.repo, self.branch_or_none, unmerged=unmerged)

    def build(self, chain: Chain) -> str:
        """Write a chain of commits on its own base, without a ref, and return its tip."""
        import tempfile

        from memrepo.store.objects import COMMITTER, write_stream
        from memrepo.store.settings import author

        before = set(self.repo.git_dir.glob("fast_import_crash_*"))
        no_id = "0" * len(self.work.blob_id(b""))
        with self.writing(), tempfile.TemporaryFile() as stream:
            write_stream(stream, chain, author(self.repo) or COMMITTER, no_id)
            stream.seek(0)
            # Deltas of fast-import only use the preceding object. Git finds better ones when
            # packing.
            words = ("fast-import", "--quiet", "--done", "--depth=0", "--cat-blob-fd=1")
            try:
                answer = self.repo.call(*words, stdin=stream.fileno(), inherited=self._descriptors)
                return answer.strip()
            finally:
                for report in set(self.repo.git_dir.glob("fast_import_crash_*")) - before:
                    report.unlink(missing_ok=True)

    def land(self, chain: Chain, name: str) -> str:
        """Write a chain of commits, fast-forward the branch to it, and return the newest commit.

        Work tree files that already have the new content are accepted unchanged. Raises
        BranchMoved, FilesInTheWay or StoreError, in which case nothing has changed.
        """
        with self.writing():
            self._refuse_unready(chain.base, chain)
            tip = self.build(chain)
            self._advance(chain.base, tip, name)
        return tip

    def prepare(self, chain: Chain) -> str:
        """Write a chain of commits without a ref and return its tip, for a later `advance`.

        Raises the same errors as `land`.
        """
        with self.writing():
            self._refuse_unready(self.head(), chain)
            tip = self.build(chain)
            self.work.clear_way(self.work.changed(self.head(), tip))
        return tip

    def advance(self, base: str, tip: str, name: str) -> None:
        """Fast-forward the branch from `base` to a commit that is already in the repository.

        Raises BranchMoved, FilesInTheWay or StoreError, in which case nothing has changed.
        """
        with self.writing():
            self._refuse_unready(base)
            self._advance(base, tip, name)

    def _refuse_unready(self, base: str, chain: Chain | None = None) -> None:
        """Raise an error if HEAD is not the base of a change, or cannot be written."""
        self.refuse_unfit()
        if not base.startswith(self.expected):
            raise StoreError("not-as-expected", expected=self.expected[:12], found=base[:12])
        self.refuse_switched()
        if self.head() != base:
            raise BranchMoved(branch=self.branch)
        commits = chain.commits if chain else ()
        paths = dict.fromkeys(path for commit in commits for path in commit.effect)
        for path, name in self.work.filtered(paths):
            raise StoreError("filter", path=path, name=name)

    def _advance(self, base: str, tip: str, name: str) -> None:
        changed = self.work.changed(base, tip)
        adopted, kept = self.work.clear_way(changed)
        journal = Journal(
            branch=self.branch, base=base, tip=tip, name=name, adopted=adopted, kept=kept
        )
        try:
            with uninterrupted():
                save_journal(self.journals, journal)
                self._forward(journal, changed)
        except BaseException:
            if not is_landed(self.repo, journal, self.head()):
                revert_write(self.work, journal, self.head())
            clear_journal(self.journals)
            raise
        clear_journal(self.journals)

    def leave(self, chain: Chain, branch: str) -> str:
        """Write a chain of commits to a separate branch for review, and return its tip."""
        ref = f"refs/heads/{branch}"
        with self.writing():
            self.refuse_unfit()
            tip = self.build(chain)
            if self.resolve(ref) not in ("", tip):
                raise StoreError("branch-exists", branch=branch)
            self.repo.call("update-ref", ref, tip)
        return tip

    def maintain(self) -> None:
        """Run git's maintenance if it is due, which packs loose objects: they use more space.

        Git itself waits for 6,700 of them. Its commit graph with changed paths finds the history of
        one file without reading each tree.
        """
        loose = self.repo.config.get("gc.auto") or LOOSE
        settings = (
            "gc.autoDetach=false",
            "maintenance.autoDetach=false",
            f"gc.auto={loose}",
            "commitGraph.changedPaths=true",
        )
        options = (word for setting in settings for word in ("-c", setting))
        due = ("maintenance", "run", "--auto", "--quiet")
        with self.writing():
            self.repo.call(*options, *due, inherited=self._descriptors, check=False)

    def _forward(self, journal: Journal, changed: Mapping[str, ChangedFile]) -> None:
        """Fast-forward the files, the index and then the branch, while other git processes wait.

        If the process dies before the branch moves, then `git commit -a` in that state loses
        nothing.
        """
        try:
            with self.work.locked() as index:
                if (self.branch_or_none, self.head()) != (journal.branch, journal.base):
                    raise BranchMoved(branch=journal.branch)
                self.work.stage({p: changed[p].new for p in journal.adopted if changed[p].new})
                theirs = (*journal.adopted, *journal.kept)
                own = {path: sides for path, sides in changed.items() if path not in theirs}
                self.work.move(journal.base, journal.tip, own, self._descriptors)
                index.replace(self.repo.git_dir / "index")
                self._move_branch(journal)
        except GitFailed as error:
            if self.head() == journal.tip and self.branch_or_none == journal.branch:
                return  # git failed after everything was done: the branch moves last
            if self.head() != journal.base:
                raise BranchMoved(branch=journal.branch) from error
            move = "move the files it names out of the way and run the command again"
            fix = error.fix if error.by_system else move
            raise StoreError("refused", cause=error.cause, fix=fix) from error

    def _move_branch(self, journal: Journal) -> None:
        old, tip = journal.base or "0" * len(journal.tip), journal.tip
        words = ("update-ref", "-m", f"merge {tip}: Fast-forward", journal.branch, tip, old)
        self.repo.call(*words, inherited=self._descriptors)
        if self.branch_or_none != journal.branch:  # switching HEAD locks no branch
            self.repo.call("update-ref", journal.branch, old, tip)
            raise BranchMoved(branch=journal.branch)


def find_layout(repo: Repo, commit: str) -> Layout | None:
    """Return the layout configured in a commit's tree, or None without a memrepo configuration."""
    for prefix in ("", ADOPTED_PREFIX):
        if repo.objects.at(commit, prefix + CONFIG_NAME) is not None:
            return Layout(prefix)
    return None


def refuse_other_root(repo: Repo) -> None:
    """Raise NotARepository if another branch contains a memory repository.

    Call this if HEAD contains no memory repository. A new one would start a second root commit and
    hide the existing history. So it would if the branch has lost its commit: raise StoreError.
    """
    where, head, branch = repo.top, repo.head, repo.branch
    log = repo.common_dir / "logs" / branch
    if not head and log.is_file() and (lines := log.read_text("utf-8", "replace").splitlines()):
        file, commit = repo.common_dir / branch, lines[-1].split(" ")[1]
        raise StoreError("damaged-branch", where=where, branch=branch, file=file, commit=commit)
    unborn = f"the branch {branch.removeprefix('refs/heads/')} has no commit, but "
    refs = (*repo.refs_below("refs/heads/"), *repo.refs_below("refs/remotes/"))
    names = [f"{ref}:{prefix}{CONFIG_NAME}" for prefix in ("", ADOPTED_PREFIX) for ref in refs]
    found = zip(names, repo.objects.each(names), strict=True)
    if ref := next((name.partition(":")[0] for name, one in found if one is not None), ""):
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        raise NotARepository(
            "other-branch",
            where=where,
            unborn="" if head else unborn,
            name=name,
            option="" if head else "--ff-only ",
        )


@contextmanager
def open_repository(
    where: Path, resume: Callable[[Repository], object] | None = None
) -> Iterator[Repository]:
    """Open the memory repository that contains a folder. Raises NotARepository if there is none."""
    with opened(where) as repo:
        made = Repository(repo, Layout(), resume)
        head = made.head()
        layout = find_layout(repo, head) if head else None
        if layout is None:
            refuse_other_root(repo)
            raise NotARepository("no-config", where=where)
        made.layout = layout
        yield made


JOURNAL = "journal.json"


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A fast-forward in progress from `base` to `tip`, whose objects are in the repository.

    `adopted` are work tree files that had the new content before the write. `kept` are those of
    them that were also staged. Both belong to the user, so reverting the write leaves them.
    """

    branch: str
    base: str
    tip: str
    name: str
    adopted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def save_journal(folder: Path, journal: Journal) -> None:
    """Write the journal atomically, so that after a crash it is either complete or absent."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{JOURNAL}.new"
    with draft.open("wb") as handle:
        handle.write(msgspec.json.encode(journal))
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(folder / JOURNAL)


def load_journal(folder: Path) -> Journal | None:
    """Return the journal of an interrupted write, or None if there is no readable journal."""
    try:
        return msgspec.json.decode((folder / JOURNAL).read_bytes(), type=Journal)
    except (FileNotFoundError, ValueError):
        return None


def clear_journal(folder: Path) -> None:
    """Delete the journal of a write that is finished or reverted."""
    for name in (JOURNAL, f"{JOURNAL}.new"):
        (folder / name).unlink(missing_ok=True)


def drop_locks(repo: Repo, journal: Journal, since: float) -> None:
    """Remove lock files left by our interrupted git processes. Raises StoreError for others.

    None of our git processes is alive: each inherits memrepo's write lock, which the caller holds.
    """
    own, common = repo.git_dir, repo.common_dir
    found = [common / f"{journal.branch}.lock", common / "packed-refs.lock"]
    for path in (*found, *(own / name for name in ("index.lock", "HEAD.lock", "ORIG_HEAD.lock"))):
        if not path.exists():
            continue
        # A lock older than the journal belongs to another git process and stopped ours.
        status = path.stat()
        if status.st_mtime < since - 1 or git_alive(repo) or _was_replaced(path, status):
            raise StoreError("git-at-work", name=path.name, path=path)
        path.unlink(missing_ok=True)


def _was_replaced(path: Path, before: os.stat_result) -> bool:
    """Return whether another git process replaced a lock file while processes were listed."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_mtime_ns) != (before.st_ino, before.st_mtime_ns)


def is_landed(repo: Repo, journal: Journal, head: str) -> bool:
    """Return whether the branch contains a write, or the write's newest commit no longer exists."""
    if head == journal.tip or not repo.objects.commit(journal.tip):
        return True
    bases = repo.call("merge-base", journal.tip, head, accepted=1) if head else ""
    return journal.tip in bases.split()


def revert_write(tree: WorkTree, journal: Journal, head: str) -> tuple[str, ...]:
    """Undo an interrupted write in the index and work tree. Return the paths left unchanged."""
    changed = tree.changed(journal.base, journal.tip)
    for path in tree.changed(journal.base, head):
        changed.pop(path, None)
    written = {path: sides for path, sides in changed.items() if path not in journal.kept}
    staged = tree.index()
    unstage, unchanged = {}, []
    for path, sides in written.items():
        found = staged[path].id if path in staged else ""
        if found == sides.new:
            unstage[path] = sides.old
        elif found != sides.old:
            unchanged.append(path)
    modes = {path: sides.mode for path, sides in written.items()}
    tree.stage(unstage, modes)
    again = []
    for path, sides in written.items():
        if path in unchanged or path in journal.adopted or tree.is_at(path, sides.old):
            continue
        if not tree.is_at(path, sides.new):
            unchanged.append(path)
        elif sides.old:
            again.append(path)
        else:
            tree.remove(path)
    # Git believes a changed size, even if only line ends were converted: let it look again.
    tree.stage({path: written[path].old for path in again}, modes)
    tree.restore(again)
    return tuple(unchanged)


def reverted_notice(journal: Journal, unchanged: tuple[str, ...]) -> Problem:
    """Return a problem which reports that an interrupted write was reverted."""
    named = f"; left as they are: {', '.join(unchanged[:5])}" if unchanged else ""
    path = unchanged[0] if unchanged else journal.branch
    todo = "commit them or move them away first" if unchanged else "nothing to do"
    return problem("write-taken-back", path, name=journal.name, unchanged=named, todo=todo)


@contextmanager
def open_or_create(where: Path, layout: Layout) -> Iterator[tuple[Repository, bool]]:
    """Open the repository whose top folder is the given one, or create it if needed."""
    isolate()
    if (where / "HEAD").is_file() and (where / "objects").is_dir():
        raise StoreError("bare", where=where)
    code, top, _ = Git(where).ask("rev-parse", "--show-toplevel") if where.is_dir() else (1, "", "")
    made = code != 0 or Path(top.removesuffix("\n")) != where.resolve()
    if made:
        # An interrupted `git init` also ends here. Repeating it is safe.
        where.mkdir(parents=True, exist_ok=True)
        git = Git(where)
        name = git.call("config", "--default=main", "--get", "init.defaultBranch").strip()
        git.call("init", "--quiet", f"--initial-branch={name or 'main'}")
    repo = found_at(where)
    try:
        yield Repository(repo, layout), made
    finally:
        repo.close()


def obstacle(store: Repository) -> str:
    """Return what blocks all writes, such as a stale lock or a missing permission, or ""."""
    own, common = store.repo.git_dir, store.repo.common_dir
    locks = [*own.glob("*.lock"), *common.glob("*.lock"), *(common / "refs").rglob("*.lock")]
    if locks and not git_alive(store.repo):
        names = ", ".join(sorted({str(path) for path in locks}))
        return f"nothing can be written: git left a lock behind and is not running; remove {names}"
    folders = (own, common / "objects", common / "refs", common / "refs" / "heads")
    shut = [str(path) for path in dict.fromkeys(folders) if not os.access(path, os.W_OK)]
    if shut:
        return f"nothing can be written: this user may not write to {', '.join(shut)}"
    return ""


# -- the index and the work tree ---------------------------------------------------------------

_PATHS_PER_CALL = 10_000
_FEW_PATHS = 100
_NEW_FILES = ".memrepo/next"
"""Folder that git ignores, on the file system of the work tree."""
_SUBMODULE = "160000"


class ChangedFile(msgspec.Struct, frozen=True):
    """A path before and after a change: blob ids, empty for an absent file, and the old mode."""

    old: str
    new: str
    mode: str = "100644"


class WorkTree:
    """The work tree and index of one repository. Symlinks are never followed."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self.root = repo.top
        self._env: Mapping[str, str] = {}

    @contextmanager
    def locked(self) -> Iterator[Path]:
        """Run the block while holding git's index lock, and yield a copy of the index.

        Git reads an index before it locks the index, so an index written in between would be lost.
        """
        own = self.repo.git_dir
        copy = own / "memrepo" / "next-index"
        with index_lock(own):
            for left in (copy, copy.with_name(f"{copy.name}.lock")):
                left.unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                times = (own / "index").stat()
                copy.write_bytes((own / "index").read_bytes())
                # Git compares file times with the time of the index.
                os.utime(copy, ns=(times.st_mtime_ns, times.st_mtime_ns))
            self._env = {"GIT_INDEX_FILE": str(copy)}
            try:
                yield copy
            finally:
                self._env = {}
                copy.unlink(missing_ok=True)

    def move(
        self, base: str, tip: str, changed: Mapping[str, ChangedFile], held: tuple[int, ...]
    ) -> None:
        """Update the index and the `changed` files from one commit to another.

        Raises GitFailed or FilesInTheWay, and leaves all files unchanged, if one of them differs
        from the first commit.
        """
        if edited := [path for path in changed if not self._is_before(path, changed)]:
            raise FilesInTheWay(edited)
        words = ("read-tree", "-i", "-m", base or self._empty, tip)
        self.repo.call(*words, inherited=held, env=self._env)
        for path in (path for path, sides in changed.items() if not sides.new):
            self.remove(path)
        self.restore([path for path, sides in changed.items() if sides.new], held)

    def changed(self, base: str, tip: str) -> dict[str, ChangedFile]:
        """Return {path: sides} of the files that differ between two commits. "" means no files."""
        found = self.repo.objects.differences(base, tip)
        return {path: ChangedFile(old=a.id, new=b.id, mode=a.mode) for path, a, b in found}

    def staged_since(self, commit: str) -> Mapping[str, str]:
        """Return {path: status letter} of the differences between the index and a commit."""
        words = ("diff-index", "--cached", "--no-renames", "--name-status", "-z")
        parts = self.repo.call(*words, commit or self._empty, "--").split("\0")
        rows = list(zip(parts[1::2], parts[0::2], strict=False))
        return {**dict(rows), **{path: letter for path, letter in rows if letter == "U"}}

    def dirty(self, folder: str = "") -> Mapping[str, str]:
        """Return {path: two-letter status} of uncommitted files (`??` untracked), or of a folder's.

        A nested untracked repository is a path that ends in a slash.
        """
        words = "status --porcelain -z --untracked-files=all --no-renames --ignore-submodules=none"
        raw = self.repo.call(*words.split(), "--", *filter(None, [folder]))
        return {entry[3:]: entry[:2] for entry in raw.split("\0") if len(entry) > 3}

    def edits(self, folder: str) -> dict[str, bytes | None]:
        """Return {path: uncommitted content} below a folder (`x/`), None for a deleted file."""
        inside = (path for path in self.dirty(folder) if path.startswith(folder))
        return {path: self.read(path) for path in inside if is_text(path)}

    def missing(self, paths: Iterable[str]) -> list[str]:
        """Return the sorted paths of files that are in the index but not in the work tree."""
        missing = [path for path in paths if self._stat(path) is None]
        if not missing:
            return []
        found = self.repo.call("ls-files", "--deleted", "-z", "--", *missing)
        return sorted(filter(None, found.split("\0")))

    def index(self, paths: Collection[str] = ()) -> dict[str, TreeEntry]:
        """Return the entries of the index by path. If few paths are given, only theirs."""
        some = ("--", *paths) if len(paths) < _FEW_PATHS else ()
        listed = self.repo.call("ls-files", "--stage", "-z", *some, env=self._env)
        rows = (line.split("\t", 1) for line in listed.split("\0")[:-1])
        entries = ((path, *head.split(" ")[:2]) for head, path in rows)
        return {path: TreeEntry(mode, blob) for path, mode, blob in entries}

    def clear_way(
        self, changed: Mapping[str, ChangedFile]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that already have the new content: those to stage, those staged already.

        Raise FilesInTheWay for other changes. `changed` lists the differences from HEAD. A path
        whose staged content differs from both sides is a user's work and is left alone.
        """
        blocked = set(self._obstacles(changed))
        adopted, kept = [], []
        index, intended = self.index(changed), self.blob_id(b"")  # of `git add --intent-to-add`
        for path, sides in changed.items():
            entry = index.get(path, ABSENT)
            staged = entry.id
            has_mode = not staged or _is_program(entry.mode) == _is_program(sides.mode)
            if staged == sides.old and has_mode and self._is_before(path, changed):
                continue
            if not self.is_at(path, sides.new):
                blocked.add(path)
            elif staged == sides.new:
                kept.append(path)
            elif staged in (sides.old, intended):
                adopted.append(path)
            else:
                blocked.add(path)
        if blocked:
            raise FilesInTheWay(sorted(blocked))
        return tuple(adopted), tuple(kept)

    def _is_before(self, path: str, changed: Mapping[str, ChangedFile]) -> bool:
        """Return whether a path is as before a change. Folders that the change empties are free."""
        sides, found = changed[path], self._stat(path)
        if found and _is_folder(found):
            return sides.mode == _SUBMODULE or not (sides.old or self._has_files(path, changed))
        if found and stat.S_ISREG(found.st_mode) and self._has_modes:
            is_program = bool(found.st_mode & stat.S_IXUSR)
            if sides.old and is_program != _is_program(sides.mode):
                return False
        return self.is_at(path, sides.old)

    def _has_files(self, folder: str, changed: Mapping[str, ChangedFile]) -> bool:
        """Return whether a folder contains any files, even ignored ones, not in `changed`."""
        inside = (
            (Path(place) / name).relative_to(self.root).as_posix()
            for place, _, names in os.walk(self.root / folder)
            for name in names
        )
        return any(name not in changed for name in inside)

    def _obstacles(self, changed: Mapping[str, ChangedFile]) -> Iterator[str]:
        """Yield files, links and repositories in place of needed folders."""
        for folder in {folder for path in changed for folder in folders_of(path)}:
            found = self._stat(folder)
            if found and not _is_folder(found) and folder not in changed:
                yield folder
            if self._stat(f"{folder}/.git"):
                yield f"{folder}/"

    def stage(self, blobs: Mapping[str, str], modes: Mapping[str, str] | None = None) -> None:
        """Set the blobs of index entries. An empty blob removes the path from the index."""
        modes = modes or {}
        none = "0" * len(self.blob_id(b""))
        lines = [
            f"{modes.get(path, '100644')} {blob}\t{path}\0" if blob else f"0 {none}\t{path}\0"
            for path, blob in blobs.items()
        ]
        if lines:
            self.repo.call("update-index", "-z", "--index-info", lines=lines, env=self._env)

    def restore(self, paths: Collection[str], held: tuple[int, ...] = ()) -> None:
        """Write files to the work tree with the content that they have in the index.

        Git writes them into a folder of their own, and each is then moved into place. A crash
        therefore leaves a file as it was or as it is to be, and never a part of it.
        """
        import shutil

        folder = self.root / _NEW_FILES
        if os.path.lexists(folder.parent) and not _is_folder(folder.parent.lstat()):
            folder = self.repo.git_dir / "memrepo" / "next"  # a file or a link is in the way
        shutil.rmtree(folder, ignore_errors=True)
        if not paths:
            return
        folder.mkdir(parents=True)
        words = ("checkout-index", "-q", "-z", "--stdin", f"--prefix={folder}/")
        lines = (f"{path}\0" for path in paths)
        self.repo.call(*words, lines=lines, inherited=held, env=self._env)
        for path in paths:
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if _is_folder((folder / path).lstat()):  # a submodule
                target.mkdir(exist_ok=True)
            else:
                try:
                    (folder / path).replace(target)
                except OSError as error:  # without the name of the file that nobody knows
                    raise OSError(error.errno, error.strerror, str(target)) from error
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # if it was made for this
        # The index has to know the new times and sizes, or git reads each of these files again. To
        # add them would convert line ends, where the attribute `text` is set.
        refresh = ("update-index", "-q", "--refresh")
        self.repo.call(*refresh, inherited=held, env=self._env, check=False)

    def remove(self, path: str) -> None:
        """Delete a file, and any parent folders that become empty."""
        (self.root / path).unlink(missing_ok=True)
        for folder in folders_of(path):
            try:
                (self.root / folder).rmdir()
            except OSError:
                return

    def filtered(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (path, filter name) for each path to which a git filter applies."""
        asked = [*paths]
        # In batches, because git's output for all paths of a first run is large.
        for at in range(0, len(asked), _PATHS_PER_CALL):
            lines = (f"{path}\0" for path in asked[at : at + _PATHS_PER_CALL])
            raw = self.repo.call("check-attr", "-z", "--stdin", "filter", lines=lines)
            parts = raw.split("\0")
            for path, value in zip(parts[0::3], parts[2::3], strict=False):
                if value not in ("unspecified", "unset"):
                    yield path, value

    # -- files -------------------------------------------------------------------------------

    def _stat(self, path: str) -> os.stat_result | None:
        try:
            return (self.root / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def linked(self, path: str) -> bool:
        """Return whether a path is a symlink or is inside a symlinked folder."""
        return any((self.root / part).is_symlink() for part in (path, *folders_of(path)))

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, or None if it is not a regular file. Links are not followed."""
        if self.linked(path):
            return None
        try:
            # O_NONBLOCK: opening a named pipe must not wait for a writer.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(self.root / path, flags), "rb") as handle:
                regular = stat.S_ISREG(os.fstat(handle.fileno()).st_mode)
                return handle.read() if regular else None
        except OSError:
            return None

    def is_at(self, path: str, blob: str) -> bool:
        """Return whether a work tree file has a blob's content. An empty blob means no file."""
        if not blob:
            return self._stat(path) is None
        data = self.read(path)
        if data is None:
            return self._link(path) == blob
        if self.blob_id(data) == blob or "\n" in path:
            return self.blob_id(data) == blob
        # `git add` may convert line endings (core.autocrlf).
        clean = self.repo.call("hash-object", "--stdin-paths", lines=[f"{path}\n"], check=False)
        return clean.strip() == blob

    def _link(self, path: str) -> str:
        """Return the blob id of a symlink, or "" if the path is none or is below one."""
        place = self.root / path
        if any((self.root / folder).is_symlink() for folder in folders_of(path)):
            return ""
        return self.blob_id(os.fsencode(place.readlink())) if place.is_symlink() else ""

    def blob_id(self, data: bytes) -> str:
        """Compute the id that git assigns to a blob with these bytes in this repository."""
        return blob_id(data, 40 if self._is_sha1 else 64)

    @cached_property
    def _empty(self) -> str:
        return self.repo.call("hash-object", "-t", "tree", os.devnull).strip()

    @cached_property
    def _has_modes(self) -> bool:
        """Return whether git compares the modes of files with those in the index."""
        return self.repo.config.get("core.filemode") not in ("false", "no", "off", "0")

    @cached_property
    def _is_sha1(self) -> bool:
        words = ("rev-parse", "--show-object-format")
        head = self.repo.head
        return len(head) == 40 if head else self.repo.call(*words).strip() == "sha1"


def _is_folder(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode)


def _is_program(mode: str) -> bool:
    """Return whether a mode of git is that of a file that can be run."""
    return mode == "100755"
