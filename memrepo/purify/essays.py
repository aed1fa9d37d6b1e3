"""The sections of a design, an article or a report: parts of it that can be read alone.

One line of such a file says little: it leans on those around it. So a section is one part, sections
of a few lines are one with the section they stand in, and a long one is cut at its paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from memrepo.purify.markdown import Block
from memrepo.purify.units import bullets, has_words, only_introduces, width

SECTION, FEW_LINES = 900, 400
"""Characters of a part, and of sections that are one with the section they stand in."""
MAX_LEVEL = 6


def sections(blocks: Sequence[Block]) -> Iterator[tuple[list[Block], Sequence[Block]]]:
    """Part a document in what can be read alone, each with the headings above it."""
    for above, run in _parted(blocks):
        for part in _packed(run):
            yield above, part


def statements(run: Sequence[Block]) -> int:
    """Return how many statements blocks hold."""
    own = sum(block.kind != "heading" and has_words(block.text) for block in run)
    return own + sum(statements(block.children) for block in run)


def spelled(run: Sequence[Block]) -> Iterator[str]:
    """Spell the blocks of a part as lines."""
    for block in run:
        match block.kind:
            case "heading":
                yield f"**{block.text}**"
            case "item":
                yield from bullets([block])
            case "row":
                yield f"- {block.brief}"
            case _:
                yield block.text


def _parted(blocks: Sequence[Block]) -> Iterator[tuple[list[Block], Sequence[Block]]]:
    """Part a document in what stands under one heading, each with the headings above it.

    A section with sections in it is one part where all of it is a few lines.
    """
    path: list[Block] = []
    ends = _ends(blocks)
    sizes = [0, *accumulate(map(_breadth, blocks))]
    at = 0
    while at < len(blocks):
        head, start = blocks[at], at
        if head.kind == "heading":
            path = [*(block for block in path if block.level < head.level), head]
            start += 1
        end, whole = ends[at] if head.kind == "heading" else (next(iter(ends), len(blocks)), 0)
        if head.level > 1 and sizes[whole] - sizes[start] <= FEW_LINES:
            end = whole
        if end > start:
            yield path, blocks[start:end]
        at = end


def _ends(blocks: Sequence[Block]) -> dict[int, tuple[int, int]]:
    """Return by heading where what stands right under it ends, and where all below it does."""
    found: dict[int, tuple[int, int]] = {}
    after: list[int] = []  # the headings behind this one, the nearest last, each above the next
    last = len(blocks)
    for at in range(len(blocks) - 1, -1, -1):
        if blocks[at].kind != "heading":
            continue
        while after and blocks[after[-1]].level > blocks[at].level:
            after.pop()
        found[at] = last, after[-1] if after else len(blocks)
        after.append(at)
        last = at
    return dict(reversed(found.items()))


def _packed(run: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Cut a section at its paragraphs into parts of a length that can be read.

    A heading or a line that introduces goes with what follows it.
    """
    said = _said(run)
    start, length = 0, 0
    for at, block in enumerate(said):
        breadth = _breadth(block)
        if at > start and length + breadth > SECTION:
            end = at - (at - 1 > start and _introduces(said[at - 1]))
            yield said[start:end]
            start, length = end, sum(map(_breadth, said[end:at]))
        length += breadth
    if said[start:]:
        yield said[start:]


def _said(run: Sequence[Block]) -> list[Block]:
    """Return the blocks that say something; what introduces code alone does not."""
    kept: list[Block] = []
    for at in range(len(run) - 1, -1, -1):
        block, kinds = run[at], [b.kind for b in run[at + 1 : at + 3]]
        if not has_words(block.text):
            continue
        if _introduces(block):
            code = block.kind == "paragraph" and kinds[:1] == ["other"] and kinds[1:] != ["row"]
            if code or not kept or (kept[-1].kind == "heading" and kept[-1].level <= _level(block)):
                continue
        kept.append(block)
    return kept[::-1]


def _level(block: Block) -> int:
    return block.level if block.kind == "heading" else MAX_LEVEL


def _introduces(block: Block) -> bool:
    return block.kind == "heading" or (block.kind == "paragraph" and only_introduces(block.text))


def _breadth(block: Block) -> int:
    return width(block.text) + sum(map(_breadth, block.children))
