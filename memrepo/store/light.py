"""The fast path to git, for hooks, searches, status, single writes, and the one writer.

GitPython is not asked: importing it takes longer than git's answers, and a lock cannot be handed to
its processes; all else goes through `door`. The settings and the error are those of both.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.core.errors import MemrepoError
from memrepo.core.patterns import regex
from memrepo.store.gitenv import NoGit, in_english, isolate, told, verb_of

if TYPE_CHECKING:
    from memrepo.store.objects import Objects

_GIT = "git"
SETTINGS = (
    # A person's settings, or a clone's, that would start a program or believe a wrong monitor.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "merge.verifySignatures=false",
    "maintenance.auto=false",
    "gc.auto=0",
    # A remote helper is a program; what a remote's settings would add to a push is none of ours.
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "push.pushOption=",
    "push.gpgSign=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "fetch.recurseSubmodules=false",
    # What would change what git prints.
    "color.ui=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.follow=false",
    "trailer.separators=:",
    "core.commentChar=#",
    "grep.patternType=basic",
    "i18n.logOutputEncoding=UTF-8",
)
"""What holds for every git that memrepo starts, here and behind the door."""
_JOINING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG")
FILES = ("100644", "100755")
_YEAR_10000 = 253402300800


_SYSTEM = tuple(
    os.strerror(code)
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO)
)
"""How git, run in English, quotes the system where there is no room or no right to write."""


_LOCK = regex(r"Unable to create '([^'\n]{1,4096}\.lock)': File exists")


class GitFailed(MemrepoError):
    """Git refused, failed or ended before it answered; what it says is none of its answers.

    `code` is its exit code: negative where a signal ended it. `by_system` tells that the disk, a
    file's mode or a lock of git's is the cause, which `fix` names.
    """

    def __init__(self, verb: str, text: str, code: int = 0) -> None:
        cause = told(text) or (f"signal {-code} ended it" if code < 0 else f"exit code {code}")
        fix = "`git status` and `git fsck` say more"
        lock = _LOCK.search(text)
        if lock:
            fix = "run the command again when the other git has ended; if none is alive, remove"
            fix += f" {lock[1]}"
        self.by_system = bool(lock) or any(words in text for words in _SYSTEM)
        if self.by_system and not lock:
            fix = "make room, or give the user that runs memrepo the right to write there"
        super().__init__(f"git {verb} failed: {cause}", fix=fix)
        self.said = cause
        self.code = code


@contextmanager
def _called() -> Iterator[None]:
    """Raise NoGit where the program cannot be started."""
    try:
        yield
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == _GIT:
            raise NoGit from None
        raise


class Git:
    """Git at the top of a work tree; it owns the processes that stand, until `close` ends them."""

    def __init__(self, top: Path) -> None:
        isolate(keep_index=True)
        self.top = top
        self.closed = False
        self._standing: list[subprocess.Popen[bytes]] = []

    @cached_property
    def objects(self) -> Objects:
        """Return what reads objects: every reader of this repository shares its one process."""
        from memrepo.store.objects import Objects

        return Objects(self)

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

    def start(self, *words: str, index: Path | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes, on an index of memrepo's own where one is named; `end` ends it."""
        pipe = subprocess.PIPE
        with _called():
            process = subprocess.Popen(
                self._command(words),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                env=in_english(index),
            )
        self._standing.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End what `start` started, whatever it is doing."""
        self._standing.remove(process)
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
        process.terminate()
        process.wait()

    def ask(
        self,
        *words: str,
        fed: bytes = b"",
        lines: Iterable[str] = (),
        stdin: int | None = None,
        held: tuple[int, ...] = (),
        no: int = 0,
        forgive: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Return what git prints, untouched; raises GitFailed. Paths are no patterns.

        It reads what it is `fed`, or `lines`, or the descriptor `stdin`. `held` are descriptors
        that it keeps open: a lock among them stays held while git works, even when we die. The
        exit code `no` is an answer; with `forgive` any is (to be ended by a signal is none).
        """
        fed = fed or "".join(lines).encode("utf-8", "surrogateescape")
        given: dict[str, Any] = {"input": fed} if fed else {"stdin": stdin or subprocess.DEVNULL}
        with _called():
            done: subprocess.CompletedProcess[bytes] = subprocess.run(
                self._command(words),
                **given,
                capture_output=True,
                check=False,
                pass_fds=held,
                env={**in_english(), **(env or {})},
            )
        if done.returncode < 0 or (done.returncode not in (0, no) and not forgive):
            said = done.stderr.decode("utf-8", "replace")
            raise GitFailed(verb_of(words), said, done.returncode)
        return done.stdout.decode("utf-8", "surrogateescape")

    def _command(self, words: Iterable[str]) -> list[str]:
        words = [*words]
        # What a person configured is not to be asked through what we set.
        set_ = () if words[:1] == ["config"] else SETTINGS
        return [_GIT, "-C", str(self.top), *(w for one in set_ for w in ("-c", one)), *words]

    def read(self, blob: str) -> bytes:
        """Return the bytes of a blob; raises Missing where the repository lacks it."""
        return self.objects.read(blob)

    def close(self) -> None:
        """End what stands; whoever reads on has a process of its own for each answer."""
        self.closed = True
        for process in [*self._standing]:
            self.end(process)

    def __enter__(self) -> Git:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def top_of(where: Path) -> Path | None:
    """Return the top of the work tree that holds a folder, or None outside of any."""
    return next((p for p in (where, *where.parents) if (p / ".git").exists()), None)


def staged(git: Git) -> Iterator[tuple[str, str, str, str]]:
    """Yield what the index changes against HEAD: path, mode, blob before and after.

    The mode is that of the index; a blob that is not there is empty.
    """
    options = "--cached --raw -z --no-abbrev --no-renames --no-relative --no-ext-diff".split()
    yield from _differences(git.ask("diff", *options, "--ignore-submodules=none"))


def _differences(raw: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield path, mode after, blob before and after of git's raw form; a missing one is empty."""
    parts = raw.split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, old, new, _ = head.split(" ")
        yield path, mode, old.strip("0") and old, new.strip("0") and new


def listed(git: Git, *patterns: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, mode and blob of the files in the index that fit git's path patterns."""
    words = ("ls-files", "-s", "-z", "--full-name", "--", *patterns)
    raw = git.ask(*words, env={"GIT_LITERAL_PATHSPECS": "0"}) if patterns else ""
    for entry in filter(None, raw.split("\0")):
        head, path = entry.split("\t", 1)
        mode, blob, _ = head.split(" ")
        yield path, mode, blob


def at_head(git: Git, paths: Iterable[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Yield path, mode and blob of files at HEAD, of all where none are named; none unborn."""
    if not git.ask("rev-parse", "-q", "--verify", "HEAD", no=1):
        return
    raw = git.ask("ls-tree", "-r", "-z", "--full-tree", "HEAD", "--", *paths)
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
    words = "diff-tree --stdin -r --root --raw -z --no-renames --no-abbrev".split()
    raw = git.ask(*words, *options, fed=f"{commits.strip()}\n".encode())
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
