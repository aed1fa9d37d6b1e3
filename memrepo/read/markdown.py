"""Parse markdown into blocks with line numbers, using mistune's block parser.

mistune reports no line numbers, but its block state has a character offset. Every nested list item
is parsed again from a text with one line per source line. A state that stores the number of its
first line can therefore number every block.

This depends on `parse_method`, `child_state` and the order of calls in the list parser. Hence the
pin `mistune>=3.4,<4` and the tests against line numbers counted by hand. The text inside quotes is
not parsed, and link definitions are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, cast

import msgspec
from mistune.block_parser import BlockParser
from mistune.core import BlockState

from memrepo.core.errors import Problem
from memrepo.core.patterns import regex, without_comments
from memrepo.read.documents import SourceLines, Task, read_lines, remove_struck

BlockKind = Literal["heading", "paragraph", "item", "row", "comment", "rule", "other"]

_QUOTED = regex(r" {0,3}>")
_BARE_MARKER = regex(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[^\S\n]*(?:\n|$)")
_TASK = regex(r"\[([ xX])\](?:[ \t]+|$)")
_BULLET_SIGN = regex(
    r"^(?P<indent>[ \t]*)(?:[•◦▪‣](?=[ \t])|§(?=[ \t]+[^\W\d])"
    r"|(?:[・･●○■◆◇▶►]|(?P<number>[①-⑳]))(?![・･●○■◆◇▶►\ufe0f])[ \t\u3000]*(?=\S))"
)
"""A sign that people write before an item instead of markdown's hyphen or number."""
_SENTENCE_END = (".", "!", "?", ":", ",", ";", "。", "!", "?")
_TITLE_LENGTH = 100
_UNDERLINE = 3
_TABLE = (
    r"^ {0,3}(?=[^\n|]*\|)[^\n]*\n"
    r" {0,3}(?=[^\n|]*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|$)"
)
_CELL_END = regex(r"(?<!\\)\|")
_ROW_BREAKS = ["fenced_code", "atx_heading", "thematic_break", "block_quote", "list", "raw_html"]
_TEXTLESS: dict[str, BlockKind] = {"comment": "comment", "thematic_break": "rule"}
_OPENING_HTML = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A block of a markdown file, with the numbers of its first and last line, from 1.

    The `text` of an item excludes its marker, its checkbox and its nested items, which are
    `children`. `level` is the level of a heading. `ordered` is whether the items are numbered.
    Rows, comments, rules (`---`) and blocks of kind `other` (code, quotes, HTML) have no text.
    """

    kind: BlockKind
    lines: tuple[int, int]
    text: str = ""
    level: int = 0
    task: Task = ""
    ordered: bool = False
    children: tuple[Block, ...] = ()


class ParsedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed source file: its lines, its top-level blocks in order, and its problems."""

    source: SourceLines
    blocks: tuple[Block, ...] = ()
    problems: tuple[Problem, ...] = ()


def _marker(sign: re.Match[str]) -> str:
    """Return the markdown list marker that replaces a bullet sign such as `・`."""
    number = sign["number"]
    marker = f"{ord(number) - ord('①') + 1}." if number else "-"
    blank = "" if sign[0].endswith(("•", "◦", "▪", "‣", "§")) else " "
    return f"{sign['indent']}{marker}{blank}"


@lru_cache(maxsize=2)
def parse_document(resource: str, data: bytes) -> ParsedFile:
    """Parse a source file into blocks. Never raises.

    A file that is skipped results in a document with one error and no blocks. Lists and quotes
    below the twentieth level are text of that level.
    """
    source = read_lines(resource, data)
    shown = (
        ""
        if n in source.hidden or n in source.unclosed
        else line
        if n in source.fenced
        else _BULLET_SIGN.sub(_marker, remove_struck(line))
        for n, line in enumerate(source.text, start=1)
    )
    parser = _Parser()
    state = _State()
    state.process("\n".join(shown) + "\n")
    parser.parse(state)
    blocks = tuple(_blocks(state))
    swallowed = (
        Problem(
            path=resource,
            line=line,
            rule="source-unclosed",
            severity="warning",
            message=f"{what} is never closed; lines up to {last} are skipped",
            fix="close it",
        )
        for line, last, what in parser.open_ended
    )
    return ParsedFile(source=source, blocks=blocks, problems=(*source.problems, *swallowed))


class _State(BlockState):
    """A state of mistune's parser that also stores the line number where its text starts."""

    def __init__(self, parent: object = None) -> None:
        super().__init__(parent)
        self.first = 1
        self.item_line = 0
        self.items: list[_State] = []
        self._mark = (0, 0)
        self._split: list[str] | None = None

    def line_at(self, position: int) -> int:
        """Return the line number of a character offset. Count from the previous call's offset."""
        offset, line = self._mark
        if position >= offset:
            line += self.src.count("\n", offset, position)
        else:
            line -= self.src.count("\n", position, offset)
        self._mark = (position, line)
        return self.first + line

    @property
    def last(self) -> int:
        """Return the number of the item's last nonblank line."""
        text = self.src.rstrip("\n")
        return self.first + text.count("\n") if text else self.item_line

    def child_state(self, src: str, lazy_line_starts: set[int] | None = None) -> BlockState:
        """Create the state for a list item. The list parser calls this once per item, in order."""
        child = cast("_State", super().child_state(src, lazy_line_starts))
        child.item_line = self.item_line
        # If an item starts with a blank line, mistune omits the line of its marker.
        bare = _BARE_MARKER.match(self.src, self._offset(self.item_line))
        child.first = self.item_line + (bare is not None)
        self.items.append(child)
        # If another item follows, the parser has just read the line of its marker.
        self.item_line = self.line_at(self.cursor - 1)
        return child

    def text_of(self, numbers: Iterable[int]) -> str:
        """Join the lines with the given numbers. Omit trailing blanks and repeated empty lines."""
        if self._split is None:
            self._split = self.src.split("\n")
        rows: list[str] = []
        for number in numbers:
            line = self._split[number - self.first].rstrip()
            if line or (rows and rows[-1]):
                rows.append(line)
        return without_comments("\n".join(rows)).strip()

    def _offset(self, line: int) -> int:
        """Return the character offset of a line, searching from the previous call's offset."""
        offset, current = self._mark
        offset = self.src.rfind("\n", 0, offset) + 1
        while current > line - self.first:
            offset = self.src.rfind("\n", 0, offset - 1) + 1
            current -= 1
        while current < line - self.first:
            offset = self.src.find("\n", offset) + 1
            current += 1
        return offset

    def add_paragraph(self, text: str) -> None:
        """Start a paragraph, or extend the last paragraph by the lines of a text.

        A paragraph is extended only if the text follows it directly. mistune's own method copies
        the whole text on each call.
        """
        end = self.cursor + len(text)
        token = self.last_token()
        if not (token and token["type"] == "paragraph" and token["stop"] == self.cursor):
            token = {"type": "paragraph", "text": "", "line": self.line_at(self.cursor)}
            self.tokens.append(token)
        token["stop"] = end
        token["end"] = self.line_at(max(end - 1, 0))

    def append_paragraph(self) -> int | None:
        """Append the line at the cursor to the paragraph directly before it."""
        token = self.last_token()
        if not (token and token["type"] == "paragraph" and token["stop"] == self.cursor):
            return None
        end = self.find_line_end()
        self.add_paragraph(self.get_text(end))
        return end


class _Parser(BlockParser):
    """A variant of mistune's block parser with tables and line numbers."""

    state_cls = _State

    def __init__(self) -> None:
        rules = [rule for rule in self.DEFAULT_RULES if rule != "ref_link"]
        super().__init__(block_quote_rules=[], list_rules=list(rules))
        self.rules = rules
        self.register("table", _TABLE, _parse_table, before="raw_html")
        self.open_ended: list[tuple[int, int, str]] = []

    def parse_method(self, m: re.Match[str], state: BlockState) -> int | None:
        """Apply a parsing rule, and set the line numbers of the resulting token."""
        ours = cast("_State", state)
        line = ours.line_at(m.start())
        end = super().parse_method(m, state)
        token = state.last_token()
        if end and token and "line" not in token:
            token["line"] = line
            token["end"] = max(line, ours.line_at(end - 1))
        return end

    def parse_list(self, m: re.Match[str], state: BlockState) -> int:
        """Parse a list, and store the state of each item in the token."""
        ours = cast("_State", state)
        known, outer = len(state.tokens), (ours.item_line, ours.items)
        line = ours.line_at(m.start())
        ours.item_line, ours.items = line, []
        end = super().parse_list(m, state)
        for child in ours.items:
            child.parent = None  # its depth is known, and a cycle would outlive the file
        for token in state.tokens[known:]:
            if token["type"] == "list" and "items" not in token:
                token["items"], token["line"] = ours.items, line
                token["end"] = ours.items[-1].last
        ours.item_line, ours.items = outer
        return end

    def parse_block_quote(self, m: re.Match[str], state: BlockState) -> int:
        """Skip a block quote without parsing its content.

        Only marked lines belong to the quote. CommonMark also includes the unmarked lines that
        follow directly, which would treat an author's own words as quoted.
        """
        end = m.start()
        while end < state.cursor_max and _QUOTED.match(state.src, end):
            end = state.find_line_end_at(end)
        state.append_token({"type": "block_quote"})
        return end

    def parse_setex_heading(self, m: re.Match[str], state: BlockState) -> int | None:
        """Parse an underlined title. A line below a whole paragraph is parsed as a rule instead.

        Agents write `---` directly below text as a separator. CommonMark would turn that text into
        a heading, so it would be missing from the statements.
        """
        token = state.last_token()
        if token and token["type"] == "paragraph" and token["stop"] == state.cursor:
            text = state.src[state.src.rfind("\n", 0, state.cursor - 1) + 1 : state.cursor].strip()
            plain = token["line"] == token["end"] and len(text) <= _TITLE_LENGTH
            if not plain or len(m[0].strip()) < _UNDERLINE or text.endswith(_SENTENCE_END):
                state.append_token({"type": "thematic_break"})
                return m.end() + 1
            end = super().parse_setex_heading(m, state)
            token["text"], token["end"] = text, token["end"] + 1
            return end
        return super().parse_setex_heading(m, state)

    def parse_fenced_code(self, m: re.Match[str], state: BlockState) -> int | None:
        """Parse a code fence, and record it if it is not closed before its container ends."""
        ours = cast("_State", state)
        line = ours.line_at(m.start())
        end = super().parse_fenced_code(m, state)
        if end is not None and end >= state.cursor_max:
            last = state.src.rstrip("\n").rpartition("\n")[2].strip()
            closed = set(last) == {m["fenced_2"][0]} and len(last) >= len(m["fenced_2"])
            if not closed or ours.line_at(end - 1) <= line:
                self.open_ended.append((line, ours.line_at(end - 1), "code fence"))
        return end

    def parse_raw_html(self, m: re.Match[str], state: BlockState) -> int | None:
        """Parse an HTML block. The block does not include text after a closing comment mark."""
        ours = cast("_State", state)
        line = ours.line_at(m.start())
        opening = m[0].strip()
        end = super().parse_raw_html(m, state)
        closing = _OPENING_HTML.get(opening)
        if end is None or closing is None:
            return end
        stop = state.src.find(closing, m.end(), end)
        if stop < 0:
            self.open_ended.append((line, ours.line_at(end - 1), "comment"))
            return end
        if opening == "<!--":
            state.tokens[-1]["type"] = "comment"
            if any(ch.isalnum() for ch in state.src[stop + 3 : end]):
                return stop + 3
        return end


def _parse_table(block: BlockParser, m: re.Match[str], state: BlockState) -> int | None:
    """Parse a table like GFM. Rows may have fewer or more cells than the header."""
    ours = cast("_State", state)
    line = ours.line_at(m.start())
    head, _, rule = m[0].strip("\n").partition("\n")
    if len(_cells(head)) != len(_cells(rule)):
        return None
    breaks = block.compile_sc(_ROW_BREAKS)
    rows: list[int] = []
    position = m.end()
    while position < state.cursor_max:
        raw = state.get_line(position)
        if "|" not in raw or breaks.match(state.src, position):
            break
        rows.append(line + 2 + len(rows))
        position += len(raw)
    state.append_token({"type": "table", "rows": rows})
    return position


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner.removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip() for cell in _CELL_END.split(inner)]


def _blocks(state: _State) -> Iterator[Block]:
    """Yield the blocks for the tokens of a parser state, in order."""
    for token in state.tokens:
        kind = token["type"]
        if kind == "blank_line":
            continue
        if kind == "list":
            for child in token["items"]:
                yield _item(child, ordered=token["attrs"]["ordered"])
        elif kind == "table":
            yield Block(kind="other", lines=(token["line"], token["line"] + 1))
            yield from (Block(kind="row", lines=(number, number)) for number in token["rows"])
        elif kind in ("paragraph", "block_text"):
            text = state.text_of(range(token["line"], token["end"] + 1))
            yield Block(kind="paragraph", lines=(token["line"], token["end"]), text=text)
        elif "line" in token:
            lines = (token["line"], token["end"])
            if kind == "heading":
                level = token["attrs"]["level"]
                yield Block(kind="heading", lines=lines, text=token["text"], level=level)
            else:
                yield Block(kind=_TEXTLESS.get(kind, "other"), lines=lines)


def _item(child: _State, *, ordered: bool) -> Block:
    """Return the block for a list item."""
    inner = tuple(_blocks(child))
    aside = {n for t in child.tokens if t["type"] == "list" for n in range(t["line"], t["end"] + 1)}
    for block in inner:
        if block.kind == "comment":
            aside.update(range(block.lines[0], block.lines[1] + 1))
        elif block.kind == "paragraph":
            aside.difference_update(range(block.lines[0], block.lines[1] + 1))
    own = [n for n in range(child.first, child.last + 1) if n not in aside]
    has_text = any(b.kind in ("paragraph", "heading") for b in inner)
    text = child.text_of(own) if has_text else ""
    match = _TASK.match(text)
    if match:
        text = text[match.end() :]
    end = max((n for n in own if child.text_of((n,))), default=0)
    return Block(
        kind="item",
        lines=(child.item_line, max(child.item_line, end)),
        text=text,
        task="" if match is None else "open" if match[1] == " " else "done",
        ordered=ordered,
        children=tuple(b for b in inner if b.kind == "item"),
    )
