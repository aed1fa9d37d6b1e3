"""Find the links and references between memories, and the directives of a text.

A body refers to a memory by a wikilink (`[[slug]]`, `[[layer:slug]]`, `[[mem-...]]`, `[[Title]]`)
or by a markdown link to its file. Such a reference counts as a link of type `references` and is not
stored as a field. Lineage: openclaw-engram, memory linking, where the traversal was announced but
not built.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal
from urllib.parse import unquote

import msgspec

from memrepo.core.ids import ID_PATTERN, slugify
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.patterns import regex

_WIKILINK = regex(
    r"\[\[ *+(?P<name>[^\[\]|#\n]{1,200}?)\\? *"
    r"(?:#[^\[\]|\n]{0,200})?(?:\|[^\[\]\n]{0,200})?\]\]"
)
_FILE_LINK = regex(
    r"(?<!!)\[[^\[\]\n]{0,300}\]"
    r"\( *<?(?P<path>[^()<>\s#]{1,400}\.md)(?:#[^()<>\s]{0,200})?>?(?=[ )])"
)
_FENCE = r"^ {0,3}(?:(?P<ticks>`{3,})[^`\n]*|(?P<waves>~{3,})[^\n]*)$"
_FENCE_END = r"(?:^ {0,3}(?:(?P=ticks)`*|(?P=waves)~*)[ \t]*\r?$|\Z)"
_CODE_SPAN = r"(?P<span>`+)(?!`)[^\n]*?(?<!`)(?P=span)(?!`)"
_CODE = regex(rf"(?ms){_FENCE}.*?{_FENCE_END}|{_CODE_SPAN}")
"""Code in markdown: a fenced block or a code span. An unclosed fence extends to the end of the
text.
"""
SUPERSEDES = "supersedes"
"""The type of the edge from a memory to one that it replaced. It is derived from two fields."""


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A link from one memory to another."""

    source: str
    target: str
    type: str
    strength: float
    in_body: bool = False


class Names:
    """An index of memories by every name that a text may use for them."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self._ids: dict[str, set[str]] = defaultdict(set)
        for memory in memories:
            slug = memory.slug
            names = {memory.id, memory.path, slug, slug[:-7], *map(slugify, memory.aliases)}
            names |= {f"{memory.layer}:{name}" for name in (slug, slug[:-7])}
            for name in names:
                self._ids[name].add(memory.id)

    def find(self, name: str) -> str:
        """Return the id of the memory that a name refers to."""
        layer, _, rest = name.rpartition(":")
        named = self._ids.get(name)
        if named is None and layer in ("", *LAYERS) and not ID_PATTERN.fullmatch(name):
            named = self._ids.get(f"{layer}:{slugify(rest)}".lstrip(":"))
        return next(iter(named)) if named and len(named) == 1 else ""


def body_references(memory: Memory, names: Names) -> tuple[str, ...]:
    """Return the distinct ids of the memories that another memory's body refers to, in order."""
    wikilinks = (match["name"] for match in _WIKILINK.finditer(memory.body))
    paths = (_target_of(match, memory.path) for match in _FILE_LINK.finditer(memory.body))
    found = [names.find(name) for name in (*wikilinks, *paths)]
    return tuple(id_ for id_ in dict.fromkeys(found) if id_ and id_ != memory.id)


def _target_of(match: re.Match[str], here: str) -> str:
    """Resolve a link in the file `here` to a path. A leading slash means the root."""
    path = unquote(match["path"])
    folder = "" if path.startswith("/") else posixpath.dirname(here)
    return posixpath.normpath(posixpath.join(folder, path.lstrip("/")))


def edges_of(memory: Memory, names: Names) -> Iterator[Edge]:
    """Yield the outgoing edges of a memory: its links first, then the references in its body."""
    links = memory.links
    for link in links:
        yield Edge(source=memory.id, target=link.target, type=link.type, strength=link.strength)
    linked = {link.target for link in links if link.type == "references"}
    for id_ in body_references(memory, names):
        if id_ not in linked:
            yield Edge(source=memory.id, target=id_, type="references", strength=1.0, in_body=True)


def successions(memories: Iterable[Memory]) -> Iterator[Edge]:
    """Yield an edge from each memory to every memory that it replaced."""
    pairs = (
        pair
        for m in memories
        for pair in (
            *((m.id, old) for old in m.supersedes),
            *((new, m.id) for new in m.superseded_by),
        )
    )
    for new, old in dict.fromkeys(pairs):
        yield Edge(source=new, target=old, type=SUPERSEDES, strength=1.0)


def edges_between(memories: Iterable[Memory], *, lineage: bool = False) -> list[Edge]:
    """Return the edges between some memories, with `lineage` also to what a memory replaced."""
    every = {memory.id: memory for memory in memories}
    names = Names(every.values())
    found = chain(
        (edge for memory in every.values() for edge in edges_of(memory, names)),
        successions(every.values()) if lineage else (),
    )
    return [edge for edge in found if {edge.source, edge.target} <= every.keys()]


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
    for verb, layer, slug, keyword, word, health in _DIRECTIVE.findall(_CODE.sub(" ", text)):
        if verb:
            found.append(Directive(verb=verb, target=f"{layer}:{slug}"))
        elif keyword:
            found.append(Directive(verb="forget keyword", target=word))
        elif health:
            found.append(Directive(verb="memory_health"))
    return tuple(dict.fromkeys(found))
