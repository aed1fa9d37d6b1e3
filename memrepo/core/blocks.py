"""A marked block in somebody else's markdown file: put in, renewed, taken out; the rest stays."""

from __future__ import annotations

import re

from memrepo.core.patterns import regex

BEGIN = "<!-- memrepo:begin (memrepo keeps this block; `memrepo agent uninstall` removes it) -->"
END = "<!-- memrepo:end -->"
_BLOCK = regex(r"(?:\r?\n)?<!-- memrepo:begin.*?<!-- memrepo:end -->\r?\n?", re.DOTALL)


def with_block(text: str, body: str) -> str:
    """Return a text with one block of ours at its end, in place of any that it had."""
    rest = without_block(text)
    joint = "" if not rest or rest.endswith("\n") else "\n"
    return f"{rest}{joint}{chr(10) if rest else ''}{BEGIN}\n{body.strip()}\n{END}\n"


def without_block(text: str) -> str:
    """Return a text without our block."""
    return _BLOCK.sub("", text)
