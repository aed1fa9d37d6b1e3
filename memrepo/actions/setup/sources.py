"""`memrepo sources`: show the kind of each source file, and the memories that come from it.

The kind of a file determines how many of its thoughts may become memories
(`memrepo/read/kinds.toml`). `memrepo.toml` overrides the kind: `[sources] kinds = ["memory/ideas.md
= rules"]`.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.work import Work
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.read.intake import Reader
from memrepo.read.shelf import shelf_size
from memrepo.store.tree import read_blob


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo sources`."""

    kind: Annotated[
        str | None,
        option("only files of this kind, such as rules or page", "--kind", metavar="KIND"),
    ] = None


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A source with its kind, the reason for the kind, and its numbers of thoughts and memories."""

    path: str
    kind: str
    reason: str
    thoughts: int
    claims: int
    share: float
    """The share of its thoughts that may become memories, 0 to 1."""


class Result(VerbResult, frozen=True, kw_only=True):
    """The sources in path order, and the limit on the total number of memories."""

    files: tuple[SourceFile, ...]
    thoughts: int
    claims: int
    shelf: int | None
    """The maximum number of memories from all sources, or None if there is no limit."""
    largest: tuple[str, int]
    """The file with the most memories, and its share of all memories in per cent."""


def do(work: Work, request: Request) -> Result:
    """List the sources with their kinds, thoughts and memories."""
    texts = [text for text in texts_at(work, {}) if text.blob]
    reader = Reader(texts, lambda blob: read_blob(work.store.repo, blob))
    claims: Counter[str] = Counter()
    for memory in of_types(work.tree.state().active, CLAIM_TYPES):
        claims.update({source.resource for source in memory.sources})
    files = []
    for text in texts:
        found = reader.file_kind(text)
        files.append(
            SourceFile(
                path=text.name,
                kind=found.kind.name,
                reason=found.reason,
                thoughts=len(reader.claims(text.name, text.blob).units),
                claims=claims[text.resource],
                share=found.kind.share,
            )
        )
    wanted = tuple(f for f in files if request.kind in (None, f.kind))
    size = shelf_size(len(files), work.config.get("run.shelf"))
    total = sum(f.claims for f in files)
    most = max(files, key=lambda f: f.claims, default=None)
    return Result(
        files=wanted,
        thoughts=sum(f.thoughts for f in wanted),
        claims=sum(f.claims for f in wanted),
        shelf=None if size == float("inf") else round(size),
        largest=(most.path, round(100 * most.claims / total)) if most and total else ("", 0),
    )
