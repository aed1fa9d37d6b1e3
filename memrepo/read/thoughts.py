"""Split a source file into verbatim statements, with their line numbers and context.

An item with its children, a lead-in with its list, or numbered steps are one statement. So are a
few short fields, a rule with its reason, and a file of one memory. A list or table longer than
WHOLE_LENGTH is split at its items, each with the lead-in as context. Each second-level section of
`PROCEDURES.md` is one statement, and so is each episode file (memory-purifier, candidate
extraction). A statement's identity depends on its words and file, never on its line or heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.core.errors import Problem
from memrepo.core.ids import digest, normal_claim, normalise, text_hash, visible
from memrepo.core.layout import PROFILES
from memrepo.core.patterns import regex, without_comments
from memrepo.read.documents import (
    SourceLines,
    Task,
    has_note_field,
    is_episode,
    note_header,
    plain_note,
    read_head,
    remove_struck,
)
from memrepo.read.learned import line_hash, weights
from memrepo.text.dates import (
    DateBasis,
    date_of_path,
    date_unit,
    find_clock,
    find_date,
    is_time_heading,
)
from memrepo.text.words import entries, patterns, small_words

if TYPE_CHECKING:
    from memrepo.read.markdown import Block, ParsedFile

Shape = Literal[
    "item",
    "card",
    "steps",
    "table",
    "row",
    "paragraph",
    "code",
    "section",
    "document",
    "memory",
    "properties",
]
WHOLE_LENGTH = 600
"""Maximum characters of a list, a table or an item with children that is one statement."""
CARD_LENGTH, CARD_ITEMS = 420, 9
"""Maximum characters of a lead-in with a list of sentences, and of items compared for changes."""
LONG_ITEM, SHORT_RULE, SHORT_LIST = 80, 40, 3
"""Minimum width of an item that needs no list, of one that states a rule or a decision, and the
number of items of a list that may lose one.
"""
FIELD_LENGTH, FIELDS_LENGTH = 64, 420
"""Maximum characters of a field (`Key: value`), and of adjacent fields joined to one statement."""
LABEL_LENGTH, LABELLED_LENGTH = 32, 240
"""Maximum length of a bold label, and of its field, for fields of a section to be one statement."""
LEAD_LENGTH = 240
MEMORY_LENGTH = 1600
"""Maximum length of a statement that is a file with a memory's header."""
MAX_TEXT = 20_000
HEADING_LENGTH = 160
MIN_CHARACTERS = 2
"""Minimum letters and digits of a statement."""
COLONS = (":", "：")
SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "।", "॥", "؟", "۔", "။", "។")
_MARKS = " \t*_"
_MARKER = regex(r"^(?P<indent>\s*)(?:[-*+•◦▪‣§]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_FIELD = regex(r"^[^\w\n\[]{0,12}(?P<key>[^*:：|\n\[]{1,40}?)(?:\*\*|__)?\s{0,3}[:：](?P<value>.+)")
_BOLD_LINE = regex(r"^(?:\*\*|__)(?P<title>[^*_\n]{2,80}?)[:：]?(?:\*\*|__)[:：]?$")
_LABEL = regex(r"^[^\w\n]{0,12}[^*_:：|\n\[\]`]{1,40}(?:\*\*|__)?[:：](?:\*\*|__)?\s*$")
"""A field without a value, or a label that introduces the lines below it."""
_ASIDE = regex(r"^[(（](?:[^()（）]|[(（][^()（）]*[)）])*[)）]\W?$")
"""A placeholder for a value that nobody has written yet: `_(not set)_`, `(as needed)`."""
_ITALIC = regex(r"^[_*](?![_*])[^_*\n]{1,60}[_*]$")
_COLON_NEAR = regex(r".{0,12}[:：]")
_DAY_AND_TIME = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?: ?(?:UTC|GMT|Z|[+-]\d{2}:?\d{2}))?"
)
_CALLOUT = regex(r"\A\[!\w+\][-+]?\s*")
"""The mark of a callout in Obsidian, before its title: `[!warning] Server`."""
_STAMP = regex(
    rf"^(?:\*\*|__|\[|\(|\[\*\*)?{_DAY_AND_TIME}(?:\*\*|__|\]|\))*\s*[:：–—|-]*\s+(?=\S)"
)
"""A date at the start of a line. The date belongs to the line and not to its text."""
_MACHINE_TAIL = regex(
    r"(?<![ \t])[ \t]*\[score=[^\[\]\n]{0,300}source=[^\[\]\n]{1,500}\][ \t]*$", re.MULTILINE
)
"""The suffix that a program writes on each line it promotes."""
_MAPPING = regex(r"^[^\n]{1,40}\s(?:→|->|=>)\s[^\n]{1,60}$")
_EMPTY_END = regex(r"(?:(?:\A|\n)#{1,6} [^\n]*)+\s*\Z")
"""Headings at the end of a text, with nothing below them."""
_RULE_LINE = regex(r"^[\s|:-]+$")


class Unit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A statement in a source file, which may become a memory.

    `text` is verbatim. For a single item, `text` excludes the marker, the checkbox and a leading
    date, which is in `captured`. `lines` are one-based and inclusive, and refer to the original
    bytes. `headings` are ordered outermost first.

    `lead` is the line that introduces the list, or the header of the table, that contains it. `key`
    and `value` are the two halves of a single field. `torn` is whether the statement is a fragment
    of a list that is too long for one statement. `hint` is the type that the file's header gives.
    `captured` is an ISO date, or empty if only the commit dates the statement.
    """

    resource: str
    kind: Shape
    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()
    lead: str = ""
    key: str = ""
    value: str = ""
    task: Task = ""
    hint: str = ""
    torn: bool = False
    captured: str = ""
    captured_from: DateBasis = ""
    text_hash: str = ""
    hash: str = ""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading a source file: statements in file order, problems, and counts.

    `dropped` counts texts without a word. `managed` counts the
    lines that another program or memrepo wrote. `lines` counts all lines of the file.
    """

    resource: str
    units: tuple[Unit, ...] = ()
    problems: tuple[Problem, ...] = ()
    lines: int = 0
    dropped: int = 0
    managed: int = 0


@lru_cache(maxsize=1024)
def scan(resource: str, data: bytes, known: tuple[str, ...] = ()) -> Scan:
    """Find the statements in a source file. Never raises; unreadable files result in a problem.

    `known` are texts of several lines that stay one statement if most of their lines are there.
    """
    from memrepo.read.markdown import parse_document  # a run without new files parses nothing

    document = parse_document(resource, data)
    reader = _FileReader(resource=resource, source=document.source)
    header = _memory_header(resource, data)
    name = resource.rpartition("/")[2]
    if is_episode(resource):
        reader.add_document(document)
    elif name == "PROCEDURES.md":
        reader.add_procedures(document)
    else:
        if header is None and not date_of_path(resource):
            reader.add_properties(data)
        reader.add_sections(document)
        if header is not None:
            reader.make_memory(header, document.blocks)
    for text in known:
        reader.join_known(text)
    return Scan(
        resource=resource,
        units=tuple(_with_distinct_hashes(reader.units)),
        lines=document.source.count,
        problems=(*document.problems, *reader.problems),
        dropped=reader.dropped,
        managed=len(document.source.managed),
    )


def _with_distinct_hashes(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yield the units. Add the headings to the hash of a text repeated under other headings."""
    first: dict[str, tuple[str, ...]] = {}
    for unit in units:
        if first.setdefault(unit.hash, unit.headings) == unit.headings:
            yield unit
        else:
            named = digest([unit.resource, normal_claim(unit.text), *unit.headings])
            yield msgspec.structs.replace(unit, hash=f"un-{named[:16]}")


def field_of(text: str) -> tuple[str, str]:
    """Return the key and value of a field (`**Key:** value`), or two empty strings."""
    match = _FIELD.match(text) if "\n" not in text else None
    if match is None or match["value"].startswith("//") or ". " in match["key"]:
        return "", ""
    key, value = match["key"].strip(_MARKS), match["value"].strip(_MARKS)
    is_clock = key[-1:].isdigit() and match["value"][0].isdigit()  # "opens at 21:15"
    return (key, value) if value and not key.isdigit() and not is_clock else ("", "")


def are_of_two_things(one: str, other: str) -> bool:
    """Return whether two whole sections begin with different headings: their things differ."""
    heads = {normal_claim(text.partition("\n")[0]) for text in (one, other)}
    return len(heads) == 2 and one.startswith("#") and other.startswith("#")


def is_field(text: str) -> bool:
    """Return whether a text is a single short field (`Key: value`)."""
    return len(text) <= FIELD_LENGTH and not _STAMP.match(text) and bool(field_of(text)[0])


def filled(lines: Sequence[str]) -> list[str]:
    """Remove the fields without a value from the lines of a text."""
    kept: list[str] = []
    for at in range(len(lines) - 1, -1, -1):
        line, below = lines[at], kept[-1] if kept else ""
        is_lead = at == 0 and below and not _MARKER.match(line)
        is_label = _LABEL.match(_bare(line)) and not is_lead
        if not _unset(line) and not (is_label and not _leads(line, below, alone=at == 0)):
            kept.append(line)
    return kept[::-1]


def with_values(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text, each label of a list item with the value on the line below it."""
    label = ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if label and indent > len(label) - len(label.lstrip()) and line[indent].isalnum():
            yield f"{label} {line.strip()}"
            label = ""
            continue
        if label:
            yield label
        label = line if _MARKER.match(line) and _LABEL.match(_bare(line)) else ""
        if not label:
            yield line
    if label:
        yield label


def _leads(label: str, below: str, *, alone: bool) -> bool:
    """Return whether a label introduces the line below. Otherwise the label lacks a value."""
    marked = _MARKER.match(label)
    if not below or not (marked or label.lstrip().startswith(("**", "__"))):
        return not alone and not marked
    is_deeper = len(below) - len(below.lstrip()) > len(label) - len(label.lstrip())
    if is_deeper or (_MARKER.match(below) and not marked) or below.startswith("|"):
        return True
    return not _LABEL.match(_bare(below)) and not field_of(_bare(below))[0]


def width(text: str) -> int:
    """Return the display width of a text. A wide character counts as two."""
    return len(text) + (0 if text.isascii() else sum(map("\u2e80".__le__, text)))


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    """The fields in the header of a memory file, and the number of the header's last line."""

    name: str
    description: str
    hint: str
    last: int


_HINTS = {"user": "identity", "feedback": "constraint", "project": "fact", "reference": "fact"}


def _memory_header(resource: str, data: bytes) -> _Header | None:
    """Return the header of a file that contains exactly one memory, or None for other files."""
    text = data.decode("utf-8-sig", "replace")
    if not text.startswith("---"):
        return None
    head = read_head(text, resource)
    values = head.values
    inner = values.get("metadata")
    kind = values.get("type") or (inner.get("type") if isinstance(inner, dict) else None)
    name, description = values.get("name"), values.get("description")
    if not isinstance(description, str) or not any(map(str.isalnum, description)):
        return None
    return _Header(
        name=name.strip() if isinstance(name, str) else "",
        description=" ".join(description.split()),
        hint=_HINTS.get(kind, "") if isinstance(kind, str) else "",
        last=head.last,
    )


class _Node(msgspec.Struct, frozen=True, kw_only=True):
    """A markdown block with its text, and its rows if it is a table."""

    kind: Literal["paragraph", "item", "table", "code"]
    lines: tuple[int, int]
    text: str
    """The whole block, verbatim, with markers."""
    block: Block
    rows: tuple[Block, ...] = ()


class _FileReader(msgspec.Struct):
    """A reader that collects the statements of one file."""

    resource: str
    source: SourceLines
    units: list[Unit] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)
    dropped: int = 0

    # -- kinds of files ------------------------------------------------------------------------

    def add_sections(self, document: ParsedFile) -> None:
        """Add the statements in all sections of a file."""
        for heads, blocks, line in _sections(document.blocks):
            self._compose(heads, self._nodes(blocks), line)

    def add_properties(self, data: bytes) -> None:
        """Add the properties that say something as one statement: of a profile, if it names one."""
        found = note_header(self.resource, data)
        is_profile = self.resource.rpartition("/")[2] in PROFILES
        keys = {field_of(row)[0].lower() for _, row in found.fields}
        if found.fields and not (is_profile and patterns().names.isdisjoint(keys)):
            text = "\n".join(filled([row for _, row in found.fields]))
            lines = (2, found.fields[-1][0])
            if is_profile:
                self.add("card", text, lines, ())
            else:
                self.add("properties", text, lines, (), hint="fact")

    def add_document(self, document: ParsedFile) -> None:
        """Add an episode as one statement."""
        rows = [n for b in document.blocks if b.kind != "comment" for n in b.lines]
        if rows:
            last = max(n for block in document.blocks for n in _span(block))
            self.add("document", self._verbatim(min(rows), last), (min(rows), last), ())

    def add_procedures(self, document: ParsedFile) -> None:
        """Add every second-level section as one statement."""
        starts = [b for b in document.blocks if b.kind == "heading" and b.level == 2]
        if not starts:
            self.add_sections(document)
            return
        first = starts[0].lines[0]
        for heads, blocks, _ in _sections([b for b in document.blocks if b.lines[0] < first]):
            self._compose(heads, self._nodes(blocks))
        ends = [*(b.lines[0] - 1 for b in starts[1:]), self.source.count]
        for start, end in zip(starts, ends, strict=True):
            text = self._verbatim(start.lines[0], end)
            if text.count("\n"):
                self.add("section", text, (start.lines[0], end), ())

    def make_memory(self, header: _Header, blocks: Sequence[Block]) -> None:
        """Combine a file with a memory's header into one statement, up to MEMORY_LENGTH.

        Of a longer file, the statement has the blocks at the start, and those after stay apart.
        """
        end = self._end_of_memory(header.last + 1, blocks)
        # A unit that begins before the end and goes on after it would lose its rest.
        while cut := [u.lines[0] - 1 for u in self.units if u.lines[0] <= end < u.lines[1]]:
            end = min(cut)
        body = _EMPTY_END.sub("", self._verbatim(header.last + 1, end))
        first, _, below = body.partition("\n")
        if normal_claim(first).strip(".") == normal_claim(header.description).strip("."):
            body = below.strip()
        rest = [unit for unit in self.units if unit.lines[0] > end]
        self.units = []
        text = f"{header.description}\n\n{body}".strip()
        heads = tuple(filter(None, (header.name,)))
        self.add("memory", text, (1, end), heads, hint=header.hint)
        if header.hint == "identity":  # all of the file is about the person
            rest = [msgspec.structs.replace(unit, hint=header.hint) for unit in rest]
        self.units += rest

    def _end_of_memory(self, first: int, blocks: Sequence[Block]) -> int:
        """Return the last line of the text from `first` that fits, where a new thought begins."""
        last = first - 1
        for before, block in pairwise(blocks):
            begins = block.kind in ("heading", "paragraph") and before.kind != "heading"
            if begins and block.lines[0] > first and not _ends_open(before.text):
                end = block.lines[0] - 1
                if len(self._verbatim(first, end)) > MEMORY_LENGTH:
                    return last
                last = end
        count = self.source.count
        return count if len(self._verbatim(first, count)) <= MEMORY_LENGTH else last

    # -- composing -----------------------------------------------------------------------------

    def _nodes(self, blocks: Sequence[Block]) -> list[_Node]:
        nodes: list[_Node] = []
        tables: dict[int, list[Block]] = {}
        for at, block in enumerate(blocks):
            if block.kind in ("heading", "comment"):
                continue
            first, last = block.lines[0], max(_span(block))
            if block.kind == "row":
                previous = nodes[-1] if nodes else None
                if (
                    previous is not None
                    and previous.kind == "table"
                    and previous.lines[1] == first - 1
                ):
                    tables[len(nodes) - 1].append(block)
                    nodes[-1] = msgspec.structs.replace(previous, lines=(previous.lines[0], last))
                    continue
            kind: Literal["paragraph", "item", "table", "code"] = "code"
            if block.kind in ("paragraph", "item"):
                kind = block.kind
            elif block.kind == "row" or (at + 1 < len(blocks) and blocks[at + 1].kind == "row"):
                kind = "table"
            text = self._verbatim(first, last)
            if block.kind == "other" and text.startswith(">"):
                kind = "paragraph"
                text = re.sub(r"^>[ \t]?", "", text, flags=re.MULTILINE).strip()
            if not text or text.startswith("<"):
                continue
            if kind == "paragraph" and (parts := self._entries(first, last)):
                nodes += [_Node(kind=kind, lines=s, text=one, block=block) for s, one in parts]
                continue
            tables[len(nodes)] = [block] if block.kind == "row" else []
            nodes.append(_Node(kind=kind, lines=(first, last), text=text, block=block))
        for at, rows in tables.items():
            if rows:
                text = self._verbatim(*nodes[at].lines)
                nodes[at] = msgspec.structs.replace(nodes[at], text=text, rows=tuple(rows))
        return nodes

    def _entries(self, first: int, last: int) -> list[tuple[tuple[int, int], str]]:
        """Split a paragraph into entries, each with its lines, or return none if it is one text.

        A section sign parts entries, and so do fields, which are one entry. So does each line of
        one if every line of it is a whole sentence, or begins with a date.
        """
        rows = self.source.visible(first, last)
        lines = [line.strip() for _, line in rows]
        has_parts = _ENTRY_SIGN in lines or any(map(has_note_field, lines))
        if not has_parts and not _are_sentences(lines):
            return []
        groups: list[list[tuple[int, str]]] = [[]]
        is_of_fields = False
        for number, line in rows:
            if line.strip() == _ENTRY_SIGN:
                groups.append([])
                continue
            if has_note_field(line) != is_of_fields:
                groups.append([])
                is_of_fields = not is_of_fields
            groups[-1].append((number, line.strip()))
        spans: list[tuple[int, int]] = []
        for group in filter(None, groups):
            lines = [line for _, line in group]
            if _are_sentences(lines) and not has_note_field(lines[0]):
                spans += [(number, number) for number, _ in group]
            else:
                spans.append((group[0][0], group[-1][0]))
        return [(span, text) for span in spans if (text := self._verbatim(*span))]

    def _compose(self, heads: tuple[str, ...], nodes: list[_Node], line: int = 0) -> None:
        """Add the statements of one section, whose heading is at `line`.

        A section that is a list about one thing is one statement, with its heading. Otherwise each
        of its lists is one with its lead-in, or its items are. Other nodes are statements.
        """
        own = [n for n in nodes if not _is_shipped(n.text)]
        stated = [n for n in own if n.kind != "item" or filled(n.text.split("\n"))]
        is_ban = bool(line) and is_negative(heads[-1]) and _are_bare(nodes)
        if nodes and (is_ban or _is_block(heads, stated)):
            first, last = nodes[0].lines[0], nodes[-1].lines[1]
            is_headed = is_ban or (_names_a_thing(heads) and nodes[0].kind == "item")
            is_near = len(nodes) > 1 and 0 < line >= first - 2
            whole = self._verbatim(line, last) if is_headed and (is_near or is_ban) else ""
            if 0 < len(whole) <= WHOLE_LENGTH:  # without its heading, a ban would read as a wish
                kind: Shape = "steps" if _are_steps(nodes) and not is_ban else "card"
                self.add(kind, whole, (line, last), heads)
                return
            if not is_ban:
                self._add_joined(heads, nodes)
                return
        for lead, run in _runs(nodes):
            if self._is_bold(line, run) and _is_whole(None, run, heads, labelled=True):
                self.add(
                    "card", self._verbatim(line, run[-1].lines[1]), (line, run[-1].lines[1]), heads
                )
                continue
            if _is_whole(lead, run, heads):
                self._add_joined(heads, [lead, *run] if lead else run)
                continue
            label = ""
            if lead and run and run[0].kind != "paragraph" and _introduces(lead):
                label = lead.text.rstrip(_MARKS + "".join(COLONS)).lstrip(_MARKS)
            elif lead:
                self.add("paragraph", lead.text, lead.lines, heads)
            self._add_run(heads, run, label)

    def _is_bold(self, line: int, run: Sequence[_Node]) -> bool:
        """Return whether the heading of a section is a bold line right above a list."""
        is_near = bool(run) and 0 < line < run[0].lines[0] <= line + 2
        return is_near and self.source.text[line - 1].lstrip().startswith(("**", "__"))

    def _add_run(self, heads: tuple[str, ...], run: Sequence[_Node], lead: str) -> None:
        """Add the nodes of a list one by one.

        In a list mostly of short fields, or one that begins with a name, as a card does, those that
        follow each other are joined.
        """
        fields: list[_Node] = []
        is_named = any(field_of(_bare(n.text))[0].lower() in patterns().names for n in run[:1])
        is_card = is_named or 2 * sum(_is_entry(run[:1], node) for node in run) > len(run)
        is_cut = len(run) > SHORT_LIST and (bool(lead) or _names_a_thing(heads))
        for node in run:
            if fields and not _joins(fields, node):
                self._add_joined(heads, fields, lead)
                fields = []
            if is_card and _is_entry(fields, node):
                fields.append(node)
            elif node.kind == "item":
                self._add_item(heads, node, lead, torn=is_cut and not _stands_alone(node.text))
            elif node.kind == "table":
                self._add_table(heads, node, lead)
            elif node.kind == "code":
                self._add_code(heads, node, lead)
            else:
                self.add("paragraph", node.text, node.lines, heads, lead)
        if fields:
            self._add_joined(heads, fields, lead)

    def _add_joined(self, heads: tuple[str, ...], nodes: Sequence[_Node], lead: str = "") -> None:
        """Add several nodes as one statement. A single item is added as an item."""
        if len(nodes) == 1 and nodes[0].kind == "item":
            self._add_item(heads, nodes[0], lead)
            return
        lines = (nodes[0].lines[0], nodes[-1].lines[1])
        text = self._verbatim(*lines)
        if "\n" in text:
            steps = len(nodes) > 1 and _are_steps(nodes)
            self.add("steps" if steps else "card", text, lines, heads, lead)
        else:
            self.add("item", _bare(text), lines, heads, lead)

    def _add_item(
        self, heads: tuple[str, ...], node: _Node, lead: str, *, torn: bool = False
    ) -> None:
        """Add a list item with its children as one statement or, if it is long, as several."""
        block = node.block
        if len(node.text) <= WHOLE_LENGTH or not block.children:
            text = _bare(node.text)
            steps = len(block.children) > 1 and all(c.ordered for c in block.children)
            kind: Shape = "steps" if steps else "item"
            self.add(kind, text, node.lines, heads, lead, task=block.task, torn=torn)
            return
        own = block.text.strip()
        if len(own) > LEAD_LENGTH // 2 and not own.rstrip(_MARKS).endswith(COLONS):
            self.add("item", own, block.lines, heads, lead, task=block.task)
        inner = own.rstrip(_MARKS + "".join(COLONS)).lstrip(_MARKS)[:LEAD_LENGTH]
        self._compose_children(heads, block.children, inner or lead)

    def _compose_children(
        self, heads: tuple[str, ...], children: Sequence[Block], lead: str
    ) -> None:
        for child in children:
            lines = (child.lines[0], max(_span(child)))
            text = self._verbatim(*lines)
            node = _Node(kind="item", lines=lines, text=text, block=child)
            torn = len(children) > SHORT_LIST and not _stands_alone(text)
            self._add_item(heads, node, lead, torn=torn)

    def _add_table(self, heads: tuple[str, ...], node: _Node, lead: str) -> None:
        """Add a table as one statement, or as one statement per row if it is long."""
        if len(node.text) <= WHOLE_LENGTH:
            self.add("table", node.text, node.lines, heads, lead)
            return
        head = self.source.text[node.lines[0] - 1]
        cells = " | ".join(cell.strip() for cell in head.strip().strip("|").split("|"))
        for row in node.rows:
            text = self._verbatim(*row.lines)
            if not _RULE_LINE.match(text):
                self.add("row", text, row.lines, heads, cells[:LEAD_LENGTH])

    def _add_code(self, heads: tuple[str, ...], node: _Node, lead: str) -> None:
        """Append code to the statement directly above, or add it as a separate statement."""
        last = self.units[-1] if self.units else None
        near = last is not None and last.headings == heads and node.lines[0] - last.lines[1] <= 2
        if last is not None and near and len(last.text) + len(node.text) <= WHOLE_LENGTH:
            self.units.pop()
            text = f"{last.text}\n{node.text}"
            lines = (last.lines[0], node.lines[1])
            self.add(last.kind, text, lines, heads, last.lead, task=last.task)
        else:
            self.add("code", node.text, node.lines, heads, lead)

    def join_known(self, known: str) -> None:
        """Join the statements that share most of the lines of a known one, with those between them.

        A list is read item by item once it is too long, and a memory of it must not fall apart.
        """
        wanted = [normal_claim(row) for row in known.split("\n") if any(map(str.isalnum, row))]
        rows = {n: normal_claim(row) for n, row in self.source.visible(1, self.source.count)}
        found = [n for n, row in rows.items() if row in wanted]
        stated = {rows[n] for n in found}
        is_read = any(normalise(unit.text) == normalise(known) for unit in self.units)
        if is_read or 2 * len(stated) <= len(wanted):
            return
        first, last = found[0], found[-1]
        at = [n for n, u in enumerate(self.units) if u.lines[0] <= last and u.lines[1] >= first]
        # An item that was edited is the same item, also at either end.
        for row, n in ((wanted[0], at[0] - 1), (wanted[-1], at[-1] + 1)) if at else ():
            if row not in stated and 0 <= n < len(self.units):
                begin, end = self.units[n].lines
                at += [n] if begin - 1 <= last and end + 1 >= first else []
        span = [self.units[n] for n in sorted(at)]
        first = min([first, *(unit.lines[0] for unit in span)])
        last = max([last, *(unit.lines[1] for unit in span)])
        heads = min((unit.headings for unit in span), key=len, default=())
        same = sum(not stated.isdisjoint(map(normal_claim, u.text.split("\n"))) for u in span)
        text = self._verbatim(first, last)
        is_one = all(unit.headings[: len(heads)] == heads for unit in span)
        if len(at) > 1 and is_one and 2 * same > len(at) and len(text) <= MEMORY_LENGTH:
            rest, self.units = self.units[max(at) + 1 :], self.units[: min(at)]
            kind: Shape = "table" if span[0].kind == "row" else "card"
            self.add(kind, text, (first, last), heads)
            self.units += rest

    # -- texts ---------------------------------------------------------------------------------

    def _verbatim(self, first: int, last: int) -> str:
        """Return lines verbatim. Omit comments, struck text, templates and common indentation."""
        rows = [remove_struck(line).rstrip() for _, line in self.source.visible(first, last)]
        text = without_comments("\n".join(rows))
        written = [row for row in text.split("\n") if row.strip(_MARKS + "-+")]
        is_code = any(row.lstrip().startswith(("```", "~~~")) for row in written)
        stated = written if is_code else filled(written) or written
        if not is_code:
            stated = list(map(plain_note, stated))
            rows = [row for row in stated if not _is_shipped(row)] or stated
            stated = list(with_values(rows))
        rows = stated
        indent = min((len(r) - len(r.lstrip()) for r in rows), default=0)
        return _MACHINE_TAIL.sub("", "\n".join(row[indent:] for row in rows)).strip()

    def add(
        self,
        kind: Shape,
        text: str,
        lines: tuple[int, int],
        headings: tuple[str, ...],
        lead: str = "",
        *,
        task: Task = "",
        hint: str = "",
        torn: bool = False,
    ) -> None:
        """Add a text as a statement if it contains enough letters and digits."""
        text, captured, basis = _CALLOUT.sub("", text, count=1), "", ""
        if (stamp := _STAMP.match(text)) and (day := find_date(stamp[0])):
            mark = stamp[0][:2]  # bold that begins with the date goes on behind it
            is_open = mark in ("**", "__") and mark not in stamp[0][2:]
            text, captured, basis = is_open * mark + text[stamp.end() :], day, "unit"
        if kind == "paragraph" and has_note_field(self.source.text[lines[0] - 1]):
            kind, hint = "properties", "fact"
        if sum(map(str.isalnum, text)) < MIN_CHARACTERS:
            self.dropped += bool(text)
            return
        if len(text) > MAX_TEXT:
            self._note_cut(lines[0], len(text))
            text = text[:MAX_TEXT]
        if not captured:
            # The name of a memory is a title: a month in it says what the text is about.
            dated = headings if kind != "memory" else filter(find_date, headings)
            captured, basis = date_unit(
                text if kind in ("item", "paragraph", "row") else "", dated, self.resource
            )
        is_one = kind in ("item", "paragraph", "properties")
        key, value = field_of(text) if is_one else ("", "")
        self.units.append(
            Unit(
                resource=self.resource,
                kind=kind,
                text=text,
                lines=lines,
                headings=headings,
                lead=lead,
                key=key,
                value=value,
                task=task,
                hint=hint,
                torn=torn,
                captured=captured,
                captured_from=basis,  # type: ignore[arg-type]
                text_hash=text_hash(text),
                hash=f"un-{digest([self.resource, normal_claim(text)])[:16]}",
            )
        )

    def _note_cut(self, line: int, length: int) -> None:
        self.problems.append(
            Problem(
                path=self.resource,
                line=line,
                rule="unit-cut",
                severity="warning",
                message=f"has {length} characters in one piece; only the first {MAX_TEXT} are"
                " judged",
                fix="split it into smaller paragraphs or items",
            )
        )


_ENTRY_SIGN = "§"
"""The line that parts the entries of some agents' memory files."""


def _are_sentences(lines: Sequence[str]) -> bool:
    """Return whether each of several lines is a statement of its own.

    It is a sentence, a dated entry, or a line that its writer ended before it was full.
    """
    if len(lines) < 2:
        return False
    if all(map(_STAMP.match, lines)):
        return True
    if not all(line[:1].isalnum() and not line[:1].islower() for line in lines):
        return False
    ends = [line.rstrip(_MARKS) for line in lines]
    if all(end.endswith(SENTENCE_ENDS) for end in ends):
        return True
    runs_on = any(end.endswith((*SENTENCE_ENDS, *COLONS, ",", ";", "，", "；")) for end in ends)
    return not runs_on and _are_broken_by_hand(lines)


def _are_broken_by_hand(lines: Sequence[str]) -> bool:
    """Return whether half of the lines end where the next word would have fitted: by no editor.

    A line of one word is rather a label of the next one.
    """

    def begins(line: str) -> str:
        return line[:1] if width(line[:1]) > 1 else line.split(" ", 1)[0]

    if any(begins(line) == line for line in lines):
        return False
    most = max(map(width, lines))
    fits = [width(line) + 1 + width(begins(after)) <= most for line, after in pairwise(lines)]
    return sum(fits) * 2 >= len(fits)


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], list[Block], int]]:
    """Yield each section as its headings, outermost first, its blocks, and its heading's line.

    A rule ends a section, and what follows it is one of the same headings.
    """
    path: list[tuple[int, str]] = []
    section: list[Block] = []
    line = 0
    for at, block in enumerate(blocks):
        title, level = (block.text, block.level) if block.kind == "heading" else ("", 7)
        if block.kind == "paragraph" and at + 1 < len(blocks):
            title = _bold_title(block, blocks[at + 1], among=bool(path) and path[-1][0] == level)
        if not title and block.kind != "rule":
            section.append(block)
            continue
        if section:
            yield tuple(text for _, text in path), section, line
            section = []
            line = 0  # behind a rule, a list is not the one that the heading announces
        if not title:
            continue
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, title.replace("**", "").strip(_MARKS + "`#")[:HEADING_LENGTH]))
        line = block.lines[0]
    if section:
        yield tuple(text for _, text in path), section, line


def _bold_title(block: Block, after: Block, *, among: bool) -> str:
    """Return the text of a bold line above other text, if it names a kind of section.

    Among bold titles it needs to name none: what it introduces does not belong to the one before.
    """
    match = _BOLD_LINE.match(block.text)
    if match is None or after.lines[0] - block.lines[1] > 2:
        return ""
    title = match["title"]
    return title if (among or heading_kind(title)) and not title.endswith(SENTENCE_ENDS) else ""


SECTION_KINDS = tuple(
    "closed option plan ban preference decision lesson rule log status person project reference"
    " example".split()
)
"""The kinds of sections that a heading may name. The first kind that fits counts."""
LABEL_WORDS, LABEL_WIDTH = 5, 48
"""A heading within these limits is a label, in which any word may name the kind of its section.

In a longer heading, which is a sentence or a title, only the first word names it.
"""
_LABEL_EDGE = regex(r"\A[\W\d_]+|\s*[(（][^()（）]*[)）]|[\W_]+\Z")
_WIDE = regex(r"[\u3040-\u9fff\uac00-\ud7af]")


@lru_cache(maxsize=4096)
def heading_kind(heading: str) -> str:
    """Return the kind of section that a heading names, or an empty string.

    A word at the edge of the label counts before one inside it, which in scripts without blanks is
    part of another word.
    """
    label = _LABEL_EDGE.sub("", heading)
    is_label = len(label.split()) <= LABEL_WORDS and width(label) <= LABEL_WIDTH
    inside = ""
    for kind in SECTION_KINDS:
        found = patterns().headings[kind].search(label)
        if found and (not found.start() or (is_label and found.end() == len(label))):
            return kind
        if found and is_label and not inside and not _WIDE.search(label):
            after = _NEXT_WORD.match(label, found.end())
            is_head = after is None or after[1].lower() in function_words()
            inside = kind if is_head or kind not in _COMMON else ""
    return inside


_COMMON = ("lesson", "preference", "rule")
"""Kinds whose words often only modify another word, as in `Rule engine`."""
_NEXT_WORD = regex(r"[ -](\w+)")


@cache
def function_words() -> frozenset[str]:
    """Return the function words of all languages."""
    return frozenset(chain.from_iterable(small_words().values()))


def is_negative(label: str) -> bool:
    """Return whether a heading or lead-in says that what follows is not done, or asks for it."""
    is_ban = patterns().sentences["ban"].search(label) is not None
    return is_ban or label.rstrip(_MARKS + "".join(COLONS)).endswith(("?", "？"))


def _are_bare(nodes: Sequence[_Node]) -> bool:
    """Return whether most nodes are list items that do not say themselves what is not done."""
    items = [n for n in nodes if n.kind == "item"]
    return 2 * sum(not is_negative(n.text) for n in items) > len(nodes)


def _span(block: Block) -> Iterator[int]:
    """Yield the numbers of the first and last lines of a block and of its children."""
    yield from block.lines
    for child in block.children:
        yield from _span(child)


def _bare(text: str) -> str:
    """Remove the marker and checkbox from a list item's text, and unindent its children."""
    match = _MARKER.match(text)
    if match is None:
        return text
    if "\n" not in text:
        return text[match.end() :]
    first, *rest = text[match.end() :].split("\n")
    indent = min((len(r) - len(r.lstrip()) for r in rest if r.strip()), default=0)
    return "\n".join((first, *(row[indent:] for row in rest)))


def explains(text: str) -> bool:
    """Return whether a paragraph gives a reason or an exception for the text before it."""
    opening = patterns().sentences["explains"].match(text)
    return opening is not None and _COLON_NEAR.match(text, opening.end()) is not None


def _introduces(node: _Node) -> bool:
    """Return whether a paragraph introduces the next node."""
    bold = _BOLD_LINE.match(node.text) is not None
    return len(node.text) <= LEAD_LENGTH and (bold or _ends_open(node.text))


def _ends_open(text: str) -> bool:
    return text.rstrip(_MARKS).endswith(COLONS)


def _runs(nodes: Sequence[_Node]) -> Iterator[tuple[_Node | None, list[_Node]]]:
    """Yield each list, table and paragraph of a section with the node that introduces it.

    A paragraph ending in a colon and a bold line introduce what follows. So does an item ending in
    a colon, if items follow.
    """
    at = 0
    while at < len(nodes):
        first = nodes[at]
        at += 1
        if first.kind in ("table", "code"):
            yield None, [first]
            continue
        is_label = first.kind == "item" and _ends_open(first.text) and not first.block.children
        lead = first if first.kind == "paragraph" or is_label else None
        run = [] if lead else [first]
        if is_label or lead is None or _introduces(lead):
            while at < len(nodes) and _follows(lead or first, run, nodes[at]):
                run.append(nodes[at])
                at += 1
        yield lead, run


def _follows(first: _Node, run: Sequence[_Node], node: _Node) -> bool:
    """Return whether a node belongs to the list that begins with, or is introduced by, another."""
    if not run:
        is_lead = node.kind == "paragraph" and _introduces(node)
        return (first.kind == "paragraph" and not is_lead) or (
            node.kind == "item" and not _ends_open(node.text)
        )
    same = run[0].kind == node.kind and run[0].block.ordered == node.block.ordered
    return node.kind == "item" and same and (bool(node.block.children) or not _ends_open(node.text))


def _is_block(heads: tuple[str, ...], nodes: Sequence[_Node]) -> bool:
    """Return whether a section is one statement: fields, steps, or a list about one thing."""
    items = [n for n in nodes if n.kind == "item"]
    total = sum(len(n.text) for n in nodes)
    if len(nodes) < 2 or total > WHOLE_LENGTH or _are_apart(nodes):
        return False
    signs = patterns().sentences
    bans = sum(signs["ban"].search(n.text) is not None for n in nodes)
    if all(map(_is_labelled, nodes)):
        return 2 * bans < len(nodes) and not any(signs["corrects"].search(n.text) for n in nodes)
    above = heads[-1:] if heads and heading_kind(heads[-1]) in _RECORDS else ()
    if _is_whole(nodes[0] if nodes[0].kind == "paragraph" else None, items, above) and (
        len(nodes) - len(items) == (nodes[0].kind == "paragraph")
    ):
        return True
    rows = [_bare(n.text) for n in items]
    fields = sum(bool(field_of(row)[0]) or _MAPPING.search(row) is not None for row in rows)
    if fields == len(nodes) and total <= FIELDS_LENGTH:
        return True
    others = [n for n in nodes[1:] if n.kind != "item"]
    others = [n for n in others if _introduces(n) or filled(n.text.split("\n"))]
    others += [n for n in items[1:] if _ends_open(n.text) and not n.block.children]
    is_list = not others and nodes[0].kind in ("item", "paragraph")
    if not is_list or not _names_a_thing(heads):
        return False
    clauses = not (fields or _needs_items(heads[-1]))
    return not _are_sentences_each(items, clauses=clauses)


def _needs_items(heading: str) -> bool:
    """Return whether a heading is a lead-in or negates what is below it: `What not to promise:`."""
    words = (word.strip(_MARKS + ":,.") for word in heading.lower().split())
    return _ends_open(heading) or not _negations().isdisjoint(words)


@cache
def _negations() -> frozenset[str]:
    return frozenset(entries("marks", "negation"))


def _is_whole(
    lead: _Node | None, run: Sequence[_Node], heads: tuple[str, ...], *, labelled: bool = False
) -> bool:
    """Return whether a list is one statement with the node, or the label, that introduces it."""
    nodes = [*filter(None, (lead,)), *run]
    total = sum(len(n.text) for n in nodes)
    if len(nodes) < 2 or not run or total > WHOLE_LENGTH or _are_apart(run):
        return False
    is_record = lead is None and bool(heads) and heading_kind(heads[-1]) in _RECORDS
    if _are_steps(run) and len(run) > 1 and not is_record:
        return lead is None or _introduces(lead) or lead.kind == "item"
    if lead is not None and (_introduces(lead) or lead.kind == "item"):
        is_plain = total <= CARD_LENGTH or run[0].kind != "item" or is_negative(lead.text)
        return is_plain or not _are_sentences_each(run)
    is_list = all(n.kind == "item" for n in run) and not _are_sentences_each(run)
    is_headed = labelled or _names_a_thing(heads)
    return is_list and (lead is not None or (is_headed and len(run) > 1))


def _are_apart(nodes: Sequence[_Node]) -> bool:
    """Return whether some nodes are tasks or dated entries."""
    return any(n.block.task or _STAMP.match(_bare(n.text)) for n in nodes)


def _are_steps(nodes: Sequence[_Node]) -> bool:
    items = [n for n in nodes if n.kind == "item"]
    return bool(items) and all(n.block.ordered for n in items)


def _are_sentences_each(items: Sequence[_Node], *, clauses: bool = True) -> bool:
    """Return whether at least half of some list items are statements that need no list."""
    return 2 * sum(_stands_alone(n.text, clauses=clauses) for n in items) >= len(items)


def _stands_alone(text: str, *, clauses: bool = True) -> bool:
    """Return whether a list item says something without its list: a sentence, or a long text.

    With `clauses`, a sentence needs no full stop.
    """
    bare = _bare(text)
    if bare[:1].islower():
        return False
    first = bare.partition("\n")[0]
    is_sentence = _is_sentence(first) or (clauses and _is_clause(first))
    return is_sentence or width(bare) >= (SHORT_RULE if _states(bare) else LONG_ITEM)


def _is_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return text.rstrip(_MARKS + ')"”’`').endswith(SENTENCE_ENDS)


def _is_clause(line: str) -> bool:
    """Return whether a line without a full stop has a subject and a verb.

    Tables name frequent verbs. In a script without capitals and without a table, words are counted.
    """
    head = _CLAUSE_END.split(line, maxsplit=1)[0]
    if patterns().sentences["refers"].match(head):
        return False
    words = [word.strip("*_`\"'“”’.,;") for word in head.lower().split()]
    if _WIDE.search(head):
        return width(head) >= CLAUSE_WIDTH and any(verb in head for verb in _verbs())
    if head.lower() == head.upper() and any(map(str.isalpha, head)):
        return len(words) >= CLAUSE_WORDS or (len(words) == 1 and width(head) >= CLAUSE_WIDTH)
    pairs = pairwise(word.replace("’", "'") for word in words[: CLAUSE_REACH + 1])
    return len(words) >= CLAUSE_WORDS and any(
        verb in _verbs() and before not in _RELATIVE for before, verb in pairs
    )


@cache
def _verbs() -> frozenset[str]:
    return frozenset(entries("sentences", "verbs"))


_RECORDS = ("decision", "preference", "lesson")
"""Kinds of sections whose numbered items are statements, and no steps."""
CLAUSE_WORDS, CLAUSE_WIDTH, CLAUSE_REACH = 3, 12, 5
"""Minimum words of a clause, its minimum width in scripts without blanks, and the most words
before its verb."""
_CLAUSE_END = regex(r"[(:：;]|\s[–—-]\s")
_RELATIVE = frozenset(("that", "which", "who", "what", "where", "how"))
"""Words before a verb that only describes the noun in front of them."""


def _is_labelled(node: _Node) -> bool:
    """Return whether a node is a short field with a bold label."""
    text = _bare(node.text)
    key = field_of(text)[0]
    is_bold = text.startswith(("**", "__")) and 0 < len(key) <= LABEL_LENGTH
    return is_bold and len(text) <= LABELLED_LENGTH and not node.block.children


def _joins(fields: Sequence[_Node], node: _Node) -> bool:
    """Return whether a node is another field that still fits into a card with other fields."""
    keys = {field_of(_bare(other.text))[0] for other in fields}
    total = sum(len(n.text) for n in (*fields, node))
    is_other = field_of(_bare(node.text))[0] not in keys
    return is_other and _is_entry(fields, node) and total <= FIELDS_LENGTH and not node.block.task


def _is_entry(fields: Sequence[_Node], node: _Node) -> bool:
    """Return whether a node is a short field, or one of a card that begins with a name."""
    if node.kind != "item" or node.block.children:
        return False
    first = field_of(_bare((fields[0] if fields else node).text))[0].lower()
    is_card = first in patterns().names and _is_labelled(node)
    return is_card or is_field(_bare(node.text))


def _unset(line: str) -> bool:
    """Return whether a line is a field without a value, or only about the file of its section."""
    bare = _bare(line).strip()
    key, value = field_of(bare)
    signs = patterns().sentences
    is_date = _ITALIC.match(bare) or (len(bare) <= FIELD_LENGTH and signs["meta"].match(bare))
    if is_date and find_date(bare):
        return True
    plain = value.strip(_MARKS + "()[]<>.…?-–—").lower()
    is_unset = bool(key) and (not any(map(str.isalnum, plain)) or plain in patterns().unset)
    return is_unset or _ASIDE.match(value or bare.strip(_MARKS)) is not None


def _is_shipped(line: str) -> bool:
    """Return whether a line is prose from a template that many workspaces share."""
    is_prose = not (_MARKER.match(line) or _ends_open(line) or field_of(line)[0])
    return is_prose and line_hash(line) in weights().templates


def _states(text: str) -> bool:
    """Return whether a text states a preference, a decision, a rule or a finished task."""
    signs, kinds = patterns().sentences, ("ban", "preference", "decision", "rule", "done")
    return any(signs[kind].search(text) for kind in kinds)


def _names_a_thing(heads: tuple[str, ...]) -> bool:
    """Return whether the innermost heading names a thing, and not what its lines are, or a time."""
    if len(heads) < 2 or is_time_heading(heads[-1]) or find_clock(heads[-1]):
        return False
    return heading_kind(heads[-1]) in ("", "reference", "project", "person")


CONTEXT_LENGTH, PART_LENGTH = 240, 80


def spelled_context(names: Iterable[str]) -> str:
    """Join the file and heading names above a text, outermost first, without repetitions."""
    parts: list[str] = []
    seen = ""
    for part in names:
        plain = " ".join(visible(part).replace("**", "").split())[:PART_LENGTH]
        words = normalise(plain.removesuffix(".md"))
        if plain and words and words not in seen and not plain.endswith((".", "!", "。")):
            parts.append(plain)
            seen += f" {words} "
    return " › ".join(parts)[:CONTEXT_LENGTH]
