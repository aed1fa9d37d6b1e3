"""Run git as a program: its environment, individual calls, and reading of objects.

One `git cat-file --batch` process serves all readers. Object names are written in batches that fit
in a pipe, and a batch is read completely before any of it is returned. If the process ends, it is
restarted once. If it ends again without an answer, GitFailed is raised, so a crash is never
mistaken for a missing object.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import msgspec

from memrepo.core.errors import MemrepoError
from memrepo.core.patterns import regex
from memrepo.store.errors import Missing, StoreError

_SECRET = regex(r"://[^/@\s]+@")


def refuse_no_git() -> None:
    """Raise StoreError if git is not installed."""
    import shutil

    if shutil.which("git") is None:
        raise StoreError("no-git")


def verb_of(words: Iterable[str]) -> str:
    """Return the subcommand of a git command: the first word that is not an option or setting."""
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")


def one_line(text: str) -> str:
    """Join git's output lines into one line, and remove passwords from URLs."""
    return _SECRET.sub("://...@", " ".join(text.split()))


def isolate(*, keep_index: bool = False) -> None:
    """Remove git's variables from this process's environment, so only paths select a repository.

    Hooks set `keep_index`, because `git commit -a` and partial commits use a separate index file.
    """
    for name in _LOCAL_VARIABLES:
        if not (keep_index and name == "GIT_INDEX_FILE"):
            os.environ.pop(name, None)
    # None of our commands may stop to ask for a password or open an editor.
    os.environ.setdefault("GIT_TERMINAL_PROMPT", "0")
    os.environ["GIT_EDITOR"] = "true"
    # Content is read by object id. A replacement or a lazy index refresh must not interfere.
    os.environ["GIT_NO_REPLACE_OBJECTS"] = "1"
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"


def in_english() -> dict[str, str]:
    """Return an environment in which git prints English, and paths are not patterns."""
    return {**os.environ, "LANGUAGE": "C", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "1"}


def index_of_commit() -> str:
    """Return the index file that git commits from, or "" if the hook received none."""
    return Path(os.environ.get("GIT_INDEX_FILE", "")).name


def user_folder() -> Path:
    """Return memrepo's folder of this user, by the XDG base directory rules."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "memrepo"


def agent_name() -> str:
    """Return the agent's name for telemetry from the environment, or `unknown`."""
    return os.environ.get("OPENCLAW_AGENT_ID") or os.environ.get("AGENT_ID") or "unknown"


_GIT = "git"
_DATA = Path(__file__).with_name("git-settings.txt").read_text(encoding="utf-8").splitlines()
SETTINGS = [line for line in _DATA if "=" in line and not line.startswith("#")]
"""Settings for every git process that memrepo starts."""
_LOCAL_VARIABLES = [line for line in _DATA if line.startswith("GIT_")]
"""Variables that would point our git processes at another repository."""
_MERGE_FILES = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG")
FILE = "100644"
FILES = (FILE, "100755")
_YEAR_10000 = 253402300800


_SYSTEM = tuple(
    os.strerror(code)
    for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EIO)
)
"""System error messages, as git prints them in English, for a full disk or denied access."""


_LOCK = regex(r"Unable to create '([^'\n]{1,4096}\.lock)': File exists")


class GitFailed(MemrepoError):
    """Raised when git refused a command, failed, or ended before it answered.

    `code` is git's exit code, negative if a signal ended it. `by_system` is True if the disk, a
    file's permissions or a git lock is the cause. `fix` then names that cause.
    """

    def __init__(self, verb: str, text: str, code: int = 0) -> None:
        cause = one_line(text) or (f"signal {-code} ended it" if code < 0 else f"exit code {code}")
        fix = "for details, run `git status` and `git fsck`"
        lock = _LOCK.search(text)
        if lock:
            fix = "run the command again when the other git has ended; if none is running, remove"
            fix += f" {lock[1]}"
        self.by_system = bool(lock) or any(words in text for words in _SYSTEM)
        if self.by_system and not lock:
            fix = "free disk space, or give the user that runs memrepo write permission there"
        super().__init__(f"git {verb} failed: {cause}", fix=fix)
        self.cause = cause
        self.code = code


@contextmanager
def _called() -> Iterator[None]:
    """Run the block, and raise StoreError("no-git") if the git program cannot be started."""
    try:
        yield
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == _GIT:
            raise StoreError("no-git") from None
        raise


class Git:
    """Git in one work tree. The object owns long-running git processes, which `close` ends."""

    def __init__(self, top: Path) -> None:
        isolate(keep_index=True)
        self.top = top
        self.closed = False
        self._processes: list[subprocess.Popen[bytes]] = []

    @cached_property
    def objects(self) -> ObjectReader:
        """Return the object reader. All readers of this repository share one git process."""
        return ObjectReader(self)

    @property
    def folder(self) -> Path:
        """Return the path of this work tree's git directory."""
        place = self.top / ".git"
        if place.is_dir():
            return place
        return self.top / place.read_text("utf-8").removeprefix("gitdir:").strip()

    @property
    def is_merging(self) -> bool:
        """Return whether the current commit completes a merge, cherry-pick, revert or squash."""
        return any((self.folder / name).exists() for name in _MERGE_FILES)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start git with pipes. Call `end` to stop the process."""
        pipe = subprocess.PIPE
        with _called():
            process = subprocess.Popen(
                self._command(words),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                env=in_english(),
            )
        self._processes.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Terminate a process started by `start`, even if it is still working."""
        self._processes.remove(process)
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
        process.terminate()
        process.wait()

    def call(
        self,
        *words: str,
        data: bytes = b"",
        lines: Iterable[str] = (),
        stdin: int | None = None,
        inherited: tuple[int, ...] = (),
        accepted: int = 0,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Run git and return its unmodified output. Raises GitFailed on failure.

        Paths are matched literally, not as patterns. Standard input is `data`, `lines` or the
        descriptor `stdin`. Git inherits descriptors, so a lock among them stays locked while git
        runs, even if this process dies. The exit code `accepted` counts as an answer. Without
        `check` every exit code does, but ending by a signal is always a failure.
        """
        data = data or "".join(lines).encode("utf-8", "surrogateescape")
        source: dict[str, Any] = {"input": data} if data else {"stdin": stdin or subprocess.DEVNULL}
        code, out, err = self.ask(*words, env=env, pass_fds=inherited, **source)
        if check and code not in (0, accepted):
            raise GitFailed(verb_of(words), err, code)
        return out

    def ask(
        self, *words: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> tuple[int, str, str]:
        """Run git and return its exit code, output and errors. Raises GitFailed after a signal."""
        with _called():
            done: subprocess.CompletedProcess[bytes] = subprocess.run(
                self._command(words),
                capture_output=True,
                check=False,
                env={**in_english(), **(env or {})},
                **(options or {"stdin": subprocess.DEVNULL}),
            )
        err = done.stderr.decode("utf-8", "replace")
        if done.returncode < 0:
            raise GitFailed(verb_of(words), err, done.returncode)
        return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), err

    def _command(self, words: Iterable[str]) -> list[str]:
        words = [*words]
        # Our settings must not hide the user's configuration from `git config`.
        settings = () if words[:1] == ["config"] else SETTINGS
        options = (word for setting in settings for word in ("-c", setting))
        return [_GIT, "-C", str(self.top), *options, *words]

    def read(self, blob: str) -> bytes:
        """Return the content of a blob. Raises Missing if the repository lacks the blob."""
        return self.objects.read(blob)

    def stop(self) -> None:
        """End all long-running processes, for example because they hold old packs open."""
        for process in [*self._processes]:
            self.end(process)

    def close(self) -> None:
        """End all long-running processes. Later reads start one process per answer."""
        self.closed = True
        self.stop()

    def __enter__(self) -> Git:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def top_of(where: Path) -> Path | None:
    """Return the top folder of the work tree that contains a folder, or None if there is none."""
    return next((p for p in (where, *where.parents) if (p / ".git").exists()), None)


def seconds(text: str) -> int:
    """Return a commit's time in seconds since the epoch, or 0 for the year 10000 and later."""
    found = int(text.strip() or 0)
    return found if found < _YEAR_10000 else 0


LONGEST = 64 * 1024 * 1024
"""Size limit in bytes for sources and memories. Larger blobs are not read into memory."""
FOLDER = "040000"
_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KINDS = {kind.encode(): kind for kind in ("blob", "tree", "commit", "tag")}
_BATCH = 100
"""Maximum number of objects in memory at once. The names of a batch fit in a pipe."""
_NAMES_BYTES = 32 * 1024
_CHUNK = 1024 * 1024


class Object(msgspec.Struct, frozen=True):
    """A git object: its id, its kind (blob, tree, commit or tag) and its content."""

    id: str
    kind: str
    data: bytes


class TreeEntry(msgspec.Struct, frozen=True):
    """An entry of a git tree: an object id, and a mode as printed by `git ls-tree`."""

    mode: str
    id: str


ABSENT = TreeEntry("000000", "")


class ObjectReader:
    """Access to a repository's objects, by id or by any other name that git resolves."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def find(self, name: str) -> Object | None:
        """Return the object with a given name, or None if it does not exist."""
        return next(self.each([name]))

    def read(self, name: str) -> bytes:
        """Return the content of an object that must exist. Raises Missing or GitFailed."""
        if (found := self.find(name)) is None:
            raise Missing(name=name)
        return found.data

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision names, or "" if there is none."""
        found = self.find(f"{revision}^{{commit}}")
        return found.id if found is not None else ""

    def each(self, names: Iterable[str], limit: int | None = None) -> Iterator[Object | None]:
        """Yield the objects with the given names, in the same order.

        Yield None for an object that does not exist or has more than `most` bytes. Also yield None
        for a name that contains a line break, because git reads one name per line.
        """
        names = iter(names)
        ahead: str | None = next(names, None)
        while ahead is not None:
            batch, size = [ahead], len(ahead)
            for ahead in names:
                size += len(ahead)
                if len(batch) == _BATCH or size > _NAMES_BYTES:
                    break
                batch.append(ahead)
            else:
                ahead = None
            yield from self._batch(batch, limit)

    # -- trees -------------------------------------------------------------------------------

    def files(self, tree: str) -> Iterator[tuple[str, TreeEntry]]:
        """Yield the (path, entry) pairs of all files in a tree or commit, including subfolders."""
        open_ = [(b"", self._tree(tree))]
        while open_:
            above, entries = open_.pop()
            for name, entry in entries.items():
                if entry.mode == FOLDER:
                    open_.append((above + name + b"/", self._tree(entry.id)))
                else:
                    yield (above + name).decode("utf-8", "surrogateescape"), entry

    def at(self, tree: str, path: str) -> TreeEntry | None:
        """Return the entry at a path in a tree or commit, or None if the path is absent."""
        entry: TreeEntry | None = TreeEntry(FOLDER, tree)
        for name in path.encode("utf-8", "surrogateescape").split(b"/"):
            if entry is None or entry.mode != FOLDER:
                return None
            entry = self._tree(entry.id).get(name)
        return entry

    def differences(self, one: str, other: str) -> Iterator[tuple[str, TreeEntry, TreeEntry]]:
        """Yield (path, entry before, entry after) for each difference between two trees."""
        before, after = (TreeEntry(FOLDER, tree) if tree else ABSENT for tree in (one, other))
        open_ = [(b"", before, after)]
        while open_:
            above, before, after = open_.pop()
            first, second = (
                self._tree(side.id) if side.mode == FOLDER else {} for side in (before, after)
            )
            for name in dict.fromkeys((*first, *second)):
                a, b = first.get(name, ABSENT), second.get(name, ABSENT)
                if a == b:
                    continue
                if FOLDER in (a.mode, b.mode):
                    open_.append((above + name + b"/", a, b))
                a, b = (side if side.mode != FOLDER else ABSENT for side in (a, b))
                if a != b:
                    yield (above + name).decode("utf-8", "surrogateescape"), a, b

    def missing(self, commit: str) -> dict[str, str]:
        """Return {path: id} of the objects missing from the tree of a commit.

        Return an empty dict in a partial clone, where a remote has promised the objects. If the
        object of a folder is missing, return one missing id under an empty path.
        """
        words = ("rev-list", "--objects", "--missing=print", "--no-walk", commit)
        lines = self._git.call(*words, check=False).split("\n")
        lost = {line[1:] for line in lines if line.startswith("?")}
        if not lost or self.is_partial():
            return {}
        try:
            return {path: e.id for path, e in self.files(commit) if e.id in lost}
        except Missing:
            return {"": min(lost)}

    def every(self) -> Iterator[Object]:
        """Yield every object stored in the repository, whether reachable or not."""
        ids = self._git.call("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        yield from filter(None, self.each(ids.split()))

    def _tree(self, name: str) -> Mapping[bytes, TreeEntry]:
        found = self.find(f"{name}^{{tree}}")
        if found is None:
            raise Missing(name=name)
        return dict(_entries(found.data, len(found.id) // 2))

    # -- the child process -------------------------------------------------------------------

    def _batch(self, names: Sequence[str], limit: int | None) -> list[Object | None]:
        found: list[Object | None] = []
        failed_at = -1
        while len(found) < len(names):
            try:
                self._read_answers(names[len(found) :], limit, found)
            except (BrokenPipeError, EOFError):
                if len(found) > failed_at:
                    failed_at = len(found)
                elif self.is_partial():
                    found.append(None)  # the remote with the object cannot be reached
                else:
                    self._git.call("rev-parse", "--git-dir")  # fails with a clear message
                    raise GitFailed("cat-file", "it ended before it answered") from None
        return found

    def _read_answers(
        self, names: Sequence[str], limit: int | None, found: list[Object | None]
    ) -> None:
        """Request objects from the git process, and append its answers as they are read."""
        process = self._running()
        try:
            into, out = process.stdin, process.stdout
            if into is None or out is None:
                raise EOFError
            lines = (name if "\n" not in name else "" for name in names)
            into.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
            into.flush()
            for name in names:
                found.append(_answer(out, name, limit))  # noqa: PERF401 - survives an error
        except BaseException:
            self._end()  # unread output would be mistaken for the next answers
            raise
        if self._git.closed:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # A forked child process would receive the answers of its parent.
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.stdin is None or self._process.stdin.closed:
            self._process = self._git.start("cat-file", "--batch")
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._git.end(self._process)
            self._process = None

    def is_partial(self) -> bool:
        """Return whether this is a partial clone, whose missing objects a remote has promised."""
        words = ("config", "--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$")
        return bool(self._git.call(*words, accepted=1))


def _answer(out: IO[bytes], name: str, limit: int | None) -> Object | None:
    """Read one answer of `cat-file --batch`. Raises EOFError at the end or for invalid output."""
    head = out.readline()
    words = head.split()
    if len(words) != 3 or words[1] not in _KINDS or not words[2].isdigit():
        if head.endswith((b" missing\n", b" ambiguous\n")):
            return None
        raise EOFError
    id_, kind, size = words[0].decode(), _KINDS[words[1]], int(words[2])
    if id_ != name and _ID.fullmatch(name):
        raise EOFError
    if limit is not None and size > limit:
        remaining = size + 1
        while remaining:
            remaining -= len(_exactly(out, min(remaining, _CHUNK)))
        return None
    return Object(id_, kind, _exactly(out, size + 1)[:-1])


def _exactly(out: IO[bytes], size: int) -> bytes:
    data = out.read(size)
    if len(data) < size:
        raise EOFError
    return data


def names(tree: Object) -> list[str]:
    """Return the names of the entries in a tree object."""
    found = (name for name, _ in _entries(tree.data, len(tree.id) // 2))
    return [name.decode("utf-8", "surrogateescape") for name in found]


def _entries(data: bytes, width: int) -> Iterator[tuple[bytes, TreeEntry]]:
    """Yield (name, entry) pairs of a tree object whose ids are `width` bytes long."""
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        at = end + 1 + width
        yield name, TreeEntry(mode.decode().zfill(6), data[end + 1 : at].hex())
