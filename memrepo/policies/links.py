"""Find the links between memories, the names that they share, and the directives of a text.

A body refers to a memory by a wikilink (`[[slug]]`, `[[layer:slug]]`, `[[mem-...]]`, `[[Title]]`)
or by a markdown link to its file. Such a reference counts as a link of type `references` and is not
stored as a field. Lineage: openclaw-engram, memory linking, where the traversal was announced but
not built.

Names of people, projects, hosts and tools are computed on reading and never stored. A memory's
field `entities` only has names that a person set, or that a model named and the evidence contains.
All others are found here by rules. A similar spelling never makes two names one.

Links are proposed from an inverted index of names, without comparing all pairs of memories.
Lineage: openclaw-engram, link expansion at consolidation (co-occurring entities and temporal
proximity), which was planned there but not built. A name in few memories connects them, and a name
in many does not. After the links were added, a second call proposes none.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import chain, combinations
from typing import Any, Literal
from urllib.parse import unquote

import msgspec

from memrepo.core.ids import ID_PATTERN, normalise, slugify
from memrepo.core.memory import (
    CLAIM_TYPES,
    LAYERS,
    REFERENCES,
    Link,
    Memory,
    having,
    of_types,
    references,
    without_chunks,
)
from memrepo.core.patterns import regex
from memrepo.core.state import Step, Update
from memrepo.core.times import MONTHS
from memrepo.text.words import entries, fold, language_of, table, tables

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
        self._of_note: dict[str, list[str]] = defaultdict(list)
        for memory in sorted(memories, key=lambda memory: (memory.first, memory.id)):
            for note in dict.fromkeys(map(_note_name, memory.files)):
                self._of_note[note].append(memory.id)
            names = {memory.id, memory.path, *memory.names, *map(slugify, memory.aliases)}
            names |= {f"{memory.layer}:{name}" for name in memory.names}
            for name in names:
                self._ids[name].add(memory.id)

    def find(self, name: str) -> Sequence[str]:
        """Return the id of the memory that a name refers to.

        Without one, the name is that of a source note. Return its first memories, by line.
        """
        layer, _, rest = name.rpartition(":")
        named = self._ids.get(name)
        if named is None and layer in ("", *LAYERS) and not ID_PATTERN.fullmatch(name):
            named = self._ids.get(f"{layer}:{slugify(rest)}".lstrip(":"))
        if named:
            return tuple(named) if len(named) == 1 else ()
        return self._of_note.get(_note_name(name), ())[:_MOST_LINKS]


def _note_name(path: str) -> str:
    return normalise(posixpath.basename(path).removesuffix(".md"))


def body_references(memory: Memory, names: Names) -> tuple[str, ...]:
    """Return the distinct ids of the memories that another memory's body refers to, in order."""
    wikilinks = (match["name"] for match in _WIKILINK.finditer(memory.body))
    paths = (_target_of(match, memory.path) for match in _FILE_LINK.finditer(memory.body))
    found = chain.from_iterable(map(names.find, (*wikilinks, *paths)))
    return tuple(id_ for id_ in dict.fromkeys(found) if id_ != memory.id)


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


# -- names in texts, and the links that they propose -----------------------------------------------

LONGEST = 60
_TICKED = regex(r"`([^`\s]{2,40})`")
_HOST = regex(r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,12}(?![\w.]*\w)")
_HANDLE = regex(r"(?<![\w@.])@[A-Za-z][\w-]{1,38}")
_MIXED = regex(r"(?<![\w./-])(?:[A-Za-z][a-z0-9]*[a-z][A-Z]\w*|[A-Z]{2,}[A-Z0-9]*|[a-z]\d+[a-z])\b")
_WORD = r"[^\W\d_a-zß-öø-ÿа-яё][\w'’&-]*"
_NAME = regex(
    rf"(?<![\w.@/`-]){_WORD}(?:[ \t]+(?:(?:de|da|del|der|van|von|la|le)[ \t]+)?{_WORD}){{0,3}}"
)
_LOWER = regex(r"(?<![\w./-])[^\WA-ZÀ-ÖØ-ÞА-ЯЁ\d_][^\WA-ZÀ-ÖØ-ÞА-ЯЁ\d_]*(?![\w./-])")
"""A word without capitals."""
_FILES = frozenset(
    "md py txt json toml yaml yml sh html csv log js ts css cfg ini pdf png jpg".split()
)
_ENDS = ".!?:;。！？-–—|>\n"


def mentions(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the names in a text. Return the certain names and the possible names.

    Single words at the beginning of a sentence are only possible names. In German texts this
    applies to all single words, because German capitalises every noun.
    """
    sure: dict[str, None] = {}
    maybe: dict[str, None] = {}
    for found in _TICKED.finditer(text):
        if not found[1].startswith(("-", "/", ".", "$", "~")) and any(map(str.isalpha, found[1])):
            sure[found[1]] = None
    plain = _TICKED.sub(lambda m: " " * len(m[0]), text)
    for form in (_HOST, _HANDLE, _MIXED):
        for found in form.finditer(plain):
            if found[0].rpartition(".")[2] not in _FILES and _may_name(found[0]):
                sure[found[0]] = None
    is_german = language_of(fold(plain).split(), plain) == "german"
    for found in _NAME.finditer(plain):
        name = _trimmed(found[0])
        if not name or name in sure or not name[0].isupper():
            continue
        first = found[0].startswith(name) and _begins(plain, found.start())
        if " " in name or not (first or is_german):
            sure[name] = None
        else:
            maybe[name] = None
    return tuple(sure), tuple(m for m in maybe if m not in sure)


def _begins(text: str, at: int) -> bool:
    """Return whether a sentence, line or list item begins at an offset of a text."""
    before = text[max(0, at - 12) : at].rstrip(" \t\"'*_([«„“‘")
    return not before or before[-1] in _ENDS


def _trimmed(name: str) -> str:
    """Remove a possessive ending, and words at both ends that cannot be part of a name."""
    words = re.sub(r"['’]s?$", "", name).split()
    while words and not _may_name(words[0]):
        words.pop(0)
    while words and not _may_name(words[-1]):
        words.pop()
    return " ".join(words)


@cache
def _no_names() -> frozenset[str]:
    """Return capitalised words that are not names: common words, days and months."""
    own = [table(language, "dates") for language, _ in tables("names")]
    days = " ".join(
        row for one in own for key in ("weekdays", "months") for row in one.get(key, ())
    )
    return frozenset(map(normalise, (*entries("names", "common"), *MONTHS, *days.split())))


def _may_name(word: str) -> bool:
    return 2 <= len(word) <= LONGEST and normalise(word) not in _no_names()


_fold = lru_cache(maxsize=1 << 15)(normalise)
"""Cached, because each run folds the same names of many memories."""


def _holders(memories: Sequence[Memory]) -> Mapping[str, list[str]]:
    """Map each name to the ids of the memories that mention it.

    A possible name counts if another text or a field `entities` has it as a certain one. Words
    that claims have in lower case are none: `DO NOT` is emphasis, and labels have a capital. A word
    in backticks is one if more claims have it there than in plain text.
    """
    read = [(memory, _named(memory)) for memory in without_chunks(memories)]
    bodies = [memory.body for memory in of_types(memories, CLAIM_TYPES)]
    plain, coded = (
        Counter(_fold(word) for words in found for word in set(words))
        for found in (
            [_LOWER.findall(_TICKED.sub("", body)) for body in bodies],
            [_TICKED.findall(body) for body in bodies],
        )
    )
    words = {word for word, count in plain.items() if count >= coded[word]}
    known = {_fold(n) for memory, (sure, _) in read for n in (*sure, *memory.entities)}
    found: dict[str, list[str]] = defaultdict(list)
    for memory, (sure, maybe) in read:
        likely = (n for n in (*maybe, memory.subject) if _fold(n) in known)
        named = {n for n in map(_fold, (*sure, *likely)) if not words.issuperset(n.split())}
        for name in sorted(named.union(map(_fold, memory.entities))):
            found[name].append(memory.id)
    return found


def _named(memory: Memory) -> list[list[Any]]:
    """Return the certain names and the possible names in a memory's title and body."""

    def work_out() -> list[list[Any]]:
        text = f"{memory.title}\n{memory.body}".strip()
        return [list(found) for found in mentions(text)]

    return memory.once("names", work_out)


_RARE = 12
"""A name in more memories than this connects none of them."""
_LEAST = 0.5
"""The minimum strength of a link."""
_LINKED_NAME = 0.6
_DAY = 0.3
_NEAR = 7
_MOST_LINKS = 5
"""A memory with this many links gets no more by a run."""


def link_step(memories: Sequence[Memory], never: Collection[str] = ()) -> Step | None:
    """Return a step that adds missing links between active memories, or None if no link is missing.

    Only claims are linked, because notes leave the work tree. Pairs that are already linked are
    skipped. Links in `never` are skipped too, because a person reverted them.
    """
    claims = {memory.id: memory for memory in of_types(memories, CLAIM_TYPES)}
    holding = having(memories, REFERENCES)
    tied = {frozenset((m.id, id_)) for m in holding for id_ in references(m)}
    has: Counter[str] = Counter(id_ for pair in tied for id_ in pair)
    found = {
        pair: (_strength(counts, days), days)
        for pair, counts in _sharing(claims, _holders(memories)).items()
        for days in [_days(*(claims[id_] for id_ in pair))]
    }
    new: dict[str, list[Link]] = defaultdict(list)
    for pair, (strength, days) in sorted(found.items(), key=lambda row: (-row[1][0], row[0])):
        if strength < _LEAST:
            break
        # The later memory links to the earlier one.
        target, source = sorted((claims[id_] for id_ in pair), key=lambda m: (m.captured, m.id))
        if frozenset(pair) in tied or f"{source.id} links {target.id}" in never:
            continue
        if all(has[id_] < _MOST_LINKS for id_ in pair):
            has.update(pair)
            kind = "follows" if days is not None and 0 < days <= _NEAR else "related"
            new[source.id].append(Link(target=target.id, type=kind, strength=strength))
    if not new:
        return None
    return Step(
        op="link",
        reason="the linked memories mention the same rare names",
        changes=tuple(
            Update(id=id_, fields={"links": (*claims[id_].links, *links)})
            for id_, links in sorted(new.items())
        ),
    )


def _sharing(
    claims: Mapping[str, Memory], holders: Mapping[str, Iterable[str]]
) -> dict[tuple[str, str], list[int]]:
    """Map each pair of claims that shares rare names to the numbers of memories with each name.

    The ids of a pair are sorted. Memories of different scopes are never paired.
    """
    shared: dict[tuple[str, str], list[int]] = defaultdict(list)
    for ids in map(sorted, holders.values()):
        if len(ids) <= _RARE:
            for pair in combinations([id_ for id_ in ids if id_ in claims], 2):
                if claims[pair[0]].scope == claims[pair[1]].scope:
                    shared[pair].append(len(ids))
    return shared


def _strength(counts: Iterable[int], days: int | None) -> float:
    """Return the strength of a link, 0 to 1. Each reason reduces the remaining doubt."""
    doubt = math.prod(1 - _LINKED_NAME / math.sqrt(count - 1) for count in sorted(counts))
    if days is not None and days <= _NEAR:
        doubt *= 1 - _DAY * (1 - days / (_NEAR + 1))
    return round(1 - doubt, 2)


def _days(one: Memory, other: Memory) -> int | None:
    """Return the number of days between the evidence of two memories, or None if one is undated."""
    try:
        first, second = (date.fromisoformat(memory.captured[:10]) for memory in (one, other))
    except ValueError:
        return None
    return abs((first - second).days)
