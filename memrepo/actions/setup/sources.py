"""`memrepo sources`: what each source file is taken for, and what became of its thoughts.

A file's kind decides how much of it may become memories (`memrepo/read/kinds.toml`). What a person
knows better goes into `memrepo.toml`: `[sources] kinds = ["memory/ideas.md = rules"]`.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.run.ingest import texts_at
from memrepo.actions.work import Work
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.purify.intake import Reader
from memrepo.read.shelf import shelf_size
from memrepo.store.tree import read_blob


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `sources`."""

    kind: Annotated[
        str | None,
        option("only files of this kind, such as rules or page", "--kind", metavar="KIND"),
    ] = None


class SourceFile(msgspec.Struct, frozen=True, kw_only=True):
    """One source: its kind and why, its thoughts, and how many memories rest on it."""

    path: str
    kind: str
    reason: str
    thoughts: int
    claims: int
    share: float
    """The share of its thoughts that may become memories, 0 to 1."""


class Result(result.Result, frozen=True, kw_only=True):
    """The sources in path order, and the size of the shelf that they share."""

    files: tuple[SourceFile, ...]
    thoughts: int
    claims: int
    shelf: int | None
    """How many memories runs make of them all; None where there is no limit."""
    largest: tuple[str, int]
    """The file that most memories rest on, and their share of all in per cent."""


def do(work: Work, request: Request) -> Result:
    """List what each source is taken for, with its thoughts and memories."""
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
