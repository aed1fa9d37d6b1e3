"""Every place of a repository that holds a value, by class, without showing the value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from memrepo.actions.work import Work
from memrepo.core.layout import Layout
from memrepo.merge.purging import Edit
from memrepo.store import quarantine, settings
from memrepo.store.light import Git
from memrepo.store.objects import names
from memrepo.store.purges import Count
from memrepo.store.rewrite import History, Said

CLASSES = (
    "source",
    "memory",
    "correction",
    "view",
    "hot page",
    "candidate",
    "manifest",
    "tombstone",
    "thread",
    "configuration",
    "other file",
    "file name",
    "commit message",
    "tag",
    "author",
    "ref name",
    "reflog",
    "index",
    "work tree",
    "cache",
    "git folder",
    "unreachable",
)
"""What is searched, and cleaned."""
OUTSIDE = ("git configuration", "workspace")
"""What is searched, and left to the person whose it is."""
_AREAS = {
    "sources": "source",
    "memories": "memory",
    "corrections": "correction",
    "views": "view",
    "candidates": "candidate",
    "runs": "manifest",
    "tombstones": "tombstone",
    "threads": "thread",
}


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place that holds the value: its class, where it is, and how often."""

    kind: str
    where: str
    hits: int
    via: str = ""
    """The ref by which it was reached first."""


class _Scope(NamedTuple):
    work: Work
    edit: Edit
    history: History


def places(work: Work, edit: Edit, history: History) -> list[Place]:
    """Return every place that holds the value, in history, beside it and outside."""
    scope = _Scope(work, edit, history)
    found = [*_in_history(scope), *_of_refs(scope), *_on_disk(scope), *_outside(scope)]
    return [place for place in found if place.hits]


def hits_of(found: Iterable[Place]) -> dict[str, int]:
    """Return how often the value stands in each class that is cleaned."""
    counts: Counter[str] = Counter()
    for place in found:
        if place.kind not in OUTSIDE:
            counts[place.kind] += place.hits
    return dict(sorted(counts.items()))


def class_of(layout: Layout, path: str) -> str:
    """Return the class of a file by its path in the repository."""
    if layout.is_hot(path):
        return "hot page"
    if path == layout.config:
        return "configuration"
    area = path.removeprefix(layout.prefix).partition("/")[0]
    return _AREAS.get(area, "other file") if path.startswith(layout.prefix) else "other file"


def _in_history(scope: _Scope) -> Iterator[Place]:
    work, edit, history = scope
    objects, layout = work.store.repo.light.objects, work.tree.layout
    reached: dict[str, str] = {}
    seen_names = set[str]()
    for said in history.said:
        yield from _in_words(edit, said)
        for path, _, after in said.changes:
            reached.setdefault(after.id, said.via)
            if path not in seen_names:
                seen_names.add(path)
                hits = len(edit.spans(path)) or int(edit.path(path) != path)
                yield Place(kind="file name", where=edit.path(path), hits=hits, via=said.via)
    for blob, paths in history.paths.items():
        hits = edit.holds(objects.read(blob))
        path = next(iter(paths), "")
        kind = class_of(layout, path) if path else "index"
        where = f"{edit.path(path)} {blob[:10]}".strip()
        yield Place(kind=kind, where=where, hits=hits, via=reached.get(blob, ""))
    known = {said.id for said in history.said} | history.paths.keys()
    for found in objects.every():
        if found.id not in known and found.kind != "tree":
            yield Place(kind="unreachable", where=found.id[:10], hits=edit.holds(found.data))


def _in_words(edit: Edit, said: Said) -> Iterator[Place]:
    kind = "commit message" if said.kind == "commit" else "tag"
    where = said.id[:10]
    yield Place(kind=kind, where=where, hits=edit.holds(said.message), via=said.via)
    who = [line for key in ("author", "committer", "tagger") for line in said.headers.get(key, ())]
    hits = sum(edit.who(line) != line for line in who)
    yield Place(kind="author", where=where, hits=hits, via=said.via)


def _of_refs(scope: _Scope) -> Iterator[Place]:
    repo, edit = scope.work.store.repo, scope.edit
    for name in repo.git.for_each_ref("--format=%(refname)").split():
        yield Place(kind="ref name", where=edit.path(name), hits=len(edit.spans(name)))
    for name, text in quarantine.logs(repo):
        yield Place(kind="reflog", where=edit.path(name), hits=edit.holds(text.encode()))


def _on_disk(scope: _Scope) -> Iterator[Place]:
    repo, edit = scope.work.store.repo, scope.edit
    for path in quarantine.git_files(repo):
        name = path.relative_to(repo.common_dir).as_posix()
        if name.startswith("logs/"):
            continue
        kind = "cache" if quarantine.is_derived(repo, path) else "git folder"
        if name == "config":
            kind = "git configuration"
        yield Place(kind=kind, where=f".git/{edit.path(name)}", hits=_in_file(edit, path, name))
    root = scope.work.store.root
    for path, is_folder in quarantine.work_files(root):
        name = path.relative_to(root).as_posix()
        hits = len(edit.spans(path.name)) if is_folder else _in_file(edit, path, name)
        yield Place(kind="work tree", where=edit.path(name), hits=hits)


def _in_file(edit: Edit, path: Path, name: str) -> int:
    named = len(edit.spans(name))
    if path.is_symlink():
        return named + edit.holds(str(path.readlink()).encode())
    return named + (edit.holds(path.read_bytes()) if path.is_file() else 0)


def _outside(scope: _Scope) -> Iterator[Place]:
    """Look into the workspace: its files are the agent's, and whoever owns them cleans them."""
    work, edit = scope.work, scope.edit
    root = settings.workspace(work.store.repo)
    if root is None or not root.is_dir() or root.resolve() == work.store.root.resolve():
        return
    for path, is_folder in quarantine.work_files(root):
        if not is_folder:
            name = path.relative_to(root).as_posix()
            hits = _in_file(edit, path, name)
            yield Place(kind="workspace", where=edit.path(name), hits=hits)


def count(git: Git, edit: Edit, hits: Mapping[str, int] | None = None) -> Count:
    """Count all objects of a repository; without given hits, the value in each of them too."""
    objects = size = commits = 0
    found: Counter[str] = Counter()
    for one in git.objects.every():
        objects += 1
        size += len(one.data)
        commits += one.kind == "commit"
        if hits is None:
            named = "\n".join(names(one)) if one.kind == "tree" else ""
            data = named.encode("utf-8", "surrogateescape") or one.data
            found[one.kind] += edit.holds(data)
    return Count(
        objects=objects,
        bytes=size,
        commits=commits,
        hits=dict(hits) if hits is not None else {k: n for k, n in sorted(found.items()) if n},
    )
