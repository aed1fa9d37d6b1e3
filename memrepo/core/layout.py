"""Paths of memrepo's files in a repository, and the stamp line of each generated page.

The prefix is empty in a repository that only memrepo uses. If one of the names is taken (a folder
adopted in place), all files are placed under `memrepo/`. The stamp contains a hash of the page. It
distinguishes a page edited by hand from an outdated one. `asset` locates the shipped folders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from memrepo.core.ids import digest, slugify
from memrepo.core.memory import LAYER_OF_TYPE
from memrepo.core.patterns import regex
from memrepo.core.secrets import clean_page, is_clean, know_clean

CONFIG_NAME = "memrepo.toml"
ADOPTED_PREFIX = "memrepo/"
PROFILES = frozenset(("USER.md", "IDENTITY.md", "SOUL.md", "human.md", "persona.md"))
"""Files that describe a person or an agent. The folder of an agent has one of them."""
AREAS = (
    "memories",
    "sources",
    "views",
    "runs",
    "candidates",
    "threads",
    "corrections",
    "tombstones",
)
CLONES = "_clones/"
"""The folder of `sources/` in which a clone has a folder, if another's workspace fills `sources/`.

No workspace has a folder of this name.
"""
RESERVED_NAMES = ("index.md", "log.md")
_RESERVED = tuple(f"/{name}" for name in RESERVED_NAMES)
HOT_NAMES = ("MEMORY.md", "HOT.md")
_OWN_FOLDERS = ("prompts/", "templates/")
"""File names of the hot cache. The second is used if the first is a foreign file."""

_DAY = regex(r"(\d{4}-\d{2})-\d{2}")


class Layout(msgspec.Struct, frozen=True):
    """The paths in one repository. `prefix` is empty or ends with a slash."""

    prefix: str = ""

    @property
    def config(self) -> str:
        """Return the path of `memrepo.toml`."""
        return self.prefix + CONFIG_NAME

    def area(self, name: str) -> str:
        """Return the folder of an area, such as `memories/`, with a trailing slash."""
        if name not in AREAS:
            raise ValueError(f"not an area: {name}")
        return f"{self.prefix}{name}/"

    def owns(self, path: str) -> bool:
        """Return whether a path belongs to memrepo, which reads or writes the file."""
        return path.startswith(_areas(self.prefix)) or path == self.config or self.is_hot(path)

    def reads(self, path: str) -> bool:
        """Return whether memrepo reads a path: its files, and prompts and templates of one's own.

        These replace those that are shipped.
        """
        if self.owns(path):
            return True
        rest = path.removeprefix(self.prefix) if path.startswith(self.prefix) else ""
        return rest.startswith(_OWN_FOLDERS) and rest.endswith((".md", ".j2"))

    def is_hot(self, path: str) -> bool:
        """Return whether a path may be the path of the hot cache."""
        return path.removeprefix(self.prefix) in HOT_NAMES and path.startswith(self.prefix)

    def source(self, name: str) -> str:
        """Return the path of the snapshot taken of a workspace file."""
        return self.area("sources") + name

    def is_mirrored(self, path: str) -> bool:
        """Return whether a file is a copy of the first workspace's, not of the inbox or a clone."""
        area = self.area("sources")
        return path.startswith(area) and not path.startswith((f"{area}inbox/", area + CLONES))

    def source_name(self, path: str) -> str:
        """Return the name of the workspace file that a snapshot path belongs to."""
        return path.removeprefix(self.area("sources"))

    def is_memory(self, path: str) -> bool:
        """Return whether a path is a memory file: markdown under `memories/`, no reserved name."""
        return bool(self.memory_files([path]))

    def memory_files(self, paths: Iterable[str]) -> list[str]:
        """Return those of the given paths that are memory files."""
        area = f"{self.prefix}memories/"
        return [
            path
            for path in paths
            if path.startswith(area) and path.endswith(".md") and not path.endswith(_RESERVED)
        ]

    def memory(self, *, id_: str, type_: str, text: str, captured: str, layer: str = "") -> str:
        """Return the path of a new memory, built from its layer, month, text and id.

        `captured` is the ISO date of its evidence, or empty. If `layer` is empty, the layer of the
        type is used.
        """
        folder = self.area("memories") + (layer or LAYER_OF_TYPE[type_])
        if (day := _DAY.match(captured)) is not None:
            folder += f"/{day[1]}"
        return f"{folder}/{slugify(text)}-{id_[4:10]}.md"

    def spread(self, path: str) -> str:
        """Return a path in a subfolder for an undated memory whose folder is full.

        Return the path unchanged if it already is in a subfolder of a layer.
        """
        folder, _, name = path.rpartition("/")
        if folder.rpartition("/")[0] + "/" != self.area("memories"):
            return path
        return f"{folder}/undated/{name[-9:-7]}/{name}"

    def view(self, name: str) -> str:
        """Return the path of a view such as `LTMEMORY.md`."""
        return self.area("views") + name

    def manifest(self, run: str) -> str:
        """Return the path of a run's manifest. The run id starts with the year and month."""
        return f"{self.area('runs')}{run[:4]}-{run[4:6]}/{run}.json"


_COPY = regex(rf"(?:(?:{ADOPTED_PREFIX})?sources/)?(?:{CLONES}[^/]+/)?")


def home_of(path: str) -> str:
    """Return the folder of the workspace to which a copy belongs: `sources/_clones/ben/`, or ""."""
    match = _COPY.match(path)
    return match[0] if match else ""


def in_workspace(path: str) -> str:
    """Return the path that a copy, named with or without `sources/`, has in its workspace."""
    return path.removeprefix(home_of(path))


def folders_of(path: str) -> list[str]:
    """Return the folders that contain a file, innermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def below(files: Mapping[str, object], folder: str) -> Collection[str]:
    """Return the paths under a folder such as `x/`. They are sorted if `files` is sorted."""
    listed: Callable[[str], Collection[str]] | None = getattr(files, "below", None)
    return listed(folder) if listed else [path for path in files if path.startswith(folder)]


@cache
def _areas(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{area}/" for area in AREAS)


PageKind = Literal["hot", "view", "layer"]
PageState = Literal["ours", "edited", "foreign"]

_STAMP = regex(rb"<!-- memrepo:(hot|view|layer) ([0-9a-f]{16}) -->\n")


def stamped(kind: PageKind, rest: str) -> bytes:
    """Return the text of a page with a stamp line added at the start, and without secrets."""
    data = clean_page("views/" if kind == "view" else "", rest.encode())
    page = f"<!-- memrepo:{kind} {_stamp(data)} -->\n".encode() + data
    if is_clean(data):
        know_clean(page)  # the scan takes most of the time that a large page takes
    return page


def hot_path(files: Mapping[str, bytes], layout: Layout, place: str) -> str:
    """Return the first page's path: `place`, or `HOT.md` if a foreign file is there."""
    path = layout.prefix + place
    there = files.get(path)
    if there is None or standing_of("hot", there) != "foreign":
        return path
    return layout.prefix + HOT_NAMES[1]


def standing_of(kind: PageKind, data: bytes) -> PageState:
    """Return "ours" for an unmodified generated page, "edited" if changed by hand, or "foreign"."""
    match = _STAMP.match(data)
    if match is None or match[1].decode() != kind:
        return "foreign"
    return "ours" if _stamp(data[match.end() :]) == match[2].decode() else "edited"


def find_page_end(lines: Sequence[str], start: int) -> int:
    """Return the index after the page whose stamp is at a line, or 0 if none has that stamp."""
    import hashlib
    import json

    match = _STAMP.match(f"{lines[start]}\n".encode("utf-8", "surrogatepass"))
    if match is None:
        return 0
    read = hashlib.sha256(b'["')  # as `digest` of the page's text, after each line
    for end, line in enumerate(lines[start + 1 :], start=start + 2):
        spelled = json.dumps(f"{line}\n", ensure_ascii=False)[1:-1]
        read.update(spelled.encode("utf-8", "surrogatepass"))
        whole = read.copy()
        whole.update(b'"]')
        if whole.hexdigest()[:16] == match[2].decode():
            return end
    return 0


def _stamp(rest: bytes) -> str:
    return digest([rest.decode("utf-8", "surrogateescape")])[:16]


def asset(*parts: str) -> Path:
    """Return the path of a shipped file or folder, such as `asset("hooks", "shim")`.

    A wheel contains these folders inside the package. In a checkout or an editable install they are
    next to the package. The path is not required to exist.
    """
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_assets"
    return (shipped if shipped.is_dir() else package.parent).joinpath(*parts)


def own_text(files: Mapping[str, bytes], prefix: str, folder: str, name: str) -> str:
    """Return the repository's own file in place of a shipped one, or "" if it has none.

    `files` are those of a commit. `folder` is `prompts` or `templates`.
    """
    path = f"{prefix}{folder}/{name}"
    return files[path].decode("utf-8", "replace").strip() if path in files else ""
