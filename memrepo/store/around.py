"""What lies around files that are checked: read from the index and HEAD as rules ask for it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from memrepo.checks.rules import Nowhere, Wants
from memrepo.core import codec
from memrepo.core.layout import ADOPTED_PREFIX, CONFIG_NAME, Layout
from memrepo.core.memory import Memory
from memrepo.store.light import FILES, Git, at_head, listed

BASELINE = "secrets-baseline.json"
"""Findings that a person looked at and let stand, by fingerprint; beside memrepo.toml."""


class Index:
    """The files of the index around those that are checked; what was before is at HEAD.

    `earlier` knows some blobs at HEAD already; of other paths HEAD is asked.
    """

    def __init__(self, git: Git, layout: Layout, earlier: Mapping[str, str] | None = None) -> None:
        self.git = git
        self.layout = layout
        self._earlier = dict(earlier or {})

    def know(self, paths: Iterable[str]) -> None:
        """Ask HEAD for several paths at once."""
        asked = [path for path in paths if path not in self._earlier]
        self._earlier.update(dict.fromkeys(asked, ""))
        found = at_head(self.git, asked) if asked else ()
        self._earlier.update({path: blob for path, mode, blob in found if mode in FILES})

    def before(self, path: str) -> bytes | None:
        """Return a file at HEAD."""
        self.know([path])
        blob = self._earlier[path]
        return self.git.read(blob) if blob else None

    def holders(self, ids: Collection[str]) -> Iterator[Memory]:
        """Return memories by id: a memory's file name ends in the first digits of its id."""
        area = self.layout.area("memories")
        digits = sorted({id_.removeprefix("mem-")[:6] for id_ in ids})
        patterns = [f":(top,glob){area}**/*-{six}.md" for six in digits]
        for path, data in self._files(patterns):
            memory, _ = codec.decode(path, data)
            if memory is not None and memory.id in ids:
                yield memory

    def file(self, path: str) -> bytes | None:
        """Return a file of the index."""
        return dict(self._files([f":(top,literal){path}"])).get(path)

    def alike(self, path: str) -> Collection[str]:
        """Return the paths of the index that differ in case or in the form of accents only."""
        forms = {unicodedata.normalize(form, path) for form in ("NFC", "NFD")}
        found = listed(self.git, *(f":(top,icase,literal){form}" for form in sorted(forms)))
        return {other for other, _, _ in found} - {path}

    def below(self, folder: str) -> Mapping[str, bytes]:
        """Return the files of the index below a folder."""
        return dict(self._files([f":(top,literal){folder}"]))

    def naming(self, id_: str) -> Collection[str]:
        """Return the memories of the index whose text holds an id."""
        area = f":(top,literal){self.layout.area('memories')}"
        found = self.git.ask("grep", "--cached", "-l", "-z", "-F", "-e", id_, "--", area, no=1)
        return [path for path in found.split("\0") if path]

    def _files(self, patterns: Collection[str]) -> Iterator[tuple[str, bytes]]:
        for path, mode, blob in listed(self.git, *patterns):
            if mode in FILES:
                yield path, self.git.read(blob)


class Whole(Nowhere):
    """A whole tree is checked: nothing is around it, and nothing changes."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def before(self, path: str) -> bytes | None:
        """Return the file itself."""
        return self._files.get(path)


def layout_in(git: Git) -> Layout | None:
    """Return the layout of the repository, by where its configuration stands; None for none."""
    found = {path for path, _, _ in listed(git, *(_top(name) for name in _configs()))}
    return next((Layout(n.removesuffix(CONFIG_NAME)) for n in _configs() if n in found), None)


def wants_in(git: Git, layout: Layout) -> Wants:
    """Read what the staged configuration asks of files, and the baseline.

    A configuration that is wrong asks for nothing here: the commands that load it say so.
    """
    paths = (layout.config, layout.prefix + BASELINE)
    found = {p: git.read(blob) for p, mode, blob in listed(git, *map(_top, paths)) if mode in FILES}
    config = found.get(layout.config, b"")
    tags = _tags(config) if b"tags" in config else {}
    return Wants(
        tags=tuple(_texts(tags.get("vocabulary"))), tag_pattern=str(tags.get("pattern", "")),
        allowed_secrets=frozenset(read_baseline(found.get(paths[1], b"[]"))),
    )  # fmt: skip


def _tags(config: bytes) -> Mapping[str, Any]:
    import tomllib

    try:
        tags = tomllib.loads(config.decode("utf-8", "replace")).get("tags", {})
    except tomllib.TOMLDecodeError:
        return {}
    return tags if isinstance(tags, dict) else {}


def _texts(value: object) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def read_baseline(data: bytes) -> list[str]:
    """Return the fingerprints of a baseline; of a damaged one none."""
    try:
        return _texts(json.loads(data))
    except ValueError:
        return []


def _configs() -> tuple[str, ...]:
    return (CONFIG_NAME, ADOPTED_PREFIX + CONFIG_NAME)


def _top(path: str) -> str:
    return f":(top,literal){path}"
