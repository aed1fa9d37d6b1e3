"""The search index: a cache that may be lost, damaged or shared, and no query breaks it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import driving
import pytest
import workspaces
from driving import git
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.store import index
from memrepo.store.repo import open_repository

SCRIPTS = """\
# Memory

- 北京の温室は寒い。
- The greenhouse in Oslo is warm.
- Привет мир, Вера живёт здесь.
""".encode()
ALL = index.Filter(statuses=("active", "archived", "superseded", "forgotten"), limit=100)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make a repository with three memories in three scripts."""
    return driving.begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": SCRIPTS}))


@pytest.fixture(scope="module")
def standing_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("index")
    return driving.begin(base, workspaces.write(base / "ws", {"MEMORY.md": SCRIPTS}))


def hits(repo: Path, *words: str) -> list[str]:
    return [hit["id"] for hit in driving.done(repo, "search", "--", *words)["hits"]]


def dump(repo: Path) -> list[tuple[object, ...]]:
    """Return what the index holds."""
    with sqlite3.connect(repo / ".git" / "memrepo" / index.NAME) as base:
        rows = base.execute("SELECT * FROM memory ORDER BY path").fetchall()
        rows += base.execute("SELECT path, title, body FROM words ORDER BY path").fetchall()
    base.close()
    return rows


def overwritten(data: bytes) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.write_bytes(data)

    return spoil


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damaged_inside(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def of_another_version(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
        base.execute("DELETE FROM words")
    base.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE memory (other TEXT)")
    base.close()


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink, overwritten(b""), overwritten(b"garbage" * 1000), truncated, damaged_inside,
        of_another_version, of_another_program,
    ],
    ids=["deleted", "empty", "garbage", "truncated", "damaged", "version", "foreign"],
)  # fmt: skip
def test_a_lost_or_damaged_index_is_built_again(small: Path, spoil: Callable[[Path], None]) -> None:
    wanted = hits(small, "greenhouse")
    assert len(wanted) == 1
    rows = dump(small)
    spoil(small / ".git" / "memrepo" / index.NAME)
    assert hits(small, "greenhouse") == wanted
    assert dump(small) == rows


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["北京"], 1), (["温室"], 1), (["京の"], 1), (["greenhouse"], 1), (["GREENHOUSES"], 1),
        (["Вера"], 1), (["вера"], 1), (["東京"], 0), (["oslo", "北京"], 2), (["ｏｓｌｏ"], 1),
    ],
)  # fmt: skip
def test_every_script_is_found(standing_repository: Path, words: list[str], count: int) -> None:
    assert len(hits(standing_repository, *words)) == count


@pytest.mark.parametrize(
    "words",
    [
        '"', '""', '"greenhouse', "*", "green*", "(", ")", "()", "NEAR", "NEAR(a b)", "AND", "OR",
        "NOT", "a AND", "OR b", ":", "title:", "title:x", "body : x", "^", "^a", "-", "--", "-a",
        "+", "'", "';--", "\\", "{a b}", "a.b", "%", "_", "?", "", " ", "\t", "\n", "\0", "\x1b[0m",
        "\ud800", "\u200b", "🚀", "e\u0301", "a" * 10_000, "x " * 3_000, "is the", "١٢٣", "ﬁ", "İ",
        "_" * 50, "京", "ー", "\u3099",
    ],
    ids=lambda words: ascii(words[:12]),
)  # fmt: skip
def test_no_query_is_a_syntax_error(standing_repository: Path, words: str) -> None:
    with open_repository(standing_repository) as store:
        index.search(store.folder, store.snapshot(store.head()), [words], ALL)


@settings(max_examples=60)
@given(words=st.lists(st.text(max_size=20), max_size=4))
def test_no_query_of_any_text_raises(standing_repository: Path, words: list[str]) -> None:
    with open_repository(standing_repository) as store:
        index.search(store.folder, store.snapshot(store.head()), words, ALL)


def test_stop_words_alone_are_searched_for(small: Path) -> None:
    assert len(hits(small, "is", "the")) == 1
    assert hits(small, "is", "the", "zzz") == []


@settings(max_examples=5)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(0, 5))
def test_catching_up_and_building_anew_come_to_the_same(order: list[int], last: int) -> None:
    """The index follows HEAD anywhere: forwards, back, to another branch."""
    with tempfile.TemporaryDirectory() as folder:
        repo = driving.begin(Path(folder), workspaces.small(Path(folder) / "ws"))
        commits = [git(repo, "rev-parse", "HEAD").strip()]
        for day in range(1, 4):
            workspaces.growing(Path(folder) / "ws", day)
            driving.memrepo(repo, "run", now=f"2026-03-0{day + 1}T09:00:00Z")
            commits.append(git(repo, "rev-parse", "HEAD").strip())
        for pick in [*order, last]:
            git(repo, "reset", "-q", "--hard", commits[pick % len(commits)])
            hits(repo, "Vera")
        caught_up = dump(repo)
        (repo / ".git" / "memrepo" / index.NAME).unlink()
        hits(repo, "Vera")
        assert dump(repo) == caught_up


def test_two_processes_at_once_agree(small: Path) -> None:
    wanted = hits(small, "greenhouse", "Oslo")
    rows = dump(small)
    (small / ".git" / "memrepo" / index.NAME).unlink()
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if hits(small, "greenhouse", "Oslo") == wanted else 2
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0] * 6
    assert dump(small) == rows


def test_a_memory_that_cannot_be_read_is_left_out_and_the_rest_found(small: Path) -> None:
    path = next((small / "memories").rglob("*greenhouse*.md"))
    path.write_text("---\ntype: [\n---\nbroken\n")
    git(small, "commit", "-qnam", "broken")
    assert hits(small, "greenhouse") == []
    assert len(hits(small, "北京")) == 1
