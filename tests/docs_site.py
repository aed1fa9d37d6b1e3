"""What the site adds to the pages of docs/: a page a command, and links that leave the folder.

MkDocs calls the functions `on_...` (mkdocs.yml, `hooks`). A page of a command is its section of
docs/cli.md, whose usage and table come from the verb's records.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "reference"
SECTION = re.compile(r"^### `memrepo (\S+)`\n(.*?)(?=^##+ |\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(\]\()([^)#\s:]*)(#[^)\s]*)?(\))")
NAV = re.compile(r"^(\w[\w-]*)/$")


def command_pages(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each command with its page."""
    for name, section in SECTION.findall(text):
        page = LINK.sub(lambda m: f"{m[1]}{_up(m[2])}{m[3] or ''}{m[4]}", section)
        yield name, f"# memrepo {name}\n{page}"


def _up(target: str) -> str:
    """Return a link of docs/cli.md as a page one folder below has it; an anchor stays its own."""
    return f"../{target}" if target else "../cli.md"


def outside(text: str, page: str, address: str) -> str:
    """Return a page whose links to files outside of docs/ lead to the repository."""
    folder = posixpath.dirname(f"docs/{page}")

    def led(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2])) if found[2] else ""
        if not path or path.startswith("docs/"):
            return found[0]
        return f"{found[1]}{address}/blob/main/{path}{found[3] or ''}{found[4]}"

    return LINK.sub(led, text)


def on_config(config: Any) -> Any:
    """Spell out in the navigation what stands for a whole folder; a page without a place is new."""
    names = [name for name, _ in command_pages(_cli())]
    folders = {
        FOLDER: [{f"memrepo {name}": f"{FOLDER}/{name}.md"} for name in names],
        **{name: _pages(name) for name in ("clients", "decisions", "migrate")},
    }
    config["nav"] = _spelled(config["nav"], folders)
    listed = str(config["nav"])
    new = [name for name in _pages("") if f"'{name}'" not in listed]
    config["nav"] += [{"New": new}] if new else []
    return config


def _pages(folder: str) -> list[str]:
    """Return the pages of a folder, the one that leads to the others first."""
    paths = (ROOT / "docs" / folder).glob("*.md")
    names = (path.relative_to(ROOT / "docs").as_posix() for path in paths)
    return sorted(names, key=lambda name: (not name.endswith("/README.md"), name))


def _cli() -> str:
    return (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def _spelled(entry: Any, folders: dict[str, list[Any]]) -> Any:
    if isinstance(entry, list):
        return [_spelled(one, folders) for one in entry]
    if isinstance(entry, dict):
        return {name: _spelled(one, folders) for name, one in entry.items()}
    found = NAV.match(entry)
    return folders[found[1]] if found else entry


def on_files(files: Any, *, config: Any) -> Any:
    """Add the page of each command."""
    from mkdocs.structure.files import File

    for name, page in command_pages(_cli()):
        files.append(File.generated(config, f"{FOLDER}/{name}.md", content=page))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Let links that leave the folder lead to the repository."""
    del files
    return outside(markdown, page.file.src_uri, str(config["repo_url"]).rstrip("/"))
