"""`memrepo config show`: effective configuration, with where each value comes from."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from memrepo.actions.setup.outside import outside
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.config import KEYS, line_of
from memrepo.store import settings


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("what", choices=("show",), help="show every key")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List every key with its value and origin."""
    del options
    with opened(session) as desk:
        rows = _rows(desk)
    lines = [
        f"{r['key']} = {json.dumps(r['value'], ensure_ascii=False)}  # {r['from']}" for r in rows
    ]
    return Answer(data={"keys": rows}, text="\n".join(lines))


def _rows(desk: Desk) -> list[dict[str, Any]]:
    data = desk.store.work.read(desk.tree.layout.config)
    text = (desk.tree.files[desk.tree.layout.config] if data is None else data).decode()
    rows = []
    for key in KEYS:
        value = desk.config.get(key.name)
        given = key.name in desk.config.given
        rows.append(
            {
                "key": key.name,
                "value": _plain(value),
                "from": f"{desk.tree.layout.config}:{line_of(text, key.name)}"
                if given
                else "default",
                "doc": key.doc,
            }
        )
    for name, setting in outside(desk).items():
        rows.append(
            {
                "key": name,
                "value": setting.value,
                "from": setting.origin,
                "doc": "A person's own setting, which no repository may carry.",
            }
        )
    workspace = settings.workspace(desk.store.repo)
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
