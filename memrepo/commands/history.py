"""`memrepo history`: every commit of one memory, and which fields it changed."""

from __future__ import annotations

import argparse

from memrepo.commands.finding import find
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.core import codec
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.schema import FIELDS
from memrepo.store import history
from memrepo.store.tree import file_at


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """List the commits that wrote the memory's file, newest first."""
    with opened(session) as desk:
        memory = find(desk.tree.state(), options.id)
        found = [
            (entry, _changed(desk, entry, memory.path))
            for entry in history.entries(desk.store.repo, desk.tree.commit, "--", memory.path)
        ]
        zone = desk.config.zone
    lines = []
    for entry, fields in found:
        when = f"{entry.when.astimezone(zone):%Y-%m-%d %H:%M}"
        lines.append(f"{when}  {entry.commit[:10]}  {visible(entry.subject)}")
        why = visible(entry.trailer("Reason")) or f"by {visible(entry.author)}"
        lines.append(f"{'':30}{why}; wrote {', '.join(fields) or 'nothing that is read'}")
    data = [{**entry.as_json(), "fields": fields} for entry, fields in found]
    return Answer(data={"id": memory.id, "entries": data}, text="\n".join(lines))


def _changed(desk: Desk, entry: history.Entry, path: str) -> list[str]:
    after = _at(desk, entry.commit, path)
    before = _at(desk, entry.parents[0], path) if entry.parents else None
    if after is None or before is None:
        return ["everything"] if after is not before else []
    names = [f.name for f in FIELDS if after.fields.get(f.name) != before.fields.get(f.name)]
    return [*names, *(["text"] if after.body != before.body else [])]


def _at(desk: Desk, commit: str, path: str) -> Memory | None:
    data = file_at(desk.store.repo, commit, path)
    return None if data is None else codec.decode(path, data)[0]
