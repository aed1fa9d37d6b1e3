"""What its owner decides moves the rank of similar statements, and taking it back undoes that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.driving import LATER, NEXT_DAY, copied, done, git, memories, memrepo

WHO = ("baker", "florist", "cobbler", "printer")
BAYS = [f"Bay {n} belongs to the {who}." for n, who in enumerate(WHO, start=1)]
BOATS = ["The Heron has a new sail.", "The Teal is moored at the pier."]
BAY, BOAT = "Bay 9 belongs to the tailor.", "The Plover leaks at the stern."


def write(base: Path, bays: list[str], boats: list[str]) -> None:
    parking, harbour = ("\n".join(f"- {line}" for line in lines) for lines in (bays, boats))
    text = f"# Memory\n\n## Parking\n\n{parking}\n\n## Boats\n\n{harbour}\n"
    (base / "workspace" / "MEMORY.md").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def _base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("learning")
    (base / "workspace").mkdir()
    write(base, BAYS, BOATS)
    done(base, "init", "repo", "--from", "workspace")
    done(base / "repo", "config", "set", "run.shelf", "normal")
    done(base / "repo", "run")
    write(base, [*BAYS, BAY], [*BOATS, BOAT])
    return base


@pytest.fixture
def repo(_base: Path, tmp_path: Path) -> Path:
    """Return a repository that remembers bays and boats; a line of each waits for the next run."""
    return copied(_base, tmp_path)


@pytest.fixture
def full_repo(repo: Path) -> Path:
    """Return it with so many memories that a run takes only what is good."""
    for n in range(30):
        done(repo, "add", f"Locker {n} belongs to rower {n}.")
    return repo


def ids(repo: Path, texts: list[str]) -> list[str]:
    return [id_ for text in texts for id_, m in memories(repo).items() if m.body == text]


def night(repo: Path) -> set[str]:
    """Run, and return which of the new lines are memories then."""
    done(repo, "run", now=NEXT_DAY)
    return {m.body for m in memories(repo).values()} & {BAY, BOAT}


def rejected(repo: Path, texts: list[str]) -> list[str]:
    """Reject some memories, and return the commits of that."""
    argv = ("--reason", "not wanted")
    return [done(repo, "reject", id_, *argv, now=LATER)["commit"] for id_ in ids(repo, texts)]


def test_without_a_decision_both_new_lines_are_remembered(repo: Path) -> None:
    assert night(repo) == {BAY, BOAT}


def test_a_line_like_three_rejected_ones_is_left_out_and_others_come(repo: Path) -> None:
    rejected(repo, BAYS[:3])
    assert night(repo) == {BOAT}


def test_nothing_is_learned_where_the_configuration_says_so(repo: Path) -> None:
    done(repo, "config", "set", "run.learn", "false")
    rejected(repo, BAYS[:3])
    assert night(repo) == {BAY, BOAT}
    assert git(repo, "grep", "-l", "owner_", check=False) == ""


def test_reverting_the_decisions_takes_back_what_followed_from_them(repo: Path) -> None:
    for commit in reversed(rejected(repo, BAYS[:3])):
        done(repo, "revert", commit, now=LATER)
    assert night(repo) == {BAY, BOAT}


@pytest.mark.parametrize(
    "decision", [("confirm",), ("pin",), ("edit", "--set", "tags=parking")], ids=lambda d: d[0]
)
def test_a_line_like_those_that_a_person_keeps_is_remembered(
    full_repo: Path, decision: tuple[str, ...]
) -> None:
    verb, *rest = decision
    for id_ in ids(full_repo, BAYS):
        done(full_repo, verb, id_, *rest, now=LATER)
    assert night(full_repo) == {BAY, BOAT}
    (id_,) = ids(full_repo, [BAY])
    told = memrepo(full_repo, "why", id_, as_json=False, now=NEXT_DAY).out
    assert "ranked higher: you confirmed 4 similar statements" in told
