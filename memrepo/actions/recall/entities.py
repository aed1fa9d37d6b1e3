"""`memrepo entities`: who and what the memories mention, under all their names."""

from __future__ import annotations

import difflib
from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
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


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `entities`."""

    name: Annotated[
        str, option("one of them, by any of its names; all when left out", metavar="NAME")
    ] = ""


def do(work: Work, request: Request) -> Answer:
    """List all entities of the active memories, or the memories of one."""
    state = work.tree.state()
    known = catalogue(state.active, work.config.get("entities.aliases"))
    if not request.name:
        rows = [_row(entity) for entity in known.entities]
        lines = [counted(len(rows), "entity", "entities")]
        lines += [f"{row['count']:>5}  {_names(row)}" for row in rows]
        return Answer(data={"entities": rows}, text="\n".join(lines))
    entity = known.find(request.name)
    if entity is None:
        raise NoSuchEntity(request.name, known)
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
