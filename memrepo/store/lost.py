"""Memory files that left the tree: found in history by the end of their name, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.layout import Layout
from memrepo.store.light import call
from memrepo.store.tree import file_at

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it last was: the commit that removed it, its path, its bytes before."""

    commit: str
    path: str
    data: bytes


def removed_by(repo: Repo, commit: str, layout: Layout) -> list[Lost]:
    """Return the memory files that one commit removed, as they were before it."""
    raw = call(
        repo,
        "diff-tree",
        "-r",
        "-z",
        "--no-renames",
        "--no-commit-id",
        "--name-only",
        "--diff-filter=D",
        commit,
        "--",
        layout.area("memories"),
    )
    found = ((path, file_at(repo, f"{commit}^", path)) for path in filter(None, raw.split("\0")))
    return [Lost(commit=commit, path=path, data=data) for path, data in found if data is not None]


def lost_files(repo: Repo, head: str, layout: Layout, tail: str) -> Iterator[Lost]:
    """Yield files below `memories/` that commits removed; their names end in a glob such as `-0a*`.

    One walk over history that compares trees below one folder only, whatever removed the file.
    """
    area = layout.area("memories")
    raw = call(
        repo,
        "-c",
        "log.showSignature=false",
        "log",
        "--diff-filter=D",
        "--no-renames",
        "--name-only",
        "-z",
        "--format=%x00%H",
        head,
        "--",
        area,
    )
    for record in raw.removeprefix("\0").split("\0\0"):
        commit, _, names = record.partition("\0")
        for path in filter(None, names.removeprefix("\n").split("\0")):
            if not (layout.is_memory(path) and fnmatchcase(path, f"*{tail}.md")):
                continue
            data = file_at(repo, f"{commit}^", path)
            if data is not None:
                yield Lost(commit=commit, path=path, data=data)
