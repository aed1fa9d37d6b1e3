"""Making a repository, and moving into a folder without touching what lies there."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import workspaces
from driving import (
    assert_sound,
    configure,
    done,
    files,
    git,
    memories,
    memrepo,
    operations,
    standing,
    subjects,
)

from memrepo.read.sources import CLAIMS


def test_a_missing_workspace_is_a_usage_error_and_nothing_is_made(tmp_path: Path) -> None:
    answer = memrepo(tmp_path, "init", "repo", "--from", "nowhere")
    assert answer.exit == 2
    assert "nowhere" in answer.error["message"]
    assert list(tmp_path.iterdir()) == []


def test_init_twice_changes_nothing(fresh_repo: Path) -> None:
    before = standing(fresh_repo)
    workspace = fresh_repo.parent / "workspace"
    answer = done(fresh_repo.parent, "init", "repo", "--from", workspace)
    assert answer["ingest"]["commit"] == ""
    assert standing(fresh_repo) == before
    assert done(fresh_repo, "init")["warnings"] == answer["warnings"]
    assert standing(fresh_repo) == before


def test_a_new_repository_has_the_templates_and_a_hook(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo", "--tz", "Europe/Berlin")
    repo = tmp_path / "repo"
    names = git(repo, "ls-files").split()
    assert names == [
        ".gitattributes",
        ".gitignore",
        ".pre-commit-config.yaml",
        "memrepo.toml",
        "templates/daily-log.md",
    ]
    assert git(repo, "check-ignore", ".obsidian/app.json")
    assert (repo / ".git/hooks/pre-commit").stat().st_mode & 0o111
    assert 'timezone = "Europe/Berlin"' in (repo / "memrepo.toml").read_text()
    assert subjects(repo) == ["Create knowledge repository"]
    assert_sound(repo)


def test_a_repository_of_other_files_keeps_them_and_their_history(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "code")
    code = tmp_path / "code"
    (code / "main.py").write_text("print(1)\n")
    git(code, "add", ".")
    git(code, "commit", "-q", "-m", "first")
    (code / "main.py").write_text("print(2)\n")
    (code / "new.py").write_text("x\n")
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    done(tmp_path, "init", "code", "--from", workspace)
    assert done(code, "run")["status"] == "ok"
    assert git(code, "status", "--porcelain").splitlines() == [" M main.py", "?? new.py"]
    ops = operations(code, "--first-parent")
    assert ops == ["run", "ingest", "init", ""]
    assert git(code, "branch", "--show-current").strip() == "trunk"


@pytest.mark.parametrize("taken", [False, True], ids=["free names", "names taken"])
@pytest.mark.parametrize("versioned", [False, True], ids=["plain folder", "git repository"])
def test_adopting_a_workspace_in_place_touches_no_foreign_file(
    tmp_path: Path, taken: bool, versioned: bool
) -> None:
    given = dict(workspaces.SMALL)
    given["sub/other.txt"] = b"mine\n"
    if taken:
        given["views/mine.md"] = b"# Mine\n"
    workspace = workspaces.write(tmp_path / "agent", given)
    if versioned:
        git(workspace, "init", "-q")
        git(workspace, "add", "MEMORY.md")
        git(workspace, "commit", "-q", "-m", "theirs")
    answer = done(workspace, "init")
    assert done(workspace, "run")["status"] == "ok"
    prefix = "memrepo/" if taken else ""
    after = files(workspace)
    assert {name: after[name] for name in given} == given
    new = after.keys() - given.keys()
    areas = tuple(
        f"{prefix}{a}" for a in ("memories/", "sources/", "views/", "runs/", "candidates/")
    )
    own = {f"{prefix}memrepo.toml", f"{prefix}MEMORY.md" if taken else "HOT.md"}
    assert all(name.startswith(areas) or name in own for name in new)
    tracked = set(git(workspace, "ls-files").split())
    assert tracked == new | ({"MEMORY.md"} if versioned else set())
    assert answer["ingest"]["added"]
    if not taken:
        assert len(memories(workspace)) == 9
    before = standing(workspace)
    assert done(workspace, "run", now="2026-03-01T11:40:00Z")["status"] == "skipped"
    assert done(workspace, "init")["ingest"]["commit"] == ""
    assert standing(workspace) == before


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", 'UTC"\nformat = 9', "../etc"])
def test_an_unknown_zone_is_a_usage_error_and_nothing_is_made(tmp_path: Path, zone: str) -> None:
    answer = memrepo(tmp_path, "init", "repo", f"--tz={zone}")
    assert answer.exit == 2
    assert "--tz" in answer.error["message"]
    assert not (tmp_path / "repo").exists()


def test_init_says_which_zone_it_took_and_where_to_change_it(tmp_path: Path) -> None:
    answer = memrepo(tmp_path, "init", "repo", as_json=False)
    assert "times are those of Asia/Manila (`timezone` in memrepo.toml)" in answer.out
    assert done(tmp_path, "init", "other", "--tz", "Europe/Berlin")["timezone"] == "Europe/Berlin"
    assert done(tmp_path, "init", "other")["timezone"] == "Europe/Berlin"


@pytest.mark.parametrize(
    ("tz", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (":America/Sao_Paulo", "America/Sao_Paulo"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
    ],
)
def test_the_zone_is_the_machines_and_is_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tz: str, zone: str
) -> None:
    monkeypatch.setenv("TZ", tz)
    run = [sys.executable, "-m", "memrepo", "init", "repo"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    assert f'timezone = "{zone}"' in (tmp_path / "repo/memrepo.toml").read_text()


@pytest.mark.parametrize(
    ("names", "what", "profile"),
    [
        (["MEMORY.md", "memory/2026-03-01.md"], "an agent's workspace", "workspace"),
        (["SOUL.md", "USER.md", "package.json"], "an agent's workspace", "workspace"),
        ([".claude/memory/a.md", "src/a.py"], "a Claude Code project", "workspace"),
        (["CLAUDE.md", "pyproject.toml"], "a Claude Code project", "workspace"),
        (["README.md", "docs/a.md", "Cargo.toml"], "a code repository", "workspace"),
        ([".obsidian/app.json", "People/Ada.md"], "an Obsidian vault", "notes"),
        (["Garden/beds.md"], "a folder of notes", "notes"),
        (["data.csv"], "", "workspace"),
    ],
)
def test_init_recognises_the_folder(
    tmp_path: Path, names: list[str], what: str, profile: str
) -> None:
    workspaces.write(tmp_path / "given", dict.fromkeys(names, b"The lamp hangs in the hall.\n"))
    assert done(tmp_path, "init", "repo", "--from", "given")["recognised"] == what
    assert done(tmp_path / "repo", "config", "sources.profile")["keys"][0]["value"] == profile


def test_init_names_the_folder_of_claude_codes_own_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "code" / "kiln.app"
    project.mkdir(parents=True)
    (project / "CLAUDE.md").write_text("# Kiln\n\nAsk Ana before you add a dependency.\n")
    name = re.sub("[^A-Za-z0-9]", "-", str(project.resolve()))
    own = tmp_path / ".claude" / "projects" / name / "memory"
    told = done(tmp_path, "init", "one", "--from", project)["warnings"]
    assert not [warning for warning in told if name in warning]
    own.mkdir(parents=True)
    told = done(tmp_path, "init", "two", "--from", project)["warnings"]
    (named,) = [warning for warning in told if name in warning]
    assert f"`memrepo import claude-code {own}`" in named


def test_a_code_repository_has_all_of_memrepos_files_in_one_folder(tmp_path: Path) -> None:
    project = workspaces.write(
        tmp_path / "project",
        {"pyproject.toml": b"[project]\n", ".claude/memory/a.md": b"Ada never force pushes.\n"},
    )
    done(project, "init")
    assert done(project, "run")["counts"]["memories_new"] == 1
    assert {p.name for p in project.iterdir()} == {"pyproject.toml", ".claude", ".git", "memrepo"}


def _crlf(folder: Path) -> None:
    (folder / "MEMORY.md").write_bytes(b"# Mill\r\n\r\n- The pump is painted green by Ada.\r\n")


def _not_utf8(folder: Path) -> None:
    (folder / "MEMORY.md").write_bytes(b"- The caf\xe9 is closed on Mondays.\n")


def _links(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "memory").symlink_to("real")
    (folder / "real").mkdir()
    (folder / "real" / "x.md").write_text("- The lamp hangs in the hall.\n")


def _names(folder: Path) -> None:
    for name in ("memory/mein schönes Café ☕.md", "My Notes [old]/a & b.md", "日本/記憶.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("- The lamp hangs in the hall.\n")


def _own_hooks(folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (folder / ".git/hooks/pre-commit").chmod(0o755)
    (folder / "MEMORY.md").write_text("- The lamp hangs in the hall.\n")


def _no_text(folder: Path) -> None:
    (folder / "data.csv").write_text("a,b\n")


@pytest.mark.parametrize("shape", [_crlf, _not_utf8, _links, _names, _own_hooks, _no_text])
def test_a_workspace_of_any_shape_makes_a_repository_that_doctor_likes(
    shape: Callable[[Path], None], tmp_path: Path
) -> None:
    workspace, repo = tmp_path / "workspace", tmp_path / "repo"
    workspace.mkdir()
    shape(workspace)
    before = files(workspace, git_too=True)
    answer = done(tmp_path, "init", "repo", "--from", workspace)
    done(repo, "doctor")
    if answer["left_alone"]:
        configure(repo, "sources.claims", [*CLAIMS, "**/*.md"])
    done(repo, "run")
    assert files(workspace, git_too=True) == before
    kept = memories(repo)
    assert kept or answer["ingest"]["refused"] or any("no text" in w for w in answer["warnings"])


def test_the_first_run_explains_itself_and_the_second_does_not(tmp_path: Path) -> None:
    given = dict(workspaces.SMALL)
    given["prose.txt"] = b"Be kind.\n"
    workspaces.write(tmp_path / "workspace", given)
    begun = memrepo(tmp_path, "init", "repo", "--from", "workspace", as_json=False).out
    assert "not read: 1 text" in begun
    text = memrepo(tmp_path / "repo", "run", as_json=False).out
    count = len([m for m in memories(tmp_path / "repo").values() if not m.is_note])
    assert f"\n{count} memories of " in text
    assert text.count(" (fact, ") + text.count(" (lesson, ") >= 1
    assert "next: read MEMORY.md" in text
    with (tmp_path / "workspace" / "MEMORY.md").open("a") as memory:
        memory.write("- Vera decided to sell the old tractor in May.\n")
    text = memrepo(tmp_path / "repo", "run", as_json=False, now="2026-03-01T11:40:00Z").out
    assert "1 new" in text
    assert "next:" not in text


def test_init_in_a_clone_says_what_it_put_in_place(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo")
    git(tmp_path, "clone", "-q", "repo", "clone")
    assert (
        "hooks      all: not installed" in memrepo(tmp_path / "clone", "status", as_json=False).out
    )
    text = memrepo(tmp_path / "clone", "init", as_json=False).out
    assert "the hooks and the merge driver of this clone are in place" in text
    assert "memrepo run" not in text
