"""Taking in: a mirror of what may be read, and nothing beyond the workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, done, files, memories, memrepo, standing


def workspace_of(repo: Path) -> Path:
    return repo.parent / "workspace"


def test_snapshots_are_the_bytes_of_the_workspace(ugly_repo: Path) -> None:
    taken = {
        name.removeprefix("sources/"): data
        for name, data in files(ugly_repo).items()
        if name.startswith("sources/")
    }
    given = files(workspace_of(ugly_repo))
    redacted = {"memory/keys.md", "memory/2026-01-15.md"}
    assert {n: d for n, d in taken.items() if n not in redacted} == {
        name: given[name] for name in taken.keys() - redacted
    }
    assert redacted < taken.keys()
    assert {"memory/a](b) <b>[c.md", "memory/-dash.md", "memory/empty.md"} < taken.keys()


@pytest.mark.parametrize("folder", ["memory", "episodes"])
def test_a_symlinked_folder_is_named_and_its_last_snapshot_stays(
    small_repo: Path, folder: str, tmp_path: Path
) -> None:
    workspace, outside = workspace_of(small_repo), tmp_path / "outside"
    if (workspace / folder).exists():
        shutil.rmtree(workspace / folder)
    outside.mkdir()
    (outside / "x.md").write_text("- zqlinked must never be followed.\n")
    (workspace / folder).symlink_to(outside)
    before = files(small_repo)
    answer = done(small_repo, "run")
    assert [p["path"] for p in answer["ingest"]["refused"]] == [f"{folder}/"]
    assert answer["status"] == "skipped"
    assert files(small_repo) == before


def test_a_file_that_became_unreadable_keeps_its_last_snapshot(small_repo: Path) -> None:
    before = (small_repo / "sources/RTMEMORY.md").read_bytes()
    (workspace_of(small_repo) / "RTMEMORY.md").write_bytes(b"\xff\xfe broken")
    answer = done(small_repo, "ingest")
    assert [(p["path"], p["rule"]) for p in answer["refused"]] == [
        ("RTMEMORY.md", "source-not-utf8")
    ]
    assert answer["removed"] == []
    assert (small_repo / "sources/RTMEMORY.md").read_bytes() == before


@pytest.mark.parametrize("command", ["ingest", "run"])
@pytest.mark.parametrize("how", ["gone", "empty", "third"])
def test_a_workspace_that_lost_much_waits_for_a_person(
    small_repo: Path, command: str, how: str
) -> None:
    workspace = workspace_of(small_repo)
    if how == "third":
        for name in ("memory/2026-02-01.md", "memory/2026-02-02.md"):
            (workspace / name).unlink()
    else:
        shutil.rmtree(workspace)
        if how == "empty":
            workspace.mkdir()
    before = standing(small_repo)
    answer = memrepo(small_repo, command)
    assert answer.exit == 3
    if how == "third":
        assert "source-gone" in answer.out
    else:
        assert answer.error["message"]
    assert standing(small_repo) == before


def test_with_force_the_loss_is_taken_in_and_memories_stay(small_repo: Path) -> None:
    for name in ("memory/2026-02-01.md", "memory/2026-02-02.md"):
        (workspace_of(small_repo) / name).unlink()
    count = len(memories(small_repo))
    assert done(small_repo, "run", "--force")["ingest"]["removed"]
    assert len(memories(small_repo)) == count
    assert_sound(small_repo)


def test_only_the_named_paths_are_taken_in(small_repo: Path) -> None:
    workspaces.growing(workspace_of(small_repo), 1)
    answer = done(small_repo, "ingest", "memory/2026-02-03.md")
    assert (answer["added"], answer["changed"]) == (["sources/memory/2026-02-03.md"], [])
    assert done(small_repo, "ingest")["changed"] == ["sources/MEMORY.md"]


def test_a_dry_run_writes_nothing(small_repo: Path) -> None:
    workspaces.growing(workspace_of(small_repo), 3)
    before = standing(small_repo)
    answer = done(small_repo, "ingest", "--dry-run")
    assert (answer["commit"], answer["changed"]) == (
        "",
        ["sources/MEMORY.md", "sources/memory/2026-02-01.md"],
    )
    assert standing(small_repo) == before


def test_a_path_that_names_nothing_is_a_usage_error_with_a_suggestion(small_repo: Path) -> None:
    before = standing(small_repo)
    answer = memrepo(small_repo, "ingest", "MEMROY.md")
    assert answer.exit == 2
    assert answer.error["fix"] == "did you mean MEMORY.md?"
    assert standing(small_repo) == before


@pytest.fixture
def notebooks(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    for name in ("projects/choir.md", "notes.txt", "deep/a/b/thoughts.Markdown"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("# A heading\n\n- A thing.\n")
    for name in (
        "MEMORY.md",
        "memory/2026-02-01.md",
        "AGENTS.md",
        "runtime/x.md",
        "code/main.py",
        "pic.png",
        ".hidden/x.md",
        "node_modules/x/y.md",
        "other/.git/HEAD",
        "other/x.md",
        "views/old.md",
    ):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("# A heading\n\n- The server alpha keeps the archive.\n")
    (workspace / "link.txt").symlink_to(workspace / "notes.txt")
    return tmp_path


UNNAMED = ["deep/a/b/thoughts.Markdown", "notes.txt", "projects/choir.md"]
NOT_READ = [".hidden/", *UNNAMED[:2], "other/", UNNAMED[2]]


def test_files_that_no_pattern_names_are_told_once(notebooks: Path) -> None:
    first = memrepo(notebooks, "init", "repo", "--from", "workspace", as_json=False)
    assert "found 5 text files or folders that no pattern names (40.6 % of the text" in first.err
    assert "sources.claims" in first.err
    repo = notebooks / "repo"
    again = done(repo, "run")
    assert again["ingest"]["unmatched"] == {"count": 5, "paths": NOT_READ, "pct": 40.6}
    assert not [w for w in again["warnings"] if w["rule"] == "source-unmatched"]
    (notebooks / "workspace" / "projects" / "more.md").write_text("More.\n")
    (told,) = [
        w for w in done(repo, "run", now=LATER)["warnings"] if w["rule"] == "source-unmatched"
    ]
    assert "6 text files" in told["message"]
    assert memrepo(repo, "run", now=LATER, as_json=False).err == ""


@pytest.mark.parametrize("key", ["claims", "deny"])
def test_the_configuration_takes_them_in_or_silences_them(notebooks: Path, key: str) -> None:
    done(notebooks, "init", "repo", "--from", "workspace")
    repo = notebooks / "repo"
    patterns = ["MEMORY.md", *UNNAMED] if key == "claims" else ["AGENTS.md", "runtime/", *UNNAMED]
    listed = ", ".join(f'"{p}"' for p in patterns)
    text = (repo / "memrepo.toml").read_text()
    (repo / "memrepo.toml").write_text(text.replace("[sources]", f"[sources]\n{key} = [{listed}]"))
    ingested = done(repo, "ingest", now=LATER)
    unmatched = ingested["unmatched"]["paths"]
    assert not set(unmatched) & set(UNNAMED)
    taken = {f"sources/{name}" for name in UNNAMED}
    assert (taken <= set(ingested["added"])) is (key == "claims")
