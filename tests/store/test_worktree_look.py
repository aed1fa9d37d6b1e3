"""What lies uncommitted: nothing is missed, and what did not change is not read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import driving
import pytest
import workspaces
from driving import git

from memrepo.store.local import opened
from memrepo.store.worktree import Look

PUMPS = b"# Memory\n\n- The pump in Oslo is red.\n- The pump in Bergen is blue.\n"
LONG_AGO = 1_700_000_000
SLOT = "memories/knowledge/2026-01/new.md"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return driving.begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": PUMPS}))


def seen(repo: Path) -> set[str]:
    with opened(repo) as found:
        return set(Look(found, "memories/").paths())


def copies(repo: Path) -> list[Path]:
    return sorted((repo / ".git" / "memrepo").glob("index-*"))


def a_memory(repo: Path) -> Path:
    return min((repo / "memories").rglob("*.md"))


def name(repo: Path, path: Path) -> str:
    return path.relative_to(repo).as_posix()


def edited_in_place(repo: Path) -> Path:
    """Change a file to one of the same size, in the second in which the index was written."""
    path = a_memory(repo)
    when = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"pump", b"hose"))
    os.utime(path, ns=(when, when))
    return path


def staged(repo: Path) -> Path:
    path = edited_in_place(repo)
    git(repo, "add", "--", name(repo, path))
    return path


def staged_and_put_back(repo: Path) -> Path:
    path = a_memory(repo)
    data = path.read_bytes()
    git(repo, "add", "--", name(repo, staged(repo)))
    path.write_bytes(data)
    return path


def gone(repo: Path) -> Path:
    path = a_memory(repo)
    path.unlink()
    return path


def new(repo: Path) -> Path:
    path = repo / SLOT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(a_memory(repo).read_bytes())
    return path


CHANGES = (edited_in_place, staged, staged_and_put_back, gone, new)


@pytest.mark.parametrize("often", [0, 2])
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_changed_is_seen_whether_or_not_it_was_looked_before(
    repo: Path, change: Callable[[Path], Path], often: int
) -> None:
    for _ in range(often):
        assert seen(repo) == set()
    path = change(repo)
    assert seen(repo) == seen(repo) == {name(repo, path)}


def test_a_commit_by_hand_and_its_undoing_are_seen(repo: Path) -> None:
    assert seen(repo) == set()
    path = name(repo, new(repo))
    assert seen(repo) == {path}
    git(repo, "add", "--", path)
    git(repo, "commit", "-nqm", "by hand")
    assert seen(repo) == set()
    git(repo, "reset", "-q", "--soft", "HEAD~")
    assert seen(repo) == {path}


def test_an_old_copy_tells_too_much_and_never_too_little(repo: Path) -> None:
    assert seen(repo) == set()
    (copy,) = copies(repo)
    old = copy.read_bytes()
    path = name(repo, new(repo))
    git(repo, "add", "--", path)
    git(repo, "commit", "-nqm", "by hand")
    seen(repo)
    (copy,) = copies(repo)
    copy.write_bytes(old)
    assert seen(repo) == {path}


def test_what_a_run_wrote_in_the_second_of_its_index_is_read_once_and_git_s_index_left_alone(
    repo: Path,
) -> None:
    for path in (repo, *repo.rglob("*")):
        os.utime(path, (LONG_AGO, LONG_AGO))
    git(repo, "update-index", "--refresh")
    index = repo / ".git" / "index"
    os.utime(index, (LONG_AGO, LONG_AGO))
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert seen(repo) == set()
    (copy,) = copies(repo)
    # Git wrote it anew after it had read the files: they are older than it by now.
    assert copy.stat().st_mtime > LONG_AGO
    whole = copy.stat()
    assert seen(repo) == set()
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (whole.st_ino, whole.st_mtime_ns)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_a_lock_of_git_s_is_nothing_to_wait_for(repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()
    assert seen(repo) == set()
    assert seen(repo) | {name(repo, new(repo))} == seen(repo)


@pytest.mark.parametrize("data", [b"", b"DIRC", os.urandom(4096)])
def test_a_damaged_copy_is_thrown_away(repo: Path, data: bytes) -> None:
    path = name(repo, new(repo))
    assert seen(repo) == {path}
    (copy,) = copies(repo)
    copy.write_bytes(data)
    assert path in seen(repo)
    assert seen(repo) == {path}


def test_a_copy_that_can_be_neither_read_nor_deleted_is_passed_over(repo: Path) -> None:
    path = name(repo, new(repo))
    assert seen(repo) == {path}
    (copy,) = copies(repo)
    copy.unlink()
    copy.mkdir()
    assert seen(repo) == seen(repo) == {path}


def test_there_is_one_copy_however_often_git_writes_its_index(repo: Path) -> None:
    for number in range(3):
        (repo / f"note-{number}.txt").touch()
        git(repo, "add", ".")
        assert seen(repo) == set()
    assert len(copies(repo)) == 1


def test_what_one_folder_holds_is_told_where_most_of_the_repository_is_not_memrepo_s(
    repo: Path,
) -> None:
    for number in range(9):
        (repo / f"note-{number}.txt").touch()
    git(repo, "add", ".")
    (repo / "note-0.txt").write_text("edited")
    path = name(repo, new(repo))
    assert seen(repo) == {path}
    assert copies(repo)[0].name.endswith("-part")


def test_where_no_copy_can_be_written_git_s_own_index_tells(repo: Path) -> None:
    place = repo / ".git" / "memrepo"
    place.rename(repo / ".git" / "elsewhere")
    place.write_text("a file")
    assert seen(repo) == set()
    assert seen(repo) | {name(repo, new(repo))} == seen(repo)
