"""Merge files other than memories by content.

| file | if both sides changed it differently |
|---|---|
| views, first page | ours: they are rendered again after the merge |
| run manifests | immutable, so a conflict; one version is used |
| sources, configuration | merged by line; a conflict if lines overlap |
| tombstones | the later decision wins; evidence is combined |
| corrections | a decision wins over an open case; two different decisions are a conflict |
| other files | a conflict; the longer version is used |

If one side removed a file and the other changed it, the file remains.
"""

from __future__ import annotations

import tomllib
from typing import Literal, TypeAlias

import msgspec

from memrepo.core import corrections
from memrepo.core.layout import Layout
from memrepo.core.lines import dominant_end, split_lines, unix
from memrepo.core.problems import Problem
from memrepo.merge.tombstones import (
    is_tombstone,
    join_tombstones,
    read_tombstone,
    tombstone_bytes,
)
from memrepo.merge.versions import merge_text

FileConflict: TypeAlias = Literal["both-changed", "manifest-differs"]


class JoinedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged file (None if removed), and the kind of conflict, or None."""

    data: bytes | None
    conflict: FileConflict | None = None


def is_derived(layout: Layout, path: str) -> bool:
    """Return whether a file is rendered again after a merge, and therefore not merged itself."""
    return path.startswith(layout.area("views")) or layout.is_hot(path)


def join_file(
    layout: Layout, path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> JoinedFile:
    """Merge one file. Swapping the two sides gives the same result, except for a derived file."""
    if ours == theirs or base == ours:
        return JoinedFile(data=theirs)
    if base == theirs or is_derived(layout, path):
        return JoinedFile(data=ours)
    if ours is None or theirs is None:
        return JoinedFile(data=theirs if ours is None else ours)
    older, newer = sorted((ours, theirs), key=lambda data: (len(data), data))
    if is_tombstone(layout, path):
        return _join_tombstone(path, older, newer)
    if corrections.correction_paths([path], layout):
        return _join_correction(path, older, newer)
    if path.startswith(layout.area("candidates")):
        return JoinedFile(data=newer)
    if path.startswith(layout.area("runs")):
        return JoinedFile(data=newer, conflict="manifest-differs")
    if path == layout.config or path.startswith(layout.area("sources")):
        return _by_line(base or b"", older, newer, is_toml=path == layout.config)
    return JoinedFile(data=newer, conflict="both-changed")


def _join_tombstone(path: str, older: bytes, newer: bytes) -> JoinedFile:
    """Merge two versions of a tombstone. An unreadable version loses."""
    one, other = read_tombstone(path, older), read_tombstone(path, newer)
    if isinstance(other, Problem):
        whole = isinstance(one, Problem)
        return JoinedFile(
            data=newer if whole else older, conflict="both-changed" if whole else None
        )
    if isinstance(one, Problem):
        return JoinedFile(data=newer)
    return JoinedFile(data=tombstone_bytes(join_tombstones(one, other)))


def _join_correction(path: str, older: bytes, newer: bytes) -> JoinedFile:
    """Merge two versions of a correction. A readable version wins over an unreadable one."""
    found = [(corrections.decode(path, data), data) for data in (older, newer)]
    read = [(c, data) for c, data in found if isinstance(c, corrections.Correction)]
    if len(read) < 2:
        return JoinedFile(data=read[0][1] if read else newer, conflict="both-changed")
    (less, _), (more, data) = sorted(read, key=lambda pair: corrections.weight(pair[0]))
    decided = less.status == more.status == "resolved"
    differ = decided and (less.verdict, less.kept) != (more.verdict, more.kept)
    return JoinedFile(data=data, conflict="both-changed" if differ else None)


def _by_line(base: bytes, older: bytes, newer: bytes, *, is_toml: bool) -> JoinedFile:
    """Merge texts by line, using the line endings of the side that changed them."""
    whole = JoinedFile(data=newer, conflict="both-changed")
    try:
        o, a, b = (data.decode("utf-8") for data in (base, older, newer))
    except UnicodeDecodeError:
        return whole
    joined = merge_text(unix(o), unix(a), unix(b))
    text = joined.text
    if is_toml and not _can_be_read(text):
        return whole
    if "\r" in a or "\r" in b:
        ends = [dominant_end(split_lines(side)) for side in (o, a, b)]
        text = text.replace("\n", ends[2] if ends[1] == ends[0] else ends[1])
    return JoinedFile(data=text.encode(), conflict="both-changed" if joined.overlap else None)


def _can_be_read(text: str) -> bool:
    """Return whether a text is valid TOML."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True
