"""A forge on this disk: pull requests are checked, and a night's run is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import hubs
import msgspec
import pytest
import yaml
from driving import LATER, assert_sound, done, git, memories, memrepo, program, runs, subjects, tree

from memrepo.actions.check import CheckRequest
from memrepo.actions.scenes import CheckResult
from memrepo.core.errors import Problem
from memrepo.core.layout import asset
from memrepo.faces.text import repository as check

ROOT = Path(__file__).resolve().parents[1]
FORGE = asset("templates", "forge")
FACT = "Vera keeps the spare key under the third pot."
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2  # memrepo:allow-secret
MEMORY = """\
---
id: mem-6490dec4ef334c94
type: fact
created: 2026-03-01T09:00:00Z
---

The bakery opens at seven.
"""
GOOD = "memories/knowledge/2026-03/bakery-6490de.md"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone of a bare forge whose main branch holds one memory; `pull` is checked out."""
    hubs.begin(tmp_path, "first")
    found = hubs.clone(tmp_path, "clone")
    git(found, "switch", "-q", "-c", "pull")
    return found


def edited(repo: Path, old: str, new: str) -> None:
    """Change the one memory by hand and commit it past all hooks."""
    (memory,) = memories(repo).values()
    path = repo / memory.path
    path.write_text(path.read_text().replace(old, new))
    hubs.commit_all(repo, "by hand")


def found_in(repo: Path, word: str = "main..pull") -> tuple[int, set[str]]:
    answer = memrepo(repo, "check", word)
    return answer.exit, {p["rule"] for p in answer.data["problems"]}


def script(name: str, where: Path, *argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script of the forge with this checkout's memrepo on the path."""
    folder = where.parent / "bin"
    folder.mkdir(exist_ok=True)
    program(folder / "memrepo")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(FORGE / name), *argv],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, **more},
    )


# -- a range ---------------------------------------------------------------------------------------


def test_a_hand_that_adds_a_sound_memory_passes(clone: Path) -> None:
    hubs.commit(clone, "the bakery", **{GOOD: MEMORY})
    answer = memrepo(clone, "check", "main..pull")
    assert (answer.exit, answer.data["problems"]) == (0, [])
    assert (answer.data["commits"], answer.data["files"]) == (1, 1)
    said = memrepo(clone, "check", "main..pull", as_json=False).out
    assert said == "main..pull: 1 commit, 1 file: nothing found\n"


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("type: fact", "type: facct", "frontmatter-value"),
        ("id: mem-", "id: man-", "frontmatter-value"),
        ("created: 2026", "created: 2025", "field-by-hand"),
        (FACT, f"The token is {SECRET}.", "secret-found"),
    ],
)
def test_a_broken_rule_is_named_and_fails(clone: Path, old: str, new: str, rule: str) -> None:
    edited(clone, old, new)
    code, rules = found_in(clone)
    assert code == 1
    assert rule in rules


def test_a_secret_that_a_later_commit_takes_out_is_found_with_its_commit(clone: Path) -> None:
    edited(clone, FACT, f"The token is {SECRET}.")
    bad = git(clone, "rev-parse", "--short=10", "HEAD").strip()
    edited(clone, f"The token is {SECRET}.", FACT)
    (problem,) = memrepo(clone, "check", "main..pull").data["problems"]
    assert problem["rule"] == "secret-found"
    assert f"(commit {bad})" in problem["message"]


def test_a_secret_in_a_message_is_found_at_a_file_that_a_forge_can_mark(clone: Path) -> None:
    hubs.commit(clone, f"use {SECRET}", **{GOOD: MEMORY})
    (problem,) = memrepo(clone, "check", "main..pull").data["problems"]
    assert (problem["rule"], problem["path"]) == ("message-secret", "memrepo.toml")
    assert SECRET not in json.dumps(problem)


def test_a_configuration_that_cannot_be_used_is_named(clone: Path) -> None:
    for data in (b"format = [", b'format = "one"', b"[run]\nnights = 3", b"\xff"):
        (clone / "memrepo.toml").write_bytes(data + b"\n")
        hubs.commit_all(clone, "settings")
        assert found_in(clone) == (1, {"config-unreadable"})
    assert script("check-pull-request", clone, "main", "pull", "../review").returncode == 1


def test_what_a_merge_by_hand_slips_in_is_found(clone: Path) -> None:
    git(clone, "switch", "-q", "-c", "side")
    hubs.commit(clone, "the bakery", **{GOOD: MEMORY})
    git(clone, "switch", "-q", "pull")
    hubs.commit(clone, "a text", **{"text.txt": "mine\n"})
    git(clone, "merge", "-q", "--no-ff", "--no-commit", "side")
    (old,) = (m for m in memories(clone).values() if m.body == FACT)
    path = clone / old.path
    path.write_text(path.read_text().replace("created: 2026", "created: 2025"))
    hubs.commit_all(clone, "merge side")
    assert git(clone, "rev-list", "--merges", "--count", "main..pull").strip() == "1"
    assert found_in(clone) == (1, {"field-by-hand"})


def test_only_what_the_branch_brings_counts(clone: Path) -> None:
    git(clone, "switch", "-q", "main")
    edited(clone, "type: fact", "type: facct")
    git(clone, "switch", "-q", "pull")
    hubs.commit(clone, "the bakery", **{GOOD: MEMORY})
    for word in ("main..pull", "main...pull", "main.."):
        assert found_in(clone, word) == (0, set())


def test_a_shallow_clone_is_told_to_fetch(clone: Path, tmp_path: Path) -> None:
    git(clone, "switch", "-q", "--orphan", "other")
    (clone / "memrepo.toml").write_text("")
    hubs.commit_all(clone, "another root")
    (clone / ".git" / "shallow").write_text(git(clone, "rev-parse", "HEAD"))
    answer = memrepo(clone, "check", "main..other")
    assert answer.exit == 2
    assert "shallow" in answer.error["message"]


# -- forms -----------------------------------------------------------------------------------------

FOUND = (
    Problem(path="a b/ü,:%.md", line=3, column=7, rule="frontmatter-value", message="found 'x'\ny"),
    Problem(
        path="b.md",
        rule="character-invisible",
        message="`@ann` | <b> ``",
        severity="warning",
        fix="cut",
    ),
)


def test_annotations_are_one_line_each_and_escaped() -> None:
    first, second = check.log_marks(FOUND).split("\n")
    where = "file=a b/ü%2C%3A%25.md,line=3,col=7,title=frontmatter-value"
    assert first == f"::error {where}::found 'x'%0Ay"
    assert second.startswith("::warning file=b.md,title=character-invisible::")


def test_a_review_of_any_size_fits_into_a_comment(clone: Path) -> None:
    many = [msgspec.structs.replace(FOUND[1], path="p" * 300, message="m" * 500)] * 500
    result = CheckResult(problems=(*many, FOUND[0]))
    table = check.check(CheckRequest(format="markdown"), result, colour=False)
    assert "The rest is omitted" in table
    assert str(FOUND[0]) in table, "the error is shown, whatever is left out"
    body = "x `y` | z\n\n" * 30_000
    hubs.commit(clone, "much", **{GOOD: MEMORY + body})
    review = memrepo(clone, "diff", "main..pull", "--markdown", as_json=False).out
    assert len(table) + len(review) < 65_536


def test_no_text_of_a_memory_leaves_the_block_of_a_review(clone: Path) -> None:
    hubs.commit(clone, "fence", **{GOOD: MEMORY.replace("seven.", "seven ```` @ann ````.")})
    text = memrepo(clone, "diff", "main..pull", "--markdown", as_json=False).out
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert fences == ["`````text", "`````"]


def test_a_form_goes_with_no_option_that_writes(clone: Path) -> None:
    assert memrepo(clone, "check", "--fix", "x.md", "--format", "github").exit == 2


# -- the forge -------------------------------------------------------------------------------------


def test_a_bad_pull_request_is_annotated_and_fails(clone: Path) -> None:
    edited(clone, "type: fact", "type: facct")
    summary = clone.parent / "summary.md"
    ran = script(
        "check-pull-request",
        clone,
        "main",
        "pull",
        "review",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert ran.returncode == 1, ran.stderr
    (memory,) = (clone / "memories").rglob("*.md")
    name = memory.relative_to(clone).as_posix()
    assert f"::error file={name},line=3," in ran.stdout
    review = (clone / "review" / "review.md").read_text()
    assert "frontmatter-value" in review
    assert summary.read_text() == review


def test_a_good_pull_request_passes_with_its_review(clone: Path) -> None:
    hubs.commit(clone, "the bakery", **{GOOD: MEMORY})
    ran = script("check-pull-request", clone, "main", "pull", GITHUB_ACTIONS="")
    assert (ran.returncode, ran.stderr) == (0, "")
    review = (clone / "memrepo-review" / "review.md").read_text()
    assert "1 commit, 1 file: nothing found" in review
    assert "The bakery opens at seven." in review


def test_a_range_that_cannot_be_read_is_neither_good_nor_bad(clone: Path) -> None:
    assert script("check-pull-request", clone, "nowhere", "pull").returncode == 2


def test_a_nights_run_is_a_branch_that_is_merged_and_taken_back(clone: Path) -> None:
    git(clone, "switch", "-q", "main")
    done(clone, "run", now="2026-02-28T09:00:00Z")
    hubs.tell(clone)
    hubs.commit_all(clone, "what the agent wrote")
    git(clone, "push", "-q", "origin", "main")
    start, before = hubs.tip(clone), tree(clone)
    ran = script("nightly", clone)
    assert (ran.returncode, ran.stdout) == (0, "memrepo/nightly\n"), ran.stderr
    assert hubs.tip(clone) == start, "the branch that people read is as it was"
    assert git(clone, "symbolic-ref", "--short", "HEAD") == "main\n"
    forge = clone.parent / "hub.git"
    assert git(forge, "rev-parse", "memrepo/nightly") != start
    checked = script("check-pull-request", clone, "main", "memrepo/nightly", "../review")
    assert checked.returncode == 0, checked.stdout
    # A second night before anybody looked replaces the branch and loses nothing.
    again = script("nightly", clone)
    assert (again.returncode, again.stdout) == (0, "memrepo/nightly\n"), again.stderr

    git(clone, "merge", "-q", "--no-ff", "-m", "Merge pull request #1", "memrepo/nightly")
    git(clone, "push", "-q", "origin", "main")

    run = runs(clone)[0]
    assert any("blue door" in m.body for m in memories(clone).values())
    assert found_in(clone, f"{start}..main")[0] == 0, subjects(clone)
    assert memrepo(clone, "revert", run, now=LATER).exit == 0
    assert tree(clone) == before
    assert_sound(clone)


# -- the files that a forge reads ------------------------------------------------------------------

SCHEMAS = {
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    ".github/ISSUE_TEMPLATE/fault.yml": "github-issue-forms",
    ".github/ISSUE_TEMPLATE/wish.yml": "github-issue-forms",
    ".github/workflows/ci.yml": "github-workflows",
    ".github/workflows/release.yml": "github-workflows",
    "action.yml": "github-actions",
    "templates/forge/github-check.yml": "github-workflows",
    "templates/forge/github-nightly.yml": "github-workflows",
    "templates/forge/gitlab-ci.yml": "gitlab-ci",
}


@pytest.mark.parametrize(("name", "schema"), SCHEMAS.items(), ids=list(SCHEMAS))
def test_a_file_of_a_forge_is_of_its_schema(name: str, schema: str) -> None:
    data = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    pytest.importorskip("check_jsonschema", reason="check-jsonschema carries the schemas")
    ran = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(ROOT / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_action_runs_the_script_that_is_tested() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    said = "\n".join(step["run"] for step in steps)
    (word,) = {w for w in said.split() if w.endswith('check-pull-request"')}
    assert (ROOT / word.strip('"').removeprefix("$ACTION/")) == FORGE / "check-pull-request"
    assert "${{" not in said, "what an event says comes by the environment, never into a script"


def workflow(name: str) -> dict[str, Any]:
    """Return a workflow of this project."""
    found = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_ci_runs_on_every_python_that_is_promised() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = [c.rpartition(" ")[2] for c in project["classifiers"] if ":: Python :: 3." in c]
    matrix = workflow("ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == told
    assert told[0] == project["requires-python"].removeprefix(">=")
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
