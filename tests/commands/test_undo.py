"""Taking back what is not the latest: later work stays, a clash is told and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo, standing

MUCH_LATER = "2026-03-01T11:10:00Z"


def write(base: Path, *lines: str) -> None:
    (base / "workspace").mkdir(exist_ok=True)
    (base / "workspace" / "MEMORY.md").write_text("# Infra\n\n" + "\n".join(lines) + "\n")


ALPHA = "- The server alpha keeps the archive of the choir."
BETA = "- The server beta answers the telephone of the parish."
VIM, HELIX = "- [2026-01-10] **Editor:** vim", "- [2026-02-20] **Editor:** helix"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository after two runs: alpha and vim first, then beta and helix."""
    write(tmp_path, ALPHA, VIM)
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    write(tmp_path, ALPHA, BETA, VIM, HELIX)
    done(tmp_path / "repo", "run", now=LATER)
    return tmp_path / "repo"


def by_word(repo: Path, word: str) -> str:
    (found,) = [i for i, m in memories(repo).items() if word in m.body]
    return found


def runs(repo: Path) -> list[str]:
    return [r["run"] for r in done(repo, "log", "--runs")["runs"]]


def test_an_earlier_run_goes_and_later_work_stays(repo: Path) -> None:
    second = runs(repo)[0]
    added = done(repo, "add", "A person added this afterwards.")["id"]
    done(repo, "pin", by_word(repo, "alpha"))
    answer = done(repo, "revert", second, now=MUCH_LATER)
    assert answer["conflicts"] == []
    found = memories(repo)
    assert added in found
    assert found[by_word(repo, "alpha")].pinned
    assert found[by_word(repo, "vim")].status == "active"
    assert not found[by_word(repo, "vim")].superseded_by
    assert {m.body for m in found.values() if "beta" in m.body or "helix" in m.body} == set()
    assert "beta" not in (repo / "views" / "LTMEMORY.md").read_text()
    assert second not in runs(repo)
    assert_sound(repo)


def test_a_memory_of_the_run_that_was_edited_later_clashes_and_nothing_is_written(
    repo: Path,
) -> None:
    second, beta = runs(repo)[0], by_word(repo, "beta")
    done(repo, "edit", beta, "--text", "The server beta answers two telephones.")
    before = standing(repo)
    answer = memrepo(repo, "revert", second)
    assert answer.exit == 3
    assert answer.data["conflicts"] == [
        {"kind": "edited-later", "memory": beta, "path": memories(repo)[beta].path}
    ]
    assert standing(repo) == before


def test_what_later_work_refers_to_does_not_vanish_unasked(repo: Path) -> None:
    second, alpha, beta = runs(repo)[0], by_word(repo, "alpha"), by_word(repo, "beta")
    done(repo, "link", alpha, "supports", beta)
    answer = memrepo(repo, "revert", second)
    assert answer.exit == 3
    assert {(c["kind"], c["memory"]) for c in answer.data["conflicts"]} == {("depended-on", alpha)}
    done(repo, "revert", second, "--theirs", now=MUCH_LATER)
    assert "links" not in memories(repo)[alpha].fields
    assert_sound(repo)


def test_one_decision_of_a_run_is_taken_back_alone(repo: Path) -> None:
    entries = done(repo, "log", "--run", runs(repo)[0])["entries"]
    (supersession,) = [e["commit"] for e in entries if e["op"] == "supersede"]
    done(repo, "revert", supersession, now=MUCH_LATER)
    found = memories(repo)
    assert found[by_word(repo, "vim")].status == "active"
    assert "supersedes" not in found[by_word(repo, "helix")].fields
    assert by_word(repo, "beta")
    assert_sound(repo)


def test_reverting_an_older_revert_brings_its_run_back(repo: Path) -> None:
    second = runs(repo)[0]
    shown = git(repo, "rev-parse", "HEAD:memories")
    reverted = done(repo, "revert", second, now=MUCH_LATER)["commits"][0]
    added = done(repo, "add", "A person added this afterwards.")["id"]
    done(repo, "revert", reverted, now=MUCH_LATER)
    found = memories(repo)
    assert added in found
    assert found[by_word(repo, "vim")].status == "superseded"
    assert second in runs(repo)
    done(repo, "forget", added)
    assert git(repo, "rev-parse", "HEAD:memories") != shown


# -- what depends on it, a memory as a target, accepting what was taken back ----------------------


def test_of_a_memory_what_was_last_decided_is_taken_back(repo: Path) -> None:
    alpha, beta, vim = (by_word(repo, w) for w in ("alpha", "beta", "vim"))
    done(repo, "pin", alpha)
    done(repo, "add", "A person added this afterwards.")
    done(repo, "revert", alpha[:12], now=MUCH_LATER)
    assert not memories(repo)[alpha].pinned
    done(repo, "revert", vim, now=MUCH_LATER)
    assert memories(repo)[vim].status == "active", "a supersession goes as a whole"
    done(repo, "revert", beta, now=MUCH_LATER)
    assert not memories(repo)[beta].hot, "the run put it on the first page last"
    done(repo, "revert", beta, now=MUCH_LATER)
    assert memories(repo)[beta].hot, "the last decision was the revert"
    assert alpha in memories(repo)
    assert_sound(repo)


@pytest.mark.parametrize("program", ["memrepo", "git"])
def test_what_a_reverted_run_is_restored_with_is_named_and_works(repo: Path, program: str) -> None:
    second, shown = runs(repo)[0], git(repo, "rev-parse", "HEAD:memories")
    if program == "memrepo":
        done(repo, "revert", second, now=MUCH_LATER)
    else:
        git(repo, "revert", "--no-edit", "-m", "1", "HEAD")
    by = git(repo, "rev-parse", "HEAD").strip()
    assert memrepo(repo, "accept", second).exit == 2, "it does not wait"
    for named in ((), (second,)):
        again = memrepo(repo, "revert", *named)
        assert again.exit == 2
        assert again.error["fix"].startswith(f"`{program} revert {by[:10]}` restores it")
    if program == "memrepo":
        done(repo, "revert", by[:10], now=MUCH_LATER)
    else:
        git(repo, "revert", "--no-edit", by[:10])
    assert git(repo, "rev-parse", "HEAD:memories") == shown
    assert second in runs(repo)
    assert_sound(repo)
