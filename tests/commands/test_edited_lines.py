"""What becomes of a memory whose line is edited in its file: a new number, a line struck out."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, memories


def nights(tmp_path: Path, before: str, after: str) -> Path:
    """Run twice, over a line before and after its edit; return the repository."""
    page = tmp_path / "workspace" / "MEMORY.md"
    page.parent.mkdir()
    repo = tmp_path / "repo"
    for text, now in ((before, None), (after, LATER)):
        page.write_text(f"# House\n\n- {text}.\n- The roof is of slate.\n", encoding="utf-8")
        if now is None:
            done(tmp_path, "init", "repo", "--from", "workspace")
            done(repo, "run")
        else:
            done(repo, "run", now=now)
    return repo


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("Rent is 900 EUR a month", "Rent is 950 EUR a month", "950 EUR"),
        ("Rent is 900 EUR a month", "Rent is ~~900~~ 950 EUR a month", "is 950 EUR"),
        ("Backups run at 02:00", "Backups run at ~~02:00~~ 03:00", "at 03:00"),
    ],
)
def test_a_memory_follows_its_line_to_a_new_value(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    repo = nights(tmp_path, before, after)
    new, roof = sorted(memories(repo).values(), key=lambda m: m.body)
    assert told in new.body
    assert (new.status, new.standing, new.text("duplicate_of")) == ("active", "resolved", "")
    assert roof.status == "active"
    said = done(repo, "diff")["changes"]
    assert [(c["op"], c["before"]) for c in said] == [("reworded", f"{before}.")]


def test_a_line_struck_out_is_a_line_removed(tmp_path: Path) -> None:
    repo = nights(tmp_path, "The garden gate is green", "~~The garden gate is green~~")
    said = {m.body.strip(): m.status for m in memories(repo).values()}
    assert said == {
        "The garden gate is green.": "archived",
        "The roof is of slate.": "active",
    }
    assert done(repo, "search", "garden gate")["hits"] == []
