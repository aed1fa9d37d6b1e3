"""The registry of all rules by name, and the function that checks a scene."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from memrepo.checks import characters, derived, memories, secrets
from memrepo.checks.rules import Group, Rule, Scene
from memrepo.core.problems import Problem

Finder: TypeAlias = Callable[[Scene], Iterable[Problem]]

_FAMILIES: tuple[tuple[tuple[Rule, ...], Finder], ...] = (
    (memories.HEADER_RULES, memories.find_unreadable),
    (memories.RULES, memories.find),
    (derived.CORRECTION_RULES, derived.find_in_corrections),
    (memories.TAG_RULES, memories.find_unknown_tags),
    (characters.LINK_RULES, characters.find_broken_references),
    (characters.BODY_RULES, characters.find_in_bodies),
    (secrets.RULES, secrets.find),
    (characters.RULES, characters.find),
    (memories.HAND_RULES, memories.find_by_hand),
    (derived.RULES, derived.find),
    (derived.BUDGET_RULES, derived.find_over_budget),
    (derived.STALE_RULES, derived.find_stale_bullets),
    (derived.MANIFEST_RULES, derived.find_in_manifests),
    (characters.SIZE_RULES, characters.find_too_large),
)
"""Rules and the functions that check them. A new family of rules needs one line here."""
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        rule.name: rule
        for rules in (*(found for found, _ in _FAMILIES), memories.MESSAGE_RULES)
        for rule in rules
    }
)
"""All rules, including those for commit messages, which `check-message` applies."""


def problems(scene: Scene, only: Collection[Group] = ()) -> tuple[Problem, ...]:
    """Check a scene and return its distinct problems, sorted by path and line.

    `only` limits the check to some groups of rules.
    """
    found: list[Problem] = []
    for rules, find in _FAMILIES:
        if wanted := {rule.name for rule in rules if not only or rule.group in only}:
            found += (problem for problem in find(scene) if problem.rule in wanted)
    found.sort(key=lambda p: (p.path, p.line, p.column, p.rule))
    return tuple(dict.fromkeys(found))
