"""The slow reader of headers: whatever else YAML allows and a person may write.

It works on PyYAML's event stream, not on its composer: a stream can be cut at a depth before
anything recurses, an alias is never followed, and no type is ever guessed. Every node keeps its
place, so that problems are located and comments found again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from memrepo.core.fields import Node, shown
from memrepo.core.header import Entry, Reading
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.refusals import FOREIGN_DEPTH, OWN_DEPTH, refusal
from memrepo.core.schema import ORDER
from memrepo.core.spelling import resolves

_STRANGE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|^\ufeff")
_TAB = regex(r" *\t")
_COMMENT = regex(r"#.*")
_MARGIN_KEY = regex(r"([^\s:#-][^\s:]*):")
_MOST = 20
_QUOTE = "put the value in double quotes"
_TAB_FOUND = ("frontmatter-tab", "found a tab, expected spaces")
_TAB_FIX = "write spaces, or double quotes around a value that holds a tab"


class Spot(msgspec.Struct, kw_only=True):
    """A node under construction and its place; lines and columns count from 0 in the header.

    `style` is how a scalar is spelled: plain, a quote, or the mark of a block scalar; `parts` are
    the items of a list or the values of a mapping, `keys` the keys of a mapping.
    """

    node: Node
    line: int
    column: int
    end: int
    end_column: int
    flow: bool = False
    style: str = ""
    keys: list[Spot] = msgspec.field(default_factory=list)
    parts: list[Spot] = msgspec.field(default_factory=list)

    def covers(self, line: int, column: int) -> bool:
        """Tell whether a place lies within the node."""
        return (self.line, self.column) <= (line, column) < (self.end, self.end_column)


class _Refused(Exception):
    """The rest of the header cannot be read; the problem is already noted."""


class _Composer(msgspec.Struct):
    """Build the tree of a header out of events, noting every refusal."""

    lines: Sequence[str]
    path: str
    first: int
    problems: list[Problem] = msgspec.field(default_factory=list)
    stack: list[Spot] = msgspec.field(default_factory=list)
    root: Spot | None = None

    def note(self, rule: str, message: str, line: int, column: int, fix: str) -> None:
        """Note a refusal at a place within the header."""
        key = self.root.keys[-1].node if self.root and self.root.keys else ""
        self.problems.append(
            refusal(
                rule,
                self.path,
                message,
                line=line + self.first,
                column=column + 1,
                key=key if isinstance(key, str) else "",
                fix=fix,
            )
        )
        if len(self.problems) >= _MOST:
            raise _Refused

    def stop(self, rule: str, message: str, line: int, column: int, fix: str) -> _Refused:
        """Note a refusal after which nothing more can be read."""
        self.note(rule, message, line, column, fix)
        return _Refused()

    def take(self, event: object) -> None:
        """Take one event of the stream."""
        match type(event).__name__:
            case "DocumentStartEvent":
                self._document(event)
            case "AliasEvent":
                self._alias(event)
            case "ScalarEvent":
                self._scalar(event)
            case "SequenceStartEvent":
                self._open(event, [])
            case "MappingStartEvent":
                self._open(event, {})
            case "SequenceEndEvent" | "MappingEndEvent":
                self._close(event)
            case _:
                pass  # start and end of stream, end of document

    def _document(self, event: Any) -> None:
        if event.explicit or self.root is not None:
            mark = event.start_mark
            raise self.stop(
                "frontmatter-documents",
                "found a second document or a directive, expected one",
                mark.line,
                mark.column,
                "keep one block of keys between the two --- lines",
            )

    def _alias(self, event: Any) -> None:
        mark = event.start_mark
        self.note(
            "frontmatter-alias",
            f"found the alias {shown('*' + event.anchor)}, expected a value",
            mark.line,
            mark.column,
            _QUOTE,
        )
        self._place(self._spot(event, ""))

    def _scalar(self, event: Any) -> None:
        self._dressed(event)
        spot = self._spot(event, event.value)
        if event.style in ("|", ">") and spot.end_column == 0 and spot.end > spot.line:
            spot.end -= 1
            spot.end_column = len(self.lines[spot.end])
        if not event.value.isascii() and re.search("[\ud800-\udfff]", event.value):
            self.note(
                "frontmatter-character",
                "found half a surrogate pair, expected a character",
                spot.line,
                spot.column,
                "write the character itself",
            )
        spot.style = event.style or "plain"
        self._place(spot)

    def _open(self, event: Any, node: Node) -> None:
        self._dressed(event)
        spot = self._spot(event, node)
        spot.flow = bool(event.flow_style)
        deepest = FOREIGN_DEPTH
        if self.root is not None and self.root.keys and self.root.keys[-1].node in ORDER:
            deepest = OWN_DEPTH
        if len(self.stack) > deepest:
            raise self.stop(
                "frontmatter-depth",
                f"found nesting deeper than {deepest} levels, expected less",
                spot.line,
                spot.column,
                "flatten the value",
            )
        self._place(spot)
        self.stack.append(spot)

    def _close(self, event: Any) -> None:
        spot = self.stack.pop()
        if spot.flow:
            spot.end, spot.end_column = event.end_mark.line, event.end_mark.column
            return
        for inner in (*spot.keys[-1:], *spot.parts[-1:]):
            spot.end, spot.end_column = max(
                (spot.end, spot.end_column), (inner.end, inner.end_column)
            )

    def _spot(self, event: Any, node: Node) -> Spot:
        start, end = event.start_mark, event.end_mark
        return Spot(
            node=node, line=start.line, column=start.column, end=end.line, end_column=end.column
        )

    def _dressed(self, event: Any) -> None:
        """Refuse an anchor or a tag."""
        mark = event.start_mark
        if event.anchor is not None:
            found = shown("&" + event.anchor)
            self.note(
                "frontmatter-anchor",
                f"found the anchor {found}, expected a plain value",
                mark.line,
                mark.column,
                f"remove it or {_QUOTE}",
            )
        if event.tag is not None:
            found = shown(event.tag)
            self.note(
                "frontmatter-tag",
                f"found the tag {found}, expected a plain value",
                mark.line,
                mark.column,
                f"remove it or {_QUOTE}",
            )

    def _place(self, spot: Spot) -> None:
        """Put a node where it belongs: the root, an item, a key or a value."""
        if not self.stack:
            self._root(spot)
            return
        parent = self.stack[-1]
        if isinstance(parent.node, list):
            parent.node.append(spot.node)
            parent.parts.append(spot)
        elif isinstance(parent.node, dict):
            if len(parent.keys) == len(parent.parts):
                parent.keys.append(spot)
                self._key(parent, spot)
            else:
                parent.node[str(parent.keys[-1].node)] = spot.node
                parent.parts.append(spot)

    def _root(self, spot: Spot) -> None:
        if not isinstance(spot.node, dict):
            what = shown(spot.node) if isinstance(spot.node, str) else "a list"
            raise self.stop(
                "frontmatter-not-mapping",
                f"found {what}, expected lines `key: value`",
                spot.line,
                spot.column,
                "write `type: fact` and the like between the --- lines",
            )
        if spot.flow:
            raise self.stop(
                "frontmatter-flow-mapping",
                "found one {...}, expected one key per line",
                spot.line,
                spot.column,
                "write each key on a line of its own",
            )
        self.root = spot

    def _key(self, parent: Spot, spot: Spot) -> None:
        key, place = spot.node, (spot.line, spot.column)
        if not isinstance(key, str):
            raise self.stop(
                "frontmatter-key",
                "found a list or mapping as key, expected text",
                *place,
                "write a word as key",
            )
        if spot.style == "plain" and key == "<<":
            self.note(
                "frontmatter-merge-key",
                "found a merge key <<, expected a named key",
                *place,
                "write the merged keys out",
            )
        elif spot.style == "plain" and resolves(key):
            self.note(
                "frontmatter-key",
                f"found {shown(key)}, which YAML reads as another type, expected text",
                *place,
                "put the key in double quotes",
            )
        if key in parent.node:
            self.note(
                "frontmatter-duplicate-key",
                f"found {shown(key)} again, expected it once",
                *place,
                "keep one of the two lines",
            )
        if parent is self.root and self.lines[spot.line][: spot.column].strip():
            self.note(
                "frontmatter-key",
                "found an explicit key (? key), expected `key: value`",
                *place,
                "write `key: value`",
            )


def read(lines: Sequence[str], path: str, first: int) -> Reading:
    """Read the lines between the markers; `first` is the one-based number of the first one."""
    strange = list(_strange(lines, path, first))
    if strange:
        return Reading(problems=tuple(strange))
    composer = _compose(lines, path, first)
    root = composer.root
    if composer.problems or root is None:
        return Reading(problems=tuple(composer.problems))
    entries = tuple(
        Entry(
            key=str(key.node),
            value=part.node,
            first=key.line + first,
            last=max(key.end, part.end) + first,
        )
        for key, part in zip(root.keys, root.parts, strict=True)
    )
    return Reading(entries=entries, indent=root.column)


def _compose(lines: Sequence[str], path: str, first: int) -> _Composer:
    """Compose the tree of a header; what is wrong with it is in `problems`."""
    import yaml

    composer = _Composer(lines, path, first)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse("".join(f"{line}\n" for line in lines), Loader=loader):
            composer.take(event)
        _tabs(composer)
    except _Refused:
        pass
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        composer.problems.append(_syntax(composer, error))
    return composer


def _strange(lines: Sequence[str], path: str, first: int) -> Iterator[Problem]:
    """Find controls and the line breaks that only YAML 1.1 knows."""
    for number, line in enumerate(lines, first):
        match = _STRANGE.search(line)
        if match is not None:
            code = ord(match[0])
            yield refusal(
                "frontmatter-character",
                path,
                f"found the character U+{code:04X}, expected printable text",
                line=number,
                column=match.start() + 1,
                fix=f"remove it, or write \\u{code:04x} inside double quotes",
            )


def _tabs(composer: _Composer) -> None:
    """Refuse tabs outside quotes, block scalars and comments: PyYAML's two readers differ there."""
    if not any("\t" in line for line in composer.lines):
        return
    scalars = list(_scalars(composer.root))
    shielding = [spot for spot in scalars if spot.style != "plain"]
    comments = _comments(composer.lines, scalars)
    for number, line in enumerate(composer.lines):
        shut = comments.get(number, (len(line), ""))[0]
        leading = _TAB.match(line) is not None
        for column in (match.start() for match in re.finditer("\t", line[:shut])):
            shields = (spot for spot in shielding if spot.covers(number, column))
            if not any(spot.style in "'\"" or not leading for spot in shields):
                composer.note(*_TAB_FOUND, number, column, _TAB_FIX)


def _syntax(composer: _Composer, error: Exception) -> Problem:
    """Locate a YAML error: where it was noticed, or where what never ended began."""
    lines = composer.lines
    mark = getattr(error, "problem_mark", None)
    if mark is None or mark.line >= len(lines):
        mark = getattr(error, "context_mark", None) or mark
    line = min(mark.line if mark is not None else 0, max(len(lines) - 1, 0))
    column = mark.column if mark is not None else 0
    said = getattr(error, "problem", None) or type(error).__name__
    rule, message, fix = "frontmatter-syntax", f"{said}, expected `key: value`", _QUOTE
    if lines and _TAB.match(lines[line]):
        (rule, message), fix, column = _TAB_FOUND, _TAB_FIX, lines[line].index("\t")
    above = (_MARGIN_KEY.match(text) for text in reversed(lines[: line + 1]))
    key = next((match[1] for match in above if match), "")
    return refusal(
        rule,
        composer.path,
        message,
        line=line + composer.first,
        column=column + 1,
        key=key,
        fix=fix,
    )


def _scalars(spot: Spot | None) -> Iterator[Spot]:
    if spot is None:
        return
    if isinstance(spot.node, str):
        yield spot
    for inner in (*spot.keys, *spot.parts):
        yield from _scalars(inner)


def locate(
    lines: Sequence[str], first: int, key: str, steps: Sequence[str | int]
) -> tuple[int, int]:
    """Find the one-based line and column of a value, as deep as the steps can be followed."""
    spot = _compose(lines, "", first).root
    place = (first, 1)
    for step in (key, *steps):
        if spot is None:
            break
        if isinstance(step, int):
            spot = spot.parts[step] if step < len(spot.parts) else None
        else:
            names = [str(name.node) for name in spot.keys]
            spot = spot.parts[names.index(step)] if step in names else None
        if spot is not None:
            place = (spot.line + first, spot.column + 1)
    return place


def comments(lines: Sequence[str], first: int, entry: Entry) -> list[tuple[int, str]]:
    """Find the comments within an entry's lines, as (file line, `# text`)."""
    found = _comments(lines, list(_scalars(_compose(lines, "", first).root)))
    span = range(entry.first - first, entry.last - first + 1)
    return [(number + first, found[number][1]) for number in span if number in found]


def _comments(lines: Sequence[str], scalars: Sequence[Spot]) -> dict[int, tuple[int, str]]:
    """Find all comments: for a line its comment's column and text.

    Whatever follows the last scalar that ends on a line is punctuation up to the first `#`.
    """
    ends: dict[int, int] = {}
    inside: set[int] = set()
    for spot in scalars:
        # The line of a block scalar's mark may end in a comment, one where quotes open may not.
        inside.update(range(spot.line + (spot.style in "|>"), spot.end))
        ends[spot.end] = max(ends.get(spot.end, 0), spot.end_column)
    found = {}
    for number, line in enumerate(lines):
        match = _COMMENT.search(line, ends.get(number, 0))
        if match is not None and number not in inside:
            found[number] = match.start(), match[0]
    return found
