"""`memrepo config show`: effective configuration, with where each value comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.setup.outside import outside
from memrepo.actions.work import Answer, Work
from memrepo.config import KEYS, line_of
from memrepo.store import settings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `config`."""

    what: Annotated[str, option("show every key", choices=("show",))]


def do(work: Work, request: Request) -> Answer:
    """List every key with its value and origin."""
    del request
    rows = _rows(work)
    lines = [
        f"{r['key']} = {json.dumps(r['value'], ensure_ascii=False)}  # {r['from']}" for r in rows
    ]
    return Answer(data={"keys": rows}, text="\n".join(lines))


def _rows(work: Work) -> list[dict[str, Any]]:
    data = work.store.work.read(work.tree.layout.config)
    text = (work.tree.files[work.tree.layout.config] if data is None else data).decode()
    rows = []
    for key in KEYS:
        value = work.config.get(key.name)
        given = key.name in work.config.given
        rows.append(
            {
                "key": key.name,
                "value": _plain(value),
                "from": f"{work.tree.layout.config}:{line_of(text, key.name)}"
                if given
                else "default",
                "doc": key.doc,
            }
        )
    for name, setting in outside(work).items():
        rows.append(
            {
                "key": name,
                "value": setting.value,
                "from": setting.origin,
                "doc": "A person's own setting, which no repository may carry.",
            }
        )
    workspace = settings.workspace(work.store.repo)
    if workspace is not None:
        rows.append(
            {
                "key": settings.WORKSPACE,
                "value": str(workspace),
                "from": ".git/config",
                "doc": "The agent workspace that sources/ mirrors in this clone.",
            }
        )
    return rows


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return list(value) if isinstance(value, tuple) else value
