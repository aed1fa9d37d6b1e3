"""A contradiction is one decision: shown with both sides, taken whole, offered again when left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, begin, done, git, memories, memrepo, subjects

TIMES = [f"2026-03-01T1{hour}:{minute}0:00Z" for hour in range(2, 9) for minute in range(6)]
VIM, HELIX = "- **Editor of the team:** vim", "- **Editor of the team:** helix"
BETA = "- The server beta answers the telephone of the parish."
ALPHA = "- The server alpha keeps the archive of the choir."
SUBJECT = re.compile(r"Run \S+: (.*)")


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


def test_left_beside_a_memory_that_stands_only_the_new_one_stays_out(
    one_new: tuple[Path, dict[str, str]],
) -> None:
    repo, ids = one_new
    answer = done(repo, "accept", "--except", ids["helix"], now=TIMES[1])
    assert set(answer["offered"]) == {ids["helix"], ids["vim"]}
    found = in_recall(repo)
    assert (found["vim"], "helix" in found, "parish" in found) == ("resolved", False, True)
    assert memrepo(repo, "run", now=TIMES[2]).data["status"] == "held"


def test_what_was_left_out_is_never_offered_again_once_it_is_discarded(
    both_new: tuple[Path, dict[str, str]],
) -> None:
    repo, ids = both_new
    done(repo, "accept", "--only", ids["parish"], now=TIMES[1])
    assert memrepo(repo, "run", now=TIMES[2]).exit == 3
    done(repo, "discard", now=TIMES[3])
    assert done(repo, "run", now=TIMES[4])["status"] == "skipped"
    assert not in_recall(repo).keys() & {"vim", "helix"}


def test_a_reverted_run_is_accepted_without_half_of_a_pair(
    two_runs: Path,
) -> None:
    by_word = {w: i for i, m in memories(two_runs).items() for w in ("vim", "helix") if w in m.body}
    run = done(two_runs, "runs")["runs"][0]["run"]
    done(two_runs, "revert", now=TIMES[0])
    done(two_runs, "accept", run, "--except", by_word["vim"], now=TIMES[1])
    found = memories(two_runs)
    assert found[by_word["vim"]].status == "active"
    assert by_word["helix"] not in found
    assert any("beta" in m.body for m in found.values())


def test_a_review_shows_both_sides(both_new: tuple[Path, dict[str, str]]) -> None:
    repo, ids = both_new
    said = memrepo(repo, "diff", as_json=False).out
    for one, other in (("vim", "helix"), ("helix", "vim")):
        block = next(
            part for part in said.split("\n\n") if part.startswith(f"added      {ids[one]}")
        )
        assert f"contradicts {ids[other]}, which says: **Editor of the team:** {other}" in block


def test_each_subject_counts_what_its_commit_holds(both_new: tuple[Path, dict[str, str]]) -> None:
    repo, ids = both_new
    done(repo, "accept", "--only", ids["parish"], now=TIMES[1])
    (said,) = SUBJECT.fullmatch(subjects(repo, "-1")[0]).groups()  # type: ignore[union-attr]
    assert said == "1 new"
    assert "; 2 pages regenerated" in git(repo, "log", "-1", "--format=%b", "HEAD^2")
