"""Cut a text into paragraphs, each with the headings above it: what a search finds and shows.

Adjacent lines under the same headings are one paragraph, up to LENGTH characters. Paragraphs do not
overlap. A longer line is cut where a sentence ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from memrepo.core.patterns import regex
from memrepo.text.sentences import sentences

LENGTH = 600
"""Maximum length of a paragraph in characters, unless it is a single sentence."""
_HEADING = regex(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = regex(r"[ \t]{0,12}(?:```|~~~)")


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
