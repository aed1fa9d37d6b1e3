"""hygiene.json and refcount.json: in the shapes of their tools, and there and back."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from driving import NOW, done, memories

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory
from memrepo.core.times import format_time, parse_time
from memrepo.views.bundles import HYGIENE, SIZE, Logged, hygiene_files


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def filled(base: Path, name: str) -> Path:
    """Return a repository with two facts and a note, as any clone would make them."""
    done(base, "init", name)
    repo = base / name
    for text in ("The shed is red.", "The pump is new.", "The gate is oak."):
        done(repo, "add", text)
    done(repo, "add", "Vera came by and took the spare key.", "--type", "note", "--title", "Key")
    return repo


def ids(repo: Path) -> dict[str, str]:
    return {m.body.split()[1]: m.id for m in memories(repo).values()}


def exported(repo: Path, to: Path, kind: str, now: str) -> dict[str, Any]:
    done(repo, "export", kind, to, "--force", now=now)
    return json.loads((to / f"{kind}.json").read_text())


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
