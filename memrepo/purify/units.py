"""From a source file to units: what a run may promote, each with its lines and context.

Rules by file name (memory-purifier, candidate extraction, widened to bullets): `PROCEDURES.md` one
unit for each second-level section, `episodes/*.md` one for the file, everything else list items,
table rows and paragraphs. A file whose header has name, description and type is one memory that an
agent wrote: its description first, its body as detail. Numbered steps are one unit, and so is a
list of a few words an item. A unit is identified by its words and file, never by line or heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.core import header as headers
from memrepo.core.ids import digest, normal_claim, normalise, strip_marker, text_hash
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.purify.dates import DateBasis, date_of_path, date_unit, find_date, is_time_heading
from memrepo.purify.lines import SourceLines
from memrepo.purify.sources import is_episode, is_procedures

if TYPE_CHECKING:
    from memrepo.purify.markdown import Block, Document, Task

UnitKind = Literal[
    "bullet", "list", "table", "row", "paragraph", "steps", "section", "document", "memory"
]

MAX_TEXT = 20_000
SHORT = 10
"""A text of fewer characters is kept only where a key or its place says what it means."""
INTRO_LENGTH = 120
NAME = 24
"""Characters of an item that only names something: "bees", "slow food"."""
TERSE, TERSE_MOST = 30, 45
"""Characters of the middle and of the longest item of a list that is one line."""
LINE_LENGTH = 360
"""Characters of a list that is one line."""
BRIEF, BRIEF_MOST = 60, 120
"""The same of a list or table that is one unit, an item a line."""
CARD, CARD_KEY, CARD_MOST = 8, 24, 240
"""Items of a card, a list that says several things of one; characters of a key, of an item."""
BELOW_LENGTH = 900
"""Characters of a list, or of what stands below an item, that is one unit."""
ALIKE = 0.6
"""The least share of common words of neighbours that say one thing of several."""
LEADS = 3
"""Of what a unit stands under, so many of the innermost are said before it."""
REPEATED = 0.75
"""The same where the words that both stand under count as said by both."""
CATALOGUE = 8
"""A profile's table of more rows is one unit: it lists what is looked up, and nobody's things."""
DETAIL_LENGTH = 2000
"""Characters of the detail that stays with its statement; a longer body is several units."""

OPENING = 360
"""Characters of the paragraph that says what a section is about."""
ESSAY_PARTS, ESSAY_DEEP, ESSAY_SHARE = 3, 4, 0.4
"""Second-level headings of a file that is a design, an article or a report, deeper ones, and their
share of all."""

_BOLD_LEAD = regex(r"(?P<mark>\*\*|__)(?P<key>[^*\n]{1,200}?)(?P<inside>[:\uff1a]?)(?P=mark)")
_COLON = regex(r"[ \t]*[:\uff1a]")
_PROMOTED = regex(r"\[score=[^\[\]\n]{0,300}source=[^\[\]\n]{1,500}\]$")


class Unit(msgspec.Struct, frozen=True, kw_only=True):
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
    from memrepo.purify.markdown import parse_document  # a run with nothing new parses nothing

    document = parse_document(resource, data)
    work = _Work(resource=resource)
    header = _memory_header(resource, data)
    if header is not None:
        work.add_memory(document, header)
    elif is_episode(resource):
        work.add_document(document)
    elif is_procedures(resource):
        work.add_sections(document)
    elif _is_essay(resource, document.blocks):
        work.add_essay(document.blocks)
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


class _MemoryHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What the header of an agent's memory file says, and its last line."""

    name: str
    description: str
    hint: str
    last: int


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
    about: str = ""
    hint: str = ""
    named: bool = False
    dropped: int = 0
    managed: int = 0

    def add_memory(self, document: Document, header: _MemoryHeader) -> None:
        """Take an agent's memory file whole; a long one is its description and several units."""
        self.about, self.hint = header.name, header.hint
        count = document.source.count
        body = _body(document.source, set())
        if len(body) <= DETAIL_LENGTH:
            text = f"{header.description}\n\n{body}" if body else header.description
            self._add("memory", text, (1, count), (), detail=body)
            return
        self._add("memory", header.description, (1, header.last), ())
        self.add_blocks(document.blocks)

    def add_blocks(self, blocks: Sequence[Block]) -> None:
        """Take list items, table rows and paragraphs under the headings before them."""
        under: tuple[str, ...] = ()
        told = 0
        items, tables = _lists(blocks), _tables(blocks)
        lists = {number: run for number, run in items.items() if _may_be_one(run)}
        alike: dict[int, tuple[Block, ...]] = {}
        defined = _defined(blocks)
        for at, (block, headings, following) in enumerate(_walk(blocks)):
            match block.kind:
                case "paragraph":
                    owner = _owner(block.text) if _is_listed(blocks[at + 1 : at + 3]) else ""
                    under = (owner,) if owner else ()
                    if under and not only_introduces(block.text):
                        run = lists.get(blocks[at + 1].list, ())
                        if block.text.endswith(_COLONS) and self._is_one(run, headings, under):
                            self._add_with_list(block, run, headings)
                            told = run[0].list
                            continue
                    if at and self._goes_on(blocks[at - 1], block):
                        self._add_to_last(block, headings)
                    elif not (under and only_introduces(block.text)):
                        self._add_paragraph(block, headings)
                case "item" if block.list == told:
                    continue
                case "item":
                    run = lists.get(block.list, ())
                    if block is items[block.list][0]:
                        alike |= self._alike(items[block.list], (*headings, *under))
                    if _are_steps(run, headings, under):
                        if block is run[0]:
                            self._add_steps(run, headings, under)
                    elif (under or len(headings) > 1) and self._is_one(run, headings, under):
                        if block is run[0]:
                            self._add_list(run, headings, under)
                    elif (rows := alike.get(block.lines[0])) and (under or headings):
                        if block is rows[0]:
                            self._add_list(rows, headings, under)
                    else:
                        named = defined.get(block.list, "")
                        inner = (*under, named) if named not in block.text else under
                        self._add_item(block, headings, inner)
                case "row" if (rows := tables.get(block.lines[0])) and self._is_table(rows):
                    if block is rows[0]:
                        self._add_table(rows, headings, under)
                case "row" if rows := self._rows_alike(blocks, at, (*headings, *under), alike):
                    if block is rows[0]:
                        self._add_table(rows, headings, under)
                case "row":
                    inner = (*under, block.lead) if _names_row(block) else under
                    self._add("row", block.text, block.lines, headings, inner)
                case "heading" | "comment":
                    under = ()
                case "other" if following is None or following.kind != "row":
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

    def add_essay(self, blocks: Sequence[Block]) -> None:
        """Take the sections of a design, an article or a report: a line of one says little alone.

        A section is one unit, a long one as few as hold it.
        """
        from memrepo.purify.essays import sections, statements

        self.named = True
        for above, run in sections(blocks):
            if statements(run) > 1:
                self._add_section(run, tuple(block.text for block in above))
            else:
                self.add_blocks([*above, *run])

    def _add_section(self, run: Sequence[Block], headings: tuple[str, ...]) -> None:
        """Take a section: its first paragraph is what it says, and the rest explains that."""
        from memrepo.purify.essays import spelled

        first, lines = run[0], (run[0].lines[0], _last_line(run[-1]))
        opens = first.kind == "paragraph" and not first.text.endswith(_COLONS)
        opens = opens and width(first.text) <= OPENING
        detail = "\n".join(spelled(run[opens:]))
        text = f"{first.text}\n{detail}" if opens else detail
        self._add("section", text, lines, headings, detail=detail)

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
        if not self.named and (named := SELF_NAMED.match(block.text)):
            self.about = self.about or named["name"]
        rows = _leads(block)
        lengths = [width(text) for text, _ in rows]
        card = max(lengths) <= BRIEF_MOST and sum(lengths) <= BELOW_LENGTH
        if card and len(rows) > 1 and headings and not self._is_profile():
            text = "\n".join(f"- {strip_marker(row)}" for row, _ in rows)
            self._add("list", text, block.lines, headings, detail=text)
            return
        for text, lines in rows:
            self._add("paragraph", text, lines, headings, detail=_below_title(text))

    def _goes_on(self, last: Block, block: Block) -> bool:
        """Tell whether a paragraph only refers to what is right before it, a unit to its end."""
        if last.kind not in ("paragraph", "item") or not _refers_back(block.text):
            return False
        whole = bool(self.units) and self.units[-1].lines[1] == last.lines[1]
        return whole and width(self.units[-1].text) + width(block.text) <= DETAIL_LENGTH // 2

    def _add_to_last(self, block: Block, headings: tuple[str, ...]) -> None:
        """Take a paragraph into the unit before it."""
        last = self.units.pop()
        lines = (last.lines[0], block.lines[1])
        text = f"{last.text}\n{block.text}"
        detail = f"{last.detail}\n{block.text}" if last.detail else ""
        self._add(last.kind, text, lines, headings, last.parents, task=last.task, detail=detail)

    def _add_with_list(self, block: Block, run: Sequence[Block], headings: tuple[str, ...]) -> None:
        """Take a paragraph with the list that ends its sentence."""
        detail = "\n".join(bullets(run))
        lines = (block.lines[0], _last_line(run[-1]))
        self._add("paragraph", f"{block.text}\n{detail}", lines, headings, detail=detail)

    def _add_item(self, block: Block, headings: tuple[str, ...], parents: tuple[str, ...]) -> None:
        if _explained(block):
            detail = "\n".join(bullets(block.children))
            text, lines = f"{block.text}\n{detail}", (block.lines[0], _last_line(block))
            self._add("bullet", text, lines, headings, parents, task=block.task, detail=detail)
            return
        if not (block.children and only_introduces(block.text)):
            self._add("bullet", block.text, block.lines, headings, parents, task=block.task)
        inner = (*parents, block.text) if has_words(block.text) else parents
        if _are_steps(block.children, (), (block.text,)):
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
        text = "\n".join(_numbered(run))
        lines = (run[0].lines[0], _last_line(run[-1]))
        self._add("steps", text, lines, headings, parents, detail=text)

    def _add_list(
        self, run: Sequence[Block], headings: tuple[str, ...], parents: tuple[str, ...]
    ) -> None:
        """Take a list of a few words an item as one unit: alone none of them says anything."""
        lines = (run[0].lines[0], run[-1].lines[1])
        if _is_terse(run):
            self._add("list", "\n".join(block.text for block in run), lines, headings, parents)
            return
        text = "\n".join(bullets(run))
        lines = (lines[0], _last_line(run[-1]))
        self._add("list", text, lines, headings, parents, detail=text)

    def _is_one(
        self, run: Sequence[Block], headings: tuple[str, ...], under: tuple[str, ...]
    ) -> bool:
        """Tell whether the items of a list say something together only.

        What a memory or a profile says in its sections changes line by line and stays apart, and
        so does what happened on a day.
        """
        if any(map(is_time_heading, (*headings, *under)[-1:])):
            return False
        if _is_terse(run):
            apart = self._is_profile() or self._is_log()
            return not apart or all(width(block.text) <= NAME for block in run)
        if not self._is_profile() and _is_card(run):
            return True
        if not _is_brief(run):
            return False
        if self._is_log():
            return all(_HAS_KEY.search(block.text) for block in run)
        if not self._is_profile():
            return True
        short = all(width(block.text) <= BRIEF for block in run)
        apart = any(_OPENS_WITH_KEY.match(strip_marker(block.text)) for block in run)
        return bool(under or len(headings) > 2) and short and not apart

    def _alike(self, items: Sequence[Block], above: Sequence[str]) -> dict[int, tuple[Block, ...]]:
        """Return by line the neighbours that differ little, as one run.

        In a profile only what is nothing but code joins: each of its lines may change by itself.
        """
        return _alike(items, above[-LEADS:], code=self._is_profile())

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
            if all(_is_technical(block) for block in rows) and _alike(rows, above[-LEADS:]):
                alike |= {block.lines[0]: rows for block in rows}
        return alike.get(blocks[at].lines[0], ())

    def _is_profile(self) -> bool:
        return self.resource.rsplit("/", 1)[-1] in _PROFILES

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
        self._add("table", text, lines, headings, parents, detail=text)

    def _add(
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
        said = text.removesuffix(detail).rstrip()
        key, value = bold_lead(said) if kind in ("bullet", "paragraph") else ("", "")
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


_END = 10**9
_COLONS = (":", "\uff1a", ":**", "\uff1a**", "**:", "**\uff1a", ":__")


def only_introduces(text: str) -> bool:
    """Tell whether a text says nothing but that something follows."""
    only = text.endswith(_COLONS) or _BOLD_ONLY.fullmatch(text) is not None
    return only and "\n" not in text and len(text) <= INTRO_LENGTH


_BOLD_ONLY = regex(r"\*\*[^*\n]+\*\*|__[^_\n]+__")


def _is_listed(following: Sequence[Block]) -> bool:
    """Tell whether a list or a table follows; its header is a block without text."""
    kinds = [block.kind for block in following]
    return kinds[:1] == ["item"] or kinds[:2] == ["other", "row"]


def _owner(text: str) -> str:
    """Return what a line says that owns the list or table below it, or an empty string.

    Such a line ends in a colon, or it opens with a short bold lead: `**Acme** - notes`.
    """
    if text.endswith(_COLONS):
        return text
    match = _OWNING_LEAD.match(text)
    return match["key"] if match and "\n" not in text and len(text) <= INTRO_LENGTH else ""


_OWNING_LEAD = regex(
    r"(?:\*\*|__)(?P<key>[^*\n]{1,80}?)[:\uff1a]?(?:\*\*|__)[:\uff1a]?(?:[ \t(—–-]|$)"
)
_STEPS = regex(
    r"(?<!next )(?<![\w-])(?:steps?|workflow|how[ -]to|procedures?|process|protocol|checklist"
    r"|routine|flow|schritte|ablauf|abläufe|anleitung(?:en)?|vorgehen|pasos|procedimientos?|flujos?"
    r"|étapes|procédures?|marche à suivre|passos|procedimentos?|fluxos?"
    r"|passaggi|procedura|stappen|werkwijze|шаги|порядок|инструкци[яи]|процедур[аы])\b|步骤|流程|协议|手順|流れ|절차|순서|워크플로"
    r"|^\W*(?:when(?:ever)?|before|after|to|wenn|cuando|al|quand|pour|quando|para|при|когда|чтобы)\s",
    re.IGNORECASE,
)
_CHECKLIST = regex(
    r"\b(?:checklists?|steps|routine|sequence|checkliste|ablauf|schritte|lista de verificaci[oó]n"
    r"|pasos|rutina|secuencia|lista de verificação|passos|rotina|sequência|étapes|routine|contrôle"
    r"|чек-?лист|шаги|порядок)\b|清单|步骤|流程|チェックリスト|手順|체크리스트|절차",
    re.IGNORECASE,
)
_ORDINAL = regex(r"[#№]?\d[\d.,:/-]*")


def _lists(blocks: Sequence[Block]) -> dict[int, tuple[Block, ...]]:
    """Return the items of each list, by the list's number."""
    lists: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "item":
            lists.setdefault(block.list, []).append(block)
    return {number: tuple(run) for number, run in lists.items()}


def _defined(blocks: Sequence[Block]) -> dict[int, str]:
    """Return by list what its first item says the rest is about: `Orchard is a web shop ...`."""
    first: dict[int, Block] = {}
    for block in blocks:
        if block.kind == "item":
            first.setdefault(block.list, block)
    found = {number: _DEFINES.match(block.text) for number, block in first.items()}
    return {number: match["name"] for number, match in found.items() if match}


_DEFINES = regex(
    r"(?:\*\*)?(?P<name>[^\W\d_a-z][\w.'’-]*(?: [^\W\d_a-z][\w.'’-]*){0,3})(?:\*\*)?"
    r" (?:is an?|ist eine?|es una?|é uma?|est une?|— это|это) (?:[\w.'’-]+,? ){0,5}?"
    r"(?i:system|tool|app|application|project|platform|service|library|framework|agent|bot|website"
    r"|site|repository|package|plugin|cli|api|server|game|company|startup|shop|product|sistema"
    r"|herramienta|ferramenta|aplicación|aplicativo|proyecto|projeto|plataforma|servicio|serviço"
    r"|empresa|système|outil|projet|plateforme|entreprise|werkzeug|projekt|plattform|dienst|firma"
    r"|система|инструмент|проект|платформа|сервис|приложение|компания)\b"
)
"""A sentence that says what a thing is; the lines after it are about that thing."""


def _may_be_one(run: Sequence[Block]) -> bool:
    ticked = any(block.task == "done" for block in run)
    return not ticked and len(run) > 1 and sum(len(block.text) for block in run) <= DETAIL_LENGTH


def _are_steps(run: Sequence[Block], headings: tuple[str, ...], under: tuple[str, ...]) -> bool:
    """Tell whether a list is one procedure: the heading or the line above a numbered one says so.

    Boxes to be ticked are steps where a heading says so, else they are what is to be done.
    """
    if not run or any(bold_lead(block.text)[0] for block in run):
        return False
    if run[0].ordered and not run[0].task:
        return any(_STEPS.search(text) for text in (*headings[-1:], *under))
    boxes = all(block.task == "open" for block in run)
    return boxes and any(_CHECKLIST.search(text) for text in (*headings, *under))


def _is_terse(run: Sequence[Block]) -> bool:
    """Tell whether the items of a list have but a few words each, and are no sentences."""
    if not _may_be_one(run) or any(b.children or b.task or "\n" in b.text for b in run):
        return False
    if any(block.text.endswith(_STOPS) or _HAS_KEY.search(block.text) for block in run):
        return False
    lengths = sorted(width(block.text) for block in run)
    return (
        lengths[-1] <= TERSE_MOST
        and lengths[len(lengths) // 2] <= TERSE
        and sum(lengths) <= LINE_LENGTH
    )


def _is_brief(run: Sequence[Block]) -> bool:
    """Tell whether the items of a list are parts of one thing and no statements of their own."""
    rows = [row for block in run for row in (block, *_below(block))]
    if len(rows) < 2 or any(row.task or "\n" in row.text for row in rows):
        return False
    stops = sum(block.text.endswith(_STOPS[:2]) and width(block.text) > TERSE for block in rows)
    lengths = sorted(width(block.text) for block in rows)
    brief = lengths[-1] <= BRIEF_MOST and lengths[len(lengths) // 2] <= BRIEF
    return brief and not stops and sum(lengths) <= BELOW_LENGTH


_LONG_LINK = regex(r"://\S{100}")


def _is_card(run: Sequence[Block]) -> bool:
    """Tell whether a list says several things of one: each item has a key of its own."""
    keys = [_key_of(block.text) for block in run]
    lengths = [width(block.text) for block in run]
    return (
        1 < len(run) <= CARD
        and not any(block.children or block.task or "\n" in block.text for block in run)
        and not any(_LONG_LINK.search(block.text) for block in run)
        and len(set(keys)) == len(keys)
        and all(0 < width(key) <= CARD_KEY for key in keys)
        and max(lengths) <= CARD_MOST
        and sum(lengths) <= BELOW_LENGTH
    )


_PLAIN_KEY = regex(r"([^\W_][^:\uff1a\n]{0,40})(?::(?=\s)|\uff1a)")


def _key_of(text: str) -> str:
    """Return the key that an item opens with, bold or plain, or an empty string."""
    plain = _PLAIN_KEY.match(text)
    return bold_lead(text)[0] or (plain[1].strip() if plain else "")


def _is_essay(resource: str, blocks: Sequence[Block]) -> bool:
    """Tell whether a file is by its shape a design, an article or a report: sections in sections.

    A profile and a day's log are none however they are cut.
    """
    if resource.rsplit("/", 1)[-1] in _PROFILES or date_of_path(resource):
        return False
    levels = [block.level for block in blocks if block.kind == "heading"]
    deep = sum(level > 2 for level in levels)
    return levels.count(2) >= ESSAY_PARTS and deep >= max(ESSAY_DEEP, ESSAY_SHARE * len(levels))


def _alike(
    items: Sequence[Block], above: Iterable[str], *, code: bool = False
) -> dict[int, tuple[Block, ...]]:
    """Return by line the neighbours in a list that differ in a word or two, as one run.

    So do those that say less than what they all stand under: told apart, each says that again.
    Sentences stay apart, but for those of two keys: one may be what the other was before. What is
    nothing but code names things and joins; with `code` nothing else does.
    """
    runs: list[list[Block]] = []
    words: frozenset[str] = frozenset()
    shared, key, text = frozenset(_WORD.findall(" ".join(above).casefold())), "", ""
    for block in items:
        said, last = block.brief or block.text, text
        plain = not (block.children or block.task or _is_long(said))
        key, before = _key_of(said.lstrip("`")), key
        plain = plain and (not said.endswith(_STOPS) or key not in ("", before))
        own = frozenset(_WORD.findall(said.casefold())) if plain else frozenset()
        text = normalise(said)
        joins = bool(runs) and runs[-1][-1].list == block.list and text != last
        refers = joins and _refers_back(said) and not (runs[-1][-1].children or block.children)
        listed = _ONLY_CODE.fullmatch(text) and _ONLY_CODE.fullmatch(last)
        differ_little = not code and _differ_little(own, words, shared)
        if refers or (joins and own and words and (listed or differ_little)):
            runs[-1].append(block)
        else:
            runs.append([block])
        words = own
    return {
        block.lines[0]: tuple(run)
        for run in runs
        if len(run) > 1 and sum(width(b.text) for b in run) <= DETAIL_LENGTH
        for block in run
    }


def _refers_back(text: str) -> bool:
    """Tell whether a text opens with a word for what was said before: "This was ...", "Isso ...".

    Alone it says nothing of anything.
    """
    return _REFERS.match(text) is not None


_REFERS = regex(
    r"\W*(?:(?:This|That|These|Those|It|They)\s+(?:also\s+)?(?:is|are|was|were|has|have|had|will|would"
    r"|can|could|should|may|must|do|does|did|mean|include|apply|[a-z]{2,}(?:ed|[^su'’]s)"
    r"|(?:rule|permission|fix|change|decision|approach) (?:is|was|has|applies))\b"
    r"|(?:Esto|Eso|Ello|Isto|Isso|Ceci|Cela|Ça|C['’]est|Dies|Ciò|Dit is|Dat is)\b"
    r"|(?:Das|Questo) (?:ist|war|gilt|heißt|bedeutet|è|era|vale)\b"
    r"|Это (?:правило|значит|позволяет)\b"
    r"|这(?:是|让|意味|已|说明|样)|(?:これ|それ)(?:は|が|により|で)|(?:이것|그것)은|이는)"
)
_ONLY_CODE = regex(r"`[^`\n]+`")
_TECHNICAL = regex(r"`|[a-z\d]\.[a-z\d]|^[\W_]*none[\W_]*$", re.IGNORECASE)
_DIGITS = regex(r"\d+")


def _is_technical(row: Block) -> bool:
    """Tell whether a row of two cells opens with code, a file or an address: no person."""
    return _TECHNICAL.search(row.lead) is not None and " – " not in row.brief


def _is_long(text: str) -> bool:
    return "\n" in text and width(text) > BRIEF_MOST


def _numberless(words: Iterable[str]) -> frozenset[str]:
    """Return words of which those that differ in a number only are one: S03 and S04."""
    return frozenset(_DIGITS.sub("0", word) for word in words)


def _differ_little(one: frozenset[str], other: frozenset[str], shared: frozenset[str]) -> bool:
    told = one | other | shared
    if len((one & other) | shared) >= REPEATED * len(told):
        return True
    one, other = _numberless(one), _numberless(other)
    return len(one & other) >= ALIKE * len(one | other)


def _explained(block: Block) -> bool:
    """Tell whether what stands below an item only goes on with what the item says."""
    if not block.children or only_introduces(block.text) or width(block.text) < TERSE:
        return False
    below = list(_below(block))
    if any(child.task for child in below):
        return False
    lengths = [width(child.text) for child in below]
    return max(lengths) <= 2 * BRIEF_MOST and sum(lengths) <= BELOW_LENGTH


def _below(block: Block) -> Iterator[Block]:
    for child in block.children:
        yield child
        yield from _below(child)


def _tables(blocks: Sequence[Block]) -> dict[int, tuple[Block, ...]]:
    """Return by line the rows of each table that is one unit: its rows are no statements."""
    found: list[list[Block]] = []
    for at, block in enumerate(blocks):
        if block.kind == "row":
            if at and blocks[at - 1].kind == "row":
                found[-1].append(block)
            else:
                found.append([block])
    whole = [tuple(run) for run in found if _is_one_table(run)]
    return {row.lines[0]: run for run in whole for row in run}


def _is_one_table(run: Sequence[Block]) -> bool:
    lengths = sorted(width(block.brief) for block in run)
    return len(run) > 1 and lengths[len(run) // 2] <= 2 * BRIEF_MOST


_PROFILES = ("MEMORY.md", "USER.md", "IDENTITY.md", "TOOLS.md")
_STOPS = (".", "。", "!", "?", "\uff01", "\uff1f")


def width(text: str) -> int:
    """Return about how much a text says: a wide character is half a word."""
    return sum(3 if ord(ch) >= 0x2E80 else 1 for ch in text)


_WORD = regex(r"[^\W_]+")
_OPENS_WITH_KEY = regex(
    r"(?:\*\*|__)?[^\W_][^:\uff1a\n]{0,40}?(?:\*\*|__)?[:\uff1a](?!//)(?=\s|\W\W|[^\x00-\x7f])"
)
_HAS_KEY = regex(r"\w\**[:\uff1a=]")


def _numbered(run: Sequence[Block], indent: str = "") -> Iterator[str]:
    """Spell steps with what stands below each, as lines."""
    for number, block in enumerate(run, start=1):
        sign = f"{number}." if block.ordered else "-"
        yield f"{indent}{sign} " + block.text.replace("\n", f"\n{indent}   ")
        yield from _numbered(block.children, indent + "   ")


def bullets(run: Sequence[Block], indent: str = "") -> Iterator[str]:
    """Spell the items of a list with what stands below each, as lines."""
    for block in run:
        yield f"{indent}- " + block.text.replace("\n", f"\n{indent}  ")
        yield from bullets(block.children, indent + "  ")


def _last_line(block: Block) -> int:
    return max((_last_line(child) for child in block.children), default=block.lines[1])


def _names_row(block: Block) -> bool:
    """Tell whether the first cell of a row is what the others are about: no number, no mark."""
    return has_words(block.lead) and not _ORDINAL.fullmatch(block.lead)


def _leads(block: Block) -> list[tuple[str, tuple[int, int]]]:
    """Split a paragraph where several lines open with a bold lead or a date, and the first does."""
    rows = block.text.split("\n")
    first, last = block.lines
    starts = [n for n, row in enumerate(rows) if bold_lead(row)[0] or _DATED_ENTRY.match(row)]
    # Line numbers only fit when no line was taken out of the paragraph.
    if len(starts) < 2 or starts[0] or len(rows) != last - first + 1:
        return [(block.text, block.lines)]
    ends = [*starts[1:], len(rows)]
    return [
        ("\n".join(rows[a:b]).strip(), (first + a, first + b - 1))
        for a, b in zip(starts, ends, strict=True)
    ]


_DATED_ENTRY = regex(r"(?:[*_\[(]{0,3})\d{4}-\d{2}-\d{2}\b")


_TITLE_LINE = regex(r"(?:\*\*[^*\n]{8,200}\*\*|__[^_\n]{8,200}__)(?:[ \t]*\[[^\]\n]*\])*[ \t]*\n")
SELF_NAMED = regex(
    r"(?:\*\*)?(?:I am|I['’]m|My name is|Ich bin|Soy|Me llamo|Eu sou|Meu nome é|Je suis"
    r"|Je m['’]appelle|Я|Меня зовут|我是|我叫|私は)\s?(?:\*\*)?(?P<name>[^\W\d_][\w-]{1,30})"
    r"(?=\*|[,.。\uff0c]| [-–—]|です|$)"
)


def _below_title(text: str) -> str:
    """Return what stands below the bold first line of a paragraph: it only explains the title."""
    match = _TITLE_LINE.match(text)
    rest = text[match.end() :].strip() if match else ""
    return rest if has_words(rest) and len(rest) <= DETAIL_LENGTH else ""


def _lines_of(block: Block) -> range:
    return range(block.lines[0], block.lines[1] + 1)


def _body(source: SourceLines, left_out: set[int]) -> str:
    kept = (line.rstrip() for n, line in source.visible(1, source.count) if n not in left_out)
    return "\n".join(kept).strip()
