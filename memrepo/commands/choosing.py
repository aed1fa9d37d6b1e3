"""Whose side is taken where two clash: the pair of options that revert and sync share."""

from __future__ import annotations

import argparse

from memrepo.merge.takeback import Side


def side_arguments(parser: argparse.ArgumentParser, *, ours: str, theirs: str) -> None:
    """Declare `--ours` and `--theirs`, of which at most one is given."""
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--ours", action="store_true", help=ours)
    side.add_argument("--theirs", action="store_true", help=theirs)


def side_of(options: argparse.Namespace) -> Side:
    """Return the side that is taken; empty where a person has chosen none."""
    return "ours" if options.ours else "theirs" if options.theirs else ""
