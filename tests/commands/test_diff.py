"""What `diff` tells: of waiting and landed runs, commits and ranges, as text, JSON and page."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, git, memories, memrepo

MUCH_LATER = "2026-03-03T09:00:00Z"
LINES = [
    "- **Editor:** vim",
    "- The operator lives in Lisbon since 2019.",
    "- The server alpha keeps the archive of the choir.",
    "- The backup job must never run while the choir rehearses.",
]
EDITED = [
    "- The invoice </style><script src=x></script> was paid\u202e.",
    "- **Editor:** helix",
    "- The operator lives in Porto since 2019.",
    LINES[2],
]


def write(repo: Path, lines: list[str]) -> None:
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text("# Tools\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    write(tmp_path / "repo", LINES)
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    return tmp_path / "repo"


@pytest.fixture
def waiting(repo: Path) -> Path:
    write(repo, EDITED)
    assert memrepo(repo, "run", "--mode", "reconciliation", now=LATER).exit == 3
    return repo


def text(repo: Path, *argv: str) -> str:
    answer = memrepo(repo, "diff", *argv, as_json=False)
    assert answer.exit == 0, answer
    return answer.out


def test_a_waiting_run_is_told_with_both_texts_and_reasons(waiting: Path) -> None:
    data = done(waiting, "diff")
    assert data["state"] == "waits"
    assert data["totals"] == {"superseded": 1, "retired": 1, "reworded": 1, "added": 2}
    assert data["memories"] == 5
    (old,) = [c for c in data["changes"] if c["op"] == "superseded"]
    (new,) = [c for c in data["changes"] if c["supersedes"]]
    assert (old["before"], new["after"]) == ("**Editor:** vim", "**Editor:** helix")
    assert (old["superseded_by"], new["supersedes"]) == ([new["id"]], [old["id"]])
    assert old["reason"] == "the line that stated it was edited"
    assert old["values"]["status"] == ["active", "superseded"]
    said = text(waiting)
    assert "  - **Editor:** vim\n  + **Editor:** helix\n    by mem-" in said
    assert "because: sources/MEMORY.md no longer says so" in said
    assert "\x1b" not in said
    assert "\u202e" not in said


def test_what_a_person_commits_on_the_branch_is_shown_too(waiting: Path) -> None:
    branch = done(waiting, "status")["waiting"][0]
    git(waiting, "switch", "-q", branch)
    alpha = next(i for i, m in memories(waiting).items() if "alpha" in m.body)
    done(waiting, "pin", alpha, "--reason", "keep it", now=MUCH_LATER)
    git(waiting, "switch", "-q", "main")
    data = done(waiting, "diff")
    (pinned,) = [c for c in data["changes"] if c["id"] == alpha]
    assert (pinned["op"], pinned["reason"]) == ("flags", "keep it")


def test_runs_commits_and_ranges_tell_the_same(repo: Path) -> None:
    before = git(repo, "rev-parse", "HEAD").strip()
    write(repo, EDITED)
    landed = done(repo, "run", now=LATER)
    whole = done(repo, "diff", landed["run"])
    assert whole["state"] == "landed"
    run = landed["run"]
    for words in (
        [run[:-2]],
        [landed["head"]],
        [f"{before}..HEAD"],
        [f"{before}.."],
        [f"{before}..{run}"],
    ):
        assert done(repo, "diff", *words)["totals"] == whole["totals"], words
    back = done(repo, "diff", f"HEAD..{before}")["totals"]
    assert (back["removed"], back["restored"], back["reworded"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no run and no commit is called 'nothing'"),
        (["HEAD..nothing"], "no run and no commit is called 'nothing'"),
        (["HEAD...HEAD"], "expected two dots"),
        (["--output=x"], "unrecognized"),
        (["HEAD..--output=x"], "no run and no commit"),
    ],
)
def test_what_names_nothing_is_refused(repo: Path, words: list[str], said: str) -> None:
    answer = memrepo(repo, "diff", *words)
    assert answer.exit == 2
    assert said in answer.error["message"]


def test_totals_alone(waiting: Path) -> None:
    assert "changes" not in done(waiting, "diff", "--stat")
    said = text(waiting, "--stat")
    assert "1 superseded, 1 retired, 1 reworded, 2 added" in said
    assert "mem-" not in said


def test_a_list_that_loses_a_value_is_told_as_one_removed(repo: Path) -> None:
    id_ = done(repo, "add", "The kiln is in the yard.", "--tag", "kiln", "--tag", "yard")["id"]
    done(repo, "edit", id_, "--set", "tags=kiln")
    assert "\n    tags removed: yard\n" in text(repo, "HEAD")
