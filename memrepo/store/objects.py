"""Read and write the objects of a repository: blobs, commits and trees.

One `git cat-file --batch` process serves all readers. Object names are written in batches that fit
in a pipe, and a batch is read completely before any of it is returned. If the process ends, it is
restarted once. If it ends again without an answer, GitFailed is raised, so a crash is never
mistaken for a missing object.

A chain of commits is written as one `git fast-import` stream. The stream ends in `done`
(git-fast-import(1)). Without it, a truncated stream would be committed silently. It leaves no ref:
its commits are at a ref that it deletes again, and fast-import answers with the id of the last one.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import IO, TYPE_CHECKING, BinaryIO, Protocol

import msgspec

from memrepo.core.errors import GitFailed, Missing
from memrepo.core.ids import visible
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.core.state import Effect

FILE = "100644"
FILES = (FILE, "100755")
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


class _Git(Protocol):
    """What starts git: `store.git.Git`."""

    closed: bool

    def call(self, *words: str, check: bool = True, accepted: int = 0) -> str: ...

    def start(self, *words: str) -> subprocess.Popen[bytes]: ...


class ObjectReader:
    """Access to a repository's objects, by id or by any other name that git resolves."""

    def __init__(self, git: _Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def find(self, name: str) -> Object | None:
        """Return the object with a given name, or None if it does not exist."""
        return next(self.each([name]))

    def read(self, name: str, path: str = "") -> bytes:
        """Return the content of an object that must exist. Raises Missing, which names the path."""
        if (found := self.find(name)) is None:
            raise Missing(name=name, path=visible(path) or "a file")
        return found.data

    def contents(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """Return {name: bytes} for blob ids or `<commit>:<path>` names. A missing blob is None."""
        wanted = list(dict.fromkeys(filter(None, names)))
        each = zip(wanted, self.each(wanted, LONGEST), strict=True)
        return {name: one.data if one and one.kind == "blob" else None for name, one in each}

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the bytes of a file at a commit, or None if the file does not exist there."""
        entry = self.at(commit, path)
        return self.read(entry.id, path) if entry is not None and entry.mode in FILES else None

    def commit(self, revision: str) -> str:
        """Return the id of the commit that a revision names, or "" if there is none."""
        found = self.find(f"{revision}^{{commit}}")
        return found.id if found is not None else ""

    def each(self, names: Iterable[str], limit: int | None = None) -> Iterator[Object | None]:
        """Yield the objects with the given names, in the same order.

        Yield None for an object that does not exist or has more than `limit` bytes. Also yield None
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
            raise Missing(name=name, path="a commit or folder")
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
            self.stop()  # unread output would be mistaken for the next answers
            raise
        if self._git.closed:
            self.stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # A forked child process would receive the answers of its parent.
            self._process, self._owner = None, os.getpid()
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch")
        return self._process

    def stop(self) -> None:
        """End the process that reads, if one runs."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(BrokenPipeError):
                pipe.close()
        process.terminate()
        process.wait()

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
        yield name, TreeEntry(_printed(mode), data[end + 1 : at].hex())


@cache
def _printed(mode: bytes) -> str:
    return mode.decode().zfill(6)


# -- writing -----------------------------------------------------------------------------------

COMMITTER = "memrepo <memrepo@localhost>"
"""The committer if no identity is configured in git."""
RUN = "memrepo run <run@memrepo.invalid>"
"""The author of decisions that a run made itself."""
SYNC = "memrepo sync <sync@memrepo.invalid>"
"""The author of merges of two histories."""
_REF = b"refs/memrepo/new"


class NewCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit to write, with its message and its changes to files.

    `picks` are entries to use unchanged, including their modes. None removes the path.
    """

    message: str
    effect: Effect
    picks: Mapping[str, TreeEntry | None] = msgspec.field(default_factory=dict)


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Commits on top of `base` (empty: a root), with the message of their merge (empty: no merge).

    If `first` is set, the first commit is a merge. `first` is its first parent, whose files it
    edits, and `base` is its second parent. If `second` is set, it is a merge of `second` into
    `base`.
    """

    base: str
    first: str = ""
    second: str = ""
    commits: Sequence[NewCommit]
    merge: str = ""
    author: str = RUN
    when: datetime


def quoted(path: str) -> bytes:
    """Quote a path in C style for fast-import. Non-ASCII bytes are left unquoted."""
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + text.encode("utf-8", "surrogateescape") + b'"'


def _data(out: BinaryIO, data: bytes) -> None:
    out.write(b"data %d\n" % len(data))
    out.write(data)
    out.write(b"\n")


def write_stream(
    out: BinaryIO, chain: Chain, committer: str = COMMITTER, no_id: str = "0" * 40
) -> None:
    """Write the complete fast-import stream. fast-import answers with the id of the last commit."""
    stamp = f"{int(chain.when.timestamp())} +0000"
    who = f"author {chain.author} {stamp}\ncommitter {committer} {stamp}\n"
    out.write(b"feature done\n")
    marks = 0
    net: dict[str, str] = {}
    parents: tuple[str, ...] = (chain.first, chain.base) if chain.first else (chain.base,)
    parents += (chain.second,) if chain.second else ()
    for commit in chain.commits:
        marked = {path: _entry(pick) for path, pick in commit.picks.items()}
        for path, data in commit.effect.items():
            if data is None:
                marked[path] = ""
                continue
            marks += 1
            out.write(b"blob\nmark :%d\n" % marks)
            _data(out, data)
            marked[path] = f"100644 :{marks}"
        net.update(marked)
        marks += 1
        _commit(out, marks, commit.message, parents, marked, who)
        parents = (f":{marks}",)
    if chain.merge:
        marks += 1
        parents = (chain.base, *parents)
        _commit(out, marks, chain.merge, parents, net, who)
    out.write(b"get-mark :%d\nreset %s\nfrom %s\n\ndone\n" % (marks, _REF, no_id.encode()))


def _entry(pick: TreeEntry | None) -> str:
    return f"{pick.mode} {pick.id}" if pick is not None else ""


def _commit(
    out: BinaryIO,
    mark: int,
    message: str,
    parents: tuple[str, ...],
    files: Mapping[str, str],
    who: str,
) -> None:
    out.write(b"commit %s\nmark :%d\n%s" % (_REF, mark, who.encode()))
    _data(out, message.encode("utf-8", "backslashreplace"))
    words = ("from", *["merge"] * (len(parents) - 1))
    for word, parent in zip(words, parents, strict=True):
        if parent:
            out.write(f"{word} {parent}\n".encode())
    # Deletions first: a file may replace a folder that becomes empty in the same commit.
    for path in (p for p, entry in files.items() if not entry):
        out.write(b"D " + quoted(path) + b"\n")
    for path, entry in files.items():
        if entry:
            out.write(f"M {entry} ".encode() + quoted(path) + b"\n")
    out.write(b"\n")
