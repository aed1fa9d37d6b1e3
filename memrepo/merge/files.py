"""Merging files that are not memories: by content, with a typed conflict where that is not enough.

| file | both sides changed it differently |
|---|---|
| views, hot cache | left out: they are rendered after the merge |
| run manifests | immutable, so a conflict; the newer version stands |
| candidates | the one with more evidence stands |
| source snapshots, configuration | merged by line; a conflict where lines overlap |
| tombstones | the higher epoch stands, then the one that is active; evidence is united |
| corrections | a decision stands over an open case; two different decisions are a conflict |
| threads, the rest | a conflict; the newer version stands |

A version that gives way is always kept, as a file in
`corrections/` named by its content: the same merge made twice writes the same file. A file removed
on one side and changed on the other stays; that is a conflict only where a person removed it.
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
from memrepo.merge.diff3 import merge_text
from memrepo.merge.tombstones import (
    has_seal,
    is_tombstone,
    join_tombstones,
    read_tombstone,
    tombstone_bytes,
)
from memrepo.merge.versions import LosingVersion, Origin, Stamps

FileConflict: TypeAlias = Literal["removed-and-edited", "both-changed", "manifest-differs"]


class JoinedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A merged file (None: it goes), what it conflicts in, and the version that gave way."""

    data: bytes | None
    conflict: FileConflict | None = None
    lost: bytes | None = None


def is_derived(layout: Layout, path: str) -> bool:
    """Return whether a file is rendered after a merge and never merged itself."""
    return path.startswith(layout.area("views")) or layout.is_hot(path)


def join_file(
    layout: Layout,
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    stamps: Stamps,
) -> JoinedFile:
    """Merge one file; symmetric in its sides. The stamps are those of the file."""
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
    """Join two versions of a tombstone; one that a hand changed gives way; None where both are.

    Where only one has its seal, the other lost it to a hand.
    """
    one, other = read_tombstone(path, ours), read_tombstone(path, theirs)
    if isinstance(one, Problem):
        return None if isinstance(other, Problem) else theirs
    if isinstance(other, Problem):
        return ours
    if has_seal(ours) != has_seal(theirs):
        return ours if has_seal(ours) else theirs
    return tombstone_bytes(join_tombstones(one, other))


def _decided(path: str, ours: bytes, theirs: bytes, stamps: Stamps) -> JoinedFile:
    """Join two versions of one case; one that cannot be read gives way."""
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
    """Weigh a candidate by the number of its sources, then by its bytes."""
    entries = {e.key: e.value for e in header.split(data, "").entries}
    sources = entries.get("sources", [])
    return False, EARLIEST, len(sources) if isinstance(sources, list) else 0, data


def _by_line(base: bytes, older: bytes, newer: bytes, *, is_toml: bool) -> JoinedFile:
    """Merge texts by line; line ends are those of the side that changed them."""
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
    """Return whether a text is TOML."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True


_DIGITS = 12


def keep(layout: Layout, kept: Iterable[LosingVersion], now: datetime) -> tuple[Write, ...]:
    """Return one file for each thing that gave way, at `corrections/<date>-gave-way-<12 hex>.md`.

    The header says what it was, whose, and where it stood; the text below is as it was.
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
