"""Many repositories in turn: one list, one budget, and none that stops the others."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import serving
import workspaces
from driving import LATER, done, git, memrepo, subjects


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Return three repositories with something new in each."""
    found = []
    for name in ("ana", "ben", "eva"):
        workspace = workspaces.growing(tmp_path / f"{name}-agent", 0)
        done(tmp_path, "init", name, "--from", workspace)
        found.append(tmp_path / name)
    return found


def test_each_is_run_as_by_itself_and_told_in_one_list(three: list[Path], tmp_path: Path) -> None:
    (tmp_path / "fleet.txt").write_text("# the agents of this host\nana\nben # hers\n\neva\n")
    answer = memrepo(tmp_path, "fleet", "--list", "fleet.txt")
    assert answer.exit == 0
    rows = answer.data["rows"]
    assert [Path(row["folder"]).name for row in rows] == ["ana", "ben", "eva"]
    assert {row["status"] for row in rows} == {"ok"}
    for repo, row in zip(three, rows, strict=True):
        assert done(repo, "runs")["runs"][0]["run"] == row["run"]
    alone = tmp_path / "alone"
    done(tmp_path, "init", alone, "--from", workspaces.growing(tmp_path / "alone-agent", 0))
    done(alone, "run")
    assert subjects(alone) == subjects(three[0])
    said = memrepo(tmp_path, "fleet", "ana", "ben", now=LATER, as_json=False).out
    assert said.splitlines()[-1] == "2 repositories"
    assert said.count("skipped") == 2


def test_one_that_cannot_stops_none_and_gives_the_exit_code(
    three: list[Path], tmp_path: Path
) -> None:
    (three[1] / "memrepo.toml").write_text("format = 'no'\n")
    answer = memrepo(tmp_path, "fleet", "ana", "gone", "ben", "eva")
    assert [row["status"] for row in answer.data["rows"]] == ["ok", "error", "error", "ok"]
    assert answer.exit not in (0, 3)
    assert "no such folder" in answer.data["rows"][1]["said"]


def test_what_waits_for_a_person_is_told_with_its_branch(three: list[Path], tmp_path: Path) -> None:
    done(tmp_path, "fleet", "ana", "ben")
    done(three[0], "revert")
    answer = memrepo(tmp_path, "fleet", "ana", "ben", now=LATER)
    assert answer.exit == 3
    first, second = answer.data["rows"]
    assert (first["status"], second["status"]) == ("held", "skipped")
    assert git(three[0], "branch", "--list", first["branch"])


def test_a_dry_run_writes_nothing(three: list[Path], tmp_path: Path) -> None:
    before = [subjects(repo) for repo in three]
    assert memrepo(tmp_path, "fleet", "ana", "ben", "eva", "--dry-run").exit == 0
    assert [subjects(repo) for repo in three] == before


def test_no_repository_and_no_list_is_said(tmp_path: Path) -> None:
    assert memrepo(tmp_path, "fleet").exit == 2
    assert memrepo(tmp_path, "fleet", "--list", "none.txt").exit == 2


def test_one_budget_holds_for_all_of_them(three: list[Path], tmp_path: Path) -> None:
    program = tmp_path / "judge.py"
    here = str(Path(serving.__file__).parent)
    program.write_text(
        f"import sys\nsys.path.insert(0, {here!r})\n"
        "from serving import good\nsys.stdout.write(good(sys.stdin.read()))\n"
    )
    for repo in three:
        git(repo, "config", "memrepo.judge.command", f"{sys.executable} {program}")
    first = memrepo(tmp_path, "fleet", "ana", "--judge", "command").data["tokens"]
    assert first > 1000
    budget = int(first * 2.2)
    words = ("--judge", "command", "--max-tokens", str(budget))
    answer = memrepo(tmp_path, "fleet", "ben", "eva", *words)
    ben, eva = answer.data["rows"]
    assert ben["tokens"] > 0
    assert answer.data["tokens"] <= budget, "what the second may use is what the first left"
    assert eva["status"] in ("left", "failed", "partial"), json.dumps(answer.data, indent=1)
    assert answer.exit == 4
