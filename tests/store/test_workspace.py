"""Reading a workspace: every file is taken, or refused by name, or of no concern; none is lost."""

from __future__ import annotations

import os
from pathlib import Path

import driving
import pytest
from nobody import as_nobody

from memrepo.read.sources import SourceRules
from memrepo.store.workspace import MAX_BYTES, WorkspaceFiles, read_workspace

RULES = SourceRules()


def rules_of(found: WorkspaceFiles) -> dict[str, str]:
    return {p.path: p.rule for p in found.problems}


def write(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def test_allowed_files_are_read_and_others_are_of_no_concern(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "MEMORY.md": b"- a\n",
            "memory/tools.md": b"- b\n",
            "memory/2026-01-05.md": b"# c\n",
            "episodes/d.md": b"d\n",
            "HISTORY.md": b"no\n",
            "README.md": b"no\n",
            "memory/x/deep.md": b"n",
            "memory/x/.cache/n.md": b"no\n",
            "other/x.md": b"for search\n",
            "other/skills/x.md": b"no\n",
            "runtime/x.md": b"no\n",
            "notes.txt": b"no\n",
            ".git/config.md": b"no\n",
            ".gitlab.md": b"- e\n",
            "node_modules/big/x.md": b"no\n",
            "views/X.md": b"no\n",
        },
    )
    found = read_workspace(tmp_path, RULES)
    assert set(found.files) == {
        *("MEMORY.md", "memory/tools.md", "memory/2026-01-05.md", "memory/x/deep.md"),
        *("episodes/d.md", ".gitlab.md", "other/x.md"),
    }
    assert found.problems == ()
    assert found.refused == frozenset()


@pytest.mark.parametrize("stray", [b"\x85", b"\0"])
def test_a_line_that_is_no_text_is_left_out_and_named_and_the_rest_is_read(
    tmp_path: Path, stray: bytes
) -> None:
    text = "- The mill stands at the weir.\n" * 4
    (tmp_path / "MEMORY.md").write_bytes(
        text.encode() + b"- A sack" + stray + b" of rye.\n- Dry.\n"
    )
    found = read_workspace(tmp_path, RULES)
    assert found.files["MEMORY.md"] == (text + "\n- Dry.\n").encode()
    assert [(p.rule, p.line) for p in found.problems] == [("source-stray-bytes", 5)]
    assert not found.refused


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"a\xffb", "source-not-utf8"),
        (b"caf\xe9", "source-not-utf8"),
        (b"\xed\xa0\x80", "source-not-utf8"),
        (b"a\0b", "source-binary"),
        (b"x" * (MAX_BYTES + 1), "source-too-large"),
    ],
    ids=["stray byte", "latin1", "surrogate", "NUL", "too large"],
)
def test_what_is_not_plain_text_is_refused_by_name(tmp_path: Path, data: bytes, rule: str) -> None:
    found = read_workspace(write(tmp_path, {"MEMORY.md": data, "memory/a.md": b"- a\n"}), RULES)
    assert rules_of(found) == {"MEMORY.md": rule}
    assert set(found.files) == {"memory/a.md"}
    assert found.keeps("MEMORY.md")
    assert not found.keeps("memory/a.md")


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


SECRET = "ghp_" + "FakeFakeFake1234FakeFakeFake5678Fake"


def test_an_inbox_file_with_a_secret_is_refused_and_not_rewritten(tmp_path: Path) -> None:
    files = {"inbox/a.md": f"- Token {SECRET} works.\n".encode(), "inbox/b.md": b"- Fine.\n"}
    found = read_workspace(write(tmp_path, files), RULES)
    assert rules_of(found) == {"inbox/a.md": "source-secret"}
    assert set(found.files) == {"inbox/b.md"}
    assert SECRET not in str(found.problems[0])


# -- what ingest makes of it -------------------------------------------------------------------


def snapshots(repo: Path) -> set[str]:
    return set(driving.git(repo, "ls-files", "sources").split())


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("latin1", "source-not-utf8"),
        ("NUL", "source-binary"),
        ("large", "source-too-large"),
        ("link", "source-not-a-file"),
        ("folder link", "source-not-a-file"),
    ],
)
def test_a_file_that_can_no_longer_be_read_keeps_its_last_snapshot(
    place: Path, kind: str, rule: str
) -> None:
    repo, ws = place / "repo", place / "ws"
    before = snapshots(repo)
    old = {name: (repo / name).read_bytes() for name in before}
    match kind:
        case "latin1":
            (ws / "MEMORY.md").write_bytes(b"caf\xe9")
        case "NUL":
            (ws / "MEMORY.md").write_bytes(b"- a\0")
        case "large":
            (ws / "MEMORY.md").write_bytes(b"x" * (MAX_BYTES + 1))
        case "link":
            (ws / "MEMORY.md").rename(place / "elsewhere.md")
            (ws / "MEMORY.md").symlink_to(place / "elsewhere.md")
        case "folder link":
            (ws / "memory").rename(place / "elsewhere")
            (ws / "memory").symlink_to(place / "elsewhere")
    name = "memory/" if kind == "folder link" else "MEMORY.md"
    done = driving.done(repo, "ingest", now=driving.LATER)
    assert [(p["path"], p["rule"]) for p in done["refused"]] == [(name, rule)]
    assert (done["removed"], done["changed"]) == ([], [])
    assert {name: (repo / name).read_bytes() for name in snapshots(repo)} == old


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("missing", "does not exist"),
        ("a file", "does not exist"),
        ("empty", "contains no file"),
        ("only others", "contains no file"),
    ],
)
def test_a_workspace_that_is_not_there_or_empty_stops_the_ingest(
    place: Path, kind: str, said: str
) -> None:
    repo, ws = place / "repo", place / "ws"
    ws.rename(place / "elsewhere")
    match kind:
        case "a file":
            ws.write_text("- a\n")
        case "empty":
            ws.mkdir()
        case "only others":
            write(ws, {"README.txt": b"x", "runtime/x.md": b"x"})
        case _:
            pass
    head = driving.git(repo, "rev-parse", "HEAD")
    answer = driving.memrepo(repo, "ingest", now=driving.LATER)
    assert answer.exit == 3
    assert said in answer.error["message"]
    assert driving.git(repo, "rev-parse", "HEAD") == head
