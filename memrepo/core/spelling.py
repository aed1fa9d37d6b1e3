"""How values are spelled in a header: one spelling a value, the same text under YAML 1.1 and 1.2.

A scalar is written plain only if no YAML reader can take it for anything but that text; every
other one is a double-quoted JSON string, which YAML reads alike. Character classes are given as
ranges, never as Unicode categories: those change with the Python version, and bytes must not.
"""

from __future__ import annotations

import re

from memrepo.core.fields import Node, Raw
from memrepo.core.patterns import regex

# Every class is written as what it leaves out: `re` compiles that ten times as fast as the same
# class of wide ranges, and each start of the program pays for it.
# Beyond ASCII, blanks, invisible and unassignable characters are left out.
_NARROW = (
    r"\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ud800-\udfff\ufeff\ufff0-\uffff\U000e0000-\U0010ffff"
)
_FLOW_FIRST = rf"[^\x00-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ /
_FLOW_CHARS = rf"[^\x00-&*,:-?\[-\^`{{-~{_NARROW}]"  # and . + @ ( ) ' -
_BLOCK_FIRST = rf"[^\x00-')-.:-@\[-\^`{{-~{_NARROW}]"  # A-Z a-z 0-9 _ / (
FLOW_PLAIN = rf"{_FLOW_FIRST}{_FLOW_CHARS}*(?:[: ]{_FLOW_CHARS}+)*"
"""Source of a pattern: a plain scalar that is safe inside `[...]` and `{...}`."""
BAD = "\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
"""Body of a character class: what never stands raw in a header that memrepo writes."""

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
    """Tell whether a plain scalar may be read as a number, date, flag or null (YAML 1.1, 1.2).

    A superset of PyYAML's resolver table and of the 1.2 core schema.
    """
    if text[:1].isalpha():
        return text.lower() in _WORDS
    return text in _WORDS or _NUMBER_LIKE.fullmatch(text) is not None


def plain_shape(text: str) -> bool:
    """Tell whether `key: text` is one plain scalar, whatever type a YAML reader gives it."""
    return (
        _BLOCK.fullmatch(text) is not None
        and ": " not in text
        and " #" not in text
        and text[-1] not in " :"
    )


def ambiguous(text: str) -> bool:
    """Tell whether a text must be quoted to stay text; YAML 1.1 on paper takes y and n too."""
    return resolves(text) or text in ("y", "Y", "n", "N")


def quoted(text: str) -> str:
    r"""Spell a JSON string that is a YAML double-quoted scalar as well.

    Controls, YAML's own line breaks and the byte order mark are escaped; the rest stays raw.
    """
    import json

    spelled = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", spelled)


def scalar(text: str, *, flow: bool = False) -> str:
    """Spell one scalar; `flow` is true inside `[...]` and `{...}`."""
    if isinstance(text, Raw) and _RAW.fullmatch(text):
        return str(text)
    plain = _FLOW.fullmatch(text) is not None if flow else plain_shape(text)
    return str(text) if plain and not ambiguous(text) else quoted(text)


def inline(node: Node) -> str:
    """Spell a node on one line, as it stands inside a flow collection or a list item."""
    if isinstance(node, list):
        return "[" + ", ".join(inline(part) for part in node) + "]"
    if isinstance(node, dict):
        return "{" + ", ".join(f"{key}: {inline(part)}" for key, part in node.items()) + "}"
    return scalar(node, flow=True)


def _item(node: Node) -> str:
    return scalar(node) if isinstance(node, str) else inline(node)


def entry_lines(key: str, node: Node, *, folded: bool = False) -> list[str]:
    """Spell one header entry: a line, or for a list of records a line and one for each record.

    `folded` keeps such a list in one line, as it is where it holds one record only. Places of
    sources have a line each.
    """
    if isinstance(node, list):
        several = len(node) > 1 and not folded and all(isinstance(part, dict) for part in node)
        if several or (key == "sources" and node):
            return [f"{key}:", *(f"  - {_item(part)}" for part in node)]
        return [f"{key}: {inline(node)}"]
    if isinstance(node, dict):
        return [f"{key}: {inline(node)}"]
    return [f"{key}: {scalar(node)}"]
