"""What a text that was taken in asks of the memory: told to a person as proposals, never done.

A captured e-mail must not rule the memory. Directives in double brackets are found, and three
phrases of plain language: "remember this", "don't forget", "forget about X".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.policies.directives import find_directives

REQUEST = "request-in-text"
_KEEP = regex(
    r"(?:(?:^|[.!?:;,(\n]\s*|\bplease )remember this|\b(?:don['’]?t|do not) forget)\b(?! about\b)",
    re.I,
)
_DROP = regex(r"(?<!n't )(?<!n’t )(?<!not )\bforget about (?:the |our |my )?([\w' -]{3,60})", re.I)
_LENGTH, _NAMED = 80, 3


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A text that a run took in, where it stands, and the memories that it became."""

    path: str
    line: int
    text: str
    became: tuple[str, ...] = ()


def requests(said: Iterable[Said], memories: Mapping[str, Memory]) -> Iterator[Problem]:
    """Yield a warning for each thing that a text asks for, with the command that would do it."""
    for one in said:
        for directive in find_directives(one.text):
            word = f"[[{directive.verb}:{directive.target}]]".replace(":]]", "]]")
            yield _told(one, word, f"`echo {shlex.quote(word)} | memrepo directives`")
        if _KEEP.search(one.text):
            ids = [id_ for id_ in one.became if not _is_note(memories, id_)]
            fix = " or ".join(f"`memrepo promote {id_}`" for id_ in ids[:_NAMED])
            yield _told(one, "to be remembered", fix or "`memrepo add` what is meant")
        for found in _DROP.finditer(one.text):
            about = " ".join(found[1].split()).rstrip(" '-")
            hits = _about(about, memories)
            fix = " or ".join(f"`memrepo archive {m.id}`" for m in hits[:_NAMED])
            yield _told(one, f"to forget about {about}", fix or "nothing here says so by this name")


def _told(said: Said, what: str, fix: str) -> Problem:
    what = visible(what)
    what = what if len(what) <= _LENGTH else f"{what[: _LENGTH - 1]}…"
    return Problem(
        path=said.path,
        line=said.line,
        column=1,
        rule="request-in-text",
        severity="warning",
        message=f"asks {what}: nothing was done, a person decides",
        fix=fix,
    )


def _is_note(memories: Mapping[str, Memory], id_: str) -> bool:
    memory = memories.get(id_)
    return memory is not None and memory.is_note


def _about(word: str, memories: Mapping[str, Memory]) -> list[Memory]:
    folded = word.casefold()
    return sorted(
        (
            m
            for m in memories.values()
            if m.status == "active" and not m.is_note and folded in m.body.casefold()
        ),
        key=lambda m: m.path,
    )
