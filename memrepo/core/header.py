"""Parse the header (YAML front matter) of a file and report the errors in it.

A header opens on line 1 (after an optional byte order mark) with `---` and closes with the next
line `---` or `...`. Blanks may follow both. `+++` and a later `---` are part of the body. Files
without a header are normal, not an error.

The fast reader accepts a line only if YAML yields the same text. Tests check that both readers
agree on every header it accepts. Other headers are parsed by YAML, which is ten times slower.

The slow reader uses PyYAML's event stream, not its composer. The depth is therefore checked before
anything recurses, aliases are never followed, and types are never guessed. Nodes have positions,
which are used to locate problems and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import msgspec

from memrepo.core.fields import Node, shown
from memrepo.core.lines import BAD, FLOW_PLAIN, ambiguous, plain_shape, resolves, split_lines
from memrepo.core.memory import ORDER
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

MAX_BYTES = 1024 * 1024
"""The largest memory file that is read, in bytes."""
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The first bytes of the pointer file that git stores in place of a Git LFS file."""
OWN_DEPTH = 4
"""The maximum nesting of lists and mappings under a schema key. The schema needs three levels."""
FOREIGN_DEPTH = 16
"""The maximum nesting under a foreign key."""

RULES: Mapping[str, str] = MappingProxyType(
    {
        "file-too-large": "A memory file has at most 1 MiB.",
        "file-not-utf8": "A memory file is UTF-8.",
        "file-nul": "A memory file contains no NUL byte.",
        "file-conflict": "A file contains no git conflict markers, except in fenced code.",
        "file-lfs-pointer": "A memory file is not stored by Git LFS.",
        "frontmatter-missing": "A memory file begins with a header between two lines `---`.",
        "frontmatter-unclosed": "The header that line 1 opens is closed by a line `---` or `...`.",
        "frontmatter-syntax": "The header is YAML.",
        "frontmatter-not-mapping": "The header is a mapping of keys to values.",
        "frontmatter-flow-mapping": "The header has one key per line, not one `{...}`.",
        "frontmatter-second-header": "A file has one header.",
        "frontmatter-duplicate-key": "A key occurs only once in its mapping.",
        "frontmatter-key": (
            "A key is text on one line, and not a word that YAML reads as another type."
        ),
        "frontmatter-anchor": "The header has no anchors (`&name`).",
        "frontmatter-alias": "The header has no aliases (`*name`).",
        "frontmatter-tag": "The header has no tags (`!name`).",
        "frontmatter-merge-key": "The header has no merge keys (`<<`).",
        "frontmatter-documents": "The header is one YAML document without directives.",
        "frontmatter-tab": "Tabs occur in a header only inside quotes and comments.",
        "frontmatter-character": "The header contains no control characters or exotic line breaks.",
        "frontmatter-depth": "Values are nested at most 4 levels deep, values of foreign keys 16.",
        "frontmatter-value": "The value of a schema key has the right type.",
        "frontmatter-missing-type": "A memory has a `type`.",
        "frontmatter-near-key": "A key that looks like a misspelt schema key is probably one.",
    }
)
"""All rules of the header and the codec, each with its requirement."""


def refusal(
    rule: str,
    path: str,
    message: str,
    *,
    line: int = 0,
    column: int = 0,
    key: str = "",
    fix: str = "",
    severity: Literal["error", "warning"] = "error",
) -> Problem:
    """Build the Problem of a rule in RULES. Raise KeyError if the rule is not in RULES."""
    if rule not in RULES:
        raise KeyError(rule)
    return Problem(
        path=path,
        rule=rule,
        message=message,
        line=line,
        column=column,
        key=key,
        fix=fix,
        severity=severity,
    )


class Entry(msgspec.Struct, frozen=True):
    """A top-level key, its value, and its first and last line number (one-based, inclusive).

    `last` is the last line of the value, without following comments or blank lines.
    """

    key: str
    value: Node
    first: int
    last: int


class ParsedLines(msgspec.Struct, frozen=True):
    """The entries of a header in file order, the indentation of the keys, and all problems."""

    entries: tuple[Entry, ...] = ()
    indent: int = 0
    problems: tuple[Problem, ...] = ()


_KEY = regex(r"([A-Za-z_][A-Za-z0-9_-]*):(?: |\Z)")
_STRING = rf'"[^"\\{BAD}]*(?:\\["\\/bfnrtu][^"\\{BAD}]*)*"'
_WHOLE_STRING = regex(_STRING)
_COMMENT = regex(rf"#[^{BAD}]*")
_MEMBER = regex(r"([A-Za-z_][A-Za-z0-9_-]*): ")
_SCALAR = regex(rf"({_STRING})|({FLOW_PLAIN})")
_PAIR = regex(rf"([A-Za-z_][A-Za-z0-9_-]*): (?:({_STRING})|({FLOW_PLAIN}))(, |\}})")
"""A mapping member with a scalar value, including its terminator. Nearly all members match. Neither
kind of scalar can contain the terminator, so there is only one way to match."""
_SURROGATE = regex(r"\\u[dD][89a-fA-F]")


class NotCanonical(ValueError):
    """Raised when a header line is not in the form that memrepo writes."""


def read_subset(lines: Sequence[str], first: int) -> tuple[Entry, ...] | None:
    """Parse canonical header lines between the markers. `first` is the line number of `lines[0]`.

    Return None if the header is not in the canonical subset.
    """
    try:
        return _read(lines, first)
    except ValueError:
        return None


def _read(lines: Sequence[str], first: int) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    items: list[Node] | None = None  # items of the key without a value on its line, if any
    key, start = "", 0
    for number, line in enumerate(lines, first):
        match = _KEY.match(line)
        if match is not None:
            # A run reads many headers with the same keys, so keys are interned.
            key, start, rest = intern(match[1]), number, line[match.end() :]
            if key in found or (key not in ORDER and _is_misread(key)):
                raise NotCanonical(line)
            items = None if rest else []
            found[key] = Entry(key, _value(rest, line), start, number)
        elif line.startswith("  - ") and items is not None:
            items.append(_value(line[4:], line))
            found[key] = Entry(key, items, start, number)
        elif line and not _COMMENT.fullmatch(line):
            raise NotCanonical(line)
    return tuple(found.values())


def _value(rest: str, line: str) -> Node:
    """Parse the text after `key: `. If the line has only a key, the value is an empty text."""
    if plain_shape(rest):
        return rest
    if not rest:
        if line.endswith(" "):
            raise NotCanonical(line)
        return ""
    return _whole(rest, 0)


def _whole(text: str, at: int) -> Node:
    """Parse a quoted string or flow collection. It must extend to the end of the line."""
    if text[at] == '"':
        match = _WHOLE_STRING.fullmatch(text, at)
        if match is None:
            raise NotCanonical(text)
        return _unquoted(match[0])
    if text[at] not in "[{":
        raise NotCanonical(text)
    node, end = _node(text, at, 1)
    if end != len(text):
        raise NotCanonical(text)
    return node


def _node(text: str, at: int, depth: int) -> tuple[Node, int]:
    """Parse one node of a flow collection. Return the node and its end offset."""
    opening = text[at : at + 1]
    if opening == "[":
        return _list(text, at + 1, depth)
    if opening == "{":
        return _mapping(text, at + 1, depth)
    match = _SCALAR.match(text, at)
    if match is None:
        raise NotCanonical(text)
    string, plain = match[1], match[2]
    if string is not None:
        return _unquoted(string), match.end()
    return plain, match.end()


@lru_cache(maxsize=1024)
def _is_misread(key: str) -> bool:
    """Return whether YAML may read a key as a value other than text.

    Cached because files share their keys.
    """
    return ambiguous(key)


def _list(text: str, at: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    if text.startswith("]", at):
        return items, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        item, at = _node(text, at, depth + 1)
        items.append(item)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("]", at):
            return items, at + 1
        else:
            raise NotCanonical(text)


def _mapping(text: str, at: int, depth: int) -> tuple[Node, int]:
    members: dict[str, Node] = {}
    if text.startswith("}", at):
        return members, at + 1
    if depth > OWN_DEPTH:
        raise NotCanonical(text)
    while True:
        pair = _PAIR.match(text, at)
        match = pair or _MEMBER.match(text, at)
        if match is None or match[1] in members or _is_misread(match[1]):
            raise NotCanonical(text)
        if pair is not None:
            key, string, plain, ended = pair.groups()
            members[key] = plain if string is None else _unquoted(string)
            at = pair.end()
            if ended == "}":
                return members, at
            continue
        members[match[1]], at = _node(text, match.end(), depth + 1)
        if text.startswith(", ", at):
            at += 2
        elif text.startswith("}", at):
            return members, at + 1
        else:
            raise NotCanonical(text)


def _unquoted(string: str) -> str:
    """Decode a JSON string.

    Raise NotCanonical for surrogate pairs because YAML reads each as two characters.
    """
    if "\\" not in string:
        return string[1:-1]
    if _SURROGATE.search(string):
        raise NotCanonical(string)
    import json

    value: str = json.loads(string)
    return value


FIRST_LINE = 2
"""The line number of the first line after the opening marker."""

_OPEN = regex(r"\ufeff?---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSE = regex(r"[\r\n](?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_BYTE_LINE_END = regex(rb"\r\n|\n|\r")


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed header, and where the body starts.

    `present`: the header is opened and closed. `unclosed`: it is only opened, and the whole file is
    body. `indent`: the number of blanks before each top-level key. `body_line`: the one-based
    number of the first line after the header. `body_offset`: the offset of that line in the decoded
    text, including a byte order mark.
    """

    present: bool = False
    unclosed: bool = False
    entries: tuple[Entry, ...] = ()
    indent: int = 0
    body_line: int = 1
    body_offset: int = 0
    problems: tuple[Problem, ...] = ()


def split(data: bytes, path: str) -> Header:
    """Parse the header of any file. Never raises: errors are in `problems`."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Header(problems=(not_utf8(path, data, error.start),))
    return read(text, path)


def not_utf8(path: str, data: bytes, offset: int) -> Problem:
    """Build the Problem for a file with an invalid UTF-8 byte at `offset`."""
    before = data[:offset]
    ends = list(_BYTE_LINE_END.finditer(before))
    start = ends[-1].end() if ends else 0
    return refusal(
        "file-not-utf8",
        path,
        f"found the byte 0x{data[offset]:02X} at offset {offset}, expected UTF-8",
        line=len(ends) + 1,
        column=len(before[start:].decode("utf-8", "replace")) + 1,
        fix="save the file as UTF-8",
    )


def read(text: str, path: str) -> Header:
    """Parse the header of a decoded text. `split` does the same for bytes."""
    bom = int(text.startswith("\ufeff"))
    opening = _OPEN.match(text)
    if opening is None:
        return Header(body_offset=bom)
    closing = _closing(text, opening)
    if closing is None:
        problem = refusal(
            "frontmatter-unclosed",
            path,
            "found --- on line 1 only, expected a closing ---",
            line=1,
            column=1,
            fix="close the header with a line ---",
        )
        return Header(unclosed=True, body_offset=bom, problems=(problem,))
    lines = inner_lines(text, opening.end(), closing.start() + 1)
    reading = read_lines(lines, path)
    return Header(
        present=True,
        entries=reading.entries,
        indent=reading.indent,
        body_line=FIRST_LINE + len(lines) + 1,
        body_offset=closing.end(),
        problems=reading.problems,
    )


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    # The closing marker may follow directly. Its preceding line end is then part of the opening
    # marker.
    return _CLOSE.search(text, opening.end() - 1)


def inner_lines(text: str, start: int, end: int) -> list[str]:
    """Split the text between the markers into lines without line endings."""
    inner = text[start:end]
    if "\r" in inner:
        return [line for line, _ in split_lines(inner)]
    lines = inner.split("\n")
    # Remove the empty string after the last line end. If the markers are adjacent, no line remains.
    lines.pop()
    return lines


def read_lines(lines: list[str], path: str) -> ParsedLines:
    """Parse the lines between the markers with the fast reader. If that fails, use YAML."""
    entries = read_subset(lines, FIRST_LINE)
    if entries is not None:
        return ParsedLines(entries=entries)
    return read_yaml(lines, path)


_STRANGE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]|^\ufeff")
_TAB = regex(r" *\t")
_ANY_COMMENT = regex(r"#.*")
_MARGIN_KEY = regex(r"\? (\w+)|(\w[^\s:]*|<<):")
_INNER = ("", " ", "\t", "-", "#")
_MAX_PROBLEMS = 20
_QUOTE = "put the value in double quotes"
_CHARACTER = "write the character itself"
_DOCUMENTS = (
    "frontmatter-documents",
    "found a second document or a directive, expected one",
    "keep one block of keys between the two --- lines",
)
_END_OF_LINE = MAX_BYTES
_TAB_FIX = "write spaces, or double quotes around a value that holds a tab"


def read_yaml(lines: Sequence[str], path: str) -> ParsedLines:
    """Parse the lines between the markers with YAML. Errors are in `problems`."""
    import yaml

    root: Any = None
    try:
        faults = list(_characters(lines)) or list(_tokens(lines))
        root = None if faults else _compose(lines)
        faults += [] if root is None else [*_nodes(root, lines), *_tabs(root, lines)]
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        faults = [_syntax(lines, error)]
    if faults or root is None:
        return ParsedLines(
            problems=tuple(_problem(path, lines, *f) for f in faults[:_MAX_PROBLEMS])
        )
    entries = (
        Entry(
            key=key.value,
            value=_value_of(value),
            first=key.start_mark.line + FIRST_LINE,
            last=max(_end(key), _end(value))[0] + FIRST_LINE,
        )
        for key, value in root.value
    )
    return ParsedLines(entries=tuple(entries), indent=root.start_mark.column)


_Fault: TypeAlias = tuple[str, str, int, int, str]
"""A rule, a message, a zero-based line and column, and how to fix it."""


def _problem(
    path: str, lines: Sequence[str], rule: str, message: str, line: int, column: int, fix: str
) -> Problem:
    margin = next((text for text in reversed(lines[: line + 1]) if text[:1] not in _INNER), "")
    found = _MARGIN_KEY.match(margin)
    key = found[1] or found[2] if found else ""
    line, column = line + FIRST_LINE, column + 1
    return refusal(rule, path, message, line=line, column=column, key=key, fix=fix)


def _compose(lines: Sequence[str]) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.compose("".join(f"{line}\n" for line in lines), Loader=loader)


def _characters(lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield control characters, and line breaks that only YAML 1.1 has: the first of each line."""
    for number, line in enumerate(lines):
        match = _STRANGE.search(line)
        if match is not None:
            code = ord(match[0])
            found = f"found the character U+{code:04X}, expected printable text"
            fix = f"remove it, or write \\u{code:04x} inside double quotes"
            yield "frontmatter-character", found, number, match.start(), fix


_UNWANTED: Mapping[str, tuple[str, str, str]] = {
    "AliasToken": ("frontmatter-alias", "found the alias {}, expected a value", _QUOTE),
    "AnchorToken": (
        "frontmatter-anchor",
        "found the anchor {}, expected a plain value",
        f"remove it or {_QUOTE}",
    ),
    "TagToken": (
        "frontmatter-tag",
        "found the tag {}, expected a plain value",
        f"remove it or {_QUOTE}",
    ),
    "DocumentStartToken": _DOCUMENTS,
    "DirectiveToken": _DOCUMENTS,
}
_SIGNS = {"AliasToken": "*", "AnchorToken": "&"}


def _tokens(lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield features of YAML that a header may not use, and nesting too deep for the composer."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for token in yaml.scan("".join(f"{line}\n" for line in lines), Loader=loader):
        name, mark = type(token).__name__, token.start_mark
        if name in _UNWANTED:
            rule, message, fix = _UNWANTED[name]
            value = getattr(token, "value", "")
            word = "".join(filter(None, value)) if isinstance(value, tuple) else value
            word = shown(f"{_SIGNS.get(name, '')}{word}")
            yield rule, message.format(word), mark.line, mark.column, fix
        if name.startswith(("Block", "Flow")):
            depth += name.endswith("StartToken") - name.endswith("EndToken")
            if depth > FOREIGN_DEPTH + 1:
                yield _too_deep(mark, FOREIGN_DEPTH)
                return


def _too_deep(mark: Any, limit: int) -> _Fault:
    message = f"found nesting deeper than {limit} levels, expected less"
    return "frontmatter-depth", message, mark.line, mark.column, "flatten the value"


def _nodes(root: Any, lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield everything that is wrong with the nodes of a header, in document order."""
    place = root.start_mark.line, root.start_mark.column
    if root.id != "mapping":
        what = shown(root.value) if root.id == "scalar" else "a list"
        fix = "write `type: fact` and the like between the --- lines"
        yield "frontmatter-not-mapping", f"found {what}, expected lines `key: value`", *place, fix
    elif root.flow_style:
        found, fix = "found one {...}, expected one key per line", "write each key on its own line"
        yield "frontmatter-flow-mapping", found, *place, fix
    else:
        for key, value in root.value:
            line, column = key.start_mark.line, key.start_mark.column
            if lines[line][:column].strip():
                found = "found an explicit key (? key), expected `key: value`"
                yield "frontmatter-key", found, line, column, "write `key: value`"
            is_own = key.id == "scalar" and key.value in ORDER
            yield from _within(value, 1, OWN_DEPTH if is_own else FOREIGN_DEPTH)
        yield from _keys(root)


def _within(node: Any, depth: int, limit: int) -> Iterator[_Fault]:
    if node.id == "scalar":
        if not node.value.isascii() and re.search("[\ud800-\udfff]", node.value):
            found = "found an unpaired surrogate, expected a character"
            mark = node.start_mark
            yield "frontmatter-character", found, mark.line, mark.column, _CHARACTER
        return
    if depth > limit:
        yield _too_deep(node.start_mark, limit)
        return
    parts = node.value
    if node.id == "mapping":
        yield from _keys(node)
        parts = [value for _, value in parts]
    for part in parts:
        yield from _within(part, depth + 1, limit)


def _keys(node: Any) -> Iterator[_Fault]:
    """Yield the keys of a mapping that are no text, read as another type, or occur twice."""
    known: set[str] = set()
    for key, _ in node.value:
        place = key.start_mark.line, key.start_mark.column
        if key.id != "scalar":
            found = "found a list or mapping as key, expected text"
            yield "frontmatter-key", found, *place, "use a word as the key"
            continue
        name = shown(key.value)
        if not key.style and key.value == "<<":
            found = "found a merge key <<, expected a named key"
            yield (
                "frontmatter-merge-key",
                found,
                *place,
                "write the keys themselves instead of `<<`",
            )
        elif not key.style and resolves(key.value):
            found = f"found {name}, which YAML reads as another type, expected text"
            yield "frontmatter-key", found, *place, "put the key in double quotes"
        if key.value in known:
            found = f"found {name} again, expected it once"
            yield "frontmatter-duplicate-key", found, *place, "keep one of the two lines"
        known.add(key.value)


def _value_of(node: Any) -> Node:
    if node.id == "mapping":
        return {key.value: _value_of(value) for key, value in node.value}
    return [_value_of(part) for part in node.value] if node.id == "sequence" else node.value


def _children(node: Any) -> Sequence[Any]:
    if node.id == "mapping":
        return [part for pair in node.value for part in pair]
    return node.value if node.id == "sequence" else []


def _end(node: Any) -> tuple[int, int]:
    """Return the zero-based line and column at which the text of a node ends."""
    line, column = node.end_mark.line, node.end_mark.column
    if node.id == "scalar" and node.style in ("|", ">") and not column:
        return max(line - 1, node.start_mark.line), _END_OF_LINE
    if node.id != "scalar" and not node.flow_style and (parts := _children(node)):
        return max(map(_end, parts))
    return line, column


def _tabs(root: Any, lines: Sequence[str]) -> Iterator[_Fault]:
    """Yield tabs outside quotes, block scalars and comments, where PyYAML's two parsers differ."""
    if not any("\t" in line for line in lines):
        return
    shielding = [node for node in _scalars(root) if node.style]
    remarks = _comments(lines, root)
    for number, line in enumerate(lines):
        end = remarks.get(number, (len(line), ""))[0]
        leading = _TAB.match(line) is not None
        for column in (match.start() for match in re.finditer("\t", line[:end])):
            shields = (
                node
                for node in shielding
                if (node.start_mark.line, node.start_mark.column) <= (number, column) < _end(node)
            )
            if not any(node.style in "'\"" or not leading for node in shields):
                yield "frontmatter-tab", "found a tab, expected spaces", number, column, _TAB_FIX


def _syntax(lines: Sequence[str], error: Exception) -> _Fault:
    """Return the fault for a YAML error. A tab in the indentation is reported as such."""
    mark: Any = getattr(error, "problem_mark", None)
    if mark is None or mark.line >= len(lines):  # use the start of the unclosed construct
        mark = getattr(error, "context_mark", None) or mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    line = max(0, min(line, len(lines) - 1))
    if lines and _TAB.match(lines[line]):
        found = "found a tab, expected spaces"
        return "frontmatter-tab", found, line, lines[line].index("\t"), _TAB_FIX
    reason = getattr(error, "problem", None) or type(error).__name__
    return "frontmatter-syntax", f"{reason}, expected `key: value`", line, column, _QUOTE


def _scalars(node: Any) -> Iterator[Any]:
    if node.id == "scalar":
        yield node
    for part in _children(node):
        yield from _scalars(part)


def locate(lines: Sequence[str], key: str, steps: Sequence[str | int]) -> tuple[int, int]:
    """Return the one-based line and column of the value at `key` and the nested `steps`.

    Follow the steps as far as they exist.
    """
    node, place = _compose(lines), (FIRST_LINE, 1)
    for step in (key, *steps):
        pairs = node.value if node.id == "mapping" else enumerate(node.value)
        parts = {getattr(name, "value", name): part for name, part in pairs}
        node = parts.get(step)
        if node is None:
            break
        place = (node.start_mark.line + FIRST_LINE, node.start_mark.column + 1)
        if node.id == "scalar":
            break
    return place


def comments(lines: Sequence[str]) -> dict[int, str]:
    """Return the comments `# text` in the lines of a header, by zero-based line number."""
    if not any("#" in line for line in lines):
        return {}
    return {number: text for number, (_, text) in _comments(lines, _compose(lines)).items()}


def _comments(lines: Sequence[str], root: Any) -> dict[int, tuple[int, str]]:
    """Return all comments as a mapping from line index to (column, text).

    After the last scalar that ends on a line, only punctuation can precede the first `#`.
    """
    ends: dict[int, int] = {}
    inside: set[int] = set()
    for node in _scalars(root) if root else ():
        # The line of a block scalar indicator may end with a comment. A line with an open quote may
        # not.
        line, column = _end(node)
        inside.update(range(node.start_mark.line + (node.style in ("|", ">")), line))
        ends[line] = max(ends.get(line, 0), column)
    found = {}
    for number, text in enumerate(lines):
        match = _ANY_COMMENT.search(text, ends.get(number, 0))
        if match is not None and number not in inside:
            found[number] = match.start(), match[0]
    return found
