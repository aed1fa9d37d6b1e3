"""One decision on a screen: both wordings, evidence, what it contradicts, what is near.

Plain text, at most 80 columns wide; colours come on top and tell nothing that the words do not.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.views.review import SUMMARIES, UNTOLD, Change, Evidence, place_of, spelled
from memrepo.views.wording import in_words

WIDTH = 78
LINES = 6
"""Lines of a text that are shown; `why` shows the rest."""
_LABEL = 13
_BOLD, _RED, _GREEN, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"


def screen_text(
    changes: Sequence[Change],
    near: Sequence[Memory],
    *,
    place: str,
    said: str = "",
    colour: bool = False,
) -> str:
    """Return one screen; `place` says which of how many it is, `said` what was decided of it."""
    first = changes[0]
    heading, meaning = SUMMARIES[first.difference.kind]
    head = f"{place}  {heading}: {meaning}"
    lines = [f"{_BOLD}{head}{_PLAIN}" if colour else head]
    for change in changes:
        # A new memory beside the one that it replaces is shown there.
        if change is first or not change.replaces:
            lines += ["", *_change(change, colour)]
    for n, memory in enumerate(near, start=1):
        lines += _labelled(f"near {n}", memory.body, most=1)
    if first.why:
        lines += _labelled("because", in_words(first.why))
    if said:
        lines += _labelled("you said", said)
    return "\n".join(lines)


def _change(change: Change, colour: bool) -> Iterator[str]:
    found, memory = change.difference, change.difference.memory
    before = found.before.body if found.before else ""
    yield f"{memory.id}  {memory.type}"
    if change.successors:
        yield from _wording("was", memory.body, _RED, colour)
        for heir in change.successors:
            yield from _wording("becomes", heir.body, _GREEN, colour)
    elif found.before is None:
        yield from _wording("new", memory.body, _GREEN, colour)
    elif "reworded" in found.kinds:
        yield from _wording("was", before, _RED, colour)
        yield from _wording("becomes", memory.body, _GREEN, colour)
    else:
        leaves = found.kind in ("retired", "removed", "forgotten", "archived")
        yield from _wording("goes" if leaves else "says", memory.body, _RED, colour and leaves)
    for other in change.against:
        yield from _labelled(f"but {other.id[:8]}", other.body)
    if found.before is not None and found.after is not None and not change.successors:
        for name in found.fields:
            if name not in UNTOLD:
                old, new = spelled(found, name)
                yield from _labelled(name.replace("_", " "), f"{old or 'none'} -> {new or 'none'}")
    for piece in change.evidence[:3]:
        yield from _evidence(piece)
    if len(change.evidence) > 3:
        yield f"{'':{_LABEL}}and {counted(len(change.evidence) - 3, 'more source', 'more sources')}"


def _evidence(piece: Evidence) -> Iterator[str]:
    label = {"new": "rests on", "gone": "no longer on", "kept": "rests on"}[piece.mark]
    dated = f" ({piece.source.captured})" if piece.source.captured else ""
    yield from _labelled(label, place_of(piece.source) + dated)
    for _, line in piece.text[:3]:
        yield from (f"{'':{_LABEL}}| {row}" for row in _rows(line, WIDTH - _LABEL - 2)[:2])


def _wording(label: str, text: str, paint: str, colour: bool) -> Iterator[str]:
    rows = list(_labelled(label, text))
    yield from (f"{paint}{row}{_PLAIN}" for row in rows) if colour else rows


def _labelled(label: str, text: str, most: int = LINES) -> list[str]:
    rows = _rows(text, WIDTH - _LABEL) or [""]
    if len(rows) > most:
        last = rows[most - 1]
        rows = [*rows[: most - 1], last[: WIDTH - _LABEL - 2] + " …"]
    return [f"{label if n == 0 else '':<{_LABEL}}{row}" for n, row in enumerate(rows)]


def _rows(text: str, width: int) -> list[str]:
    """Wrap a text; no word that fits is broken, and no control character is left in it."""
    said = " ".join(visible(text).split())
    return textwrap.wrap(said, width, break_on_hyphens=False)
