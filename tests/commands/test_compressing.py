"""Compression as a stage of runs: paced, shown first, one commit a summary, taken back for good."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driving import done, git, memories, memrepo, tree
from hoards import hoard, stored

from memrepo.core.memory import Memory

FIRST, SECOND, THIRD = (f"2026-03-01T{hour}:00:00Z" for hour in ("09", "10", "11"))


def configured(repo: Path, *lines: str) -> Path:
    path = repo / "memrepo.toml"
    path.write_text("\n".join([path.read_text(), "[compression]", *lines, ""]))
    git(repo, "commit", "-qam", "configure", "--no-verify")
    return repo


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with 60 memories, of which all but the newest five may go."""
    done(tmp_path, "init", "repo")
    stored(tmp_path / "repo", hoard(60))
    return configured(tmp_path / "repo", "enabled = true", "trigger = 40", "keep = 5")


def summaries(repo: Path) -> list[Memory]:
    return [m for m in memories(repo).values() if m.type == "summary"]


def sources(repo: Path) -> dict[str, Memory]:
    return {i: m for i, m in memories(repo).items() if m.compressed_into}


def assert_linked(repo: Path) -> None:
    """Assert that every source leads to its summary, and every summary to its sources."""
    there = {i: m.compressed_into for i, m in sources(repo).items()}
    back = {link.target: m.id for m in summaries(repo) for link in m.fields["links"]}
    assert there == back
    assert there


def test_a_summary_is_one_commit_with_its_reason_and_sources_are_found_in_the_archive(
    repo: Path,
) -> None:
    answer = done(repo, "run", now=FIRST)
    steps = [c for c in answer["commits"] if c["op"] == "compress"]
    assert len(steps) == len(summaries(repo))
    shown = git(repo, "show", "--name-only", "--format=%B", steps[0]["id"])
    assert "Memrepo-Reason: more than 39 memories are active; " in shown
    paths = re.findall(r"^memories/.*", shown, re.MULTILINE)
    assert len(paths) == len(steps[0]["memories"])
    source = next(iter(sources(repo).values()))
    asked = ["search", source.body, "-k", "3", "--no-touch"]
    hits = [h["id"] for h in done(repo, *asked)["hits"]]
    assert source.id not in hits
    found = done(repo, *asked, "--status", "archived")["hits"]
    assert source.id in [h["id"] for h in found]


def test_what_is_taken_back_is_recalled_again_and_never_compressed_again(repo: Path) -> None:
    before = tree(repo)
    step = next(c for c in done(repo, "run", now=FIRST)["commits"] if c["op"] == "compress")
    done(repo, "revert", step["id"], now=SECOND)
    freed = {id_ for id_ in step["memories"] if id_ in memories(repo)}
    assert len(freed) == len(step["memories"]) - 1
    assert {memories(repo)[i].status for i in freed} == {"active"}
    for now in (THIRD, "2026-03-01T12:00:00Z", "2026-03-01T13:00:00Z"):
        done(repo, "run", now=now)
    assert not freed & {*sources(repo)}
    assert before != tree(repo)
    assert memrepo(repo, "check", "--all").exit == 0


def test_a_run_does_not_compress_what_it_made(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    lines = "".join(f"- Holt keeps key {n} of the shed below shelf {n}.\n" for n in range(30))
    (tmp_path / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n## Keys\n\n{lines}")
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = configured(tmp_path / "repo", "enabled = true", "trigger = 5", "keep = 0", "below = 1.0")
    done(repo, "run", now=FIRST)
    assert len(memories(repo)) > 20
    assert not summaries(repo)
    done(repo, "run", now="2026-03-05T10:00:00Z")
    assert summaries(repo)
