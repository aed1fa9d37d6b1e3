"""One door to git, and no clone can make it run, ask or misread anything."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from driving import git

from memrepo.core.errors import GitFailed
from memrepo.store.git import SETTINGS, Git


def trap(repo: Path) -> tuple[str, Path]:
    """Return a program that leaves a file behind when it runs, and that file."""
    program, mark = repo.parent / "trap.sh", repo.parent / "trapped"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n")
    program.chmod(0o755)
    return str(program), mark


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("core.fsmonitor", ("status", "--porcelain")),
        ("gpg.program", ("log", "-1", "--format=%H")),
        ("hook", ("update-ref", "refs/memrepo/x", "HEAD")),
        ("fetch", ("fetch", "trapped")),
    ],
)
def test_a_hostile_clone_runs_no_program(repo: Path, setting: str, words: tuple[str, ...]) -> None:
    program, mark = trap(repo)
    if setting == "hook":
        hook = repo / ".git/hooks/reference-transaction"
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(program)
    elif setting == "fetch":
        git(repo, "config", "remote.trapped.url", f"ext::{program} %S")
        git(repo, "config", "protocol.ext.allow", "always")
    else:
        git(repo, "config", setting, program)
        git(repo, "config", "log.showSignature", "true")
    subprocess.run(["git", "-C", str(repo), *words], capture_output=True, check=False)
    assert mark.exists() or setting == "gpg.program", "the trap works"
    mark.unlink(missing_ok=True)
    if setting == "fetch":
        with pytest.raises(GitFailed, match="not allowed"):
            Git(repo).call(*words)
    else:
        Git(repo).call(*words)
    assert not mark.exists()


def test_a_path_is_no_pattern_and_every_setting_holds(repo: Path) -> None:
    ask = Git(repo).call
    assert ask("ls-files", "--", "*.toml") == ""
    assert ask("ls-files", "--", "memrepo.toml").strip() == "memrepo.toml"
    said = {line.partition("=")[0].lower() for line in ask("var", "-l").splitlines()}
    assert {setting.partition("=")[0].lower() for setting in SETTINGS} <= said


def test_a_git_that_a_signal_ends_is_never_an_answer(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nkill -9 $$\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for check in (True, False):
        with pytest.raises(GitFailed, match="signal 9"):
            Git(repo).call("remote", check=check)
