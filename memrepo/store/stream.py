"""A chain of commits as one `git fast-import` stream (git-fast-import(1)).

The stream ends in `done`: without it a cut stream would be committed silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import BinaryIO

import msgspec

from memrepo.core.state import Effect

COMMITTER = "memrepo <memrepo@localhost>"


class Pick(msgspec.Struct, frozen=True, kw_only=True):
    """A tree entry that the repository holds already: its mode and object id."""

    mode: str
    blob: str


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """One commit to be made: its message and what it does to files.

    `picks` are entries taken over as they are, mode and all (None: the path goes).
    """

    message: str
    effect: Effect
    picks: Mapping[str, Pick | None] = msgspec.field(default_factory=dict)


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Commits on top of `base` (empty: a root), and the message of their merge (empty: none).

    With `first` the first commit is a merge itself: `first` is its first parent and the one whose
    files it edits, `base` its second.
    """

    base: str
    first: str = ""
    commits: Sequence[Commit]
    merge: str = ""
    author: str = COMMITTER
    when: datetime


def quoted(path: str) -> bytes:
    """Quote a path as fast-import reads it: C style, bytes kept."""
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + text.encode("utf-8", "surrogateescape") + b'"'


def _data(out: BinaryIO, data: bytes) -> None:
    out.write(b"data %d\n" % len(data))
    out.write(data)
    out.write(b"\n")


def write_stream(out: BinaryIO, chain: Chain, ref: str) -> None:
    """Write the whole stream that builds the chain, and its merge, at `ref`."""
    stamp = f"{int(chain.when.timestamp())} +0000"
    out.write(b"feature done\n")
    marks = 0
    net: dict[str, str] = {}
    parents = (chain.first, chain.base) if chain.first else (chain.base,)
    for commit in chain.commits:
        marked = {path: _entry(pick) for path, pick in commit.picks.items()}
        for path, data in commit.effect.files.items():
            if data is None:
                marked[path] = ""
                continue
            marks += 1
            out.write(b"blob\nmark :%d\n" % marks)
            _data(out, data)
            marked[path] = f"100644 :{marks}"
        net.update(marked)
        marks += 1
        _commit(out, ref, marks, commit.message, parents, marked, (chain.author, stamp))
        parents = (f":{marks}",)
    if chain.merge:
        marks += 1
        parents = (chain.base, *parents)
        _commit(out, ref, marks, chain.merge, parents, net, (chain.author, stamp))
    out.write(b"done\n")


def _entry(pick: Pick | None) -> str:
    return f"{pick.mode} {pick.blob}" if pick is not None else ""


def _commit(
    out: BinaryIO,
    ref: str,
    mark: int,
    message: str,
    parents: tuple[str, ...],
    files: Mapping[str, str],
    author: tuple[str, str],
) -> None:
    name, stamp = author
    out.write(f"commit {ref}\nmark :{mark}\n".encode())
    out.write(f"author {name} {stamp}\ncommitter {COMMITTER} {stamp}\n".encode())
    _data(out, message.encode("utf-8", "backslashreplace"))
    words = ("from", *["merge"] * (len(parents) - 1))
    for word, parent in zip(words, parents, strict=True):
        if parent:
            out.write(f"{word} {parent}\n".encode())
    # Deletions first: a file may take the place of a folder that empties in the same commit.
    for path in (p for p, entry in files.items() if not entry):
        out.write(b"D " + quoted(path) + b"\n")
    for path, entry in files.items():
        if entry:
            out.write(f"M {entry} ".encode() + quoted(path) + b"\n")
    out.write(b"\n")
