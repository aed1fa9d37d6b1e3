"""HTML pages: escaped texts, word-by-word comparisons, inlined assets, and the page of the graph.

Memory text is data. A page's policy only permits the style sheet and the script whose hashes it
names. No network is used.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import msgspec
from markupsafe import Markup

from memrepo import __version__
from memrepo.assets import asset
from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.messages import counted, cut
from memrepo.core.patterns import regex
from memrepo.core.secrets import without_secrets
from memrepo.policies.links import Graph

if TYPE_CHECKING:
    from jinja2 import Template

_JOINERS = "\u200c\u200d"
_BLANKS = "\n\t "
_MANY = 4


def shown(text: str) -> Markup:
    """Escape a text for a page, and show hidden characters by number and name."""
    if text.isprintable() and not any(_hidden(ch) for ch in text if ord(ch) > 0xFDFF):
        return Markup(escape(text, quote=True))  # noqa: S704 - it was escaped this moment
    parts = []
    clear = [(_unseen(text, n), ch) for n, ch in enumerate(text)]
    for unseen, group in groupby(clear, key=lambda pair: pair[0]):
        run = "".join(ch for _, ch in group)
        parts.append(_spelled(run) if unseen else escape(run, quote=True))
    return Markup("".join(parts))  # noqa: S704 - every part was escaped or is a number


def side(spans: Iterable[Span], which: Mark) -> Markup:
    """Return one side of a word comparison as HTML, with its unique words marked."""
    tag = "del" if which == "old" else "ins"
    parts = [
        Markup("<{0}>{1}</{0}>").format(Markup(tag), shown(s.text))  # noqa: S704 - del or ins
        if s.mark == which
        else shown(s.text)
        for s in spans
        if s.mark in ("same", which)
    ]
    return Markup("").join(parts)


def _unseen(text: str, n: int) -> bool:
    ch = text[n]
    if ch in _JOINERS:
        # They shape scripts and emoji. Between plain letters they are only hidden.
        around = text[max(n - 1, 0) : n] + text[n + 1 : n + 2]
        return len(around) < 2 or around.isascii() or any(map(_hidden, around))
    return _hidden(ch)


def _hidden(ch: str) -> bool:
    code = ord(ch)
    if ch in _BLANKS or code == 0xFE0F:
        return False
    if 0xFE00 <= code <= 0xFE0E or 0xE0100 <= code <= 0xE01EF or ch in "\u115f\u1160\u3164\uffa0":
        return True
    return unicodedata.category(ch) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _spelled(run: str) -> str:
    """Render hidden characters visibly, a long run by its first character and its length."""
    first = run if len(run) <= _MANY else run[:1]
    marks = [
        f'<span class="hid" title="{escape(unicodedata.name(ch, "a character without a name"))}">'
        f"U+{ord(ch):04X}</span>"
        for ch in first
    ]
    if len(run) > _MANY:
        marks.append(f'<span class="hid">and {len(run) - 1} more that are not seen</span>')
    return "".join(marks)


GENERATOR = b'<meta name="generator" content="memrepo '
"""The mark that identifies a page as written by memrepo."""


def inlined(name: str) -> tuple[Markup, str]:
    """Return the content of a style sheet or script, and its hash for the page's policy."""
    text = asset("templates", "views", name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(text), digest  # noqa: S704 - our own file


@cache
def page_template(name: str) -> Template:
    """Return the template of a page. The template escapes every value."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(asset("templates", "views")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters["shown"] = shown
    return environment.get_template(name)


Mark = Literal["same", "old", "new"]
_MIN_SHARED = 0.3
"""Minimum share of common words. Texts with less are shown whole, as marked words would confuse."""
_MAX_WORDS = 3000
"""Longer texts are compared by line, because comparing words takes quadratic time."""
_WIDE = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts written without blanks. Each of their characters counts as a word."""
_WORD = regex(rf"\s+|[{_WIDE}]|(?:(?![{_WIDE}])[\w'’]|(?<=\w)[\u0300-\u036f])+|.", re.DOTALL)


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that is in both wordings or in only one of them."""

    mark: Mark
    text: str


def words(text: str) -> list[str]:
    """Split a text into words, runs of blanks and individual other characters."""
    return _WORD.findall(text)


def word_diff(old: str, new: str) -> tuple[Span, ...]:
    """Return the spans of both texts in reading order, with old spans before new ones.

    Joining all spans except the `new` ones gives the old text. Joining all except the `old` ones
    gives the new text.
    """
    first: Sequence[str] = words(old)
    second: Sequence[str] = words(new)
    if len(first) > _MAX_WORDS or len(second) > _MAX_WORDS:
        first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    shared = sum(len("".join(first[b.a : b.a + b.size]).split()) for b in blocks)
    if shared < _MIN_SHARED * max(len(old.split()), len(new.split())):
        blocks = blocks[-1:]
    spans: list[tuple[str, str, str]] = []  # triples of old, new and common text
    i = j = 0
    for block in blocks:
        same = "".join(first[block.a : block.a + block.size])
        gone, come = "".join(first[i : block.a]), "".join(second[j : block.b])
        i, j = block.a + block.size, block.b + block.size
        # Blanks and punctuation between two changes belong to both sides.
        if spans and not any(ch.isalnum() for ch in spans[-1][2]) and (gone or come):
            before = spans.pop()
            gone, come = before[0] + before[2] + gone, before[1] + before[2] + come
        spans.append((gone, come, same))
    marks: tuple[Mark, ...] = ("old", "new", "same")
    texts = ((mark, text) for span in spans for mark, text in zip(marks, span, strict=True))
    return tuple(Span(mark=mark, text=text) for mark, text in texts if text)


_LABEL = 60
_TEXT = 600
TYPES = ("follows", "references", "supports", "contradicts", "related")


def graph_page(graph: Graph, title: str) -> str:
    """Return the HTML page of a graph. Memories without links are omitted."""
    sheet, sheet_hash = inlined("graph.css")
    script, script_hash = inlined("graph.js")
    linked = [m for id_, m in sorted(graph.memories.items()) if id_ in graph.at]
    place = {memory.id: number for number, memory in enumerate(linked)}
    kinds = Counter(edge.type for edge in graph.edges)
    layers = {memory.layer for memory in linked}
    data = {
        "nodes": [
            {
                "id": memory.id,
                "label": label(memory),
                "type": memory.type,
                "layer": memory.layer,
                "text": text if len(text) <= _TEXT else f"{text[:_TEXT].rstrip()}…",
            }
            for memory in linked
            for text in (visible(without_secrets(memory.body)),)
        ],
        "edges": [
            [place[e.source], place[e.target], e.type, e.strength, e.in_body] for e in graph.edges
        ],
        "layers": [*(x for x in LAYERS if x in layers), *sorted(layers.difference(LAYERS))],
        "types": [kind for kind in TYPES if kind in kinds],
    }
    return page_template("graph.html.j2").render(
        version=__version__,
        title=title,
        sheet=sheet,
        sheet_hash=sheet_hash,
        script=script,
        script_hash=script_hash,
        data=_as_script(data),
        counts=f"{counted(len(graph.edges), 'link', 'links')} between {len(linked)} of "
        + counted(len(graph.memories), "memory", "memories"),
        rows=[
            (label(graph.memories[e.source]), e.type, label(graph.memories[e.target]), e.strength)
            for e in graph.edges
        ],
    )


def label(memory: Memory) -> str:
    """Return a memory's label in the drawing: its title or the beginning of its text."""
    own = memory.body.lstrip(" :–—-\n").replace("**", "")
    return cut(visible(without_secrets(memory.text("title") or own)), _LABEL)


def _as_script(data: dict[str, object]) -> Markup:
    """Encode data as JSON for an HTML script block, so that the JSON cannot end the block."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - no markup is left in it
