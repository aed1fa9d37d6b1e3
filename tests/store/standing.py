"""Everything in a repository that a refused command must leave as it found it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import driving


def prints(repo: Path) -> dict[str, object]:
    """Return refs, HEAD, index entries with their flags, uncommitted work and every file."""
    git_dir = Path(driving.git(repo, "rev-parse", "--absolute-git-dir").strip())
    return {
        "refs": driving.git(repo, "for-each-ref", "--format=%(refname) %(objectname)"),
        "head": (git_dir / "HEAD").read_text(),
        "index": driving.git(repo, "ls-files", "-z", "--stage", "-v"),
        "status": status(repo),
        "files": files(repo),
        "links": sorted(str(p) for p in repo.rglob("*") if p.is_symlink()),
        "left": sorted(p.name for p in git_dir.glob("*.lock")),
    }


def files(repo: Path) -> dict[str, bytes]:
    """Return the work tree, without memrepo's logs and caches."""
    return {p: data for p, data in driving.files(repo).items() if not p.startswith(".memrepo/")}


def status(repo: Path) -> str:
    """Return uncommitted work, ignored files included; logs and caches of memrepo's are not."""
    said = driving.git(repo, "status", "--porcelain", "-z", "-uall", "--ignored", check=False)
    return "\0".join(entry for entry in said.split("\0") if entry[3:12] != ".memrepo/")


def left_behind(repo: Path) -> list[str]:
    """Return what only an unfinished write leaves: journals, transaction refs, git's locks."""
    git_dir = repo / ".git"
    refs = driving.git(repo, "for-each-ref", "--format=%(refname)", "refs/memrepo/new").split()
    found = [*git_dir.rglob("*.lock"), *git_dir.rglob("journal.json*")]
    found += git_dir.glob("fast_import_crash_*")
    # memrepo's own lock files stay: the kernel knows whether they are held.
    return refs + [str(p) for p in found if p.parent.name != "memrepo" or "journal" in p.name]


def paths_of_next_run(repo: Path) -> list[str]:
    """Return the paths that the next run would write, found out on a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(repo.parent, Path(folder) / "copy", symlinks=True)) / repo.name
        before = driving.git(copy, "rev-parse", "HEAD").strip()
        driving.done(copy, "run", now=driving.LATER)
        return driving.git(copy, "diff", "--name-only", "-z", before, "HEAD").split("\0")[:-1]
