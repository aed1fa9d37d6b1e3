"""`memrepo entities`: who and what the memories mention, under all their names."""

from __future__ import annotations

import argparse
import difflib
from typing import Any

from memrepo.actions.work import Answer, Session, opened
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.messages import counted, fold
from memrepo.core.state import State
from memrepo.policies.entities import Catalogue, Entity, catalogue


class NoSuchEntity(MemrepoError):
    """No memory mentions anything by this name."""

    exit_code = Exit.USAGE

    def __init__(self, name: str, known: Catalogue) -> None:
        near = difflib.get_close_matches(name.casefold(), known.by_name, n=1)
        super().__init__(
            f"no memory mentions {name!r}",
            fix=f"did you mean {known.by_name[near[0]].name}?"
            if near
            else "`memrepo entities` lists all names",
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="NAME",
        help="one of them, by any of its names; all when left out",
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List all entities of the active memories, or the memories of one."""
    with opened(session) as desk:
        state = desk.tree.state()
        known = catalogue(state.active, desk.config.get("entities.aliases"))
    if not options.name:
        rows = [_row(entity) for entity in known.entities]
        lines = [counted(len(rows), "entity", "entities")]
        lines += [f"{row['count']:>5}  {_names(row)}" for row in rows]
        return Answer(data={"entities": rows}, text="\n".join(lines))
    entity = known.find(options.name)
    if entity is None:
        raise NoSuchEntity(options.name, known)
    return _one(entity, state)


def _one(entity: Entity, state: State) -> Answer:
    row = _row(entity)
    found = [
        {
            "id": id_,
            "path": state.memories[id_].path,
            "text": state.memories[id_].body,
            "confirmed": id_ in entity.confirmed,
        }
        for id_ in entity.memories
    ]
    lines = [_names(row), *(f"  {m['id']}  {fold(str(m['text']), 80)}" for m in found)]
    return Answer(data={**row, "memories": found}, text="\n".join(lines))


def _row(entity: Entity) -> dict[str, Any]:
    return {
        "name": entity.name,
        "aliases": list(entity.aliases),
        "count": len(entity.memories),
        "confirmed": len(entity.confirmed),
        "memories": list(entity.memories),
    }


def _names(row: dict[str, Any]) -> str:
    names = visible(row["name"])
    return f"{names} ({', '.join(map(visible, row['aliases']))})" if row["aliases"] else names
