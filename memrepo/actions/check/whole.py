"""The whole tree at HEAD, looked at part by part: what is held in memory does not grow with it.

Most rules see one file and a little of what lies around it. What is asked of several files at once
(references, the budget of the hot cache, links by name) is asked at the end, of those files alone
that have a say in it. Every file is read: nothing here rests on what an earlier look remembered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import msgspec

from memrepo.actions.check import scenes
from memrepo.checks import registry
from memrepo.checks.memories import folded
from memrepo.checks.rules import Group, Nowhere, Scene, Wants
from memrepo.core import codec
from memrepo.core.ids import slugify
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, references
from memrepo.core.problems import Problem
from memrepo.policies.hotcache import hot_of
from memrepo.store import light
from memrepo.store.around import grounds
from memrepo.store.gitenv import NotARepository
from memrepo.store.light import Git

_AT_ONCE = 1000
"""So many files are looked at together."""
_FEW = 100
"""So many of those that link to others by name: each is held against the names of all of them."""


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the whole tree found; `early` is what could not be read as a file."""

    early: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    files: int


class Tree:
    """What memrepo owns at HEAD. Hot cache and views are read as they lie in the work tree.

    A hand edits them there, committed or not.
    """

    def __init__(self, git: Git, layout: Layout, wants: Wants) -> None:
        self.git, self.layout, self.wants = git, layout, wants
        entries = list(light.at_head(git))
        self.paths = frozenset(path for path, _, _ in entries)
        owned = (e for e in entries if layout.owns(e[0]) or _hides(layout, e))
        self.entries = {entry[0]: entry for entry in owned}
        self.early: list[Problem] = []
        self.count = 0
        self.ids: dict[str, str] = {}
        """Where the memory of an id stands, the first of several."""
        self._referring: dict[str, frozenset[str]] = {}
        self._replaced: list[str] = []
        self._hot: list[str] = []
        self._linking: list[str] = []

    def parts(self) -> Iterator[Mapping[str, bytes]]:
        """Yield all files, some at a time, by path; those that are read together stay together."""
        area = self.layout.area("corrections")
        cases = [path for path in self.entries if path.startswith(area)]
        rest = [path for path in self.entries if not path.startswith(area)]
        for paths in (cases, *_parts(rest, _AT_ONCE)):
            files, early = self._read(paths)
            self.early += early
            self.count += len(files)
            yield files

    def _read(self, paths: Iterable[str]) -> tuple[dict[str, bytes], tuple[Problem, ...]]:
        files, early = scenes.taken(self.git, self.layout, [self.entries[p] for p in paths])
        views, top = self.layout.area("views"), self.git.top
        pages = [p for p in files if self.layout.is_hot(p) or p.startswith(views)]
        files |= scenes.read(top, [p for p in pages if (top / p).exists()])[0]
        return files, early

    def scene(self, files: Mapping[str, bytes], *, again: bool = False) -> Scene:
        """Return some files with the others around them; `again` says that all were seen once."""
        around = _Again(self, files) if again else _Part(self, files)
        return Scene(files=files, layout=self.layout, around=around, wants=self.wants)

    def know(self, scene: Scene) -> None:
        """Keep what others will be held against, which is little of each memory."""
        for memory in scene.memories:
            path, fields = memory.path, memory.fields
            if memory.id:
                self.ids.setdefault(memory.id, path)
            if "supersedes" in fields or "superseded_by" in fields or memory.status == "superseded":
                self._replaced.append(path)
            elif targets := references(memory):
                self._referring[path] = targets
            if hot_of(memory) is not None:
                self._hot.append(path)
            if "[[" in memory.body:
                self._linking.append(path)

    def again(self) -> Iterator[tuple[registry.Finder, Scene]]:
        """Yield what is to be looked at once more when all is known, and by what."""
        lost = [p for p, ids in self._referring.items() if not ids <= self.ids.keys()]
        at_once = ((registry.REFERENCES, [*self._replaced, *lost]), (registry.BUDGET, self._hot))
        for finder, paths in at_once:
            if paths:
                yield finder, self.scene(self._read(sorted(paths))[0], again=True)
        for some in _parts(self._linking, _FEW):
            yield registry.LINKS, self.scene(self._read(some)[0], again=True)

    def file(self, path: str) -> bytes | None:
        """Return a file at HEAD."""
        entry = self.entries.get(path)
        return self.git.read(entry[2]) if entry is not None and entry[1] in light.FILES else None

    @cached_property
    def alike(self) -> Mapping[str, Collection[str]]:
        """Return the files whose paths some file systems take for one, by what they have in common.

        Of a path that nothing is like there is no entry.
        """
        found: dict[str, list[str]] = defaultdict(list)
        for path, mode, _ in self.entries.values():
            if mode in light.FILES:
                found[folded(path)].append(path)
        return {key: paths for key, paths in found.items() if len(paths) > 1}

    @cached_property
    def stones(self) -> Mapping[str, bytes]:
        """Return the tombstones' files."""
        area = self.layout.area("tombstones")
        return self._read(path for path in self.entries if path.startswith(area))[0]

    @cached_property
    def names(self) -> Mapping[str, Collection[str]]:
        """Return the ids of memories by what a text may call them: id, path, slug."""
        found: dict[str, set[str]] = defaultdict(set)
        for id_, path in self.ids.items():
            slug = path.rpartition("/")[2].removesuffix(".md")
            for name in (id_, path, slug, slug[:-7]):
                found[name].add(id_)
        return found


class _Part(Nowhere):
    """What lies around one part of a tree: nothing changes, so before is as now."""

    def __init__(self, tree: Tree, files: Mapping[str, bytes]) -> None:
        self._tree, self._files = tree, files

    def before(self, path: str) -> bytes | None:
        """Return the file itself."""
        return self._files.get(path)

    def holders(self, ids: Collection[str]) -> Iterator[Memory]:
        """Return memories of parts that were seen: no more than where they stand."""
        for id_ in ids:
            path = self._tree.ids.get(id_, "")
            if path and path not in self._files:
                yield Memory(path=path, fields={"id": id_}, body="")

    def file(self, path: str) -> bytes | None:
        """Return a file of another part."""
        return self._tree.file(path)

    def there(self, path: str) -> bool:
        """Tell whether the tree has a file."""
        return path in self._tree.paths

    def alike(self, paths: Collection[str]) -> Collection[str]:
        """Return the paths that differ in case or in the form of accents only."""
        known = self._tree.alike
        return {other for path in paths for other in known.get(folded(path), ())} - {*paths}

    def below(self, folder: str) -> Mapping[str, bytes]:
        """Return the tombstones, of whatever part; no rule asks for others."""
        found = self._tree.stones if folder == self._tree.layout.area("tombstones") else {}
        return {path: data for path, data in found.items() if path not in self._files}


class _Again(_Part):
    """What lies around files that are looked at once more: every memory is known by then."""

    def holders(self, ids: Collection[str]) -> Iterator[Memory]:
        """Return memories by id, read anew."""
        for bare in super().holders(ids):
            memory, _ = codec.decode(bare.path, self._tree.file(bare.path) or b"")
            if memory is not None:
                yield memory

    def called(self, names: Collection[str]) -> Iterator[Memory]:
        """Return where the memories stand that names may mean."""
        known = self._tree.names
        asked = {form for name in names for form in (name, slugify(name))}
        for id_ in sorted({id_ for name in asked for id_ in known.get(name, ())}):
            yield Memory(path=self._tree.ids[id_], fields={"id": id_}, body="")


@contextmanager
def opened(where: Path) -> Iterator[Tree]:
    """Open the tree at HEAD of the repository that holds a folder."""
    with scenes.opened_git(where) as git:
        known = grounds(git)
        if known.layout is None:
            raise NotARepository(git.top, "found a repository that memrepo was never set up in")
        yield Tree(git, known.layout, known.wants(git))


def look(where: Path, only: Collection[Group] = ()) -> Looked:
    """Hold every file at HEAD against every rule."""
    found: list[Problem] = []
    with opened(where) as tree:
        for files in tree.parts():
            scene = tree.scene(files)
            tree.know(scene)
            found += registry.problems(scene, only, registry.ALONE)
        for finder, scene in tree.again():
            found += registry.problems(scene, only, (finder,))
    return Looked(
        early=tuple(tree.early),
        problems=tuple(registry.in_order(found)),
        files=tree.count,
    )


def _parts(paths: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (paths[at : at + most] for at in range(0, len(paths), most))


def _hides(layout: Layout, entry: tuple[str, str, str]) -> bool:
    """Tell whether an area is itself a link: it would hide all that it holds without a word."""
    path, mode, _ = entry
    return not mode.startswith("100") and layout.owns(path + "/")
