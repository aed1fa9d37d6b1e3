"""Common parts of HTML pages: templates that escape, and hashes of styles and scripts."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from memrepo.assets import asset

if TYPE_CHECKING:
    from jinja2 import Template


import unicodedata
from collections.abc import Iterable
from html import escape
from itertools import groupby

from memrepo.views.worddiff import Mark, Span

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
