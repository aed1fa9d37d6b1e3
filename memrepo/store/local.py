"""A local git repository: its location, its refs and its configuration.

A ref is a small file, or a line of `packed-refs` (gitrepository-layout(5)). Reading it starts no
process. Git is called if refs are stored differently (reftable), or if a file contains no id.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout
from memrepo.core.patterns import regex
from memrepo.store.errors import NotARepository, StoreError
from memrepo.store.git import Git, GitFailed, isolate, refuse_no_git

_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DIGITS = regex(r"[0-9a-f]{4,64}")
_REF = "ref: "


class Refs:
    """The refs of one work tree. They are never cached, because other processes move refs."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    @property
    def branch(self) -> str:
        """Return the full name of the current branch, or an empty string if HEAD is detached."""
        head = _line(self._repo.git_dir / "HEAD")
        if head.startswith(f"{_REF}refs/heads/") and not head.endswith(".invalid"):
            return head.removeprefix(_REF)
        return self._repo.call("symbolic-ref", "-q", "HEAD", accepted=1).strip()

    @property
    def head(self) -> str:
        """Return the id of the commit at HEAD, or an empty string if there is no commit yet."""
        head = _line(self._repo.git_dir / "HEAD")
        return self.id(head.removeprefix(_REF) if head.startswith(f"{_REF}refs/") else "HEAD")

    def id(self, ref: str) -> str:
        """Return the id of the object that a full ref name refers to, or "" if there is none."""
        found = _line(self._repo.common_dir / ref) if ref.startswith("refs/") else ""
        if not found and ref.startswith("refs/"):
            found = self._packed().get(ref, "")
            top = self._repo.common_dir
            if not (found or (top / ref).is_file() or (top / "reftable").exists()):
                return ""
        if _ID.fullmatch(found):
            return found
        return self._repo.call("rev-parse", "-q", "--verify", ref, accepted=1).strip()

    def below(self, folder: str) -> list[str]:
        """Return the sorted names of the refs below a folder such as `refs/heads/run/`."""
        top = self._repo.common_dir
        if (top / "reftable").exists():
            return self._repo.call("for-each-ref", "--format=%(refname)", folder).split()
        loose = [p for p in (top / folder).rglob("*") if p.is_file() and p.suffix != ".lock"]
        if not all(_ID.fullmatch(_line(path)) for path in loose):
            return self._repo.call("for-each-ref", "--format=%(refname)", folder).split()
        names = {path.relative_to(top).as_posix() for path in loose}
        names |= {name for name in self._packed() if name.startswith(folder)}
        return sorted(names)

    def _packed(self) -> Mapping[str, str]:
        """Return {name: id} of the refs in `packed-refs`."""
        try:
            text = (self._repo.common_dir / "packed-refs").read_text("utf-8", "replace")
        except OSError:
            return {}
        rows = (line.split(" ", 1) for line in text.split("\n") if line[:1] not in ("", "#", "^"))
        return {row[1]: row[0] for row in rows if len(row) == 2}


def _line(path: Path) -> str:
    """Return the text of a file of git's with one line, or "" if git must be called instead."""
    try:
        return "" if path.is_symlink() else path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


_HEAD = regex(r"ref: *refs/|[0-9a-f]{40}")
# Settings that may move the work tree, make the repository bare, or include other files.
_UNUSUAL = regex(r"worktree|bare\s*(?!\s|=\s*false\b)|\[\s*include", re.IGNORECASE)


_CLONES = ("local", "worktree")
_TRUE = ("true", "yes", "on")


class GitConfig:
    """The git configuration of one repository. For repeated names the last value counts."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    @cached_property
    def _rows(self) -> list[tuple[str, str, str | None]]:
        """Return a (scope, name, value) tuple for every setting."""
        words = self._repo.call("config", "--list", "-z", "--show-scope").split("\0")
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

    def is_on(self, name: str) -> bool:
        """Return whether a setting has a value that git treats as true."""
        wanted = spelled(name)
        value = next((v for _, n, v in reversed(self._rows) if n == wanted), "")
        return value is None or value.lower() in _TRUE or bool(re.fullmatch(r"-?0*[1-9]\d*", value))

    def path(self, name: str) -> str:
        """Return the value of a path setting, with `~` and `%(prefix)` expanded by git."""
        found = self.get(name)
        if not found.startswith(("~", "%(")):
            return found
        words = ("config", "--type=path", "--get", name)
        return self._repo.call(*words, accepted=1).removesuffix("\n")

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

    Whoever opens the repository must close it. This ends its long-running processes.
    """

    def __init__(self, top: Path, git_dir: Path, common_dir: Path) -> None:
        super().__init__(top)
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.refs = Refs(self)
        self.config = GitConfig(self)


@contextmanager
def opened(where: Path, *, keep_index: bool = False) -> Iterator[Repo]:
    """Open the git repository that contains a folder. Raises NotARepository if there is none."""
    isolate(keep_index=keep_index)
    repo = _plain(where) or found_at(where)
    try:
        yield repo
    finally:
        repo.close()


def _plain(where: Path) -> Repo | None:
    """Find an ordinary repository: a work tree with a `.git` folder. Return None if not found."""
    if not where.is_dir():
        return None
    here = Path(os.path.normpath(where.absolute()))
    top = next((p for p in (here, *here.parents) if os.path.lexists(p / ".git")), here)
    folder = top / ".git"
    try:
        # A bare repository may be between the folder and the top of the work tree.
        inside = any((p / "HEAD").exists() for p in (here, *here.parents) if p.is_relative_to(top))
        usual = _HEAD.match((folder / "HEAD").read_text("utf-8")) and not _UNUSUAL.search(
            (folder / "config").read_text("utf-8")
        )
        whole = all((folder / name).is_dir() for name in ("objects", "refs"))
    except (OSError, UnicodeDecodeError):
        return None
    if inside or not usual or not whole or (folder / "commondir").exists():
        return None
    return Repo(top, folder, folder)


def found_at(where: Path) -> Repo:
    """Find a repository of any kind by asking git. Raises NotARepository if there is none."""
    refuse_no_git()
    words = ("rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir")
    if not where.is_dir():
        raise NotARepository("none", where=where)
    git = Git(where)
    code, out, err = git.ask(*words)
    if code and "not a git repository" not in err:
        raise GitFailed("rev-parse", err, code)
    if code:
        here = where.absolute()
        for head in (p / ".git" / "HEAD" for p in (here, *here.parents)):
            if head.is_file() and (head.parent / "objects").is_dir():
                raise StoreError("damaged-head", where=where, head=head)
        raise NotARepository("none", where=where)
    bare, git_dir, common = out.splitlines()
    inside = git.call("rev-parse", "--is-inside-work-tree").strip() == "true"
    if bare == "true" or not inside:
        raise NotARepository("bare", where=where)
    top = git.call("rev-parse", "--show-toplevel").removesuffix("\n")
    return Repo(Path(top), Path(git_dir), (where / common).resolve())


PURGED = "purged"
"""Name of the folder with this clone's records of purges."""


def purged_folder(repo: Repo) -> Path:
    """Return the folder that contains this clone's records of purges."""
    return repo.common_dir / "memrepo" / PURGED


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


def find_layout(repo: Repo, commit: str) -> Layout | None:
    """Return the layout configured in a commit's tree, or None without a memrepo configuration."""
    for prefix in ("", ADOPTED_PREFIX):
        if repo.objects.at(commit, prefix + CONFIG_NAME) is not None:
            return Layout(prefix)
    return None


def refuse_other_root(repo: Repo) -> None:
    """Raise NotARepository if another branch or a reflog contains a memory repository.

    Call this if HEAD contains no memory repository. A new one would start a second root commit and
    hide the existing history.
    """
    where, head, branch = repo.top, repo.refs.head, repo.refs.branch
    unborn = f"the branch {branch.removeprefix('refs/heads/')} has no commit, but "
    refs = (*repo.refs.below("refs/heads/"), *repo.refs.below("refs/remotes/"))
    if ref := _first_with_layout(repo, refs):
        name = ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        raise NotARepository(
            "other-branch",
            where=where,
            unborn="" if head else unborn,
            name=name,
            option="" if head else "--ff-only ",
        )
    logs = (repo.common_dir / "logs" / branch, repo.git_dir / "logs" / "HEAD")
    for log in () if head else logs:
        lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
        commits = dict.fromkeys(line.split(" ")[1] for line in reversed(lines) if " " in line)
        if commit := _first_with_layout(repo, commits):
            raise NotARepository(
                "reflog", where=where, unborn=unborn, commit=commit[:10], branch=branch
            )


def _first_with_layout(repo: Repo, revisions: Iterable[str]) -> str:
    revisions = list(revisions)
    for prefix in ("", ADOPTED_PREFIX):
        names = (f"{revision}:{prefix}{CONFIG_NAME}" for revision in revisions)
        for revision, found in zip(revisions, repo.objects.each(names), strict=True):
            if found is not None:
                return revision
    return ""


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
