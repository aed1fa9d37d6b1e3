"""Exports, driven as a person does: what is written where, and what refuses."""

from __future__ import annotations

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from driving import LATER, done, files, memories, memrepo, standing
from lineage_contract import check_artifacts

from memrepo.formats import plan


def test_an_ugly_repository_exports_without_an_error(ugly_repo: Path, tmp_path: Path) -> None:
    answer = done(ugly_repo, "export", "artifacts", tmp_path / "out")
    found = check_artifacts(files(tmp_path / "out"), "personal")
    assert found == []
    claims = sum(not m.is_note for m in memories(ugly_repo).values())
    left = sum(n for reason, n in answer["left_out"].items() if reason != "note")
    assert answer["counts"]["claims"] == claims - left


def test_equal_trees_give_equal_bytes_but_for_the_summary(small_repo: Path, tmp_path: Path) -> None:
    done(small_repo, "export", "artifacts", tmp_path / "a")
    done(small_repo, "export", "artifacts", tmp_path / "b", now=LATER)
    one, other = files(tmp_path / "a"), files(tmp_path / "b")
    assert [n for n in one if one[n] != other[n]] == [plan.SUMMARY]
    shown = json.loads(other[plan.SUMMARY])
    assert shown["timezone"] == ZoneInfo("Asia/Manila").key
    assert shown["timestamp"] == "2026-03-01T19:00:00+08:00"


@pytest.mark.parametrize("format_", ["artifacts", "jsonl"])
def test_a_folder_that_holds_files_is_refused_unless_forced(
    small_repo: Path, tmp_path: Path, format_: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    refused = memrepo(small_repo, "export", format_, out)
    assert refused.exit == 2
    assert files(out) == {"mine.txt": b"mine"}
    answer = done(small_repo, "export", format_, out, "--force")
    assert sorted(files(out)) == sorted(["mine.txt", *answer["files"]])
    again = files(out)
    done(small_repo, "export", format_, out, "--force")
    assert files(out) == again
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "repo", "workspace"]


@pytest.mark.parametrize(
    "where", [".", "memories", "memories/out", "sources/inbox/out", "views", ".git/out", "runs/a/b"]
)
def test_the_repositorys_own_areas_are_refused_even_forced(small_repo: Path, where: str) -> None:
    before = standing(small_repo)
    assert memrepo(small_repo, "export", "jsonl", where, "--force").exit == 2
    assert standing(small_repo) == before


def test_a_link_into_the_repository_is_refused(small_repo: Path, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(small_repo / "memories")
    assert memrepo(small_repo, "export", "jsonl", tmp_path / "out", "--force").exit == 2


def test_what_is_left_out_is_counted_as_forgotten_and_as_rejected(
    small_repo: Path, tmp_path: Path
) -> None:
    first, second, third, *rest = memories(small_repo)
    done(small_repo, "forget", first)
    done(small_repo, "reject", second, "--reason", "wrong")
    done(small_repo, "reject", third, "--reason", "wrong")
    found = done(small_repo, "export", "jsonl", tmp_path / "out")
    assert found["left_out"] == {"forgotten": 1, "rejected": 2}
    assert found["counts"] == {"memories": len(rest)}
    text = memrepo(small_repo, "export", "jsonl", tmp_path / "out", "--force", as_json=False).out
    assert "left out: 1 forgotten, 2 rejected" in text
