"""What pages that stand alone share: templates with escaping, and the hashes of what they run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from memrepo.assets import asset
from memrepo.views.markup import shown

if TYPE_CHECKING:
    from jinja2 import Template

GENERATOR = b'<meta name="generator" content="memrepo '
"""By this a page is known as one that was written here."""


def inlined(name: str) -> tuple[Markup, str]:
    """Return one of our own style sheets or scripts, and its hash for the page's policy."""
    text = asset("templates", "views", name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(text), digest  # noqa: S704 - our own file


@cache
def page_template(name: str) -> Template:
    """Return a template of a page; every value is escaped."""
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
