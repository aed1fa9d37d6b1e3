"""Runs that find what memories say beside the index do what runs do that read every file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from driving import LONG, configure, done, git, memrepo
from hoards import hoard, stored
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.core import codec
from memrepo.store import tree

COUNT = 64
DO = st.sampled_from(["edit", "archive", "hand", "page", "lost page", "move", "nothing", "key"])


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with memories enough to be kept, and a run that kept them."""
    base = tmp_path_factory.mktemp("kept")
    done(base, "init", "repo")
    repo = base / "repo"
    stored(repo, hoard(COUNT))
    config = repo / "memrepo.toml"
    config.write_text(config.read_text() + "\n[compression]\ntrigger = 50\nkeep = 20\n")
    git(repo, "commit", "-qam", "configure", "--no-verify")
    done(repo, "run")
    return repo


def act(repo: Path, what: str, number: int) -> None:
    """Do something by hand, or by a command, that the next run has to find."""
    paths = sorted(p for p in (repo / "memories").rglob("*.md") if "active" not in p.name)
    path = paths[number % len(paths)]
    memory, _ = codec.decode("memories/a.md", path.read_bytes())
    assert memory is not None
    views = sorted((repo / "views").glob("*.md"))
    match what:
        case "edit":
            memrepo(repo, "edit", memory.id, "--title", f"Number {number}")
        case "archive":
            memrepo(repo, "archive", memory.id, "--reason", "done")
        case "hand":
            path.write_text(path.read_text() + f"\nAnd bay {number} is shut.\n")
        case "page" if views:
            views[number % len(views)].write_text("mine now\n")
        case "lost page" if views:
            views[number % len(views)].unlink()
        case "move":
            path.rename(path.with_name(f"moved-{number}-{path.name}"))
        case "key":
            configure(repo, "hot.budget", number + 1)
    if git(repo, "status", "--porcelain"):
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "by hand", "--no-verify")


@settings(max_examples=200 if LONG else 3, deadline=None)
@given(
    turns=st.lists(st.tuples(DO, st.integers(0, 99), st.integers(1, 40)), min_size=1, max_size=3)
)
def test_a_run_with_the_cache_writes_the_commits_of_a_run_without(
    full: Path, tmp_path_factory: pytest.TempPathFactory, turns: list[tuple[str, int, int]]
) -> None:
    base = tmp_path_factory.mktemp("law")
    warm, day = base / "warm", 0
    shutil.copytree(full, warm)
    for turn, (what, number, days) in enumerate(turns):
        if what != "key" or turn == 0:
            act(warm, what, number)
        cold = base / f"cold-{turn}"
        shutil.copytree(warm, cold)
        (cold / ".git" / "memrepo" / "index.sqlite3").unlink()
        day += days
        now = f"2026-{3 + day // 28:02}-{1 + day % 28:02}T12:00:00Z"
        said = []
        for repo in (warm, cold):
            tree._DECODED.clear()
            dry = done(repo, "run", "--dry-run", now=now)
            tree._DECODED.clear()
            told = done(repo, "run", now=now)
            heads = git(repo, "rev-parse", "HEAD", "HEAD^{tree}")
            said.append((heads, {k: v for k, v in told.items() if k != "finished"}, dry["counts"]))
        assert said[0] == said[1]
