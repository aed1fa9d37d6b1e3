"""Situations that anybody meets: a plain answer with a way out, and no crash file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import LATER, begin, memories, memrepo


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("# Tools\n\n- Frau Köhler's lathe takes 12 mm rods.\n")
    return begin(tmp_path, workspace)


def program(
    repo: Path, *argv: str, first: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "memrepo", "-C", str(repo), "--now", LATER, *argv],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        preexec_fn=first,
    )


@pytest.mark.parametrize("command", ["status", "search", "run", "init"])
def test_a_missing_git_is_named(repo: Path, tmp_path: Path, command: str) -> None:
    words = {"search": ["search", "lathe"], "init": ["init", "other"]}.get(command, [command])
    answer = program(repo, *words, PATH=str(tmp_path / "nowhere"))
    assert answer.returncode == 5, answer.stderr
    assert b"the program `git` is not on the PATH" in answer.stderr
    assert b"a bug" not in answer.stderr


def test_an_edit_without_a_change_names_the_file_to_edit(repo: Path) -> None:
    (path,) = {m.path for m in memories(repo).values() if m.id == min(memories(repo))}
    answer = memrepo(repo, "edit", min(memories(repo)))
    assert (answer.exit, f"or edit {path} and commit it" in answer.error["fix"]) == (2, True)
