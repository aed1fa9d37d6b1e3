"""What commits wrote after another one: by field, by element of a list, by line of a text.

An equal value is not an untouched one, so this is read from each later commit and never guessed
from the two ends.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import msgspec

from memrepo.core.memory import Memory
from memrepo.core.mergefields import keyed
from memrepo.core.schema import FIELDS, Field
from memrepo.core.text3 import Joined, merge_text

PATH = "@path"
"""Stands among the fields where a commit moved the file."""
STATUS = frozenset({"status", "status_epoch"})
AGEING = frozenset({"tier", "tier_since", "tier_written", "gist", "run"})
"""What moves between tiers write: growing older is nobody's edit."""


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """What later commits wrote of one memory.

    `whole` tells that it left or came, so that all of it is later work; `any` that anything but
    moves between tiers was written. `elements` holds, for fields that are merged as sets, the keys
    that came, went or changed; `bodies` each change of the text in order.
    """

    any: bool = False
    whole: bool = False
    fields: frozenset[str] = frozenset()
    elements: Mapping[str, frozenset[Hashable]] = msgspec.field(default_factory=dict)
    bodies: tuple[tuple[str, str], ...] = ()

    def then(self, other: Later) -> Later:
        """Return this, followed by what a later commit wrote."""
        names = {*self.elements, *other.elements}
        none: frozenset[Hashable] = frozenset()
        return Later(
            any=self.any or other.any,
            whole=self.whole or other.whole,
            fields=self.fields | other.fields,
            elements={n: self.elements.get(n, none) | other.elements.get(n, none) for n in names},
            bodies=(*self.bodies, *other.bodies),
        )


def written(before: Memory | None, after: Memory | None) -> Later:
    """Return what one commit wrote of a memory; None where it was not there."""
    if before is None or after is None:
        return Later(any=before is not after, whole=before is not after)
    fields: set[str] = set()
    elements: dict[str, frozenset[Hashable]] = {}
    for column in FIELDS:
        old, new = (m.fields.get(column.name, column.default) for m in (before, after))
        if old == new:
            continue
        fields.add(column.name)
        if column.merge == "set3":
            one, other = keyed(column.name, old or ()), keyed(column.name, new or ())
            elements[column.name] = frozenset(
                k for k in {*one, *other} if one.get(k) != other.get(k)
            )
    if fields & STATUS:
        fields |= STATUS  # they travel together
    bodies = ((before.body, after.body),) if before.body != after.body else ()
    if before.path != after.path:
        fields.add(PATH)
    return Later(
        any=bool(fields - AGEING or bodies),
        fields=frozenset(fields),
        elements=elements,
        bodies=bodies,
    )


def value_back(column: Field, pre: Any, post: Any, head: Any, later: Later) -> Any:
    """Return a field's value without what turned `pre` into `post`; what came later stays."""
    if column.name not in later.fields or pre == post:
        return head if pre == post else pre
    if column.merge != "set3":
        return head
    before, after = keyed(column.name, pre or ()), keyed(column.name, post or ())
    touched = later.elements.get(column.name, frozenset())
    here = keyed(column.name, head or ())
    undone = {k for k in {*before, *after} if before.get(k) != after.get(k)} - touched
    found = {
        k: before[k] if k in undone else v
        for k, v in here.items()
        if k not in undone or k in before
    }
    found |= {k: before[k] for k in before if k in undone and k not in here}
    return tuple(found.values())


def text_back(pre: str, post: str, head: str, later: Later) -> Joined:
    """Return the text without what turned `pre` into `post`, later changes played on it again."""
    if pre == post:
        return Joined(text=head)
    text = pre
    for before, after in later.bodies:
        joined = merge_text(before, text, after)
        if joined.overlap:
            return Joined(text=head, overlap=True)
        text = joined.text
    if later.bodies and later.bodies[-1][1] != head:
        return merge_text(post, pre, head)  # sides that were joined since: their ends must do
    return Joined(text=text)
