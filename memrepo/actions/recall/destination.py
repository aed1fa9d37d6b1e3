"""Writing exports to a folder outside the repository's own areas, whole or not at all."""

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
    """The folder cannot take an export."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, why: str, fix: str) -> None:
        super().__init__(f"{where}: {why}; nothing was written", fix=fix)


def refuse_place(work: Work, where: Path, *, force: bool) -> None:
    """Raise NoPlace where an export would meet the repository's files or, unforced, any other."""
    if where.resolve() == work.store.root.resolve() or _is_own(work, where):
        raise NoPlace(where, "is the repository's own", "name a folder outside of it")
    if where.exists() and not where.is_dir():
        raise NoPlace(where, "is a file, expected a folder", "name another folder")
    if where.is_dir() and any(where.iterdir()) and not force:
        raise NoPlace(
            where, "is not empty", "name a new folder, or --force to replace the files in it"
        )


def _is_own(work: Work, where: Path) -> bool:
    """Return whether a path lies among what git and memrepo keep, whatever links lead there."""
    root, real = work.store.root.resolve(), where.resolve()
    own = [root / f"{work.tree.layout.prefix}{area}" for area in AREAS]
    own += [root / ".git", Path(work.store.repo.git_dir), Path(work.store.repo.common_dir)]
    return any(real.is_relative_to(path.resolve()) for path in own)


def place(where: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder: a new one appears whole, an existing one file by file.

    Files of the folder that are not among these stay as they are.
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
    """Write one page, whole or not at all; an older page of ours (known by `ours`) gives way."""
    real = where.resolve()
    if _is_own(work, where):
        raise NoPlace(where, "is among the repository's own files", "name a file elsewhere")
    if where.is_dir():
        raise NoPlace(where, "is a folder, expected a file", "name a file in it")
    if where.exists() and not (where.is_file() and ours in where.read_bytes()[: len(data)]):
        raise NoPlace(where, "holds something else", "name another file, or move it away")
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
    """Write everything to a sibling folder, which is gone afterwards."""
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
