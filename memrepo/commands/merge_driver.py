"""`memrepo merge-driver`: join one file for a person who runs `git merge` or `git pull` by hand.

Git starts it once for each file that both sides changed (gitattributes(5), "Defining a custom merge
driver"). It knows the three versions and nothing else: no repository, no history, no configuration.
What git decides without asking it (deletions, moves, files of one side) the next command settles.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from memrepo.commands.session import Answer, Session
from memrepo.core import codec
from memrepo.core.errors import Exit
from memrepo.core.layout import ADOPTED_PREFIX, Layout
from memrepo.core.problems import Problem
from memrepo.merge.files import is_derived, join_file
from memrepo.merge.splice import FileVersion
from memrepo.merge.versions import Stamps, join_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What the file holds now; `open_` says what a person must look at (empty: nothing)."""

    data: bytes
    open_: tuple[str, ...] = ()


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what git passes: three files, the length of its markers, the path."""
    parser.add_argument("base", metavar="BASE", help="file with the common ancestor's version")
    parser.add_argument(
        "ours", metavar="OURS", help="file with our version, which takes the result"
    )
    parser.add_argument("theirs", metavar="THEIRS", help="file with the other version")
    parser.add_argument(
        "markers", metavar="LENGTH", help="length of conflict markers; none are written"
    )
    parser.add_argument("path", metavar="PATH", help="where the file lies in the repository")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Join, write the result over OURS, and answer 1 where a person must look."""
    target = session.where / options.ours
    ours = target.read_bytes()
    base, theirs = ((session.where / name).read_bytes() for name in (options.base, options.theirs))
    found = join(options.path, base or None, ours, theirs)
    if found.data != ours:
        target.write_bytes(found.data)
    return Answer(
        data={"path": options.path, "open": list(found.open_)},
        exit=Exit.NO if found.open_ else Exit.DONE,
        problems=tuple(_open(options.path, what) for what in found.open_),
    )


def join(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Joined:
    """Join three versions of one file; an ancestor of None is two files that met."""
    layout = next((Layout(p) for p in (ADOPTED_PREFIX, "") if Layout(p).owns(path)), None)
    if layout is None:
        return Joined(data=ours, open_=("both sides changed a file that is not memrepo's",))
    if is_derived(layout, path):
        return Joined(data=ours)
    if not layout.is_memory(path):
        whole = join_file(layout, path, base, ours, theirs, Stamps())
        told = (f"{whole.conflict}: one side's version stands",) if whole.conflict else ()
        return Joined(data=ours if whole.data is None else whole.data, open_=told)
    return _memory(path, base, ours, theirs)


def _memory(path: str, base: bytes | None, ours: bytes, theirs: bytes) -> Joined:
    old, mine, other = (_version(path, data) for data in (base, ours, theirs))
    ids = {v.memory.id for v in (mine, other) if v is not None and v.memory is not None}
    if len(ids) > 1:
        return Joined(data=ours, open_=("the two sides hold two memories under one name",))
    joined = join_versions(old, mine, other)
    told = [f"{c.kind}: one side's file stands as it is" for c in joined.conflicts]
    if not told:
        told = [f"both sides changed {k.key}: one wording stands" for k in joined.kept]
    return Joined(data=joined.version.data if joined.version else ours, open_=tuple(told))


def _version(path: str, data: bytes | None) -> FileVersion | None:
    return None if data is None else FileVersion(path, data, codec.decode(path, data)[0])


def _open(path: str, what: str) -> Problem:
    return Problem(
        path=path,
        rule="git-merge-conflict",
        message=f"found a conflict: {what}",
        fix="`git diff` and `git show MERGE_HEAD:<path>` show both; edit the file, then `git add`",
    )
