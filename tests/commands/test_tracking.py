"""hygiene.json and the files of its months."""

from __future__ import annotations

import json
from datetime import timedelta

from driving import NOW

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory
from memrepo.core.times import parse_time
from memrepo.views.bundles import HYGIENE, SIZE, Logged, hygiene_files


def test_old_log_entries_go_to_the_file_of_their_month_and_the_tracker_stays_small() -> None:
    now = parse_time(NOW)
    memory = Memory.of(
        path="memories/knowledge/2026-01/shed-123456.md",
        body="The shed.",
        fields={"id": "mem-1234560000000000", "type": "fact"},
    )
    logged = [
        Logged(op=op, memory=memory.id, when=now - timedelta(days=day), reason="r" * 40)
        for day in (0, *range(1, 400))
        for op in ("promote", "demote")
    ]
    files = hygiene_files({memory.id: memory}, Accesses(), logged, now)
    tracker = json.loads(files.pop(HYGIENE))
    rows = tracker["promotionLog"] + tracker["demotionLog"]
    assert len(json.dumps(tracker, indent=1)) <= SIZE
    assert min(r["at"] for r in rows) >= (now - timedelta(days=180)).date().isoformat()
    months = {name: json.loads(data) for name, data in files.items()}
    assert "hygiene-log-2025-03.json" in months
    for name, found in months.items():
        moved = found["promotionLog"] + found["demotionLog"]
        assert {f"hygiene-log-{r['at'][:7]}.json" for r in moved} == {name}
        rows += moved
    assert len(rows) == len(logged)
