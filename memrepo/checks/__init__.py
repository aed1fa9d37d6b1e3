"""Checks of memory files and commits. Each finder yields the problems of some groups of rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from msgspec.structs import replace

from memrepo.checks import contents, memories
from memrepo.checks.rules import GROUPS, Group, Scene, all_rules, report
from memrepo.core.errors import Problem

FINDERS: tuple[tuple[str, Callable[[Scene], Iterable[Problem]]], ...] = (
    ("schema size", memories.find_unreadable),
    ("schema", memories.find),
    ("schema", contents.find_in_corrections),
    ("tags", memories.find_unknown_tags),
    ("links", contents.find_broken_references),
    ("secrets", contents.find_secret_or_rejected),
    ("format", contents.find_deceptive_text),
    ("derived", memories.find_by_hand),
    ("derived", contents.find_edited_pages),
    ("derived", contents.find_stale_bullets),
    ("derived", contents.find_in_manifests),
)
"""The functions that check a scene, with the groups of their rules."""


def _found(find: Callable[[Scene], Iterable[Problem]], scene: Scene) -> Iterable[Problem]:
    """Return what a finder yields. If it fails, the files on which it fails are reported instead.

    A fault in one file must not hide the problems of the others.
    """
    try:
        return list(find(scene))
    except Exception as error:  # noqa: BLE001
        fault = type(error).__name__
    found: list[Problem] = []
    for path, data in scene.files.items():
        one = replace(scene, files={path: data})
        try:
            found += find(one)
        except Exception:  # noqa: BLE001
            message = f"could not be checked ({fault})"
            found.append(report("file-unreadable", path, message, fix="report it"))
    return found


def find_problems(scene: Scene, only: Collection[Group] = ()) -> tuple[Problem, ...]:
    """Check a scene and return its distinct problems, sorted by path and line."""
    wanted = {*(only or GROUPS)}
    found = {
        problem
        for groups, find in FINDERS
        if wanted & {*groups.split()}
        for problem in _found(find, scene)
        if all_rules()[problem.rule].group in wanted
    }
    return tuple(sorted(found, key=lambda p: (p.path, p.line, p.column, p.rule, p.message)))
