"""Keep what takes long to make from memrepo's own files, where Python keeps their byte code.

Each command is a process of its own. Compiling patterns and parsing tables would be half of its
time. Keys are the texts themselves, so that what is kept is never out of date. Nothing of a
repository is kept here.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")
Key = tuple[str | bytes, int | str]
_MAX_ENTRIES = 5000
"""A file with more entries, most of which are of earlier versions, is begun again."""


def kept(key: Key, make: Callable[[], T]) -> T:
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

    return kept((text, "toml"), values)


def read_table(path: Path) -> Any:
    """Return the values of a TOML file that is part of memrepo."""
    return parsed(path.read_text(encoding="utf-8"))


def _path() -> Path:
    return Path(str(__spec__.cached)).with_suffix(".data")


@cache
def _entries() -> dict[Key, bytes]:
    """Return what is kept, which is nothing if the file is damaged or from another Python."""
    try:
        version, found = marshal.loads(_path().read_bytes())  # noqa: S302 as byte code is loaded
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
    made = _path().with_suffix(f".{os.getpid()}")
    try:
        made.write_bytes(marshal.dumps((sys.version, _entries())))
        made.replace(_path())
    except OSError:
        made.unlink(missing_ok=True)
