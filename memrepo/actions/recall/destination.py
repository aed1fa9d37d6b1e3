"""Writing of exports, atomically, to a folder outside the repository's own files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import AREAS


class NoPlace(MemrepoError):
    """Raised when a folder cannot receive an export."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, why: str, fix: str) -> None:
        super().__init__(f"{where}: {why}; nothing was written", fix=fix)


def refuse_place(work: Work, where: Path, *, force: bool) -> None:
    """Raise NoPlace if an export would overwrite files of the repository.

    Without `force`, the folder must be empty.
    """
    if where.resolve() == work.store.root.resolve() or _is_own(work, where):
        raise NoPlace(where, "is the repository's own", "name a folder outside of it")
    if where.exists() and not where.is_dir():
        raise NoPlace(where, "is a file, expected a folder", "name another folder")
    if where.is_dir() and any(where.iterdir()) and not force:
        raise NoPlace(
            where, "is not empty", "name a new folder, or --force to replace the files in it"
        )


def _is_own(work: Work, where: Path) -> bool:
    """Return whether a path is inside a git or memrepo folder, after resolving symbolic links."""
    root, real = work.store.root.resolve(), where.resolve()
    own = [root / f"{work.tree.layout.prefix}{area}" for area in AREAS]
    own += [root / ".git", work.store.repo.git_dir, work.store.repo.common_dir]
    return any(real.is_relative_to(path.resolve()) for path in own)


def place(where: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder: atomically if it is new or empty, otherwise one by one.

    Other files in the folder are not changed.
    """
    where = where.resolve()
    where.parent.mkdir(parents=True, exist_ok=True)
    with _drafted(where, files) as draft:
        if not where.exists() or not any(where.iterdir()):
            draft.replace(where)
            return
        for name in files:
            target = where / name
            if target.is_dir() and not target.is_symlink():
                raise NoPlace(target, "is a folder, expected a file", "move it away")
        for name in files:
            target = where / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (draft / name).replace(target)


def place_page(work: Work, where: Path, data: bytes, *, ours: bytes) -> None:
    """Write one page atomically. It may replace only an older page, recognised by `ours`."""
    real = where.resolve()
    if _is_own(work, where):
        raise NoPlace(where, "is among the repository's own files", "name a file elsewhere")
    if where.is_dir():
        raise NoPlace(where, "is a folder, expected a file", "name a file in it")
    if where.exists() and not (where.is_file() and ours in where.read_bytes()[: len(data)]):
        raise NoPlace(where, "contains other data", "name another file, or move it away")
    if not real.parent.is_dir():
        raise NoPlace(where, "is in a folder that does not exist", f"make {where.parent}")
    with tempfile.NamedTemporaryFile(dir=real.parent, prefix=f".{where.name}-", delete=False) as f:
        draft = Path(f.name)
    try:
        draft.write_bytes(data)
        draft.chmod(0o644)
        draft.replace(real)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _drafted(where: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """Write all files to a temporary sibling folder and yield its path.

    The folder is removed afterwards.
    """
    base = Path(tempfile.mkdtemp(prefix=f".{where.name}-", dir=where.parent))
    draft = base / "new"
    draft.mkdir()
    try:
        for name, data in files.items():
            target = draft / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        yield draft
    finally:
        shutil.rmtree(base, ignore_errors=True)
