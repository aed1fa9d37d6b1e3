"""Regular expressions that are compiled on first use.

A command uses only some patterns of the modules it imports. Compiling a pattern takes longer than
most commands use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
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


class _Wide(_Regex):
    """A pattern none of whose characters is ASCII. An ASCII text needs no search, nor a compile.

    Compiling the ranges of a script takes longer than all that a short command does with words.
    """

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """Return the first match in a text, or None."""
        return None if text.isascii() else self.compiled.search(text, *span)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        """Return the match at the beginning of a text, or None."""
        return None if text.isascii() else self.compiled.match(text, *span)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the pattern itself."""
        return re.compile(cast("str", self._spell()), self._given)


def wide(pattern: str) -> re.Pattern[str]:
    """Return a lazy pattern of characters beyond ASCII, with `search` and `match`."""
    return cast("re.Pattern[str]", _Wide(lambda: pattern, 0))


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy equivalent of `re.compile`. An invalid pattern raises an error on first use."""
    return spelled(lambda: pattern, flags)


def spelled(spell: Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy pattern, as `regex` does, from a text that is also built on first use."""
    return cast("re.Pattern[AnyStr]", _Regex(spell, flags))
