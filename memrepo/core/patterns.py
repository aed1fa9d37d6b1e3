"""Regular expressions that are compiled on first use.

A command uses only some patterns of the modules it imports. Compiling a pattern takes longer than
most commands use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import AnyStr, cast

from memrepo.core.kept import kept


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
            found = getattr(_compiled(self._spell(), int(self._given)), name)
        setattr(self, name, found)
        return found


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return `re.compile(pattern, flags)`, whose code is kept for the next process.

    It is for the patterns of memrepo's own code and tables.
    """
    return cast("re.Pattern[AnyStr]", _compiled(pattern, int(flags)))


@cache
def _compiled(pattern: str | bytes, flags: int) -> object:
    try:
        code = kept((pattern, flags), lambda: _coded(pattern, flags))
        return import_module("_sre").compile(pattern, *code)
    except (ImportError, AttributeError, TypeError):  # another implementation of `re`
        return re.compile(pattern, flags)


def _coded(pattern: str | bytes, flags: int) -> tuple[object, ...]:
    """Return what `re` makes of a pattern, as `_sre.compile` takes it."""
    parsed = import_module("re._parser").parse(pattern, flags)
    state, code = parsed.state, import_module("re._compiler")._code(parsed, flags)  # noqa: SLF001
    names = {place: name for name, place in state.groupdict.items()}
    named = tuple(map(names.get, range(state.groups)))
    return flags | state.flags, [*map(int, code)], state.groups - 1, state.groupdict, named


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy equivalent of `re.compile`. An invalid pattern raises an error on first use."""
    return spelled(lambda: pattern, flags)


def spelled(spell: Callable[[], AnyStr], flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a lazy pattern, as `regex` does, from a text that is also built on first use."""
    return cast("re.Pattern[AnyStr]", _Regex(spell, flags))
