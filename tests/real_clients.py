"""The programs that agents run in, as `make clients` installs them from npm; tests skip without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from docs_parts import ROOT

FOLDER = ROOT / ".clients"


def installed(name: str, path: str) -> Path:
    """Return a file of a client's packages, or skip the test that needs it."""
    found = FOLDER / name / "node_modules" / path
    if not found.exists():
        pytest.skip(f"{name} is not there: `make clients CLIENTS={name}` takes it from npm")
    return found


def bare_environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment in which a client finds a home of its own, and no service."""
    ours = ("ANTHROPIC", "CLAUDE", "MEMREPO", "NODE", "OPENCLAW", "XDG")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**kept, "HOME": str(home), **more}
