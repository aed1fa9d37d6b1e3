"""Hostile text takes time in proportion to its length, and a first run to its statements."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import pairwise
from time import process_time

import pytest
from driving import LONG

from memrepo.core import codec, ids, secrets
from memrepo.core.memory import Memory
from memrepo.faces import hook
from memrepo.judge.ask import read_answer
from memrepo.judge.documents import pairs_alike
from memrepo.merge import tombstones
from memrepo.policies import gists
from memrepo.policies.links import find_directives, mentions
from memrepo.policies.ranking import cues_of, question_of
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
    "months": "am 3. Okt 2026 in Okt 2026 ",
    "quotes": "> ",
    "hidden": "e\u200b\u0301",
    "rows": "|a|b|\n|-|-|\n",
    "words": "under_",
    "han": "漢",
    "greetings": "hei ",
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
    "names": mentions,
    "cues": cues_of,
    "terms": words.index_terms,
    "chunks": sentences.chunks,
    "sentences": gists.sentences,
    "excerpts": lambda text: sentences.excerpt(text, ["anna"], 600),
    "directives": lambda text: list(find_directives(text)),
    "questions": lambda text: question_of(text, date(2026, 1, 1)),
    "headings of dates": dates.is_date_heading,
    "bodies": lambda text: codec.decode(PATH, f"{HEAD}{text}".encode()),
    "pages": pages._quoted,
    "small talk": lambda text: hook._small_talk("finnish").sub("", f"{text}?"),
    "replies": lambda text: read_answer(text, "read"),
}


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


def test_twice_the_memories_take_about_twice_the_time_to_pair() -> None:
    def paired(count: int) -> float:
        lines = (f"The boat {n} is in berth {n % 7} of the quay." for n in range(count))
        shelf = {f"m{n}": Memory.of("", {}, body=line) for n, line in enumerate(lines)}
        return spent(lambda _: pairs_alike(shelf), "")

    assert paired(2000) < 2.3 * paired(1000) + 0.02
