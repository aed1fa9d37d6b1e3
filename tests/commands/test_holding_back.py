"""Additions land, removals wait: one branch carries what is held back from night to night."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, begin, classic, done, git, memories, memrepo, standing

LINES = [f"- The locker number {n} belongs to crew {n + 100}." for n in range(60)]
NEW = [f"- The boat number {n} is moored at pier {n + 300}." for n in range(4)]
EDITED = "- The locker number 0 belongs to the harbour master."


def write(repo: Path, lines: list[str], name: str = "MEMORY.md") -> None:
    path = repo.parent / "workspace" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Memory\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def night(repo: Path, day: int, *options: str) -> tuple[int, dict[str, Any]]:
    answer = memrepo(repo, "run", *options, now=f"2026-03-{day:02}T04:00:00Z")
    return answer.exit, answer.data


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write(tmp_path / "repo", LINES)
    return begin(tmp_path, tmp_path / "workspace")


def texts(repo: Path, standing: str = "") -> set[str]:
    found = memories(repo).values()
    return {m.body for m in found if (m.standing == standing if standing else m.status == "active")}


def said(lines: list[str]) -> set[str]:
    return {line.removeprefix("- ") for line in lines}


def branches(repo: Path) -> list[str]:
    return git(repo, "branch", "--format=%(refname:short)").split()


def test_a_night_that_would_take_away_too_much_takes_in_what_is_new(repo: Path) -> None:
    write(repo, [EDITED, *LINES[1:20], *NEW])
    code, data = night(repo, 2)
    assert (code, data["status"]) == (3, "held")
    assert data["counts"]["memories_new"] >= len(NEW)
    assert texts(repo) >= said([*LINES[1:], *NEW, EDITED])
    assert texts(repo, "retire_candidate") == set()
    assert len(data["held"]) >= 40
    assert {h["op"] for h in data["held"]} <= {"retire", "supersede"}
    assert "lost 40 of its 60 statements" in data["why"]
    told = memrepo(repo, "status", as_json=False).out
    assert "memrepo accept" in told
    assert data["branch"] in told
    assert_sound(repo)


def test_every_later_night_goes_on_and_the_branch_stays(repo: Path) -> None:
    write(repo, LINES[:20])
    branch = night(repo, 2)[1]["branch"]
    for day, line in enumerate(NEW, start=3):
        write(repo, [*LINES[:20], *NEW[: day - 2]])
        code, data = night(repo, day)
        assert (code, data["branch"]) == (3, branch)
        assert line.removeprefix("- ") in texts(repo)
        assert branches(repo) == ["main", branch]
    before = standing(repo)
    assert night(repo, 9)[1]["branch"] == branch
    assert standing(repo) == before


def test_one_command_takes_what_waits_after_nights_of_additions(repo: Path) -> None:
    write(repo, LINES[:20])
    night(repo, 2)
    write(repo, [*LINES[:20], *NEW])
    night(repo, 3)
    done(repo, "accept", now="2026-03-03T09:00:00Z")
    assert texts(repo, "retire_candidate") == said(LINES[20:])
    assert branches(repo) == ["main"]
    assert night(repo, 4)[1]["status"] == "skipped"


def test_a_lost_branch_is_drafted_again_from_the_record(repo: Path) -> None:
    write(repo, LINES[:20])
    first = night(repo, 2)[1]
    git(repo, "branch", "-D", first["branch"])
    second = night(repo, 3)[1]
    assert branches(repo) == ["main", second["branch"]]
    done(repo, "accept", now="2026-03-03T09:00:00Z")
    assert texts(repo, "retire_candidate") == said(LINES[20:])


def test_taking_the_night_back_takes_its_removals_along(repo: Path) -> None:
    before = git(repo, "rev-parse", "HEAD:memories")
    write(repo, [*LINES[:20], *NEW])
    run = night(repo, 2)[1]["run"]
    done(repo, "revert", run, now="2026-03-02T09:00:00Z")
    assert git(repo, "rev-parse", "HEAD:memories") == before
    code, data = night(repo, 3)
    assert (code, len(data["held"])) == (3, 40)


def test_the_manifest_says_what_waits_and_what_was_decided(repo: Path) -> None:
    write(repo, LINES[:20])
    data = night(repo, 2)[1]
    done(repo, "accept", now="2026-03-02T09:00:00Z")
    records = [json.loads(p.read_text()) for p in sorted((repo / "runs").rglob("*.json"))]
    held = [r for r in records if "held" in r]
    decided = [r for r in records if "decided" in r]
    assert [r["run"] for r in held] == [data["run"]]
    assert len(held[0]["held"]) == len(decided[0]["decided"]) == 40
    assert memrepo(repo, "check", "--all").exit == 0


def test_what_is_refused_is_not_held_again(repo: Path) -> None:
    write(repo, LINES[:20])
    night(repo, 2)
    done(repo, "discard", now="2026-03-02T09:00:00Z")
    write(repo, [*LINES[:20], *NEW])
    code, data = night(repo, 3)
    assert (code, data["status"], data["branch"]) == (0, "ok", "")
    assert texts(repo) == said([*LINES, *NEW])


def test_a_limit_that_is_named_lets_what_waited_land(repo: Path) -> None:
    write(repo, LINES[:36])
    assert night(repo, 2)[0] == 3
    code, data = night(repo, 3, "--max-change-pct", "90")
    assert (code, data["counts"]["memories_retired"]) == (0, 24)
    assert branches(repo) == ["main"]
    assert night(repo, 4)[1]["status"] == "skipped"


def test_time_goes_on_while_something_waits(repo: Path) -> None:
    id_ = done(repo, "add", "The crane is out of order.", "--class", "short")["id"]
    write(repo, LINES[:20])
    night(repo, 2)
    night(repo, 5)
    assert id_ not in memories(repo)


def test_the_classic_lifecycle_holds_back_the_same(repo: Path) -> None:
    classic(repo)
    write(repo, [*LINES[:20], *NEW])
    assert night(repo, 2)[1]["status"] == "held"
    assert texts(repo) >= said(NEW)
