"""Templates of the pages: every value is escaped, and what is hidden in it is spelled out."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from memrepo.assets import asset
from memrepo.core.secrets import without_secrets
from memrepo.views.markup import shown
from memrepo.views.wording import in_words


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([asset("templates", "web"), asset("templates", "views")]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters["shown"] = lambda text: shown(without_secrets(str(text)))
    environment.filters["coded"] = _coded
    environment.filters["plain"] = in_words
    return environment


def _coded(text: str) -> Markup:
    """Return a text of ours for a page, its commands in backticks as code."""
    parts = str(shown(without_secrets(text))).split("`")
    pairs = (f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
    return Markup("".join(pairs))  # noqa: S704 - every part was escaped


def rendered(template: str, **values: object) -> str:
    """Return a page."""
    return _environment().get_template(template).render(**values)
