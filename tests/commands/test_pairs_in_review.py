"""A contradiction is one decision: shown with both sides, taken whole, offered again when left."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, begin, done, memories, memrepo, subjects

TIMES = [f"2026-03-01T1{hour}:{minute}0:00Z" for hour in range(2, 9) for minute in range(6)]
VIM, HELIX = "- **Editor of the team:** vim", "- **Editor of the team:** helix"
BETA = "- The server beta answers the telephone of the parish."
ALPHA = "- The server alpha keeps the archive of the choir."


def write(path: Path, *lines: str) -> Path:
    """Write the lines under one heading, those about helix in a file of their own."""
    files = {
        name: "# Memory\n\n## Infra\n\n" + "\n".join(part) + "\n"
        for name, part in (
            ("MEMORY.md", [line for line in lines if line != HELIX]),
            ("RTMEMORY.md", [line for line in lines if line == HELIX]),
        )
        if part
    }
    return workspaces.write(path, {name: text.encode() for name, text in files.items()})


def waits(repo: Path, *lines: str) -> dict[str, str]:
    """Let a run wait that was taken back before; return the ids of what it adds by a word."""
    write(repo.parent / "workspace", *lines)
    done(repo, "run", now=LATER)
    done(repo, "revert", now=LATER)
    assert memrepo(repo, "run", now=TIMES[0]).exit == 3
    added = [c for c in done(repo, "diff")["changes"] if c["op"] == "added"]
    return {c["after"].rstrip(".").rpartition(" ")[2]: c["id"] for c in added}


@pytest.fixture
def both_new(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return a repository where a run waits: two memories that clash, and a third."""
    repo = begin(tmp_path, write(tmp_path / "workspace", ALPHA))
    return repo, waits(repo, ALPHA, VIM, HELIX, BETA)


@pytest.fixture
def one_new(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Return a repository where a run waits: one memory that clashes with an old one, another."""
    repo = begin(tmp_path, write(tmp_path / "workspace", ALPHA, VIM))
    (vim,) = [i for i, m in memories(repo).items() if "vim" in m.body]
    return repo, {"vim": vim, **waits(repo, ALPHA, VIM, HELIX, BETA)}


def in_recall(repo: Path) -> dict[str, str]:
    return {
        m.body.rstrip(".").rpartition(" ")[2]: m.standing
        for m in memories(repo).values()
        if m.status == "active"
    }


@pytest.mark.parametrize("named", ["vim", "helix"])
@pytest.mark.parametrize("pair", ["both_new", "one_new"])
def test_of_a_contradiction_both_sides_are_taken(
    request: pytest.FixtureRequest, pair: str, named: str
) -> None:
    repo, ids = request.getfixturevalue(pair)
    answer = done(repo, "accept", "--only", ids[named], now=TIMES[1])
    other = "helix" if named == "vim" else "vim"
    assert answer["together"] == [ids[other]]
    assert answer["offered"] == [ids["parish"]]
    found = in_recall(repo)
    assert found["vim"] == found["helix"] == "contested"
    assert "parish" not in found
    new = "2 new" if pair == "both_new" else "1 new"
    assert f"{new}, 1 contested" in subjects(repo, "-1")[0]
    assert_sound(repo)


@pytest.mark.parametrize("named", ["vim", "helix"])
def test_of_a_contradiction_both_sides_are_left_out_and_offered_again(
    both_new: tuple[Path, dict[str, str]], named: str
) -> None:
    repo, ids = both_new
    answer = done(repo, "accept", "--except", ids[named], now=TIMES[1])
    assert set(answer["offered"]) == {ids["vim"], ids["helix"]}
    assert not in_recall(repo).keys() & {"vim", "helix"}
    assert subjects(repo, "-1")[0].endswith(": 1 new")
    assert "Add fact: The server beta answers the telephone of the parish." in subjects(repo, "-5")
    for now in TIMES[2:4]:
        night = memrepo(repo, "run", now=now)
        assert (night.exit, night.data["status"]) == (3, "held")
        assert not in_recall(repo).keys() & {"vim", "helix"}
    done(repo, "accept", now=TIMES[4])
    assert in_recall(repo)["vim"] == in_recall(repo)["helix"] == "contested"
    assert done(repo, "run", now=TIMES[5])["status"] == "skipped"
    assert_sound(repo)


def test_a_review_shows_both_sides(both_new: tuple[Path, dict[str, str]]) -> None:
    repo, ids = both_new
    said = memrepo(repo, "diff", as_json=False).out
    for one, other in (("vim", "helix"), ("helix", "vim")):
        block = next(
            part for part in said.split("\n\n") if part.startswith(f"added      {ids[one]}")
        )
        assert f"contradicts {ids[other]}, which says: **Editor of the team:** {other}" in block
