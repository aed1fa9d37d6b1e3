"""`memrepo topics` and the page of topics."""

from __future__ import annotations

from pathlib import Path

from driving import LATER, done, memrepo

LONG_AGO = "2026-01-15T09:00:00Z"


def test_topics_rise_within_thirty_days_and_stand_on_their_page(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo, now=LONG_AGO)
    done(repo, "add", "The greenhouse needs water.", now=LONG_AGO)
    young = done(repo, "topics", now=LONG_AGO)
    assert (young["since"], young["rising"]) == ("", [])

    for text in ("Kestrel overheats.", "Kestrel reboots.", "Larder hums."):
        done(repo, "add", text)
    found = done(repo, "topics", "-n", "2")
    assert [t["term"] for t in found["topics"]] == ["kestrel", "overheats"]
    assert found["since"] == "2026-01-30T09:00:00Z"
    assert {t["term"] for t in found["rising"]} >= {"kestrel", "larder"}
    assert "greenhouse" not in {t["term"] for t in found["rising"]}
    said = memrepo(repo, "topics", as_json=False).out
    assert "rising since 2026-01-30:" in said

    done(repo, "run", now=LATER)
    page = (repo / "views" / "TOPICS.md").read_text("utf-8")
    assert "| kestrel | 2 |" in page
    assert done(repo, "run", now=LATER)["status"] == "skipped"
