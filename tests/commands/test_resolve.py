"""Contradictions from the first flag to the decision, and what later runs make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import NEXT_DAY, assert_sound, begin, done, git, memories, memrepo, runs, standing

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


def logged(repo: Path) -> list[str]:
    return [p.read_text("utf-8") for p in sorted((repo / "corrections").glob("*.md"))]


def open_cases(repo: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(repo)["contradictions"]
    return found


def ask(repo: Path, *argv: str) -> dict[str, Any]:
    return done(repo, "resolve", *argv, now=MUCH_LATER)


def test_a_flag_and_what_people_read_of_it_are_one_commit(repo: Path) -> None:
    loves, hates = pair(repo)
    (text,) = logged(repo)
    run = runs(repo)[0]
    assert text.startswith("# Contested\n")
    assert all(word in text for word in (loves, hates, LOVES[2:], HATES[2:], run, "0.50"))
    (flag,) = git(repo, "log", "--grep=^Memrepo-Op: flag", "--format=%H").split()
    shown = git(repo, "show", "--name-only", "--format=", flag).split()
    assert len([p for p in shown if p.startswith("memories/")]) == 2
    assert [p for p in shown if p.startswith("corrections/")] == [
        f"corrections/2026-03-02-{open_cases(repo)[0]['id']}.md"
    ]
    assert done(repo, "status")["contradictions"] == 1
    assert memrepo(repo, "check", "--all").exit == 0
    assert_sound(repo)


def test_it_is_listed_shown_from_both_sides_and_asks_for_a_decision(repo: Path) -> None:
    (row,) = open_cases(repo)
    before = standing(repo)
    for word in (row["id"], row["id"][:8], *pair(repo), pair(repo)[0][:8]):
        answer = memrepo(repo, "resolve", word)
        (shown,) = answer.data["contradictions"]
        assert (answer.exit, shown["id"]) == (3, row["id"])
        texts = {m["text"]: m["evidence"][0]["quote"] for m in shown["memories"]}
        assert texts == {LOVES[2:]: LOVES, HATES[2:]: HATES}
    text = memrepo(repo, "resolve", row["id"], as_json=False).out
    assert LOVES in text
    assert f"why: {shown['reason']}" in text
    assert shown["reason"] in logged(repo)[0]
    assert "--keep MEMORY or --both" in text
    assert standing(repo) == before


def test_the_kept_memory_replaces_the_other_in_one_commit(repo: Path) -> None:
    loves, hates = pair(repo)
    for one, tag in ((loves, "editor"), (hates, "light")):
        done(repo, "edit", one, "--set", f"tags={tag}", now=NEXT_DAY)
    before = standing(repo)
    ask(repo, loves, "--keep", hates, "--dry-run")
    assert standing(repo) == before
    data = ask(repo, loves, "--keep", hates[:8], "--reason", "she said so today")
    found = memories(repo)
    assert found[loves].status == "superseded"
    assert found[loves].superseded_by == (hates,)
    assert found[hates].supersedes == (loves,)
    assert found[hates].standing == "resolved"
    assert found[hates].tags == ("light", "editor"), "no tag of the other is lost"
    commit = git(repo, "show", "--format=%B", "--name-only", data["commit"])
    assert "Memrepo-Reason: she said so today" in commit
    assert len([line for line in commit.splitlines() if line.startswith("memories/")]) == 2
    assert open_cases(repo) == []
    answer = memrepo(repo, "resolve", hates, "--both")
    assert (answer.exit, answer.error["fix"].count("memrepo log --op resolve")) == (2, 1)
    assert done(repo, "log", "--op", "resolve")["entries"][0]["commit"] == data["commit"]
    assert_sound(repo)


def test_what_a_person_decided_against_may_be_stated_again_and_is_not_asked_again(
    repo: Path,
) -> None:
    loves, hates = pair(repo)
    ask(repo, loves, "--keep", hates)
    office = "- The office is in the old mill by the river."
    for day, lines in ((4, (office, HATES)), (5, (LOVES, office, HATES))):
        write(repo.parent / "workspace", *lines)
        done(repo, "run", now=f"2026-03-0{day}T09:00:00Z")
        assert open_cases(repo) == []
        assert [memories(repo)[i].status for i in (loves, hates)] == ["superseded", "active"]


def test_both_may_stand_and_no_later_run_flags_them_until_a_text_changes(repo: Path) -> None:
    loves, hates = pair(repo)
    ask(repo, hates, "--both", "--reason", "on two machines")
    found = memories(repo)
    for id_ in (loves, hates):
        assert (found[id_].status, found[id_].standing) == ("active", "resolved")
        assert not found[id_].fields.get("links")
    (record,) = done(repo, "reject", "--list")["rejected"]
    assert (record["reason"], record["statement"].count("mem-")) == ("on two machines", 4)
    assert open_cases(repo) == []
    for day in (4, 5):
        answer = memrepo(repo, "run", "--mode", "reconciliation", now=f"2026-03-0{day}T09:00:00Z")
        assert answer.exit == 0
    assert answer.data["status"] == "skipped"
    assert open_cases(repo) == []
    write(
        repo.parent / "workspace",
        LOVES,
        "- The office is in the old mill by the river.",
        HATES.replace("light", "lighter"),
    )
    done(repo, "run", now="2026-03-06T09:00:00Z")
    assert done(repo, "status")["contradictions"] >= 1
    assert_sound(repo)


@pytest.mark.parametrize("how", ["keep", "both"])
def test_what_is_decided_is_on_the_first_page_at_once(repo: Path, how: str) -> None:
    loves, hates = pair(repo)

    def page() -> str:
        return (repo / "MEMORY.md").read_text("utf-8")

    assert (loves in page(), hates in page()) == (False, True), "the newer line until it is decided"
    ask(repo, loves, *(("--both",) if how == "both" else ("--keep", loves)))
    assert (loves in page(), hates in page()) == (True, how == "both")


def test_the_wording_of_a_person_is_on_the_page_before_a_newer_line(repo: Path) -> None:
    loves, hates = pair(repo)
    done(repo, "confirm", loves, now=NEXT_DAY)
    write(repo.parent / "workspace", LOVES, HATES, "- The kiln in the yard burns gas.")
    done(repo, "run", now=MUCH_LATER)
    page = (repo / "MEMORY.md").read_text("utf-8")
    assert (loves in page, hates in page) == (True, False)


def test_a_decision_that_both_are_true_can_be_lifted(repo: Path) -> None:
    ask(repo, pair(repo)[0], "--both")
    (record,) = done(repo, "reject", "--list")["rejected"]
    done(repo, "reject", record["key"], "--undo", now=MUCH_LATER)
    pending = memrepo(repo, "run", "--mode", "reconciliation", now=MUCH_LATER).data["pending"]
    assert pending == done(repo, "diff")["memories"] == 2
    done(repo, "accept", now=MUCH_LATER)
    assert len(open_cases(repo)) == 1


def test_a_revert_opens_the_case_again_and_of_the_run_takes_it_away(repo: Path) -> None:
    commit = ask(repo, pair(repo)[0], "--keep", pair(repo)[0])["commit"]
    done(repo, "revert", commit, now="2026-03-04T09:00:00Z")
    assert len(open_cases(repo)) == 1
    assert {memories(repo)[i].standing for i in pair(repo)} == {"contested"}
    run = runs(repo)[0]
    done(repo, "revert", run, now="2026-03-05T09:00:00Z")
    assert logged(repo) == []
    assert_sound(repo)


@pytest.mark.parametrize(
    ("argv", "exit_", "said"),
    [
        (("con-ffff", "--both"), 2, "no open contradiction is called"),
        (("--both",), 2, "no contradiction was given"),
        (("con-", "--both", "--keep", "mem-1"), 2, "not allowed with"),
    ],
)
def test_what_cannot_be_resolved(repo: Path, argv: tuple[str, ...], exit_: int, said: str) -> None:
    answer = memrepo(repo, "resolve", *argv)
    assert answer.exit == exit_
    assert said in answer.error["message"]


def test_a_contradiction_stated_by_a_person_stays_when_a_contested_memory_is_reworded(
    repo: Path,
) -> None:
    loves, hates = pair(repo)
    office = next(i for i, m in memories(repo).items() if "office" in m.body)
    done(repo, "link", loves, "contradicts", office, now=NEXT_DAY)
    where = "- The office is in the old mill by the river."
    write(repo.parent / "workspace", LOVES.replace("dark", "darker"), where, HATES)
    assert done(repo, "run", now=MUCH_LATER)["counts"]["memories_reworded"] == 1
    pairs = {frozenset(m["id"] for m in one["memories"]) for one in open_cases(repo)}
    assert pairs == {frozenset((loves, hates)), frozenset((loves, office))}
