"""What a header holds, whichever reader read it."""

from __future__ import annotations

import msgspec

from memrepo.core.fields import Node
from memrepo.core.problems import Problem


class Entry(msgspec.Struct, frozen=True):
    """One top-level key, its value, and its lines (one-based in the file, both inclusive).

    `last` covers the whole value, but no comment or blank line after it.
    """

    key: str
    value: Node
    first: int
    last: int


class Reading(msgspec.Struct, frozen=True):
    """The entries of a header in file order, how far they are indented, and what is wrong."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()
