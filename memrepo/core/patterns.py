"""Regular expressions that are compiled on first use.

A command uses only some patterns of the modules it imports. Compiling a pattern takes longer than
most commands use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import AnyStr, cast


class _Regex:
    """A proxy of a pattern that is compiled on first use."""

    def __init__(self, spell: Callable[[], str | bytes], flags: int) -> None:
        self._spell = spell
        self._given = flags

    def __getattr__(self, name: str) -> object:
        """Compile the pattern, and store the attribute so that later accesses are direct."""
        if name == "pattern":
            found: object = self._spell()
        else:
            found = getattr(re.compile(self._spell(), self._given), name)
        setattr(self, name, found)
        return found


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy equivalent of `re.compile`. An invalid pattern raises an error on first use."""
    return spelled(lambda: pattern, flags)


def spelled(spell: Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy pattern, as `regex` does, from a text that is also built on first use."""
    return cast("re.Pattern[AnyStr]", _Regex(spell, flags))
