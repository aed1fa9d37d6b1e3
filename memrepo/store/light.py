"""Git without GitPython, for what runs at every commit: importing that takes longer than git does.

Nothing here writes, but for `put_in_index`. Contents are read by object id through one process.
"""

from __future__ import annotations

import os
import subprocess
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from memrepo.core.errors import MemrepoError
from memrepo.store.gitenv import in_english, isolate, told, verb_of

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_GIT = "git"
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "color.ui=false")
_JOINING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG")
FILES = ("100644", "100755")
_YEAR_10000 = 253402300800


class GitSaid(MemrepoError):
    """Git could not answer."""

    def __init__(self, verb: str, text: str) -> None:
        super().__init__(f"git {verb} failed: {told(text)}", fix="`git status` says more")


class Blobs:
    """Contents by object id, through one standing `git cat-file`."""

    def __init__(self, git: Git) -> None:
        self._process = git.start("cat-file", "--batch")
        self.owner = os.getpid()
        # A tree may be read after its repository was closed: nobody closes this one then.
        self.close = weakref.finalize(self, end, self._process)

    def read(self, blob: str) -> bytes:
        """Return the bytes of a blob; raises GitSaid where the repository lacks it.

        Git ends where a remote has it and is out of reach: BrokenPipeError from then on.
        """
        into, out = self._pipes()
        into.write(f"{blob}\n".encode())
        into.flush()
        return _next(out, blob)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process.stdin is None or self._process.stdout is None:
            raise GitSaid("cat-file", "no pipe")
        return self._process.stdin, self._process.stdout


def _next(out: IO[bytes] | None, blob: str) -> bytes:
    """Read the next content that `cat-file --batch` gives."""
    head = out.readline().split() if out else []
    if not out or len(head) != 3:
        raise GitSaid("cat-file", f"{blob} is missing")
    return out.read(int(head[2]) + 1)[:-1]


def end(process: subprocess.Popen[bytes]) -> None:
    """End a standing process."""
    for pipe in filter(None, (process.stdin, process.stdout)):
        with suppress(BrokenPipeError):
            pipe.close()
    process.wait()


class Git:
    """The repository that holds a folder; None of it is opened before it is asked for."""

    def __init__(self, top: Path) -> None:
        isolate(keep_index=True)
        self.top = top
        self._blobs: Blobs | None = None

    @property
    def folder(self) -> Path:
        """Return the git directory of this work tree."""
        place = self.top / ".git"
        if place.is_dir():
            return place
        return self.top / place.read_text("utf-8").removeprefix("gitdir:").strip()

    @property
    def joining(self) -> bool:
        """Tell whether a merge, or what works like one, is being committed."""
        return any((self.folder / name).exists() for name in _JOINING)

    def _command(self, words: Iterable[str]) -> list[str]:
        return [_GIT, "-C", str(self.top), *_SAFE, *words]

    def start(self, *words: str, index: Path | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes; on an index of memrepo's own where one is named."""
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self._command(words),
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=in_english(index),
        )

    def ask(self, *words: str, fed: bytes = b"", no: int = 0) -> str:
        """Return what git prints; raises GitSaid when it fails with another code than `no`."""
        return self.raw(*words, fed=fed, no=no).decode("utf-8", "surrogateescape")

    def raw(self, *words: str, fed: bytes = b"", no: int = 0) -> bytes:
        """Return what git prints as it is; as `ask`."""
        done = subprocess.run(
            self._command(words),
            input=fed,
            capture_output=True,
            check=False,
            env=in_english(),
        )
        if done.returncode not in (0, no):
            raise GitSaid(verb_of(words), done.stderr.decode("utf-8", "replace"))
        return done.stdout

    def read(self, blob: str) -> bytes:
        """Return the bytes of a blob."""
        if self._blobs is not None and self._blobs.owner != os.getpid():
            # A forked child would get the answers of its parent.
            self._blobs.close.detach()
            self._blobs = None
        self._blobs = self._blobs or Blobs(self)
        try:
            return self._blobs.read(blob)
        except BrokenPipeError:
            self.close()
            self._blobs = Blobs(self)
            return self._blobs.read(blob)

    def each(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """Yield the bytes of blobs, in order; git reads ahead. Raises GitSaid where one is missing.

        What is asked comes from a file: nobody waits for a turn of the other.
        """
        import tempfile

        with tempfile.TemporaryFile() as asked:
            asked.writelines(f"{blob}\n".encode() for blob in blobs)
            asked.seek(0)
            process = subprocess.Popen(
                self._command(("cat-file", "--batch", "--buffer")),
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=in_english(),
            )
            try:
                yield from map(partial(_next, process.stdout), blobs)
            finally:
                end(process)

    def close(self) -> None:
        """End what was started."""
        if self._blobs is not None:
            self._blobs.close()
            self._blobs = None

    def __enter__(self) -> Git:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ask(repo: Repo, *words: str, lines: Iterable[str] = (), forgive: bool = False) -> str:
    """Return what git prints at the top of the work tree, untouched; paths are no patterns.

    `lines` go to its standard input. With `forgive` a failure is an empty answer. Raises GitSaid.
    """
    fed = "".join(lines).encode("utf-8", "surrogateescape")
    try:
        return repo.light.ask("--literal-pathspecs", *words, fed=fed)
    except GitSaid:
        if forgive:
            return ""
        raise


def top_of(where: Path) -> Path | None:
    """Return the top of the work tree that holds a folder, or None outside of any."""
    return next((p for p in (where, *where.parents) if (p / ".git").exists()), None)


def staged(git: Git) -> Iterator[tuple[str, str, str, str]]:
    """Yield what the index changes against HEAD: path, mode, blob before and after.

    The mode is that of the index; a blob that is not there is empty.
    """
    raw = git.ask(
        "diff",
        "--cached",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--no-relative",
        "--no-ext-diff",
        "--ignore-submodules=none",
    )
    yield from _differences(raw)


def _differences(raw: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, mode after, blob before and after of git's raw form; a missing one is empty."""
    parts = raw.split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, old, new, _ = head.split(" ")
        yield path, mode, old.strip("0") and old, new.strip("0") and new


def listed(git: Git, *patterns: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, mode and blob of the files in the index that fit git's path patterns."""
    raw = git.ask("ls-files", "-s", "-z", "--full-name", "--", *patterns) if patterns else ""
    for entry in filter(None, raw.split("\0")):
        head, path = entry.split("\t", 1)
        mode, blob, _ = head.split(" ")
        yield path, mode, blob


def at_head(git: Git, paths: Iterable[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield path, mode and blob of files at HEAD, of all where none are named; none unborn."""
    if not git.ask("rev-parse", "-q", "--verify", "HEAD", no=1):
        return
    raw = git.ask("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *paths)
    for entry in filter(None, raw.split("\0")):
        head, path = entry.split("\t", 1)
        mode, _, blob = head.split(" ")
        yield path, mode, blob


def introduced(git: Git, *revisions: str) -> Iterator[tuple[str, str, str]]:
    """Yield commit, path and blob of each file that commits add or change, merges included.

    `revisions` are those of rev-list; a blob under one path comes once.
    """
    seen = set[tuple[str, str]]()
    commits = git.ask("rev-list", *revisions)
    for commit, path, mode, _, blob in _of_commits(git, commits, "-m", "--diff-filter=AMT"):
        if mode in FILES and (path, blob) not in seen:
            seen.add((path, blob))
            yield commit, path, blob


def changes(git: Git, commits: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield commit, path, blob before and blob after of what commits changed; no merges.

    A blob that is missing is empty.
    """
    for commit, path, mode, old, new in _of_commits(git, "\n".join(commits)):
        if mode in (*FILES, "000000"):
            yield commit, path, old.strip("0") and old, new.strip("0") and new


def _of_commits(git: Git, commits: str, *options: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield commit, path, mode after, blob before and after of what each commit changed."""
    if not commits.strip():
        return
    raw = git.ask(
        "diff-tree",
        "--stdin",
        "-r",
        "--root",
        "--raw",
        "-z",
        "--no-renames",
        "--no-abbrev",
        *options,
        fed=f"{commits.strip()}\n".encode(),
    )
    commit, parts = "", iter(raw.split("\0"))
    for part in filter(None, parts):
        if part.startswith(":"):
            _, mode, old, new, _ = part[1:].split(" ")
            yield commit, next(parts), mode, old, new
        else:
            commit = part.split()[0]


def messages(git: Git, *revisions: str) -> Iterator[tuple[str, str]]:
    """Yield each commit of rev-list's `revisions` with its message."""
    raw = git.ask("log", "-z", "--format=%H%n%B", *revisions)
    for entry in filter(None, raw.split("\0")):
        commit, _, text = entry.partition("\n")
        yield commit, text


def put_in_index(git: Git, old: str, new: str, data: bytes) -> None:
    """Put a file into the index that git commits, in place of the one at its old path."""
    blob = git.ask("hash-object", "-w", "--stdin", fed=data).strip()
    lines = [f"0 {'0' * 40}\t{old}"] if old != new else []
    lines.append(f"100644 {blob}\t{new}")
    git.ask("update-index", "-z", "--index-info", fed="\0".join([*lines, ""]).encode())


def seconds(said: str) -> int:
    """Return a commit's time as seconds since the epoch: 0 where its date makes no sense."""
    found = int(said.strip() or 0)
    return found if found < _YEAR_10000 else 0


class HandCommit(msgspec.Struct, frozen=True):
    """A commit that memrepo did not make: id, the author's e-mail, and seconds since the epoch."""

    id: str
    email: str
    when: int


def hand_commits(git: Git, revisions: str) -> Iterator[HandCommit]:
    """Yield the commits of a range that memrepo did not make, oldest first; no merges."""
    form = "%H%x00%ae%x00%at%x00%(trailers:key=Memrepo-Op,valueonly)"
    raw = git.ask("log", "-z", "--no-merges", "--reverse", f"--format={form}", revisions)
    for commit, email, when, op in zip(*[iter(raw.split("\0")[:-1])] * 4, strict=True):
        if not op.strip():
            yield HandCommit(commit, email, seconds(when))
