"""Writing exports to a folder outside the repository's own areas, whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from memrepo.commands.session import Desk
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.layout import AREAS


class NoPlace(MemrepoError):
    """The folder cannot take an export."""

    exit_code = Exit.USAGE

    def __init__(self, where: Path, why: str, fix: str) -> None:
        super().__init__(f"{where}: {why}; nothing was written", fix=fix)


def refuse_place(desk: Desk, where: Path, *, force: bool) -> None:
    """Raise NoPlace where an export would meet the repository's files or, unforced, any other."""
    root, real = desk.store.root.resolve(), where.resolve()
    prefix = desk.tree.layout.prefix
    own = [root / f"{prefix}{area}" for area in AREAS]
    own += [root / ".git", Path(desk.store.repo.git_dir), Path(desk.store.repo.common_dir)]
    if real == root or any(real.is_relative_to(path.resolve()) for path in own):
        raise NoPlace(where, "is the repository's own", "name a folder outside of it")
    if where.exists() and not where.is_dir():
        raise NoPlace(where, "is a file, expected a folder", "name another folder")
    if where.is_dir() and any(where.iterdir()) and not force:
        raise NoPlace(
            where, "is not empty", "name a new folder, or --force to replace the files in it"
        )


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
