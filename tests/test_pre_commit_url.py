"""The pre-commit framework, on hooks that it installs itself from this project's git repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from driving import begin, git
from test_packaging import LEFT_OUT

from memrepo.assets import asset

ROOT = Path(__file__).resolve().parents[1]
IDS = [
    hook["id"]
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
]
NO_PACKAGES = ("No matching distribution", "Could not fetch", "ConnectionError", "Max retries")
"""What pip says where it reaches neither a registry nor a folder of packages."""
Ran = subprocess.CompletedProcess[str]


def pre_commit(where: Path, cache: Path, *argv: str) -> Ran:
    """Run pre-commit; a `memrepo` that refuses everything stands first on the path."""
    decoy = cache.parent / "bin" / "memrepo"
    decoy.parent.mkdir(exist_ok=True)
    decoy.write_text("#!/bin/sh\necho decoy\nexit 42\n", encoding="utf-8")
    decoy.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{decoy.parent}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(cache),
        "PIP_RETRIES": "0",
        "PIP_DEFAULT_TIMEOUT": "15",
    }
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *argv],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("framework") / "cache"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    """Return a memory repository whose hooks come from this project's address and a commit."""
    project = tmp_path_factory.mktemp("project") / "memrepo"
    shutil.copytree(ROOT, project, ignore=LEFT_OUT)
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "as it is now")
    made = begin(tmp_path_factory.mktemp("memory"), asset("templates", "demo", "workspace"))
    listed = [
        {
            "repo": project.as_uri(),
            "rev": git(project, "rev-parse", "HEAD").strip(),
            "hooks": [{"id": name} for name in IDS],
        }
    ]
    (made / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": listed}))
    git(made, "commit", "-q", "--no-verify", "-am", "hooks by address")
    ran = pre_commit(made, cache, "install-hooks")
    if ran.returncode and any(words in ran.stdout for words in NO_PACKAGES):
        pytest.skip("pip reaches no packages, which pre-commit installs the hooks with")
    assert ran.returncode == 0, ran.stdout
    return made


@pytest.fixture
def clean(repository: Path) -> Path:
    git(repository, "reset", "-q", "--hard")
    git(repository, "clean", "-qfd", "memories")
    return repository


def outcomes(ran: Ran) -> dict[str, str]:
    """Return the outcome of each hook by its name."""
    lines = (line.partition("...") for line in ran.stdout.splitlines() if line[:7] == "memrepo")
    return {name: rest.strip(".").removeprefix("(no files to check)") for name, _, rest in lines}


def test_every_hook_passes_what_a_run_made(clean: Path, cache: Path) -> None:
    ran = pre_commit(clean, cache, "run", "--all-files")
    assert ran.returncode == 0, ran.stdout
    assert list(outcomes(ran).values()) == ["Passed"] * len(IDS), ran.stdout


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("---\ntype: facct\n---\n\nText.\n", {"memrepo", "memrepo schema"}),
        ("---\ntype: fact\n---\n\nIt is ghp_" + "Fake1234" * 5, {"memrepo", "memrepo secrets"}),
        (
            (
                "---\ntype: fact\nlinks: [{target: mem-0000000000000000, type: related}]\n---\n"
                "\nText.\n"
            ),
            {"memrepo", "memrepo links"},
        ),
        ("---\ntype: fact\n---\n\n" + "> " * 70 + "x\n", {"memrepo", "memrepo size"}),
        ("---\ntags: []\ntype: fact\n---\n\nText.\u200b\n", {"memrepo format"}),
    ],
    ids=["schema", "secrets", "links", "size", "format"],
)
def test_each_hook_finds_what_is_its_own(
    clean: Path, cache: Path, text: str, failing: set[str]
) -> None:
    path = clean / "memories" / "knowledge" / "pot.md"
    path.write_text(text, encoding="utf-8")
    git(clean, "add", "-A")
    ran = pre_commit(clean, cache, "run")
    found = {name for name, outcome in outcomes(ran).items() if outcome == "Failed"}
    assert (ran.returncode, found) == (1, failing), ran.stdout
    assert ("modified by this hook" in ran.stdout) == ("memrepo format" in failing)
    assert "\u200b" not in path.read_text(encoding="utf-8")


def test_a_commit_is_stopped_by_a_hook_from_an_address(clean: Path, cache: Path) -> None:
    assert pre_commit(clean, cache, "install", "--overwrite").returncode == 0
    path = clean / "memories" / "knowledge" / "pot.md"
    path.write_text("---\ntype: facct\n---\n\nText.\n")
    git(clean, "add", "-A")
    before = git(clean, "rev-parse", "HEAD")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(cache)}
    ran = subprocess.run(
        ["git", "commit", "-qm", "mine"],
        cwd=clean,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "pot.md:2:7" in ran.stderr) == (1, True), ran
    assert git(clean, "rev-parse", "HEAD") == before
