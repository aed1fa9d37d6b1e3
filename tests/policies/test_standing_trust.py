"""Trust: a person's word or confirmation, a program's, and never more than the evidence bears."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.core.memory import Memory, Source, Stamp
from memrepo.policies.standing import trust_of

PERSON, PROGRAM = "human:ana@example.org", "memrepo/0.1.0"


def memory(written: str, *confirmed: str, kinds: tuple[str, ...]) -> Memory:
    days = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 9)]
    return Memory(
        path="memories/facts/m.md",
        body="x",
        fields={
            "generated": Stamp(by=written, at=days[0]),
            "verified": tuple(Stamp(by=by, at=days[1]) for by in confirmed),
            "sources": tuple(
                Source(resource="sources/a.md", lines=(1, 1), kind=kind) for kind in kinds
            ),
        },
    )


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (memory(PERSON, kinds=()), "human-reviewed"),
        (memory(PERSON, kinds=("direct",)), "human-reviewed"),
        (memory(PERSON, kinds=("direct", "inferred")), "human-reviewed"),
        (memory(PERSON, kinds=("inferred",)), "unverified"),
        (memory(PERSON, PERSON, kinds=("inferred",)), "human-reviewed"),
        (memory(PROGRAM, PERSON, kinds=("inferred", "inferred")), "human-reviewed"),
        (memory(PROGRAM, PROGRAM, kinds=("inferred",)), "unverified"),
        (memory(PROGRAM, PROGRAM, kinds=("merged",)), "machine-confirmed"),
        (memory(PROGRAM, PROGRAM, kinds=()), "machine-confirmed"),
        (memory(PROGRAM, kinds=("direct",)), "unverified"),
    ],
)
def test_trust_is_never_above_that_of_the_evidence(found: Memory, wanted: str) -> None:
    assert trust_of(found) == wanted
