"""The first line of a page that memrepo wrote: what kind of page it is, and a stamp of the rest.

By it a page that a hand changed can be told from one that is merely old, without a look elsewhere.
"""

from __future__ import annotations

from typing import Literal

from memrepo.core.ids import digest
from memrepo.core.patterns import regex

Kind = Literal["hot", "view"]
Standing = Literal["ours", "edited", "foreign"]

_STAMP = regex(rb"<!-- memrepo:(hot|view) ([0-9a-f]{16}) -->\n")


def stamped(kind: Kind, rest: str) -> bytes:
    """Return a page with its stamp in front."""
    return f"<!-- memrepo:{kind} {_stamp(rest.encode())} -->\n{rest}".encode()


def standing_of(kind: Kind, data: bytes) -> Standing:
    """Tell a page of ours from one that a hand changed and from a foreign file."""
    match = _STAMP.match(data)
    if match is None or match[1].decode() != kind:
        return "foreign"
    return "ours" if _stamp(data[match.end() :]) == match[2].decode() else "edited"


def _stamp(rest: bytes) -> str:
    return digest([rest.decode("utf-8", "surrogateescape")])[:16]
