"""`memrepo config`: show the keys, their values and where each is set.

A key is set in `memrepo.toml` itself, or with `git config` if it must not be in a repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from memrepo.actions.work import VerbResult, Work, option, outside
from memrepo.config import (
    DEFAULTS,
    KEYS,
    OUTSIDE,
    git_name,
    line_of,
    nearest_key,
)
from memrepo.core.errors import UsageError
from memrepo.store import settings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo config`."""

    key: Annotated[str, option("explain one key, such as run.max_usd", metavar="KEY")] = ""


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """A key, its value and default as JSON, where the value is from, and what it may be."""

    key: str
    value: Any
    from_: str = msgspec.field(name="from")
    doc: str
    expected: str = "a text"
    default: Any = None
    set_in: str
    """Where the key is set: a line for a file, or a command."""


class Result(VerbResult, frozen=True, kw_only=True):
    """Configuration keys, and the settings stored outside the repository."""

    keys: tuple[KeyRow, ...]


def do(work: Work, request: Request) -> Result:
    """Return all keys, or the one that was named."""
    rows = [row for row in _rows(work) if request.key in ("", row.key)]
    if not request.key:
        rows = [row for row in rows if row.from_ != "not set"]
    if not rows:
        raise UsageError(f"{request.key} is not a configuration key", fix=nearest_key(request.key))
    return Result(keys=tuple(rows))


def _rows(work: Work) -> Iterator[KeyRow]:
    path, text = work.tree.layout.config, _text(work)
    for key in KEYS.values():
        line = line_of(text, key.name)
        section, _, name = key.name.rpartition(".")
        yield KeyRow(
            key=key.name,
            value=key.spell(work.config.value(key)),
            from_=f"{path}:{line}" if key.name in work.config.given else "default",
            doc=key.doc,
            expected=key.expected,
            default=key.spell(DEFAULTS[key.name]),
            set_in=f"{path}: {f'[{section}], ' if section else ''}{name} = ...",
        )
    found = outside(work)
    for name in OUTSIDE:
        yield KeyRow(
            key=name,
            value=found[name].value if name in found else None,
            from_=found[name].origin if name in found else "not set",
            doc="A personal setting; it is never read from a repository.",
            set_in=f"`git config memrepo.{git_name(name)} ...`, or with --global",
        )
    workspace = settings.workspace(work.store.repo)
    yield KeyRow(
        key=settings.WORKSPACE,
        value=str(workspace) if workspace else None,
        from_=".git/config" if workspace else "not set",
        doc="The agent workspace that sources/ mirrors in this clone.",
        set_in=f"`git config {settings.WORKSPACE} DIR`",
    )


def _text(work: Work) -> str:
    path = work.tree.layout.config
    data = work.store.work.read(path)
    return (work.tree.files[path] if data is None else data).decode()
