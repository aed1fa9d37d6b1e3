"""Numbers on the command line, each within the bounds of what it counts."""

from __future__ import annotations

import argparse
import math


def percent(text: str) -> float:
    """Read a percentage; raises ArgumentTypeError outside 0 to 100."""
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"found {text}, expected a number from 0 to 100")
    return value


def amount(text: str) -> float:
    """Read an amount of money; raises ArgumentTypeError for a negative or endless one."""
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"found {text}, expected an amount from 0")
    return value


def whole(text: str) -> int:
    """Read a whole number; raises ArgumentTypeError below 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 1")
    return value
