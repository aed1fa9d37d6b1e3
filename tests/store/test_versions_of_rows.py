"""Rows of the index follow from rules: whoever changes what follows raises their version."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from hoards import memory

from memrepo.core.memory import Importance, Source
from memrepo.store import tables as indexing

TEXTS = (
    ("fact", 'Did Mara Lind see "The Long Way" (TLW) in Oslo on 3 May 2026? It was critical.'),
    ("procedure", "To restart whisk: `ssh larder`, then `make up`. Never skip the backup!"),
    ("preference", "Mara always prefers green tea; she went to Bergen twice, maybe for children."),
    ("decision", "We decided on Helix, since vim's colours hurt. See https://example.com/helix."),
    ("milestone", "Ada and Grace Hopper married in Café Noir. 京都で会いました。"),
    ("aspiration", "Mara wants to learn the cello before she is forty."),
    ("open_question", "Who keeps the key of the cellar?"),
    ("episode", "The router was replaced yesterday at 20:31, after two days without a net."),
)
SEEN = Source(resource="sources/MEMORY.md", lines=(3, 4), captured="2026-02-01")
KEPT = [
    memory(
        100 + n,
        text,
        type=type_,
        subject="Mara",
        tags=("tea", "tools")[: n % 3],
        sources=(SEEN,),
        updated=datetime(2026, 3, 1, tzinfo=UTC),
    )
    for n, (type_, text) in enumerate(TEXTS)
]


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def test_what_is_searched_of_memories_is_what_this_version_of_the_index_keeps() -> None:
    scored = memory(99, "Tea.", importance=Importance(score=0.5, level="high"))
    wanted = indexing.Indexed(tree=None)  # type: ignore[arg-type]  # nothing is read
    rows = [
        row for one in (*KEPT, scored) for row in indexing._rows(one, "0" * 40, wanted, one.status)
    ]
    assert (indexing.VERSION, digest(rows)) == ("19", "7bf3f007d79c6a93"), "raise indexing.VERSION"
