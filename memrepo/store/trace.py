"""The history of individual memories, and data for verifying history and repository."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from memrepo.core import codec
from memrepo.core.ids import ID_PATTERN
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.times import asked
from memrepo.store.errors import BeforeHistory, UnknownRevision
from memrepo.store.git import GitFailed
from memrepo.store.history import LogEntry, changes, commits_touching, commits_with_files
from memrepo.store.lock import git_alive
from memrepo.store.repo import TX, Repository, load_journal
from memrepo.store.tree import contents, read_blob

if TYPE_CHECKING:
    from memrepo.store.local import Repo


def commit_at(store: Repository, head: str, word: str, zone: tzinfo) -> str:
    """Return the commit that a `REV|DATE` argument names.

    A date selects the newest commit along the first parents of `head` that is not younger. A date
    without a time means the end of that day in the time zone. A word that can be read as a date is
    a date. Name a branch like that as `refs/heads/<name>`. Raises UnknownRevision or BeforeHistory.
    """
    try:
        moment = asked(word, zone)
    except ValueError:
        commit = store.resolve(word)
        if not commit:
            raise UnknownRevision(word=word if len(word) <= 80 else f"{word[:79]}…") from None
        return commit
    # Git's own date parser guesses, so pass seconds. They must not be negative.
    seconds = int(moment.timestamp())
    git = store.repo.git
    found = ""
    if seconds >= 0:
        found = git.rev_list("--first-parent", "-1", f"--min-age={seconds}", head, "--")
    if not found:
        first = git.rev_list("--first-parent", "--max-parents=0", head, "--").split()
        roots = first or git.rev_list("--first-parent", "--reverse", head, "--").split()[:1]
        shallow = git.rev_parse("--is-shallow-repository") == "true"
        root = store.commit_time(roots[-1]).astimezone(zone)
        raise BeforeHistory(
            "shallow" if shallow else "whole",
            word=word,
            first=f"{root:%Y-%m-%d %H:%M}",
            day=f"{root:%Y-%m-%d}",
        )
    return found


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A removed file: its path, its last content, and the commit that removed it."""

    commit: str
    path: str
    data: bytes


def removed_by(repo: Repo, commit: str, layout: Layout) -> list[Lost]:
    """Return the memory files removed by a commit, with their content before the removal."""
    removed = (c for c in changes(repo, [commit]) if not c[3] and layout.is_memory(c[1]))
    return [
        Lost(commit=commit, path=path, data=read_blob(repo, old)) for _, path, old, _ in removed
    ]


def lost_files(repo: Repo, head: str, layout: Layout, tail: str) -> Iterator[Lost]:
    """Yield removed files below `memories/` whose names end in a glob pattern such as `-0a*`."""
    words = ("--diff-filter=D", head, "--", layout.area("memories"))
    for entry in commits_with_files(repo, *words):
        for file in entry.files:
            if layout.is_memory(file.path) and fnmatchcase(file.path, f"*{tail}.md"):
                data = read_blob(repo, file.old)
                yield Lost(commit=entry.commit, path=file.path, data=data)


DIGITS = 6


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as of a commit that changed it. `memory` is None if absent from this commit's tree.

    `parents` are the nearest earlier commits that changed it. `unreadable` is the path of an
    unreadable file, in which case `memory` is the earlier version. `cut` means that a shallow clone
    ends here, so an earlier commit may have written the memory.
    """

    entry: LogEntry
    parents: tuple[str, ...]
    memory: Memory | None = None
    unreadable: str = ""
    cut: bool = False


def trace(repo: Repo, head: str, layout: Layout, id_: str, path: str = "") -> tuple[Version, ...]:
    """Return a memory's versions in a head's history. Children come before parents.

    `path` is a known path of the memory, such as its path at `head`. Commits that only changed
    another memory with a similar id are omitted.
    """
    known = {path} if path else set[str]()
    while True:
        patterns = [_pattern(layout, id_[4 : 4 + DIGITS]), *(f":(top,literal){p}" for p in known)]
        touched = commits_touching(repo, head, patterns)
        paths = {p for entry in touched for p in entry.paths if layout.is_memory(p)} | known
        versions = _versions(repo, touched, sorted(paths), id_)
        further = set(_elsewhere(repo, versions, layout, id_)) - paths
        if not further:
            return versions
        known |= further


def _pattern(layout: Layout, digits: str) -> str:
    return f":(top,glob){layout.area('memories')}**/*-{digits}.md"


def _versions(
    repo: Repo, touched: Sequence[LogEntry], paths: Sequence[str], id_: str
) -> tuple[Version, ...]:
    names = [f"{entry.commit}:{path}" for entry in touched for path in paths]
    data = contents(repo, names)
    shallow = repo.common_dir / "shallow"
    boundary = shallow.read_text().split() if shallow.is_file() else []
    found: dict[str, Version] = {}
    ours: set[str] = set()
    for entry in reversed(touched):
        memory, unreadable = None, ""
        for path in paths:
            text = data.get(f"{entry.commit}:{path}")
            read = codec.decode(path, text)[0] if text is not None else None
            if read is not None and read.id == id_:
                memory, unreadable = read, ""
                ours.add(path)
                break
            if text is not None and read is None and path in ours:
                unreadable = path
        parents = tuple(p for p in entry.parents if p in found)
        if unreadable:
            before = (found[p].memory for p in parents)
            memory = next((m for m in before if m is not None), None)
        found[entry.commit] = Version(
            entry=entry,
            parents=parents,
            memory=memory,
            unreadable=unreadable,
            cut=entry.commit in boundary,
        )
    return tuple(found[entry.commit] for entry in touched)


def _elsewhere(repo: Repo, versions: Sequence[Version], layout: Layout, id_: str) -> Iterator[str]:
    """Yield the paths that the memory was renamed from or to, other than those in `versions`."""
    by_commit = {v.entry.commit: v for v in versions}
    for version in versions:
        before = [by_commit[p].memory for p in version.parents]
        if version.memory is not None and not any(before):
            yield from _moved(repo, version.entry, layout, id_, "D")
        elif version.memory is None and any(before):
            yield from _moved(repo, version.entry, layout, id_, "A")


def _moved(repo: Repo, entry: LogEntry, layout: Layout, id_: str, side: str) -> Iterator[str]:
    """Yield the files with a memory that one commit deleted (side "D") or added (side "A")."""
    words = ("-1", "-m", f"--diff-filter={side}", entry.commit, "--", layout.area("memories"))
    files = {file.path: file for e in commits_with_files(repo, *words) for file in e.files}
    data = contents(repo, (file.new or file.old for file in files.values()))
    for path, file in files.items():
        text = data[file.new or file.old]
        memory = codec.decode(path, text)[0] if text and layout.is_memory(path) else None
        if memory is not None and memory.id == id_:
            yield path


def ids_in_history(repo: Repo, head: str, layout: Layout, digits: str) -> Mapping[str, str]:
    """Return {id: path} of all memories in history whose id starts with the given digits."""
    touched = commits_touching(repo, head, [_pattern(layout, digits[:DIGITS])])
    paths = sorted({path for entry in touched for path in entry.paths if layout.is_memory(path)})
    names = {f"{entry.commit}:{path}": path for entry in touched for path in paths}
    found: dict[str, str] = {}
    for name, data in contents(repo, names).items():
        memory = codec.decode(names[name], data)[0] if data is not None else None
        if memory and ID_PATTERN.fullmatch(memory.id) and memory.id[4:].startswith(digits):
            found.setdefault(memory.id, names[name])
    return found


def first_parents(repo: Repo, base: str, tip: str) -> list[str]:
    """Return the commits after `base` up to a tip along first parents, oldest first."""
    span = (tip, f"^{base}") if base else (tip,)
    found: str = repo.call("rev-list", "--first-parent", "--reverse", *span, "--")
    return found.split()


def git_version(repo: Repo) -> tuple[int, int]:
    """Return the (major, minor) version of the git program in use."""
    major, minor, *_ = (*repo.git.version_info, 0, 0)
    return major, minor


def object_problems(repo: Repo) -> list[str]:
    """Check all reachable objects with `git fsck`, and return the problems it reports."""
    options = ("--strict", "--no-dangling", "--no-progress")
    try:
        code, out, err = repo.git.fsck(*options, with_exceptions=False, with_extended_output=True)
    except GitFailed as error:  # a signal ended fsck: the check is incomplete
        return [str(error)]
    lines = (f"{out}\n{err}" if code else out).split("\n")
    problems = [line for line in lines if line and not line.startswith("notice:")]
    return problems or [f"git fsck ended with {code}"] * (code != 0)


def interrupted(store: Repository) -> str:
    """Describe an interrupted write. Return an empty string if there is none."""
    if load_journal(store.journals) is not None:
        return "a write was interrupted"
    if store.repo.refs.below(TX):
        return "a transaction ref was left behind"
    return ""


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
