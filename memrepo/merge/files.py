"""Merge files other than memories by content. Report a typed conflict if that is impossible.

| file | if both sides changed it differently |
|---|---|
| views, hot cache | skipped: they are regenerated after the merge |
| run manifests | immutable, so a conflict; the newer version wins |
| candidates | the version with more sources wins |
| source snapshots, configuration | merged by line; a conflict if lines overlap |
| tombstones | the later decision wins; evidence is combined |
| corrections | a decision wins over an open case; two different decisions are a conflict |
| threads, other files | a conflict; the newer version wins |

A losing version is always stored as a file in `corrections/`, named by its content. Repeating a
merge therefore writes the same file. If one side removed a file and the other changed it, the file
remains. That is a conflict only if a person removed it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from memrepo.core import corrections, header
from memrepo.core.changes import Write
from memrepo.core.ids import digest
from memrepo.core.layout import Layout
from memrepo.core.lines import dominant_end, inline, split_lines, unix
from memrepo.core.problems import Problem
from memrepo.core.times import EARLIEST, format_time
from memrepo.merge.tombstones import (
    is_tombstone,
    join_tombstones,
    read_tombstone,
    tombstone_bytes,
)
from memrepo.merge.versions import LosingVersion, Origin, Stamps, merge_text

FileConflict: TypeAlias = Literal["removed-and-edited", "both-changed", "manifest-differs"]


class JoinedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged file (None if removed), the kind of conflict (or None), and the losing version."""

    data: bytes | None
    conflict: FileConflict | None = None
    lost: bytes | None = None


def is_derived(layout: Layout, path: str) -> bool:
    """Return whether a file is regenerated after a merge, and therefore not merged itself."""
    return path.startswith(layout.area("views")) or layout.is_hot(path)


def join_file(
    layout: Layout,
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    stamps: Stamps,
) -> JoinedFile:
    """Merge one file. Swapping the two sides gives the same result.

    The stamps describe the last change of the file on each side.
    """
    if ours == theirs or base == ours:
        return JoinedFile(data=theirs)
    if base == theirs:
        return JoinedFile(data=ours)
    if ours is None or theirs is None:
        remover = stamps.ours if ours is None else stamps.theirs
        return JoinedFile(
            data=theirs if ours is None else ours,
            conflict="removed-and-edited" if remover.person else None,
        )
    if is_tombstone(layout, path) and (stone := _one_tombstone(path, ours, theirs)):
        return JoinedFile(data=stone)
    if corrections.correction_paths([path], layout):
        return _decided(path, ours, theirs, stamps)
    weigh = _evidence if path.startswith(layout.area("candidates")) else _age
    sides = sorted([(ours, stamps.ours), (theirs, stamps.theirs)], key=lambda s: weigh(*s))
    older, newer = (data for data, _ in sides)
    if weigh is _evidence:
        return JoinedFile(data=newer, lost=older)
    if path.startswith(layout.area("runs")):
        return JoinedFile(data=newer, conflict="manifest-differs", lost=older)
    if path == layout.config or path.startswith(layout.area("sources")):
        return _by_line(base or b"", older, newer, is_toml=path == layout.config)
    return JoinedFile(data=newer, conflict="both-changed", lost=older)


def _one_tombstone(path: str, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge two versions of a tombstone. Return None if neither version is readable.

    An unreadable version loses.
    """
    one, other = read_tombstone(path, ours), read_tombstone(path, theirs)
    if isinstance(one, Problem):
        return None if isinstance(other, Problem) else theirs
    if isinstance(other, Problem):
        return ours
    return tombstone_bytes(join_tombstones(one, other))


def _decided(path: str, ours: bytes, theirs: bytes, stamps: Stamps) -> JoinedFile:
    """Merge two versions of a correction. A readable version wins over an unreadable one."""
    found = [(corrections.decode(path, data), data) for data in (ours, theirs)]
    read = [(c, data) for c, data in found if isinstance(c, corrections.Correction)]
    if len(read) < 2:
        sides = [(ours, stamps.ours), (theirs, stamps.theirs)]
        older, newer = (data for data, _ in sorted(sides, key=lambda s: _age(*s)))
        whole = read[0][1] if read else newer
        lost = older if whole == newer else newer
        return JoinedFile(data=whole, conflict="both-changed", lost=lost)
    (less, older), (more, newer) = sorted(read, key=lambda pair: corrections.weight(pair[0]))
    if less.status == more.status == "resolved" and (less.verdict, less.kept) != (
        more.verdict,
        more.kept,
    ):
        return JoinedFile(data=newer, conflict="both-changed", lost=older)
    return JoinedFile(data=newer)


_Weight = tuple[bool, datetime, int, bytes]


def _age(data: bytes, origin: Origin) -> _Weight:
    return origin.person, origin.committed or EARLIEST, 0, data


def _evidence(data: bytes, _: Origin) -> _Weight:
    """Return the sort key of a candidate file: the number of sources, then the bytes."""
    entries = {e.key: e.value for e in header.split(data, "").entries}
    sources = entries.get("sources", [])
    return False, EARLIEST, len(sources) if isinstance(sources, list) else 0, data


def _by_line(base: bytes, older: bytes, newer: bytes, *, is_toml: bool) -> JoinedFile:
    """Merge texts by line, using the line endings of the side that changed them."""
    whole = JoinedFile(data=newer, conflict="both-changed", lost=older)
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
    if joined.overlap:
        return JoinedFile(data=text.encode("utf-8"), conflict="both-changed", lost=older)
    return JoinedFile(data=text.encode("utf-8"))


def _can_be_read(text: str) -> bool:
    """Return whether a text is valid TOML."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True


_DIGITS = 12


def keep(layout: Layout, kept: Iterable[LosingVersion], now: datetime) -> tuple[Write, ...]:
    """Return one file per losing version, stored at `corrections/<date>-gave-way-<12 hex>.md`.

    The header states what the text was, who wrote it, and its path. The text follows unchanged.
    """
    files = (_file(layout, one, now) for one in kept)
    return tuple(Write(path=path, data=data) for path, data in sorted(dict(files).items()))


def _file(layout: Layout, kept: LosingVersion, now: datetime) -> tuple[str, bytes]:
    text = kept.data.decode("utf-8", "backslashreplace")
    entries = {
        "kind": "gave-way",
        "memory": kept.id,
        "path": kept.path,
        "field": kept.key,
        "by": kept.by,
        "at": format_time(kept.at) if kept.at else "",
        "merged": format_time(now),
    }
    head = [f"{key}: {inline(value)}" for key, value in entries.items() if value]
    name = digest([kept.id, kept.path, kept.key, text])[:_DIGITS]
    body = text if text.endswith("\n") else f"{text}\n"
    path = f"{layout.area('corrections')}{now:%Y-%m-%d}-gave-way-{name}.md"
    return path, "\n".join(["---", *head, "---", body]).encode("utf-8")
