"""What gave way in a merge, as files in `corrections/`: nothing that a side wrote is lost.

A file is named by what it holds, so the same merge made twice writes the same file.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memrepo.core.changes import Write
from memrepo.core.ids import digest
from memrepo.core.layout import Layout
from memrepo.core.merge import Kept
from memrepo.core.spelling import inline
from memrepo.core.times import format_time

_DIGITS = 12


def keep(layout: Layout, kept: Iterable[Kept], now: datetime) -> tuple[Write, ...]:
    """Return one file for each thing that gave way, at `corrections/<date>-gave-way-<12 hex>.md`.

    The header says what it was, whose, and where it stood; the text below is as it was.
    """
    files = (_file(layout, one, now) for one in kept)
    return tuple(Write(path=path, data=data) for path, data in sorted(dict(files).items()))


def _file(layout: Layout, kept: Kept, now: datetime) -> tuple[str, bytes]:
    text = kept.data.decode("utf-8", "backslashreplace")
    entries = {
        "kind": "gave-way",
        "memory": kept.id,
        "path": kept.path,
        "field": kept.key,
        "by": kept.by,
        "at": format_time(kept.at) if kept.at else "",
        "merged": format_time(now),
    }
    head = [f"{key}: {inline(value)}" for key, value in entries.items() if value]
    name = digest([kept.id, kept.path, kept.key, text])[:_DIGITS]
    body = text if text.endswith("\n") else f"{text}\n"
    path = f"{layout.area('corrections')}{now:%Y-%m-%d}-gave-way-{name}.md"
    return path, "\n".join(["---", *head, "---", body]).encode("utf-8")
