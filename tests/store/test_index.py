"""The search index: a cache that may be lost, damaged or shared, and no query breaks it."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import driving
import pytest
import workspaces
from driving import git
from hypothesis import given, settings
from hypothesis import strategies as st
from nobody import as_nobody

from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory
from memrepo.policies.ranking import Moment
from memrepo.policies.rules import Weights
from memrepo.store import blocks as indexing
from memrepo.store import database, index
from memrepo.store.index import Filter
from memrepo.store.tree import BlobFiles, Snapshot

SCRIPTS = """\
# Memory

- 北京の温室は寒い。
- The greenhouse in Oslo is warm.
- Привет мир, Вера живёт здесь.
""".encode()
ALL = Filter(statuses=("active", "archived", "superseded", "forgotten"), limit=100)


class Files(BlobFiles):
    """The files of a commit, kept in memory; blob ids follow from the contents."""

    def __init__(self, data: Mapping[str, bytes]) -> None:
        self._data = data
        blobs = {path: hashlib.sha1(text).hexdigest() for path, text in data.items()}
        self.__dict__["_listed"] = blobs, ()

    def __getitem__(self, path: str) -> bytes:
        return self._data[path]

    def of(self, path: str, blob: str) -> bytes:
        return self[path]

    def each(self, wanted: Sequence[tuple[str, str]]) -> Iterator[bytes]:
        return (self.of(*one) for one in wanted)

    def below(self, folder: str) -> dict[str, str]:
        return {
            path: hashlib.sha1(text).hexdigest()
            for path, text in sorted(self._data.items())
            if path.startswith(folder)
        }

    def changed_since(self, commit: str) -> None:
        """Nothing is known of other commits: whole trees are compared."""


def tree_of(data: Mapping[str, bytes], files: type[Files] = Files) -> Snapshot:
    """Make a snapshot whose commit id follows from its contents."""
    commit = hashlib.sha1(repr(sorted(data.items())).encode()).hexdigest()
    return Snapshot(commit=commit, layout=Layout(), files=files(data))


def texts(*bodies: str, **fields: str) -> dict[str, bytes]:
    """Return memory files, one for each text, numbered from 0."""
    return dict(file(number, body, **fields) for number, body in enumerate(bodies))


def file(number: int, body: str, **fields: str) -> tuple[str, bytes]:
    path = f"memories/knowledge/2026-01/m-{number:03}.md"
    keys = {"id": f"mem-{number:016x}", "type": "fact", **fields}
    return path, codec.encode(Memory.of(path, keys, body=body))


def search(
    folder: Path, tree: Snapshot, words: Sequence[str], only: Filter, weights: Weights | None = None
) -> list[index.Found]:
    """Search an index of a tree, by what answers the question alone."""
    wanted = indexing.Indexed(tree=tree)
    return index.Index(folder=folder, wanted=wanted).search(words, only, weights).matches


def found(tree: Snapshot, *words: str, only: Filter = ALL) -> list[int]:
    """Return the numbers of the memories that a new index finds, best first."""
    with tempfile.TemporaryDirectory() as folder:
        return numbers(search(Path(folder), tree, words, only))


def numbers(matches: Iterable[index.Found]) -> list[int]:
    return [int(match.block.id.removeprefix("mem-"), 16) for match in matches]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make a repository with three memories in three scripts."""
    return driving.begin(tmp_path, workspaces.write(tmp_path / "ws", {"MEMORY.md": SCRIPTS}))


def hits(repo: Path, *words: str) -> list[str]:
    return [hit["id"] for hit in driving.done(repo, "search", "--", *words)["hits"]]


def dump(repo: Path) -> list[tuple[object, ...]]:
    """Return what the index holds."""
    with sqlite3.connect(repo / ".git" / "memrepo" / index.NAME) as base:
        rows = base.execute(
            """SELECT path, part, blob, id, type, status, block.head, block.terms, thread, place,
            subject, day, context, text FROM block JOIN words ON words.rowid = number
            ORDER BY path, part"""
        ).fetchall()
        assert base.execute("SELECT count(*) FROM words_docsize").fetchone() == (len(rows),)
        base.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        rows += base.execute(
            """SELECT path, part, hash, first, statement.last FROM statement
            JOIN block USING (number) ORDER BY path, part, hash, first"""
        ).fetchall()
        rows += base.execute("SELECT hash, path FROM evidence ORDER BY hash, path").fetchall()
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


def with_a_blob_that_is_nowhere(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute(f"UPDATE block SET blob = '{'0' * 40}'")
    base.close()


def with_a_table_whose_name_is_no_text(path: Path) -> None:
    data = path.read_bytes()
    assert b"CREATE TABLE block" in data
    path.write_bytes(data.replace(b"CREATE TABLE block", b"CREATE TABLX \xfflock"))


def of_another_version(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
        base.execute("DELETE FROM words")
    base.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE block (other TEXT)")
    base.close()


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        overwritten(b""),
        overwritten(b"garbage" * 1000),
        truncated,
        damaged_inside,
        with_a_blob_that_is_nowhere,
        with_a_table_whose_name_is_no_text,
        of_another_version,
        of_another_program,
    ],
    ids=[
        *("deleted", "empty", "garbage", "truncated", "damaged", "blob", "name", "version"),
        *("foreign",),
    ],
)
def test_a_lost_or_damaged_index_is_built_again(small: Path, spoil: Callable[[Path], None]) -> None:
    wanted = hits(small, "greenhouse")
    assert len(wanted) == 1
    rows = dump(small)
    spoil(small / ".git" / "memrepo" / index.NAME)
    assert hits(small, "greenhouse") == wanted
    assert dump(small) == rows


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzzed")


HOSTILE = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="\"'*()^:-+{}\\;%_?\0\n \x1b🚀温ー\u0301\u200b\ud800aAND", max_size=30),
    st.sampled_from(('" OR 1=1 --', "'); DROP TABLE memory; --", "NEAR(a b, 3)", "last week")),
    st.builds(str.__mul__, st.text(min_size=1, max_size=5), st.sampled_from((100, 20_000))),
)


@settings(max_examples=10_000 if driving.LONG else 20)
@given(words=st.lists(HOSTILE, max_size=4))
def test_no_query_of_any_text_raises(fuzzed: Path, words: list[str]) -> None:
    tree = tree_of(texts("the pump", "温室は寒い", "café Oslo"))
    moment = Moment(now=datetime(2026, 3, 1, tzinfo=UTC))
    wanted = index.Index(folder=fuzzed, wanted=indexing.Indexed(tree=tree))
    for match in wanted.search(words, ALL, None, moment).matches:
        assert match.block.path in tree.blobs
    wanted.count(words, ALL)


@settings(max_examples=3)
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


# -- folders that cannot be written, locks, kills ----------------------------------------------


@pytest.mark.parametrize("state", ["fresh", "same commit", "behind", "another version"])
def test_in_a_folder_that_cannot_be_written_the_answer_is_the_same(state: str) -> None:
    old, new = tree_of(texts("a pump")), tree_of(texts("a valve", "the pump"))
    assert found(new, "pump") == [1]  # also loads, as root, all that is imported on the way
    with as_nobody() as folder:
        home = folder / "memrepo"
        home.mkdir()
        if state != "fresh":
            search(home, old if state == "behind" else new, ["pump"], ALL)
            if state == "another version":
                of_another_version(home / index.NAME)
            (home / index.NAME).chmod(0o400)
        before = {path.name: path.read_bytes() for path in home.iterdir()}
        home.chmod(0o500)
        answers = [numbers(search(home, new, ["pump"], ALL)) for _ in range(2)]
        home.chmod(0o700)
        assert {path.name: path.read_bytes() for path in home.iterdir()} == before
    assert answers == [[1], [1]]


def test_an_index_that_another_program_locks_is_waited_for_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_S", 0.1)
    old, new = tree_of(texts("a pump")), tree_of(texts("a valve", "the pump"))
    search(tmp_path, old, ["pump"], ALL)
    inode = (tmp_path / index.NAME).stat().st_ino
    other = sqlite3.connect(tmp_path / index.NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert numbers(search(tmp_path, new, ["pump"], ALL)) == [1]
    other.execute("ROLLBACK")
    other.close()
    assert numbers(search(tmp_path, new, ["pump"], ALL)) == [1]
    assert (tmp_path / index.NAME).stat().st_ino == inode


def in_children(*acts: Callable[[], object]) -> list[int]:
    """Do each act in a process of its own, at once; return how each ended."""
    children = []
    for act in acts:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                act()
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@pytest.mark.parametrize("start", ["new", "behind"])
@pytest.mark.parametrize("reads", [1, 55])
def test_a_process_killed_while_it_builds_leaves_nothing_wrong(
    tmp_path: Path, reads: int, start: str
) -> None:
    class Deadly(Files):
        left = reads

        def __getitem__(self, path: str) -> bytes:
            type(self).left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__getitem__(path)

    # More than SQLite's cache holds, so that half a transaction is in the file.
    long = " ".join(f"word{number}" for number in range(4_000))
    old = tree_of(texts(*(f"old zebra {number}" for number in range(60))))
    data = texts(*(f"zebra {number} {long}" for number in range(60)))
    if start == "behind":
        assert len(search(tmp_path, old, ["zebra"], ALL)) == 60
    deadly = tree_of(data, Deadly)
    (code,) = in_children(lambda: search(tmp_path, deadly, ["zebra"], ALL))
    assert code == -signal.SIGKILL
    if reads > 1:
        assert (tmp_path / f"{index.NAME}-journal").stat().st_size
    tree = tree_of(data)
    if start == "behind":
        assert numbers(search(tmp_path, old, ["old"], ALL)) == list(range(60))
    assert sorted(numbers(search(tmp_path, tree, ["zebra"], ALL))) == list(range(60))
    with tempfile.TemporaryDirectory() as new:
        for words in (["word17"], ["zebra", "5"], ["old"]):
            wanted = search(Path(new), tree, words, ALL)
            assert search(tmp_path, tree, words, ALL) == wanted


def test_two_programs_that_search_while_a_third_runs_all_end_well(place: Path) -> None:
    repo = place / "repo"
    workspaces.growing(place / "ws", 1)
    command = [sys.executable, "-m", "memrepo", "-C", str(repo), "--now", driving.LATER]
    calls = [["search", "Vera"], ["run"], ["search", "greenhouse"]]
    running = [
        subprocess.Popen(
            [*command, *argv],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
        )
        for argv in calls
    ]
    ended = [(process.communicate()[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0, 0], ended
    (repo / ".git" / "memrepo" / index.NAME).stat()
    caught_up = hits(repo, "greenhouse"), dump(repo)
    (repo / ".git" / "memrepo" / index.NAME).unlink()
    assert (hits(repo, "greenhouse"), dump(repo)) == caught_up


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("用Python写的", "python"),
        ("General Data Protection Regulation", "GDPR"),
        ("Die Kosten sind hoch", "Kosten"),
    ],
)
def test_a_name_is_found_by_its_parts_and_initials(text: str, words: str) -> None:
    assert found(tree_of(texts("nothing of the kind", text)), words) == [1]
