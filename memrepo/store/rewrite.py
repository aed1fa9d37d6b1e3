"""A whole history read, and written anew: every commit, tag, note and file as an edit leaves it.

The old objects are read as they are, and one `git fast-import` writes the new ones into a
repository of its own (git-fast-import(1)); `get-mark` tells the new ids, so that what names an
older commit or version of a file names the new one. A commit in which nothing changes, and none
of whose ancestors did, stays the commit that it is. Signatures are not carried over: they would
vouch for what is no longer there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from git.exc import GitCommandError

from memrepo.core.errors import MemrepoError
from memrepo.store.objects import NOTHING, Entry, Found
from memrepo.store.stream import quoted

if TYPE_CHECKING:
    from memrepo.merge.purging import Edit
    from memrepo.store.door import Door
    from memrepo.store.gitenv import Repo

_REF = b"refs/rewritten"
_LINK = "160000"
_SHORTEST = 7
_LEDGERS = ("refs/memrepo/access", "refs/memrepo/remote/")
_BROKE = "git fast-import ended before all was written"


class Tip(NamedTuple):
    """A name, and the object that it stands for."""

    name: str
    id: str


class CannotRewrite(MemrepoError):
    """History holds what cannot be written anew."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(
            f"{name} names a {kind}, not a commit, tag or file: it cannot be written anew",
            fix=f"`git update-ref -d {name}` takes it away, if nobody needs it",
        )


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A commit or a tag as it is: its headers, its message, the name by which it is reached."""

    id: str
    kind: str
    headers: dict[str, list[bytes]]
    message: bytes
    via: str
    changes: tuple[tuple[str, Entry, Entry], ...] = ()
    """Of a commit: path, entry before and after, against its first parent."""

    def ids(self, header: str) -> list[str]:
        """Return the objects that a header names."""
        return [value.decode() for value in self.headers.get(header, ())]


class History(msgspec.Struct, kw_only=True):
    """Everything that some tips reach: what others name comes before what names it.

    `paths` holds every file by its id, with the paths that it has somewhere.
    """

    said: list[Said] = msgspec.field(default_factory=list)
    paths: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)


def read_history(repo: Repo, tips: Sequence[Tip]) -> History:
    """Read all that the tips reach; raises CannotRewrite for one that is no such thing."""
    history, seen = History(), set[str]()
    objects = repo.light.objects
    for part in _in_order(tips):
        commits: dict[str, str] = {}
        tags: list[Said] = []
        for tip in part:
            found, below = objects.find(tip.id), list[Said]()
            while found is not None and found.kind == "tag":
                below.append(_said(found, tip.name))
                found = objects.find(below[-1].ids("object")[0])
            tags += reversed(below)
            if found is None or found.kind == "tree":
                raise CannotRewrite(tip.name, "tree" if found else "thing that is missing")
            if found.kind == "commit":
                commits.setdefault(found.id, tip.name)
            else:
                history.paths.setdefault(found.id, {})
        for name, id_ in _commits(repo, commits, seen):
            history.said.append(_read(repo, id_, name, history.paths))
        for tag in tags:
            if tag.id not in seen:
                seen.add(tag.id)
                history.said.append(tag)
    return history


def _in_order(tips: Sequence[Tip]) -> Iterator[list[Tip]]:
    """Yield the tips in parts: what others name comes before what names it."""
    ledgers = [t for t in tips if t.name.startswith(_LEDGERS)]
    notes = [t for t in tips if t.name.startswith("refs/notes/")]
    yield ledgers
    yield [tip for tip in tips if tip not in ledgers and tip not in notes]
    yield notes


def _commits(repo: Repo, tips: dict[str, str], seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield every commit not yet seen, parents first, with the name by which it is reached."""
    for tip, name in tips.items():
        if tip in seen:
            continue
        for commit in repo.git.rev_list("--topo-order", "--reverse", tip, "--").split():
            if commit not in seen:
                seen.add(commit)
                yield name, commit


def _read(repo: Repo, id_: str, name: str, paths: dict[str, dict[str, None]]) -> Said:
    objects = repo.light.objects
    said = _said(Found(id_, "commit", objects.read(id_)), name)
    base = next(iter(said.ids("parent")), "")
    changes = tuple(objects.differences(base, id_))
    for path, _, after in changes:
        if after != NOTHING and after.mode != _LINK:
            paths.setdefault(after.id, {})[path] = None
    return msgspec.structs.replace(said, changes=changes)


def _said(found: Found, name: str) -> Said:
    """Read the headers of a commit or tag, those of more lines as one, and its message."""
    head, _, message = found.data.partition(b"\n\n")
    headers: dict[str, list[bytes]] = {}
    for line in head.replace(b"\n ", b"\0").split(b"\n"):
        key, _, value = line.partition(b" ")
        headers.setdefault(key.decode("ascii", "replace"), []).append(value)
    return Said(id=found.id, kind=found.kind, headers=headers, message=message, via=name)


class Rewriter:
    """Writes a history into another repository; knows what became of each object.

    `commits`, `blobs` and `tags` hold what is there now in place of each, by its old id.
    """

    def __init__(self, repo: Repo, into: Door, edit: Edit) -> None:
        self._objects, self._into, self.edit = repo.light.objects, into, edit
        self.commits: dict[str, str] = {}
        self.blobs: dict[str, str] = {}
        self.tags: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()
        self._marks = 0
        self._marked: dict[str, str] = {}
        self._process: Any = None

    def write(self, history: History) -> None:
        """Write everything that has to be written anew."""
        self._known = frozenset(history.paths)
        options = ("--quiet", "--done", "--force", "--date-format=raw-permissive")
        self._process = self._into.fast_import(*options, istream=subprocess.PIPE, as_process=True)
        try:
            self._say(b"feature done\nfeature get-mark\n")
            for said in history.said:
                if said.kind == "commit":
                    self._commit(said)
                else:
                    self._tag(said)
            for blob in history.paths:
                self._blob(blob)
            self._say(b"done\n")
            self._process.stdin.close()
            self._process.wait()
        except (BrokenPipeError, GitCommandError):
            raise MemrepoError(_BROKE) from None
        finally:
            self._process = None  # GitPython ends it where it has not ended

    def new(self, id_: str) -> str:
        """Return what stands now in place of a commit, tag or file."""
        if found := self.commits.get(id_) or self.tags.get(id_):
            return found
        return self._blob(id_) if id_ in self._known else id_

    def new_short(self, digits: str) -> str:
        """Return the first digits of the commit that stands now in place of one named so."""
        old = self._short.get(digits[:_SHORTEST], "")
        return self.commits[old][: len(digits)] if old and old.startswith(digits) else digits

    def _blob(self, id_: str) -> str:
        if id_ not in self.blobs:
            self.blobs[id_] = id_  # no file names itself
            data = self._objects.read(id_)
            new = self.edit.file(data, self)
            if new != data:
                self._marks += 1
                self._say(b"blob\nmark :%d\n" % self._marks, _data(new))
                self.blobs[id_] = self._told()
        return self.blobs[id_]

    def _commit(self, old: Said) -> None:
        parents = old.ids("parent")
        same = all(self.commits[parent] == parent for parent in parents)
        gone: dict[str, None] = {}
        there: dict[str, Entry] = {}
        for path, _, after in old.changes:
            new = self._path(path)
            if after == NOTHING:
                gone[new] = None
                continue
            id_ = after.id if after.mode == _LINK else self._blob(after.id)
            there[new] = Entry(after.mode, id_)
            same = same and new == path and id_ == after.id
            if new != path:
                gone.setdefault(new)
        author, committer = old.headers["author"][0], old.headers["committer"][0]
        message = self.edit.message(old.message, self)
        who = self.edit.who(author), self.edit.who(committer)
        if same and message == old.message and who == (author, committer):
            self._settle(old.id, old.id)
            return
        self._marks += 1
        out = [] if parents else [b"reset " + _REF + b"\n\n"]
        out += [b"commit " + _REF + b"\nmark :%d\n" % self._marks]
        out += [b"author " + who[0] + b"\ncommitter " + who[1] + b"\n"]
        out += [b"encoding " + value + b"\n" for value in old.headers.get("encoding", ())]
        out += [_data(message)]
        for word, parent in zip((b"from", *[b"merge"] * len(parents)), parents, strict=False):
            out += [word + b" " + self._name(self.commits[parent]) + b"\n"]
        out += [b"D " + quoted(path) + b"\n" for path in gone if path not in there]
        for path, entry in there.items():
            out += [f"M {entry.mode} {entry.id} ".encode() + quoted(path) + b"\n"]
        self._say(*out, b"\n")
        self._settle(old.id, self._told())

    def _path(self, path: str) -> str:
        """Return what a path is now; that of a note is the commit that it is about."""
        new = self.commits.get(path.replace("/", ""), "")
        if not new:
            return self.edit.path(path)
        at, parts = 0, []
        for part in path.split("/"):
            parts.append(new[at : at + len(part)])
            at += len(part)
        return "/".join(parts)

    def _settle(self, old: str, new: str) -> None:
        self.commits[old] = new
        self._short[old[:_SHORTEST]] = "" if old[:_SHORTEST] in self._short else old

    def _tag(self, old: Said) -> None:
        (target,), (name,) = old.ids("object"), old.headers["tag"]
        (tagger,) = old.headers.get("tagger", [b""])
        new = self.new(target), self.edit.message(old.message, self), self.edit.who(tagger)
        called = self.edit.path(name.decode("utf-8", "surrogateescape"))
        named = called.encode("utf-8", "surrogateescape")
        if (*new, named) == (target, old.message, tagger, name):
            self.tags[old.id] = old.id
            return
        self._marks += 1
        self._say(
            b"tag " + named + b"\nmark :%d\nfrom " % self._marks + self._name(new[0]) + b"\n",
            b"tagger " + new[2] + b"\n" if tagger else b"",
            _data(new[1].partition(b"-----BEGIN ")[0]),
        )
        self.tags[old.id] = self._told()

    # -- the child ---------------------------------------------------------------------------

    def _say(self, *parts: bytes) -> None:
        self._process.stdin.write(b"".join(parts))

    def _told(self) -> str:
        """Return the id of what was written last."""
        self._say(b"get-mark :%d\n" % self._marks)
        self._process.stdin.flush()
        said: str = self._process.stdout.readline().decode().strip()
        if not said:
            raise MemrepoError(_BROKE)
        self._marked[said] = f":{self._marks}"
        return said

    def _name(self, id_: str) -> bytes:
        """Return what git is told: of what it has just written it knows the mark alone."""
        return self._marked.get(id_, id_).encode()


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"
