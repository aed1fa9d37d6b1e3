"""Memories by the hundred: most of them worth a summary, some of them never to be touched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memrepo.actions.landing import prepare
from memrepo.core.ids import claim_id
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.core.messages import Context
from memrepo.core.state import Create, Step
from memrepo.store.repo import open_repository

BORN = datetime(2026, 2, 20, tzinfo=UTC)
ABOUT = ("the harbour crane", "the Alpha depot", "the night train", "the old orchard", "the kiosk")
HEDGED = (
    "Maybe {about} needs paint in bay {n}.",
    "Perhaps {about} was late again in slot {n}.",
    "Not sure whether {about} got parcel {n}.",
    "I think {about} hums at {n} hertz.",
)
KEPT: tuple[dict[str, Any], ...] = (
    {"pinned": True},
    {"critical": True},
    {"decay": "permanent"},
    {"entities": ("Alpha",)},
    {"tags": ("Decision",)},
    {"type": "commitment"},
    {"type": "preference"},
    {"user_marked": True},
    {"standing": "contested"},
)
"""What keeps a memory from being compressed, one each."""


def memory(number: int, text: str, **fields: Any) -> Memory:
    """Return a memory that nobody has asked for; the higher its number, the newer it is."""
    id_ = claim_id(scope="", subject="", predicate="", object_="", text=f"{text} {number}")
    given = {"id": id_, "type": "fact", "created": BORN + number * _STEP, **fields}
    path = Layout().memory(id_=id_, type_=given["type"], text=f"entry {number}", captured="")
    return Memory.of(path, given, body=text)


_STEP = timedelta(minutes=1)


def hoard(count: int) -> list[Memory]:
    """Make memories: of ten, eight are hedged, one is plain, and one is protected."""
    return [_one(number) for number in range(count)]


def _one(number: int) -> Memory:
    if number % 10 == 9:
        return memory(number, f"The board beside gate {number} lists the rules of the lane.")
    about = ABOUT[number % len(ABOUT)]
    text = HEDGED[number // 5 % len(HEDGED)].format(about=about, n=number)
    kept = KEPT[number // 10 % len(KEPT)] if number % 10 == 8 else {}
    return memory(number, text, **kept)


def stored(repo: Path, found: list[Memory]) -> None:
    """Commit memories to a repository, in one commit."""
    with open_repository(repo) as store:
        head = store.head()
        step = Step(op="import", what="many", changes=tuple(Create(memory=m) for m in found))
        landing = prepare(
            store,
            store.snapshot(head).state(),
            head,
            (step,),
            Context(actor="memrepo/0"),
            BORN + timedelta(days=2),
        )
        store.land(landing.chain, "hoard")
