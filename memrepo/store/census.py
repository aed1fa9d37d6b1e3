"""What has to be known of all memories of a commit, a row a file: no file is read to count them.

The rows follow HEAD by what differs between two commits. They are tables of the search index's
file; whoever deletes that deletes them too, and they are made again. What they cannot tell (an id
that stands twice, a link in place of a file, a rejected text that came back) they leave to who
reads every memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

import msgspec

from memrepo.core import codec
from memrepo.core.memory import REFERENCES, Memory, references
from memrepo.core.problems import Problem
from memrepo.core.state import Decoded, no_id
from memrepo.merge.tombstones import Tombstones
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import counted_as
from memrepo.store.records import NAME, VERSION, WAIT_S
from memrepo.store.tree import Snapshot

_FEW = 1000
"""From so many changed files on all rows are made again, from what runs kept of the files."""
_TABLES = (
    """CREATE TABLE census (path TEXT PRIMARY KEY, blob TEXT, id TEXT, counted TEXT, type TEXT,
       tier TEXT, hot INTEGER, replaced INTEGER, disputed INTEGER, barred INTEGER, problems TEXT)
       WITHOUT ROWID""",
    "CREATE TABLE census_of (version TEXT, commit_id TEXT, stones TEXT, area TEXT)",
    "CREATE TABLE census_ref (path TEXT, target TEXT)",
    "CREATE INDEX census_id ON census (id)",
    "CREATE INDEX census_kinds ON census (counted, type, tier, hot)",
    "CREATE INDEX census_replaced ON census (path) WHERE replaced",
    "CREATE INDEX census_disputed ON census (path) WHERE disputed",
    "CREATE INDEX census_barred ON census (path) WHERE barred",
    "CREATE INDEX census_wrong ON census (path) WHERE problems <> ''",
    "CREATE INDEX census_from ON census_ref (path)",
    "CREATE INDEX census_to ON census_ref (target)",
)


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories are alike in what figures tell of them."""

    counted: str
    type: str
    tier: str
    hot: bool
    count: int


class Census:
    """The rows of one commit, while they are open."""

    def __init__(self, base: sqlite3.Connection, tree: Snapshot) -> None:
        self._base, self._tree = base, tree

    def kinds(self) -> list[Kind]:
        """Return how many memories there are of each kind."""
        asked = """SELECT counted, type, tier, hot, count(*) FROM census WHERE id <> ''
            GROUP BY counted, type, tier, hot"""
        return [
            Kind(counted=counted, type=type_, tier=tier, hot=bool(hot), count=count)
            for counted, type_, tier, hot, count in self._base.execute(asked)
        ]

    def problems(self) -> tuple[Problem, ...]:
        """Return what is wrong with single files, by path."""
        asked = "SELECT problems FROM census WHERE problems <> '' ORDER BY path"
        rows = (msgspec.json.decode(said, type=list[Problem]) for (said,) in self._ask(asked))
        return tuple(problem for row in rows for problem in row)

    @cached_property
    def bound(self) -> Bound:
        """Return the memories that a supersession or a lost reference may break."""
        lost = """SELECT DISTINCT ref.path FROM census_ref AS ref
            LEFT JOIN census ON census.id = ref.target WHERE census.id IS NULL"""
        asked = f"SELECT path FROM census WHERE replaced OR path IN ({lost})"  # noqa: S608
        return Bound(self, [path for (path,) in self._ask(asked)])

    def disputed(self) -> Bound:
        """Return the memories that say themselves that another contradicts them."""
        return Bound(self, [p for (p,) in self._ask("SELECT path FROM census WHERE disputed")])

    def read(self, paths: Iterable[str]) -> dict[str, Memory]:
        """Return some memories by id."""
        asked = "SELECT blob FROM census WHERE path = ?"
        blobs = {path: self._base.execute(asked, (path,)).fetchone()[0] for path in paths}
        trees, files = self._tree.trees, self._tree.files
        kept = trees.records.read({b: p for p, b in blobs.items()}) if trees else {}
        found = {}
        for path, blob in blobs.items():
            memory = kept.get(blob)
            if memory is None or memory.path != path:
                memory = codec.decode(path, files.of(path, blob))[0]
            if memory is not None:
                found[memory.id] = memory
        return found

    def path_of(self, id_: str) -> str:
        """Return where the memory of an id stands, or an empty string."""
        row = self._base.execute("SELECT path FROM census WHERE id = ?", (id_,)).fetchone()
        return str(row[0]) if row and id_ else ""

    def _ask(self, asked: str) -> Iterator[tuple[str, ...]]:
        yield from self._base.execute(asked).fetchall()


class Bound(Mapping[str, Memory]):
    """Some memories by id; of the others each is there, and read when it is asked for."""

    def __init__(self, census: Census, paths: Iterable[str]) -> None:
        self._census = census
        self._own = dict(sorted(census.read(sorted(paths)).items(), key=lambda item: item[1].path))
        self._others: dict[str, Memory | None] = {}

    def __getitem__(self, id_: str) -> Memory:
        if (own := self._own.get(id_)) is not None:
            return own
        if id_ not in self._others:
            path = self._census.path_of(id_)
            self._others[id_] = self._census.read([path]).get(id_) if path else None
        if (found := self._others[id_]) is None:
            raise KeyError(id_)
        return found

    def __contains__(self, id_: object) -> bool:
        return id_ in self._own or bool(self._census.path_of(str(id_)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


@contextmanager
def census_of(tree: Snapshot, folder: Path) -> Iterator[Census | None]:
    """Open the rows of a commit, caught up with it; None where they cannot tell all of it.

    Who asks a damaged file is told by an sqlite3.Error.
    """
    base = None
    with suppress(sqlite3.Error, UnicodeDecodeError, OSError):
        base = _opened(tree, folder)
    try:
        yield Census(base, tree) if base is not None else None
    finally:
        if base is not None:
            base.close()


def _opened(tree: Snapshot, folder: Path) -> sqlite3.Connection | None:
    folder.mkdir(parents=True, exist_ok=True)
    base = sqlite3.connect(folder / NAME, timeout=WAIT_S, isolation_level=None)
    whole = False
    try:
        base.execute("PRAGMA synchronous = OFF")
        whole = _caught_up(base, tree) and not _is_beyond(base)
    finally:
        if not whole:
            base.close()
    return base if whole else None


def _is_beyond(base: sqlite3.Connection) -> bool:
    """Tell whether something stands in the rows that only reading all files tells of."""
    barred = base.execute("SELECT 1 FROM census WHERE barred LIMIT 1").fetchone()
    twice = "SELECT 1 FROM census WHERE id <> '' GROUP BY id HAVING count(*) > 1 LIMIT 1"
    return barred is not None or base.execute(twice).fetchone() is not None


def _caught_up(base: sqlite3.Connection, tree: Snapshot) -> bool:
    """Bring the rows to a commit; tell whether they hold all that it does.

    The rows are built before the transaction: building them reads the same file through another
    connection, which waits for the writer as soon as SQLite spills its pages.
    """
    area = tree.layout.area("memories")
    stones = msgspec.json.encode(tree.files.below(tree.layout.area("tombstones"))).decode()
    told, known = (VERSION, tree.commit, stones, area), _at(base)
    if known == told:
        return True
    version, commit, *rest = known or ("", "", "", "")
    fits = version == VERSION and rest == [stones, area]
    changed = tree.files.changed_since(commit) if fits and commit else None
    whole = changed is None or len(changed) > _FEW
    ours: dict[str, str] = {}
    if changed is None or whole:
        if tree.problems:
            return False
        rows, refs = _rows(tree.decoded(), tree.stones)
    else:
        if _is_odd(tree, changed):
            return False
        ours = {path: blob for path, blob in changed.items() if tree.layout.is_memory(path)}
        rows, refs = _rows(_read(tree, ours), tree.stones)
    base.execute("BEGIN IMMEDIATE")
    if (now := _at(base)) != known:  # another process was faster
        base.execute("ROLLBACK")
        return now == told
    if whole:
        _start_over(base)
    gone = [(path,) for path in ours]
    base.executemany("DELETE FROM census WHERE path = ?", gone)
    base.executemany("DELETE FROM census_ref WHERE path = ?", gone)
    marks = ", ".join("?" * 11)
    base.executemany(f"INSERT INTO census VALUES ({marks})", rows)  # noqa: S608 - question marks
    base.executemany("INSERT INTO census_ref VALUES (?, ?)", refs)
    base.execute("DELETE FROM census_of")
    base.execute("INSERT INTO census_of VALUES (?, ?, ?, ?)", told)
    base.execute("COMMIT")
    return True


def _at(base: sqlite3.Connection) -> tuple[str, ...] | None:
    """Return what the rows reflect, or None where there are none that can be read."""
    try:
        row = base.execute("SELECT version, commit_id, stones, area FROM census_of").fetchone()
    except (sqlite3.OperationalError, UnicodeDecodeError):
        return None
    return None if row is None else tuple(map(str, row))


def _start_over(base: sqlite3.Connection) -> None:
    for table in ("census", "census_of", "census_ref"):
        base.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES:
        base.execute(statement)


def _is_odd(tree: Snapshot, changed: Mapping[str, str]) -> bool:
    """Tell whether something that is no file, or has no name, came to where memories may stand."""
    owns = tree.layout.owns
    gone = [path for path, blob in changed.items() if not blob and (owns(path) or owns(path + "/"))]
    return any(tree.files.id_of(path) for path in gone)


def _read(tree: Snapshot, ours: Mapping[str, str]) -> Iterator[tuple[str, str, Decoded]]:
    here = [(path, blob) for path, blob in ours.items() if blob]
    for (path, blob), data in zip(here, tree.files.each(here), strict=True):
        yield path, blob, codec.decode(path, data)


def _rows(
    found: Iterable[tuple[str, str, Decoded]], stones: Tombstones
) -> tuple[list[tuple[str | int, ...]], list[tuple[str, str]]]:
    """Return the rows of memory files, and which ids each of them names."""
    rows: list[tuple[str | int, ...]] = []
    refs: list[tuple[str, str]] = []
    for path, blob, (memory, problems) in found:
        if memory is None or not memory.id:
            told = problems if memory is None else (*problems, no_id(path))
            rows.append((path, blob, "", "", "", "", 0, 0, 0, 0, _spelled(told)))
            continue
        refs.extend((path, target) for target in references(memory))
        barred = memory.status != "forgotten" and bool(stones) and stones.bar(memory)
        rows.append(
            (
                path,
                blob,
                memory.id,
                counted_as(memory),
                memory.type,
                (memory.text("tier") or "hot") if memory.is_note else "",
                hot_of(memory) is not None,
                _is_replaced(memory),
                any(link.type == "contradicts" for link in memory.fields.get("links", ())),
                barred not in (False, None),
                _spelled(problems),
            )
        )
    return rows, refs


def _is_replaced(memory: Memory) -> bool:
    """Tell whether a supersession stands or seems to stand at a memory."""
    return memory.status == "superseded" or not memory.fields.keys().isdisjoint(_SUPERSESSIONS)


_SUPERSESSIONS = frozenset(REFERENCES) & {"supersedes", "superseded_by"}


def _spelled(problems: tuple[Problem, ...]) -> str:
    return msgspec.json.encode(problems).decode() if problems else ""
