"""The files of git's index: those that are staged, and the others that checks need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from memrepo.core.layout import ADOPTED_PREFIX, AREAS, HOT_NAMES, Layout
from memrepo.store.git import Git
from memrepo.store.objects import FILES


def staged(git: Git) -> Iterator[tuple[str, str, str, str]]:
    """Yield (path, mode, old blob, blob) of each file staged. A blob that is not there is empty."""
    options = "--cached --raw -z --no-abbrev --no-renames --no-relative --no-ext-diff".split()
    parts = git.call("diff", *options, "--ignore-submodules=none").split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, old, blob, _ = head.split(" ")
        yield path, mode, old.strip("0") and old, blob.strip("0") and blob


def put_in_index(git: Git, old: str, new: str, data: bytes) -> None:
    """Add a file to the index of the commit in progress, and remove the file at the old path."""
    blob = git.call("hash-object", "-w", "--stdin", data=data).strip()
    lines = [f"0 {'0' * 40}\t{old}"] if old != new else []
    lines.append(f"100644 {blob}\t{new}")
    git.call("update-index", "-z", "--index-info", data="\0".join([*lines, ""]).encode())


class IndexFiles(Mapping[str, bytes]):
    """memrepo's files in the index or, with `loose`, those that git does not track.

    They are listed when one is needed, and each is read by itself.
    """

    def __init__(self, git: Git, layout: Layout, *, loose: bool = False) -> None:
        self.git, self.layout, self.loose = git, layout, loose

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Return {path: blob}. A file that git does not track has none."""
        names = [f":(top,literal){self.layout.prefix}{name}" for name in (*AREAS, *HOT_NAMES)]
        which = ("-o", "--exclude-standard") if self.loose else ("-s",)
        return dict(_listed(self.git, *which, "--", *names))

    def __getitem__(self, path: str) -> bytes:
        if blob := self.blobs[path]:
            return self.git.read(blob, path)
        place = self.git.top / path
        return place.read_bytes() if place.is_file() and not place.is_symlink() else b""

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)


def index_layout(git: Git) -> tuple[Layout | None, bytes]:
    """Return the layout of memrepo's files in the index and the configuration, if it is there."""
    layouts = [Layout(prefix) for prefix in ("", ADOPTED_PREFIX)]
    found = dict(_listed(git, "-s", "--", *(f":(top,literal){one.config}" for one in layouts)))
    layout = next((one for one in layouts if one.config in found), None)
    return layout, git.read(found[layout.config]) if layout is not None else b""


def _listed(git: Git, *words: str) -> Iterator[tuple[str, str]]:
    """Yield (path, blob) of regular files. The blob of one that git does not track is empty."""
    environment = {"GIT_LITERAL_PATHSPECS": "0"}
    raw = git.call("ls-files", "-z", "--full-name", *words, env=environment)
    for entry in filter(None, raw.split("\0")):
        head, tab, path = entry.partition("\t")
        if not tab:
            yield head, ""
        elif head.startswith(FILES):
            yield path, head.split(" ")[1]
