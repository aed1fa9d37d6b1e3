"""A run that ages notes and prunes, killed at any moment: no access and no file is lost."""

from __future__ import annotations

from pathlib import Path

import crashing
import driving

SOON, LATE, LATER_STILL = "2026-03-01T10:00:00Z", "2026-03-09T09:00:00Z", "2026-03-09T09:00:01Z"


def test_a_run_that_moves_notes_loses_nothing_wherever_it_dies(place: Path, tmp_path: Path) -> None:
    repo = place / "repo"
    short = driving.done(repo, "add", "The hall is wet.", "--class", "short")["id"]
    notes = [m for m in driving.memories(repo).values() if m.is_note]
    driving.done(repo, "show", notes[0].id, now=SOON)
    texts = {m.id: m.body for m in driving.memories(repo).values() if m.id != short}
    seen = 0
    for _, copy in crashing.deaths(place, tmp_path / "dead", "run", now=LATE, step=7):
        driving.done(copy, "run", now=LATER_STILL)
        after = driving.memories(copy)
        assert {i: m.body for i, m in after.items()} == texts
        assert {after[n.id].text("tier") for n in notes} == {"gist"}
        shown = driving.done(copy, "show", notes[0].id, "--no-touch", now=SOON)
        assert shown["derived"]["retrievals"] == 1
        driving.assert_sound(copy)
        seen += 1
    assert seen >= 3
