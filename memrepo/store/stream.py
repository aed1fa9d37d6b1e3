"""A chain of commits as one `git fast-import` stream (git-fast-import(1)).

The stream ends in `done`: without it a cut stream would be committed silently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO

from memrepo.core.state import Effect

COMMITTER = "memrepo <memrepo@localhost>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit to be made: its message and what it does to files."""

    message: str
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Commits on top of `base` (empty: a root), and the message of their merge (empty: none)."""

    base: str
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
    net: dict[str, int | None] = {}
    parent = chain.base
    for commit in chain.commits:
        marked: dict[str, int | None] = {}
        for path, data in commit.effect.files.items():
            if data is None:
                marked[path] = None
                continue
            marks += 1
            out.write(b"blob\nmark :%d\n" % marks)
            _data(out, data)
            marked[path] = marks
        net.update(marked)
        marks += 1
        _commit(out, ref, marks, commit.message, (parent,), marked, (chain.author, stamp))
        parent = f":{marks}"
    if chain.merge:
        marks += 1
        parents = (chain.base, parent)
        _commit(out, ref, marks, chain.merge, parents, net, (chain.author, stamp))
    out.write(b"done\n")


def _commit(
    out: BinaryIO,
    ref: str,
    mark: int,
    message: str,
    parents: tuple[str, ...],
    files: Mapping[str, int | None],
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
    for path in (p for p, blob in files.items() if blob is None):
        out.write(b"D " + quoted(path) + b"\n")
    for path, blob in files.items():
        if blob is not None:
            out.write(b"M 100644 :%d " % blob + quoted(path) + b"\n")
    out.write(b"\n")
