"""`doctor` names what stands in the way of reading and writing, once, with a way out."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LATER, done, git, memories, memrepo

WAITS = "run/20260301T000000Z-12345678"
NOWHERE = "12345678" * 5


def failing(repo: Path) -> dict[str, dict[str, Any]]:
    return {c["name"]: c for c in memrepo(repo, "doctor").data["checks"] if not c["ok"]}


def without(failed: dict[str, Any]) -> set[str]:
    """Return the names of failed checks but those of a machine that tests hide."""
    return {*failed} - {"hook", "drivers", "program"}


@pytest.fixture
def waiting(small_repo: Path) -> Path:
    """Return a repository with a branch of a waiting run whose commit is gone."""
    ref = small_repo / ".git" / "refs" / "heads" / WAITS
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(f"{NOWHERE}\n")
    return small_repo


def test_a_waiting_branch_without_its_commit_stops_neither_status_nor_runs(waiting: Path) -> None:
    found = done(waiting, "status")
    (problem,) = [p for p in found["problems"] if p["rule"] == "branch-unreadable"]
    assert (problem["path"], found["waiting"]) == (WAITS, [])
    assert f"git update-ref -d refs/heads/{WAITS}" in problem["fix"]
    with (waiting.parent / "workspace" / "MEMORY.md").open("a") as file:
        file.write("\n- The new kiln reaches 1200 degrees.\n")
    assert memrepo(waiting, "run", now=LATER).exit == 0
    git(waiting, "update-ref", "-d", f"refs/heads/{WAITS}")
    found = done(waiting, "status")
    assert not [p for p in found["problems"] if p["rule"] == "branch-unreadable"]


def test_a_folder_of_memories_that_was_renamed_is_named(small_repo: Path) -> None:
    (small_repo / "memories").rename(small_repo / "memoires")
    failed = failing(small_repo)["state"]
    assert "memories/: gone from the work tree" in failed["message"]
    assert "`git restore memories`" in failed["message"]
    git(small_repo, "restore", "memories")
    assert "state" not in failing(small_repo)


@pytest.mark.parametrize(
    "name", ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "refs/heads/main.lock"]
)
def test_a_lock_that_no_git_holds_is_named(small_repo: Path, name: str) -> None:
    lock = small_repo / ".git" / name
    lock.touch()
    assert f"remove {lock}" in failing(small_repo)["state"]["message"]
    if name in ("index.lock", "refs/heads/main.lock"):
        answer = memrepo(small_repo, "add", "The gate squeaks.", "--reason", "r", now=LATER)
        assert answer.exit == 5
        assert f"if none is running, remove {lock}" in answer.error["fix"]
    lock.unlink()
    assert "state" not in failing(small_repo)


def test_a_repository_that_may_not_be_written_is_named(small_repo: Path) -> None:
    folder = small_repo / ".git"
    folder.chmod(0o555)
    answer = subprocess.run(
        [sys.executable, "-m", "memrepo", "-C", str(small_repo), "--json", "doctor"],
        capture_output=True,
        check=False,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(24, 1, 0, 0, 0),
    )
    folder.chmod(0o755)
    (found,) = [c for c in json.loads(answer.stdout)["checks"] if c["name"] == "state"]
    assert f"this user may not write to {folder}" in found["message"]
    assert not found["ok"]


def test_a_missing_object_is_one_finding_that_names_the_memory(small_repo: Path) -> None:
    memory = min(memories(small_repo).values(), key=lambda m: m.path)
    blob = git(small_repo, "rev-parse", f"HEAD:{memory.path}").strip()
    copy = small_repo.parent / "copy"
    git(small_repo.parent, "clone", "-q", "--no-hardlinks", str(small_repo), str(copy))
    packs = small_repo / ".git" / "objects" / "pack"
    for pack in sorted(packs.glob("*.pack")):
        aside = pack.rename(small_repo.parent / pack.name)
        for left in packs.glob(f"{pack.stem}.*"):
            left.unlink()
        with aside.open("rb") as file:
            subprocess.run(["git", "-C", str(small_repo), "unpack-objects", "-q"], stdin=file)
    (small_repo / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for left in (small_repo / ".git" / "memrepo").glob("*.sqlite3"):
        left.unlink()
    answer = subprocess.run(
        [sys.executable, "-m", "memrepo", "-C", str(small_repo), "--json", "doctor"],
        capture_output=True,
        check=False,
    )
    failed = {c["name"]: c for c in json.loads(answer.stdout)["checks"] if not c["ok"]}
    assert without(failed) == {"objects"}
    assert memory.path in failed["objects"]["message"]
    assert f"git -C COPY cat-file blob {blob}" in failed["objects"]["message"]
    words = f"git -C {copy} cat-file blob {blob} | git -C {small_repo} hash-object -w --stdin"
    subprocess.run(words, shell=True, check=True, capture_output=True)
    assert without(failing(small_repo)) == set()


def test_a_workspace_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    done(tmp_path, "init", "repo", "--from", "workspace")
    assert "workspace" not in failing(tmp_path / "repo")
    (tmp_path / "workspace").rmdir()
    assert "does not exist" in failing(tmp_path / "repo")["workspace"]["message"]


def checks(repo: Path) -> dict[str, dict[str, Any]]:
    return {c["name"]: c for c in memrepo(repo, "doctor").data["checks"]}


def commit(repo: Path, message: str) -> None:
    git(repo, "add", "-A")
    git(repo, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", message)


@pytest.fixture
def long_repo(small_repo: Path) -> Path:
    """Return a repository in which everything that memrepo does so far was done once."""
    first = next(iter(memories(small_repo)))
    workspaces.growing(small_repo.parent / "workspace", 1)
    done(small_repo, "run", now=LATER)
    done(small_repo, "pin", first, now=LATER)
    done(small_repo, "revert", now=LATER)
    done(small_repo, "revert", "HEAD", now=LATER)
    new = done(small_repo, "add", "The office moved to Oslo", now=LATER)["id"]
    done(small_repo, "supersede", new, "The office moved to Bergen", now=LATER)
    assert memrepo(small_repo, "run", "--mode", "reconciliation", now=LATER).exit in (0, 3)
    return small_repo


def test_a_sound_history_passes_every_check(long_repo: Path) -> None:
    found = checks(long_repo)
    assert found["rules"]["ok"], found


def test_a_supersession_cut_in_half_is_found(long_repo: Path) -> None:
    old = next(m for m in memories(long_repo).values() if m.status == "superseded")
    path = long_repo / old.path
    text = path.read_text()
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("superseded_")]
    path.write_text("".join(lines))
    commit(long_repo, "tidied up")
    for text in ("One more", "And another"):
        done(long_repo, "add", text, now=LATER)
    found = checks(long_repo)["rules"]
    assert not found["ok"]
    assert {p["rule"] for p in found["problems"]} >= {"supersession-half", "supersession-status"}
    assert "supersession-half" in {p["rule"] for p in done(long_repo, "status")["problems"]}
