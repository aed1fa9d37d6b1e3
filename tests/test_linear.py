"""Hostile text takes time in proportion to its length, and a first run to its statements."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import pairwise
from time import process_time

import pytest
from driving import LONG
from purified import purified

from memrepo.core import codec, ids, secrets
from memrepo.core.memory import Memory
from memrepo.core.state import EMPTY
from memrepo.faces.text.changes import directives
from memrepo.judges import prompting
from memrepo.judges.offline import OfflineJudge
from memrepo.merge import tombstones
from memrepo.policies import entities, gists
from memrepo.policies.questions import cues_of, question_of
from memrepo.read.intake import SourceText
from memrepo.read.kinds import file_kind
from memrepo.read.notes import scan_notes
from memrepo.read.shelf import rank_file
from memrepo.read.thoughts import scan
from memrepo.text import dates, sentences, words
from memrepo.views import pages

PATH = "memories/knowledge/2026-01/a-123456.md"
HEAD = "---\nid: mem-123456789abcdef0\ntype: fact\n---\n\n"
FAMILIES = {
    "dots": ".\n",
    "blanks": " ",
    "digits": "1",
    "marks": "*",
    "brackets": "a (",
    "comments": "<!--",
    "ticks": "`",
    "names": "Bo aka ",
    "days": "2026-01-01 ",
    "quotes": "> ",
    "hidden": "e\u200b\u0301",
    "rows": "|a|b|\n|-|-|\n",
    "words": "under_",
    "han": "漢",
}
"""What grew faster than its length once, or is known to elsewhere."""
PASSES: dict[str, Callable[[str], object]] = {
    "units": lambda text: scan("MEMORY.md", text.encode()),
    "notes": lambda text: scan_notes("memory/2026-01-01.md", text.encode()),
    "ranks": lambda text: _ranks(text),
    "redacting": secrets.redact,
    "concealing": lambda text: secrets.concealed([text, {"text": text}]),
    "harmless": secrets.harmless,
    "folding": ids.normal_claim,
    "looks": tombstones.look,
    "rejected words": tombstones.tokens,
    "names": entities.mentions,
    "cues": cues_of,
    "terms": words.index_terms,
    "chunks": lambda text: sentences.chunks(text, sentences.ChunkRules()),
    "sentences": gists.sentences,
    "excerpts": lambda text: sentences.excerpt(text, ["anna"], 600),
    "directives": lambda text: list(directives.find_directives(text)),
    "questions": lambda text: question_of(text, date(2026, 1, 1)),
    "headings of dates": dates.is_date_heading,
    "bodies": lambda text: codec.decode(PATH, f"{HEAD}{text}".encode()),
    "names of memories": lambda text: entities.catalogue([_memory(text)]),
    "pages": pages._quoted,
    "replies": lambda text: prompting.elements(text, prompting.VERDICTS_KEY),
}


def _memory(text: str) -> Memory:
    return Memory(path=PATH, fields={"id": "mem-123456789abcdef0", "type": "fact"}, body=text)


def _ranks(text: str) -> object:
    units = scan("MEMORY.md", text.encode()).units
    return rank_file(file_kind("MEMORY.md", text, units), units)


def spent(ask: Callable[[str], object], text: str) -> float:
    taken = []
    for _ in range(2):
        begun = process_time()
        ask(text)
        taken.append(process_time() - begun)
    return min(taken)


SIZES = (10_000, 20_000, 40_000) if LONG else (5_000, 10_000)


@pytest.mark.parametrize("name", PASSES)
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    slow = []
    for family, seed in FAMILIES.items():
        times = [spent(PASSES[name], (seed * size)[:size]) for size in SIZES]
        for less, more in pairwise(times):
            if more > 2.3 * less + 0.02:  # what takes no time is measured badly
                slow.append((family, times))
    assert not slow


def test_many_secrets_are_concealed_as_fast_as_few() -> None:
    def text(count: int) -> str:
        return "\n".join(f"password: Qx{number:05d}zR9" for number in range(count))

    few, many = (spent(lambda t: secrets.concealed([t, t]), text(n)) for n in (200, 400))
    assert many <= 2.5 * few + 0.05


def _line(number: int) -> str:
    things, does = ("pump", "lamp", "gate", "mill", "river"), ("paints", "rents", "cleans", "owns")
    mixed = number * 2654435761 % (1 << 32)
    one, other = (things[mixed // by % 5] + str(mixed // by // 5 % 40) for by in (1, 331))
    return f"{one} {does[mixed // 7 % 4]} the {other} beside {things[number % 5]} {number}."


SHAPES: dict[str, Callable[[int], dict[str, str]]] = {
    "one line everywhere": lambda count: {
        f"memory/t{n}.md": f"# Notes {n}\n\n- Vera Holt repaired the pump in the north field.\n"
        for n in range(count)
    },
    "one subject": lambda count: {
        "memory/vera.md": "# Vera\n\n" + "".join(f"- Vera's {_line(n)}\n" for n in range(count))
    },
    "one footer": lambda count: {
        f"memory/t{n}.md": f"# Page {n}\n\n- The {_line(n)}\n\n---\n\nShared by the vault's team.\n"
        for n in range(count)
    },
    "one file": lambda count: {
        "MEMORY.md": "".join(f"## Part {n // 20}\n\n- The {_line(n)}\n" for n in range(count))
    },
    "one folder": lambda count: {f"memory/t{n}.md": f"- The {_line(n)}\n" for n in range(count)},
    "one frame": lambda count: {
        f"memory/t{n}.md": f"- The depot opens at {n % 24}:{n % 60:02} on day {n}.\n"
        for n in range(count)
    },
    "one key": lambda count: {
        f"memory/t{n}.md": f"# Server {n % 9}\n\n- Port: {8000 + n}\n" for n in range(count)
    },
}
"""Workspaces of so many statements that have much in common."""


def _first_run(files: dict[str, str]) -> object:
    blobs = {f"{n:040x}": text.encode() for n, text in enumerate(files.values())}
    texts = [
        SourceText(name=name, resource=f"sources/{name}", blob=blob, kind="claims", committed="")
        for name, blob in zip(files, blobs, strict=True)
    ]
    now, judge = datetime(2026, 3, 1, tzinfo=UTC), OfflineJudge()
    return purified(EMPTY, texts, {}, blobs.__getitem__, now=now, judge=judge, shelf="all")


STATEMENTS = (1000, 2000, 4000, 8000) if LONG else (60, 120)


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_statements_take_about_twice_the_time(name: str) -> None:
    _first_run(SHAPES[name](3))  # patterns are compiled once
    times = []
    for count in STATEMENTS:
        files, begun = SHAPES[name](count), process_time()
        _first_run(files)
        times.append(process_time() - begun)
    # Of few statements each has others beside it that it is compared with, of many no more.
    assert all(more <= 3 * less + 0.2 for less, more in pairwise(times)), times
