"""Taking in: a mirror of what may be read, and nothing beyond the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from driving import assert_sound, done, files, git, memories, memrepo


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


def test_a_statement_is_dated_by_when_it_was_written_and_not_by_its_copy(tmp_path: Path) -> None:
    workspace = tmp_path / "agent"
    (workspace / "memory").mkdir(parents=True)
    texts = {
        "MEMORY.md": "The kiln is in the yard.",
        "memory/edited.md": "The loom is in the hall.",
        "memory/new.md": "The boat is in the shed.",
        "memory/said.md": "The bike is in the cellar.\n\n*Last updated: 2025-11-05*",
    }
    for name, text in texts.items():
        (workspace / name).write_text(f"# Places\n\n- {text}\n", encoding="utf-8")
    for name, thing in (("told", "sled"), ("kept", "raft")):
        head = "---\ntags: home\ndate: 2025-10-03\n---\n"
        (workspace / f"memory/{name}.md").write_text(f"{head}- The {thing} is in the barn.\n")
    git(workspace, "init", "-q")
    git(workspace, "add", "MEMORY.md", "memory/edited.md")
    day = "2026-01-10T12:00:00Z"
    dates = {"GIT_AUTHOR_DATE": day, "GIT_COMMITTER_DATE": day}
    with pytest.MonkeyPatch.context() as patch:
        for key, value in dates.items():
            patch.setenv(key, value)
        git(workspace, "commit", "-qm", "places")
    (workspace / "memory/edited.md").write_text("# Places\n\n- The loom is in the attic.\n")
    os.utime(workspace / "memory/edited.md", (1770000000, 1770000000))
    for name in ("new.md", "said.md", "kept.md"):
        os.utime(workspace / "memory" / name, (1767950000, 1767950000))
    done(tmp_path, "init", "repo", "--from", "agent")
    done(tmp_path / "repo", "run")
    days = {m.first[0].rpartition("/")[2]: m.captured for m in memories(tmp_path / "repo").values()}
    assert days == {
        "MEMORY.md": "2026-01-10",
        "edited.md": "2026-02-02",
        "new.md": "2026-01-09",
        "said.md": "2025-11-05",
        "told.md": "2025-10-03",
        "kept.md": "2026-01-09",
    }
    (workspace / "memory/new.md").write_text("# Places\n\n- The boat is at the pier.\n")
    os.utime(workspace / "memory/new.md", (1772450000, 1772450000))
    done(tmp_path / "repo", "run", now="2026-03-20T04:00:00Z")
    (boat,) = [m for m in memories(tmp_path / "repo").values() if "boat" in m.body]
    assert boat.captured == "2026-03-02"
    assert_sound(tmp_path / "repo")


@pytest.mark.parametrize(
    ("words", "moves", "newest"),
    [((), 2, "Run"), (("--mode", "reconciliation"), 1, "Copy sources"), (("blocked",), 1, "Copy")],
    ids=["lands", "waits", "fails"],
)
def test_a_run_lands_the_copies_by_themselves_and_keeps_them(
    small_repo: Path, words: tuple[str, ...], moves: int, newest: str
) -> None:
    with (workspace_of(small_repo) / "RTMEMORY.md").open("a") as file:
        file.write("\n- Orlin decided that the depot closes at 6:30 on Fridays.\n")
    before = git(small_repo, "reflog", "--format=%H").split()
    if words == ("blocked",):  # a page that the run writes has an edit of somebody
        page = small_repo / "MEMORY.md"
        page.write_text(page.read_text() + "\nan edit by hand\n")
        git(small_repo, "add", "MEMORY.md")
        page.write_text(page.read_text() + "\nand another\n")
        assert memrepo(small_repo, "run").exit
    else:
        memrepo(small_repo, "run", *words)
    after = git(small_repo, "reflog", "--format=%H").split()
    assert len(after) - len(before) == moves
    assert git(small_repo, "log", "-1", "--format=%s").startswith(newest)
    copied = git(small_repo, "show", "HEAD:sources/RTMEMORY.md")
    assert copied.rstrip().endswith("6:30 on Fridays.")
