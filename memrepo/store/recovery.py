"""The journal of a write, and what a crash left: finish it or take it back, never half.

The journal of one write: enough for the next command to finish or drop it after a crash.

It lies in the git directory of the work tree that is written: with linked work trees each has
its own, while locks and refs are shared.

After a crash: finish the write that was cut short, or take it back; never both, never half.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from memrepo.core.problems import Problem
from memrepo.store.lock import GitAtWork, git_alive
from memrepo.store.worktree import Sides, WorkTree

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

NAME = "journal.json"


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """A write under way: `tip` is empty until all of its objects are in the repository.

    `adopted` are files that lay in the work tree with the new content before the write, `kept`
    those that were staged with it too: they are a person's, and dropping the write leaves them.
    """

    branch: str
    base: str
    ref: str
    tip: str = ""
    adopted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def save_journal(folder: Path, journal: Journal) -> None:
    """Write the journal so that it is either whole on disk or not there."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{NAME}.new"
    with draft.open("w", encoding="utf-8") as handle:
        json.dump(asdict(journal), handle)
        handle.flush()
        os.fsync(handle.fileno())
    draft.replace(folder / NAME)


def load_journal(folder: Path) -> Journal | None:
    """Return the journal of an interrupted write, or None; an unreadable one counts as none."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return Journal(
            branch=str(found["branch"]),
            base=str(found["base"]),
            ref=str(found["ref"]),
            tip=str(found.get("tip", "")),
            adopted=tuple(found.get("adopted", ())),
            kept=tuple(found.get("kept", ())),
        )
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return None


def clear_journal(folder: Path) -> None:
    """Forget the journal: the write is done or dropped."""
    for name in (NAME, f"{NAME}.new"):
        (folder / name).unlink(missing_ok=True)


def journal_written_at(folder: Path) -> float:
    """Return when the journal was last written, as a file time in seconds."""
    return (folder / NAME).stat().st_mtime


def journals_elsewhere(common: Path, own: Path) -> Iterator[Journal]:
    """Yield the journals of the other work trees of the same repository."""
    for folder in (common / "memrepo", *sorted(common.glob("worktrees/*/memrepo"))):
        if folder.resolve() != own.resolve() and (left := load_journal(folder)) is not None:
            yield left


TX = "refs/memrepo/tx/"


def drop_locks(repo: Repo, left: Journal, since: float) -> None:
    """Remove the lock files that our own interrupted git left; raises GitAtWork.

    No git process of ours lives: each keeps memrepo's write lock, which is held by the caller.
    """
    own, common = Path(repo.git_dir), Path(repo.common_dir)
    found = [common / f"{left.branch}.lock", common / "packed-refs.lock"]
    if left.tip:
        found += [own / name for name in ("index.lock", "HEAD.lock", "ORIG_HEAD.lock")]
    for path in found:
        if not path.exists():
            continue
        # One that is older than the journal stopped our git rather than being left by it.
        seen = path.stat()
        if seen.st_mtime < since - 1 or git_alive(repo) or _changed(path, seen):
            raise GitAtWork(path)
        path.unlink(missing_ok=True)
    for path in (common / TX).glob("*.lock"):
        path.unlink(missing_ok=True)


def _changed(path: Path, seen: os.stat_result) -> bool:
    """Tell whether a lock is another by now: a git began while the living were looked for."""
    try:
        now = path.stat()
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_mtime_ns) != (seen.st_ino, seen.st_mtime_ns)


def sweep(repo: Repo, folder: Path) -> None:
    """Delete the transaction refs that no journal of another work tree names."""
    refs = repo.refs.below(TX)
    left = journals_elsewhere(Path(repo.common_dir), folder) if refs else ()
    needed = {one.ref for one in left}
    for ref in refs:
        if ref not in needed:
            repo.light.ask("update-ref", "-d", ref)


def is_landed(repo: Repo, left: Journal, head: str) -> bool:
    """Tell whether the branch holds the write; a tip that is gone can only be left alone."""
    if head == left.tip or not repo.light.objects.commit(left.tip):
        return True
    return bool(head) and left.tip in repo.light.ask("merge-base", left.tip, head, no=1).split()


def mend_halves(tree: WorkTree, left: Journal, changed: Mapping[str, Sides]) -> None:
    """Put right the files that the interrupted checkout had begun and not finished."""
    mine = {p: s for p, s in changed.items() if s.new and p not in (*left.adopted, *left.kept)}
    halves = [
        path
        for path in tree.dirty(mine)
        if path in mine
        and not any(tree.is_at(path, blob) for blob in (mine[path].new, mine[path].old))
        and tree.cut_short(path, mine[path].new)
    ]
    staged = tree.staged()
    tree.restore(path for path in halves if path in staged)
    for path in halves:
        if path not in staged:
            tree.remove(path)


def take_back(tree: WorkTree, left: Journal, head: str) -> tuple[str, ...]:
    """Undo in index and work tree what a dropped write had done; return paths left alone.

    A path that somebody committed, staged or edited since is theirs.
    """
    changed = tree.changed(left.base, left.tip)
    for path in tree.changed(left.base, head):
        changed.pop(path, None)
    mine = {path: sides for path, sides in changed.items() if path not in left.kept}
    staged = tree.staged()
    unstage, theirs = {}, []
    for path, sides in mine.items():
        found = staged[path].blob if path in staged else ""
        if found == sides.new:
            unstage[path] = sides.old
        elif found != sides.old:
            theirs.append(path)
    tree.stage(unstage, {path: sides.mode for path, sides in mine.items()})
    again = []
    for path, sides in mine.items():
        if path in theirs or path in left.adopted or tree.is_at(path, sides.old):
            continue
        if not (tree.is_at(path, sides.new) or (sides.new and tree.cut_short(path, sides.new))):
            theirs.append(path)
        elif sides.old:
            again.append(path)
        else:
            tree.remove(path)
    tree.restore(again)
    return tuple(theirs)


def dropped(left: Journal, theirs: tuple[str, ...]) -> Problem:
    """Say that a write was cut short and taken back."""
    name = left.ref.removeprefix(TX)
    kept = f"; left as they are: {', '.join(theirs[:5])}" if theirs else ""
    return Problem(
        path=theirs[0] if theirs else left.branch,
        rule="write-taken-back",
        severity="warning",
        message=f"an earlier write ({name}) was cut short and has been taken back{kept}",
        fix="nothing to do: the next run reads its input again",
    )
