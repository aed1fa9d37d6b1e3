"""Where the links in a text lead, and how they are written for files that lie elsewhere.

What a text may call a memory is as in `graph`. A text that an import took over calls the others as
the program that it came from did: by the path, the name or the key of a file there.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import quote, unquote

import msgspec

from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.policies.graph import Names, code_spans

_WIKI = regex(
    r"(?P<embed>!?)\[\[ *+(?P<name>[^\[\]|#\n]{1,200}?)\\? *(?P<part>#[^\[\]|\n]{0,200})?"
    r"(?:\|(?P<shown>[^\[\]\n]{0,200}))?\]\]"
)
_MARKDOWN = regex(
    r"(?<!!)\[(?P<shown>[^\[\]\n]{0,300})\]"
    r"\( *(?P<to><?(?P<path>[^()<>\s#]{1,400}\.md)(?P<part>#[^()<>\s]{0,200})?>?)(?=[ )])"
)
_ABROAD = regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ODD = regex(r"[\s()<>%\"'#?]")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A link in a text: where it stands, the memory that it names, and what a reader sees."""

    start: int
    end: int
    id: str
    text: str
    """The link as it stands there; of a markdown link, its address alone."""
    shown: str
    part: str
    """The heading within the memory that it leads to, with its sign; often empty."""
    wiki: bool = False
    embed: bool = False
    """Whether what it leads to is to be shown in its place."""
    row: bool = False
    """Whether it stands in a row of a table."""


class Targets:
    """Finds the memories that texts link to; a link to any other thing is none of its own."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        every = sorted(memories, key=_first)
        self._names = Names(every)
        self._paths: dict[str, str] = {m.path: m.id for m in every}
        self._taken: dict[str, str] = {}
        called: dict[str, set[str]] = defaultdict(set)
        for memory in every:
            path, key = _origin(memory)
            if path and path not in self._taken:
                self._taken[path] = memory.id
                for name in (path, posixpath.basename(path), key):
                    called[_plain(name)].add(memory.id)
        self._called = {name: ids.pop() for name, ids in called.items() if name and len(ids) == 1}

    def of(self, memory: Memory) -> Iterator[Target]:
        """Yield the links of a text that name another memory, in order; none in code."""
        body = memory.body
        if "[[" not in body and ".md" not in body:
            return
        found = [*self._wikilinks(body), *self._file_links(memory)]
        code = code_spans(body) if found else []
        for one in sorted(found, key=lambda one: one.start):
            if one.id != memory.id and not any(a <= one.start < b for a, b in code):
                yield one

    def _wikilinks(self, body: str) -> Iterator[Target]:
        for match in _WIKI.finditer(body):
            name, part = match["name"], (match["part"] or "").rstrip("\\ ")
            if id_ := self._names.find(name) or self._called.get(_plain(name), ""):
                line = body.rfind("\n", 0, match.start()) + 1
                yield Target(
                    start=match.start(),
                    end=match.end(),
                    id=id_,
                    text=match[0],
                    shown=(match["shown"] or "").strip() or f"{name}{part}",
                    part=part,
                    wiki=True,
                    embed=bool(match["embed"]),
                    row=body[line : match.start()].lstrip().startswith("|"),
                )

    def _file_links(self, memory: Memory) -> Iterator[Target]:
        origin, _ = _origin(memory)
        for match in _MARKDOWN.finditer(memory.body):
            path = unquote(match["path"])
            if _ABROAD.match(path):
                continue
            id_ = self._paths.get(_joined(memory.path, path), "")
            if not id_ and origin:
                id_ = self._taken.get(_joined(origin, path), "")
            if id_:
                yield Target(
                    start=match.start("to"),
                    end=match.end("to"),
                    id=id_,
                    text=match["to"],
                    shown=match["shown"],
                    part=match["part"] or "",
                )

    def same(self, one: Memory, other: Memory) -> bool:
        """Tell whether two texts differ by nothing but how their links are written."""
        return self._resolved(one) == self._resolved(other)

    def _resolved(self, memory: Memory) -> str:
        def spelt(one: Target) -> str:
            return f"[{one.shown}](\0{one.id})" if one.wiki else f"\0{one.id}"

        return rewritten(memory.body, self.of(memory), spelt)


def rewritten(body: str, links: Iterable[Target], spelt: Callable[[Target], str]) -> str:
    """Return a text with each of its links as `spelt` has it."""
    pieces, at = list[str](), 0
    for one in links:
        pieces += [body[at : one.start], spelt(one)]
        at = one.end
    return "".join([*pieces, body[at:]])


def address(link: Target, path: str, start: str) -> str:
    """Return the address of a file as seen from another one, both by their paths in one folder.

    One that leads there as it stands is kept.
    """
    if not link.wiki and _joined(start, unquote(link.text.strip("<>").split("#")[0])) == path:
        return link.text
    found = posixpath.relpath(path, posixpath.dirname(start) or ".")
    return (quote(found, safe="/") if _ODD.search(found) else found) + link.part * (not link.wiki)


def _first(memory: Memory) -> tuple[tuple[int, int], str]:
    return (memory.sources[0].lines if memory.sources else (0, 0)), memory.path


def _origin(memory: Memory) -> tuple[str, str]:
    """Return the path of the file that an import made a memory of, and its key there."""
    if memory.text("origin") != "import" or not memory.sources:
        return "", ""
    _, _, rest = memory.sources[0].resource.partition("://")
    path, _, key = rest.partition("#")
    return path, key


def _plain(name: str) -> str:
    return name.removesuffix(".md").strip("/ ").casefold()


def _joined(start: str, path: str) -> str:
    """Return where a link of a file leads; one that begins with a slash starts at the top."""
    folder = "" if path.startswith("/") else posixpath.dirname(start)
    return posixpath.normpath(posixpath.join(folder, path.lstrip("/")))
