"""After a crash: finish the write that was cut short, or take it back; never both, never half."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.errors import MemrepoError
from memrepo.core.problems import Problem
from memrepo.store import journal
from memrepo.store.journal import Journal
from memrepo.store.light import ask, call
from memrepo.store.worktree import Sides, WorkTree

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

TX = "refs/memrepo/tx/"
_PROCESSES = Path("/proc")
_HARMLESS = (b"cat-file", b"fsmonitor--daemon")


class GitAtWork(MemrepoError):
    """A lock file of git's lies there, and a git process that may own it is alive."""

    def __init__(self, lock: Path) -> None:
        super().__init__(
            f"another git process is at work here: it holds {lock.name}",
            fix=f"run the command again when it has ended; if none is alive, remove {lock}",
        )


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
        if path.stat().st_mtime < since - 1 or _git_alive(repo):
            raise GitAtWork(path)
        path.unlink(missing_ok=True)
    for path in (common / TX).glob("*.lock"):
        path.unlink(missing_ok=True)


def _git_alive(repo: Repo) -> bool:
    """Tell whether a git process works in this repository (where /proc can tell)."""
    places = {Path(str(repo.working_tree_dir)), Path(repo.git_dir), Path(repo.common_dir)}
    places = {place.resolve() for place in places}
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() != "git":
                continue
            if any(word in (process / "cmdline").read_bytes() for word in _HARMLESS):
                continue
            where = (process / "cwd").readlink()
        except OSError:
            continue
        if places & {where, *where.parents}:
            return True
    return False


def sweep(repo: Repo, folder: Path) -> None:
    """Delete the transaction refs that no journal of another work tree names."""
    refs = repo.refs.below(TX)
    needed = {left.ref for left in journal.elsewhere(Path(repo.common_dir), folder)} if refs else ()
    for ref in refs:
        if ref not in needed:
            call(repo, "update-ref", "-d", ref)


def is_landed(repo: Repo, left: Journal, head: str) -> bool:
    """Tell whether the branch holds the write; a tip that is gone can only be left alone."""
    if head == left.tip or not repo.light.objects.commit(left.tip):
        return True
    return bool(head) and left.tip in ask(repo, "merge-base", left.tip, head, no=1).split()


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
        fix="nothing: what it took in counts as new again",
    )
