"""When a memory was last borne out, as the index keeps it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memrepo.core.access import seconds
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.store.tables import seen

NOW = datetime(2026, 3, 8, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("captured", "verified", "created", "wanted"),
    [
        (("2026-01-05", "2026-02-01"), None, NOW, datetime(2026, 2, 1, tzinfo=UTC)),
        (("2026-01-05",), NOW, None, NOW),
        (("",), None, NOW - DAY, NOW - DAY),
        ((), None, NOW, NOW),
        ((), None, None, None),
    ],
)
def test_a_memory_was_last_seen_at_its_newest_evidence_or_else_when_it_was_made(
    captured: tuple[str, ...],
    verified: datetime | None,
    created: datetime | None,
    wanted: datetime | None,
) -> None:
    fields: dict[str, object] = {
        "sources": tuple(Source(resource="s", captured=c) for c in captured)
    }
    if verified:
        fields["verified"] = (Stamp(by="human:a@b.c"), Stamp(by="human:a@b.c", at=verified))
    if created:
        fields["created"] = created
    assert seen(Memory(path="m.md", fields=fields)) == (seconds(wanted) if wanted else 0)
