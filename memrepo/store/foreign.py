"""Merging what memrepo does not own: other files beside the memories, entry by entry.

What only one side changed is taken with its mode, whatever it is. Texts that both changed are
merged by line; where lines overlap, or where it is no text, a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from memrepo.merge.diff3 import merge_text
from memrepo.store.objects import NOTHING, Entry
from memrepo.store.stream import Pick
from memrepo.store.tree import is_text, read_blob

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

FILE = "100644"
_FILES = (FILE, "100755")
Side: TypeAlias = Literal["", "ours", "theirs"]
_Changes: TypeAlias = Mapping[str, tuple[Pick | None, Pick | None]]


class Foreign(msgspec.Struct, frozen=True, kw_only=True):
    """How to get from the first parent's foreign files to the merged ones.

    `paths` are all that either side changed; `clashes` those that a person must decide.
    """

    paths: frozenset[str]
    picks: Mapping[str, Pick | None]
    texts: Mapping[str, bytes]
    clashes: tuple[str, ...]


def merge_foreign(
    repo: Repo,
    bases: Sequence[str],
    first: str,
    second: str,
    owns: Callable[[str], bool],
    *,
    taken: Side = "",
) -> Foreign:
    """Merge the foreign files of two commits; `taken` resolves clashes: theirs is `first`'s.

    A path of ours at which a link or a submodule stands on a side counts as foreign, and so does
    one whose name is not UTF-8: memrepo reads neither.
    """
    firsts = [_changes(repo, base, first) for base in bases]
    seconds = [_changes(repo, base, second) for base in bases]
    picks: dict[str, Pick | None] = {}
    texts: dict[str, bytes] = {}
    clashes: list[str] = []
    paths = set[str]()
    for path in sorted({path for side in (*firsts, *seconds) for path in side}):
        versions = _versions(path, firsts, seconds)
        files = all(v is None or v.mode in _FILES for v in versions)
        if files and owns(path) and is_text(path):
            continue
        paths.add(path)
        a, b, *before = versions
        if a == b or (b in before and a not in before):
            continue
        if a in before and b not in before:
            picks[path] = b
        elif (text := _by_line(repo, a, b, before)) is not None:
            texts[path] = text
        elif taken == "ours":
            picks[path] = b
        elif not taken:
            clashes.append(path)
    return Foreign(paths=frozenset(paths), picks=picks, texts=texts, clashes=tuple(clashes))


def collisions(paths: Iterable[str], written: Collection[str]) -> tuple[str, ...]:
    """Return written paths that are a folder elsewhere in the tree, or lie in what is a file."""
    every = set(paths)
    folders = {folder for path in every for folder in _folders(path)}
    return tuple(
        path
        for path in sorted(written)
        if path in folders or any(folder in every for folder in _folders(path))
    )


def _folders(path: str) -> Iterable[str]:
    parts = path.split("/")
    return ("/".join(parts[:n]) for n in range(1, len(parts)))


def _versions(
    path: str, firsts: Sequence[_Changes], seconds: Sequence[_Changes]
) -> list[Pick | None]:
    """Return a path as the first side, the second, and each base that either differs from."""
    before: list[Pick | None] = []
    a = b = None
    for one, two in zip(firsts, seconds, strict=True):
        if path in one or path in two:
            old = (one.get(path) or two[path])[0]
            a = one[path][1] if path in one else old
            b = two[path][1] if path in two else old
            before.append(old)
    return [a, b, *before]


def _by_line(
    repo: Repo, a: Pick | None, b: Pick | None, before: Sequence[Pick | None]
) -> bytes | None:
    """Merge two texts over their one base, or return None where a person must look."""
    (old, *others) = before
    if others or a is None or b is None or old is None or {a.mode, b.mode, old.mode} != {FILE}:
        return None
    try:
        o, x, y = (read_blob(repo, side.blob).decode("utf-8") for side in (old, a, b))
    except UnicodeDecodeError:
        return None
    joined = merge_text(o, x, y)
    # Lines that both added at one place: whose come first is not for a program to say.
    clear = not joined.overlap and joined == merge_text(o, y, x)
    return joined.text.encode("utf-8") if clear and "\0" not in joined.text else None


def _changes(repo: Repo, base: str, tip: str) -> dict[str, tuple[Pick | None, Pick | None]]:
    found = repo.light.objects.differences(base, tip)
    return {path: (_pick(old), _pick(new)) for path, old, new in found}


def _pick(entry: Entry) -> Pick | None:
    return None if entry == NOTHING else Pick(mode=entry.mode, blob=entry.id)
