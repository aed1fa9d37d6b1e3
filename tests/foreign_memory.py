"""Other programs' memory as they document it, small, in our own words: a folder a format."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parent / "data" / "foreign"


def _database(script: Path) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(script.read_text(encoding="utf-8"))
        return database.serialize()


def _folder(root: Path) -> dict[str, bytes]:
    files = {f.relative_to(root).as_posix(): f for f in sorted(root.rglob("*")) if f.is_file()}
    return {
        name.removesuffix(".sql"): _database(file) if file.suffix == ".sql" else file.read_bytes()
        for name, file in files.items()
    }


FOLDERS = {folder.name: _folder(folder) for folder in sorted(ROOT.iterdir())}
