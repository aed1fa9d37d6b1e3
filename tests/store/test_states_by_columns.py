"""A state by what runs kept is the state that the files give, whatever happened to them since."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import done, git
from hoards import hoard, memory, stored

from memrepo.core import codec
from memrepo.core.memory import Memories
from memrepo.core.state import State
from memrepo.merge.tombstones import held_against
from memrepo.store import records, tree
from memrepo.store.repo import open_repository
from memrepo.store.tree import BlobFiles

NEW = memory(900, "The ferry leaves at nine.")


def add(repo: Path) -> None:
    write(repo, NEW.path, codec.encode(NEW))


def write(repo: Path, path: str, data: bytes) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_bytes(data)


def first(repo: Path) -> Path:
    return sorted((repo / "memories").rglob("*.md"))[0]


def edit(repo: Path) -> None:
    path = first(repo)
    path.write_bytes(path.read_bytes().replace(b"paint", b"a coat"))


def take(repo: Path) -> None:
    first(repo).unlink()


def copy(repo: Path) -> None:
    write(repo, "memories/knowledge/copies/again.md", first(repo).read_bytes())


def damage(repo: Path) -> None:
    first(repo).write_bytes(b"---\nid: [\n---\n\nHalf a header.\n")


def unnamed(repo: Path) -> None:
    write(repo, "memories/knowledge/by-hand.md", b"---\ntype: fact\n---\n\nNobody gave it an id.\n")


def many(repo: Path) -> None:
    for n in range(40):
        one = memory(1000 + n, f"Barge {n} carries sand.")
        write(repo, one.path, codec.encode(one))


def reject(repo: Path) -> None:
    done(repo, "reject", codec.decode("a.md", first(repo).read_bytes())[0].id, "--reason", "no")  # type: ignore[union-attr]


EDITS: tuple[Callable[[Path], None], ...] = (
    add,
    edit,
    take,
    copy,
    damage,
    unnamed,
    many,
    reject,
)


def state_of(repo: Path) -> tuple[State, bool]:
    """Return the state of a repository as another process reads it, and whether by columns."""
    records.records_at.cache_clear()
    tree._DECODED.clear()
    with open_repository(repo) as store:
        snapshot = store.snapshot(store.head())
        state = snapshot.state()
        dict(state.memories)
        return state, isinstance(state.memories, Memories)


@pytest.fixture
def kept(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of whose memories and files a run kept what it read."""
    monkeypatch.setattr(tree, "_LARGE", 0)
    stored(repo, hoard(80))
    with open_repository(repo) as store:
        snapshot = store.snapshot(store.head())
        assert not isinstance(snapshot.state().memories, Memories)
        snapshot.keep()
    return repo


@pytest.mark.parametrize("how", EDITS)
def test_the_state_by_columns_is_that_of_the_files(kept: Path, how: Callable[[Path], None]) -> None:
    assert state_of(kept)[1]
    how(kept)
    git(kept, "add", "-A")
    git(kept, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "by hand")
    by_columns, told = state_of(kept)
    assert told == (how not in (copy, unnamed, many))
    (kept / ".git" / "memrepo" / records.NAME).unlink()
    read, plain = state_of(kept)
    assert not plain
    assert [*by_columns.memories.items()] == [*read.memories.items()]
    assert [*by_columns.files] == [*read.files]
    assert by_columns.problems == read.problems
    assert [*by_columns.active] == [*read.active]
    assert held_against(by_columns).memories == held_against(read).memories


@pytest.mark.parametrize("said", [None, b"", b"\x93", b"\x84\xa6commit\xa1x"])
def test_a_list_of_files_that_is_none_is_not_taken(kept: Path, said: bytes | None) -> None:
    with open_repository(kept) as store:
        there = BlobFiles.kept(store.repo, store.layout, said)
        assert there is None
        files = store.snapshot(store.head()).files
        again = BlobFiles.kept(store.repo, store.layout, files.told())
        assert again is not None
        assert dict(again.blobs) == dict(files.blobs)


def test_a_list_of_a_commit_that_is_gone_is_not_followed(kept: Path) -> None:
    with open_repository(kept) as store:
        files = store.snapshot(store.head()).files
        told = files.told().replace(files.commit.encode(), b"1" * 40)
        gone = BlobFiles.kept(store.repo, store.layout, told)
        again = BlobFiles(store.repo, files.commit, store.layout, lambda: gone)
        assert dict(again.blobs) == dict(files.blobs)
