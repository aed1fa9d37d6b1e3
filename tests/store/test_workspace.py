"""Reading a workspace: every file is taken, or refused by name, or of no concern; none is lost."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import driving
import pytest
import workspaces

from memrepo.purify.sources import SourceRules
from memrepo.store.workspace import MAX_BYTES, Workspace, not_followed, read_workspace

RULES = SourceRules()


def rules_of(found: Workspace) -> dict[str, str]:
    return {p.path: p.rule for p in found.problems}


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def test_allowed_files_are_read_and_others_are_of_no_concern(tmp_path: Path) -> None:
    write(tmp_path, {
        "MEMORY.md": b"- a\n", "memory/tools.md": b"- b\n", "memory/2026-01-05.md": b"# c\n",
        "episodes/d.md": b"d\n", "SOUL.md": b"no\n", "README.md": b"no\n", "memory/x/deep.md": b"n",
        "runtime/x.md": b"no\n", "notes.txt": b"no\n", ".git/config.md": b"no\n",
        ".gitlab.md": b"- e\n", "node_modules/big/x.md": b"no\n", "views/X.md": b"no\n",
    })  # fmt: skip
    found = read_workspace(tmp_path, RULES)
    assert set(found.files) == {
        "MEMORY.md", "memory/tools.md", "memory/2026-01-05.md", "episodes/d.md", ".gitlab.md",
    }  # fmt: skip
    assert found.problems == ()
    assert found.refused == frozenset()


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"a\xffb", "source-not-utf8"), (b"caf\xe9", "source-not-utf8"),
        (b"\xed\xa0\x80", "source-not-utf8"), (b"a\0b", "source-binary"),
        (b"x" * (MAX_BYTES + 1), "source-too-large"),
    ],
    ids=["stray byte", "latin1", "surrogate", "NUL", "too large"],
)  # fmt: skip
def test_what_is_not_plain_text_is_refused_by_name(tmp_path: Path, data: bytes, rule: str) -> None:
    found = read_workspace(write(tmp_path, {"MEMORY.md": data, "memory/a.md": b"- a\n"}), RULES)
    assert rules_of(found) == {"MEMORY.md": rule}
    assert set(found.files) == {"memory/a.md"}
    assert found.keeps("MEMORY.md")
    assert not found.keeps("memory/a.md")


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf- bom\n", b"x" * MAX_BYTES, b"\r\n"])
def test_odd_text_is_text(tmp_path: Path, data: bytes) -> None:
    found = read_workspace(write(tmp_path, {"MEMORY.md": data}), RULES)
    assert found.files == {"MEMORY.md": data}


@pytest.mark.parametrize("kind", ["file", "folder", "dangling", "loop", "pipe"])
def test_what_is_not_a_file_is_never_followed(tmp_path: Path, kind: str) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    write(outside, {"a.md": b"- zqlinked\n"})
    root.mkdir()
    link = root / ("memory" if kind == "folder" else "MEMORY.md")
    match kind:
        case "file":
            link.symlink_to(outside / "a.md")
        case "folder":
            link.symlink_to(outside)
        case "dangling":
            link.symlink_to(outside / "none.md")
        case "loop":
            link.symlink_to(link)
        case "pipe":
            os.mkfifo(link)
    found = read_workspace(root, RULES)
    name = "memory/" if kind == "folder" else "MEMORY.md"
    assert rules_of(found) == {name: "source-not-a-file"}
    assert found.files == {}
    assert found.keeps("memory/tools.md" if kind == "folder" else "MEMORY.md")


def test_a_linked_folder_that_runs_would_not_read_is_of_no_concern(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write(root, {"MEMORY.md": b"- a\n"})
    (root / "runtime").symlink_to(tmp_path)
    (root / "views").symlink_to(tmp_path)
    assert rules_of(read_workspace(root, RULES)) == {}


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Work as a user whom file modes bind (root is bound by none), in a folder of that user."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


def test_an_unreadable_file_and_folder_are_refused_by_name() -> None:
    with as_nobody() as root:
        write(root, {"MEMORY.md": b"- a\n", "memory/a.md": b"- b\n", "episodes/c.md": b"c\n"})
        (root / "MEMORY.md").chmod(0)
        (root / "memory").chmod(0)
        found = read_workspace(root, RULES)
        (root / "memory").chmod(0o700)
        (root / "MEMORY.md").chmod(0o600)
    assert rules_of(found) == {"MEMORY.md": "source-unreadable", "memory/": "source-unreadable"}
    assert set(found.files) == {"episodes/c.md"}
    assert found.keeps("memory/a.md")


def test_an_unreadable_workspace_keeps_everything() -> None:
    with as_nobody() as root:
        root.chmod(0)
        found = read_workspace(root, RULES)
        root.chmod(0o700)
    assert found.files == {}
    assert found.keeps("MEMORY.md")
    assert found.keeps("memory/a.md")


def test_a_folder_that_is_not_followed_keeps_what_lies_below() -> None:
    assert not_followed("sources/").keeps("MEMORY.md")
    inbox = not_followed("sources/", "inbox/")
    assert inbox.keeps("inbox/a.md")
    assert not inbox.keeps("MEMORY.md")


SECRET = "ghp_" + "FakeFakeFake1234FakeFakeFake5678Fake"


def test_a_secret_is_replaced_in_a_snapshot_and_never_quoted(tmp_path: Path) -> None:
    found = read_workspace(
        write(tmp_path, {"MEMORY.md": f"- Token {SECRET} works.\n".encode()}), RULES
    )
    assert SECRET.encode() not in found.files["MEMORY.md"]
    (problem,) = found.problems
    assert (problem.rule, problem.severity) == ("source-secret-redacted", "warning")
    assert SECRET not in str(problem)


def test_an_inbox_file_with_a_secret_is_refused_and_not_rewritten(tmp_path: Path) -> None:
    files = {"inbox/a.md": f"- Token {SECRET} works.\n".encode(), "inbox/b.md": b"- Fine.\n"}
    found = read_workspace(write(tmp_path, files), RULES)
    assert rules_of(found) == {"inbox/a.md": "source-secret"}
    assert set(found.files) == {"inbox/b.md"}
    assert SECRET not in str(found.problems[0])


def test_only_a_subfolder_is_read_when_asked(tmp_path: Path) -> None:
    write(tmp_path, {"MEMORY.md": b"- a\n", "inbox/b.md": b"- b\n"})
    assert set(read_workspace(tmp_path, RULES, only="inbox/").files) == {"inbox/b.md"}


# -- what ingest makes of it -------------------------------------------------------------------


def snapshots(repo: Path) -> set[str]:
    return set(driving.git(repo, "ls-files", "sources").split())


def test_a_file_that_becomes_unreadable_keeps_its_last_snapshot(place: Path) -> None:
    repo, ws = place / "repo", place / "ws"
    before = snapshots(repo)
    name = next(p for p in sorted(before) if p.endswith("MEMORY.md")).removeprefix("sources/")
    old = (repo / "sources" / name).read_bytes()
    (ws / name).write_bytes(b"a\xff")
    done = driving.done(repo, "ingest", now=driving.LATER)
    assert [p["rule"] for p in done["refused"]] == ["source-not-utf8"]
    assert done["removed"] == []
    assert snapshots(repo) == before
    assert (repo / "sources" / name).read_bytes() == old


@pytest.mark.parametrize(("gone", "exit_code"), [(3, 0), (4, 3), (10, 3)])
def test_more_than_three_in_ten_gone_stops_the_ingest(
    tmp_path: Path, gone: int, exit_code: int
) -> None:
    names = [f"memory/topic{n}.md" for n in range(10)]
    ws = workspaces.write(tmp_path / "ws", {n: f"- {n} is here.\n".encode() for n in names})
    driving.done(tmp_path, "init", "repo", "--from", "ws")
    repo = tmp_path / "repo"
    for name in names[:gone]:
        (ws / name).unlink()
    head = driving.git(repo, "rev-parse", "HEAD")
    answer = driving.memrepo(repo, "ingest")
    assert answer.exit == exit_code
    if exit_code:
        assert "nothing was taken in" in answer.error["message"]
        assert driving.git(repo, "rev-parse", "HEAD") == head
        done = driving.memrepo(repo, "ingest", "--force")
        # An empty workspace is never believed, whatever is forced.
        assert (done.exit == 0) == (gone < 10)
    else:
        assert len(answer.data["removed"]) == gone


def test_a_missing_workspace_stops_the_ingest(place: Path) -> None:
    (place / "ws").rename(place / "elsewhere")
    answer = driving.memrepo(place / "repo", "ingest")
    assert (answer.exit, "does not exist" in answer.error["message"]) == (3, True)
