"""Escape texts for HTML pages and compare two wordings word by word. Memory text is data."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from html import escape
from itertools import groupby
from typing import Literal

import msgspec
from markupsafe import Markup

from memrepo.core.patterns import regex

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


@cache
def _markdown() -> Callable[[str], str]:
    """Return a renderer whose output has no links, no images and no raw HTML."""
    import mistune

    class Renderer(mistune.HTMLRenderer):
        """Renders the marks of a text. Addresses stay text, since anybody may have written them."""

        def text(self, text: str) -> str:
            return str(shown(text))

        def heading(self, text: str, level: int, **_: object) -> str:
            return f"<h{min(level + 2, 6)}>{text}</h{min(level + 2, 6)}>\n"

        def link(self, text: str, url: str, title: str | None = None) -> str:  # noqa: ARG002
            return text if text == url else f"{text} ({shown(url)})"

        image = link

        def codespan(self, text: str) -> str:
            return f"<code>{shown(text)}</code>"

        def block_code(self, code: str, info: str | None = None) -> str:  # noqa: ARG002
            return f"<pre>{shown(code)}</pre>\n"

        def block_html(self, html: str) -> str:
            return f"<p>{shown(html.strip())}</p>\n"

        def inline_html(self, html: str) -> str:
            return str(shown(html))

    render = mistune.create_markdown(renderer=Renderer(), hard_wrap=True)
    return lambda text: str(render(text))


def rendered(text: str) -> Markup:
    """Return a markdown text as HTML. Raw HTML, images and addresses are shown as text."""
    return Markup(_markdown()(text))  # noqa: S704 - the renderer escapes every text


def rendered_line(text: str) -> Markup:
    """Return one line of markdown as HTML without a paragraph around it."""
    return Markup(rendered(text).strip().removeprefix("<p>").removesuffix("</p>"))  # noqa: S704


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
