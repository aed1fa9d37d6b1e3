"""Purifier workspaces taken in: by `init --from` before anything else, and by `memrepo import`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, done, memories, memrepo, standing

from memrepo.assets import asset
from memrepo.formats import purifier


def claims(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(x) for x in (folder / purifier.CLAIMS).read_bytes().splitlines()]


DERIVED = {"scores", "freshnessPosture", "confidencePosture", "sourceClusterId", "updatedInRunId"}
"""What an export derives from a run, besides the disposition of duplicates."""


def compared(folder: Path, *, spans: bool = True) -> list[dict[str, Any]]:
    """Return what a round trip keeps of an export's claims.

    Where a text moved in its file after it was taken in, its lines follow it (`spans`).
    """
    found = claims(folder)
    for claim in found:
        for entry in claim["provenance"] if not spans else ():
            del entry["lineSpan"]
        for key in [key for key in claim if key in DERIVED or key.startswith("duplicate")]:
            del claim[key]
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


def test_a_round_trip_keeps_the_claims(workspace: Path, tmp_path: Path) -> None:
    answer = done(tmp_path, "init", "repo", "--from", workspace)
    done(tmp_path / "repo", "export", "artifacts", tmp_path / "out", now=LATER)
    runtime = workspace / "runtime"
    assert compared(tmp_path / "out", spans=False) == compared(runtime, spans=False)
    assert answer["imported"] == len(claims(runtime)) > 30
    assert {c["status"] for c in claims(runtime)} & {"superseded", "contested"}
    for name in (purifier.ENTITIES, purifier.ROUTES):
        assert (tmp_path / "out" / name).read_bytes() == (runtime / name).read_bytes()


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


def test_an_import_of_its_own_export_changes_nothing(small_repo: Path, tmp_path: Path) -> None:
    before = standing(small_repo)
    done(small_repo, "export", "artifacts", tmp_path / "out")
    answer = done(small_repo, "import", "artifacts", tmp_path / "out", now=LATER)
    assert (answer["imported"], answer["commit"]) == (0, "")
    assert standing(small_repo) == before


def test_the_log_lists_an_import_once_beside_the_runs(published: Path, small_repo: Path) -> None:
    runs = [entry["op"] for entry in done(small_repo, "log")["entries"]]
    made = done(small_repo, "import", "artifacts", published, now=LATER)
    done(small_repo, "run", now=LATER)
    entries = done(small_repo, "log")["entries"]
    assert [e["commit"] for e in entries if e["op"] == "import"] == [made["commit"]]
    assert [e["op"] for e in entries if e["op"] not in ("import", "tier")][-len(runs) :] == runs
    assert "from artifacts" in memrepo(small_repo, "log", as_json=False).out
