"""From a source file to units: what a run may promote, each with its lines and context.

Rules by file name (memory-purifier, candidate extraction, widened to bullets): `PROCEDURES.md` one
unit for each second-level section, `episodes/*.md` one for the file, everything else list items,
table rows and paragraphs. A unit is identified by its words and file, never by line or heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from memrepo.core.ids import digest, normal_claim, strip_marker, text_hash
from memrepo.core.problems import Problem
from memrepo.purify.dates import DateBasis, date_of_path, date_unit, find_date
from memrepo.purify.lines import SourceLines
from memrepo.purify.markdown import Block, Document, Task, parse_document
from memrepo.purify.sources import is_episode, is_procedures

UnitKind = Literal["bullet", "row", "paragraph", "section", "document"]

MAX_TEXT = 20_000
SHORT = 10
"""A text of fewer characters is kept only where a key or its place says what it means."""
INTRO_LENGTH = 120

_BOLD_LEAD = re.compile(r"(?P<mark>\*\*|__)(?P<key>[^*\n]{1,200}?)(?P<inside>[::]?)(?P=mark)")
_COLON = re.compile(r"[ \t]*[::]")
_PROMOTED = re.compile(r"\[score=[^\[\]\n]{0,300}source=[^\[\]\n]{1,500}\]$")


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a source that may become a memory.

    `text` is verbatim without list marker and checkbox, continuation lines joined by a line feed.
    `lines` are one-based and inclusive on the original bytes. `headings` and `parents` (texts of
    the list items or the introducing line it stands under) run outermost first. `key` and `value`
    are the halves of a bold lead. `captured` is an ISO date, empty when only the commit dates it.
    """

    resource: str
    kind: UnitKind
    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    key: str = ""
    value: str = ""
    task: Task = ""
    captured: str = ""
    captured_from: DateBasis = ""
    text_hash: str = ""
    hash: str = ""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """What one source holds: units in file order, findings, and counts of what is no unit.

    `dropped` counts texts too short to mean anything, `managed` the lines left out because another
    program or memrepo wrote them, `lines` all lines of the file.
    """

    resource: str
    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()
    lines: int = 0
    dropped: int = 0
    managed: int = 0


def scan(resource: str, data: bytes) -> Scan:
    """Find the units of a source; never raises, a file that cannot be read is a problem."""
    document = parse_document(resource, data)
    work = _Work(resource=resource)
    if is_episode(resource):
        work.add_document(document)
    elif is_procedures(resource):
        work.add_sections(document)
    else:
        work.add_blocks(document.blocks)
    return Scan(
        resource=resource,
        units=tuple(work.units),
        lines=document.source.count,
        problems=(*document.problems, *work.problems),
        dropped=work.dropped,
        managed=len(document.source.managed) + work.managed,
    )


def bold_lead(text: str) -> tuple[str, str]:
    """Return key and value of `**Key:** value` or `**Key**: value`; two empty strings otherwise."""
    plain = strip_marker(text)
    match = _BOLD_LEAD.match(plain)
    if match is None:
        return "", ""
    colon = None if match["inside"] else _COLON.match(plain, match.end())
    if not match["inside"] and colon is None:
        return "", ""
    return match["key"].strip(), plain[(colon or match).end() :].strip()


def heading_path(blocks: Iterable[Block]) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """Pair each block with the headings it stands under, outermost first; a heading with itself."""
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, block.text))
        yield block, tuple(text for _, text in path)


def _walk(blocks: Sequence[Block]) -> Iterator[tuple[Block, tuple[str, ...], Block | None]]:
    """Yield each block with its headings and the block after it."""
    for index, (block, headings) in enumerate(heading_path(blocks), start=1):
        yield block, headings, blocks[index] if index < len(blocks) else None


def has_words(text: str) -> bool:
    """Tell whether a text holds a letter or a digit."""
    return any(ch.isalnum() for ch in text)


class _Work(msgspec.Struct):
    """The units found so far in one file."""

    resource: str
    units: list[Unit] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)
    dropped: int = 0
    managed: int = 0

    def add_blocks(self, blocks: Sequence[Block]) -> None:
        """Take list items, table rows and paragraphs under the headings before them."""
        under: tuple[str, ...] = ()
        for block, headings, following in _walk(blocks):
            match block.kind:
                case "paragraph":
                    listed = following is not None and following.kind == "item"
                    under = (block.text,) if listed and block.text.endswith(_COLONS) else ()
                    if not (under and _only_introduces(block.text)):
                        self._add_paragraph(block, headings)
                case "item":
                    self._add_item(block, headings, under)
                case "row":
                    self._add("row", block.text, block.lines, headings)
                case "heading" | "comment" | "other":
                    under = ()

    def add_sections(self, document: Document) -> None:
        """Take each second-level section whole, and what stands outside of one as usual."""
        path: tuple[str, ...] = ()
        blocks = document.blocks
        cuts = [n for n, b in enumerate(blocks) if b.kind == "heading" and b.level <= 2]
        self.add_blocks(blocks[: cuts[0]] if cuts else blocks)
        for cut, following in zip(cuts, [*cuts, len(blocks)][1:], strict=True):
            head, inner = blocks[cut], blocks[cut:following]
            if head.level == 1:
                path = (head.text,)
                self.add_blocks(inner)
                continue
            last = blocks[following].lines[0] - 1 if following < len(blocks) else _END
            rows = document.source.visible(head.lines[0], last)
            body = "\n".join(line for _, line in rows[1 + head.lines[1] - head.lines[0] :])
            if has_words(body):
                text = "\n".join(line.rstrip() for _, line in rows).strip()
                spans = [n for n, line in rows if line.strip()]
                self._add("section", text, (head.lines[0], spans[-1]), path)
            else:
                self.dropped += 1

    def add_document(self, document: Document) -> None:
        """Take a whole file as one unit, without frontmatter, title and comments."""
        source, blocks = document.source, document.blocks
        left_out = {n for b in blocks if b.kind == "comment" for n in _lines_of(b)}
        title = next((b for b in blocks if b.kind != "comment"), None)
        headings: tuple[str, ...] = ()
        if title is not None and title.kind == "heading":
            headings = (title.text,)
            left_out.update(_lines_of(title))
        text = _body(source, left_out)
        # The day of an episode stands in its title or name; its text tells of other days too.
        day = next((d for h in headings if (d := find_date(h))), "")
        known: tuple[str, DateBasis] | None = (day, "heading") if day else None
        if known is None and (day := date_of_path(self.resource)):
            known = (day, "file")
        if source.count:
            self._add("document", text, (1, source.count), headings, dated=known)

    def _add_paragraph(self, block: Block, headings: tuple[str, ...]) -> None:
        """Take a paragraph; one whose lines each start with a bold lead is several."""
        for text, lines in _leads(block):
            self._add("paragraph", text, lines, headings)

    def _add_item(self, block: Block, headings: tuple[str, ...], parents: tuple[str, ...]) -> None:
        if not (block.children and _only_introduces(block.text)):
            self._add("bullet", block.text, block.lines, headings, parents, task=block.task)
        inner = (*parents, block.text) if has_words(block.text) else parents
        for child in block.children:
            self._add_item(child, headings, inner)

    def _add(
        self,
        kind: UnitKind,
        text: str,
        lines: tuple[int, int],
        headings: tuple[str, ...],
        parents: tuple[str, ...] = (),
        *,
        task: Task = "",
        dated: tuple[str, DateBasis] | None = None,
    ) -> None:
        key, value = bold_lead(text) if kind in ("bullet", "paragraph") else ("", "")
        normal = normal_claim(text)
        if not has_words(normal) or (len(text) < SHORT and not (key or headings or parents)):
            self.dropped += bool(text)
            return
        if _PROMOTED.search(text):
            self.managed += text.count("\n") + 1
            return
        if len(text) > MAX_TEXT:
            self._note_cut(lines[0], len(text))
            text = text[:MAX_TEXT]
            normal = normal_claim(text)
            value = value[:MAX_TEXT]
        captured, basis = dated or date_unit(text, headings, self.resource)
        self.units.append(
            Unit(
                resource=self.resource,
                kind=kind,
                text=text,
                lines=lines,
                headings=headings,
                parents=parents,
                key=key,
                value=value,
                task=task,
                captured=captured,
                captured_from=basis,
                text_hash=text_hash(text),
                hash=f"un-{digest([self.resource, normal])[:16]}",
            )
        )

    def _note_cut(self, line: int, length: int) -> None:
        self.problems.append(
            Problem(
                path=self.resource,
                line=line,
                rule="unit-cut",
                severity="warning",
                message=f"has {length} characters in one unit; "
                f"those after {MAX_TEXT} are not judged",
                fix="split it into smaller paragraphs or items",
            )
        )


_END = 10**9
_COLONS = (":", ":", ":**", ":**", ":__")


def _only_introduces(text: str) -> bool:
    """Tell whether a text says nothing but that something follows."""
    return text.endswith(_COLONS) and "\n" not in text and len(text) <= INTRO_LENGTH


def _leads(block: Block) -> list[tuple[str, tuple[int, int]]]:
    """Split a paragraph at its bold leads when there are several and it starts with one."""
    rows = block.text.split("\n")
    first, last = block.lines
    starts = [n for n, row in enumerate(rows) if bold_lead(row)[0]]
    # Line numbers only fit when no line was taken out of the paragraph.
    if len(starts) < 2 or starts[0] or len(rows) != last - first + 1:
        return [(block.text, block.lines)]
    ends = [*starts[1:], len(rows)]
    return [
        ("\n".join(rows[a:b]).strip(), (first + a, first + b - 1))
        for a, b in zip(starts, ends, strict=True)
    ]


def _lines_of(block: Block) -> range:
    return range(block.lines[0], block.lines[1] + 1)


def _body(source: SourceLines, left_out: set[int]) -> str:
    kept = (line.rstrip() for n, line in source.visible(1, source.count) if n not in left_out)
    return "\n".join(kept).strip()
