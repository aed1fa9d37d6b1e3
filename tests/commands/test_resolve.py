"""Contradictions from the first flag to the decision, and what later runs make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import NEXT_DAY, assert_sound, begin, done, git, memories, memrepo, standing

from memrepo.core import corrections
from memrepo.core.layout import Layout

LOVES, HATES = (
    "- Theme of editors: the dark one",
    "- Theme of editors: the light one",
)
MUCH_LATER = "2026-03-03T09:00:00Z"


def write(workspace: Path, *lines: str) -> None:
    workspace.mkdir(exist_ok=True)
    (workspace / "MEMORY.md").write_text("# Mara\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository in which a second run flagged one pair."""
    write(tmp_path / "workspace", LOVES, "- The office is in the old mill by the river.")
    made = begin(tmp_path, tmp_path / "workspace")
    write(tmp_path / "workspace", LOVES, "- The office is in the old mill by the river.", HATES)
    done(made, "run", now=NEXT_DAY)
    return made


def pair(repo: Path) -> tuple[str, str]:
    found = {m.body: i for i, m in memories(repo).items()}
    loves = next(i for b, i in found.items() if "dark" in b)
    hates = next(i for b, i in found.items() if "light" in b)
    return loves, hates


def cases(repo: Path) -> dict[str, corrections.Correction]:
    paths = sorted((repo / "corrections").glob("*.md"))
    files = {p.relative_to(repo).as_posix(): p.read_bytes() for p in paths}
    found = corrections.read_corrections(files, Layout())
    assert not found.problems
    return dict(found.cases)


def the_case(repo: Path) -> corrections.Correction:
    (case,) = cases(repo).values()
    return case


def ask(repo: Path, *argv: str) -> dict[str, Any]:
    return done(repo, "resolve", *argv, now=MUCH_LATER)


def test_a_flag_and_its_correction_are_one_commit(repo: Path) -> None:
    loves, hates = pair(repo)
    case = the_case(repo)
    assert (case.status, case.verdict, case.confidence) == ("open", "flagged", 0.5)
    assert {s.memory: s.text for s in case.sides} == {
        i: m.body for i, m in memories(repo).items() if i in (loves, hates)
    }
    (flag,) = git(repo, "log", "--grep=^Memrepo-Op: flag", "--format=%H").split()
    shown = git(repo, "show", "--name-only", "--format=", flag).split()
    assert len([p for p in shown if p.startswith("memories/")]) == 2
    assert [p for p in shown if p.startswith("corrections/")] == [
        f"corrections/2026-03-02-{case.id}.md"
    ]
    run = done(repo, "log", "--runs")["runs"][0]["run"]
    assert case.run == run
    assert done(repo, "status")["contradictions"] == 1
    assert memrepo(repo, "check", "--all").exit == 0
    assert_sound(repo)


def test_it_is_listed_shown_from_both_sides_and_asks_for_a_decision(repo: Path) -> None:
    (row,) = ask(repo)["corrections"]
    assert row["id"] == the_case(repo).id
    before = standing(repo)
    for word in (row["id"], row["id"][:8], *pair(repo), pair(repo)[0][:8]):
        answer = memrepo(repo, "resolve", word)
        (shown,) = answer.data["corrections"]
        assert (answer.exit, shown["id"], shown["status"]) == (3, row["id"], "open")
        texts = {m["text"]: m["evidence"][0]["quote"] for m in shown["memories"]}
        assert texts == {LOVES[2:]: LOVES, HATES[2:]: HATES}
    text = memrepo(repo, "resolve", row["id"], as_json=False).out
    assert LOVES in text
    assert "--keep MEMORY or --both" in text
    assert standing(repo) == before


def test_the_kept_memory_replaces_the_other_in_one_commit(repo: Path) -> None:
    loves, hates = pair(repo)
    before = standing(repo)
    ask(repo, loves, "--keep", hates, "--dry-run")
    assert standing(repo) == before
    data = ask(repo, loves, "--keep", hates[:8], "--reason", "she said so today")
    found = memories(repo)
    assert found[loves].status == "superseded"
    assert found[loves].superseded_by == (hates,)
    assert found[hates].supersedes == (loves,)
    assert found[hates].standing == "resolved"
    case = the_case(repo)
    assert (case.verdict, case.kept, case.reason) == ("superseded", hates, "she said so today")
    assert case.by == "human:person@example.org"
    touched = set(git(repo, "show", "--name-only", "--format=", data["commit"]).split())
    assert len(touched - {"MEMORY.md"}) == 3
    assert ask(repo)["corrections"] == []
    assert "unchanged" in ask(repo, case.id, "--keep", hates)
    assert memrepo(repo, "resolve", case.id, "--both").exit == 3
    assert memrepo(repo, "resolve", case.id).exit == 0
    assert_sound(repo)


def test_both_may_stand_and_no_later_run_flags_them_until_a_text_changes(repo: Path) -> None:
    loves, hates = pair(repo)
    ask(repo, hates, "--both", "--reason", "on two machines")
    found = memories(repo)
    for id_ in (loves, hates):
        assert (found[id_].status, found[id_].standing) == ("active", "resolved")
        assert not found[id_].fields.get("links")
    assert done(repo, "resolve", "--list")["corrections"][0]["verdict"] == "both"
    assert done(repo, "resolve")["corrections"] == []
    before = cases(repo)
    for day in (4, 5):
        answer = memrepo(repo, "run", "--mode", "reconciliation", now=f"2026-03-0{day}T09:00:00Z")
        assert answer.exit == 0
    assert answer.data["status"] == "skipped"
    assert cases(repo) == before
    write(
        repo.parent / "workspace",
        LOVES,
        "- The office is in the old mill by the river.",
        HATES.replace("light", "lighter"),
    )
    done(repo, "run", now="2026-03-06T09:00:00Z")
    assert done(repo, "status")["contradictions"] >= 1
    assert_sound(repo)


def test_a_revert_opens_the_case_again_and_of_the_run_takes_it_away(repo: Path) -> None:
    commit = ask(repo, the_case(repo).id, "--keep", pair(repo)[0])["commit"]
    done(repo, "revert", commit, now="2026-03-04T09:00:00Z")
    assert the_case(repo).status == "open"
    assert {memories(repo)[i].standing for i in pair(repo)} == {"contested"}
    run = done(repo, "log", "--runs")["runs"][0]["run"]
    done(repo, "revert", run, now="2026-03-05T09:00:00Z")
    assert not list((repo / "corrections").glob("*.md"))
    assert_sound(repo)


@pytest.mark.parametrize(
    ("argv", "exit_", "said"),
    [
        (("con-ffff", "--both"), 2, "no contradiction is called"),
        (("--both",), 2, "no contradiction was given"),
        (("con-", "--both", "--keep", "mem-1"), 2, "not allowed with"),
    ],
)
def test_what_cannot_be_resolved(repo: Path, argv: tuple[str, ...], exit_: int, said: str) -> None:
    answer = memrepo(repo, "resolve", *argv)
    assert answer.exit == exit_
    assert said in answer.error["message"]


def test_a_damaged_correction_is_named_by_check(repo: Path) -> None:
    path = next((repo / "corrections").glob("*.md"))
    path.write_text(path.read_text().replace("verdict: flagged", "verdict: shut"))
    name = path.relative_to(repo).as_posix()
    answer = memrepo(repo, "check", name)
    assert answer.exit == 1
    (problem,) = answer.data["problems"]
    assert (problem["rule"], problem["key"], problem["line"]) == (
        "correction-unreadable",
        "verdict",
        5,
    )
    git(repo, "add", "-A")
    assert memrepo(repo, "check", "--staged").exit == 1
