"""Find directives in a text (`[[...]]`), and compute the steps that carry them out.

Lineage: layered-memory-manager, manual tag triggers. `forget` only removes a memory from the hot
cache. Only the command `memrepo directives` executes directives. In ingested text they are data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Step, Update
from memrepo.core.memory import Hot, Memory
from memrepo.core.patterns import regex
from memrepo.policies.archive import unarchive
from memrepo.policies.hotcache import REQUEST, demote, hot_of, promote
from memrepo.policies.links import without_code

Verb = Literal["pin", "promote", "forget", "forget keyword", "restore", "memory_health"]
_NAMED = r"(pin|promote|forget|restore) *: *([^\[\]:\s]{1,100}) *: *([^\[\]\s]{1,200})"
_KEYWORD = r"(forget keyword) *: *+([^\[\]\n]{1,200}?)"
_DIRECTIVE = regex(rf"\[\[ *(?:{_NAMED}|{_KEYWORD}|(memory_health)) *\]\]")


class Directive(msgspec.Struct, frozen=True, kw_only=True):
    """A directive: its verb, and its target, which is a memory (`layer:slug`) or a keyword."""

    verb: Verb
    target: str = ""


def find_directives(text: str) -> tuple[Directive, ...]:
    """Return the distinct directives in a text, in order. Directives in code are ignored."""
    found: list[Directive] = []
    for verb, layer, slug, keyword, word, health in _DIRECTIVE.findall(without_code(text)):
        if verb:
            found.append(Directive(verb=verb, target=f"{layer}:{slug}"))
        elif keyword:
            found.append(Directive(verb="forget keyword", target=word))
        elif health:
            found.append(Directive(verb="memory_health"))
    return tuple(dict.fromkeys(found))


Find = Callable[[str], Memory | None]
"""Return the memory for a `layer:slug`, or None."""


def steps_of(
    directive: Directive, memories: Iterable[Memory], find: Find, now: datetime
) -> tuple[Step, ...] | None:
    """Return the steps that carry out a directive, which may be none.

    Return None if no memory has the given name.
    """
    if directive.verb == "memory_health":
        return ()
    if directive.verb == "forget keyword":
        word = directive.target.casefold()
        hits = [m for m in memories if word in f"{m.slug}\n{m.body}".casefold()]
        return tuple(s for m in sorted(hits, key=lambda m: m.path) for s in forgotten(m, now))
    memory = find(directive.target)
    if memory is None:
        return None
    match directive.verb:
        case "pin" if not memory.flag("pinned"):
            change = Update(id=memory.id, fields={"pinned": True})
            return (Step(op="pin", reason=REQUEST, changes=(change,)),)
        case "promote" if hot_of(memory) is None and memory.status == "active":
            return () if memory.type in ("note", "chunk") else (promote(memory, now, REQUEST),)
        case "forget":
            return forgotten(memory, now)
        case "restore" if memory.status == "archived":  # not superseded or forgotten
            return (unarchive(memory, REQUEST),)
    return ()


def forgotten(memory: Memory, now: datetime, why: str = "asked to forget") -> tuple[Step, ...]:
    """Return a step that removes a memory from the hot cache and prevents later runs adding it.

    The flag `critical` is cleared, because it would bring the memory back. Return no step if the
    memory is neither hot nor critical.
    """
    if hot_of(memory) is None and not memory.flag("critical"):
        return ()
    off = Update(id=memory.id, fields={"hot": Hot(until=now, reason=REQUEST)})
    critical = (Update(id=memory.id, fields={"critical": None}),) if memory.flag("critical") else ()
    return (replace(demote(memory, now, why), changes=(off, *critical)),)
