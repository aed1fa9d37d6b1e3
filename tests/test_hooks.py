"""The installed hooks ask memrepo, and a missing memrepo never passes for a clean check."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memrepo.core.layout import asset
from memrepo.store.settings import HOOKS

Commit = subprocess.CompletedProcess[str]


def program(path: Path, exit_code: int) -> Path:
    """Write a stand-in for memrepo that prints what it was asked and exits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "asked: $*" >&2\nexit {exit_code}\n', encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Make a repository with the hook in place and one staged file."""
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in HOOKS:
        shutil.copy(asset("hooks", "shim"), root / ".git" / "hooks" / name)
        (root / ".git" / "hooks" / name).chmod(0o755)
    (root / "a.md").write_text("text\n", encoding="utf-8")
    subprocess.run(["git", "add", "a.md"], cwd=root, check=True)
    return root


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """Make a folder with git and sh and nothing else, to be the whole PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "dirname", "cat"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def commit(root: Path, path: Path) -> Commit:
    """Commit what is staged with a PATH of one folder."""
    return subprocess.run(
        ["git", "commit", "-q", "-m", "create: a"],
        cwd=root,
        env={**os.environ, "PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_missing_program_stops_the_commit_and_says_how_to_name_it(
    repository: Path, bare_path: Path
) -> None:
    done = commit(repository, bare_path)
    assert done.returncode != 0
    assert "git config memrepo.program" in done.stderr


@pytest.mark.parametrize("exit_code", [0, 1])
def test_the_program_on_the_path_decides(repository: Path, bare_path: Path, exit_code: int) -> None:
    program(bare_path / "memrepo", exit_code)
    done = commit(repository, bare_path)
    assert "asked: hooks run pre-commit" in done.stderr
    assert done.returncode == exit_code


def test_a_configured_program_comes_before_the_path(
    repository: Path, bare_path: Path, tmp_path: Path
) -> None:
    program(bare_path / "memrepo", 1)
    named = program(tmp_path / "a folder" / "memrepo", 0)
    subprocess.run(["git", "config", "memrepo.program", str(named)], cwd=repository, check=True)
    assert commit(repository, bare_path).returncode == 0


def test_a_program_whose_environment_is_gone_is_named_and_stops_the_commit(
    repository: Path, bare_path: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "memrepo"
    gone.write_text("#!/no/such/venv/bin/python\n")
    gone.chmod(0o755)
    subprocess.run(["git", "config", "memrepo.program", str(gone)], cwd=repository, check=True)
    done = commit(repository, bare_path)
    assert done.returncode != 0
    assert f"the pre-commit hook cannot start {gone}, so nothing was checked" in done.stderr
