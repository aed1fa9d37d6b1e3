"""Patterns compiled on first use, tables parsed once for all processes, and the lines of a text.

A command uses only some patterns of the modules it imports. Each command is a process of its own:
compiling patterns and parsing tables would be half of its time. Both are made from memrepo's own
files, so they are kept where Python keeps the byte code of these. Keys are the texts themselves, so
that what is kept is never out of date. Nothing of a repository is kept here.
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, AnyStr, TypeAlias, TypeVar, cast
from zlib import crc32

T = TypeVar("T")
Key = tuple[str | bytes, int | str]
_MAX_ENTRIES = 5000
"""A file with more entries, most of which are of earlier versions, is begun again."""
_SUM = 4
"""The length of the checksum with which the file begins: a damaged pattern would miss secrets."""


def load_or_make(key: Key, make: Callable[[], T]) -> T:
    """Return what an earlier process made for a key, or make it now and keep it.

    It consists of texts, numbers, lists, tuples and mappings.
    """
    entries = _entries()
    if (found := entries.get(key)) is not None:
        return cast("T", marshal.loads(found))  # noqa: S302 made below
    made = make()
    _save_at_exit()
    entries[key] = marshal.dumps(cast("Any", made))
    return made


def parsed(text: str) -> Any:
    """Return the values of a text in TOML that is part of memrepo."""

    def values() -> object:
        import tomllib

        return tomllib.loads(text)

    return load_or_make((text, "toml"), values)


def read_table(path: Path) -> Any:
    """Return the values of a TOML file that is part of memrepo."""
    return parsed(path.read_text(encoding="utf-8"))


def _path() -> Path:
    return Path(str(__spec__.cached)).with_suffix(".data")


@cache
def _entries() -> dict[Key, bytes]:
    """Return what is kept, which is nothing if the file is damaged or from another Python."""
    try:
        data = _path().read_bytes()
        if crc32(data[_SUM:]) != int.from_bytes(data[:_SUM]):
            return {}
        version, found = marshal.loads(data[_SUM:])  # noqa: S302 as byte code is loaded
    except (OSError, EOFError, TypeError, ValueError):
        return {}
    return found if version == sys.version and len(found) < _MAX_ENTRIES else {}


@cache
def _save_at_exit() -> None:
    atexit.register(_save)


def _save() -> None:
    """Replace the file. Where Python may write no byte code, nothing is kept either."""
    if sys.dont_write_bytecode:
        return
    made, data = _path().with_suffix(f".{os.getpid()}"), marshal.dumps((sys.version, _entries()))
    try:
        made.write_bytes(crc32(data).to_bytes(_SUM) + data)
        made.replace(_path())
    except OSError:
        with suppress(OSError):  # the file system may be read-only
            made.unlink(missing_ok=True)


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
        code = load_or_make((pattern, flags), lambda: _coded(pattern, flags))
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


Line: TypeAlias = tuple[str, str]
"""The text of a line and its line ending, which is empty only for a last line without newline."""

_LINE = regex(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_ODD_END = regex(r"\r\n?")


def without_comments(text: str) -> str:
    """Remove HTML comments from a text. Unclosed comments remain."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join((*parts, text[at:])) if parts else text


def split_lines(text: str) -> list[Line]:
    r"""Split a text only at `\n`, `\r\n` and `\r`. Joining the lines restores the text."""
    lines: list[Line] = _LINE.findall(text)
    # The pattern always matches an additional empty string at the end.
    lines.pop()
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    r"""Join lines into a text.

    A `\r` directly before an empty line that ends with `\n` becomes `\r\n`, because the two would
    be read as one line ending.
    """
    parts: list[str] = []
    for text, end in lines:
        if not text and end.startswith("\n") and parts and parts[-1] == "\r":
            parts[-1] = "\r\n"
        parts += (text, end) if text else (end,)
    return "".join(parts)


def dominant_end(*groups: Iterable[Line]) -> str:
    r"""Return the most common line ending in the first group that has any, or else `\n`."""
    for group in groups:
        counted = Counter(end for _, end in group if end)
        if counted:
            return counted.most_common(1)[0][0]
    return "\n"


def unix(text: str) -> str:
    r"""Convert every line ending to `\n`."""
    return _ODD_END.sub("\n", text) if "\r" in text else text


def find_conflict(text: str) -> int:
    """Return the line number of git's first conflict marker, or 0. Fenced code is ignored."""
    if "<<<<<<< " not in text:
        return 0
    fence, opened, has_middle = "", 0, False
    for number, (line, _) in enumerate(split_lines(text), start=1):
        if opened:
            has_middle |= line.startswith("=======") and not line.strip("=")
            if has_middle and line.startswith(">>>>>>> "):
                return opened
        elif fence or line.startswith(("```", "~~~")):
            fence = "" if fence and line.startswith(fence) else fence or line[:3]
        elif line.startswith("<<<<<<< "):
            opened = number
    return 0
