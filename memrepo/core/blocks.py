"""A marked block in somebody else's text file: put in, renewed, taken out; the rest stays."""

from __future__ import annotations

import re

from memrepo.core.patterns import regex

_SAYS = "(memrepo keeps this block; `memrepo agent uninstall` removes it)"
BEGIN = f"<!-- memrepo:begin {_SAYS} -->"
END = "<!-- memrepo:end -->"
_BLOCK = regex(r"(?:\r?\n)?<!-- memrepo:begin.*?<!-- memrepo:end -->\r?\n?", re.DOTALL)
_TOML_BEGIN = f"# memrepo:begin {_SAYS}"
_TOML_END = "# memrepo:end"
_TOML_BLOCK = regex(r"(?:\r?\n)?^# memrepo:begin.*?^# memrepo:end$\r?\n?", re.DOTALL | re.MULTILINE)


def with_block(text: str, body: str, *, toml: bool = False) -> str:
    """Return a text with one block of ours at its end, in place of any that it had."""
    rest = without_block(text, toml=toml)
    joint = "" if not rest or rest.endswith("\n") else "\n"
    begin, end = (_TOML_BEGIN, _TOML_END) if toml else (BEGIN, END)
    return f"{rest}{joint}{chr(10) if rest else ''}{begin}\n{body.strip()}\n{end}\n"


def without_block(text: str, *, toml: bool = False) -> str:
    """Return a text without our block."""
    return (_TOML_BLOCK if toml else _BLOCK).sub("", text)
