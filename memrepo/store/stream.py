"""Write a chain of commits as one `git fast-import` stream.

The stream ends in `done` (git-fast-import(1)). Without it, a truncated stream would be committed
silently. It leaves no ref: its commits are at a ref that it deletes again, and fast-import answers
with the id of the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import BinaryIO

import msgspec

from memrepo.core.state import Effect
from memrepo.store.objects import TreeEntry

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
