"""Locate the shipped folders: hooks, prompts and templates; a repository may have its own files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def asset(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `asset("hooks", "shim")`.

    A wheel contains these folders inside the package. In a checkout or an editable install they are
    next to the package. The path is not required to exist.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "_assets"
    return (shipped if shipped.is_dir() else package.parent).joinpath(*parts)


def own_text(files: Mapping[str, bytes], prefix: str, folder: str, name: str) -> str:
    """Return the repository's own file in place of a shipped one, or "" if it has none.

    `files` are those of a commit. `folder` is `prompts` or `templates`.
    """
    path = f"{prefix}{folder}/{name}"
    return files[path].decode("utf-8", "replace").strip() if path in files else ""
