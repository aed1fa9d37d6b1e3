"""What one check of `doctor` finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from memrepo.actions.work import Work
from memrepo.core.problems import Problem


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one check found; `fixed` says that --fix mended it, `problems` names every case."""

    name: str
    ok: bool
    message: str
    fixed: bool = False
    problems: tuple[Problem, ...] = ()


Check: TypeAlias = Callable[[Work, bool], Finding]
"""A check of an open repository; the second argument asks it to mend what it can."""
