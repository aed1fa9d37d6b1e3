"""A review in a terminal: one block a change, both wordings, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.views.review import TELLTALES, UNTOLD, Change, Review, place_of, spelled
from memrepo.views.worddiff import Mark, Span, word_diff
from memrepo.views.wording import in_words

TEXT = 160
_WIDTH = 96
_CONTEXT = 12
"""Words of a long shared stretch that are shown on each side of what changed."""
_COLOURS = {"old": "\x1b[31m", "new": "\x1b[32m"}
_MARKED = {"old": "\x1b[1;31;7m", "new": "\x1b[1;32;7m"}
_PLAIN = "\x1b[0m"
LONGEST = 40_000
"""Characters of a section of markdown: a forge takes 65,536 for a comment, findings included."""
_TICKS = regex("`+")


def review_text(review: Review, *, stat: bool = False, colour: bool = False) -> str:
    """Return the review as text; with `stat` its totals alone, with `colour` for a terminal."""
    said = ", ".join(f"{n} {kind}" for kind, n in review.totals.items())
    lines = [f"{_line(review.title)}: {said or 'no memory differs'}"]
    if review.reason:
        label = "waits because" if review.state == "waits" else "because"
        lines.append(f"{label}: {_line(review.reason, 500)}")
    lines += _context(review)
    if not stat:
        for change in review.changes:
            lines += ["", *_block(change, colour=colour)]
    return "\n".join(lines)


def review_markdown(review: Review) -> str:
    """Return the review as a section of markdown: the text as it is, in a block none can leave."""
    lines = review_text(review).split("\n")
    text, cut = "\n".join(lines), ""
    while len(text) > LONGEST:
        lines = lines[: len(lines) * LONGEST // len(text)] if len(lines) > 1 else [text[:LONGEST]]
        text, cut = "\n".join(lines), "\n\nThe rest is cut; `memrepo diff` shows all of it."
    runs = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, runs + 1)
    return f"## What changes in memory\n\n{fence}text\n{text}\n{fence}{cut}"


def _context(review: Review) -> Iterator[str]:
    more = {k: n - review.totals.get(k, 0) for k, n in review.kinds.items()}
    if any(more.values()):
        yield "among these also: " + ", ".join(f"{n} {kind}" for kind, n in more.items() if n)
    if review.hot:
        before, after = review.hot
        yield f"hot cache: {before} to {after} tokens ({review.hot_change:+d})"
    if review.files:
        files = ", ".join(f"{n} in {folder}" for folder, n in review.files.items())
        yield f"other files: {files}"


def _block(change: Change, *, colour: bool) -> list[str]:
    found, memory = change.difference, change.difference.memory
    lines = [f"{found.kind:<11}{memory.id}  {memory.type}  {memory.path}"]
    before = found.before.body if found.before else ""
    match found.kind:
        case "superseded" if change.successors:
            lines += _superseded(memory, change.successors, colour)
        case "added":
            lines += _side([Span(mark="new", text=memory.body)], "new", colour)
            lines += [f"    replaces {id_}, told above" for id_ in change.replaces]
        case "removed" | "superseded":
            lines += _side([Span(mark="old", text=memory.body)], "old", colour)
        case _ if "reworded" in found.kinds:
            spans = word_diff(visible(before), visible(memory.body))
            lines += [*_side(spans, "old", colour), *_side(spans, "new", colour)]
        case _:
            lines.append(f"    {_line(memory.body)}")
    for other in change.against:
        lines.append(f"    contradicts {other.id}, which says: {_line(other.body, 500)}")
    lines += _fields(change)
    lines += _evidence(change)
    if change.why:
        lines.append(f"    because: {_line(in_words(change.why), 500)}")
    return lines


def _superseded(memory: Memory, successors: Sequence[Memory], colour: bool) -> list[str]:
    """Show the old text and that of each successor; one pair is compared word by word."""
    spans = word_diff(visible(memory.body), visible(successors[0].body))
    if len(successors) > 1:
        spans = (Span(mark="old", text=visible(memory.body)),)
    lines = _side(spans, "old", colour)
    for successor in successors:
        if len(successors) > 1:
            spans = (Span(mark="new", text=visible(successor.body)),)
        lines += [*_side(spans, "new", colour), f"    by {successor.id}  {successor.path}"]
    return lines


def _fields(change: Change) -> Iterator[str]:
    found = change.difference
    if found.before is None or found.after is None:
        return
    for name in found.fields:
        if name in UNTOLD or (found.kind in ("superseded", "retired") and name in TELLTALES):
            continue
        old, new = (_line(text) for text in spelled(found, name))
        yield f"    {name}: {old or 'none'} -> {new or 'none'}"


def _evidence(change: Change) -> Iterator[str]:
    signs = {"new": "+", "gone": "-"}
    told = [e for e in change.evidence if e.mark in signs]
    places = [place_of(e.source) for e in told]
    # A line that was edited where it stands is the same place before and after.
    told = [e for e in told if places.count(place_of(e.source)) == 1]
    for found in told[:5]:
        yield f"    {signs[found.mark]} evidence {_line(place_of(found.source))}"
    if len(told) > 5:
        yield f"    and {counted(len(told) - 5, 'more source', 'more sources')}"


def _side(spans: Iterable[Span], side: Mark, colour: bool) -> list[str]:
    """Show one wording, wrapped; long stretches that both share are shortened."""
    sign = "-" if side == "old" else "+"
    every = [s for s in spans if s.mark in ("same", side)]
    alone = not any(s.mark == "same" for s in every)
    shown = "".join(_shortened(s, n, len(every)) for n, s in enumerate(every))
    if not colour or alone:
        rows = textwrap.wrap(" ".join(visible(shown).split()), _WIDTH, break_on_hyphens=False)
        rows = [f"  {sign} {rows[0]}", *(f"    {row}" for row in rows[1:])] if rows else []
        return [f"{_COLOURS[side]}{row}{_PLAIN}" for row in rows] if colour else rows
    # Colours have no width, so a marked text is left to the terminal to wrap.
    parts = [
        f"{_MARKED[side]}{text}{_PLAIN}" if span.mark == side else f"{_COLOURS[side]}{text}{_PLAIN}"
        for n, span in enumerate(every)
        if (text := _folded(_shortened(span, n, len(every))))
    ]
    return [f"{_COLOURS[side]}  {sign} {_PLAIN}{''.join(parts)}"]


def _shortened(span: Span, n: int, count: int) -> str:
    words = visible(span.text).split(" ")
    keep = _CONTEXT if 0 < n < count - 1 else 2 * _CONTEXT
    if span.mark != "same" or len(words) <= 2 * keep + 4:
        return span.text
    head = words[:keep] if n else []
    tail = words[-keep:] if n < count - 1 or count == 1 else []
    return " ".join([*head, "…", *tail])


def _folded(text: str) -> str:
    """Put blanks of any kind in a row as one; those at the edges part words, and stay."""
    plain = "".join(" " if ch.isspace() else ch for ch in visible(text))
    while "  " in plain:
        plain = plain.replace("  ", " ")
    return plain


def _line(text: str, most: int = TEXT) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
