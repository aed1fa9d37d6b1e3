"""Where the shipped folders lie: hooks, prompts and templates."""

from __future__ import annotations

from pathlib import Path


def asset(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `asset("hooks", "shim")`.

    A wheel carries the folders inside the package; a checkout and an editable install have them
    next to it. A path that does not exist is returned as it is.
    """
    package = Path(__file__).resolve().parent
    shipped = package / "_assets"
    return (shipped if shipped.is_dir() else package.parent).joinpath(*parts)
