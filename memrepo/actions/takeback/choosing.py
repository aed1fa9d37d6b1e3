"""Whose side is taken where two clash: the pair of options that revert and sync share."""

from __future__ import annotations

from typing import Protocol

from memrepo.merge.takeback import Side


class Sides(Protocol):
    """What a request holds that lets a person choose a side."""

    @property
    def ours(self) -> bool:
        """Tell whether this side is taken."""

    @property
    def theirs(self) -> bool:
        """Tell whether the other side is taken."""


def side_of(request: Sides) -> Side:
    """Return the side that is taken; empty where a person has chosen none."""
    return "ours" if request.ours else "theirs" if request.theirs else ""
