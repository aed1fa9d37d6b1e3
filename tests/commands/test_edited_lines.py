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
        page.write_text(f"# House\n\n- {text}\n- The roof is of slate\n", encoding="utf-8")
        if now is None:
            done(tmp_path, "init", "repo", "--from", "workspace")
            done(repo, "run")
        else:
            done(repo, "run", now=now)
    return repo


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Rent is 900 EUR a month", "Rent is 950 EUR a month"),
        ("Rent is 900 EUR a month", "Rent is ~~900~~ 950 EUR a month"),
        ("Backups run at 02:00", "Backups run at ~~02:00~~ 03:00"),
    ],
)
def test_a_new_value_replaces_the_old_one_and_is_no_duplicate_of_it(
    tmp_path: Path, before: str, after: str
) -> None:
    found = memories(nights(tmp_path, before, after)).values()
    (old,) = [m for m in found if m.status == "superseded"]
    (new,) = [m for m in found if old.id in m.texts("supersedes")]
    assert "~~" not in new.body
    assert (new.status, new.standing, new.text("duplicate_of")) == ("active", "resolved", "")


def test_a_line_struck_out_is_a_line_removed(tmp_path: Path) -> None:
    repo = nights(tmp_path, "The door code is 4711", "~~The door code is 4711~~")
    said = {m.body.strip(): m.status for m in memories(repo).values()}
    assert said == {
        "House: The door code is 4711": "archived",
        "House: The roof is of slate": "active",
    }
    assert done(repo, "search", "door code")["hits"] == []
