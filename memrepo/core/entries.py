"""What a header holds, whichever reader read it."""

from __future__ import annotations

from typing import NamedTuple

from memrepo.core.fields import Node
from memrepo.core.problems import Problem


class Entry(NamedTuple):
    """One top-level key, its value, and its lines (one-based in the file, both inclusive).

    `last` covers the whole value, but no comment or blank line after it. A tuple, because a
    frozen dataclass takes four times as long to make, and there is one a header line.
    """

    key: str
    value: Node
    first: int
    last: int


class Reading(NamedTuple):
    """The entries of a header in file order, how far they are indented, and what is wrong."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()
