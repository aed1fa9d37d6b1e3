"""Split a text into sentences and chunks, and find the part of it that best matches a question.

Chunks are the units of search, and end where a sentence ends. Lineage: openclaw-engram, chunking.
Deliberate differences:

- A chunk is a slice of the text, so nothing is lost and line breaks are retained.
- A full stop ends a sentence only before a blank.
- Paragraphs, list items, headings and table rows also end a sentence.
- Chinese and Japanese full stops need no blank.
- A character of a script without blanks counts as a token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import msgspec

from memrepo.core.patterns import regex
from memrepo.text.words import IS_SPACELESS, terms

CHARS_PER_TOKEN = 4
_CLOSING = "\"'”’»)\\]*_`"
_ENDS = (
    rf"(?<![.!?।؟۔])[.!?।؟۔]+[{_CLOSING}]*(?=\s|\Z)",
    "(?<![。！？｡])[。！？｡]+[」』”’）】》\"')]*",
    r"\n(?=[ \t]*(?:\n|(?:[-*+•]|\d{1,9}[.)]|#{1,6})[ \t]|\|))",
)
_END = regex("|".join(_ENDS))
_MARKER = regex(r"\s*\d{1,9}\.")


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a text with its offsets in characters, its number, and its number of tokens."""

    index: int
    text: str
    start: int
    end: int
    tokens: int


def token_count(text: str) -> int:
    """Estimate the number of tokens in a text: a quarter of the characters, rounded up."""
    if not text or max(text) < "\u0e00":  # Thai is the first of those scripts
        return -(-len(text) // CHARS_PER_TOKEN)
    whole = sum(1 for _ in IS_SPACELESS.finditer(text))
    return whole + -(-(len(text) - whole) // CHARS_PER_TOKEN)


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the (start, end) offsets of each sentence, without surrounding blanks, in order."""
    return list(_sentences(text))


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _END.finditer(text):
        if _MARKER.fullmatch(text, start, found.end()):
            continue  # the number of a list item
        yield from _bare(text, start, found.end())
        start = found.end()
    yield from _bare(text, start, len(text))


def _bare(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if bare := part.strip():
        begin = start + part.index(bare)
        yield begin, begin + len(bare)


def chunks(
    text: str, *, target: int = 200, least: int = 150, overlap: int = 2
) -> tuple[Chunk, ...]:
    """Split a text into chunks. A short text, or a text of one sentence, becomes one chunk.

    A chunk ends with the sentence that reaches `target` tokens, and the next one repeats its last
    `overlap` sentences. Texts with fewer than `least` tokens are not split.
    """
    bare = text.strip()
    if bare and token_count(bare) < least:
        start = text.index(bare)
        return (_chunk(text, 0, [(start, start + len(bare))]),)
    spans = sentences(text)
    if not spans:
        return ()
    if len(spans) == 1:
        return (_chunk(text, 0, spans),)
    counts = [token_count(text[start:end]) for start, end in spans]
    groups: list[list[tuple[int, int]]] = []
    first = total = 0
    for at, count in enumerate(counts):
        total += count
        if total >= target or at == len(spans) - 1:
            groups.append(spans[first : at + 1])
            first = max(first, at + 1 - overlap)
            total = sum(counts[first : at + 1])
    return tuple(_chunk(text, index, group) for index, group in enumerate(groups))


def _chunk(text: str, index: int, group: list[tuple[int, int]]) -> Chunk:
    start, end = group[0][0], group[-1][1]
    part = text[start:end]
    return Chunk(index=index, text=part, start=start, end=end, tokens=token_count(part))


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
    first, last = _best_span(text, spans, frozenset(asked), room)
    first, last = _fill_span(spans, first, last, room)
    start, end = spans[first][0], spans[last][1]
    part = text[start:end]
    cut = len(part) > room
    part = part[:room].rstrip() if cut else part
    before = MARK + " " if first else ""
    after = MARK if cut else f" {MARK}" if last + 1 < len(spans) else ""
    return f"{before}{part}{after}"


def _best_span(
    text: str, spans: list[tuple[int, int]], asked: frozenset[str], room: int
) -> tuple[int, int]:
    """Find the shortest sequence of sentences with the most weight that fits into `room`."""
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


def _fill_span(spans: list[tuple[int, int]], first: int, last: int, room: int) -> tuple[int, int]:
    """Extend a sequence of sentences at its end, then at its start, as long as they fit."""
    while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= room:
        last += 1
    while first and spans[last][1] - spans[first - 1][0] <= room:
        first -= 1
    return first, last


# -- paragraphs: what a search finds and shows ----------------------------------------------------

LENGTH = 600
"""Maximum length of a paragraph in characters, unless it is a single sentence."""
_HEADING = regex(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = regex(r"[ \t]{0,12}(?:```|~~~)")
_BULLET = regex(r"(?:[-*+]|\d{1,3}[.)])[ \t]")


class Paragraph(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph with its line numbers and the headings above it, outermost first."""

    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()


def paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of a text. A text that fits is one paragraph, with its headings."""
    rows = text.split("\n")
    if len(text) <= LENGTH:
        return [Paragraph(text=text, lines=(1, len(rows)))]
    found = [*cut(enumerate(rows, start=1))]
    return found or [Paragraph(text=text, lines=(1, len(rows)))]


def cut(rows: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """Yield the paragraphs of numbered lines."""
    path: list[tuple[int, str]] = []
    held: list[tuple[int, str]] = []
    size, in_fence = 0, False
    for number, line in ((n, piece) for n, whole in rows for piece in _pieces(whole)):
        heading = None if in_fence else _HEADING.match(line)
        if _FENCE.match(line):
            in_fence = not in_fence
        is_apart = bool(held) and number != held[-1][0] + 1
        if heading or is_apart or size + len(line) > LENGTH:
            yield from _joined(held, path)
            held, size = [], 0
        if heading:
            while path and path[-1][0] >= len(heading[1]):
                path.pop()
            path.append((len(heading[1]), heading[2]))
        elif held or line.strip():
            held.append((number, line.rstrip()))
            size += len(line) + 1
    yield from _joined(held, path)


def items(text: str) -> list[str]:
    """Return what a text says one by one: each list item, below what it belongs to.

    That is the headings above it, the text before the list, and the items with less indent.
    """
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for line in filter(str.strip, text.split("\n")):
        plain = line.lstrip(" \t>")
        indent, heading = len(line) - len(plain), _HEADING.match(line)
        depth = len(heading[1]) - 9 if heading else indent + 1 if _BULLET.match(plain) else 0
        if not depth and above and 0 <= above[-1][0] <= indent:
            depth, before = above.pop()
            line = f"{before}\n{line}"
            found.pop()
        while above and above[-1][0] >= depth:
            above.pop()
        above.append((depth, line))
        found.append("\n".join(one for _, one in above))
    return found


def _pieces(line: str) -> Iterator[str]:
    """Yield the sentences of a line that is too long, as many together as fit."""
    if len(line) <= LENGTH:
        yield line
        return
    start = end = 0
    for first, last in sentences(line):
        if end and last - start > LENGTH:
            yield line[start:end]
            start = first
        end = last
    yield line[start:]


def _joined(held: list[tuple[int, str]], path: list[tuple[int, str]]) -> Iterator[Paragraph]:
    while held and not held[-1][1]:
        held.pop()
    text = "\n".join(line for _, line in held)
    if any(map(str.isalnum, text)):
        headings = tuple(name for _, name in path)
        yield Paragraph(text=text, lines=(held[0][0], held[-1][0]), headings=headings)
