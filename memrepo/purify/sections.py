"""Files that are read by their sections or whole: procedures, episodes, and essays.

An essay is a design, an article or a report. One line of it says little: it leans on those around
it. So a section is one part, sections of a few lines are one with the section they stand in, and a
long one is cut at its paragraphs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from memrepo.read.dates import DateBasis, date_of_path, find_date
from memrepo.purify.groups import bullets, last_line
from memrepo.purify.leads import COLONS, has_words, only_introduces, width
from memrepo.read.lines import SourceLines

if TYPE_CHECKING:
    from memrepo.read.markdown import Block, Document
    from memrepo.purify.units import Walk

OPENING = 360
"""Characters of the paragraph that says what a section is about."""
SECTION, FEW_LINES = 1200, 900
"""Characters of a part, and of sections that are one with the section they stand in."""
MAX_LEVEL = 6
_END = 10**9


def add_procedures(walk: Walk, document: Document) -> None:
    """Take each second-level section whole, and what stands outside of one as usual."""
    path: tuple[str, ...] = ()
    blocks = document.blocks
    cuts = [n for n, b in enumerate(blocks) if b.kind == "heading" and b.level <= 2]
    walk.add_blocks(blocks[: cuts[0]] if cuts else blocks)
    for cut, following in zip(cuts, [*cuts, len(blocks)][1:], strict=True):
        head, inner = blocks[cut], blocks[cut:following]
        if head.level == 1:
            path = (head.text,)
            walk.add_blocks(inner)
            continue
        last = blocks[following].lines[0] - 1 if following < len(blocks) else _END
        rows = document.source.visible(head.lines[0], last)
        body = "\n".join(line for _, line in rows[1 + head.lines[1] - head.lines[0] :])
        if has_words(body):
            text = "\n".join(line.rstrip() for _, line in rows).strip()
            spans = [n for n, line in rows if line.strip()]
            walk.add("section", text, (head.lines[0], spans[-1]), path)
        else:
            walk.dropped += 1


def add_document(walk: Walk, document: Document) -> None:
    """Take a whole file as one unit, without frontmatter, title and comments."""
    source, blocks = document.source, document.blocks
    left_out = {n for b in blocks if b.kind == "comment" for n in _lines_of(b)}
    title = next((b for b in blocks if b.kind != "comment"), None)
    headings: tuple[str, ...] = ()
    if title is not None and title.kind == "heading":
        headings = (title.text,)
        left_out.update(_lines_of(title))
    text = body_of(source, left_out)
    # The day of an episode stands in its title or name; its text tells of other days too.
    day = next((d for h in headings if (d := find_date(h))), "")
    known: tuple[str, DateBasis] | None = (day, "heading") if day else None
    if known is None and (day := date_of_path(walk.resource)):
        known = (day, "file")
    if source.count:
        walk.add("document", text, (1, source.count), headings, dated=known)


def body_of(source: SourceLines, left_out: Collection[int] = ()) -> str:
    """Return the visible lines of a file as one text."""
    kept = (line.rstrip() for n, line in source.visible(1, source.count) if n not in left_out)
    return "\n".join(kept).strip()


def _lines_of(block: Block) -> range:
    return range(block.lines[0], block.lines[1] + 1)


def add_essay(walk: Walk, blocks: Sequence[Block]) -> None:
    """Take the sections of a design, an article or a report: a line of one says little alone.

    A section is one unit, a long one as few as hold it.
    """
    walk.named = True
    for above, run in _sections(blocks):
        if _statements(run) > 1:
            _add_section(walk, run, tuple(block.text for block in above))
        else:
            walk.add_blocks([*above, *run])


def _add_section(walk: Walk, run: Sequence[Block], headings: tuple[str, ...]) -> None:
    """Take a section: its first paragraph is what it says, and the rest explains that."""
    first, lines = run[0], (run[0].lines[0], last_line(run[-1]))
    opens = first.kind == "paragraph" and not first.text.endswith(COLONS)
    opens = opens and width(first.text) <= OPENING
    detail = "\n".join(_spelled(run[opens:]))
    text = f"{first.text}\n{detail}" if opens else detail
    walk.add("section", text, lines, headings, detail=detail)


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[list[Block], Sequence[Block]]]:
    """Part a document in what can be read alone, each with the headings above it."""
    for above, run in _parted(blocks):
        for part in _packed(run):
            yield above, part


def _statements(run: Sequence[Block]) -> int:
    """Return how many statements blocks hold."""
    own = sum(block.kind != "heading" and has_words(block.text) for block in run)
    return own + sum(_statements(block.children) for block in run)


def _spelled(run: Sequence[Block]) -> Iterator[str]:
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
