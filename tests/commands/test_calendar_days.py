"""A calendar day is one of the repository's zone, east and west of UTC."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import done, memories

MORNING = "2026-03-05T21:15:00Z"
"""05:15 on 6 March in Shanghai, 13:15 on 5 March in Los Angeles."""
SHANGHAI, AUCKLAND, ANGELES = "Asia/Shanghai", "Pacific/Auckland", "America/Los_Angeles"


def begun(tmp_path: Path, zone: str, files: dict[str, str], now: str = MORNING) -> Path:
    given = {name: text.encode() for name, text in files.items()}
    workspaces.write(tmp_path / "workspace", given)
    done(tmp_path, "init", "repo", "--from", "workspace", "--tz", zone, now=now)
    return tmp_path / "repo"


@pytest.mark.parametrize("zone", [SHANGHAI, AUCKLAND])
def test_the_log_of_today_is_dated_by_its_file_in_the_morning(tmp_path: Path, zone: str) -> None:
    log = "# Friday\n\nFrom now on the espresso machine is always descaled on Mondays.\n"
    repo = begun(tmp_path, zone, {"memory/2026-03-06.md": log})
    done(repo, "run", now=MORNING)
    found = {
        (m.is_note, s.captured, s.captured_from) for m in memories(repo).values() for s in m.sources
    }
    assert found >= {(True, "2026-03-06", "file")}
    assert {day for _, day, _ in found} == {"2026-03-06"}
    assert {basis for _, _, basis in found} == {"file"}


def test_a_log_of_today_replaces_what_was_true_until_then(tmp_path: Path) -> None:
    first = "# Bakery\n\n- **Opening time of the bakery:** 7:00\n"
    repo = begun(tmp_path, SHANGHAI, {"MEMORY.md": first}, now="2026-03-01T21:15:00Z")
    done(repo, "run", now="2026-03-01T21:15:00Z")
    log = tmp_path / "workspace" / "memory" / "2026-03-06.md"
    log.parent.mkdir()
    log.write_text("# 2026-03-06\n\n## Bakery\n\n- **Opening time of the bakery:** 8:00\n")
    done(repo, "run", now=MORNING)
    claims = {m.body: m for m in memories(repo).values() if not m.is_note}
    (new,) = (m for body, m in claims.items() if "8:00" in body)
    assert [(s.captured, s.captured_from) for s in new.sources] == [("2026-03-06", "heading")]
    assert [m.status for body, m in claims.items() if "7:00" in body] == ["superseded"]


@pytest.mark.parametrize(
    ("zone", "last", "end"),
    [
        (SHANGHAI, "2026-03-10T15:59:00Z", "2026-03-10T16:00:00Z"),
        (ANGELES, "2026-03-11T06:59:00Z", "2026-03-11T07:00:00Z"),
        ("UTC", "2026-03-10T23:59:00Z", "2026-03-11T00:00:00Z"),
    ],
)
def test_what_is_true_until_a_day_is_recalled_to_its_end(
    tmp_path: Path, zone: str, last: str, end: str
) -> None:
    repo = begun(tmp_path, zone, {"MEMORY.md": "- Ada keeps the spare key of the shed.\n"})
    done(repo, "add", "The bridge is closed.", "--valid-until", "2026-03-10", now=MORNING)
    found = [done(repo, "search", "bridge", "--no-touch", now=at)["hits"] for at in (last, end)]
    assert [len(hits) for hits in found] == [1, 0]


def test_today_in_a_question_is_the_day_there(tmp_path: Path) -> None:
    logs = {
        f"memory/2026-03-0{day}.md": f"# Log\n\nThe plumber fixed the tap in room {day}.\n"
        for day in (4, 5, 6)
    }
    repo = begun(tmp_path, SHANGHAI, logs)
    done(repo, "run", now=MORNING)
    first = done(repo, "search", "plumber today", "--no-touch", now=MORNING)["hits"][0]
    assert first["sources"][0]["captured"] == "2026-03-06"
    later = done(repo, "search", "plumber yesterday", "--no-touch", now=MORNING)["hits"][0]
    assert later["sources"][0]["captured"] == "2026-03-05"


@pytest.mark.parametrize(("zone", "day"), [(SHANGHAI, "2026-03-06"), (ANGELES, "2026-03-05")])
def test_what_has_no_date_is_of_the_day_that_it_is_there(
    tmp_path: Path, zone: str, day: str
) -> None:
    repo = begun(tmp_path, zone, {"MEMORY.md": "- Ada keeps the spare key of the shed.\n"})
    done(repo, "run", now=MORNING)
    (memory,) = memories(repo).values()
    assert (memory.sources[0].captured, memory.sources[0].captured_from) == (day, "commit")
