"""A hub and its clones: a bare repository on disk, and machines that sync with it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driving import NOW, copy_of, done, git


def begin(base: Path, *names: str) -> list[Path]:
    """Make `hub.git` and a clone for each name; the first is where `memrepo init` was run."""

    def make(folder: Path) -> None:
        git(folder, "init", "-q", "--bare", "hub.git")
        first = folder / names[0]
        done(folder, "init", first)
        git(first, "remote", "add", "origin", "../hub.git")
        done(first, "add", "Vera keeps the spare key under the third pot.")
        done(first, "sync")
        for name in names[1:]:
            clone(folder, name)

    copy_of(make, base, *names)
    return [base / name for name in names]


def clone(base: Path, name: str) -> Path:
    """Clone the hub as any program does."""
    git(base, "clone", "-q", "hub.git", name)
    git(base / name, "remote", "set-url", "origin", "../hub.git")
    return base / name


def tip(repo: Path, ref: str = "HEAD") -> str:
    """Return the commit at a ref, or an empty string."""
    return git(repo, "rev-parse", "--verify", "-q", ref, check=False).strip()


def converge(*clones: Path, now: str = NOW) -> None:
    """Sync every clone until all are at the hub's tip."""
    for repo in (*clones, *clones):
        done(repo, "sync", now=now)
    assert len({tip(repo) for repo in clones}) == 1


def commit(repo: Path, message: str, **files: str | None) -> str:
    """Commit files by hand, as a person does without any hook; None removes one."""
    for name, text in files.items():
        write(repo, name, text)
    return commit_all(repo, message)


def write(repo: Path, name: str, text: str | None) -> None:
    """Write a file of the work tree, or remove it."""
    path = repo / name
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def tell(repo: Path) -> None:
    """Give a clone something that its next run makes a memory of."""
    write(repo, "sources/MEMORY.md", "# Home\n\n- The spare key hangs by the blue door.\n")


def commit_all(repo: Path, message: str) -> str:
    """Commit the work tree as it lies."""
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", message, "--no-verify")
    return tip(repo)


@contextmanager
def daemon(base: Path) -> Iterator[str]:
    """Serve a folder's repositories by `git daemon` on loopback; yields the address of its top."""
    path = Path(git(base, "--exec-path").strip()) / "git-daemon"
    if shutil.which("git") is None or not path.exists():
        pytest.skip("git daemon is not installed")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    served = subprocess.Popen(
        [
            path,
            "--reuseaddr",
            "--listen=127.0.0.1",
            f"--port={port}",
            f"--base-path={base}",
            "--export-all",
            "--enable=receive-pack",
            str(base),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"git://127.0.0.1:{port}"
    finally:
        served.terminate()
        served.wait()
