"""What recall adds to the full-text index under it: questions, against bare queries."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from benchmarks.measure import Ratio, Sizes, medians_s, timed
from benchmarks.recall import index_of
from memrepo.core import codec
from memrepo.core.layout import Layout
from memrepo.core.memory import Memory, Source
from memrepo.policies.terms import query_terms
from memrepo.store.corpus import expression
from memrepo.store.index import NAME, Filter

_COUNT = 10
_PLACES = ("depot", "harbour", "market", "library", "station", "garden", "bakery", "school")
_THINGS = ("gate", "lamp", "roof", "clock", "bench", "pump", "door", "fence", "window", "stair")
_DONE = ("painted", "closed", "opened", "mended", "moved", "sold", "cleaned", "measured")
_QUESTIONS = (
    "when was the clock of the harbour mended?", "who painted the bakery fence in number 371?",
    "what did Ana say about the pump?", "which window closed at the library 88",
)  # fmt: skip


def measure(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Ask the same questions of recall and of FTS5 alone, all in each turn, on a warm index."""
    count = sizes.memories
    index = index_of(folder, dict(_file(number) for number in range(count)))
    index.search(["pump"], Filter())
    with closing(sqlite3.connect(folder / NAME)) as base:
        found = medians_s(
            sizes.questions,
            recall=lambda: timed(
                lambda: [index.search([q], Filter(limit=_COUNT)) for q in _QUESTIONS]
            ),
            fts5=lambda: sum(_bare(base, q) for q in _QUESTIONS),
        )  # fmt: skip
    return [
        Ratio(name="questions to warm recall / bare FTS5 queries of their words",
              ratio=found["recall"] / found["fts5"], bound=8, count=count, turns=sizes.questions),
    ]  # fmt: skip


def _bare(base: sqlite3.Connection, question: str) -> float:
    """Return the seconds that FTS5 takes for the same words, stemmed and joined alike."""
    asked = expression(query_terms(question))
    start = time.perf_counter()
    base.execute(
        "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (asked, _COUNT)
    ).fetchall()
    return time.perf_counter() - start


def _file(number: int) -> tuple[str, bytes]:
    """Make a turn of a talk: forty to a source, few words that are often said and some seldom."""
    who = ("Ana", "Ben", "Cleo")[number % 3]
    text = (
        f"{who} said the {_THINGS[number % 10]} of the {_PLACES[number // 7 % 8]} number "
        f"{number % 977} was {_DONE[number // 3 % 8]}, and word{number % 4001} too."
    )
    day = f"2025-{number // 1000 % 12 + 1:02}-{number // 40 % 28 + 1:02}"
    place = Source(
        resource=f"sources/talk-{number // 40}.md", lines=(number % 40 + 1, number % 40 + 1),
        captured=day,
    )  # fmt: skip
    id_ = f"mem-{number:016x}"
    fields = {"id": id_, "type": "fact", "subject": who, "sources": (place,)}
    path = Layout().memory(id_=id_, type_="fact", text=f"{text} {number}", captured=day)
    path = path.replace(".md", f"-{number:06x}.md")
    return path, codec.encode(Memory(path=path, fields=fields, body=text))
