"""Situations in which memory-purifier lost, doubled or hid something: here nothing of the kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, begin, done, git, memories, memrepo, tree

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


def test_one_bad_record_on_file_holds_no_run_up(small_repo: Path) -> None:
    path = next(iter(memories(small_repo).values())).path
    (small_repo / path).write_text("---\ntype: nonsense\nid: [\n---\n\nBroken.\n")
    git(small_repo, "commit", "-qam", "damaged by hand", "--no-verify")
    workspaces.growing(small_repo.parent / "workspace", 1)
    answer = memrepo(small_repo, "run", now=LATER)
    assert (answer.exit, answer.data["status"]) == (0, "ok")
    assert answer.data["counts"]["memories_new"] == 1
    assert any(w["path"] == path for w in answer.data["warnings"])
    assert "Broken." in (small_repo / path).read_text()


def test_another_profile_later_holds_no_run_up(tmp_path: Path) -> None:
    repo = start(
        tmp_path,
        CHRONICLES="# Chronicles\n\n## 2026-01-09\n\nVera opened the greenhouse.\n",
        MEMORY=f"{HEAD}- Vera keeps bees on the roof.\n",
        RTMEMORY=f"{HEAD}- {LADDER}\n",
        PROCEDURES="# Procedures\n\n## Start the pump\n\n1. Open the valve.\n2. Press start.\n",
    )
    assert (repo / "views" / "HISTORY.md").exists()
    config = repo / "memrepo.toml"
    config.write_text(config.read_text().replace('"personal"', '"business"'))
    git(repo, "commit", "-qam", "business from now on", "--no-verify")
    put(repo, MEMORY=f"{HEAD}- Vera keeps bees on the roof.\n- Vera sold the old tractor.\n")
    answer = memrepo(repo, "run", now=LATER)
    assert (answer.exit, answer.data["status"]) == (3, "held")
    assert "CHRONICLES.md is gone" in answer.data["why"]
    done(repo, "accept", now=THIRD)
    assert done(repo, "run", now=THIRD)["status"] == "skipped"
    assert not (repo / "views" / "HISTORY.md").exists()
    assert any("tractor" in m.body for m in memories(repo).values())
    assert_sound(repo)


def test_a_reverted_run_takes_its_candidates_and_cursor_along(tmp_path: Path) -> None:
    repo = start(tmp_path, MEMORY=f"{HEAD}- Vera keeps bees on the roof.\n")
    before = tree(repo)
    put(repo, MEMORY=f"{HEAD}- Vera keeps bees on the roof.\n- Fill in [your name] here.\n")
    done(repo, "ingest", now=LATER)
    taken = tree(repo)
    assert taken != before
    run = done(repo, "run", now=LATER)["run"]
    assert candidates(repo)
    done(repo, "revert", run, now=THIRD)
    assert tree(repo) == taken
    assert candidates(repo) == []
    assert done(repo, "run", "--dry-run", now=THIRD)["counts"]["candidates"] == 1


def test_a_manifest_without_versions_counts_as_an_older_one(small_repo: Path) -> None:
    (path,) = (small_repo / "runs").rglob("*.json")
    record = json.loads(path.read_text())
    for key in ("logic_version", "schema_version", "package_version"):
        del record[key]
    path.write_text(json.dumps(record))
    git(small_repo, "commit", "-qam", "as very old versions wrote it", "--no-verify")
    answer = memrepo(small_repo, "run", now=LATER)
    assert answer.exit == 3
    assert "--acknowledge-upgrade" in answer.error["fix"]
    assert memrepo(small_repo, "run", "--acknowledge-upgrade", now=LATER).exit == 0
    assert memrepo(small_repo, "run", now=THIRD).exit == 0


def test_a_wording_by_hand_outlives_reconciliations(small_repo: Path) -> None:
    memory = next(m for m in memories(small_repo).values() if "raised beds" in m.body)
    path = small_repo / memory.path
    path.write_text(path.read_text().replace("raised beds", "high beds"))
    git(small_repo, "commit", "-qam", "say it as we say it", "--no-verify")
    for now in (LATER, THIRD):
        done(small_repo, "run", "--mode", "reconciliation", now=now)
    assert "high beds" in path.read_text()


@pytest.mark.parametrize("view", ["LTMEMORY.md", "PLAYBOOKS.md"])
def test_a_line_of_a_view_leads_to_its_memory_and_its_source(small_repo: Path, view: str) -> None:
    page = (small_repo / "views" / view).read_text()
    named = [m for m in memories(small_repo).values() if f"`{m.id[4:10]}`" in page]
    assert named
    for memory in named:
        first, last = memory.sources[0].lines
        lines = (small_repo / memory.sources[0].resource).read_text().splitlines()
        held = " ".join(lines[first - 1 : last])
        assert memory.body.split()[-1].strip(".") in held
