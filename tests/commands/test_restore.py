"""Bringing back what was pruned, forgotten, archived or superseded; undo and redo."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, assert_sound, by_word, done, git, memories, memrepo, operations, standing

THIRD, FOURTH = "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"


def prune(repo: Path, id_: str) -> None:
    git(repo, "rm", "-q", memories(repo)[id_].path)
    git(repo, "commit", "-qm", "prune by hand", "--no-verify")


def test_a_forgotten_memory_comes_back(two_runs: Path) -> None:
    id_ = by_word(two_runs, "alpha")
    before = memories(two_runs)[id_]
    done(two_runs, "forget", id_)
    done(two_runs, "restore", id_[:10], "--reason", "it was right", now=THIRD)
    after = memories(two_runs)[id_]
    assert (after.status, after.body) == ("active", before.body)
    assert after.fields["verified"][-1].by == "human:person@example.org"
    assert operations(two_runs)[0] == "restore"
    assert "alpha" in (two_runs / "views" / "LTMEMORY.md").read_text()
    assert done(two_runs, "restore", id_, now=FOURTH)["unchanged"]
    assert_sound(two_runs)


def test_a_memory_that_left_the_tree_comes_back_as_it_last_was(two_runs: Path) -> None:
    id_ = by_word(two_runs, "alpha")
    path = memories(two_runs)[id_].path
    done(two_runs, "edit", id_, "--text", "The server alpha keeps two archives.")
    (two_runs / path).write_text(
        (two_runs / path).read_text().replace("\n---\n", "\nmine: kept\n---\n", 1)
    )
    git(two_runs, "commit", "-qam", "my own key", "--no-verify")
    prune(two_runs, id_)
    for word in (id_, id_[:11], path.rsplit("/", 1)[-1].removesuffix(".md")):
        assert done(two_runs, "restore", word, "--dry-run")["id"] == id_
    done(two_runs, "restore", id_, now=THIRD)
    found = memories(two_runs)[id_]
    assert (found.path, found.body) == (path, "The server alpha keeps two archives.")
    assert "mine: kept" in (two_runs / path).read_text()
    assert found.status == "active"
    assert_sound(two_runs)


def test_a_version_that_cannot_be_read_is_passed_over_and_named(two_runs: Path) -> None:
    id_ = by_word(two_runs, "alpha")
    known = memories(two_runs)[id_]
    took = git(two_runs, "log", "-1", "--format=%H", "--", known.path)[:10]
    (two_runs / known.path).write_text("---\nid: [\n---\nbroken\n")
    git(two_runs, "commit", "-qam", "break it", "--no-verify")
    last = git(two_runs, "rev-parse", "HEAD")[:10]
    git(two_runs, "rm", "-q", known.path)
    git(two_runs, "commit", "-qm", "prune by hand", "--no-verify")
    said = memrepo(two_runs, "restore", id_, now=THIRD, as_json=False).err
    assert f"its version of {last} cannot be read: that of {took} was restored" in said
    assert memories(two_runs)[id_].body == known.body


def test_a_note_comes_back_warm_and_marked(two_runs: Path) -> None:
    id_ = done(two_runs, "add", "The boiler was read.", "--type", "note")["id"]
    prune(two_runs, id_)
    done(two_runs, "restore", id_, now=THIRD)
    found = memories(two_runs)[id_]
    assert found.user_marked
    assert found.tier == "warm"


@pytest.mark.parametrize("word", ["mem-ffffffffffffffff", "no-such-thing-at-all", "-x", "*"])
def test_what_never_was_is_named(two_runs: Path, word: str) -> None:
    assert memrepo(two_runs, "restore", "--", word).exit == 2


@pytest.mark.parametrize("gone", [False, True])
def test_what_is_rejected_does_not_come_back(two_runs: Path, gone: bool) -> None:
    id_ = by_word(two_runs, "alpha")
    done(two_runs, "reject", id_, "--reason", "never", now=LATER)
    if gone:
        prune(two_runs, id_)
    before = standing(two_runs)
    answer = memrepo(two_runs, "restore", id_, now=THIRD)
    assert answer.exit == 3
    assert "--undo" in answer.error["fix"]
    assert standing(two_runs) == before


@pytest.mark.parametrize(("gone", "said"), [(False, ", was forgotten"), (True, " from history")])
def test_the_commit_says_from_where_a_memory_came_back(
    two_runs: Path, gone: bool, said: str
) -> None:
    id_ = by_word(two_runs, "alpha")
    done(two_runs, "forget", id_, now=LATER)
    if gone:
        prune(two_runs, id_)
    done(two_runs, "restore", id_, now=THIRD)
    form = "--format=%(trailers:key=Memrepo-Reason,valueonly)"
    assert git(two_runs, "log", "-1", form).strip() == f"restored by hand{said}"


def test_a_link_to_what_is_gone_by_now_does_not_come_back(two_runs: Path) -> None:
    alpha, helix = by_word(two_runs, "alpha"), by_word(two_runs, "helix")
    done(two_runs, "link", alpha, "supports", helix, now=LATER)
    prune(two_runs, alpha)
    prune(two_runs, helix)
    done(two_runs, "restore", alpha, now=THIRD)
    assert "links" not in memories(two_runs)[alpha].fields
    assert_sound(two_runs)


# -- supersessions are whole ---------------------------------------------------------------------


def test_what_was_replaced_takes_the_place_of_its_successor(two_runs: Path) -> None:
    vim, helix = by_word(two_runs, "vim"), by_word(two_runs, "helix")
    done(two_runs, "restore", vim, now=THIRD)
    found = memories(two_runs)
    assert (found[vim].status, found[helix].status) == ("active", "superseded")
    assert found[vim].supersedes == (helix,)
    assert found[helix].superseded_by == (vim,)
    assert "supersedes" not in found[helix].fields
    assert not {"superseded_by", "superseded_at"} & found[vim].fields.keys()
    assert_sound(two_runs)


# -- undo ----------------------------------------------------------------------------------------


def test_with_nothing_to_undo_it_says_so(tmp_path: Path) -> None:
    done(tmp_path, "init", "fresh")
    assert memrepo(tmp_path / "fresh", "undo").exit == 2
    assert memrepo(tmp_path / "fresh", "revert", "HEAD").exit == 2
