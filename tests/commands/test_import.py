"""Purifier workspaces taken in: by `init --from` before anything else, and by `memrepo import`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LATER, assert_sound, done, files, git, memories, memrepo, standing, subjects

from memrepo.assets import asset
from memrepo.formats import purifier


def claims(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(x) for x in (folder / purifier.CLAIMS).read_bytes().splitlines()]


def compared(folder: Path, *, spans: bool = True) -> list[dict[str, Any]]:
    """Return an export's claims without run ids, where alone a round trip may differ.

    Where a text moved in its file after it was taken in, its lines follow it (`spans`).
    """
    found = claims(folder)
    for claim in found:
        for entry in claim["provenance"] if not spans else ():
            del entry["lineSpan"]
        del claim["updatedInRunId"]
        for entry in claim["contradictions"]:
            del entry["flaggedInRunId"]
    return found


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a demo workspace with what a purifier published below runtime/; read only.

    Made by two runs, so that something is superseded or contested.
    """
    base = tmp_path_factory.mktemp("published")
    workspace = base / "workspace"
    shutil.copytree(Path(str(asset("templates", "demo", "workspace"))), workspace)
    done(base, "init", "repo", "--from", workspace)
    done(base / "repo", "run")
    later = Path(str(asset("templates", "demo", "later", "MEMORY.md")))
    shutil.copyfile(later, workspace / "MEMORY.md")
    memrepo(base / "repo", "run", now=LATER)
    done(base / "repo", "export", "artifacts", workspace / "runtime")
    return workspace


@pytest.fixture
def workspace(published: Path, tmp_path: Path) -> Path:
    """Return a copy of the published workspace that a test may change."""
    return Path(shutil.copytree(published, tmp_path / "workspace"))


def test_a_round_trip_gives_equal_claims_but_for_run_ids(workspace: Path, tmp_path: Path) -> None:
    answer = done(tmp_path, "init", "repo", "--from", workspace)
    done(tmp_path / "repo", "export", "artifacts", tmp_path / "out", now=LATER)
    runtime = workspace / "runtime"
    assert compared(tmp_path / "out", spans=False) == compared(runtime, spans=False)
    assert answer["imported"] == len(claims(runtime)) > 30
    assert {c["status"] for c in claims(runtime)} & {"superseded", "contested"}
    for name in (purifier.ENTITIES, purifier.ROUTES):
        assert (tmp_path / "out" / name).read_bytes() == (runtime / name).read_bytes()


def test_a_round_trip_of_unchanged_sources_keeps_their_lines(
    small_repo: Path, tmp_path: Path
) -> None:
    workspace = small_repo.parent / "workspace"
    done(small_repo, "export", "artifacts", workspace / "runtime")
    done(tmp_path, "init", "other", "--from", workspace, now=LATER)
    done(tmp_path / "other", "export", "artifacts", tmp_path / "out", now=LATER)
    assert compared(tmp_path / "out") == compared(workspace / "runtime") != []


def test_the_import_is_a_commit_of_its_own_before_the_snapshot(
    workspace: Path, tmp_path: Path
) -> None:
    answer = done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    count = answer["imported"]
    assert subjects(repo)[1:] == [
        f"Import {count} memories from artifacts",
        "Create knowledge repository",
    ]
    assert subjects(repo)[0].startswith("Copy sources: ")
    assert all(m.text("origin") == "import" for m in memories(repo).values())
    assert memrepo(repo, "check", "--all").exit == 0
    assert_sound(repo)


def test_init_again_imports_nothing_again(workspace: Path, tmp_path: Path) -> None:
    done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    before = standing(repo)
    assert done(tmp_path, "init", "repo", "--from", workspace)["imported"] == 0
    assert standing(repo) == before


def test_a_run_after_the_import_makes_no_memory_a_second_time(
    workspace: Path, tmp_path: Path
) -> None:
    done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    before = {id_ for id_, m in memories(repo).items() if not m.is_note}
    answer = done(repo, "run", now=LATER)
    after = {id_ for id_, m in memories(repo).items() if not m.is_note}
    assert after == before
    assert answer["counts"]["memories_new"] == 0
    assert answer["counts"]["units"] >= len(before)


REWORDED = "Because of her back, Vera likes raised beds better than open rows."
SUMMED_UP = "The garden is watered every 3 days."


def foreign(workspace: Path) -> None:
    """Publish what a model made of the small workspace: other words, subjects and objects."""
    inventory = [
        {"path": name, "content_hash": purifier.content_hash((workspace / name).read_bytes())}
        for name in ("MEMORY.md", "RTMEMORY.md")
    ]
    records = [
        _foreign(REWORDED, "preference", "vera", "prefers", "raised beds", "MEMORY.md", 6),
        _foreign(SUMMED_UP, "fact", "garden", "is watered", "every 3 days", "MEMORY.md", 5),
        _foreign(
            "Never prune the roses before the last frost in April.",
            "lesson",
            "roses",
            "are pruned after",
            "the last frost",
            "RTMEMORY.md",
            None,
        ),
    ]
    runtime = workspace / "runtime"
    runtime.mkdir()
    (runtime / purifier.CLAIMS).write_text("".join(json.dumps(r) + "\n" for r in records))
    (runtime / purifier.MANIFEST).write_text(
        json.dumps({"packageVersion": "1.7.0", "sourceInventory": inventory})
    )


def _foreign(text: str, type_: str, *triple: Any) -> dict[str, Any]:
    subject, predicate, object_, source, line = triple
    return {
        "id": purifier.lineage_id(
            subject=subject, predicate=predicate, text=text, home="LTMEMORY.md"
        ),
        "type": type_,
        "status": "resolved",
        "text": text,
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "primaryHome": "LTMEMORY.md",
        "provenance": [
            {
                "source": source,
                "lineSpan": [line, line] if line else None,
                "type": "direct",
                "capturedAt": "2026-01-09T10:00:00Z",
            }
        ],
        "updatedAt_utc": "2026-01-10T00:00:00Z",
    }


def test_what_a_model_reworded_is_met_again_by_the_line_it_stands_on(tmp_path: Path) -> None:
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    foreign(workspace)
    assert done(tmp_path, "init", "repo", "--from", workspace)["imported"] == 3
    repo = tmp_path / "repo"
    done(repo, "run", now=LATER)
    bodies = sorted(m.body for m in memories(repo).values() if not m.is_note)
    assert REWORDED in bodies
    assert SUMMED_UP in bodies
    assert not [b for b in bodies if "her back hurts" in b or "Watering interval" in b]
    assert sum("prune the roses" in b for b in bodies) == 1


def test_a_text_that_stands_in_a_second_place_adds_evidence(tmp_path: Path) -> None:
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    foreign(workspace)
    text = "Never prune the roses before the last frost in April."
    (workspace / "memory" / "roses.md").write_text(f"# Roses\n\n- {text}\n")
    done(tmp_path, "init", "repo", "--from", workspace)
    done(tmp_path / "repo", "run", now=LATER)
    (memory,) = [m for m in memories(tmp_path / "repo").values() if m.body == text]
    assert {s.resource for s in memory.sources} == {
        "sources/RTMEMORY.md",
        "sources/memory/roses.md",
    }
    assert memory.text("origin") == "import"


def test_an_edit_since_the_purifier_last_ran_is_not_hidden(tmp_path: Path) -> None:
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    foreign(workspace)
    workspaces_memory = workspace / "MEMORY.md"
    edited = workspaces_memory.read_bytes().replace(b"every 3 days", b"every 5 days")
    workspaces_memory.write_bytes(edited)
    done(tmp_path, "init", "repo", "--from", workspace)
    done(tmp_path / "repo", "run", now=LATER)
    assert [m for m in memories(tmp_path / "repo").values() if "every 5 days" in m.body]


def test_import_into_a_repository_that_is_there(
    published: Path, small_repo: Path, tmp_path: Path
) -> None:
    before = len(memories(small_repo))
    answer = done(small_repo, "import", "artifacts", published, now=LATER)
    assert answer["imported"] == len(claims(published / "runtime"))
    assert len(memories(small_repo)) == before + answer["imported"]
    assert subjects(small_repo)[0].startswith("Import ")
    assert_sound(small_repo)
    still = standing(small_repo)
    again = done(small_repo, "import", "artifacts", published / "runtime", now=LATER)
    assert (again["commit"], again["imported"]) == ("", 0)
    assert again["counts"]["memories_known"] == answer["imported"]
    assert standing(small_repo) == still


def test_an_import_of_its_own_export_changes_nothing(small_repo: Path, tmp_path: Path) -> None:
    before = standing(small_repo)
    done(small_repo, "export", "artifacts", tmp_path / "out")
    answer = done(small_repo, "import", "artifacts", tmp_path / "out", now=LATER)
    assert (answer["imported"], answer["commit"]) == (0, "")
    assert standing(small_repo) == before


def test_a_dry_run_of_an_import_writes_nothing(published: Path, small_repo: Path) -> None:
    before = standing(small_repo)
    answer = done(small_repo, "import", "artifacts", published, "--dry-run")
    assert answer["imported"] > 30
    assert standing(small_repo) == before


def test_an_import_can_be_reverted(published: Path, small_repo: Path) -> None:
    tree = git(small_repo, "rev-parse", "HEAD^{tree}")
    commit = done(small_repo, "import", "artifacts", published, now=LATER)["commit"]
    done(small_repo, "revert", commit, now=LATER)
    assert git(small_repo, "rev-parse", "HEAD^{tree}") == tree


def test_a_folder_without_claims_is_a_usage_error(small_repo: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert memrepo(small_repo, "import", "artifacts", tmp_path / "empty").exit == 2


def test_lines_that_cannot_be_read_are_listed_and_the_rest_is_imported(
    workspace: Path, tmp_path: Path
) -> None:
    path = workspace / "runtime" / purifier.CLAIMS
    path.write_bytes(b"{broken\n" + path.read_bytes() + b'{"id": "cl-x", "type": "fact"}\n')
    answer = memrepo(tmp_path, "init", "repo", "--from", workspace)
    assert answer.exit == 0
    found = answer.data["import"]
    last = len(path.read_bytes().splitlines())
    errors = [(p["rule"], p["line"]) for p in found["problems"] if p["severity"] == "error"]
    assert errors == [("import-line", 1), ("import-record", last)]
    assert found["imported"] == last - 2
    plain = memrepo(tmp_path, "init", "other", "--from", workspace, as_json=False)
    assert f"{purifier.CLAIMS}:1:1: import-line" in plain.err


def test_equal_imports_make_equal_commits(workspace: Path, tmp_path: Path) -> None:
    heads = [done(tmp_path, "init", name, "--from", workspace)["commit"] for name in ("a", "b")]
    assert heads[0] == heads[1]
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_an_ugly_repository_comes_back_whole(ugly_repo: Path, tmp_path: Path) -> None:
    done(ugly_repo, "export", "artifacts", tmp_path / "out")
    workspace = tmp_path / "empty"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n")
    shutil.copytree(tmp_path / "out", workspace / "runtime")
    answer = done(tmp_path, "init", "repo", "--from", workspace, now=LATER)
    assert [p for p in answer["import"]["problems"] if p["severity"] == "error"] == []
    done(tmp_path / "repo", "export", "artifacts", tmp_path / "again", now=LATER)
    before, after = compared(tmp_path / "out"), compared(tmp_path / "again")
    assert {c["text"] for c in after} == {c["text"] for c in before} != set()
    # Two claims of one text are one memory, with the evidence of both.
    same = {c["id"]: c for c in before if c in after}
    assert len(same) >= len(before) - 4
