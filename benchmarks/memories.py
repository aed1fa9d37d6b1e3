"""Memories to measure with: all alike, none equal, nothing random."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memrepo.core.ids import claim_id, text_hash
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source, Stamp

START = datetime(2026, 1, 1, tzinfo=UTC)


def memories(count: int) -> list[Memory]:
    """Make `count` memories such as a run makes them."""
    return [_memory(number) for number in range(count)]


def _memory(number: int) -> Memory:
    text = f"The depot of line {number} closes at {number % 24:02}:30, and its gate {number} stays."
    when = START + timedelta(hours=number)
    day = when.date().isoformat()
    id_ = claim_id(scope="", subject=f"Line {number}", predicate="closes", object_="", text=text)
    path = Layout().memory(id_=id_, type_="fact", text=text, captured=day)
    source = Source(
        resource="sources/MEMORY.md", blob=f"{number:040x}", lines=(number + 1, number + 1),
        text_hash=text_hash(text), captured=day, captured_from="heading",
    )  # fmt: skip
    fields = {
        "id": id_, "type": "fact", "subject": f"Line {number}", "predicate": "closes",
        "home": "LTMEMORY.md", "created": when, "generated": Stamp(by="memrepo/0", at=when),
        "confidence": 0.75, "tags": ("depot", f"line-{number % 7}"), "sources": (source,),
        "origin": "purifier", "run": "20260101T000000Z-00000000",
    }  # fmt: skip
    return Memory(path=path, fields=fields, body=text)
