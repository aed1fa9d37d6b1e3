"""Purifier workspaces taken in: by `init --from` before anything else, and by `memrepo import`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, NEXT_DAY, assert_sound, done, git, memories, memrepo, standing, subjects

from memrepo.core.layout import asset
from memrepo.formats import plan


def claims(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(x) for x in (folder / plan.CLAIMS).read_bytes().splitlines()]


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
    for name in (plan.ENTITIES, plan.ROUTES):
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


HEADER = "---\nname: {0}\ndescription: about {0}\ntype: project\n---\n\n"


def write(folder: Path, count: int, what: str = "kiln") -> Path:
    """Write notes with one claim each; return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(1, count + 1):
        text = f"The {what} of room {n} is lit on day {n} of the month.\n"
        (folder / f"n{n}.md").write_text(HEADER.format(f"{what}-{n}") + text, encoding="utf-8")
    return folder


def taken(repo: Path, folder: Path, now: str = LATER) -> dict[str, int]:
    """Import a folder; return the counts."""
    counts = done(repo, "import", "claude-code", folder, now=now)["counts"]
    assert isinstance(counts, dict)
    return counts


def states(repo: Path) -> dict[str, tuple[str, str]]:
    """Return status and standing of the memory of each file."""
    found = sorted(memories(repo).values(), key=lambda m: m.sources[0].resource)
    return {
        m.sources[0].resource.partition("#")[0].rpartition("/")[2]: (m.status, m.standing)
        for m in found
    }


ACTIVE, RETIRED = ("active", "resolved"), ("archived", "retire_candidate")


MARKED = ("active", "retire_candidate")


@pytest.mark.parametrize("verb", ["forget", "reject"])
def test_a_memory_that_a_person_took_out_does_not_come_back_with_its_file(
    repo: Path, tmp_path: Path, verb: str
) -> None:
    folder = write(tmp_path / "notes", 8)
    kept = (folder / "n1.md").read_bytes()
    taken(repo, folder)
    (folder / "n1.md").unlink()
    taken(repo, folder)
    assert states(repo)["n1.md"] == RETIRED
    (id_,) = (m.id for m in memories(repo).values() if m.standing == "retire_candidate")
    done(repo, verb, id_, "--reason", "never", now=LATER)
    (folder / "n1.md").write_bytes(kept)
    new = HEADER.format("bread") + "Ana bakes rye bread with caraway.\n"
    (folder / "bread.md").write_text(new, encoding="utf-8")
    answer = done(repo, "import", "claude-code", folder, now=NEXT_DAY)
    assert answer["imported"] == 1  # the rest is taken in
    assert memories(repo)[id_].status == "forgotten"
    hits = done(repo, "search", "kiln of room 1", now=NEXT_DAY)["hits"]
    assert id_ not in {hit["id"] for hit in hits}
    named = [p["path"] for p in answer["problems"] if p["rule"] == "rejected-left-out"]
    assert named == (["n1.md"] if verb == "reject" else [])
    assert_sound(repo)


@pytest.mark.parametrize("gone", [1, 5])  # retired, or only marked
def test_a_file_that_comes_back_with_another_text_brings_it(
    repo: Path, tmp_path: Path, gone: int
) -> None:
    folder = write(tmp_path / "notes", 8)
    taken(repo, folder)
    for n in range(1, gone + 1):
        (folder / f"n{n}.md").unlink()
    taken(repo, folder)
    text = "Ana bakes rye bread with caraway."
    (folder / "n1.md").write_text(f"{HEADER.format('kiln-1')}{text}\n", encoding="utf-8")
    taken(repo, folder, NEXT_DAY)
    (memory,) = (m for m in memories(repo).values() if m.body.strip() == text)
    assert (memory.status, memory.standing) == ACTIVE
    assert_sound(repo)


def test_folders_of_one_name_do_not_end_each_others_memories(repo: Path, tmp_path: Path) -> None:
    one, other = write(tmp_path / "a" / "notes", 4), write(tmp_path / "b" / "notes", 2, "loom")
    for number in (1, 2):
        (other / f"n{number}.md").rename(other / f"m{number}.md")
    taken(repo, one)
    for now in (LATER, NEXT_DAY):
        for folder in (other, one):
            counts = taken(repo, folder, now)
            assert not {"marked", "memories_retired"} & counts.keys()
    assert set(states(repo).values()) == {ACTIVE}
    assert len(states(repo)) == 6


def test_another_clone_ends_only_what_it_imported_itself(repo: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "here" / "notes", 8)
    taken(repo, folder)
    there = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repo), str(there))
    done(there, "init", ".", now=LATER)
    mine = write(tmp_path / "there" / "notes", 8, "loom")
    (mine / "n1.md").rename(mine / "m1.md")  # n1.md is only in the other folder
    assert not {"marked", "memories_retired"} & taken(there, mine).keys()
    (mine / "m1.md").unlink()
    assert taken(there, mine, NEXT_DAY)["memories_retired"] == 1
    assert [n for n, state in states(there).items() if state != ACTIVE] == ["m1.md"]


def test_what_another_folder_still_states_is_not_ended(repo: Path, tmp_path: Path) -> None:
    one, other = write(tmp_path / "a" / "notes", 8), write(tmp_path / "b" / "notes", 1)
    for folder in (one, other):
        taken(repo, folder)
    (one / "n1.md").unlink()
    assert "memories_retired" not in taken(repo, one)
    shutil.rmtree(other)
    assert taken(repo, one, NEXT_DAY)["memories_retired"] == 1


def test_an_ending_is_part_of_the_one_commit_that_undo_takes_back(
    repo: Path, tmp_path: Path
) -> None:
    folder = write(tmp_path / "notes", 8)
    taken(repo, folder)
    before = git(repo, "rev-parse", "HEAD").strip()
    (folder / "n1.md").unlink()
    write(folder / "new", 1, "loom")
    tried = done(repo, "import", "claude-code", folder, "--dry-run", now=LATER)["counts"]
    assert taken(repo, folder) == tried
    assert (tried["memories_new"], tried["memories_retired"]) == (1, 1)
    assert git(repo, "rev-parse", "HEAD~1").strip() == before
    assert subjects(repo)[0] == "Import 1 memory from claude-code, 1 retired"
    assert "file removed: claude-code://notes/n1.md" in git(repo, "log", "-1", "--format=%b")
    done(repo, "undo", now=NEXT_DAY)
    assert states(repo) == dict.fromkeys((f"n{n}.md" for n in range(1, 9)), ACTIVE)
    taken(repo, folder, NEXT_DAY)
    assert states(repo)["n1.md"] == ACTIVE  # a person took its end back


@pytest.mark.parametrize(
    ("before", "gone", "state", "name"),
    [
        (100, 25, MARKED, "marked"),  # more than `run.max_change_pct`
        (100, 15, RETIRED, "memories_retired"),
        (8, 5, MARKED, "marked"),  # more than half
    ],
)
def test_an_import_that_loses_too_much_marks(
    repo: Path, tmp_path: Path, before: int, gone: int, state: tuple[str, str], name: str
) -> None:
    folder = write(tmp_path / "notes", before)
    taken(repo, folder)
    for n in range(1, gone + 1):
        (folder / f"n{n}.md").unlink()
    counts = taken(repo, folder)
    assert {k: n for k, n in counts.items() if k in ("marked", "memories_retired")} == {name: gone}
    found = states(repo)
    assert [found[f"n{n}.md"] for n in range(1, before + 1)] == (
        [state] * gone + [ACTIVE] * (before - gone)
    )
    assert memrepo(repo, "import", "claude-code", folder, now=NEXT_DAY).data["commit"] == ""
