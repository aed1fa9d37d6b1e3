"""What recall costs as memories grow, against what is bare: FTS5, a scan, hashing, a start."""

from __future__ import annotations

import hashlib
import heapq
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from benchmarks.measure import Machine, Ratio, Sizes, medians_s, timed
from benchmarks.memories import filled
from memrepo.actions.recall.recall import index_of
from memrepo.actions.work import Call, Work
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.store.database import NAME
from memrepo.store.index import Filter, Index, expression, no_model
from memrepo.store.repo import Repository, open_repository
from memrepo.text.words import query_terms

BUILT = "index built / its files read and hashed"
ASKED = "questions to warm recall / bare FTS5 queries of their words"
SCANNED = "questions to warm recall / bare scans of the texts for their words"
STARTED = "memrepo search / python -c pass"
CAUGHT_UP = "catching up where nothing changed / python -c pass"
_COUNT = 10
_PLACES = ("depot", "harbour", "market", "library", "station", "garden", "bakery", "school")
_THINGS = ("gate", "lamp", "roof", "clock", "bench", "pump", "door", "fence", "window", "stair")
_DONE = ("painted", "closed", "opened", "mended", "moved", "sold", "cleaned", "measured")
_QUESTIONS = (
    "when was the clock of the harbour mended?",
    "who painted the bakery fence in number 371?",
    "what did Ana say about the pump?",
    "which window closed at the library 88",
)


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Build, ask, start and catch up in a repository of each size; bounds are of large ones."""
    machine = Machine(folder)
    return [
        ratio
        for count in sizes.searched
        for ratio in _measured(machine, folder / f"repo-{count}", count, sizes)
    ]


def _measured(machine: Machine, repo: Path, count: int, sizes: Sizes) -> list[Ratio]:
    found = [_memory(number) for number in range(count)]
    filled(machine, repo, found)
    large = count > sizes.memories
    few, often = (1, sizes.turns) if large else (min(3, sizes.turns), sizes.starts)
    with open_repository(repo) as store:
        built = medians_s(
            few,
            index=lambda: _built(store),
            hashed=lambda: timed(lambda: [_hashed(repo / memory.path) for memory in found]),
        )
        asked = _asked(store, [memory.body.lower() for memory in found], sizes.questions)
        started = medians_s(
            often,
            search=lambda: timed(lambda: machine.memrepo("search", _QUESTIONS[0], where=repo)),
            same=lambda: timed(lambda: _caught_up(store)),
            bare=lambda: timed(lambda: machine.python("pass", where=repo)),
        )
    ratios = {
        BUILT: (built["index"] / built["hashed"], 3, few),
        ASKED: (asked["recall"] / asked["fts5"], 4 if large else 8, sizes.questions),
        SCANNED: (asked["recall"] / asked["scan"], None, sizes.questions),
        STARTED: (started["search"] / started["bare"], 12, often),
        CAUGHT_UP: (started["same"] / started["bare"], 1.3, often),
    }
    return [
        Ratio(
            name=name,
            ratio=ratio,
            bound=bound if count >= sizes.memories else None,
            count=count,
            turns=turns,
        )
        for name, (ratio, bound, turns) in ratios.items()
    ]


def words_index(store: Repository) -> Index:
    """Return the index at HEAD, which goes by words alone whatever this machine has installed."""
    return replace(
        index_of(Work(Call(where=store.root, now=datetime(2026, 3, 1, tzinfo=UTC)), store=store)),
        model=no_model,
    )


def _caught_up(store: Repository) -> None:
    """Bring the index up to date and count what holds one word: nearly nothing to search."""
    words_index(store).count(["submarine"], Filter())


def _built(store: Repository) -> float:
    """Return the seconds that an index takes from no file to its first answer."""
    for path in store.folder.glob(f"{NAME}*"):
        path.unlink()
    return timed(lambda: _caught_up(store))


def _hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _asked(store: Repository, texts: Sequence[str], turns: int) -> Mapping[str, float]:
    """Ask the same questions of recall, FTS5 and the bare texts by turns, on a warm index."""
    index = words_index(store)
    with closing(sqlite3.connect(store.folder / NAME)) as base:
        return medians_s(
            turns,
            recall=lambda: timed(
                lambda: [index.search([q], Filter(limit=_COUNT)) for q in _QUESTIONS]
            ),
            fts5=lambda: sum(bare_query(base, q) for q in _QUESTIONS),
            scan=lambda: timed(lambda: [scan(texts, query_terms(q)) for q in _QUESTIONS]),
        )


def bare_query(base: sqlite3.Connection, question: str) -> float:
    """Return the seconds that FTS5 takes for the same words, stemmed and joined alike."""
    asked = expression(query_terms(question))
    start = time.perf_counter()
    base.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (asked, _COUNT)
    ).fetchall()
    return time.perf_counter() - start


def scan(texts: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return the texts that hold most of some words, as one would find them without an index."""
    return heapq.nlargest(_COUNT, texts, key=lambda text: sum(word in text for word in asked))


def _memory(number: int) -> Memory:
    """Make a turn of a talk: forty to a source, few words that are often said and some seldom."""
    who = ("Ana", "Ben", "Cleo")[number % 3]
    text = (
        f"{who} said the {_THINGS[number % 10]} of the {_PLACES[number // 7 % 8]} number "
        f"{number % 977} was {_DONE[number // 3 % 8]}, and word{number % 4001} too."
    )
    day = f"2025-{number // 1000 % 12 + 1:02}-{number // 40 % 28 + 1:02}"
    place = Source(
        resource=f"sources/talk-{number // 40}.md",
        lines=(number % 40 + 1, number % 40 + 1),
        captured=day,
    )
    id_ = f"mem-{number:016x}"
    fields = {"id": id_, "type": "fact", "subject": who, "sources": (place,)}
    path = Layout().memory(id_=id_, type_="fact", text=f"{text} {number}", captured=day)
    return Memory.of(path=path.replace(".md", f"-{number:06x}.md"), fields=fields, body=text)
