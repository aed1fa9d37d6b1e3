"""Commits by hand that no hook saw: what they changed is held against the rules all the same.

`--no-verify`, an edit on a web page, a rebase and a clone without hooks all pass the hooks by. Each
commit is looked at as the hook would have done, with the tree at HEAD around it. What a later
commit changed again is that one's to answer for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.checks import registry
from memrepo.checks.memories import folded
from memrepo.checks.rules import Group, Scene, Wants
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.store.around import grounds
from memrepo.store.light import changes, hand_commits

_GROUPS: tuple[Group, ...] = ("schema", "tags", "secrets", "derived", "size")
"""What refers to what is asked of the whole tree, and the order of keys is worth no word."""
_Change: TypeAlias = tuple[str, str, str]  # path, blob before, blob after


class TreeAt:
    """The tree at one commit around a change, and the files as they were before it.

    `paths` are all of the tree, where more than memrepo's files are asked for.
    """

    def __init__(
        self, state: State, earlier: Mapping[str, bytes], paths: Collection[str] = ()
    ) -> None:
        self._state, self._earlier, self._paths = state, earlier, paths

    @cached_property
    def _alike(self) -> Mapping[str, Collection[str]]:
        found: dict[str, set[str]] = {}
        for path in self._state.files:
            found.setdefault(folded(path), set()).add(path)
        return found

    def before(self, path: str) -> bytes | None:
        """Return a file as the commit found it."""
        return self._earlier.get(path)

    def holders(self, ids: Collection[str]) -> Iterator[Memory]:
        """Return the memories with one of these ids."""
        return (m for id_ in ids if (m := self._state.memories.get(id_)) is not None)

    def called(self, names: Collection[str]) -> Collection[Memory]:
        """Return every memory: which one a name means is asked of them."""
        del names
        return self._state.memories.values()

    def there(self, path: str) -> bool:
        """Tell whether a file stands at a path."""
        return path in self._state.files or path in self._paths

    def file(self, path: str) -> bytes | None:
        """Return a file at HEAD."""
        return self._state.files.get(path)

    def alike(self, paths: Collection[str]) -> Collection[str]:
        """Return the paths that differ from one of these in case or in the form of accents only."""
        return {other for path in paths for other in self._alike.get(folded(path), ())} - {*paths}

    def below(self, folder: str) -> Mapping[str, bytes]:
        """Return the files below a folder."""
        files = self._state.files
        return {path: files[path] for path in files if path.startswith(folder)}

    def naming(self, text: str) -> Collection[str]:
        """Return the paths of the memories whose file holds a text."""
        files, wanted = self._state.files, text.encode()
        return [m.path for m in self._state.memories.values() if wanted in files[m.path]]


def broken_rules(at: Work, since: str) -> tuple[Problem, ...]:
    """Return the errors that commits by hand since a commit brought, as far as they still stand.

    Files that cannot be read are findings of the state itself and not told again.
    """
    if since in ("", at.tree.commit):
        return ()
    git = at.store.repo.light
    hands = [hand.id for hand in hand_commits(git, f"{since}..{at.tree.commit}")]
    commits: dict[str, list[_Change]] = {}
    for commit, path, old, new in changes(git, hands):
        if at.tree.layout.owns(path):
            commits.setdefault(commit, []).append((path, old, new))
    if not commits:
        return ()
    wants, state = grounds(git).wants(git), at.tree.state()
    known = {(p.path, p.rule) for p in state.problems}
    return tuple(
        replace(p, severity="warning", message=f"{p.message} (commit {commit[:10]})")
        for commit, changed in commits.items()
        for p in _errors(at, scene_of(git.read, at.tree.layout, state, changed, wants), changed)
        if (p.path, p.rule) not in known
    )


def scene_of(
    read: Callable[[str], bytes],
    layout: Layout,
    state: State,
    changed: Sequence[_Change],
    wants: Wants,
) -> Scene:
    """Return one commit's change as a scene, in the tree that a state was read from."""
    return Scene(
        files={path: read(new) for path, _, new in changed if new},
        layout=layout,
        gone=tuple(path for path, _, new in changed if not new),
        wants=wants,
        around=TreeAt(state, {path: read(old) for path, old, _ in changed if old}),
    )


def _errors(at: Work, scene: Scene, changed: Sequence[_Change]) -> Iterator[Problem]:
    """Yield the errors in files that no later commit changed."""
    stands = {path for path, _, new in changed if at.tree.blobs.get(path, "") == new}
    for problem in registry.problems(scene, _GROUPS):
        if problem.severity == "error" and problem.path in stands:
            yield problem
