"""Commit messages: a bounded subject, a body that says why, and trailers a program can trust.

Newlines in values are folded: a newline in a reason could forge a trailer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.ids import visible
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.core.changes import Step

SUBJECT_LENGTH = 72
REASON_LENGTH = 500
PREFIX = "Memrepo-"
_BLANKS = regex(r"\s+")


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What every commit of one command shares: run id (or empty), actor, commits reverted.

    `settles` are merges that git made and that are set right.
    `prints` are fingerprints of a step that is written again and whose changes are not at hand.
    `subject` stands in the subject instead of the step's own words.
    """

    actor: str
    run: str = ""
    reverts: tuple[str, ...] = ()
    extra: Mapping[str, str] | None = None
    prints: tuple[str, ...] = ()
    settles: tuple[str, ...] = ()
    subject: str = ""


def fold(text: str, limit: int) -> str:
    """Put a value on one line, without invisible characters, at most `limit` characters long."""
    line = _BLANKS.sub(" ", visible(text)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int) -> str:
    """Put a text on one line of at most `limit` characters for a reader: no word is broken."""
    line = fold(text, limit)
    if not line.endswith("…") or line == _BLANKS.sub(" ", visible(text)).strip():
        return line
    whole = line.rpartition(" ")[0].rstrip(" ,;:–—-")
    return f"{whole}…" if len(whole) > limit // 2 else line


def counted(count: int, one: str, many: str) -> str:
    """Spell a count with its noun: `1 page`, `2 pages`."""
    return f"{count} {one if count == 1 else many}"


def counted_as(count: int, many: str) -> str:
    """Spell a count with words that may begin with one of our nouns: `1 note`, `2 new`."""
    noun, *more = many.split(" ", 1)
    return " ".join([counted(count, _ONE.get(noun, noun), noun), *more])


_ONE = {
    "candidates": "candidate",
    "claims": "claim",
    "entries": "entry",
    "files": "file",
    "links": "link",
    "memories": "memory",
    "notes": "note",
    "sources": "source",
    "summaries": "summary",
    "units": "unit",
}


def message(step: Step, context: Context) -> str:
    """Spell the commit message of a step."""
    from memrepo.core.changes import BULK_OPS, prints_of

    subject = fold(f"{step.op}: {context.subject or step.what}", SUBJECT_LENGTH)
    trailers = [("Run", context.run)] if context.run else []
    trailers.append(("Op", step.op))
    trailers += [("Memory", id_) for id_ in step.memory_ids]
    trailers.append(("Actor", context.actor))
    if step.reason:
        trailers.append(("Reason", step.reason))
    trailers += [("Reverts", commit) for commit in context.reverts]
    trailers += [("Settles", commit) for commit in context.settles]
    if step.op in BULK_OPS and step.op != "create":
        trailers += [("Print", p) for c in step.changes for p in sorted(prints_of(step.op, c))]
    trailers += [("Print", p) for p in context.prints]
    trailers += sorted((context.extra or {}).items())
    lines = [f"{PREFIX}{key}: {fold(value, REASON_LENGTH)}" for key, value in trailers]
    body = [fold(step.reason, REASON_LENGTH), ""] if step.reason else []
    return "\n".join([subject, "", *body, *lines]) + "\n"
