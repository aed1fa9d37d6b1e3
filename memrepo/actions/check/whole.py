"""The whole tree at HEAD as one scene. Its hot cache and views come from the work tree.

People edit hot cache and views in the work tree, with or without committing them. Every file is
read again, so nothing depends on an earlier check.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from memrepo.actions.check import scenes
from memrepo.checks import registry
from memrepo.checks.rules import Around, Group, Scene
from memrepo.core.layout import Layout
from memrepo.core.problems import Problem
from memrepo.store.local import NotARepository
from memrepo.store.staged import at_head, grounds


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """The problems in the whole tree. `early` contains those of unreadable entries."""

    early: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    files: int


class Everything(Around):
    """The context for checking the whole tree: all memrepo files, without any change."""

    def __init__(self, files: dict[str, bytes], paths: frozenset[str]) -> None:
        self._files, self._paths = files, paths

    def before(self, path: str) -> bytes | None:
        """Return the current file, because nothing changed."""
        return self._files.get(path)

    def there(self, path: str) -> bool:
        """Return whether the tree contains a file."""
        return path in self._paths


def look(where: Path, only: Collection[Group] = ()) -> Looked:
    """Check every file at HEAD against the rules."""
    with scenes.opened_git(where) as git:
        known = grounds(git)
        layout = known.layout
        if layout is None:
            raise NotARepository(git.top, "this repository is not set up for memrepo")
        entries = list(at_head(git))
        owned = [entry for entry in entries if layout.owns(entry[0]) or _hides(layout, entry)]
        files, early = scenes.taken(git, layout, owned)
        views = layout.area("views")
        pages = [p for p in files if layout.is_hot(p) or p.startswith(views)]
        files |= scenes.read(git.top, [p for p in pages if (git.top / p).exists()])[0]
        around = Everything(files, frozenset(path for path, _, _ in entries))
        scene = Scene(files=files, layout=layout, around=around, wants=known.wants(git))
        problems = registry.problems(scene, only)
    return Looked(early=early, problems=problems, files=len(files))


def _hides(layout: Layout, entry: tuple[str, str, str]) -> bool:
    """Return whether an entry is a link that replaces a memrepo folder and so hides its files."""
    path, mode, _ = entry
    return not mode.startswith("100") and layout.owns(path + "/")
