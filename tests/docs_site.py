"""Adapt the pages of docs/ for the site: links that leave the folder, and pages without a place.

MkDocs calls the functions `on_...` (mkdocs.yml, `hooks`).
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
LINK = re.compile(r"(\]\()([^)#\s:]*)(#[^)\s]*)?(\))")


def outside(text: str, page: str, address: str) -> str:
    """Return a page whose links to files outside of docs/ lead to the repository."""
    folder = posixpath.dirname(f"docs/{page}")

    def replaced(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2])) if found[2] else ""
        if not path or path.startswith("docs/"):
            return found[0]
        return f"{found[1]}{address}/blob/main/{path}{found[3] or ''}{found[4]}"

    return LINK.sub(replaced, text)


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Let links that leave the folder lead to the repository."""
    del files
    return outside(markdown, page.file.src_uri, str(config["repo_url"]).rstrip("/"))
