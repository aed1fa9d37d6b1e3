"""`memrepo config show`: effective configuration, with where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from memrepo.actions import result
from memrepo.actions.local import outside
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.config import KEYS, line_of
from memrepo.store import settings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `config`."""

    what: Annotated[Literal["show"], option("show every key", choices=("show",))]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One key, its value as JSON has it, where that comes from, and what the key is for."""

    key: str
    value: Any
    from_: str = msgspec.field(name="from")
    doc: str


class Result(result.Result, frozen=True, kw_only=True):
    """Every key of the configuration, and the settings that no repository may carry."""

    keys: tuple[Row, ...]


def do(work: Work, request: Request) -> Result:
    """List every key with its value and origin."""
    del request
    return Result(keys=tuple(_rows(work)))


def _rows(work: Work) -> Iterator[Row]:
    path = work.tree.layout.config
    data = work.store.work.read(path)
    text = (work.tree.files[path] if data is None else data).decode()
    for key in KEYS:
        given = key.name in work.config.given
        yield Row(
            key=key.name,
            value=_plain(work.config.get(key.name)),
            from_=f"{path}:{line_of(text, key.name)}" if given else "default",
            doc=key.doc,
        )
    for name, setting in outside(work).items():
        doc = "A person's own setting, which no repository may carry."
        yield Row(key=name, value=setting.value, from_=setting.origin, doc=doc)
    workspace = settings.workspace(work.store.repo)
    if workspace is not None:
        doc = "The agent workspace that sources/ mirrors in this clone."
        yield Row(key=settings.WORKSPACE, value=str(workspace), from_=".git/config", doc=doc)


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value
