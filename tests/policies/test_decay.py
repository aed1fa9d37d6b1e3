"""Decay: every class at its second, soft decay by time, holds, protection."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from driving import CLASSIC

from memrepo.core.access import RETRIEVAL, Access, Accesses, Event, fold, seconds
from memrepo.core.memory import Memory, Stamp
from memrepo.policies.ageing import prunable, retention_of
from memrepo.policies.rules import REFRESHED, TTLS

T0 = datetime(2026, 3, 1, 9, tzinfo=UTC)


RULES = CLASSIC.decay


S, H, D = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)


MORTAL = [(name, ttl) for name, ttl in TTLS.items() if ttl is not None]


def memory(cls: str = "", body: str = "plain words", **fields: Any) -> Memory:
    base: dict[str, Any] = {"id": "mem-0000000000000001", "type": "fact", "created": T0}
    if cls:
        base["decay"] = cls
    return Memory.of("memories/knowledge/a-000000.md", {**base, **fields}, body=body)


def read(*times: datetime) -> Access:
    return fold(Event(kind=RETRIEVAL, at=seconds(t), session="s", memory="m") for t in times).of(
        "m"
    )


@pytest.mark.parametrize(("cls", "ttl"), MORTAL)
@pytest.mark.parametrize(("shift", "expired"), [(-S, False), (0 * S, False), (S, True)])
def test_each_class_expires_one_second_after_its_time(
    cls: str, ttl: timedelta, shift: timedelta, expired: bool
) -> None:
    assert retention_of(memory(cls), read(), T0 + ttl + shift, RULES).expired is expired


@pytest.mark.parametrize(("cls", "ttl"), MORTAL)
@pytest.mark.parametrize(
    ("sixteenths", "shift", "confidence"),
    [
        (0, -S, 1.0),
        (0, 0 * S, 1.0),
        (0, S, 0.5),
        (1, -S, 0.5),
        (1, 0 * S, 0.5),
        (1, S, 0.25),
        (2, -S, 0.25),
        (2, 0 * S, 0.25),
        (2, S, 0.125),
        (3, -S, 0.125),
        (3, 0 * S, 0.125),
        (3, S, 0.0625),
    ],
)
def test_confidence_is_halved_with_each_sixteenth_past_three_quarters(
    cls: str, ttl: timedelta, sixteenths: int, shift: timedelta, confidence: float
) -> None:
    at = T0 + 0.75 * ttl + sixteenths * ttl / 16 + shift
    if ttl >= 16 * H:
        assert retention_of(memory(cls), read(), at, RULES).confidence == confidence


@pytest.mark.parametrize(("cls", "ttl"), MORTAL)
def test_a_retrieval_refreshes_four_classes_and_confirming_all(cls: str, ttl: timedelta) -> None:
    at = T0 + ttl / 2
    expected = at + ttl if cls in REFRESHED else T0 + ttl
    assert retention_of(memory(cls), read(at), at, RULES).expires == expected
    confirmed = memory(cls, verified=(Stamp(by="process:x", at=at),))
    assert retention_of(confirmed, read(), at, RULES).expires == at + ttl


@pytest.mark.parametrize(("shift", "expired"), [(-S, False), (0 * S, False), (S, True)])
def test_a_future_date_holds_decay_until_its_day_has_passed(
    shift: timedelta, expired: bool
) -> None:
    of = memory("short", body="The fair opens on 2026-04-10.")
    end = datetime(2026, 4, 11, tzinfo=UTC)
    kept = retention_of(of, read(), end + shift, RULES)
    assert kept.expired is expired
    assert retention_of(of, read(), end - S, RULES).confidence == 1.0


@pytest.mark.parametrize(
    "fields",
    [
        {"decay": "permanent", "confidence": 0.01},
        {"pinned": True},
        {"critical": True},
        {"user_marked": True},
        {"verified": (Stamp(by="human:a@example.org", at=T0 - 500 * D),)},
        {"status": "archived"},
        {"status": "superseded"},
        {"type": "note"},
        {"type": "chunk"},
    ],
)
def test_what_is_protected_is_never_pruned(fields: dict[str, Any]) -> None:
    of = memory("short").with_fields(fields)
    assert prunable([of], Accesses(), T0 + 999 * D, RULES) == []
