"""Snapshots of a tree: what memrepo owns, by blob, with every refusal named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import git

from memrepo.core.layout import Layout
from memrepo.store.gitenv import opened
from memrepo.store.tree import Snapshot, file_at, read_blob, snapshot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a repository with files of ours, of a person's, and things that are not files."""
    git(tmp_path, "init", "-q")
    for name in (
        "memories/knowledge/a.md", "sources/b.md", "views/C.md", "runs/2026-03/d.json", "own.txt",
        "memrepo.toml", "src/memories/x.md", "memoriesque/y.md",
    ):  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "memories/knowledge/a.md").chmod(0o755)
    (tmp_path / "sources/link.md").symlink_to("../own.txt")
    Path(os.fsdecode(bytes(tmp_path) + b"/sources/\xff.md")).write_text("x")
    git(tmp_path, "add", "-A")
    blob = git(tmp_path, "rev-parse", ":own.txt").strip()
    git(tmp_path, "commit", "-qm", "first")
    head = git(tmp_path, "rev-parse", "HEAD").strip()
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{head},sources/module")
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"120000,{blob},memories/knowledge/l.md")
    git(tmp_path, "commit", "-qm", "second")
    return tmp_path


def take(root: Path, layout: Layout) -> tuple[Snapshot, dict[str, bytes]]:
    with opened(root) as repo:
        found = snapshot(repo, "HEAD", layout)
        return found, dict(found.files)


def test_what_memrepo_owns_is_listed_and_nothing_else(root: Path) -> None:
    found, files = take(root, Layout())
    assert set(files) == {
        "memories/knowledge/a.md", "sources/b.md", "views/C.md", "runs/2026-03/d.json",
        "memrepo.toml",
    }  # fmt: skip
    assert files["sources/b.md"] == b"sources/b.md"
    assert {(p.path, p.rule) for p in found.problems} == {
        ("memories/knowledge/l.md", "tree-not-a-file"), ("sources/link.md", "tree-not-a-file"),
        ("sources/module", "tree-not-a-file"), ("sources/\\udcff.md", "tree-name-not-utf8"),
    }  # fmt: skip
    assert "a submodule" in next(p.message for p in found.problems if "module" in p.path)


def test_a_prefix_moves_everything(root: Path) -> None:
    assert take(root, Layout("src/"))[1] == {"src/memories/x.md": b"src/memories/x.md"}


def test_the_work_tree_and_the_index_are_not_looked_at(root: Path) -> None:
    (root / "sources/b.md").write_text("edited")
    git(root, "add", "sources/b.md")
    assert take(root, Layout())[1]["sources/b.md"] == b"sources/b.md"


def test_a_missing_path_is_not_in_the_files(root: Path) -> None:
    with opened(root) as repo:
        files = snapshot(repo, "HEAD", Layout()).files
        assert "sources/none.md" not in files
        assert len(files) == 5
        with pytest.raises(KeyError):
            files["sources/none.md"]


@pytest.mark.parametrize("data", [b"", b"\0", b"\r\n", b"\xff\xfe", b"a" * 1_000_000, b"x\n" * 9])
def test_bytes_are_read_as_they_are(root: Path, data: bytes) -> None:
    (root / "blob").write_bytes(data)
    blob = git(root, "hash-object", "-w", "--no-filters", "blob").strip()
    with opened(root) as repo:
        assert read_blob(repo, blob) == data


def test_a_file_is_found_at_a_commit(root: Path) -> None:
    with opened(root) as repo:
        assert file_at(repo, "HEAD", "own.txt") == b"own.txt"
        assert file_at(repo, "HEAD", "own.*") is None
        assert file_at(repo, "HEAD", "sources/link.md") is None
        assert file_at(repo, "HEAD", "sources/module") is None
