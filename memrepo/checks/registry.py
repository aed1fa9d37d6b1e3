"""Every rule there is, by name, and how a scene is held against them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from memrepo.checks import (
    characters,
    corrections,
    derived,
    headers,
    links,
    memories,
    messages,
    secrets,
    tags,
    transitions,
)
from memrepo.checks.rules import Group, Rule, Scene
from memrepo.core.problems import Problem

Finder: TypeAlias = Callable[[Scene], Iterable[Problem]]

_FAMILIES: tuple[tuple[tuple[Rule, ...], Finder], ...] = (
    (headers.RULES, headers.find),
    (memories.RULES, memories.find),
    (corrections.RULES, corrections.find),
    (tags.RULES, tags.find),
    (links.RULES, links.find),
    (links.BODY_RULES, links.find_in_bodies),
    (secrets.RULES, secrets.find),
    (characters.RULES, characters.find),
    (transitions.RULES, transitions.find),
    (derived.RULES, derived.find),
    (derived.BUDGET_RULES, derived.find_over_budget),
    (derived.STALE_RULES, derived.find_stale_bullets),
    (corrections.MANIFEST_RULES, corrections.find_in_manifests),
    (characters.SIZE_RULES, characters.find_too_large),
)
"""Rules and what finds them; a new family of rules is one line here."""
RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.name: rule for rules in (*(r for r, _ in _FAMILIES), messages.RULES) for rule in rules}
)
"""Every rule, those of commit messages included, which `check-message` asks for."""


def problems(scene: Scene, only: Collection[Group] = ()) -> tuple[Problem, ...]:
    """Return every finding in a scene by path and line, each once; `only` names groups of rules."""
    ordered = sorted(_found(scene, only), key=lambda p: (p.path, p.line, p.column, p.rule))
    return tuple(dict.fromkeys(ordered))


def _found(scene: Scene, only: Collection[Group]) -> Iterator[Problem]:
    for rules, find in _FAMILIES:
        wanted = {rule.name for rule in rules if not only or rule.group in only}
        if wanted:
            yield from (p for p in find(scene) if p.rule in wanted)
