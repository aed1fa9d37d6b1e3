"""Situations in which memory-purifier lost, doubled or hid something: here nothing of the kind."""

from __future__ import annotations

import json
from pathlib import Path

import workspaces
from driving import LATER, begin, done, git, memories

THIRD = "2026-03-03T09:00:00Z"
HEAD = "# Memory\n\n## Vera\n\n"


def start(base: Path, *options: str, **sources: str) -> Path:
    """Make a repository of these files (`MEMORY` is MEMORY.md) and run once."""
    files = {f"{name}.md": text.encode() for name, text in sources.items()}
    return begin(base, workspaces.write(base / "workspace", files), *options)


def put(repo: Path, **sources: str) -> None:
    for name, text in sources.items():
        (repo.parent / "workspace" / f"{name}.md").write_text(text)


def manifests(repo: Path) -> list[dict[str, object]]:
    return [json.loads(p.read_text()) for p in sorted((repo / "runs").rglob("*.json"))]


def candidates(repo: Path) -> list[str]:
    root = repo / "candidates"
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*.md"))


def test_two_values_of_one_predicate_both_survive_reconciliations(tmp_path: Path) -> None:
    repo = start(tmp_path, MEMORY=f"{HEAD}- Vera prefers Python.\n- Vera prefers tea.\n")
    before = {m.id: m.body for m in memories(repo).values()}
    assert sorted(before.values()) == ["Vera prefers Python.", "Vera prefers tea."]
    for now in (LATER, THIRD):
        done(repo, "run", "--mode", "reconciliation", now=now)
    assert {m.id: m.body for m in memories(repo).values()} == before


def test_a_contradiction_stays_one_however_often_it_is_reconciled(tmp_path: Path) -> None:
    repo = start(tmp_path, MEMORY=f"{HEAD}- **Timezone:** Europe/Lisbon\n")
    put(repo, RTMEMORY="# Lessons\n\n## Vera\n\n- **Timezone:** Asia/Tokyo\n")
    done(repo, "run", now=LATER)
    links = {m.id: m.fields.get("links") for m in memories(repo).values()}
    assert all(len(found) == 1 for found in links.values())
    assert {m.standing for m in memories(repo).values()} == {"contested"}
    head = git(repo, "rev-parse", "HEAD")
    for _ in range(3):
        done(repo, "run", "--mode", "reconciliation", now=THIRD)
    assert git(repo, "rev-parse", "HEAD") == head


LADDER = "The long ladder belongs to the parish and must be returned by Easter."


def test_a_claim_of_two_files_stands_while_one_of_them_states_it(tmp_path: Path) -> None:
    repo = start(tmp_path, MEMORY=f"{HEAD}- {LADDER}\n- Vera keeps bees on the roof.\n")
    put(repo, RTMEMORY=f"# Lessons\n\n- {LADDER}\n")
    counts = done(repo, "run", now=LATER)["counts"]
    assert (counts["memories_new"], counts["memories_met_again"]) == (0, 1)
    put(repo, MEMORY=f"{HEAD}- Vera keeps bees on the roof.\n")
    done(repo, "run", now=THIRD)
    assert {m.standing for m in memories(repo).values()} == {"resolved"}
    (ladder,) = [m for m in memories(repo).values() if "parish" in m.body]
    assert {s.resource for s in ladder.sources} == {"sources/MEMORY.md", "sources/RTMEMORY.md"}


def test_a_first_run_that_keeps_nothing_is_not_judged_again(tmp_path: Path) -> None:
    repo = start(tmp_path, MEMORY="# Memory\n\n- Fill in [your name].\n- Before the winter:\n")
    assert memories(repo) == {}
    (record,) = manifests(repo)
    assert record["counts"]["deferred"] == 1  # type: ignore[index]
    kept = candidates(repo)
    assert len(kept) == 1
    assert done(repo, "run", now=LATER)["status"] == "skipped"
    assert (candidates(repo), len(manifests(repo))) == (kept, 1)
