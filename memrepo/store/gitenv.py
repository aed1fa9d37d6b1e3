"""The one place that reads git's environment and opens a repository with GitPython."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.errors import MemrepoError
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout

if TYPE_CHECKING:
    from git import Repo

# What `git rev-parse --local-env-vars` names, but for configuration given on a command line:
# inherited from a hook or an alias these would point our git processes at another repository.
_LOCAL = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
)  # fmt: skip

# A person's settings that would start a program, sign, or believe a monitor that may be wrong.
_SAFE = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "merge.verifySignatures=false",
    "maintenance.auto=false", "gc.auto=0",
)  # fmt: skip


_SECRET = re.compile(r"://[^/@\s]+@")


class NotARepository(MemrepoError):
    """The folder is not in a git repository, or the repository is not one of memrepo's."""

    def __init__(self, where: Path, what: str) -> None:
        super().__init__(
            f"{where}: {what}",
            fix="make one with `memrepo init`, or name its folder with -C",
        )


class GitFailed(MemrepoError):
    """Git refused or failed, for a reason that memrepo has no better words for."""

    def __init__(self, error: Exception) -> None:
        command = [str(word) for word in getattr(error, "command", ())]
        verb = next((w for w in command[1:] if not w.startswith("-") and "=" not in w), "")
        super().__init__(
            f"git {verb} failed: {said(error)}", fix="`git status` and `git fsck` say more"
        )


def said(error: Exception) -> str:
    """Return on one line what git printed when it failed."""
    text = str(getattr(error, "stderr", "") or error)
    return told(text.replace("stderr:", "").strip(" '\n"))


def told(text: str) -> str:
    """Put what git printed on one line, without the password that an address may hold."""
    return _SECRET.sub("://...@", " ".join(text.split()))


def call(
    repo: Repo,
    *words: str,
    stdin: int | None = None,
    lines: Iterable[str] | None = None,
    held: tuple[int, ...] = (),
    forgive: bool = False,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run git at the top of the work tree, deaf to hooks; return its output untouched.

    `lines` go to its standard input (or what the descriptor `stdin` reads), so that no path is
    ever an argument. `held` are descriptors
    that the process keeps open: a lock among them stays held while git works, even when we die.
    `env` adds to the environment. With `forgive` a failure is no exception. Raises GitCommandError.
    """
    import tempfile  # hooks wait for what this module loads

    settings = [word for setting in _SAFE for word in ("-c", setting)]
    command = [repo.git.GIT_PYTHON_GIT_EXECUTABLE, "--literal-pathspecs", *settings, *words]
    with tempfile.TemporaryFile() as stream:
        if lines is not None:
            stream.writelines(line.encode("utf-8", "surrogateescape") for line in lines)
            stream.seek(0)
        return str(
            repo.git.execute(
                command, istream=stdin or stream.fileno(), strip_newline_in_stdout=False,
                with_exceptions=not forgive, pass_fds=held, env=dict(env or {}),
            )
        )  # fmt: skip


# A remote helper is a program; what a remote's settings would add to a push is none of ours.
_FAR = (
    "protocol.ext.allow=never", "protocol.fd.allow=never", "push.pushOption=", "push.gpgSign=false",
    "http.lowSpeedLimit=1", "http.lowSpeedTime=60", "fetch.recurseSubmodules=false",
)  # fmt: skip


def call_far(repo: Repo, *words: str) -> tuple[int, str, str]:
    """Run git with another host; return its exit code, output and errors.

    No hook runs and nothing waits for a person: no prompt for a password or a host key, and a
    connection that is dead is given up.
    """
    import tempfile

    settings = [word for setting in (*_SAFE, *_FAR) for word in ("-c", setting)]
    command = [repo.git.GIT_PYTHON_GIT_EXECUTABLE, *settings, *words]
    env = {"GIT_TERMINAL_PROMPT": "0"}
    own = os.environ.get("GIT_SSH_COMMAND") or os.environ.get("GIT_SSH")
    if not own and not repo.git.config("--get", "core.sshCommand", with_exceptions=False):
        env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=30"
    with tempfile.TemporaryFile() as nothing:
        status, out, err = repo.git.execute(
            command, istream=nothing.fileno(), strip_newline_in_stdout=False, env=env,
            with_extended_output=True, with_exceptions=False,
        )  # fmt: skip
    return int(status), str(out), str(err)


def call_bytes(repo: Repo, *words: str, stdin: int | None = None) -> bytes:
    """Run git, with a descriptor as its standard input or none; return its output as bytes."""
    command = [repo.git.GIT_PYTHON_GIT_EXECUTABLE, *words]
    done = repo.git.execute(
        command, istream=stdin, stdout_as_string=False, strip_newline_in_stdout=False
    )
    return bytes(done)


def isolate(*, keep_index: bool = False) -> None:
    """Drop git's repository variables from this process, so that paths decide what is opened.

    `keep_index` is for hooks: `git commit -a` and partial commits work on an index of their own.
    """
    for name in _LOCAL:
        if not (keep_index and name == "GIT_INDEX_FILE"):
            os.environ.pop(name, None)
    # No command of ours may stop to ask for a password or open an editor.
    os.environ.setdefault("GIT_TERMINAL_PROMPT", "0")
    os.environ["GIT_EDITOR"] = "true"
    # Content is read by object id; a replacement or a lazy index refresh must not interfere.
    os.environ["GIT_NO_REPLACE_OBJECTS"] = "1"
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"


def index_of_commit() -> str:
    """Return the name of the index file that git commits from, where a hook is told of one."""
    return Path(os.environ.get("GIT_INDEX_FILE", "")).name


@contextmanager
def git_failures() -> Iterator[None]:
    """Turn a failing git command that nobody expected into GitFailed."""
    from git.exc import GitCommandError

    try:
        yield
    except GitCommandError as error:
        raise GitFailed(error) from error


def user_config() -> Path:
    """Return the person's own configuration file, by the XDG base directory rules."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "memrepo" / "config.toml"


def agent_name() -> str:
    """Return the agent that the environment names (memory-purifier, telemetry), or `unknown`."""
    return os.environ.get("OPENCLAW_AGENT_ID") or os.environ.get("AGENT_ID") or "unknown"


@contextmanager
def opened(where: Path, *, keep_index: bool = False) -> Iterator[Repo]:
    """Open the git repository that holds a folder; raises NotARepository."""
    from git import Repo
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    isolate(keep_index=keep_index)
    try:
        repo = Repo(where, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError) as error:
        raise NotARepository(where, "found no git repository here or above") from error
    try:
        if repo.bare or repo.working_tree_dir is None:
            raise NotARepository(where, "found a bare repository, expected one with a work tree")
        with git_failures():
            yield repo
    finally:
        repo.close()


def find_layout(repo: Repo, commit: str) -> Layout | None:
    """Return the layout a commit's tree has, or None where memrepo was never initialised."""
    for prefix in ("", ADOPTED_PREFIX):
        if repo.git.ls_tree("--name-only", commit, "--", prefix + CONFIG_NAME):
            return Layout(prefix)
    return None
