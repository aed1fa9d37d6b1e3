"""Staged files, files changed by commits, and related files that checks need."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from memrepo.checks.rules import Around, folded
from memrepo.core import codec
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout
from memrepo.core.memory import Memory
from memrepo.store.git import Git
from memrepo.store.objects import FILES


def staged(git: Git) -> Iterator[tuple[str, str, str]]:
    """Yield (path, mode, blob) of each file staged. The blob of a deleted file is empty."""
    options = "--cached --raw -z --no-abbrev --no-renames --no-relative --no-ext-diff".split()
    parts = git.call("diff", *options, "--ignore-submodules=none").split("\0")
    for head, path in zip(parts[0::2], parts[1::2], strict=False):
        _, mode, _, blob, _ = head.split(" ")
        yield path, mode, blob.strip("0") and blob


def listed(git: Git, *patterns: str) -> Iterator[tuple[str, str, str]]:
    """Yield (path, mode, blob) of the index files that match the given git path patterns."""
    words = ("ls-files", "-s", "-z", "--full-name", "--", *patterns)
    raw = git.call(*words, env={"GIT_LITERAL_PATHSPECS": "0"}) if patterns else ""
    for entry in filter(None, raw.split("\0")):
        head, path = entry.split("\t", 1)
        mode, blob, _ = head.split(" ")
        yield path, mode, blob


def put_in_index(git: Git, old: str, new: str, data: bytes) -> None:
    """Add a file to the index of the commit in progress, and remove the file at the old path."""
    blob = git.call("hash-object", "-w", "--stdin", data=data).strip()
    lines = [f"0 {'0' * 40}\t{old}"] if old != new else []
    lines.append(f"100644 {blob}\t{new}")
    git.call("update-index", "-z", "--index-info", data="\0".join([*lines, ""]).encode())


_MANY = 50
"""Maximum number of patterns passed to git, which compares every entry with every pattern."""


class StagedFiles(Around):
    """The index as the context of checked files, whose earlier versions are read from HEAD."""

    def __init__(self, git: Git, known: StagedConfig) -> None:
        super().__init__()
        self.git = git
        self.known = known
        self.layout = known.layout or Layout()
        self._before: dict[str, bytes | None] = {}

    def know(self, paths: Iterable[str]) -> None:
        """Read several files at HEAD at once."""
        names = {path: f"HEAD:{path}" for path in paths if path not in self._before}
        found = self.git.objects.contents(names.values())
        self._before.update({path: found[name] for path, name in names.items()})

    def before(self, path: str) -> bytes | None:
        """Return the bytes of a file at HEAD, or None if it does not exist there."""
        self.know([path])
        return self._before[path]

    def holders(self, ids: Collection[str]) -> Iterator[Memory]:
        """Yield the memories in the index that have one of the given ids."""
        area = self.layout.area("memories")
        digits = sorted({id_.removeprefix("mem-")[:6] for id_ in ids})
        patterns = [f":(top,glob){area}**/*-{six}.md" for six in digits]
        for path, data in self._matching(patterns):
            memory, _ = codec.decode(path, data)
            if memory is not None and memory.id in ids:
                yield memory

    def occurring(self, ids: Collection[str]) -> Collection[str]:
        """Return those of the given ids that any file has as its id, even if it is unreadable.

        Search the index and the work tree, including files that git does not track.
        """
        if not ids:
            return set()
        patterns = [word for id_ in sorted(ids) for word in ("-e", f"^id:.*{id_}")]
        words = ("grep", "--basic-regexp", "--no-color", "-h", "-a")
        found = [
            self.git.call(*words, where, *patterns, accepted=1)
            for where in ("--cached", "--untracked")
        ]
        return {id_ for id_ in ids if any(id_ in text for text in found)}

    def file(self, path: str) -> bytes | None:
        """Return the bytes of a file in the index, or None if it does not exist there."""
        return dict(self._matching([f":(top,literal){path}"])).get(path)

    def alike(self, paths: Collection[str]) -> Collection[str]:
        """Return index paths that differ from a new path only in case or Unicode form."""
        self.know(paths)
        new = [path for path in paths if self._before[path] is None]
        wanted = {folded(path) for path in new}
        forms = {unicodedata.normalize(form, path) for path in new for form in ("NFC", "NFD")}
        asked = [f":(top,icase,literal){form}" for form in sorted(forms)]
        found = listed(self.git, *(asked if len(asked) <= _MANY else [":(top)"]))
        return {other for other, _, _ in found if folded(other) in wanted} - {*paths}

    def below(self, folder: str) -> Mapping[str, bytes]:
        """Return {path: bytes} of the tombstones in the index, which are read once."""
        known = self.known.blobs.items()
        return {path: self.git.read(blob) for path, blob in known if path.startswith(folder)}

    def _matching(self, patterns: Collection[str]) -> Iterator[tuple[str, bytes]]:
        for path, mode, blob in listed(self.git, *patterns):
            if mode in FILES:
                yield path, self.git.read(blob)


class StagedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration and the tombstones in the index, as {path: blob}, read once.

    `layout` is None if memrepo was never set up here.
    """

    layout: Layout | None
    blobs: Mapping[str, str]

    def config(self, git: Git) -> bytes:
        """Return the bytes of the staged configuration, or none if there is none."""
        path = self.layout.config if self.layout is not None else ""
        return git.read(self.blobs[path]) if path in self.blobs else b""


def staged_config(git: Git) -> StagedConfig:
    """Read the blobs of configuration and tombstones from the index, and detect the layout."""
    prefixes = ("", ADOPTED_PREFIX)
    names = (CONFIG_NAME, "tombstones/")
    found = listed(git, *(f":(top,literal){p}{name}" for p in prefixes for name in names))
    blobs = {path: blob for path, mode, blob in found if mode in FILES}
    layout = next((Layout(p) for p in prefixes if p + CONFIG_NAME in blobs), None)
    return StagedConfig(layout=layout, blobs=blobs)
