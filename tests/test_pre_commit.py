"""The real pre-commit framework, on the very configuration that init writes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from driving import begin, git, program

from memrepo.core.layout import asset

ROOT = Path(__file__).resolve().parents[1]
BROKEN = "---\ntype: fact\nconfidence: high\n---\n\nText.\n"
"""A memory with a wrong value on its third line."""
Ran = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a `memrepo` that is this checkout's."""
    return program(tmp_path_factory.mktemp("bin") / "memrepo").parent


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory repository made from the demo's workspace, after one run."""
    return begin(tmp_path_factory.mktemp("memory"), asset("templates", "demo", "workspace"))


def run(where: Path, programs: Path, *argv: str) -> Ran:
    """Run a program with memrepo on its path; pre-commit keeps its cache beside it."""
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(programs / "cache"),
    }
    return subprocess.run(
        argv, cwd=where, env=environment, capture_output=True, text=True, check=False
    )


def pre_commit(where: Path, programs: Path, *argv: str) -> Ran:
    """Run pre-commit."""
    return run(where, programs, sys.executable, "-m", "pre_commit", *argv)


def stage(repository: Path, text: str) -> str:
    """Put a text over one memory file and stage it; return its path."""
    path = git(repository, "ls-files", "memories/knowledge").splitlines()[0]
    (repository / path).write_text(text, encoding="utf-8")
    git(repository, "add", path)
    return path


@pytest.fixture
def clean(repository: Path) -> Path:
    """Return the repository with nothing staged."""
    git(repository, "reset", "-q", "--hard")
    return repository


def test_every_memory_of_a_run_passes(clean: Path, programs: Path) -> None:
    ran = pre_commit(clean, programs, "run", "--all-files")
    assert (ran.returncode, "Passed" in ran.stdout) == (0, True), ran.stdout


def test_a_broken_memory_fails_and_is_named_with_its_line(clean: Path, programs: Path) -> None:
    path = stage(clean, BROKEN)
    ran = pre_commit(clean, programs, "run")
    assert ran.returncode == 1
    assert f"{path}:3:" in ran.stdout


def knowledge(repository: Path) -> list[Path]:
    """Return the memory files of one layer."""
    return [repository / p for p in git(repository, "ls-files", "memories/knowledge").splitlines()]


def test_of_a_file_staged_in_part_that_part_counts(clean: Path, programs: Path) -> None:
    good = knowledge(clean)[0].read_text(encoding="utf-8")
    path = clean / stage(clean, f"{good}\nMore of it.\n")
    path.write_text(BROKEN, encoding="utf-8")
    ran = pre_commit(clean, programs, "run")
    assert (ran.returncode, path.read_text(encoding="utf-8")) == (0, BROKEN), ran.stdout
    stage(clean, BROKEN)
    path.write_text(good, encoding="utf-8")
    ran = pre_commit(clean, programs, "run")
    assert (ran.returncode, path.read_text(encoding="utf-8")) == (1, good), ran.stdout
    assert f"{path.relative_to(clean)}:3:" in ran.stdout


def test_a_memory_joined_by_hand_is_checked_before_the_merge_is_committed(
    clean: Path, programs: Path
) -> None:
    start = git(clean, "rev-parse", "HEAD").strip()
    good = knowledge(clean)[0].read_text(encoding="utf-8")
    for branch in ("theirs", "ours"):
        git(clean, "checkout", "-q", "-B", branch, start)
        stage(clean, f"{good}\nSaid by {branch}.\n")
        git(clean, "commit", "-q", "--no-verify", "-m", branch)
    git(clean, "merge", "-q", "--no-commit", "theirs", check=False)
    for text, code in ((f"{good}\nSaid by both.\n", 0), (BROKEN, 1)):
        path = stage(clean, text)
        ran = pre_commit(clean, programs, "run")
        assert "merge-conflict files only" in ran.stdout
        assert (ran.returncode, f"{path}:3:" in ran.stdout) == (code, bool(code)), ran.stdout
    git(clean, "checkout", "-q", "-f", "main")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("validate-manifest", ".pre-commit-hooks.yaml"),
        ("validate-config", ".pre-commit-config.yaml"),
        ("validate-config", "templates/repo/pre-commit-config.yaml"),
    ],
)
def test_the_frameworks_own_files_are_valid(programs: Path, command: str, name: str) -> None:
    ran = pre_commit(ROOT, programs, command, name)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout


def test_the_hook_that_others_use_is_the_one_that_init_writes() -> None:
    listed = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (offered,) = [hook for hook in listed if hook["id"] == "memrepo"]
    config = asset("templates", "repo", "pre-commit-config.yaml").read_text(encoding="utf-8")
    (written,) = yaml.safe_load(config)["repos"][0]["hooks"]
    shared = ("id", "entry", "files", "require_serial")
    assert {key: offered[key] for key in shared} == {key: written[key] for key in shared}


def test_the_projects_own_hook_checks_a_demo_repository(programs: Path) -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = (h for h in config["repos"][0]["hooks"] if h["id"] == "memrepo-demo")
    # Our stand-in comes first where a .venv has a memrepo of its own.
    entry = hook["entry"].replace("$PWD/.venv/bin:", "")
    ran = run(ROOT, programs, *shlex.split(entry))
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"[1-9]\d* files: nothing found\n", ran.stdout)
