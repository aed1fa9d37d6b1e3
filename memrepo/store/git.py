"""Run git as a program: its environment, individual calls, and reading of objects.

GitPython is not used here: importing it takes longer than git takes to answer, and its processes
cannot inherit a lock. Commands that are not time-critical use `door`, with the same settings and
the same error. Hooks, searches, the status command and single writes are time-critical.

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

# The variables listed by `git rev-parse --local-env-vars`, except command-line configuration.
# Inherited from a hook or an alias, they would point our git processes at another repository.
_LOCAL = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY GIT_DIR GIT_WORK_TREE
    GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE GIT_PREFIX
    GIT_SHALLOW_FILE GIT_COMMON_DIR GIT_NAMESPACE GIT_INDEX_FILE GIT_LITERAL_PATHSPECS
    GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
""".split()

_SECRET = regex(r"://[^/@\s]+@")


class NoGit(MemrepoError):
    """Raised when the `git` program is not installed or not on the PATH."""

    def __init__(self) -> None:
        super().__init__(
            "the program `git` is not on the PATH; memrepo needs it to read and write memories",
            fix="install git 2.34 or newer, or add its folder to PATH",
        )


def refuse_no_git() -> None:
    """Raise NoGit if git is not installed.

    Importing GitPython would fail without a clear reason.
    """
    import shutil

    if shutil.which("git") is None:
        raise NoGit


def verb_of(words: Iterable[str]) -> str:
    """Return the subcommand of a git command: the first word that is not an option or setting."""
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")


def told(text: str) -> str:
    """Join git's output lines into one line, and remove passwords from URLs."""
    return _SECRET.sub("://...@", " ".join(text.split()))


def isolate(*, keep_index: bool = False) -> None:
    """Remove git's variables from this process's environment, so only paths select a repository.

    Hooks set `keep_index`, because `git commit -a` and partial commits use a separate index file.
    """
    for name in _LOCAL:
        if not (keep_index and name == "GIT_INDEX_FILE"):
            os.environ.pop(name, None)
    # None of our commands may stop to ask for a password or open an editor.
    os.environ.setdefault("GIT_TERMINAL_PROMPT", "0")
    os.environ["GIT_EDITOR"] = "true"
    # Content is read by object id. A replacement or a lazy index refresh must not interfere.
    os.environ["GIT_NO_REPLACE_OBJECTS"] = "1"
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"


def in_english(index: Path | None = None) -> dict[str, str]:
    """Return an environment in which git prints English, with `index` as index file if given."""
    ours = {"GIT_INDEX_FILE": str(index), "GIT_OPTIONAL_LOCKS": "1"} if index else {}
    said = {"LANGUAGE": "C", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "1"}
    return {**os.environ, **said, **ours}


def index_of_commit() -> str:
    """Return the index file that git commits from, or "" if the hook received none."""
    return Path(os.environ.get("GIT_INDEX_FILE", "")).name


def user_config() -> Path:
    """Return the path of memrepo's user configuration, by the XDG base directory rules."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "memrepo" / "config.toml"


def agent_name() -> str:
    """Return the agent's name for telemetry from the environment, or `unknown`."""
    return os.environ.get("OPENCLAW_AGENT_ID") or os.environ.get("AGENT_ID") or "unknown"


_GIT = "git"
SETTINGS = (
    # User or clone settings that would start a program or trust a wrong file system monitor.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "merge.verifySignatures=false",
    "maintenance.auto=false",
    "gc.auto=0",
    # A remote helper is a program. Settings of a remote must not add anything to our pushes.
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "push.pushOption=",
    "push.gpgSign=false",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "fetch.recurseSubmodules=false",
    # Settings that would change git's output.
    "color.ui=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "log.follow=false",
    "trailer.separators=:",
    "core.commentChar=#",
    "grep.patternType=basic",
    "i18n.logOutputEncoding=UTF-8",
)
"""Settings for every git process that memrepo starts, here and in `door`."""
_JOINING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG")
FILES = ("100644", "100755")
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
        cause = told(text) or (f"signal {-code} ended it" if code < 0 else f"exit code {code}")
        fix = "for details, run `git status` and `git fsck`"
        lock = _LOCK.search(text)
        if lock:
            fix = "run the command again when the other git has ended; if none is running, remove"
            fix += f" {lock[1]}"
        self.by_system = bool(lock) or any(words in text for words in _SYSTEM)
        if self.by_system and not lock:
            fix = "free disk space, or give the user that runs memrepo write permission there"
        super().__init__(f"git {verb} failed: {cause}", fix=fix)
        self.said = cause
        self.code = code


@contextmanager
def _called() -> Iterator[None]:
    """Run the block, and raise NoGit if the git program cannot be started."""
    try:
        yield
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == _GIT:
            raise NoGit from None
        raise


class Git:
    """Git in one work tree. The object owns long-running git processes, which `close` ends."""

    def __init__(self, top: Path) -> None:
        isolate(keep_index=True)
        self.top = top
        self.closed = False
        self._standing: list[subprocess.Popen[bytes]] = []

    @cached_property
    def objects(self) -> Objects:
        """Return the object reader. All readers of this repository share one git process."""
        return Objects(self)

    @property
    def folder(self) -> Path:
        """Return the path of this work tree's git directory."""
        place = self.top / ".git"
        if place.is_dir():
            return place
        return self.top / place.read_text("utf-8").removeprefix("gitdir:").strip()

    @property
    def joining(self) -> bool:
        """Return whether the current commit completes a merge, cherry-pick, revert or squash."""
        return any((self.folder / name).exists() for name in _JOINING)

    def start(self, *words: str, index: Path | None = None) -> subprocess.Popen[bytes]:
        """Start git with pipes, on another index file if given. Call `end` to stop the process."""
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
        """Terminate a process started by `start`, even if it is still working."""
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
        """Run git and return its unmodified output. Raises GitFailed on failure.

        Paths are matched literally, not as patterns. Standard input is `fed`, `lines` or the
        descriptor `stdin`. Git inherits the descriptors in `held`, so a lock among them stays
        locked while git runs, even if this process dies. The exit code `no` counts as an answer.
        With `forgive` every exit code does, but ending by a signal is always a failure.
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
        # Our settings must not hide the user's configuration from `git config`.
        set_ = () if words[:1] == ["config"] else SETTINGS
        return [_GIT, "-C", str(self.top), *(w for one in set_ for w in ("-c", one)), *words]

    def read(self, blob: str) -> bytes:
        """Return the content of a blob. Raises Missing if the repository lacks the blob."""
        return self.objects.read(blob)

    def close(self) -> None:
        """End all long-running processes. Later reads start one process per answer."""
        self.closed = True
        for process in [*self._standing]:
            self.end(process)

    def __enter__(self) -> Git:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def top_of(where: Path) -> Path | None:
    """Return the top folder of the work tree that contains a folder, or None if there is none."""
    return next((p for p in (where, *where.parents) if (p / ".git").exists()), None)


def seconds(said: str) -> int:
    """Return a commit's time in seconds since the epoch, or 0 for the year 10000 and later."""
    found = int(said.strip() or 0)
    return found if found < _YEAR_10000 else 0


LONGEST = 64 * 1024 * 1024
"""Size limit in bytes for sources and memories. Larger blobs are not read into memory."""
FOLDER = "040000"
_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KINDS = {kind.encode(): kind for kind in ("blob", "tree", "commit", "tag")}
_BATCH = 100
"""Maximum number of objects in memory at once. The names of a batch fit in a pipe."""
_NAMES = 32 * 1024
_CHUNK = 1024 * 1024


class Missing(MemrepoError):
    """Raised when a requested object is not in the repository."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is missing",
            fix="a partial clone needs the remote it came from; `git fsck` lists what else is lost",
        )


class Found(msgspec.Struct, frozen=True):
    """A git object: its id, its kind (blob, tree, commit or tag) and its content."""

    id: str
    kind: str
    data: bytes


class Entry(msgspec.Struct, frozen=True):
    """An entry of a git tree: an object id, and a mode as printed by `git ls-tree`."""

    mode: str
    id: str


NOTHING = Entry("000000", "")
_FIXED = regex(r"[0-9a-f]{40,64}(?:\^\{(?:tree|commit)\})?")
"""Pattern of revisions that always refer to the same object."""
_MAX_BYTES = 16 * 1024 * 1024


class _Remembered:
    """Cache of objects read by this process. Repositories opened at the same path share it."""

    def __init__(self) -> None:
        self._found: dict[tuple[Path, str], Found] = {}
        self._size = 0

    def get(self, top: Path, name: str) -> Found | None:
        return self._found.get((top, name))

    def add(self, top: Path, name: str, found: Found | None) -> None:
        if found is None or not _FIXED.fullmatch(name):
            return
        if self._size + len(found.data) > _MAX_BYTES:
            self._found.clear()
            self._size = 0
        self._found[top, name] = found
        self._size += len(found.data)


_remembered: _Remembered | None = None


def remember_objects() -> None:
    """Cache all objects read from now on, because a server reads the same objects repeatedly."""
    global _remembered  # noqa: PLW0603 - set once, when a server starts
    _remembered = _Remembered()


class Objects:
    """Access to a repository's objects, by id or by any other name that git resolves."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def find(self, name: str) -> Found | None:
        """Return the object with a given name, or None if it does not exist.

        Raise GitFailed on failure.
        """
        if _remembered is None:
            return next(self.each([name]))
        if (known := _remembered.get(self._git.top, name)) is not None:
            return known
        found = next(self.each([name]))
        _remembered.add(self._git.top, name, found)
        return found

    def read(self, name: str) -> bytes:
        """Return the content of an object that must exist. Raises Missing or GitFailed."""
        if (found := self.find(name)) is None:
            raise Missing(name)
        return found.data

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision names, or "" if there is none."""
        found = self.find(f"{revision}^{{commit}}")
        return found.id if found is not None else ""

    def each(self, names: Iterable[str], most: int | None = None) -> Iterator[Found | None]:
        """Yield the objects with the given names, in the same order.

        Yield None for an object that does not exist or has more than `most` bytes. Also yield None
        for a name that contains a line break, because git reads one name per line.
        """
        names = iter(names)
        ahead: str | None = next(names, None)
        while ahead is not None:
            part, size = [ahead], len(ahead)
            for ahead in names:
                size += len(ahead)
                if len(part) == _BATCH or size > _NAMES:
                    break
                part.append(ahead)
            else:
                ahead = None
            yield from self._part(part, most)

    # -- trees -------------------------------------------------------------------------------

    def files(self, tree: str) -> Iterator[tuple[str, Entry]]:
        """Yield the (path, entry) pairs of all files in a tree or commit, including subfolders."""
        open_ = [(b"", self._tree(tree))]
        while open_:
            above, entries = open_.pop()
            for name, entry in entries.items():
                if entry.mode == FOLDER:
                    open_.append((above + name + b"/", self._tree(entry.id)))
                else:
                    yield (above + name).decode("utf-8", "surrogateescape"), entry

    def at(self, tree: str, path: str) -> Entry | None:
        """Return the entry at a path in a tree or commit, or None if the path is absent."""
        entry: Entry | None = Entry(FOLDER, tree)
        for name in path.encode("utf-8", "surrogateescape").split(b"/"):
            if entry is None or entry.mode != FOLDER:
                return None
            entry = self._tree(entry.id).get(name)
        return entry

    def differences(self, one: str, other: str) -> Iterator[tuple[str, Entry, Entry]]:
        """Yield (path, entry before, entry after) for each difference between two trees.

        An empty tree name means no files. NOTHING stands for an absent entry.
        """
        before, after = (Entry(FOLDER, tree) if tree else NOTHING for tree in (one, other))
        open_ = [(b"", before, after)]
        while open_:
            above, before, after = open_.pop()
            first, second = (
                self._tree(side.id) if side.mode == FOLDER else {} for side in (before, after)
            )
            for name in dict.fromkeys((*first, *second)):
                a, b = first.get(name, NOTHING), second.get(name, NOTHING)
                if a == b:
                    continue
                if FOLDER in (a.mode, b.mode):
                    open_.append((above + name + b"/", a, b))
                a, b = (side if side.mode != FOLDER else NOTHING for side in (a, b))
                if a != b:
                    yield (above + name).decode("utf-8", "surrogateescape"), a, b

    def missing(self, commit: str) -> dict[str, str]:
        """Return {path: id} of the objects missing from the tree of a commit.

        Return an empty dict in a partial clone, where a remote has promised the objects. If the
        object of a folder is missing, return one missing id under an empty path.
        """
        words = ("rev-list", "--objects", "--missing=print", "--no-walk", commit)
        lines = self._git.ask(*words, forgive=True).split("\n")
        lost = {line[1:] for line in lines if line.startswith("?")}
        if not lost or self.is_partial():
            return {}
        try:
            return {path: e.id for path, e in self.files(commit) if e.id in lost}
        except Missing:
            return {"": min(lost)}

    def every(self) -> Iterator[Found]:
        """Yield every object stored in the repository, whether reachable or not."""
        said = self._git.ask("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        yield from filter(None, self.each(said.split()))

    def _tree(self, name: str) -> Mapping[bytes, Entry]:
        found = self.find(f"{name}^{{tree}}")
        if found is None:
            raise Missing(name)
        return dict(_entries(found.data, len(found.id) // 2))

    # -- the child process -------------------------------------------------------------------

    def _part(self, names: Sequence[str], most: int | None) -> list[Found | None]:
        """Return the objects with the given names. Restart git once for each name if it ends."""
        found: list[Found | None] = []
        tried = -1
        while len(found) < len(names):
            try:
                found += self._answers(names[len(found) :], most)
            except _Ended as ended:
                found += ended.before
                if len(found) > tried:
                    tried = len(found)
                elif self.is_partial():
                    found.append(None)  # the remote with the object cannot be reached
                else:
                    self._git.ask("rev-parse", "--git-dir")  # fails with a clear message
                    raise GitFailed("cat-file", "it ended before it answered") from None
        return found

    def _answers(self, names: Sequence[str], most: int | None) -> list[Found | None]:
        """Request objects from the git process. Raise _Ended with the answers so far if it ends."""
        found: list[Found | None] = []
        process = self._running()
        try:
            into, out = _pipes(process)
            lines = (name if "\n" not in name else "" for name in names)
            into.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
            into.flush()
            found.extend(
                _answer(out, name, most) for name in names
            )  # keeps answers before an error
        except (BrokenPipeError, EOFError):
            self._end()
            raise _Ended(found) from None
        except BaseException:
            self._end()  # unread output would be mistaken for the next answers
            raise
        if self._git.closed:
            self._end()
        return found

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
        return bool(self._git.ask(*words, no=1))


class _Ended(Exception):
    """Raised when the git process ended early. `before` contains the answers received so far."""

    def __init__(self, before: list[Found | None]) -> None:
        super().__init__()
        self.before = before


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    return process.stdin, process.stdout


def _answer(out: IO[bytes], name: str, most: int | None) -> Found | None:
    """Read one answer of `cat-file --batch`. Raises EOFError at the end or for invalid output."""
    head = out.readline()
    said = head.split()
    if len(said) != 3 or said[1] not in _KINDS or not said[2].isdigit():
        if head.endswith((b" missing\n", b" ambiguous\n")):
            return None
        raise EOFError
    id_, kind, size = said[0].decode(), _KINDS[said[1]], int(said[2])
    if id_ != name and _ID.fullmatch(name):
        raise EOFError
    if most is not None and size > most:
        left = size + 1
        while left:
            left -= len(_exactly(out, min(left, _CHUNK)))
        return None
    return Found(id_, kind, _exactly(out, size + 1)[:-1])


def _exactly(out: IO[bytes], size: int) -> bytes:
    data = out.read(size)
    if len(data) < size:
        raise EOFError
    return data


def names(tree: Found) -> list[str]:
    """Return the names of the entries in a tree object."""
    found = (name for name, _ in _entries(tree.data, len(tree.id) // 2))
    return [name.decode("utf-8", "surrogateescape") for name in found]


def _entries(data: bytes, width: int) -> Iterator[tuple[bytes, Entry]]:
    """Yield (name, entry) pairs of a tree object whose ids are `width` bytes long."""
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        at = end + 1 + width
        yield name, Entry(mode.decode().zfill(6), data[end + 1 : at].hex())
