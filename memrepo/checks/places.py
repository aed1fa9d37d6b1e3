"""Where a value of a header, and where the body, stands in its file."""

from __future__ import annotations

from memrepo.core import header as headers
from memrepo.core.lines import unix
from memrepo.core.schema import ASIDE, ASIDES


def place(data: bytes, key: str, *steps: str | int) -> tuple[int, int]:
    """Return the one-based line and column of a key's value, or of a part of it; (1, 1) for none.

    The key's own line where the part cannot be told from the rest.
    """
    text = data.decode("utf-8", "replace")
    header = headers.read(text, "")
    entries = {entry.key: entry for entry in header.entries}
    if key in ASIDES and key not in entries:
        key, steps = ASIDE, (key, *steps)
    entry = entries.get(key)
    if entry is None:
        return 1, 1
    from memrepo.core import yamlnodes

    inner = text.splitlines()[headers.FIRST_LINE - 1 : header.body_line - 2]
    line, column = yamlnodes.locate(inner, headers.FIRST_LINE, key, steps)
    return line or entry.first, column or 1


def body_line(data: bytes) -> int:
    """Return the one-based line on which the text of the body begins."""
    text = data.decode("utf-8", "replace")
    header = headers.read(text, "")
    lines = unix(text[header.body_offset :]).split("\n")
    return header.body_line + next((n for n, line in enumerate(lines) if line.strip()), 0)
