"""Snapshots of a tree: what memrepo owns, by blob, with every refusal named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import git, memrepo

from memrepo.core.errors import Missing
from memrepo.core.layout import Layout
from memrepo.store.git import opened
from memrepo.store.tree import BlobFiles, Snapshot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a repository with files of ours, of a person's, and things that are not files."""
    git(tmp_path, "init", "-q")
    for name in (
        *("memories/knowledge/a.md", "sources/b.md", "views/C.md", "runs/2026-03/d.json"),
        *("own.txt", "memrepo.toml", "src/memories/x.md", "memoriesque/y.md"),
    ):
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
        files = BlobFiles(repo, "HEAD", layout)
        found = Snapshot(commit="HEAD", layout=layout, files=files)
        return found, dict(found.files)


def test_what_memrepo_owns_is_listed_and_nothing_else(root: Path) -> None:
    found, files = take(root, Layout())
    assert set(files) == {
        "memories/knowledge/a.md",
        "sources/b.md",
        "views/C.md",
        "runs/2026-03/d.json",
        "memrepo.toml",
    }
    assert files["sources/b.md"] == b"sources/b.md"
    assert {(p.path, p.rule) for p in found.problems} == {
        ("memories/knowledge/l.md", "tree-not-a-file"),
        ("sources/link.md", "tree-not-a-file"),
        ("sources/module", "tree-not-a-file"),
        ("sources/\\udcff.md", "tree-name-not-utf8"),
    }
    assert "a submodule" in next(p.message for p in found.problems if "module" in p.path)


def test_any_text_is_a_name(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "sources").mkdir()
    names = (
        *("with space.md", "line\nbreak.md", "\nfirst.md", "last\n", "quo\"te's.md", "tab\t.md"),
        *("🚀.md", "日記.md", "e\u0301.md", "back\\slash.md", "*.md", ":(top)x.md", "-x.md", "  "),
        *("a\rb.md",),
    )
    given = {f"sources/{name}": name.encode() for name in names}
    for path, data in given.items():
        (tmp_path / path).write_bytes(data)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "odd")
    found, files = take(tmp_path, Layout())
    assert files == given
    assert found.problems == ()
    with opened(tmp_path) as repo:
        assert {path: repo.objects.file("HEAD", path) for path in given} == given


def test_a_name_that_is_not_utf8_is_named_and_its_neighbours_are_read(root: Path) -> None:
    (root / "sources/\udcfe.md").symlink_to("b.md")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a link with such a name")
    with opened(root) as repo:
        assert repo.objects.file("HEAD", "sources/\udcff.md") == b"x"
    found, files = take(root, Layout())
    named = {p.path for p in found.problems if p.rule == "tree-name-not-utf8"}
    assert named == {"sources/\\udcfe.md", "sources/\\udcff.md"}
    assert files["sources/b.md"] == b"sources/b.md"
    # What a problem says can be printed.
    assert "\n".join(map(str, found.problems)).encode("utf-8")


@pytest.mark.parametrize("mode", ["120000", "160000"], ids=["symlink", "submodule"])
@pytest.mark.parametrize("prefix", ["", "memrepo/"])
@pytest.mark.parametrize("area", ["memories", "sources"])
def test_a_whole_area_that_is_not_a_folder_is_named(
    root: Path, area: str, prefix: str, mode: str
) -> None:
    commit = git(root, "rev-parse", "HEAD").strip()
    target = commit if mode == "160000" else git(root, "rev-parse", "HEAD:own.txt").strip()
    git(root, "rm", "-rq", "--cached", area)
    git(root, "update-index", "--add", "--cacheinfo", f"{mode},{target},{prefix}{area}")
    git(root, "commit", "-qm", "a link for an area")
    found, files = take(root, Layout(prefix))
    assert not [path for path in files if path.startswith(prefix + area)]
    assert (prefix + area, "tree-not-a-file") in {(p.path, p.rule) for p in found.problems}
    other = Layout("memrepo/" if not prefix else "")
    assert area not in {p.path.removeprefix(prefix) for p in take(root, other)[0].problems}


def test_what_a_partial_clone_lacks_is_told_and_the_rest_still_read(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    where = tmp_path_factory.mktemp("clones") / "partial"
    git(root, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{root}", str(where))
    git(where, "show", "HEAD:own.txt")
    git(where, "remote", "set-url", "origin", "file:///nowhere")
    with opened(where) as repo:
        for _ in range(2):
            with pytest.raises(Missing, match="is not in this repository"):
                repo.objects.file("HEAD", "memrepo.toml")
            assert repo.objects.file("HEAD", "own.txt") == b"own.txt"
    answer = memrepo(where, "status")
    assert (answer.exit, "a partial clone needs the remote" in answer.err) == (5, True)
