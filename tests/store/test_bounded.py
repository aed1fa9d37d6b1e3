"""What runs leave beside the branch has an end, and writers at one time all land."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from driving import LATER, LONG, done, git, memories, memrepo

from memrepo.store.lock import keep_newest

WRITERS, EACH = 6, 8 if LONG else 2


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def test_the_newest_files_stay(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.json").write_text("x")
    (tmp_path / "other.txt").write_text("x")
    keep_newest(tmp_path, "*.json", 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["6.json", "7.json", "8.json", "other.txt"]
    keep_newest(tmp_path / "none", "*", 3)


def test_six_that_write_at_once_all_land(repo: Path) -> None:
    """Run as many writers as processes: 48 writes in the long run, none gives up in a minute."""
    code = (
        "import sys\nfrom memrepo.faces.cli import main\n"
        "where, name, each = sys.argv[1:]\n"
        "for n in range(int(each)):\n"
        "    text = f'Writer {name} counts {n} of its boxes.'\n"
        "    if code := main(['-C', where, '-q', 'add', text]): sys.exit(code)\n"
    )
    begun = time.monotonic()
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(repo), str(n), str(EACH)])
        for n in range(WRITERS)
    ]
    assert [writer.wait(300) for writer in writers] == [0] * WRITERS
    assert len(memories(repo)) == WRITERS * EACH
    assert time.monotonic() - begun < 290
    assert memrepo(repo, "doctor").data["checks"][2]["ok"]


def test_a_signer_that_fails_leaves_no_commit_of_the_run_behind(repo: Path, tmp_path: Path) -> None:
    path = repo / done(repo, "add", "Vera keeps the key.")["path"]
    path.write_text(path.read_text(encoding="utf-8").replace("Vera", "Ana"), encoding="utf-8")
    git(repo, "commit", "-qam", "by hand", "--no-verify")
    (repo / "sources").mkdir(exist_ok=True)
    signer = tmp_path / "signer"
    signer.write_text("#!/bin/sh\nexit 1\n")
    signer.chmod(0o755)
    for key, value in (("gpg.program", str(signer)), ("commit.gpgSign", "true")):
        git(repo, "config", key, value)
    head = git(repo, "rev-parse", "HEAD")
    assert memrepo(repo, "run", now=LATER).exit == 5
    assert git(repo, "rev-parse", "HEAD") == head
    git(repo, "config", "commit.gpgSign", "false")
    assert memrepo(repo, "run", now=LATER).exit == 0
    assert git(repo, "rev-parse", "HEAD") != head
