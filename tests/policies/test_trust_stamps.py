"""A confirmation counts for the wording that it was given to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memrepo.core.memory import Memory, Stamp
from memrepo.policies.trust import trust_of

T0 = datetime(2026, 3, 1, tzinfo=UTC)
S = timedelta(seconds=1)
PERSON, PROGRAM = "human:ana@example.org", "memrepo/0.1.0"


@pytest.mark.parametrize(
    ("written", "stamp", "wanted"),
    [
        (Stamp(by=PROGRAM, at=T0), Stamp(by=PERSON, at=T0), "human-reviewed"),
        (Stamp(by=PROGRAM, at=T0), Stamp(by=PERSON, at=T0 - S), "unverified"),
        (Stamp(by=PROGRAM, at=T0), Stamp(by=PROGRAM, at=T0 + S), "machine-confirmed"),
        (Stamp(by=PROGRAM, at=T0), Stamp(by=PERSON), "human-reviewed"),
        (Stamp(by=PROGRAM), Stamp(by=PERSON, at=T0), "human-reviewed"),
        (None, Stamp(by=PROGRAM, at=T0), "machine-confirmed"),
        (None, None, "unverified"),
    ],
)
def test_one_from_before_the_last_change_is_none(
    written: Stamp | None, stamp: Stamp | None, wanted: str
) -> None:
    fields = {"generated": written, "verified": (stamp,) if stamp else ()}
    found = Memory(path="m.md", fields={k: v for k, v in fields.items() if v is not None}, body="x")
    assert trust_of(found) == wanted
