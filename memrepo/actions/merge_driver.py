"""`memrepo merge-driver`: merge one file during a manual `git merge` or `git pull`.

Git starts the driver once for each file that both sides changed (gitattributes(5), "Defining a
custom merge driver"). The driver has only the three versions: no repository, history or
configuration. Git handles deletions, renames and files of one side without the driver. The next
memrepo command settles those files.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.work import VerbResult, Work, option
from memrepo.core import codec
from memrepo.core.errors import Exit, Problem, problem
from memrepo.core.layout import ADOPTED_PREFIX, Layout
from memrepo.merge.states import join_file
from memrepo.merge.versions import FileVersion, join_versions

_TEXT = "body"
"""The note about a text of which both sides changed the same lines."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo merge-driver`."""

    base: Annotated[str, option("file with the common ancestor's version", metavar="BASE")]
    ours: Annotated[str, option("file with our version, which takes the result", metavar="OURS")]
    theirs: Annotated[str, option("file with the other version", metavar="THEIRS")]
    markers: Annotated[
        str, option("length of conflict markers, which enclose a text", metavar="LENGTH")
    ]
    path: Annotated[str, option("path of the file in the repository", metavar="PATH")]


class Result(VerbResult, frozen=True, kw_only=True):
    """The merged file, and a list of what a person must check in it, if anything."""

    path: str
    open: tuple[str, ...]


def do(work: Work, request: Request) -> Result:
    """Merge and write the result over OURS. Exit with status 1 if a person must check it."""
    target = work.call.where / request.ours
    ours = target.read_bytes()
    base, theirs = (
        (work.call.where / name).read_bytes() for name in (request.base, request.theirs)
    )
    size = int(request.markers) if request.markers.isdigit() else 7
    data, notes = join(request.path, base or None, ours, theirs, size)
    if data != ours:
        target.write_bytes(data)
    return Result(
        path=request.path,
        open=tuple(notes),
        exit=Exit.NO if notes else Exit.DONE,
        notices=tuple(_notice(request.path, note) for note in notes),
    )


def _notice(path: str, note: str) -> Problem:
    if note == _TEXT:
        return problem("git-merge-conflict", path, "text")
    return problem("git-merge-conflict", path, what=note)


def join(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, markers: int = 7
) -> tuple[bytes, list[str]]:
    """Merge three versions of one file. Return it, and what a person must check in it.

    A `base` of None means that both sides added the file.
    """
    layout = next((Layout(p) for p in (ADOPTED_PREFIX, "") if Layout(p).owns(path)), None)
    if layout is None:
        return ours, ["both sides changed a file that is not memrepo's"]
    if not layout.is_memory(path):
        whole = join_file(layout, path, base, ours, theirs)
        notes = ["both sides changed it: one side's version is used"] if whole.is_lost else []
        return ours if whole.data is None else whole.data, notes
    return _memory(path, base, ours, theirs, markers)


def _memory(
    path: str, base: bytes | None, ours: bytes, theirs: bytes, markers: int
) -> tuple[bytes, list[str]]:
    old, mine, other = (_version(path, data) for data in (base, ours, theirs))
    ids = {v.memory.id for v in (mine, other) if v is not None and v.memory is not None}
    if len(ids) > 1:
        return ours, ["the two sides have different memories under one name"]
    joined = join_versions(old, mine, other)
    notes = [f"{c.kind}: one side's file is used as it is" for c in joined.conflicts]
    data = joined.version.data if joined.version else ours
    if not notes:
        lost = [key for key in joined.lost if key != "body"]
        notes = [f"both sides changed {key}: one wording is used" for key in lost if key]
        if "" in lost:
            notes = ["no file can hold both changes: one side's file is used as it is"]
        if "body" in joined.lost and joined.version and mine and other:
            data = _with_both_texts(joined.version, mine, other, markers)
            notes.append(_TEXT)
    return data, notes


def _with_both_texts(
    joined: FileVersion, mine: FileVersion, other: FileVersion, size: int
) -> bytes:
    """Return a merged file with the texts of both sides between git's conflict markers."""
    texts = [side.memory.body if side.memory else "" for side in (mine, other)]
    text = joined.data.decode("utf-8")
    head = text[: codec.read_header(text, joined.path).body_offset]
    both = ("<" * size + " ours", texts[0], "=" * size, texts[1], ">" * size + " theirs")
    return "\n".join((head, *both, "")).encode("utf-8", "surrogatepass")


def _version(path: str, data: bytes | None) -> FileVersion | None:
    return None if data is None else FileVersion(path, data, codec.decode(path, data)[0])
