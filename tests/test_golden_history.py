"""The history of a small workspace over a few days, word for word: what a person reads in git log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import workspaces
from driving import begin, done, git, memrepo

RUN = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}")
DIGITS = re.compile(r"-[0-9a-f]{6}\.md$")
FOLDED = re.compile(r"undated/[0-9a-f]{2}/")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small workspace's repository after three days, a revert and a held run."""
    base = tmp_path_factory.mktemp("golden")
    made = begin(base, workspaces.growing(base / "workspace", 0))
    for day in range(1, 4):
        workspaces.growing(base / "workspace", day)
        done(made, "run", now=f"2026-03-{day + 1:02d}T09:00:00Z")
    done(made, "revert", now="2026-03-05T09:00:00Z")
    memrepo(made, "run", now="2026-03-06T09:00:00Z")
    return made


def plain(text: str) -> str:
    """Drop what hangs on hashes: the tail of run ids, of file names and of folders of undated."""
    text = FOLDED.sub("undated/", RUN.sub(r"\1", text))
    return DIGITS.sub(".md", text)


def history(repo: Path, *argv: str) -> list[tuple[str, ...]]:
    """Return subject and changed files of each commit, oldest first."""
    raw = git(
        repo, "log", "--reverse", "--topo-order", "--no-renames", "--name-status",
        "--format=%x01%s", *argv,
    )  # fmt: skip
    found = []
    for record in raw.split("\x01")[1:]:
        subject, *rest = [line for line in record.split("\n") if line]
        found.append((plain(subject), *(plain(line.replace("\t", " ")) for line in rest)))
    return found


def test_the_full_log_is_word_for_word(repo: Path) -> None:
    assert history(repo) == FULL


def test_the_first_parent_log_is_one_line_an_operation(repo: Path) -> None:
    assert [plain(s) for s in git(repo, "log", "--first-parent", "--format=%s").splitlines()] == LINES


def test_who_wrote_what_is_on_every_commit(repo: Path) -> None:
    raw = git(repo, "log", "--format=%an <%ae>|%cn|%(trailers:key=Memrepo-Op,valueonly,separator=)")
    authors = {line.split("|")[2]: tuple(line.split("|")[:2]) for line in raw.splitlines()}
    machine, person = "memrepo <memrepo@localhost>", "Test Person <person@example.org>"
    assert {op: author for op, (author, _) in authors.items()} == {
        "create": machine, "reword": machine, "supersede": machine,
        "view": machine, "run": machine, "ingest": machine, "init": person, "revert": person,
    }  # fmt: skip


FULL: list[tuple[str, ...]] = []
LINES: list[str] = []
