"""The history of a repository: commits, changed files, landed runs and versions of memories.

One parser reads the output of `git log`. Fields of its format end in NUL, the only byte that a
commit message cannot contain.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice, permutations
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.errors import BeforeHistory, StoreError
from memrepo.core.ids import ID_PATTERN
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.state import Op, op_of
from memrepo.core.times import asked, parse_time
from memrepo.merge.purging import MARK, NAME_MARK
from memrepo.store.git import Git, replaced_commits, seconds
from memrepo.store.objects import FILES

if TYPE_CHECKING:
    from memrepo.store.git import Repo
    from memrepo.store.repo import Repository

_KEYS = (
    "Run",
    "Op",
    "Memory",
    "Actor",
    "Reason",
    "Reverts",
    "Discards",
    "Written",
)
_VALUE = "\x1e"
_START = regex("\n?\x1d([0-9a-f]{40,64})")
_TRAILERS = [f"%(trailers:key={PREFIX}{key},valueonly,unfold,separator=%x1e)" for key in _KEYS]
_FIELDS = ["%x1d%H", "%T", "%P", "%ct", "%an <%ae>", "%cn <%ce>", "%s", *_TRAILERS]
_FORMAT = "".join(f"{field}%x00" for field in _FIELDS)
_RAW = ("--raw", "--no-abbrev", "--no-renames")


class FileChange(msgspec.Struct, frozen=True):
    """A file changed by a commit: its new mode, and its blobs, which are empty if it is absent."""

    path: str
    mode: str
    old: str
    new: str


class LogEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A commit: its ids, date, author and subject, with memrepo's trailers if memrepo wrote it.

    `files` are its changes, if they were requested. `in_effect` is whether the manifest of a landed
    run is in the tree.
    """

    commit: str
    tree: str
    parents: tuple[str, ...]
    when: datetime
    author: str
    committer: str = ""
    """The person at the clone that made the commit."""
    subject: str
    trailers: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    files: Sequence[FileChange] = ()
    in_effect: bool = True

    def trailer(self, key: str) -> str:
        """Return a trailer's first value, or an empty string if the commit has no such trailer."""
        return next(iter(self.trailers.get(key, ())), "")

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the changed files."""
        return tuple(file.path for file in self.files)

    @property
    def email(self) -> str:
        """Return the author's e-mail address."""
        return self.author.rpartition(" <")[2].removesuffix(">")

    @property
    def op(self) -> Op:
        """Return the commit's operation, or `edit` if memrepo did not write the commit."""
        return op_of(self.trailer("Op"))

    @property
    def run(self) -> str:
        """Return the id of the commit's run, or an empty string."""
        return self.trailer("Run")

    @property
    def is_run(self) -> bool:
        """Return whether this commit is the merge that landed a run."""
        return self.op == "run" and len(self.parents) == 2

    @property
    def landed(self) -> str:
        """Return the id of the run that this commit landed, or an empty string."""
        return self.run if self.is_run else ""

    @property
    def before(self) -> str:
        """Return the id of the commit that this one was based on, or "" for the first one."""
        return next(iter(self.parents), "")


def entries(
    git: Git,
    *arguments: str,
    lines: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
) -> Iterator[LogEntry]:
    """Yield the commits listed by `git log`, newest first. The arguments must be trusted.

    Entries have `files` if the arguments request them with `--raw`. `lines` is standard input.
    """
    raw = git.call("log", "-z", f"--format={_FORMAT}", *arguments, lines=lines, env=env)
    entry, files = None, list[FileChange]()
    words = iter(raw.split("\0"))
    for word in words:
        if start := _START.fullmatch(word):
            if entry is not None:
                yield entry
            files = []
            entry = _entry([start[1], *islice(words, len(_FIELDS) - 1)], files)
        elif (word := word.lstrip("\n")).startswith(":"):
            _, mode, *blobs, _ = word.split(" ")
            old, new = (blob.strip("0") and blob for blob in blobs)
            files.append(FileChange(next(words), mode, old, new))
    if entry is not None:
        yield entry


_RUN = regex(r"\d{8}T\d{6}Z-[0-9a-z-]+", re.ASCII)


def merges_of(git: Git, head: str, runs: Iterable[str]) -> dict[str, LogEntry]:
    """Return the merge commit of each run in the history of a commit, by run id."""
    wanted = sorted({run for run in runs if _RUN.fullmatch(run)})
    if not wanted:
        return {}
    greps = [f"--grep=^{PREFIX}Run: {run}$" for run in wanted]
    found = entries(git, "--merges", *greps, head)
    return {e.run: e for e in found if e.is_run and e.run in wanted}


def _entry(fields: Sequence[str], files: Sequence[FileChange]) -> LogEntry:
    commit, tree, parents, when, author, committer, subject, *trailers = fields
    values = {
        key: tuple(v for v in text.split(_VALUE) if v)
        for key, text in zip(_KEYS, trailers, strict=True)
    }
    return LogEntry(
        commit=commit,
        tree=tree,
        parents=tuple(parents.split()),
        when=datetime.fromtimestamp(seconds(when), tz=UTC),
        author=author,
        committer=committer,
        subject=subject,
        trailers={key: value for key, value in values.items() if value},
        files=files,
    )


def commits_with_files(git: Git, *arguments: str, lines: Iterable[str] = ()) -> Iterator[LogEntry]:
    """Yield the commits listed by `git log` with their changed files, newest first."""
    yield from entries(git, *_RAW, *arguments, lines=lines)


def changes(git: Git, commits: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (commit, path, old blob, new blob) of files changed in commits, without merges."""
    lines = [f"{commit}\n" for commit in commits]
    words = ("--no-walk=unsorted", "--stdin")
    for entry in commits_with_files(git, *words, lines=lines) if lines else ():
        for file in entry.files:
            if file.mode in (*FILES, "000000"):
                yield entry.commit, file.path, file.old, file.new


def introduced(git: Git, *revisions: str) -> Iterator[tuple[str, str, str]]:
    """Yield (commit, path, blob) of each file added or changed by commits, including merges.

    `revisions` are arguments of rev-list. Each (path, blob) pair is yielded once.
    """
    known = set[tuple[str, str]]()
    for entry in commits_with_files(git, "-m", "--diff-filter=AMT", *revisions):
        for file in entry.files:
            if file.mode in FILES and (file.path, file.new) not in known:
                known.add((file.path, file.new))
                yield entry.commit, file.path, file.new


def commit_messages(git: Git, *revisions: str) -> Iterator[tuple[str, str]]:
    """Yield (commit, message) pairs. `revisions` are arguments of rev-list."""
    raw = git.call("log", "-z", "--format=%H%n%B", *revisions)
    for text in filter(None, raw.split("\0")):
        commit, _, message = text.partition("\n")
        yield commit, message


def hand_commits(git: Git, revisions: str) -> Iterator[LogEntry]:
    """Yield the non-merge commits in a range that memrepo did not make, oldest first."""
    found = entries(git, "--no-merges", "--reverse", revisions)
    return (entry for entry in found if not entry.trailer("Op"))


def commits_touching(
    repo: Repo, head: str, patterns: Sequence[str], *options: str
) -> list[LogEntry]:
    """Return the commits that change matching files, newest first.

    Patterns are pathspecs with magic. The parents of an entry are the nearest commits that also
    change matching files. The result is therefore a complete graph of the simplified history, with
    both sides of each merge. The files of a merge are those that differ from its first parent.
    `options` are further options of `git log`.
    """
    words = "--topo-order --full-history --simplify-merges --diff-merges=first-parent".split()
    magic = {"GIT_LITERAL_PATHSPECS": "0"}
    return [*entries(repo, *_RAW, *words, *options, head, "--", *patterns, env=magic)]


def first_commit(repo: Repo, head: str, config: str) -> str:
    """Return the first commit in a head's history that added `memrepo.toml`, or ""."""
    words = ("log", "--diff-filter=A", "--reverse", "--format=%H", head, "--", config)
    return next(iter(repo.call(*words).split()), "")


def last_changed(
    repo: Repo, head: str, paths: Iterable[str], *, recorded: bool = False
) -> dict[str, datetime]:
    """Return {path: time of its last change along first parents}, computed in one walk.

    For a copied source, that is when its text was written, if the copy records it. If `recorded`,
    the others are left out.
    """
    wanted = set(paths)
    found: dict[str, datetime] = {}
    known: dict[str, bool] = {}
    if not wanted:
        return found
    tops = {path.split("/", 1)[0] if "/" in path else "." for path in wanted}
    where = tops.pop() if len(tops) == 1 else "."
    words = ("--first-parent", "-m", head, "--", where)
    newest = commits_with_files(repo, "-1", *words)
    older = commits_with_files(repo, *words)  # not walked if the newest commit changed all paths
    for entry in chain(newest, older):
        rows = (row.split(" ", 1) for row in entry.trailers.get("Written", ()))
        written = {path: parse_time(time) for time, path in rows}
        for path in wanted.intersection(entry.paths):
            found.setdefault(path, written.get(path, entry.when))
            known.setdefault(path, path in written)
        if len(found) == len(wanted):
            break
    return {path: when for path, when in found.items() if known[path] or not recorded}


def chain_of(repo: Repo, commit: str) -> list[LogEntry]:
    """Return the commits that a run's merge added, oldest first, or just the given commit."""
    tip = next(entries(repo, "-1", commit))
    if len(tip.parents) < 2:
        return [tip]
    return list(entries(repo, "--reverse", f"{tip.parents[0]}..{tip.parents[1]}"))


GIT_REVERTS = ('Revert "', 'Reapply "')
"""How the subjects that `git revert` writes begin."""


_MANIFEST = regex(r"(?:.*/)?(\d{8}T\d{6}Z-[0-9a-f]{8})\.json")
RECORD = "Record what the run read and decided"
"""Subject of a run's last commit, which changes no memory."""
DISCARDS = "Discards"
"""Trailer of a commit that discards a run and leaves only the run's manifest."""


def run_of(path: str) -> str:
    """Return the id of the run whose manifest has this path, or "" for other files."""
    found = _MANIFEST.fullmatch(path)
    return found[1] if found else ""


def landings(repo: Repo, head: str, layout: Layout, paths: Iterable[str]) -> list[LogEntry]:
    """Return the merges that landed runs in a head's history, newest first."""
    area = layout.area("runs")
    here = {run_of(path) for path in paths if path.startswith(area)}
    merges = entries(repo, "--merges", f"--grep=^{PREFIX}Op: run$", head)
    return [replace(entry, in_effect=entry.run in here) for entry in merges if entry.is_run]


def manifest_removals(repo: Repo, head: str, layout: Layout) -> list[LogEntry]:
    """Return the commits that removed manifests, with these files, newest first."""
    return commits_touching(repo, head, [layout.area("runs")], "--diff-filter=D")


def newest_in_effect(found: Collection[LogEntry]) -> LogEntry | None:
    """Return the newest run in effect, or None. The given merges must be newest first."""
    return next((run for run in found if run.in_effect), None)


# -- dates, removed files and versions of memories --------------------------------------------


def commit_at(store: Repository, head: str, word: str, zone: tzinfo) -> str:
    """Return the commit that a `REV|DATE` argument names.

    A date selects the newest commit along the first parents of `head` that is not younger. A date
    without a time means the end of that day in the time zone. A word that can be read as a date is
    a date. Name a branch like that as `refs/heads/<name>`. Raises StoreError or BeforeHistory.
    """
    try:
        moment = asked(word, zone)
    except ValueError:
        commit = store.resolve(word)
        if not commit:
            raise StoreError(
                "unknown-revision", word=word if len(word) <= 80 else f"{word[:79]}…"
            ) from None
        return commit
    # Git's own date parser guesses, so pass seconds. They must not be negative.
    timestamp = int(moment.timestamp())
    ask = store.repo.call
    found = ""
    if timestamp >= 0:
        words = ("rev-list", "--first-parent", "-1", f"--min-age={timestamp}", head, "--")
        found = ask(*words).strip()
    if not found:
        first = ask("rev-list", "--first-parent", "--max-parents=0", head, "--").split()
        roots = first or ask("rev-list", "--first-parent", "--reverse", head, "--").split()[:1]
        shallow = ask("rev-parse", "--is-shallow-repository").strip() == "true"
        root = store.commit_time(roots[-1]).astimezone(zone)
        raise BeforeHistory(
            "shallow" if shallow else "whole",
            word=word,
            first=f"{root:%Y-%m-%d %H:%M}",
            day=f"{root:%Y-%m-%d}",
        )
    return found


DIGITS = 6


class MemoryVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as of a commit that changed it. `memory` is None if absent from this commit's tree.

    `parents` are the nearest earlier commits that changed it. `unreadable` is the path of an
    unreadable file, in which case `memory` is the earlier version.
    """

    entry: LogEntry
    parents: tuple[str, ...]
    memory: Memory | None = None
    unreadable: str = ""


def trace(
    repo: Repo, head: str, layout: Layout, id_: str, path: str = ""
) -> tuple[MemoryVersion, ...]:
    """Return a memory's versions in a head's history. Children come before parents.

    A memory's files are those named for its id, and `path`, such as its path at `head`. If a person
    renamed it, they are all files that had its id. Commits that only changed another memory with a
    similar id are omitted.
    """
    digits = id_[4 : 4 + DIGITS]
    patterns = [_pattern(layout, digits)]
    if not path.endswith(f"-{digits}.md"):
        named = commits_touching(repo, head, [f":(top){layout.area('memories')}"], f"-Sid: {id_}")
        found = dict.fromkeys([path, *(p for entry in named for p in entry.paths)])
        patterns += [f":(top,literal){p}" for p in found if p]
    touched = commits_touching(repo, head, patterns)
    paths = {p for entry in touched for p in entry.paths if layout.is_memory(p)}
    return _versions(repo, touched, sorted(paths), id_)


def _pattern(layout: Layout, digits: str) -> str:
    return f":(top,glob){layout.area('memories')}**/*-{digits}.md"


def _versions(
    repo: Repo, touched: Sequence[LogEntry], paths: Sequence[str], id_: str
) -> tuple[MemoryVersion, ...]:
    names = [f"{entry.commit}:{path}" for entry in touched for path in paths]
    data = repo.objects.contents(names)
    found: dict[str, MemoryVersion] = {}
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
        found[entry.commit] = MemoryVersion(
            entry=entry,
            parents=parents,
            memory=memory,
            unreadable=unreadable,
        )
    return tuple(found[entry.commit] for entry in touched)


def ids_in_history(repo: Repo, head: str, layout: Layout, digits: str) -> Mapping[str, str]:
    """Return {id: path} of all memories in history whose id starts with the given digits."""
    touched = commits_touching(repo, head, [_pattern(layout, digits[:DIGITS])])
    paths = sorted({path for entry in touched for path in entry.paths if layout.is_memory(path)})
    names = {f"{entry.commit}:{path}": path for entry in touched for path in paths}
    found: dict[str, str] = {}
    for name, data in repo.objects.contents(names).items():
        memory = codec.decode(names[name], data)[0] if data is not None else None
        if memory and ID_PATTERN.fullmatch(memory.id) and memory.id[4:].startswith(digits):
            found.setdefault(memory.id, names[name])
    return found


# -- purges in other clones ----------------------------------------------------------------------


def purged_elsewhere(git: Repo, *tips: str) -> str:
    """Return a commit of HEAD that a purge in another clone replaced, or an empty string.

    The first commit that a purge rewrites keeps its parents, its times and its subject but for the
    value, and has more marks of purges. It is looked for in HEAD, in the given tips and in what
    was fetched.
    """
    twins: dict[str, dict[str, str]] = {}
    if not tips and not git.call("for-each-ref", "--count=1", "refs/remotes/"):
        return ""  # a clone of no hub, whose history need not be walked
    shown = git.call("log", "--format=%H|%P %at %ct|%s", "HEAD", "--remotes", *tips, "--")
    for row in filter(None, shown.split("\n")):  # a subject may contain other line separators
        commit, key, subject = row.split("|", 2)
        twins.setdefault(key, {})[commit] = subject
    for group in (group for group in twins.values() if len(group) > 1):
        for old, new in permutations(group, 2):
            parts = map(re.escape, group[new].split(MARK))
            is_same = re.fullmatch(".*".join(parts), group[old]) is not None
            if is_same and _is_replaced(git, old, new) and _is_ancestor(git, old):
                return old
    return ""


_PURGED = regex(rf"{MARK}|\b{NAME_MARK}-[0-9a-f]{{6}}")


def _is_replaced(git: Repo, old: str, new: str) -> bool:
    """Return whether a purge in another clone replaced the old commit by the new one.

    The new one has more marks of purges, in its files, their names or its message. If a value came
    back after a purge and was purged again, both may have as many marks. The purge was then another
    clone's unless this one recorded the new commit as replaced.
    """
    words = ("diff", "-U0", "--no-renames", "--no-textconv", "--no-ext-diff", old, new, "--")
    rows = git.call(*words).split("\n")
    told = ("log", "-1", "--format=%an %ae %cn %ce%n%B")
    counts = []
    for sign, commit in (("-", old), ("+", new)):
        texts = (git.call(*told, commit, "--"), *(row for row in rows if row.startswith(sign)))
        counts.append(sum(len(_PURGED.findall(text)) for text in texts))
    if counts[0] == counts[1] > 0:
        return new not in replaced_commits(git)
    return counts[0] < counts[1]


def _is_ancestor(git: Git, commit: str) -> bool:
    """Return whether HEAD has a commit."""
    return not git.call("rev-list", "-1", commit, "--not", "HEAD").strip()
