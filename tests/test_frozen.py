"""A repository that an earlier memrepo wrote opens in this one: read, run, taken back, accepted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from driving import assert_sound, done, git, memories, memrepo, subjects

from memrepo import config, keys
from memrepo.actions.setup import upgrade
from memrepo.core.changes import Write
from memrepo.core.state import State

BUNDLES = sorted((Path(__file__).parent / "frozen").glob("format-*.bundle"))
LATER = "2026-03-08T09:00:00Z"


@pytest.fixture(scope="module", params=BUNDLES, ids=lambda path: path.stem)
def _thawed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("thawed") / "repo"
    git(folder.parent, "clone", "-q", str(request.param), str(folder))
    git(folder, "fetch", "-q", "--update-head-ok", str(request.param), "refs/*:refs/*")
    return folder


@pytest.fixture
def repo(_thawed: Path, tmp_path: Path) -> Path:
    """Return a frozen repository as a clone of this machine; yours to change."""
    shutil.copytree(_thawed, tmp_path / "repo", symlinks=True)
    return tmp_path / "repo"


def test_every_format_up_to_todays_is_frozen() -> None:
    assert [path.stem for path in BUNDLES] == [f"format-{n + 1}" for n in range(keys.FORMAT)]


def test_it_is_read_as_it_is(repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    status = done(repo, "status", now=LATER)
    assert (status["runs"], len(status["waiting"])) == (4, 1)
    assert status["memories"]["active"] >= 8
    bad = [p for p in status["problems"] if p["severity"] == "error"]
    assert bad == []
    report = memrepo(repo, "doctor", now=LATER).data
    failing = {c["name"] for c in report["checks"] if not c["ok"]}
    if f"format = {keys.FORMAT}\n" not in (repo / "memrepo.toml").read_text():
        failing -= {"format"}
    assert failing <= {"drivers", "hook", "hookspath", "identity", "program", "trust", "waiting"}
    hits = done(repo, "search", "heirloom tomatoes", now=LATER)["hits"]
    assert "heirloom" in hits[0]["text"]
    assert done(repo, "why", hits[0]["id"], now=LATER)
    assert len(done(repo, "reject", "--list", now=LATER)["rejected"]) == 1
    assert git(repo, "rev-parse", "HEAD") == head


def test_it_goes_on(repo: Path) -> None:
    done(repo, "upgrade", now=LATER)
    source = repo / "sources" / "MEMORY.md"
    source.write_text(source.read_text() + "- The kiln is fired on the first Sunday of May.\n")
    git(repo, "commit", "-qam", "the agent wrote", "--no-verify")
    ran = memrepo(repo, "run", now=LATER)
    if ran.exit == 3 and "upgrade required" in ran.err:
        ran = memrepo(repo, "run", "--acknowledge-upgrade", now=LATER)
    assert ran.exit in (0, 3), ran
    assert any("kiln" in m.body for m in memories(repo).values()) or ran.exit == 3
    (rose,) = (m for m in memories(repo).values() if "roses" in m.body)
    assert rose.status != "active", "it was rejected"
    assert_sound(repo)


def test_a_run_of_then_is_taken_back_and_the_waiting_one_decided(repo: Path) -> None:
    done(repo, "upgrade", now=LATER)
    first = done(repo, "runs")["runs"][-1]["run"]
    assert memrepo(repo, "diff", done(repo, "runs")["waiting"][0]["run"], now=LATER).exit == 0
    assert memrepo(repo, "accept", now=LATER).exit == 0
    assert done(repo, "runs")["waiting"] == []
    answer = memrepo(repo, "revert", first, "--theirs", now="2026-03-08T10:00:00Z")
    assert answer.exit == 0, answer
    assert first not in {r["run"] for r in done(repo, "runs")["runs"]}
    assert_sound(repo)


def test_an_upgrade_leaves_what_memories_say_and_makes_them_short(repo: Path) -> None:
    before = memories(repo)
    quoted = {i: done(repo, "show", i, now=LATER)["evidence"] for i in before}
    done(repo, "upgrade", now=LATER)
    after = memories(repo)
    assert {i: (m.fields, m.body) for i, m in after.items()} == {
        i: (m.fields, m.body) for i, m in before.items()
    }
    assert {i: done(repo, "show", i, now=LATER)["evidence"] for i in after} == quoted
    for memory in after.values():
        text = (repo / memory.path).read_text()
        assert not any(word in text for word in ("blob", "scores", "run:", "resource"))
        assert "/undated/" not in memory.path
        if memory.sources and not memory.is_note:
            assert done(repo, "why", memory.id, now=LATER)["scores"]["route_fitness"] > 0
    assert done(repo, "check", now=LATER)["problems"] == []
    assert_sound(repo)


# -- `memrepo upgrade`, with a migration that this test plants -------------------------------------


def _renamed(state: State) -> list[Write]:
    """Stand for a migration: a file of memrepo's is written in a new form."""
    path = state.layout.area("views") + "LTMEMORY.md"
    return [Write(path=path, data=b"# In the next form\n")]


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> int:
    """Make this program write the next format, to which the planted migration leads."""
    number = keys.FORMAT + 1
    monkeypatch.setattr(keys, "FORMAT", number)
    monkeypatch.setattr(config, "FORMAT", number)
    monkeypatch.setattr(upgrade, "FORMAT", number)
    monkeypatch.setattr(upgrade, "MIGRATIONS", {number - 1: _renamed})
    return number


def test_an_older_format_is_read_and_written_after_one_commit(repo: Path, newer: int) -> None:
    old = newer - 1
    if f"format = {old}\n" not in (repo / "memrepo.toml").read_text():
        pytest.skip("this one is older still: the planted migration does not start there")
    assert done(repo, "search", "tomatoes", now=LATER)["hits"]
    refused = memrepo(repo, "add", "The well is deep.", now=LATER)
    assert refused.exit == 3
    assert "memrepo upgrade" in refused.error["fix"]
    before = subjects(repo)
    planned = done(repo, "upgrade", "--dry-run", now=LATER)
    assert (planned["old"], planned["new"], planned["commit"]) == (old, newer, "")
    assert planned["files"] == ["memrepo.toml", "views/LTMEMORY.md"]
    assert subjects(repo) == before
    assert done(repo, "upgrade", now=LATER)["commit"]
    assert subjects(repo) == [f"Upgrade files from format {old} to format {newer}", *before]
    assert f"format = {newer}\n" in (repo / "memrepo.toml").read_text()
    assert (repo / "views" / "LTMEMORY.md").read_text() == "# In the next form\n"
    assert done(repo, "upgrade", now=LATER)["commit"] == ""
    done(repo, "add", "The well is deep.", now="2026-03-08T09:10:00Z")
    assert_sound(repo)


def test_a_newer_format_is_not_migrated(repo: Path) -> None:
    path = repo / "memrepo.toml"
    path.write_text(
        path.read_text().replace("format = 1", "format = 99").replace("format = 2", "format = 99")
    )
    answer = memrepo(repo, "upgrade", now=LATER)
    assert answer.exit == 3
    assert "format 99" in answer.error["message"]
