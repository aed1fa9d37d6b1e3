"""Prepared repositories: made once a session, copied for each test that changes one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import workspaces
from driving import LATER, begin, configure, copied, done

from memrepo.actions.recall.lookup import CURRENT
from memrepo.store.run_files import BUFFER


@pytest.fixture(scope="session")
def _ugly_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ugly")
    begin(base, workspaces.ugly(base / "workspace"))
    return base


@pytest.fixture
def ugly_repo(_ugly_base: Path) -> Iterator[Path]:
    """Return a repository of the ugly workspace after init and one run; read only.

    Reading counts as retrieval, which would move memories in the next test's run.
    """
    repo = _ugly_base / "repo"
    yield repo
    folder = repo / ".git" / "memrepo"
    for path in (folder / BUFFER, folder / CURRENT, *folder.glob("used-*")):
        path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def _small_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("small")
    begin(base, workspaces.growing(base / "workspace", 0))
    return base


@pytest.fixture
def small_repo(_small_base: Path, tmp_path: Path) -> Path:
    """Return a repository of the small workspace after one run; yours to change."""
    return copied(_small_base, tmp_path)


@pytest.fixture
def cold_repo(fresh_repo: Path) -> Path:
    """Return that repository after a run that composed no page: use alone fills it."""
    configure(fresh_repo, "lifecycle.profile", "classic")
    done(fresh_repo, "run")
    return fresh_repo


@pytest.fixture
def fresh_repo(tmp_path: Path) -> Path:
    """Return a repository of the small workspace that has not run yet."""
    done(tmp_path, "init", "repo", "--from", workspaces.growing(tmp_path / "workspace", 0))
    return tmp_path / "repo"


@pytest.fixture(scope="session")
def _two_runs_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("two")
    begin(base, workspaces.servers(base / "workspace", 0))
    workspaces.servers(base / "workspace", 1)
    done(base / "repo", "run", now=LATER)
    return base


@pytest.fixture
def two_runs(_two_runs_base: Path, tmp_path: Path) -> Path:
    """Return a repository after two runs: alpha and vim, then beta, and helix instead of vim."""
    return copied(_two_runs_base, tmp_path)
