"""Regular expressions that are compiled when they are first used.

A command uses few of the patterns of what it imports, and compiling one takes longer than most
commands work with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import AnyStr, cast


class _Regex:
    """Stands for a compiled pattern until something is asked of it."""

    def __init__(self, spell: Callable[[], str | bytes], flags: int) -> None:
        self._spell = spell
        self._given = flags

    def __getattr__(self, name: str) -> object:
        """Compile, and keep what was asked for: the next time it is found without this method."""
        if name == "pattern":
            found: object = self._spell()
        else:
            found = getattr(re.compile(self._spell(), self._given), name)
        setattr(self, name, found)
        return found


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` does, by all that it answers; a mistake in it shows at first use."""
    return spelled(lambda: pattern, flags)


def spelled(spell: Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `regex` does, of a pattern that is put together when it is first used."""
    return cast("re.Pattern[AnyStr]", _Regex(spell, flags))
