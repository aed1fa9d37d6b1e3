"""What `status` tells of all memories is the same by the rows of a commit and by reading each."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from driving import LONG, done, git
from hoards import hoard, stored
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.actions.setup import survey
from memrepo.actions.work import Call, Work
from memrepo.store.census import census_of
from memrepo.store.records import NAME

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HEADS = {
    "superseded": "status: superseded\n",
    "lost link": "links:\n  - {target: mem-00000000000000aa, type: supports}\n",
    "lost heir": "superseded_by: [mem-00000000000000aa]\n",
    "contested": "standing: contested\n",
    "retired": "standing: retire_candidate\n",
    "unknown": "no_such_key: 1\n",
    "hot": "hot: {since: 2026-03-01T00:00:00Z, reason: manual}\n",
}
EVERY = (*HEADS, "text", "gone", "copied", "no id", "broken", "linked", "no file", "no cache")
DO = st.sampled_from([*EVERY, "against", "rejected", "by both"])


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with some memories."""
    base = tmp_path_factory.mktemp("rows")
    done(base, "init", "repo")
    stored(base / "repo", hoard(12))
    return base / "repo"


def id_of(path: Path) -> str:
    return next(s[4:] for s in path.read_text("utf-8").split("\n") if s.startswith("id: "))


def act(repo: Path, what: str, number: int) -> None:
    """Do something by hand that is told of."""
    paths = sorted(p for p in (repo / "memories").rglob("*.md") if p.is_file())
    whole = [p for p in paths if "\nid: mem-" in p.read_text("utf-8")]
    if len(whole) < 3:
        return
    path, other, third = (whole[(number + n) % len(whole)] for n in range(3))
    text = path.read_text(encoding="utf-8")
    head = HEADS.get(what, "")
    match what:
        case "text":
            path.write_text(f"{text}\nAnd bay {number} is shut.\n", encoding="utf-8")
        case "gone":
            path.unlink()
        case "copied":
            shutil.copy(path, path.with_name(f"copy-{number}.md"))
        case "no id":
            path.write_text(text.replace(f"id: {id_of(path)}\n", ""), encoding="utf-8")
        case "broken":
            path.write_text(text.replace("---\n", "", 1), encoding="utf-8")
        case "linked" | "no file":
            path.unlink()
            path.symlink_to(other if what == "linked" else "/nowhere")
        case "against":
            head = f"links:\n  - {{target: {id_of(other)}, type: contradicts}}\n"
        case "by both":
            path.write_text(
                text.replace("\ntype:", f"\nsupersedes: [{id_of(other)}]\ntype:", 1), "utf-8"
            )
            said = other.read_text(encoding="utf-8")
            heirs = f"status: superseded\nsuperseded_by: [{id_of(third)}]\n"
            other.write_text(said.replace("\ntype:", f"\n{heirs}type:", 1), encoding="utf-8")
        case "rejected":
            done(repo, "reject", id_of(path), "--reason", "wrong")
        case "no cache":
            (repo / ".git/memrepo" / NAME).unlink(missing_ok=True)
    if head:
        path.write_text(text.replace("\ntype:", f"\n{head}type:", 1), encoding="utf-8")
    if git(repo, "status", "--porcelain"):
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "by hand", "--no-verify")


@settings(max_examples=300 if LONG else 8, deadline=None)
@given(acts=st.lists(st.tuples(DO, st.integers(0, 99)), min_size=3, max_size=6))
def test_rows_tell_of_random_edits_what_reading_all_tells(
    full: Path, tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    repo = tmp_path_factory.mktemp("law") / "repo"
    shutil.copytree(full, repo)
    for what, number in acts:
        act(repo, what, number)
        with Work(Call(where=repo, now=NOW)) as work:
            assert survey.survey(work) == survey.read(work.tree.state()), what


@pytest.mark.parametrize("what", EVERY)
def test_rows_tell_of_each_edit_what_reading_all_tells(
    full: Path, tmp_path: Path, what: str
) -> None:
    repo = shutil.copytree(full, tmp_path / "repo")
    with Work(Call(where=repo, now=NOW)) as work:
        survey.survey(work)
    act(repo, what, 1)
    with Work(Call(where=repo, now=NOW)) as work:
        found = survey.survey(work)
        assert found == survey.read(work.tree.state())
        with census_of(work.tree, work.store.folder) as census:
            beyond = {"copied", "linked", "no file"}
            assert (census is None) == (what in beyond)


def test_rows_that_are_damaged_half_way_are_left_for_the_files(full: Path, tmp_path: Path) -> None:
    repo = shutil.copytree(full, tmp_path / "repo")
    with Work(Call(where=repo, now=NOW)) as work:
        survey.survey(work)
    with closing(sqlite3.connect(repo / ".git/memrepo" / NAME)) as base:
        base.execute("UPDATE census SET problems = 'no JSON', tier = NULL")
        base.execute("DROP TABLE census_ref")
        base.commit()
    with Work(Call(where=repo, now=NOW)) as work:
        assert survey.survey(work) == survey.read(work.tree.state())


def test_where_no_row_can_be_written_all_is_read(full: Path, tmp_path: Path) -> None:
    repo = shutil.copytree(full, tmp_path / "repo")
    (repo / ".git/memrepo" / NAME).write_bytes(b"not a database, and not empty either")
    with Work(Call(where=repo, now=NOW)) as work:
        assert survey.survey(work) == survey.read(work.tree.state())
    if os.getuid():  # whom no mode keeps out
        (repo / ".git/memrepo").chmod(0o500)
        with Work(Call(where=repo, now=NOW)) as work:
            assert survey.survey(work) == survey.read(work.tree.state())
        (repo / ".git/memrepo").chmod(0o700)
