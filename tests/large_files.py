"""Large files of many sentences, each unlike the others, the same every time."""

from __future__ import annotations

import hashlib

from driving import LONG

COUNT = 2700 if LONG else 540
"""Sentences of each file: dozens of tests read all memories that come of them."""
_SUBJECTS = (
    "Hive Scale Broker Gateway Extractor Freezer Ledger Van Press Panel Stand Feeder".split()
)
_VERBS = (
    *("must be checked by", "was moved next to", "is always kept away from", "depends on"),
    *("was repaired with", "needs a new part of", "was compared with", "is never shipped without"),
)
_PLACES = (
    *("the north gate", "the green folder", "the mill meadow", "Koch & Sons", "the parish office"),
    *("the old cellar", "hive nine", "the market hall", "the label printer", "the second broker"),
)
_WORDS = (
    "amber basil cedar delta ember fjord grove heath iris jade kelp larch maple nettle olive pine "
    "quartz reed sage thyme umber vetch willow yarrow zinc birch clover dune elm fern"
).split()


def _sentence(n: int) -> str:
    """Return the n-th of many sentences, each unlike the others in more than a number."""
    spots = hashlib.sha256(b"%d" % n).digest()
    words = [_WORDS[b % len(_WORDS)] for b in spots[3:9]]
    return (
        f"{_SUBJECTS[spots[0] % 12]} {words[0]}-{n} {_VERBS[spots[1] % 8]} "
        f"{_PLACES[spots[2] % 10]}, since {' '.join(words[1:])} said so"
    )


def large_files() -> dict[str, bytes]:
    """Return a log and a topic file (270 kB each in the long form), and a paragraph of 47 kB."""
    log = ["# 2026-01-21", ""]
    topic = ["# Inventory", ""]
    for n in range(COUNT):
        if n % 90 == 0:
            log += ["", f"## {n // 180:02d}:{30 * (n // 90 % 2):02d} Round {n // 90}", ""]
            topic += ["", f"## Shelf {n // 90}", ""]
        log.append(f"- {_sentence(n)}.")
        topic.append(f"- {_sentence(n + 50_000)}.")
    long = " ".join(_sentence(n) for n in range(100_000, 100_480)) + "."
    tail = "- After the long paragraph: the boiler is new."
    return {
        "memory/2026-01-21.md": "\n".join(log).encode() + b"\n",
        "memory/inventory.md": "\n".join(topic).encode() + b"\n",
        "memory/long.md": f"# Long\n\n{long}\n\n{tail}\n".encode(),
    }
