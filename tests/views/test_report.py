"""What is told of a run: its events, the operator's report, and what a chat may see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memrepo.views.report import (
    RunSummary,
    chat,
    ended_event,
    last_run,
)

NOW = datetime(2026, 3, 1, 22, 30, tzinfo=UTC)
RUN = "20260301T223000Z-0123abcd"
COUNTED = {"prompt": 1200, "completion": 80, "total": 1280, "source": "exact"}
DATA: dict[str, Any] = {
    "run": RUN,
    "counts": {"memories_new": 3, "superseded": 1, "contested": 0, "notes_new": 2},
    "tokens": COUNTED,
    "cost_usd": 0.0123,
    "views": ["LTMEMORY.md"],
    "warnings": [{"path": "a.md", "rule": "unit-cut", "message": "found\na cut"}],
    "quarantined": [{"id": "x"}],
    "downstream": {"manifest": "runs/m.json", "result": "done"},
}
CONTEXT = {
    "claims_total": 40,
    "next_schedule": {"when": "2026-03-02T17:15:00+08:00", "name": "incremental-2", "mode": "x"},
    "recall_surface": {"id": "mem-1", "standing": "contested", "text": "Is it\nvim?"},
}


def told(status: str = "ok", *, data: dict[str, Any] | None = None, **more: Any) -> RunSummary:
    """Return a run that ended with a status, in a zone where it is the next day already."""
    return RunSummary(
        run_id="20260301T223000Z",
        component="memrepo",
        agent="jeeves",
        profile="personal",
        mode="incremental",
        zone=ZoneInfo("Asia/Manila"),
        started=NOW,
        finished=NOW + timedelta(seconds=65),
        status=status,
        data=DATA if data is None else data,
        context=CONTEXT,
        **more,
    )


def test_an_event_says_who_ran_what_when_in_which_zone() -> None:
    event = ended_event(told())
    assert {k: v for k, v in event.items() if k not in ("token_usage", "details")} == {
        "timestamp": "2026-03-02T06:31:05+08:00",
        "timestamp_utc": "2026-03-01T22:31:05Z",
        "timezone": "Asia/Manila",
        "domain": "memory",
        "component": "memrepo",
        "event": "run_completed",
        "run_id": "20260301T223000Z",
        "status": "ok",
        "agent": "jeeves",
        "profile": "personal",
        "mode": "incremental",
    }
    assert event["token_usage"] == {
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "total_tokens": 1280,
        "source": "exact",
    }
    details = event["details"]
    assert (details["run"], details["claims_new"], details["claims_total"]) == (RUN, 3, 40)
    assert (details["supersession_count"], details["contradiction_count"]) == (1, 0)
    assert (details["warnings_count"], details["partial_failures_count"]) == (1, 1)
    assert details["rendered_views"] == ["LTMEMORY.md"]
    assert details["downstream_wiki_ingest_suggested"] is True
    assert details["duration_s"] == 65


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

## Downstream

- manifest: runs/m.json
- told
"""
    )


@pytest.mark.parametrize(
    ("status", "mode", "lines"),
    [
        ("ok", "silent", 0),
        ("failed", "silent", 0),
        ("held", "silent", 0),
        ("ok", "summary", 1),
        ("ok", "full", 9),
        ("partial", "summary", 1),
        ("held", "summary", 2),
        ("held", "full", 2),
        ("failed", "summary", 2),
        ("failed", "full", 2),
        ("upgrade_required", "summary", 2),
        ("skipped", "summary", 0),
        ("skipped", "full", 0),
        ("skipped_superseded", "full", 0),
        ("locked", "full", 0),
    ],
)
def test_a_chat_hears_as_much_as_its_mode_lets_through(status: str, mode: str, lines: int) -> None:
    assert len(chat(told(status), enabled=True, mode=mode).splitlines()) == lines


def test_a_failure_is_told_on_one_line_with_what_mends_it() -> None:
    failed = told("failed", data={}, error="the model\u200b\nsaid no", fix="ask again")
    assert chat(failed, enabled=True, mode="summary") == (
        "memrepo: the run failed: the model said no\nask again"
    )
    assert "- why: the model said no\n- try: ask again\n" in last_run(failed)
