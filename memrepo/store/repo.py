"""The one writer: a chain of commits through one fast-import stream, then a fast-forward.

The rules and why they are as they are: docs/git-model.md, "How a run writes".
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import Layout
from memrepo.store import journal
from memrepo.store.gitenv import NotARepository, find_layout, opened
from memrepo.store.lock import lock
from memrepo.store.stream import Chain, write_stream
from memrepo.store.tree import Snapshot, snapshot

if TYPE_CHECKING:
    from git import Repo

TX = "refs/memrepo/tx/"
WRITE_WAIT_S = 10.0
_MIDDLE_OF = {
    "MERGE_HEAD": "a merge", "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase", "rebase-apply": "a rebase", "BISECT_LOG": "a bisect",
}  # fmt: skip
_SAFE_MERGE = ("core.hooksPath=/dev/null", "merge.verifySignatures=false")


class CannotWork(MemrepoError):
    """The repository is in a state in which nothing may be written."""


class FilesInTheWay(MemrepoError):
    """Uncommitted work lies on paths that are to be written; it is left as it is."""

    def __init__(self, paths: Sequence[str]) -> None:
        named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        super().__init__(
            f"found uncommitted changes on paths to be written: {named}",
            fix="commit them, or move them away, and run the command again",
        )
        self.paths = tuple(paths)


class BranchMoved(MemrepoError):
    """Somebody committed to the branch while a plan was computed."""

    exit_code = Exit.DECIDE

    def __init__(self, branch: str) -> None:
        super().__init__(
            f"{branch} moved while the change was computed",
            fix="run the command again",
        )


class Repository:
    """A memory repository: its git repository, layout, and the only way to write to it."""

    def __init__(self, repo: Repo, layout: Layout) -> None:
        self.repo = repo
        self.layout = layout

    @property
    def root(self) -> Path:
        """Return the work tree's folder."""
        return Path(str(self.repo.working_tree_dir))

    @cached_property
    def folder(self) -> Path:
        """Return memrepo's own folder in the common git directory."""
        return Path(self.repo.common_dir) / "memrepo"

    @cached_property
    def branch(self) -> str:
        """Return the full name of the branch HEAD names; raises CannotWork when detached."""
        try:
            return str(self.repo.git.symbolic_ref("-q", "HEAD"))
        except self.git_error as error:
            raise CannotWork(
                "HEAD is detached: a run needs a branch to land on",
                fix="`git switch -c <name>` keeps these commits, `git switch main` leaves them",
            ) from error

    @property
    def git_error(self) -> type[Exception]:
        """Return the exception that a failing git command raises."""
        from git.exc import GitCommandError

        return GitCommandError

    def head(self) -> str:
        """Return the id of the commit at HEAD, or an empty string on a branch not yet born."""
        try:
            return str(self.repo.git.rev_parse("--verify", "--quiet", "HEAD^{commit}"))
        except self.git_error:
            return ""

    def resolve(self, revision: str) -> str:
        """Return the commit id a person's revision names, or an empty string."""
        try:
            return str(
                self.repo.git.rev_parse(
                    "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
                )
            )
        except self.git_error:
            return ""

    def snapshot(self, commit: str) -> Snapshot:
        """Return the tree of a commit."""
        return snapshot(self.repo, commit, self.layout)

    def commit_time(self, commit: str) -> datetime:
        """Return a commit's committer date."""
        return datetime.fromtimestamp(
            int(self.repo.git.show("-s", "--format=%ct", commit, "--")), tz=UTC
        )

    def not_before(self, now: datetime, base: str) -> datetime:
        """Return the date a commit on `base` gets: never before its parent's (rulings, 5)."""
        return max(now, self.commit_time(base)) if base else now

    # -- locks and recovery ------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """Hold the run lock: a second run gives up at once with Locked."""
        with lock(self.folder, "run"):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock, after finishing or dropping what a crash left."""
        with lock(self.folder, "write", wait_s=WRITE_WAIT_S):
            self._recover()
            yield

    def _recover(self) -> None:
        left = journal.load(self.folder)
        if left is None:
            return
        if left.tip and left.branch == self.branch:
            self._drop_index_lock()
            if self.head() == left.base:
                self._make_way(left.base, left.tip)
                self._forward(left.tip)
            elif self.head() != left.tip:
                self._clear_leftovers(left.base, left.tip)
        self._delete_ref(left.ref)
        journal.clear(self.folder)

    def _drop_index_lock(self) -> None:
        # Only our own interrupted fast-forward can have left it: the journal says one was under
        # way, and no memrepo process lives (we hold its lock).
        Path(self.repo.git_dir, "index.lock").unlink(missing_ok=True)

    def _clear_leftovers(self, base: str, tip: str) -> None:
        """Take back new files that a dropped write had put into the work tree already."""
        tracked = set(self._listed("ls-files", "-z"))
        for path, blob in self.changed(base, tip).items():
            if blob and path not in tracked and self._work_blob(path) == blob:
                (self.root / path).unlink()

    def _delete_ref(self, ref: str) -> None:
        self.repo.git.update_ref("-d", ref)

    # -- writing -----------------------------------------------------------------------------

    def refuse_unfit(self) -> None:
        """Raise CannotWork where the repository is in the middle of something, or shallow."""
        git_dir = Path(self.repo.git_dir)
        for name, what in _MIDDLE_OF.items():
            if (git_dir / name).exists():
                raise CannotWork(
                    f"the repository is in the middle of {what}",
                    fix="finish or abort it (`git status` says how), then run the command again",
                )
        if self.repo.git.ls_files("--unmerged"):
            raise CannotWork(
                "the index holds unmerged paths",
                fix="resolve them (`git status` names them) and commit, then run again",
            )
        if (Path(self.repo.common_dir) / "shallow").exists():
            raise CannotWork(
                "this is a shallow clone: history that runs rely on is not here",
                fix="`git fetch --unshallow` brings it",
            )
        _ = self.branch

    def build(self, chain: Chain, name: str) -> str:
        """Stream a chain into a transaction ref and return its tip; the branch is untouched."""
        ref = TX + name
        with tempfile.TemporaryFile() as stream:
            write_stream(stream, chain, ref)
            stream.seek(0)
            self.repo.git.fast_import("--quiet", "--done", istream=stream)
        return str(self.repo.git.rev_parse("--verify", ref))

    def land(self, chain: Chain, name: str) -> str:
        """Write a chain and fast-forward the branch to it; return the new commit.

        Work tree files that already hold exactly the new content are taken as they lie. Raises
        BranchMoved, FilesInTheWay or CannotWork; then nothing changed.
        """
        with self.writing():
            self.refuse_unfit()
            if self.head() != chain.base:
                raise BranchMoved(self.branch)
            paths = {path for commit in chain.commits for path in commit.effect.files}
            self._refuse_filters(paths)
            note = journal.Journal(branch=self.branch, base=chain.base, ref=TX + name)
            journal.save(self.folder, note)
            try:
                tip = self.build(chain, name)
                self._make_way(chain.base, tip)
                journal.save(
                    self.folder,
                    journal.Journal(branch=note.branch, base=note.base, ref=note.ref, tip=tip),
                )
                self._forward(tip)
            finally:
                self._delete_ref(note.ref)
                journal.clear(self.folder)
        return tip

    def leave(self, chain: Chain, branch: str) -> str:
        """Write a chain and leave it on a branch of its own for review; return its tip."""
        with self.writing():
            self.refuse_unfit()
            tip = self.build(chain, branch.replace("/", "-"))
            self.repo.git.update_ref(f"refs/heads/{branch}", tip)
            self._delete_ref(TX + branch.replace("/", "-"))
        return tip

    def maintain(self) -> None:
        """Let git pack what many small runs left loose, when it thinks it is due."""
        with self.writing():
            self.repo.git.maintenance("run", "--auto", "--quiet")

    def _forward(self, tip: str) -> None:
        """Fast-forward: git checks dirty and untracked files, writes the tree, then the ref."""
        self.repo.git.update_index("-q", "--refresh", with_exceptions=False)
        try:
            self.repo.git(c=_SAFE_MERGE).merge(
                "--ff-only", "--quiet", "--no-autostash", "--no-overwrite-ignore", tip
            )
        except self.git_error as error:
            raise CannotWork(
                f"git refused to fast-forward: {_stderr(error)}",
                fix="move the files it names out of the way and run the command again",
            ) from error

    def changed(self, base: str, tip: str) -> dict[str, str]:
        """Return what differs between two commits: blob id by path, empty where a file goes."""
        old = base or self.repo.git.hash_object("-t", "tree", "/dev/null")
        raw = self.repo.git.diff_tree(
            "-r", "-z", "--no-renames", old, tip, strip_newline_in_stdout=False
        )
        parts = raw.split("\0")
        found = {}
        for head, path in zip(parts[0::2], parts[1::2], strict=False):
            blob = head.split(" ")[3]
            found[path] = "" if set(blob) == {"0"} else blob
        return found

    def _make_way(self, base: str, tip: str) -> None:
        """Raise FilesInTheWay, or put into the index what the work tree already holds.

        A fast-forward refuses even identical untracked files; with the index at the target it
        keeps them. A path whose staged side differs too is somebody's work and is left alone.
        """
        changed = self.changed(base, tip)
        held, blocked = [], []
        for path, state in self.dirty(changed).items():
            if path not in changed or self._staged_as(path, state, changed[path]):
                continue
            if state != "!!" and state[0] in " ?" and self._work_blob(path) == changed[path]:
                if changed[path]:
                    held.append(f"100644 {changed[path]}\t{path}\0")
            else:
                blocked.append(path)
        if blocked:
            raise FilesInTheWay(sorted(blocked))
        if held:
            self._feed("update_index", "-z", "--index-info", lines=held)

    def _staged_as(self, path: str, state: str, blob: str) -> bool:
        return state[0] in "MAD" and state[1] == " " and self._work_blob(path) == blob

    def _feed(self, command: str, *arguments: str, lines: Iterable[str]) -> str:
        """Run a git command with lines on its standard input; no path ever is an argument."""
        with tempfile.TemporaryFile() as stream:
            stream.writelines(line.encode("utf-8", "surrogateescape") for line in lines)
            stream.seek(0)
            run = getattr(self.repo.git, command)
            return str(run(*arguments, istream=stream, strip_newline_in_stdout=False))

    def dirty(self, paths: Iterable[str] = ()) -> Mapping[str, str]:
        """Return uncommitted work: two-letter status by path (`??` untracked, `!!` ignored).

        With `paths`, only below the top folders that they name.
        """
        tops = sorted({path.split("/", 1)[0] for path in paths})
        raw = self.repo.git(literal_pathspecs=True).status(
            "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames",
            "--", *tops, strip_newline_in_stdout=False,
        )  # fmt: skip
        return {entry[3:]: entry[:2] for entry in raw.split("\0") if len(entry) > 3}

    def _refuse_filters(self, paths: Iterable[str]) -> None:
        raw = self._feed(
            "check_attr", "-z", "--stdin", "filter", lines=(f"{path}\0" for path in paths)
        )
        parts = raw.split("\0")
        for path, value in zip(parts[0::3], parts[2::3], strict=False):
            if value not in ("unspecified", "unset"):
                raise CannotWork(
                    f"{path}: found the git filter {value!r}, which memrepo would bypass",
                    fix="exclude memrepo's folders from the filter in .gitattributes",
                )

    def _listed(self, *command: Any) -> list[str]:
        name, *rest = command
        run = getattr(self.repo.git, str(name).replace("-", "_"))
        return [p for p in run(*rest, strip_newline_in_stdout=False).split("\0") if p]

    def work_bytes(self, path: str) -> bytes | None:
        """Return a work tree file's bytes, or None where there is no file; no link is followed."""
        try:
            descriptor = os.open(self.root / path, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "rb") as handle:
                return handle.read()
        except OSError:
            return None

    def _work_blob(self, path: str) -> str:
        data = self.work_bytes(path)
        return "" if data is None else self.blob_id(data)

    def blob_id(self, data: bytes) -> str:
        """Return the id git gives to a blob of these bytes in this repository."""
        return str(_hash(self._object_format)(b"blob %d\0" % len(data) + data).hexdigest())

    @cached_property
    def _object_format(self) -> str:
        return str(self.repo.git.rev_parse("--show-object-format"))


def _hash(name: str) -> Any:
    return {"sha1": hashlib.sha1, "sha256": hashlib.sha256}[name]


def _stderr(error: Exception) -> str:
    text = str(getattr(error, "stderr", "") or error)
    return " ".join(text.replace("stderr:", "").strip(" '\n").split())


@contextmanager
def open_repository(where: Path) -> Iterator[Repository]:
    """Open the memory repository that holds a folder; raises NotARepository."""
    with opened(where) as repo:
        made = Repository(repo, Layout())
        head = made.head()
        layout = find_layout(repo, head) if head else None
        if layout is None:
            raise NotARepository(where, "found a git repository, but no memrepo.toml at its HEAD")
        made.layout = layout
        yield made
