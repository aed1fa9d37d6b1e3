"""Which lines of a file change when its memory changes: those of changed values and body lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memrepo.core.entries import Entry
from memrepo.core.header import FIRST_LINE, Header
from memrepo.core.lines import Line, dominant_end
from memrepo.core.patterns import regex
from memrepo.core.schema import BY_NAME, FIELDS, ORDER
from memrepo.core.spelling import entry_lines

_BLANK = regex(r"\s*")
_MANY_LINES = 2000  # beyond this, lines that repeat often are not matched one by one


def changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the schema keys whose value differs, in schema order; absent is the default."""
    return [f.name for f in FIELDS if old.get(f.name, f.default) != new.get(f.name, f.default)]


def spelled(key: str, fields: Mapping[str, Any]) -> list[str]:
    """Spell a field's entry, or nothing where it has its default."""
    field = BY_NAME[key]
    value = fields.get(key, field.default)
    if value is None or value == field.default:
        return []
    return entry_lines(key, field.kind.write(value))


def edit_header(
    head: Sequence[Line], header: Header, keys: Sequence[str], fields: Mapping[str, Any]
) -> list[Line]:
    """Replace, remove and insert the lines of `keys`; `head` runs from marker to marker."""
    end = dominant_end(head)
    present = {entry.key: entry for entry in header.entries}
    slots: dict[int, list[str]] = {}  # the line (one-based) that new lines follow
    dropped: set[int] = set()
    for key in keys:
        lines = [" " * header.indent + line for line in spelled(key, fields)]
        entry = present.get(key)
        if entry is None:
            slots.setdefault(_predecessor(key, header.entries), []).extend(lines)
        else:
            dropped.update(range(entry.first, entry.last + 1))
            if not lines:
                dropped.update(_loose_blanks(head, header, entry))
            kept = _with_comments(lines, head, entry, header.indent)
            slots[entry.first - 1] = slots.get(entry.first - 1, []) + kept
    edited: list[Line] = []
    for number, line in enumerate(head, 1):
        if number not in dropped:
            edited.append(line)
        edited += [(text, end) for text in slots.get(number, [])]
    return edited


def _predecessor(key: str, entries: Sequence[Entry]) -> int:
    """Return the line after which a new key goes: its nearest predecessor's last one, else 1."""
    before = [entry for entry in entries if ORDER.get(entry.key, len(ORDER)) < ORDER[key]]
    return max(before, key=lambda entry: ORDER[entry.key]).last if before else FIRST_LINE - 1


def _loose_blanks(head: Sequence[Line], header: Header, entry: Entry) -> range:
    """Return the blank lines after a removed entry that a block scalar before it would swallow."""
    above = [other for other in header.entries if other.last < entry.first]
    if not (above and isinstance(above[-1].value, str) and above[-1].value.endswith("\n")):
        return range(0)
    last = entry.last
    while _BLANK.fullmatch(head[last][0]):
        last += 1
    return range(entry.last + 1, last + 1)


def _with_comments(lines: list[str], head: Sequence[Line], entry: Entry, indent: int) -> list[str]:
    """Carry a person's comments over: the first line's stays there, others go above the key."""
    span = head[entry.first - 1 : entry.last]
    if not any("#" in text for text, _ in span):
        return lines
    from memrepo.core import yamlnodes

    inner = [text for text, _ in head[FIRST_LINE - 1 : -1]]
    above = []
    for number, comment in yamlnodes.comments(inner, FIRST_LINE, entry):
        if number == entry.first and lines:
            lines = [f"{lines[0]} {comment}", *lines[1:]]
        else:
            above.append(" " * indent + comment)
    return above + lines


def edit_body(lines: Sequence[Line], body: str, end: str, *, closed: bool) -> list[Line]:
    r"""Turn the lines after a header into those of a new body, keeping what is equal.

    `lines` are everything under the closing marker; `body` is normal (`codec.normal_body`) and
    differs from theirs. Blank lines around the text, line ends and trailing blanks of equal lines
    stay. `end` is for added lines; `closed` tells whether the file had a final newline.
    """
    solid = [n for n, (text, _) in enumerate(lines) if not _BLANK.fullmatch(text)]
    start, stop = (solid[0], solid[-1] + 1) if solid else (len(lines), len(lines))
    before, core, after = list(lines[:start]), lines[start:stop], list(lines[stop:])
    if not body:
        return before + after
    if not core and not before:
        before = [("", end)]
    before = [(text, own or end) for text, own in before]
    new = _matched(core, body.split("\n"), end)
    if not after and not closed:
        new[-1] = (new[-1][0], "")
    return before + new + after


def _matched(core: Sequence[Line], texts: list[str], end: str) -> list[Line]:
    """Take over the raw lines whose text stays; every line gets a line end."""
    old = [text for text, _ in core]
    if old:
        old[-1] = old[-1].rstrip()
    new: list[Line] = [(text, end) for text in texts]
    for a, b in pairs(old, texts):
        text, own = core[a]
        # Blanks after the body's last word are no text; further up they would become some.
        new[b] = (text if b == len(texts) - 1 else texts[b], own or end)
    return new


def pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pair equal lines by index, in no order; none crosses another.

    Those of the common head and tail come first, for matching is quadratic.
    """
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    room = least - head
    tail = next((n for n in range(room) if old[-1 - n] != new[-1 - n]), room)
    yield from ((n, n) for n in range(head))
    yield from ((len(old) - n, len(new) - n) for n in range(1, tail + 1))
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, *middle, autojunk=len(middle[1]) > _MANY_LINES)
    for block in matcher.get_matching_blocks():
        for n in range(head, head + block.size):
            yield block.a + n, block.b + n
