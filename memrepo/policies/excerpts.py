"""Find the part of a long text that best matches the words of a question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from memrepo.text.sentences import sentences
from memrepo.text.terms import terms

MARK = "…"
_GAP = f" {MARK} "


def excerpt(text: str, asked: Collection[str], most: int) -> str:
    """Return the part of a text that best matches a question, in at most `most` characters.

    `asked` has search terms (`terms.query_terms`). The part is a sequence of whole sentences, where
    a list item counts as one. Words that occur in fewer sentences weigh more. Of equal parts the
    first is returned. Adjacent sentences are added as long as they fit. A mark shows where text was
    left out. A sentence that is too long is truncated. A text that fits is returned unchanged.
    """
    if len(text) <= most:
        return text
    spans = sentences(text)
    room = most - 2 * len(_GAP)
    if room <= 0 or not spans:
        return text[:most]
    first, last = _best(text, spans, frozenset(asked), room)
    first, last = _filled(spans, first, last, room)
    start, end = spans[first][0], spans[last][1]
    part = text[start:end]
    cut = len(part) > room
    part = part[:room].rstrip() if cut else part
    before = MARK + " " if first else ""
    after = MARK if cut else f" {MARK}" if last + 1 < len(spans) else ""
    return f"{before}{part}{after}"


def _best(
    text: str, spans: list[tuple[int, int]], asked: frozenset[str], room: int
) -> tuple[int, int]:
    """Find the shortest sequence of sentences with the most weight that fits into `room`.

    Return the indices of its first and last sentence.
    """
    held = [asked.intersection(terms(text[start:end])) for start, end in spans]
    spread = Counter(term for terms_ in held for term in terms_)
    best, found = (0.0, 0), (0, 0)
    for first in range(len(spans)):
        seen: set[str] = set()
        for last in range(first, len(spans)):
            if last > first and spans[last][1] - spans[first][0] > room:
                break
            if held[last] <= seen:
                continue  # longer without another word
            seen |= held[last]
            weight = round(sum(1 / spread[term] for term in sorted(seen)), 6)
            value = (weight, spans[first][0] - spans[last][1])
            if value > best:
                best, found = value, (first, last)
    return found


def _filled(spans: list[tuple[int, int]], first: int, last: int, room: int) -> tuple[int, int]:
    """Extend a sequence of sentences at its end, then at its start, as long as they fit."""
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= room:
        last += 1
    while first and spans[last][1] - spans[first - 1][0] <= room:
        first -= 1
    return first, last
