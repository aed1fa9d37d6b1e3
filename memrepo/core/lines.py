"""Split a text into lines with their endings, join lines, and format header values.

Each value has one spelling, with the same meaning in YAML 1.1 and 1.2. A scalar is written plain
only if every YAML parser reads it as that text. Any other scalar is written as a double-quoted JSON
string. Character classes are ranges, not Unicode categories: categories change with the Python
version, but the bytes written must not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from memrepo.core.fields import Node, Raw
from memrepo.core.patterns import regex

Line: TypeAlias = tuple[str, str]
"""The text of a line and its line ending, which is empty only for a last line without newline."""

_LINE = regex(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_ODD_END = regex(r"\r\n?")


def without_comments(text: str) -> str:
    """Remove HTML comments from a text. Unclosed comments remain."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts.append(text[at:start])
        at = end + 3
    return "".join((*parts, text[at:])) if parts else text


def split_lines(text: str) -> list[Line]:
    r"""Split a text only at `\n`, `\r\n` and `\r`. Joining the lines restores the text."""
    lines: list[Line] = _LINE.findall(text)
    # The pattern always matches an additional empty string at the end.
    lines.pop()
    return lines


def join_lines(lines: Iterable[Line]) -> str:
    r"""Join lines into a text.

    A `\r` directly before an empty line that ends with `\n` becomes `\r\n`, because the two would
    be read as one line ending.
    """
    parts: list[str] = []
    for text, end in lines:
        if not text and end.startswith("\n") and parts and parts[-1] == "\r":
            parts[-1] = "\r\n"
        parts += (text, end) if text else (end,)
    return "".join(parts)


def dominant_end(*groups: Iterable[Line]) -> str:
    r"""Return the most common line ending in the first group that has any, or else `\n`."""
    for group in groups:
        counted = Counter(end for _, end in group if end)
        if counted:
            return counted.most_common(1)[0][0]
    return "\n"


def unix(text: str) -> str:
    r"""Convert every line ending to `\n`."""
    return _ODD_END.sub("\n", text) if "\r" in text else text


def find_conflict(text: str) -> int:
    """Return the line number of git's first conflict marker, or 0. Fenced code is ignored."""
    if "<<<<<<< " not in text:
        return 0
    fence, opened, has_middle = "", 0, False
    for number, (line, _) in enumerate(split_lines(text), start=1):
        if opened:
            has_middle |= line.startswith("=======") and not line.strip("=")
            if has_middle and line.startswith(">>>>>>> "):
                return opened
        elif fence or line.startswith(("```", "~~~")):
            fence = "" if fence and line.startswith(fence) else fence or line[:3]
        elif line.startswith("<<<<<<< "):
            opened = number
    return 0


MAX_DEPTH = 64
"""The maximum nesting of lists or quotes that is parsed."""

_MARKERS = regex(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))+")
_MARKER = regex(r"([-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_QUOTES = regex(r"[ \t]*(?:>[ \t]*)+")


def too_deep(text: Sequence[str]) -> int:
    """Return the number of the first line that may exceed the nesting limit, or 0.

    This is an upper bound: markdown can only nest less.
    """
    columns: list[int] = []
    for number, line in enumerate(text, start=1):
        quotes = _QUOTES.match(line)
        if quotes and quotes[0].count(">") > MAX_DEPTH:
            return number
        match = _MARKERS.match(line)
        if match is None or _is_rule(line):
            continue
        prefix = match[0].expandtabs(4)
        column = len(prefix) - len(prefix.lstrip(" "))
        while columns and columns[-1] > column:
            columns.pop()
        columns.extend(marker.end(1) + 1 for marker in _MARKER.finditer(prefix))
        if len(columns) > MAX_DEPTH:
            return number
    return 0


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) > 2 and marks[0] in "-*_" and not marks.strip(marks[0])


# Each class is written as a negated set. `re` compiles it ten times as fast as the equivalent wide
# ranges, and every start of the program compiles it. Beyond ASCII, the set excludes blanks,
# invisible characters and characters that cannot be assigned.
_NARROW = (
    r"\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U0010ffff"
)
_FLOW_FIRST = rf"[^\x00-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ /
_FLOW_CHARS = rf"[^\x00-&*,:-?\[-\^`{{-~{_NARROW}]"  # also . + @ ( ) ' -
_BLOCK_FIRST = rf"[^\x00-')-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ / (
FLOW_PLAIN = rf"{_FLOW_FIRST}{_FLOW_CHARS}*(?:[: ]{_FLOW_CHARS}+)*"
"""Regex source of a plain scalar that is safe inside `[...]` and `{...}`."""
BAD = "\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
"""Content of a character class: characters that are always escaped in a written header."""

_FLOW = regex(FLOW_PLAIN)
_BLOCK = regex(rf"{_BLOCK_FIRST}[^\x00-\x1f{_NARROW}]*")
_RAW = regex(r"[0-9A-Za-z+.-](?:[0-9A-Za-z+.:-]| (?=[0-9A-Za-z+-]))*(?<!:)")
_ESCAPED = regex(rf"[{BAD}]")

_WORDS = frozenset({"", "~", "null", "yes", "no", "true", "false", "on", "off", "=", "<<"})
_NUMBER_LIKE = regex(
    r"""[-+]?[0-9._][0-9._,:]*(?:[eE][-+]?[0-9_]*)?   # decimal, float, base 60, digit groups
      | [-+]?0[xXoObB][0-9a-fA-F_]*
      | [-+]?\.(?:inf|Inf|INF|nan|NaN|NAN)
      | \d{4}-\d\d?-\d\d?(?:[Tt \t][-+.:Zz0-9 \t]*)?  # timestamps
    """,
    re.VERBOSE | re.ASCII,
)


def resolves(text: str) -> bool:
    """Return whether YAML 1.1 or 1.2 may read a plain scalar as a number, date, flag or null.

    This covers more than PyYAML's resolver table and the core schema of YAML 1.2.
    """
    if text[:1].isalpha():
        return text.lower() in _WORDS
    return text in _WORDS or _NUMBER_LIKE.fullmatch(text) is not None


def plain_shape(text: str) -> bool:
    """Return whether YAML reads `key: text` as one plain scalar of any type."""
    return (
        _BLOCK.fullmatch(text) is not None
        and ": " not in text
        and " #" not in text
        and text[-1] not in " :"
    )


def ambiguous(text: str) -> bool:
    """Return whether a text must be quoted because YAML could read it as another type.

    This includes `y` and `n`, which the YAML 1.1 specification defines as booleans.
    """
    return resolves(text) or text in ("y", "Y", "n", "N")


def quoted(text: str) -> str:
    """Format a text as a JSON string that is also a double-quoted scalar in YAML.

    Control characters, YAML's own line breaks and the byte order mark are escaped. Other characters
    are written unchanged.
    """
    import json

    spelled = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", spelled)


def scalar(text: str, *, flow: bool = False) -> str:
    """Format a scalar. Set `flow` for a scalar inside `[...]` or `{...}`."""
    if isinstance(text, Raw) and _RAW.fullmatch(text):
        return str(text)
    plain = _FLOW.fullmatch(text) is not None if flow else plain_shape(text)
    return str(text) if plain and not ambiguous(text) else quoted(text)


def inline(node: Node) -> str:
    """Format a node on one line, as it is written inside a flow collection or a list item."""
    if isinstance(node, list):
        return "[" + ", ".join(inline(part) for part in node) + "]"
    if isinstance(node, dict):
        return "{" + ", ".join(f"{key}: {inline(part)}" for key, part in node.items()) + "}"
    return scalar(node, flow=True)


def _item(node: Node) -> str:
    return scalar(node) if isinstance(node, str) else inline(node)


def entry_lines(key: str, node: Node, *, folded: bool = False) -> list[str]:
    """Format a header entry: one line, or for a list one line for the key and one per item.

    A list of several records has one line per record, unless `folded`. Sources always have one line
    each. All other values are on one line.
    """
    if isinstance(node, list):
        several = len(node) > 1 and not folded and all(isinstance(part, dict) for part in node)
        if several or (key == "sources" and node):
            return [f"{key}:", *(f"  - {_item(part)}" for part in node)]
        return [f"{key}: {inline(node)}"]
    if isinstance(node, dict):
        return [f"{key}: {inline(node)}"]
    return [f"{key}: {scalar(node)}"]
