"""What is told of a run: its events, the operator's report, and what a chat may see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memrepo.views.report import (
    RunRecord,
    chat,
    last_run,
)

NOW = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
RUN = "20260301T223000Z-0123abcd"
COUNTED: dict[str, int | str] = {
    "prompt": 1200,
    "completion": 80,
    "total": 1280,
    "source": "exact",
}


def told(status: str = "ok", **more: Any) -> RunRecord:
    """Return a run that ended with a status, in a zone where it is the next day already."""
    given: dict[str, Any] = {
        "run": RUN,
        "counts": {"memories_new": 3, "superseded": 1, "contested": 0, "notes_new": 2},
        "tokens": COUNTED,
        "cost_usd": 0.0123,
        "views": ("LTMEMORY.md",),
        "warnings": ("a.md: unit-cut found\na cut",),
        "quarantined": 1,
        "claims_total": 40,
    }
    return RunRecord(
        run_id="20260301T223000Z",
        component="memrepo",
        agent="jeeves",
        profile="personal",
        mode="incremental",
        zone="Asia/Manila",
        started=NOW,
        finished=NOW + timedelta(seconds=65),
        status=status,
        **(more or given),
    )


def test_the_report_names_run_counts_views_issues_and_tokens() -> None:
    assert (
        last_run(told())
        == """\
# Last run: ok

## Run

- id: 20260301T223000Z-0123abcd
- mode: incremental
- profile: personal
- started: 2026-03-02 06:30:00 Asia/Manila
- finished: 2026-03-02 06:31:05 Asia/Manila

## Memories

- 3 new memories
- 1 replaced by newer statements
- 2 new notes
- 40 active claims in all

## Views

- LTMEMORY.md

## Issues

- a.md: unit-cut found a cut
- 1 quarantined (see the manifest)

## Tokens

- 1200 in, 80 out, 1280 in all (exact)
- 0.0123 USD
"""
    )


def test_a_failure_is_told_on_one_line_with_what_mends_it() -> None:
    failed = told("failed", why="the model\u200b\nsaid no", fix="ask again")
    assert chat(failed, enabled=True, mode="summary") == (
        "memrepo: the run failed: the model said no\nask again"
    )
    assert "- why: the model said no\n- try: ask again\n" in last_run(failed)
