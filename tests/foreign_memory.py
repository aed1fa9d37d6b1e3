"""Other programs' memory as they document it, small, in our own words: a folder a format."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent / "data" / "foreign"


def _folder(root: Path) -> dict[str, bytes]:
    files = (file for file in sorted(root.rglob("*")) if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


FOLDERS = {folder.name: _folder(folder) for folder in sorted(ROOT.iterdir())}
