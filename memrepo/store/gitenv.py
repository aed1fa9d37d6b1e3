"""The one place that reads git's environment, finds a repository, and reads its refs.

Refs as git's own files hold them (gitrepository-layout(5)); what these do not tell git is asked.

A ref is one small file, or a line of `packed-refs` once it was packed: reading that takes no
process. Where refs are kept otherwise (reftable), or a file holds what is no id, git answers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.errors import MemrepoError
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    import git

    from memrepo.store.door import Door
    from memrepo.store.light import Git
    from memrepo.store.settings import Config

_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TO = "ref: "


class _AskGit(Exception):
    """The files do not tell."""


class Refs:
    """The refs of one work tree. Every question is asked anew: others move refs meanwhile."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._own, self._common = Path(repo.git_dir), Path(repo.common_dir)

    @property
    def branch(self) -> str:
        """Return the full name of the branch that HEAD names; empty where it is detached."""
        try:
            said = self._head()
        except _AskGit:
            return self._repo.light.ask("symbolic-ref", "-q", "HEAD", no=1).strip()
        return said.removeprefix(_TO) if said.startswith(_TO) else ""

    @property
    def head(self) -> str:
        """Return the id of the commit at HEAD; empty on a branch that is not born."""
        try:
            said = self._head()
            return self._named(said.removeprefix(_TO)) if said.startswith(_TO) else said
        except _AskGit:
            return self._asked("HEAD")

    def id(self, ref: str) -> str:
        """Return the object that a ref names in full, or an empty string."""
        try:
            return self._named(ref)
        except _AskGit:
            return self._asked(ref)

    def below(self, folder: str) -> list[str]:
        """Return the names of the refs below a folder (`refs/heads/run/`), in order."""
        try:
            self._refuse_other_kinds()
            found = {name for name in self._packed() if name.startswith(folder)}
            for place, _, names in os.walk(self._common / folder, onerror=_raise):
                above = Path(place).relative_to(self._common).as_posix()
                loose = (f"{above}/{name}" for name in names if not name.endswith(".lock"))
                found.update(name for name in loose if self._named(name))
        except (_AskGit, OSError):
            return self._repo.light.ask("for-each-ref", "--format=%(refname)", folder).split()
        return sorted(found)

    def _asked(self, ref: str) -> str:
        return self._repo.light.ask("rev-parse", "-q", "--verify", ref, no=1).strip()

    def _head(self) -> str:
        """Return the id that HEAD holds, or `ref: ` and a branch."""
        self._refuse_other_kinds()
        place = self._own / "HEAD"
        try:
            said = "" if place.is_symlink() else place.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            said = ""
        name = said.removeprefix("ref:").strip()
        if said.startswith("ref:") and name.startswith("refs/"):
            return _TO + name
        if not _ID.fullmatch(said):
            raise _AskGit
        return said

    def _named(self, ref: str) -> str:
        self._refuse_other_kinds()
        try:
            said = (self._common / ref).read_text("ascii").strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            # Who packs a ref writes it there before the file goes.
            return self._packed().get(ref, "")
        except (OSError, UnicodeDecodeError):
            raise _AskGit from None
        if not _ID.fullmatch(said):
            raise _AskGit
        return said

    def _packed(self) -> dict[str, str]:
        try:
            text = (self._common / "packed-refs").read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            return {}
        except OSError:
            raise _AskGit from None
        rows = (line.split(" ", 1) for line in text.split("\n") if line and line[0] not in "#^")
        return {name: id_ for id_, name in rows}

    def _refuse_other_kinds(self) -> None:
        if not (self._common / "refs" / "heads").is_dir() or (self._common / "reftable").exists():
            raise _AskGit


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


# What `git rev-parse --local-env-vars` names, but for configuration given on a command line:
# inherited from a hook or an alias these would point our git processes at another repository.
_LOCAL = """
    GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY GIT_DIR GIT_WORK_TREE
    GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE GIT_PREFIX
    GIT_SHALLOW_FILE GIT_COMMON_DIR GIT_NAMESPACE GIT_INDEX_FILE GIT_LITERAL_PATHSPECS
    GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS
""".split()

_SECRET = regex(r"://[^/@\s]+@")
_HEAD = regex(r"ref: *refs/|[0-9a-f]{40}")
# A setting by which the work tree may lie elsewhere, or be none; or which may lie elsewhere itself.
_UNUSUAL = regex(r"worktree|bare\s*(?!\s|=\s*false\b)|\[\s*include", re.IGNORECASE)


class Repo:
    """An open git repository: where it lies, and what git is asked and answers there.

    Whoever opened it closes it: every process that stands is its own.
    """

    def __init__(self, top: str, git_dir: str, common_dir: str) -> None:
        self.working_tree_dir = top
        self.git_dir = git_dir
        self.common_dir = common_dir

    @cached_property
    def light(self) -> Git:
        """Return git at the top of the work tree."""
        from memrepo.store.light import Git

        return Git(Path(self.working_tree_dir))

    @cached_property
    def git(self) -> Door:
        """Return GitPython's git at the top of the work tree: `repo.git.rev_list(...)`."""
        refuse_no_git()
        from memrepo.store.light import GitFailed

        try:
            from memrepo.store.door import Door
        except ImportError as error:  # GitPython starts git as it is imported
            raise GitFailed("version", str(error)) from error
        return Door(Path(self.working_tree_dir))

    @cached_property
    def refs(self) -> Refs:
        """Return its refs."""
        return Refs(self)

    @cached_property
    def config(self) -> Config:
        """Return what git is configured to do here, asked once."""
        from memrepo.store.settings import Config

        return Config(self)

    def close(self) -> None:
        """End the processes that stand."""
        if "light" in self.__dict__:
            self.light.close()


class NotARepository(MemrepoError):
    """The folder is not in a git repository, or the repository is not one of memrepo's."""

    def __init__(
        self,
        where: Path,
        what: str,
        fix: str = "make one with `memrepo init`, or name its folder with -C",
    ) -> None:
        super().__init__(f"{where}: {what}", fix=fix)


class NoGit(MemrepoError):
    """There is no git to call."""

    def __init__(self) -> None:
        super().__init__(
            "found no program `git` on the PATH, which memrepo calls for everything that it stores",
            fix="install git 2.34 or newer, or add its folder to PATH",
        )


def refuse_no_git() -> None:
    """Raise NoGit where there is none: importing GitPython would fail without a reason."""
    import shutil

    if shutil.which("git") is None:
        raise NoGit


def verb_of(words: Iterable[str]) -> str:
    """Return what git was asked to do: the first word that is neither option nor setting."""
    return next((word for word in words if not word.startswith("-") and "=" not in word), "")


def told(text: str) -> str:
    """Put what git printed on one line, without the password that an address may hold."""
    return _SECRET.sub("://...@", " ".join(text.split()))


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


def in_english(index: Path | None = None) -> dict[str, str]:
    """Return the environment of a git whose messages are read; an `index` of ours it may write."""
    ours = {"GIT_INDEX_FILE": str(index), "GIT_OPTIONAL_LOCKS": "1"} if index else {}
    said = {"LANGUAGE": "C", "LC_ALL": "C", "GIT_LITERAL_PATHSPECS": "1"}
    return {**os.environ, **said, **ours}


def index_of_commit() -> str:
    """Return the name of the index file that git commits from, where a hook is told of one."""
    return Path(os.environ.get("GIT_INDEX_FILE", "")).name


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
    isolate(keep_index=keep_index)
    repo = _plain(where) or _any(where)
    try:
        yield repo
    finally:
        repo.close()


def _plain(where: Path) -> Repo | None:
    """Find the usual repository, a work tree that holds its `.git`; None: GitPython is to look."""
    if not where.is_dir():
        return None
    here = Path(os.path.normpath(where.absolute()))
    top = next((p for p in (here, *here.parents) if os.path.lexists(p / ".git")), here)
    folder = top / ".git"
    try:
        # Between the folder and its work tree's top there may be the files of another repository.
        inside = any((p / "HEAD").exists() for p in (here, *here.parents) if p.is_relative_to(top))
        usual = _HEAD.match((folder / "HEAD").read_text("utf-8")) and not _UNUSUAL.search(
            (folder / "config").read_text("utf-8")
        )
        whole = all((folder / name).is_dir() for name in ("objects", "refs"))
    except (OSError, UnicodeDecodeError):
        return None
    if inside or not usual or not whole or (folder / "commondir").exists():
        return None
    return Repo(str(top), str(folder), str(folder))


def _any(where: Path) -> Repo:
    """Find a repository of any kind; raises NotARepository."""
    refuse_no_git()
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    from memrepo.store.door import Found

    try:
        with Found(where, search_parent_directories=True) as found:
            return known(found)
    except (InvalidGitRepositoryError, NoSuchPathError) as error:
        raise NotARepository(where, "found no git repository here or above") from error
    except NoWorkTree as error:
        raise NotARepository(where, str(error)) from error


class NoWorkTree(ValueError):
    """A repository is bare."""

    def __init__(self) -> None:
        super().__init__("found a bare repository, expected one with a work tree")


def known(found: git.Repo) -> Repo:
    """Return the place of a repository that GitPython found; raises NoWorkTree."""
    if found.bare or found.working_tree_dir is None:
        raise NoWorkTree
    return Repo(str(found.working_tree_dir), str(found.git_dir), str(found.common_dir))


def find_layout(repo: Repo, commit: str) -> Layout | None:
    """Return the layout a commit's tree has, or None where memrepo was never initialised."""
    for prefix in ("", ADOPTED_PREFIX):
        if repo.light.objects.at(commit, prefix + CONFIG_NAME) is not None:
            return Layout(prefix)
    return None


def refuse_other_root(repo: Repo) -> None:
    """Raise NotARepository where another branch, or a reflog, leads to a memory repository.

    It is for a HEAD that holds none: a new one would be a second root that buries the history.
    """
    where, head, branch = Path(repo.working_tree_dir), repo.refs.head, repo.refs.branch
    unborn = f"the branch {branch.removeprefix('refs/heads/')} has no commit, but "
    refs = (*repo.refs.below("refs/heads/"), *repo.refs.below("refs/remotes/"))
    if ref := _first_with_layout(repo, refs):
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        raise NotARepository(
            where,
            f"{'' if head else unborn}the branch {name} holds {CONFIG_NAME}",
            fix=f"check that branch out, or `git merge {'' if head else '--ff-only '}{name}`",
        )
    logs = (Path(repo.common_dir) / "logs" / branch, Path(repo.git_dir) / "logs" / "HEAD")
    for log in () if head else logs:
        lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
        commits = dict.fromkeys(line.split(" ")[1] for line in reversed(lines) if " " in line)
        if commit := _first_with_layout(repo, commits):
            raise NotARepository(
                where,
                f"{unborn}its reflog leads to {commit[:10]}, which holds {CONFIG_NAME}",
                fix=f"`git update-ref {branch} {commit[:10]}` gives the branch its commit back",
            )


def _first_with_layout(repo: Repo, revisions: Iterable[str]) -> str:
    """Return the first revision whose tree holds a configuration; an empty string for none."""
    revisions = list(revisions)
    for prefix in ("", ADOPTED_PREFIX):
        names = (f"{revision}:{prefix}{CONFIG_NAME}" for revision in revisions)
        for revision, found in zip(revisions, repo.light.objects.each(names), strict=True):
            if found is not None:
                return revision
    return ""
