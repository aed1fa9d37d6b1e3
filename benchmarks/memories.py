"""Memories to measure with: all alike, none equal, nothing random."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.measure import Machine
from memrepo.actions.landing import prepare
from memrepo.core.ids import claim_id, text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.core.messages import Context
from memrepo.core.state import Create, Step
from memrepo.store.repo import open_repository

START = datetime(2026, 1, 1, tzinfo=UTC)


def memories(count: int) -> list[Memory]:
    """Make `count` memories such as a run makes them."""
    return [_memory(number) for number in range(count)]


def filled(machine: Machine, where: Path, found: Sequence[Memory]) -> None:
    """Make a repository that one run has filled with memories."""
    machine.memrepo("init", str(where), where=where.parent)
    with open_repository(where) as store:
        head, what = store.head(), f"{len(found)} memories"
        changes = tuple(Create(memory=memory) for memory in found)
        landing = prepare(
            store,
            store.snapshot(head).state(),
            head,
            (Step(op="create", what=what, changes=changes),),
            Context(actor="memrepo/0", run="20260101T000000Z-00000000"),
            START,
            merge=Step(op="run", what=f"{len(found)} new"),
        )
        store.land(landing.chain, "filled")


def _memory(number: int) -> Memory:
    text = f"The depot of line {number} closes at {number % 24:02}:30, and its gate {number} stays."
    when = START + timedelta(hours=number)
    day = when.date().isoformat()
    id_ = claim_id(scope="", subject=f"Line {number}", predicate="closes", object_="", text=text)
    path = Layout().memory(id_=id_, type_="fact", text=text, captured=day)
    source = Source(
        resource="sources/MEMORY.md",
        lines=(number + 1, number + 1),
        text_hash=text_hash(text),
        captured=day,
        captured_from="heading",
    )
    fields = {
        "id": id_,
        "type": "fact",
        "subject": f"Line {number}",
        "predicate": "closes",
        "created": when,
        "generated": Stamp(by="memrepo/0", at=when),
        "confidence": 0.75,
        "tags": ("depot", f"line-{number % 7}"),
        "sources": (source,),
        "origin": "purifier",
    }
    return Memory.of(path=path, fields=fields, body=text)
