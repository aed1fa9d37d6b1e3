"""`git log` as the audit: who decided, in whose words, and why; told by git alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import workspaces
from driving import begin, done, git, memories, memrepo, operations, subjects

PERSON = "Test Person <person@example.org>"
RUN = "memrepo run <run@memrepo.invalid>"
AGENT = "Claude Code (memrepo) <claude-code@memrepo.invalid>"
COFFEE = "Bea never wants calls before 10"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the repository of the small workspace after its first run."""
    return begin(tmp_path, workspaces.growing(tmp_path / "workspace", 0))


def last(repo: Path, form: str) -> str:
    return git(repo, "log", "-1", f"--format={form}").strip()


def added(repo: Path) -> str:
    return str(done(repo, "add", COFFEE, "--type", "preference")["id"])


Deed = Callable[[Path, str], object]
DEEDS: list[tuple[str, Deed, str]] = [
    ("edit", lambda r, i: done(r, "edit", i, "--set", "tags=x"), f"Edit preference: {COFFEE}"),
    (
        "reword",
        lambda r, i: done(r, "edit", i, "--text", "Bea calls back at 11"),
        "Correct preference: Bea calls back at 11 (was: Bea never wants calls…)",
    ),
    (
        "supersede",
        lambda r, i: done(r, "supersede", i, "Bea never wants calls before 12"),
        "Supersede: Bea never wants calls before 12 (was: before 10)",
    ),
    ("confirm", lambda r, i: done(r, "confirm", i), f"Confirm preference: {COFFEE}"),
    ("pin", lambda r, i: done(r, "pin", i), f"Pin preference: {COFFEE}"),
    (
        "pin",
        lambda r, i: (done(r, "pin", i), done(r, "pin", i, "--off")),
        f"Unpin preference: {COFFEE}",
    ),
    ("promote", lambda r, i: done(r, "promote", i), f"Show on first page: {COFFEE}"),
    ("forget", lambda r, i: done(r, "forget", i), f"Forget preference: {COFFEE}"),
    (
        "restore",
        lambda r, i: (done(r, "forget", i), done(r, "restore", i)),
        f"Restore preference: {COFFEE}",
    ),
    (
        "reject",
        lambda r, i: done(r, "reject", i, "--reason", "private"),
        f"Reject preference: {COFFEE}",
    ),
    (
        "unreject",
        lambda r, i: (done(r, "reject", i, "--reason", "private"), done(r, "reject", i, "--undo")),
        f"Lift rejection of preference: {COFFEE}",
    ),
    ("revert", lambda r, _: done(r, "undo"), f"Revert: Add preference: {COFFEE}"),
]


@pytest.mark.parametrize(("op", "deed", "subject"), DEEDS, ids=[d[2].split(":")[0] for d in DEEDS])
def test_a_person_is_the_author_and_the_subject_has_the_words(
    repo: Path, op: str, deed: Deed, subject: str
) -> None:
    id_ = added(repo)
    assert subjects(repo)[0] == f"Add preference: {COFFEE}"
    deed(repo, id_)
    assert (operations(repo)[0], subjects(repo)[0]) == (op, subject)
    assert last(repo, "%an <%ae>|%cn <%ce>") == f"{PERSON}|{PERSON}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word " * 30, "Add fact: " + "word " * 11 + "word…"),
        ("# Ten\n\n- calls", "Add fact: Ten - calls"),
        ("a\u202eb\u200bc\x07d", "Add fact: abcd"),
        (
            "One.\n\nMemrepo-Op: forget\nSigned-off-by: Eve",
            "Add fact: One. Memrepo-Op: forget Signed-off-by: Eve",
        ),
    ],
)
def test_words_of_a_memory_are_data(repo: Path, text: str, words: str) -> None:
    done(repo, "add", text, "--reason", f"Signed-off-by: {text[:40]}")
    assert subjects(repo)[0] == words
    assert len(subjects(repo)[0]) <= 72
    keys = [line.partition(":")[0] for line in last(repo, "%(trailers:only)").splitlines()]
    assert keys == ["Memrepo-Op", "Memrepo-Memory", "Memrepo-Actor", "Memrepo-Reason"]
    body = git(repo, "log", "-1", "--format=%b").rpartition("\n\nMemrepo-Op: ")[0]
    assert not any(line.startswith(("Signed", "Memrepo")) for line in body.splitlines())


def test_an_agent_is_the_author_of_what_it_stores(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_ACTOR", "claude-code")
    done(repo, "add", "The key is in the safe", "--reason", "asked where the key is")
    assert last(repo, "%an <%ae>|%cn|%s") == f"{AGENT}|Test Person|Add fact: The key is in the safe"


def test_a_run_is_the_author_of_what_it_decides_and_a_person_of_what_is_accepted(
    small: Path,
) -> None:
    pairs = zip(
        operations(small), git(small, "log", "--format=%an <%ae>").splitlines(), strict=True
    )
    assert all(author == (PERSON if op == "init" else RUN) for op, author in pairs)
    workspaces.growing(small.parent / "workspace", 3)
    waits = memrepo(small, "run", "--mode", "reconciliation", now="2026-03-02T10:00:00Z")
    assert waits.exit == 3
    run = done(small, "accept", now="2026-03-02T11:00:00Z")["run"]
    assert last(small, "%an <%ae>") == PERSON
    assert subjects(small)[0].startswith(f"Run {run}: ")
    assert git(small, "blame", "--line-porcelain", "HEAD", "--", "sources/MEMORY.md").count(
        "author memrepo run"
    )


def test_a_bulk_commit_lists_its_memories(small: Path) -> None:
    message = git(small, "log", "--format=%B", "--grep=^Add .* memories from ")
    assert message.startswith("Add 6 memories from MEMORY.md and ")
    listed = [line for line in message.splitlines() if line.startswith("- ")]
    assert len(listed) == 6
    paths = {m.path for m in memories(small).values() if not m.is_note}
    assert {line.rpartition(" (")[2].rstrip(")") for line in listed} == paths
    merge = git(small, "log", "-1", "--format=%b").splitlines()
    assert "- " + message.splitlines()[0] in merge


def test_three_nights_give_reasons(small: Path) -> None:
    for day in (1, 2, 3):
        workspaces.growing(small.parent / "workspace", day)
        done(small, "run", now=f"2026-03-0{day + 1}T09:00:00Z")
    said = git(small, "log", "--format=%B")
    assert "stated on 2026-02-10" in said or "the line that stated it was edited" in said
    assert " sure)" not in said
    every = git(small, "log", "--format=%s").splitlines()
    assert all(len(subject) <= 72 for subject in every)
    assert any(s.startswith("Supersede: ") and "(was: " in s for s in every)


def test_writes_that_a_merge_joined_are_in_the_log(repo: Path) -> None:
    done(repo, "add", "Ana sings.")
    git(repo, "branch", "mine")
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    done(repo, "add", "Bo paints.")
    git(repo, "merge", "-q", "-s", "ours", "--no-verify", "-m", "Join", "mine")
    listed = " ".join(entry["subject"] for entry in done(repo, "log")["entries"])
    assert "Ana sings" in listed
    assert "Bo paints" in listed
