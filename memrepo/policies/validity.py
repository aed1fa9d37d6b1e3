"""When a memory was true in the world, as far as its fields and its successors tell.

A span is half open: from `since` on, until just before `until`; None is open. Docs: docs/time.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.memory import Memory
from memrepo.core.times import EARLIEST, extent, format_time

Bound = Literal[
    "", "valid_from", "valid_until", "successor", "superseded_at", "predecessor", "unknown"
]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """From when and until when a memory held, and what says so; None and empty where nothing does.

    `successor`: the valid_from of what replaced it; `predecessor`: when it replaced another;
    `unknown`: it was replaced, and when is not on record, so that it counts as never true.
    """

    since: datetime | None = None
    until: datetime | None = None
    since_from: Bound = ""
    until_from: Bound = ""

    def holds(self, moment: datetime) -> bool:
        """Tell whether the memory was true at a moment."""
        return (self.since is None or self.since <= moment) and (
            self.until is None or moment < self.until
        )

    def as_json(self) -> dict[str, str | None]:
        """Return the JSON form; `until` is the first moment at which it no longer held."""
        unknown = self.until_from == "unknown"
        return {
            "since": format_time(self.since) if self.since else None,
            "since_from": self.since_from,
            "until": format_time(self.until) if self.until and not unknown else None,
            "until_from": self.until_from,
        }


def span_of(memory: Memory, memories: Mapping[str, Memory], zone: tzinfo) -> Span:
    """Return when a memory held; dates in its fields are days of the zone.

    It ends with valid_until (a date: with that day) or with its supersession, whichever is first:
    at the valid_from of its successor, else when it was superseded. It begins with valid_from,
    else when it replaced another. An archived or forgotten memory was true all the same.
    """
    since, since_from = _start(memory, memories, zone)
    span = Span(since=since, since_from=since_from)
    text = memory.text("valid_until")
    if text:
        span = replace(span, until=extent(text, zone)[1], until_from="valid_until")
    for end, why in _ends(memory, memories, zone):
        if span.until is None or end < span.until:
            span = replace(span, until=end, until_from=why)
    return span


def true_at(memories: Mapping[str, Memory], moment: datetime, zone: tzinfo) -> dict[str, Memory]:
    """Return the memories that held at a moment, whatever their status."""
    return {
        id_: memory
        for id_, memory in memories.items()
        if span_of(memory, memories, zone).holds(moment)
    }


def _start(
    memory: Memory, memories: Mapping[str, Memory], zone: tzinfo
) -> tuple[datetime | None, Bound]:
    if text := memory.text("valid_from"):
        return extent(text, zone)[0], "valid_from"
    replaced = (memories[id_] for id_ in memory.texts("supersedes") if id_ in memories)
    moments = [
        when
        for old in replaced
        if memory.id in old.texts("superseded_by") and (when := old.time("superseded_at"))
    ]
    return (min(moments), "predecessor") if moments else (None, "")


def _ends(
    memory: Memory, memories: Mapping[str, Memory], zone: tzinfo
) -> Iterator[tuple[datetime, Bound]]:
    """Yield when each successor took over; a memory that is active again was not replaced."""
    successors = memory.texts("superseded_by")
    if memory.status == "active" or not (successors or memory.status == "superseded"):
        return
    dated = [
        extent(text, zone)[0]
        for id_ in successors
        if id_ in memories and (text := memories[id_].text("valid_from"))
    ]
    yield from ((moment, "successor") for moment in dated)
    if len(dated) == len(successors) > 0:
        return
    when = memory.time("superseded_at")
    yield (when, "superseded_at") if when else (EARLIEST, "unknown")
