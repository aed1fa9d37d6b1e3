"""Hooks in a clone: put in place, kept beside others, run on real commits, merges and pushes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from driving import done, git, memories, memrepo, program

KEY = "123456789:" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345678"


@pytest.fixture
def repo(small_repo: Path) -> Path:
    """Return a repository whose hooks call this checkout's program."""
    wrapper = program(small_repo.parent / "memrepo wrapper")
    git(small_repo, "config", "memrepo.program", str(wrapper))
    return small_repo


def run(where: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *argv], cwd=where, capture_output=True, text=True, check=False)


def write(repo: Path, text: str, name: str = "memories/knowledge/pot.md") -> Path:
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(repo, "add", name)
    return path


def test_a_hand_made_memory_is_completed_as_it_is_committed(repo: Path) -> None:
    made = write(repo, "---\ntype: fact\n---\n\nThe spare key lies under the third pot.\n")
    assert run(repo, "commit", "-qm", "mine").returncode == 0
    assert not made.exists()
    (found,) = [m for m in memories(repo).values() if "third pot" in m.body]
    assert git(repo, "show", f"HEAD:{found.path}") == (repo / found.path).read_text()
    assert git(repo, "status", "--porcelain") == ""


def test_a_commit_of_named_files_is_judged_by_these_alone(repo: Path) -> None:
    good, bad = "memories/knowledge/pot.md", "memories/knowledge/bad.md"
    write(repo, "---\ntype: fact\n---\n\nThe spare key lies under the third pot.\n", good)
    write(repo, "---\ntype: facct\n---\n\nx\n", bad)
    ran = run(repo, "commit", "-qm", "mine", "--", bad)
    assert (ran.returncode, "bad.md:2:7" in ran.stderr) == (1, True)
    assert run(repo, "commit", "-qm", "mine", "--", good).returncode == 0
    assert run(repo, "commit", "-qm", "the rest").returncode == 1
    assert git(repo, "status", "--porcelain") == f"A  {bad}\n"


def test_a_part_that_is_picked_is_judged_and_the_rest_is_left(repo: Path) -> None:
    memory = next(m for m in memories(repo).values() if not m.is_note)
    path = repo / memory.path
    was = path.read_text()
    path.write_text(was.replace(f"type: {memory.type}", "type: facct") + "\n\nMore of it.\n")
    for answers, code in ((b"n\ny\n", 0), (b"y\n", 1)):
        ran = subprocess.run(
            ["git", "commit", "-q", "-p", "-m", "part"],
            cwd=repo,
            input=answers,
            capture_output=True,
            check=False,
        )
        assert ran.returncode == code, ran
    assert "type: facct" not in git(repo, "show", f"HEAD:{memory.path}")
    assert "More of it." in git(repo, "show", f"HEAD:{memory.path}")


def test_a_client_with_a_window_finds_the_program_without_a_path(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "---\ntype: facct\n---\n\nx\n")
    monkeypatch.setenv("PATH", os.defpath)
    ran = run(repo, "commit", "-qm", "mine")
    assert (ran.returncode, "pot.md:2:7" in ran.stderr) == (1, True)


def test_an_amended_and_a_rebased_commit_pass_and_the_index_follows(repo: Path) -> None:
    done(repo, "search", "memory")
    write(repo, "---\ntype: fact\n---\n\nThe spare key lies under the third pot.\n")
    assert run(repo, "commit", "-qm", "mine").returncode == 0
    (made,) = [repo / m.path for m in memories(repo).values() if "third pot" in m.body]
    made.write_text(made.read_text().replace("third", "fourth"))
    assert run(repo, "commit", "-qa", "--amend", "--no-edit").returncode == 0
    git(repo, "branch", "-q", "mine")
    git(repo, "reset", "-q", "--hard", "HEAD~1")
    done(repo, "add", "A walrus lives in the pond.")
    ran = run(repo, "rebase", "-q", "main", "mine")
    assert ran.returncode == 0, ran
    assert "fourth pot" in done(repo, "search", "fourth")["hits"][0]["text"]
    assert "walrus lives" in done(repo, "search", "walrus")["hits"][0]["text"]


def test_a_message_that_poses_as_memrepos_is_refused(repo: Path) -> None:
    ran = run(repo, "commit", "-q", "--allow-empty", "-m", "edit: x\n\nMemrepo-Op: edit")
    assert (ran.returncode, "message-trailer" in ran.stdout + ran.stderr) == (1, True)
    assert run(repo, "commit", "-q", "--allow-empty", "-m", "edit: x").returncode == 0


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("x\n\nmemrepo-run : 1\n", ["message-trailer"]),
        ("x\n\nMemrepo is good\n", []),
        ("x\n# ------------------------ >8 ------------------------\nMemrepo-Op: run\n", []),
        (f"x {KEY}\n", ["message-secret"]),
    ],
)
def test_a_message_is_read_as_git_would_keep_it(
    tmp_path: Path, text: str, rules: list[str]
) -> None:
    (tmp_path / "message").write_text(text)
    answer = memrepo(tmp_path, "hooks", "run", "commit-msg", "message")
    assert [p["rule"] for p in answer.data["problems"]] == rules
    assert answer.exit == bool(rules)
    assert KEY not in answer.out


def test_a_secret_stops_a_push_and_stays_out_of_what_is_said(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    git(repo, "remote", "add", "hub", str(tmp_path / "hub.git"))
    assert run(repo, "push", "-q", "hub", "HEAD").returncode == 0
    write(repo, f"Bot: {KEY}\n", "notes.txt")
    git(repo, "commit", "-qm", "oops", "--no-verify")
    git(repo, "rm", "-q", "notes.txt")
    git(repo, "commit", "-qm", "taken out", "--no-verify")
    ran = run(repo, "push", "-q", "hub", "HEAD")
    assert (ran.returncode, "notes.txt:1:6" in ran.stdout + ran.stderr) == (1, True)
    assert KEY not in ran.stdout + ran.stderr
    answer = memrepo(repo, "check", "--history")
    assert [p["rule"] for p in answer.data["problems"]] == ["secret-found"]
    assert (answer.exit, KEY in answer.out) == (1, False)
    assert memrepo(repo, "check", "--all").exit == 0


def test_a_hook_of_another_program_stays_and_is_told_how_to_call_ours(repo: Path) -> None:
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho theirs >&2\n")
    assert done(repo, "status")["hooks"].startswith("pre-commit: ")
    assert done(repo, "hooks", "install")["left"] == ["pre-commit"]
    assert hook.read_text().endswith("theirs >&2\n")
    assert "memrepo hooks run NAME" in done(repo, "status")["hooks"]
    call = '"$(git config memrepo.program)" hooks run pre-commit "$@"'
    hook.write_text(f"#!/bin/sh\necho theirs >&2\n{call}\n")
    assert done(repo, "hooks", "install")["left"] == []
    assert done(repo, "status")["hooks"] == ""
    write(repo, "---\ntype: facct\n---\n\nx\n")
    ran = run(repo, "commit", "-qm", "mine")
    said = ran.stdout + ran.stderr
    assert (ran.returncode, "theirs" in said, "frontmatter-value" in said) == (1, True, True)


def test_hooks_that_do_not_run_are_named_by_reason(repo: Path) -> None:
    hooks = repo / ".git" / "hooks"
    (hooks / "commit-msg").unlink()
    (hooks / "pre-push").write_text("#!/bin/sh\necho theirs >&2\n")
    first, second = done(repo, "status")["hooks"].split("; ")
    assert first == "commit-msg: not installed (`memrepo hooks install`)"
    assert second.startswith("pre-push: belongs to another program (`memrepo hooks run NAME")
    git(repo, "config", "core.hooksPath", ".git/hooks-elsewhere")
    (repo / ".git/hooks-elsewhere").mkdir()
    for name in ("pre-commit", "commit-msg", "pre-merge-commit"):
        hook = repo / ".git/hooks-elsewhere" / name
        hook.write_text(f"#!/bin/sh\nmemrepo hooks run {name}\n")
        hook.chmod(0o755)
    assert "instead; pre-push: not installed (" in done(repo, "status")["hooks"]


def test_a_linked_work_tree_is_checked_with_its_own_index(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    write(tmp_path / "other", "---\ntype: facct\n---\n\nx\n")
    ran = run(tmp_path / "other", "commit", "-qm", "mine")
    assert (ran.returncode, "pot.md:2:7" in ran.stdout + ran.stderr) == (1, True)
    assert memrepo(repo, "check", "--staged").data["problems"] == []


@pytest.mark.parametrize("place", [".husky", "/elsewhere"])
def test_a_hooks_path_elsewhere_is_left_and_said(repo: Path, place: str) -> None:
    git(repo, "config", "core.hooksPath", place)
    answer = memrepo(repo, "hooks", "install")
    assert (answer.exit, place in answer.error["message"]) == (3, True)
    assert 'memrepo hooks run NAME "$@"' in answer.error["fix"]
    said = done(repo, "status")["hooks"]
    assert said.startswith(f"core.hooksPath is {place}, where git looks for hooks instead; all: ")
    assert "memrepo hooks run NAME" in said
    assert "hook" in {c["name"] for c in memrepo(repo, "doctor").data["checks"] if not c["ok"]}


@pytest.fixture
def replaced(repo: Path) -> tuple[Path, Path]:
    """Return the files of a superseded memory and of the memory that replaced it."""
    done(repo, "add", "The hub is a small machine.")
    (old,) = [m for m in memories(repo).values() if "small machine" in m.body]
    done(repo, "supersede", old.id, "The hub is a large machine.")
    (new,) = [m for m in memories(repo).values() if "large machine" in m.body]
    return repo / memories(repo)[old.id].path, repo / new.path


def test_a_commit_does_not_bring_back_what_an_unreadable_file_replaced(
    repo: Path, replaced: tuple[Path, Path]
) -> None:
    old, new = replaced
    new.write_text(new.read_text().replace("type: fact", "type: fakt"))
    text = old.read_text().replace("small machine", "small, quiet machine")
    old.write_text(text)
    ran = run(repo, "commit", "-qam", "mine")
    assert ran.returncode == 1
    assert "reference-lost" in ran.stdout + ran.stderr
    assert old.read_text() == text
    git(repo, "add", str(new))
    assert memrepo(repo, "check", "--fix", str(old)).exit == 1
    assert old.read_text() == text


def test_a_commit_does_not_bring_back_what_a_renamed_file_replaced(
    repo: Path, replaced: tuple[Path, Path]
) -> None:
    old, new = replaced
    git(repo, "mv", str(new), str(new.with_name("coffee.md")))
    git(repo, "commit", "-qn", "-m", "rename")
    old.write_text(old.read_text().replace("small machine", "small, quiet machine"))
    ran = run(repo, "commit", "-qam", "mine")
    assert ran.returncode == 0, ran
    (edited,) = [m for m in memories(repo).values() if "quiet machine" in m.body]
    assert edited.status == "superseded", "the memory that replaced it is found by its id"


def test_a_reference_written_by_hand_is_refused_and_stays(repo: Path) -> None:
    write(
        repo,
        "---\ntype: fact\nlinks: [related mem-0123456789abcdef]\n---\n\nThere is a spare key.\n",
    )
    ran = run(repo, "commit", "-qm", "mine")
    assert ran.returncode == 1
    assert "reference-lost" in ran.stdout + ran.stderr
    texts = [path.read_text() for path in (repo / "memories").rglob("*.md")]
    assert [text for text in texts if "mem-0123456789abcdef" in text], ran


def test_a_fix_that_renames_a_file_names_the_references_that_it_removed(repo: Path) -> None:
    made = write(
        repo,
        "---\ntype: fact\nlinks: [related mem-0123456789abcdef]\n---\n\nThere is a spare key.\n",
    )
    found = memrepo(repo, "check", "--fix", str(made), as_json=False)
    assert found.exit == 0, found
    assert "restored links" in found.out
