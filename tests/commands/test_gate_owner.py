"""One clone runs: who may, and who is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import hubs
import pytest
from driving import done, git, memrepo, with_value
from hubs import tip

from memrepo.store import settings
from memrepo.store.git import opened


@pytest.fixture
def machines(tmp_path: Path) -> tuple[Path, Path]:
    """Return two clones of one hub; the first is called `laptop`, the second has no name."""
    laptop, desk = hubs.begin(tmp_path, "laptop", "desk")
    git(laptop, "config", "memrepo.clone", "laptop")
    return laptop, desk


def clone_id(repo: Path) -> str:
    with opened(repo) as found:
        return settings.clone_id(found)


def own(repo: Path) -> None:
    """Let only the clone called `laptop` run."""
    path = repo / "memrepo.toml"
    path.write_text(with_value(path.read_text(), "run.owner", "laptop"))
    git(repo, "commit", "-qam", "configure", "--no-verify")


def test_another_clone_is_refused_and_told_what_it_may_do(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    own(laptop)
    done(laptop, "run")
    done(laptop, "sync")
    done(desk, "sync")
    before = tip(desk)
    hubs.tell(desk)
    answer = memrepo(desk, "run")
    assert answer.exit == 3
    assert "laptop's" in answer.error["message"]
    assert clone_id(desk) in answer.error["message"]
    assert "run.owner" in answer.error["fix"]
    assert tip(desk) == before
    assert not list(desk.glob(".memrepo/telemetry/*"))
    assert done(laptop, "run")["status"] == "skipped"
    for argv in (("add", "The cat is called Miso."), ("ingest",), ("search", "cat")):
        assert memrepo(desk, *argv).exit == 0


def test_where_nothing_is_due_the_schedule_of_another_clone_is_silent(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    own(laptop)
    done(laptop, "sync")
    done(desk, "sync")
    done(desk, "init")  # git has the merge driver here too
    before = tip(desk)
    answer = memrepo(desk, "run", "--scheduled", now="2026-03-02T09:21:00Z", as_json=False)
    assert (answer.exit, answer.out, answer.err, tip(desk)) == (0, "", "", before)


# -- which clone this is -----------------------------------------------------------------------


def test_the_id_of_a_clone_stays_and_linked_work_trees_share_it(
    machines: tuple[Path, Path], tmp_path: Path
) -> None:
    laptop, desk = machines
    first = clone_id(laptop)
    assert len(first) == 16
    assert clone_id(laptop) == first != clone_id(desk)
    git(laptop, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    assert clone_id(tmp_path / "tree") == first
    (laptop.rename(tmp_path / "moved"))
    assert clone_id(tmp_path / "moved") == first


def test_a_copied_repository_is_another_clone(machines: tuple[Path, Path], tmp_path: Path) -> None:
    laptop, _ = machines
    first = clone_id(laptop)
    shutil.copytree(laptop, tmp_path / "copy", symlinks=True)
    assert clone_id(tmp_path / "copy") != first
    assert clone_id(laptop) == first
