"""From a source file to units: what a run may promote, each with its lines and context.

Rules by file name (memory-purifier, candidate extraction, widened to bullets): `PROCEDURES.md` one
unit for each second-level section, `episodes/*.md` one for the file, everything else list items,
table rows and paragraphs. A file whose header has name, description and type is one memory that an
agent wrote: its description first, its body as detail. Numbered steps are one unit, and so is a
list of a few words an item (`groups` tells which). A unit is identified by its words and file,
never by line or heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from memrepo.core import header as headers
from memrepo.core.ids import digest, normal_claim, strip_marker, text_hash
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.read.dates import DateBasis, date_of_path, date_unit, is_time_heading
from memrepo.purify.groups import (
    BELOW_LENGTH,
    BRIEF,
    BRIEF_MOST,
    HAS_KEY,
    OPENS_WITH_KEY,
    alike_runs,
    are_steps,
    bullets,
    explained,
    is_brief,
    is_card,
    is_record,
    is_technical,
    is_terse,
    last_line,
    lists_of,
    may_be_one,
    numbered,
    packed_runs,
    records,
    tables_of,
)
from memrepo.purify.leads import (
    COLONS,
    DETAIL_LENGTH,
    SELF_NAMED,
    answer_of,
    asks,
    before_list,
    below_title,
    bold_lead,
    days_of,
    defined,
    has_words,
    heading_path,
    is_listed,
    leads_of,
    names_row,
    only_introduces,
    owner,
    refers_back,
    says_before,
    sentences_of,
    width,
    without_sign_offs,
)
from memrepo.purify.sources import PROFILES, is_episode, is_essay, is_procedures

if TYPE_CHECKING:
    from memrepo.read.markdown import Block, Document, Task

UnitKind = Literal[
    "bullet", "list", "table", "row", "paragraph", "steps", "section", "document", "memory"
]
MAX_TEXT = 20_000
SHORT = 10
"""A text of fewer characters is kept only where a key or its place says what it means."""
NAME = 24
"""Characters of an item that only names something: "bees", "slow food"."""
LEADS = 3
"""Of what a unit stands under, so many of the innermost are said before it."""
CATALOGUE = 8
"""A profile's table of more rows is one unit: it lists what is looked up, and nobody's things."""
_PROMOTED = regex(r"\s*\[score=[^\[\]\n]{0,300}source=[^\[\]\n]{1,500}\]$")
"""What OpenClaw appends to a line that it promotes to MEMORY.md; the line itself is a text."""


class Unit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A piece of a source that may become a memory.

    `text` is verbatim without list marker and checkbox, continuation lines joined by a line feed.
    `lines` are one-based and inclusive on the original bytes. `headings` and `parents` (texts of
    the list items or the introducing line it stands under, the first cell of its row) run outermost
    first. `key` and `value` are the halves of a bold lead. `detail` is the end of `text` that only
    explains what it begins with: steps, or the body of an agent's memory file. `about` is what the
    file's header names, and `hint` the type that it gives. `captured` is an ISO date, empty when
    only the commit dates it.
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
    detail: str = ""
    about: str = ""
    hint: str = ""
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
    from memrepo.read.markdown import parse_document  # a run with nothing new parses nothing

    document = parse_document(resource, data)
    document = replace(document, blocks=tuple(without_sign_offs(document.blocks)))
    walk = Walk(resource=resource)
    header = _memory_header(resource, data)
    if header is not None:
        walk.add_memory(document, header)
    elif is_episode(resource):
        from memrepo.purify.sections import add_document

        add_document(walk, document)
    elif is_procedures(resource):
        from memrepo.purify.sections import add_procedures

        add_procedures(walk, document)
    elif is_essay(resource, [b.level for b in document.blocks if b.kind == "heading"]):
        from memrepo.purify.sections import add_essay

        add_essay(walk, document.blocks)
    else:
        walk.add_blocks(document.blocks)
    return Scan(
        resource=resource,
        units=tuple(walk.units),
        lines=document.source.count,
        problems=(*document.problems, *walk.problems),
        dropped=walk.dropped,
        managed=len(document.source.managed),
    )


class _MemoryHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What the header of an agent's memory file says, and its last line."""

    name: str
    description: str
    hint: str
    last: int


_NO_NAMES = frozenset(
    "about background bio context general info me misc notes preferences profile role user".split()
)
"""What a file of one memory is often called, and what says nothing of what it is about."""
_HINTS = {"user": "identity", "feedback": "constraint", "project": "fact", "reference": "fact"}


def _memory_header(resource: str, data: bytes) -> _MemoryHeader | None:
    """Read the header of a file that holds one memory of an agent; None for any other file."""
    if not data.startswith((b"---", b"\xef\xbb\xbf---")):
        return None
    found = headers.split(data, resource)
    values = {entry.key: entry.value for entry in found.entries}
    inner = values.get("metadata")
    kind = values.get("type") or (inner.get("type") if isinstance(inner, dict) else None)
    name, description = values.get("name"), values.get("description")
    if not (isinstance(name, str) and isinstance(description, str) and isinstance(kind, str)):
        return None
    if not has_words(description):
        return None
    return _MemoryHeader(
        name=name.strip().removeprefix(f"{kind}_").removeprefix(f"{kind}-"),
        description=" ".join(description.split()),
        hint=_HINTS.get(kind, ""),
        last=found.body_line - 1,
    )


def _walk(blocks: Sequence[Block]) -> Iterator[tuple[Block, tuple[str, ...], Block | None]]:
    """Yield each block with its headings and the block after it."""
    for index, (block, headings) in enumerate(heading_path(blocks, talks=True), start=1):
        yield block, headings, blocks[index] if index < len(blocks) else None


class Walk(msgspec.Struct):
    """A walk through the blocks of one file: the units found so far, and what is known of it."""

    resource: str
    units: list[Unit] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)
    about: str = ""
    hint: str = ""
    named: bool = False
    dropped: int = 0

    def add_memory(self, document: Document, header: _MemoryHeader) -> None:
        """Take an agent's memory file whole; a long one is its description and several units."""
        from memrepo.purify.sections import body_of

        self.about = "" if header.name.casefold() in _NO_NAMES else header.name
        self.hint = header.hint
        count = document.source.count
        body = body_of(document.source)
        if len(body) <= DETAIL_LENGTH:
            text = f"{header.description}\n\n{body}" if body else header.description
            self.add("memory", text, (1, count), (), detail=body)
            return
        self.add("memory", header.description, (1, header.last), ())
        self.add_blocks(document.blocks)

    def add_blocks(self, blocks: Sequence[Block]) -> None:
        """Take list items, table rows and paragraphs under the headings before them."""
        under: tuple[str, ...] = ()
        told = 0
        items, tables = lists_of(blocks), tables_of(blocks)
        lists = {number: run for number, run in items.items() if may_be_one(run)}
        alike: dict[int, tuple[Block, ...]] = {}
        named = defined(blocks)
        for at, (block, headings, following) in enumerate(_walk(blocks)):
            match block.kind:
                case "paragraph":
                    own = owner(block.text) if is_listed(blocks[at + 1 : at + 3]) else ""
                    under = (own,) if own else ()
                    if under and block.text.endswith(COLONS):
                        run = lists.get(blocks[at + 1].list, ())
                        one = not only_introduces(block.text) and self._is_one(run, headings, under)
                        if one or self._ends_in(block, run):
                            self._add_with_list(block, run, headings)
                            told = run[0].list
                            continue
                    if at and self._goes_on(blocks[at - 1], block):
                        self._add_to_last(block, headings)
                    elif not (under and only_introduces(block.text)):
                        if under and (cut := before_list(block.text)):
                            block = replace(block, text=block.text[:cut].rstrip())
                        self._add_paragraph(block, headings)
                case "item" if block.list == told:
                    continue
                case "item":
                    run = lists.get(block.list, ())
                    if block is items[block.list][0]:
                        alike |= self._alike(items[block.list], (*headings, *under))
                    if are_steps(run, headings, under):
                        if block is run[0]:
                            self._add_steps(run, headings, under)
                    elif (under or len(headings) > 1) and self._is_one(run, headings, under):
                        if block is run[0]:
                            self._add_list(run, headings, under)
                    elif (rows := alike.get(block.lines[0])) and (under or headings):
                        if block is rows[0]:
                            self._add_list(rows, headings, under)
                    else:
                        name = named.get(block.list, "")
                        inner = (*under, name) if name not in block.text else under
                        self._add_item(block, headings, inner)
                case "row" if (rows := tables.get(block.lines[0])) and self._is_table(rows):
                    if block is rows[0]:
                        self._add_table(rows, headings, under)
                case "row" if rows := self._rows_alike(blocks, at, (*headings, *under), alike):
                    if block is rows[0]:
                        self._add_table(rows, headings, under)
                case "row":
                    inner = (*under, block.lead) if names_row(block) else under
                    self.add("row", block.text, block.lines, headings, inner)
                case "heading" | "comment":
                    under = ()
                case "rule" | "other" if following is None or following.kind != "row":
                    under = ()

    def _add_paragraph(self, block: Block, headings: tuple[str, ...]) -> None:
        """Take a paragraph; one whose lines each start with a bold lead is several."""
        if not self.named and (named := SELF_NAMED.match(block.text)):
            self.about = self.about or named["name"]
        rows = leads_of(block)
        if len(rows) == 1 and self._is_profile():
            rows = sentences_of(block)
        lengths = [width(text) for text, _ in rows]
        card = max(lengths) <= BRIEF_MOST and sum(lengths) <= BELOW_LENGTH
        if card and len(rows) > 1 and headings and not self._is_profile():
            text = "\n".join(f"- {strip_marker(row)}" for row, _ in rows)
            self.add("list", text, block.lines, headings, detail=text)
            return
        apart = self._is_profile() or self._is_log()
        days = [[row] for row in rows] if apart else days_of(rows)
        for run in (run for day in days for run in packed_runs(day, [width(t) for t, _ in day])):
            (text, lines), last = run[0], run[-1][1][1]
            if len(run) > 1:
                text = "\n".join(f"- {strip_marker(row)}" for row, _ in run)
                self.add("list", text, (lines[0], last), headings, detail=text)
            else:
                self.add("paragraph", text, lines, headings, detail=below_title(text))

    def _ends_in(self, block: Block, run: Sequence[Block]) -> bool:
        """Tell whether a paragraph says something by itself before it ends in a short list."""
        if not run or self._is_profile() or not says_before(block.text):
            return False
        plain = not any(row.task or row.ordered for row in run)
        return plain and sum(map(width, bullets(run))) <= BELOW_LENGTH

    def _goes_on(self, last: Block, block: Block) -> bool:
        """Tell whether a paragraph only refers to or answers the unit that ends right before it."""
        answers = asks(last.text) and answer_of(block.text)
        if last.kind not in ("paragraph", "item") or not (answers or refers_back(block.text)):
            return False
        whole = bool(self.units) and self.units[-1].lines[1] == last.lines[1]
        return whole and width(self.units[-1].text) + width(block.text) <= DETAIL_LENGTH // 2

    def _add_to_last(self, block: Block, headings: tuple[str, ...]) -> None:
        """Take a paragraph into the unit before it."""
        last = self.units.pop()
        lines = (last.lines[0], block.lines[1])
        text = f"{last.text}\n{block.text}"
        explains = last.detail or answer_of(block.text)
        detail = f"{last.detail}\n{block.text}".strip() if explains else ""
        self.add(last.kind, text, lines, headings, last.parents, task=last.task, detail=detail)

    def _add_with_list(self, block: Block, run: Sequence[Block], headings: tuple[str, ...]) -> None:
        """Take a paragraph with the list that ends its sentence."""
        detail = "\n".join(bullets(run))
        lines = (block.lines[0], last_line(run[-1]))
        self.add("paragraph", f"{block.text}\n{detail}", lines, headings, detail=detail)

    def _add_item(self, block: Block, headings: tuple[str, ...], parents: tuple[str, ...]) -> None:
        if explained(block):
            detail = "\n".join(bullets(block.children))
            text, lines = f"{block.text}\n{detail}", (block.lines[0], last_line(block))
            self.add("bullet", text, lines, headings, parents, task=block.task, detail=detail)
            return
        if not (block.children and only_introduces(block.text)):
            self.add("bullet", block.text, block.lines, headings, parents, task=block.task)
        inner = (*parents, block.text) if has_words(block.text) else parents
        if are_steps(block.children, (), (block.text,)):
            self._add_steps(block.children, headings, inner)
            return
        if self._is_one(block.children, headings, inner):
            self._add_list(block.children, headings, inner)
            return
        alike = self._alike(block.children, (*headings, *inner))
        for child in block.children:
            if rows := alike.get(child.lines[0]):
                if child is rows[0]:
                    self._add_list(rows, headings, inner)
            else:
                self._add_item(child, headings, inner)

    def _add_steps(
        self, run: Sequence[Block], headings: tuple[str, ...], parents: tuple[str, ...]
    ) -> None:
        """Take a numbered list that is one procedure."""
        text = "\n".join(numbered(run))
        lines = (run[0].lines[0], last_line(run[-1]))
        self.add("steps", text, lines, headings, parents, detail=text)

    def _add_list(
        self, run: Sequence[Block], headings: tuple[str, ...], parents: tuple[str, ...]
    ) -> None:
        """Take a list of a few words an item as one unit: alone none of them says anything."""
        lines = (run[0].lines[0], run[-1].lines[1])
        if is_terse(run):
            self.add("list", "\n".join(block.text for block in run), lines, headings, parents)
            return
        text = "\n".join(bullets(run))
        lines = (lines[0], last_line(run[-1]))
        self.add("list", text, lines, headings, parents, detail=text)

    def _is_one(
        self, run: Sequence[Block], headings: tuple[str, ...], under: tuple[str, ...]
    ) -> bool:
        """Tell whether the items of a list say something together only.

        What a memory or a profile says in its sections changes line by line and stays apart, and
        so does what happened on a day.
        """
        if any(map(is_time_heading, (*headings, *under)[-1:])):
            return False
        if is_terse(run):
            apart = self._is_profile() or self._is_log()
            return not apart or all(width(block.text) <= NAME for block in run)
        if not self._is_profile() and is_card(run):
            return True
        if not is_brief(run):
            return False
        if self._is_log():
            return all(HAS_KEY.search(block.text) for block in run)
        if not self._is_profile():
            return True
        short = all(width(block.text) <= BRIEF for block in run)
        apart = any(OPENS_WITH_KEY.match(strip_marker(block.text)) for block in run)
        return bool(under or len(headings) > 2) and short and not apart

    def _alike(self, items: Sequence[Block], above: Sequence[str]) -> dict[int, tuple[Block, ...]]:
        """Return by line the neighbours that differ little, as one run.

        In a profile only what is nothing but code joins: each of its lines may change by itself.
        """
        apart = self._is_profile() or self._is_log()
        named = [text for text in above if not is_time_heading(text)][-1:]
        done = not apart and any(map(is_record, named)) and not any(b.task for b in items)
        return (records(items) if done else {}) or alike_runs(
            items, above[-LEADS:], code=self._is_profile()
        )

    def _rows_alike(
        self,
        blocks: Sequence[Block],
        at: int,
        above: Sequence[str],
        alike: dict[int, tuple[Block, ...]],
    ) -> tuple[Block, ...]:
        """Return the whole table of a row that says of files, or of addresses, one thing each.

        It is looked at once, at its first row. A row of more cells is a thing of its own.
        """
        if self._is_profile() and at and blocks[at - 1].kind != "row":
            rows = tuple(takewhile(lambda block: block.kind == "row", blocks[at:]))
            if all(is_technical(block) for block in rows) and alike_runs(rows, above[-LEADS:]):
                alike |= {block.lines[0]: rows for block in rows}
        return alike.get(blocks[at].lines[0], ())

    def _is_profile(self) -> bool:
        return self.resource.rsplit("/", 1)[-1] in PROFILES

    def _is_log(self) -> bool:
        return bool(date_of_path(self.resource))

    def _is_table(self, run: Sequence[Block]) -> bool:
        """Tell whether a table is one unit; in a profile only a catalogue is."""
        return len(run) > CATALOGUE or not self._is_profile()

    def _add_table(
        self, run: Sequence[Block], headings: tuple[str, ...], parents: tuple[str, ...]
    ) -> None:
        """Take a table as one unit, or as few as hold it: a row alone is half of a comparison."""
        start, length = 0, 0
        for at, block in enumerate(run):
            if at > start and length + len(block.brief) > DETAIL_LENGTH // 2:
                self._add_rows(run[start:at], headings, parents)
                start, length = at, 0
            length += len(block.brief)
        self._add_rows(run[start:], headings, parents)

    def _add_rows(
        self, run: Sequence[Block], headings: tuple[str, ...], parents: tuple[str, ...]
    ) -> None:
        text = "\n".join(f"- {block.brief}" for block in run if has_words(block.brief))
        lines = (run[0].lines[0], run[-1].lines[1])
        self.add("table", text, lines, headings, parents, detail=text)

    def add(
        self,
        kind: UnitKind,
        text: str,
        lines: tuple[int, int],
        headings: tuple[str, ...],
        parents: tuple[str, ...] = (),
        *,
        task: Task = "",
        detail: str = "",
        dated: tuple[str, DateBasis] | None = None,
    ) -> None:
        """Take a text as a unit, if it says anything."""
        text = _PROMOTED.sub("", text)
        said = text.removesuffix(detail).rstrip()
        key, value = bold_lead(said) if kind in ("bullet", "paragraph") else ("", "")
        normal = normal_claim(text)
        if not has_words(normal) or (len(text) < SHORT and not (key or headings or parents)):
            self.dropped += bool(text)
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
                detail=detail,
                about=self.about,
                hint=self.hint,
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
