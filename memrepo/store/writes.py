"""What each commit of a span wrote, as blobs by path, oldest first: one git process a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.patterns import regex
from memrepo.store.light import call

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_COMMIT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Wrote(msgspec.Struct, frozen=True, kw_only=True):
    """One commit, and the blobs before and after it by path; empty where there is no file."""

    commit: str
    blobs: dict[str, tuple[str, str]]


def writes(repo: Repo, base: str, head: str) -> Iterator[Wrote]:
    """Yield the commits that are in `head` and not in `base`; merges write nothing of their own."""
    raw = call(
        repo,
        "-c",
        "log.showSignature=false",
        "log",
        "--reverse",
        "--topo-order",
        "--no-merges",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "-z",
        "--format=%x00%H",
        f"{base}..{head}",
        "--",
    )
    words = iter(raw.split("\0"))
    found: Wrote | None = None
    for word in words:
        word = word.strip("\n")
        if word.startswith(":"):
            old, new = word.split(" ")[2:4]
            if found is not None:
                found.blobs[next(words)] = (_blob(old), _blob(new))
        elif _COMMIT.fullmatch(word):
            if found is not None:
                yield found
            found = Wrote(commit=word, blobs={})
    if found is not None:
        yield found


def _blob(text: str) -> str:
    return "" if set(text) == {"0"} else text
