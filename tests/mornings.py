"""The morning after a night: a repository in which a run of eight decisions waits."""

from __future__ import annotations

import shutil
from pathlib import Path

from driving import done, git, memrepo

START = "2026-03-01T09:00:00Z"
NIGHT = "2026-03-02T09:00:00Z"
MORNING = "2026-03-02T10:00:00Z"
OLD = """\
# Memory

## Harbour office

- The staging server runs Debian 11.
- The mail server is called hermes.
- The backup server stands in Berlin.

## People

- Mara prefers tea.
- Rui leads the billing team.
"""
NEW = """\
# Memory

## Harbour office

- The staging server runs Debian 12 since 2026-03-02.
- The mail server is called hermes.
- The backup server stands in Hamburg.
- The build server has 64 GB of memory.
- The wiki server is read only.

## People

- Rui leads the payments team.
- Vera keeps the spare key.
- Mara drinks tea only. She works from Lisbon on Fridays.
"""


def waiting(base: Path) -> Path:
    """Make the repository beside its workspace, with one run in effect and one that waits."""
    (base / "ws").mkdir()
    (base / "ws/MEMORY.md").write_text(OLD)
    done(base, "init", "repo", "--from", "ws", now=START)
    done(base / "repo", "run", now=START)
    (base / "ws/MEMORY.md").write_text(NEW)
    assert memrepo(base / "repo", "run", "--mode", "reconciliation", now=NIGHT).exit == 3
    return base


def copied(base: Path, to: Path) -> Path:
    """Copy such a folder; return the repository in the copy."""
    shutil.copytree(base, to)
    git(to / "repo", "config", "memrepo.workspace", str(to / "ws"))
    return to / "repo"


TOKEN = "a-token-of-the-tests-0123456789"
PORT = 8642
BASE = f"http://127.0.0.1:{PORT}"
"""What the pages of the tests are served with."""
