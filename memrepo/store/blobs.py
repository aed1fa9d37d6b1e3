"""Many contents in one git process, by id or `<commit>:<path>`; what is not there is None.

A clone may lack objects: shallow, partial, or purged. That is an answer here, never an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from memrepo.store.light import GitSaid

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

LONGEST = 64 * 1024 * 1024
"""No source or memory is this large: such a blob is not held in memory to be quoted."""


def contents(repo: Repo, names: Iterable[str]) -> Mapping[str, bytes | None]:
    """Return the bytes of each blob named, or None where the repository has no such blob."""
    # A name is a line of git's input: one that holds a line end cannot be asked for.
    wanted = list(dict.fromkeys(name for name in names if name and "\n" not in name))
    found: dict[str, bytes | None] = dict.fromkeys(wanted)
    sizes = _sizes(repo, wanted)
    if sizes is None:
        # A partial clone whose remote cannot be reached: git gives up at the first that is gone.
        return {name: _alone(repo, name) for name in wanted}
    there = [name for name in wanted if 0 <= sizes.get(name, -1) <= LONGEST]
    data = _run(repo, there, "--batch")
    if data is None:
        return {name: _alone(repo, name) for name in wanted}
    at = 0
    for name in there:
        start = data.index(b"\n", at) + 1
        at = start + sizes[name]
        found[name] = data[start:at]
        at += 1
    return found


def _sizes(repo: Repo, names: list[str]) -> dict[str, int] | None:
    """Return the size of each blob there is, or None where git gave up."""
    data = _run(repo, names, "--batch-check=%(objecttype) %(objectsize)")
    if data is None:
        return None
    rows = data.decode("utf-8", "replace").split("\n")[:-1]
    found = {}
    for name, row in zip(names, rows, strict=False):
        kind, _, size = row.partition(" ")
        if kind == "blob" and size.isdecimal():
            found[name] = int(size)
    return found if len(rows) == len(names) else None


def _run(repo: Repo, names: list[str], *words: str) -> bytes | None:
    fed = b"".join(name.encode("utf-8", "surrogateescape") + b"\n" for name in names)
    try:
        return repo.light.raw("cat-file", *words, fed=fed) if names else b""
    except GitSaid:
        return None


def _alone(repo: Repo, name: str) -> bytes | None:
    try:
        return repo.light.raw("cat-file", "blob", name)
    except GitSaid:
        return None
