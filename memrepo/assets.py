"""Locate the shipped folders: hooks, prompts and templates."""

from __future__ import annotations

from pathlib import Path


def asset(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `asset("hooks", "shim")`.

    A wheel contains these folders inside the package. In a checkout or an editable install they are
    next to the package. The path is not required to exist.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "_assets"
    return (shipped if shipped.is_dir() else package.parent).joinpath(*parts)
