"""The one door to git: its environment and calls, an open repository, and locks."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memrepo.core.errors import GitFailed, Locked, NotARepository, StoreError
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.store.objects import ObjectReader


def verb_of(words: Iterable[str]) -> str:
    """Return the subcommand of a git command: the first word that is not an option or setting."""
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")


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

    @cached_property
    def objects(self) -> ObjectReader:
        """Return the object reader. All readers of this repository share one git process."""
        from memrepo.store.objects import ObjectReader

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

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start git with pipes. The caller has to end the process."""
        pipe = subprocess.PIPE
        with _called():
            return subprocess.Popen(
                self._command(words),
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
                env=in_english(),
            )

    def _command(self, words: Iterable[str]) -> list[str]:
        words = [*words]
        # Our settings must not hide the user's configuration from `git config`.
        settings = () if words[:1] == ["config"] else SETTINGS
        options = (word for setting in settings for word in ("-c", setting))
        return [_GIT, "-C", str(self.top), *options, *words]

    def read(self, blob: str, path: str = "") -> bytes:
        """Return the content of a blob. Raises Missing if the repository lacks the blob."""
        return self.objects.read(blob, path)

    def stop(self) -> None:
        """End all long-running processes, for example because they hold old packs open."""
        if "objects" in self.__dict__:
            self.objects.stop()

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


_YEAR_10000 = 253402300800


def seconds(text: str) -> int:
    """Return a commit's time in seconds since the epoch, or 0 for the year 10000 and later."""
    found = int(text.strip() or 0)
    return found if found < _YEAR_10000 else 0


_CLONES = ("local", "worktree")


class GitConfig:
    """The git configuration of one repository. For repeated names the last value counts."""

    def __init__(self, git: Git) -> None:
        self._git = git

    @cached_property
    def _rows(self) -> list[tuple[str, str, str | None]]:
        """Return a (scope, name, value) tuple for every setting."""
        words = self._git.call("config", "--list", "-z", "--show-scope").split("\0")
        rows = []
        for scope, entry in zip(words[0::2], words[1::2], strict=False):
            name, has_value, value = entry.partition("\n")
            rows.append((scope, name, value if has_value else None))
        return rows

    def get(self, name: str) -> str:
        """Return a setting's value from any scope, or an empty string if it is not set."""
        wanted = spelled(name)
        return next((v or "" for _, n, v in reversed(self._rows) if n == wanted), "")

    def stored(self, name: str) -> tuple[str, str]:
        """Return a setting's value and where it is stored. Settings of one call do not count."""
        wanted = spelled(name)
        for scope, found, value in reversed(self._rows):
            if found == wanted and scope != "command":
                return value or "", ".git/config" if scope in _CLONES else f"git's {scope} settings"
        return "", ""

    def path(self, name: str) -> str:
        """Return the value of a path setting, with `~` and `%(prefix)` expanded by git."""
        found = self.get(name)
        if not found.startswith(("~", "%(")):
            return found
        words = ("config", "--type=path", "--get", name)
        return self._git.call(*words, accepted=1).removesuffix("\n")

    def of_clone(self) -> dict[str, str]:
        """Return {name: value} of the settings stored in this clone only."""
        return {name: value or "" for scope, name, value in self._rows if scope in _CLONES}

    def forget(self) -> None:
        """Clear the cached settings. Call this after a setting has changed."""
        self.__dict__.pop("_rows", None)


def spelled(name: str) -> str:
    """Normalise a setting's name as git prints it: lower case except for the middle part."""
    first, *middle, last = name.split(".")
    return ".".join([first.lower(), *middle, last.lower()])


class Repo(Git):
    """An open git repository: git at the top of its work tree, its folders, refs and settings.

    Whoever opens the repository must close it. This ends its long-running processes. Refs are never
    cached, because other processes move them.
    """

    def __init__(self, top: Path, git_dir: Path, common_dir: Path) -> None:
        super().__init__(top)
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.config = GitConfig(self)

    @property
    def branch(self) -> str:
        """Return the full name of the current branch, or an empty string if HEAD is detached."""
        place, start = self.git_dir / "HEAD", "ref: refs/heads/"
        head = "" if place.is_symlink() else place.read_text("utf-8", "replace").strip()
        if head.startswith(start) and not head.endswith(".invalid"):  # so of a reftable
            return head.removeprefix("ref: ")
        return self.call("symbolic-ref", "-q", "HEAD", accepted=1).strip()

    @property
    def head(self) -> str:
        """Return the id of the commit at HEAD, or an empty string if there is no commit yet."""
        return self.ref("HEAD")

    def ref(self, name: str) -> str:
        """Return the id of the object that a full ref name refers to, or "" if there is none."""
        found = self.objects.find(name)
        if found is not None:
            return found.id
        # There is no such ref, or its object is missing.
        return self.call("rev-parse", "-q", "--verify", name, accepted=1).strip()

    def refs_below(self, *folders: str) -> list[str]:
        """Return the sorted names of the refs below folders such as `refs/heads/run/`."""
        return self.call("for-each-ref", "--format=%(refname)", *folders).split()


@contextmanager
def opened(where: Path) -> Iterator[Repo]:
    """Open the git repository that contains a folder. Raises NotARepository if there is none."""
    isolate()
    repo = found_at(where)
    try:
        yield repo
    finally:
        repo.close()


_PLACES = (
    "--is-bare-repository",
    "--is-inside-work-tree",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-toplevel",
)


def found_at(where: Path) -> Repo:
    """Find the git repository that contains a folder. Raises NotARepository if there is none."""
    if not where.is_dir():
        raise NotARepository("none", where=where)
    code, out, err = Git(where).ask("rev-parse", *_PLACES)
    words = out.split("\n", 4)
    if words[0] == "true" or words[1:2] == ["false"]:
        raise NotARepository("bare", where=where)
    if code and "not a git repository" not in err:
        raise GitFailed("rev-parse", err, code)
    if code:
        here = where.absolute()
        for head in (p / ".git" / "HEAD" for p in (here, *here.parents)):
            if head.is_file() and (head.parent / "objects").is_dir():
                raise StoreError("damaged-head", where=where, head=head)
        raise NotARepository("none", where=where)
    _, _, git_dir, common, top = words
    return Repo(Path(top.removesuffix("\n")), Path(git_dir), (where / common).resolve())


_DIGITS = regex(r"[0-9a-f]{4,64}")


def purged_folder(repo: Repo) -> Path:
    """Return the folder that contains this clone's records of purges."""
    return repo.common_dir / "memrepo" / "purged"


def replaced_commits(repo: Repo) -> dict[str, str]:
    """Return {old commit: new commit} for all commits that purges have replaced."""
    found: dict[str, str] = {}
    for path in sorted(purged_folder(repo).glob("*.map")):
        rows = (line.split(" ") for line in path.read_text("ascii").splitlines())
        found.update((old, new) for old, new in rows)
    return found


def replacement_of(repo: Repo, revision: str) -> str:
    """Return the new id of a purged commit, given its old id or prefix, or "" if there is none."""
    if not _DIGITS.fullmatch(revision) or not purged_folder(repo).is_dir():
        return ""
    found = {new for old, new in replaced_commits(repo).items() if old.startswith(revision)}
    return repo.objects.commit(found.pop()) if len(found) == 1 else ""


def git_version(repo: Repo) -> tuple[int, int]:
    """Return the (major, minor) version of the git program in use."""
    found = re.search(r"(\d+)\.(\d+)", repo.call("version"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def object_problems(repo: Repo) -> list[str]:
    """Check all reachable objects with `git fsck`, and return the problems it reports."""
    options = ("--strict", "--no-dangling", "--no-progress")
    try:
        code, out, err = repo.ask("fsck", *options)
    except GitFailed as error:  # a signal ended fsck: the check is incomplete
        return [str(error)]
    lines = (f"{out}\n{err}" if code else out).split("\n")
    problems = [line for line in lines if line and not line.startswith("notice:")]
    return problems or [f"git fsck ended with {code}"] * (code != 0)


# -- locks and files ---------------------------------------------------------------------------


def scratch(folder: Path, prefix: str, data: bytes) -> Path:
    """Create a file that only its owner can read, write bytes to it, and return its path."""
    path = folder / f"{prefix}{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    return path


_MIDDLE_OF = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisect",
    "sequencer": "a sequence of picks",
}


def branch_of(name: str) -> str:
    """Return a full branch name unchanged. Raises StoreError if it is empty (detached HEAD)."""
    if not name:
        raise StoreError("detached")
    return name


def refuse_unfit(repo: Repo, branch: str, *, unmerged: bool) -> None:
    """Raise StoreError during a merge or similar, in a shallow clone, or on a detached HEAD."""
    git_dir = repo.git_dir
    for name, what in _MIDDLE_OF.items():
        if (git_dir / name).exists():
            raise StoreError("in-progress", what=what)
    if unmerged:
        raise StoreError("unmerged")
    if (repo.common_dir / "shallow").exists():
        raise StoreError("shallow")
    _refuse_second_checkout(repo, branch_of(branch))


def _refuse_second_checkout(repo: Repo, branch: str) -> None:
    """Raise StoreError if another work tree uses the branch: its index would revert the write."""
    if not (repo.common_dir / "worktrees").exists():
        return
    listed = repo.call("worktree", "list", "--porcelain", "-z").split("\0")
    if listed.count(f"branch {branch}") > 1:
        raise StoreError("second-checkout", branch=branch)


_PAUSE_S = 0.02
INDEX_WAIT_S = 5.0
"""Maximum wait in seconds for git's index lock, for example while branches are switched."""
_PROCESSES = Path("/proc")
_HARMLESS = (b"cat-file", b"fsmonitor--daemon")


def git_alive(repo: Repo) -> bool:
    """Return whether a git process is running in this repository. Without /proc, return False."""
    places = {repo.top, repo.git_dir, repo.common_dir}
    places = {place.resolve() for place in places}
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() != "git":
                continue
            if any(word in (process / "cmdline").read_bytes() for word in _HARMLESS):
                continue
            where = (process / "cwd").readlink()
        except OSError:
            continue
        if places & {where, *where.parents}:
            return True
    return False


@contextmanager
def index_lock(git_dir: Path) -> Iterator[None]:
    """Run the block while holding git's index lock, so that no git process writes the index.

    Raises StoreError if the lock is not free in time. A process that dies leaves the lock file
    behind (`repo.drop_locks`).
    """
    path = git_dir / "index.lock"
    deadline = time.monotonic() + INDEX_WAIT_S
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            break
        except FileExistsError:
            if time.monotonic() >= deadline:
                raise StoreError("git-at-work", name=path.name, path=path) from None
            time.sleep(_PAUSE_S)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path, name: str, *, wait_s: float = 0.0) -> Iterator[int]:
    """Run the block while holding lock `name`. Raises Locked if the wait exceeds `wait_s` seconds.

    Yield the lock's descriptor: a child process that inherits the descriptor shares the lock until
    both have ended.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as handle:
        if not lock_file(handle.fileno(), wait_s):
            raise Locked(name=name, after=f" after {wait_s:g} s" if wait_s else "")
        yield handle.fileno()


def lock_file(descriptor: int, wait_s: float) -> bool:
    """Lock an open file exclusively. Return False if the lock is not free in time."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Run the block with SIGINT and SIGTERM blocked, including in child git processes."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Delete the files that match a pattern, except for the `count` newest ones."""
    try:
        found = sorted(folder.glob(pattern), key=lambda path: (path.stat().st_mtime, path.name))
        for path in found[:-count]:
            path.unlink(missing_ok=True)
    except OSError:
        pass  # another process deletes files too: the next call retries
