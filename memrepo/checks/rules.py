"""What a check is made of: named rules, the scene they look at, and what they find there.

A rule is pure: it sees bytes by path, and the rest of the repository through `Around`. Every rule
is in `checks.registry`, from which docs/rules.md is made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import msgspec

from memrepo.core import codec
from memrepo.core import header as headers
from memrepo.core.layout import AREAS, Layout
from memrepo.core.lines import unix
from memrepo.core.memory import Memory, references
from memrepo.core.problems import Problem
from memrepo.core.schema import ASIDE, ASIDES

if TYPE_CHECKING:
    from memrepo.policies.links import Names

Group = Literal["schema", "tags", "links", "secrets", "format", "derived", "size"]
GROUPS: Mapping[Group, str] = MappingProxyType(
    {
        "schema": "Headers, fields, ids and file names",
        "tags": "The vocabulary of tags",
        "links": "What refers to another memory",
        "secrets": "Secrets, personal numbers, and what a person rejected",
        "format": "Characters and the order of keys",
        "derived": "Files and fields that memrepo writes",
        "size": "Bounds of size and nesting",
    }
)
"""The groups of rules, each a hook of its own (`check --only GROUP`)."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule: what it asks for, and what `--fix` does about it, where that is safe."""

    name: str
    group: Group
    doc: str
    mend: str = ""
    severity: Literal["error", "warning"] = "error"

    def found(
        self,
        path: str,
        message: str,
        *,
        line: int = 0,
        column: int = 0,
        key: str = "",
        fix: str = "",
    ) -> Problem:
        """Make a finding of this rule."""
        return Problem(
            path=path,
            rule=self.name,
            message=message,
            line=line,
            column=column,
            key=key,
            fix=fix,
            severity=self.severity,
        )


class Around:
    """What rules may ask of the repository around the checked files; this one knows of nothing."""

    def before(self, path: str) -> bytes | None:
        """Return a file as it was before the change that is checked; None where it was not."""

    def holders(self, ids: Collection[str]) -> Iterable[Memory]:
        """Return the memories, besides the checked files, that have one of these ids."""
        del ids
        return ()

    def called(self, names: Collection[str]) -> Iterable[Memory]:
        """Return the memories, the checked files among them or not, that names may mean.

        A name is an id, a slug with or without the digits of the id, or a title.
        """
        del names
        return ()

    def file(self, path: str) -> bytes | None:
        """Return a file, besides the checked ones, as the change leaves it; None for none."""

    def there(self, path: str) -> bool:
        """Return whether any file, memrepo's or not, is at a path."""
        del path
        return False

    def alike(self, paths: Collection[str]) -> Collection[str]:
        """Return the paths that differ from one of these in case or in the form of accents only."""
        del paths
        return ()

    def below(self, folder: str) -> Mapping[str, bytes]:
        """Return the files below a folder, besides the checked ones."""
        del folder
        return {}

    def naming(self, text: str) -> Collection[str]:
        """Return the paths of memory files that hold a text, such as an id."""
        del text
        return ()


class Wants(msgspec.Struct, frozen=True, kw_only=True):
    """What a repository's configuration asks of its files.

    A tag is in the vocabulary or fits the pattern; without either it fits `TAG_PATTERN`. Without a
    budget of its own the hot cache has that of `HotRules`. `decay_classes` are those that it adds
    to the ones of `TTLS`.
    """

    tags: tuple[str, ...] = ()
    tag_pattern: str = ""
    hot_budget: int | None = None
    decay_classes: tuple[str, ...] = ()


class Scene(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is checked: contents by path, the paths that are deleted, and what is around them.

    Without a layout the files belong to no repository: what they refer to is then not asked.
    `merging` says that git joins two histories by hand: the next command of memrepo's settles what
    that breaks, so rules about more than one file then hold their tongue.
    """

    files: Mapping[str, bytes]
    layout: Layout | None = None
    gone: tuple[str, ...] = ()
    around: Around = msgspec.field(default_factory=Around)
    wants: Wants = msgspec.field(default_factory=Wants)
    merging: bool = False

    @cached_property
    def decoded(self) -> Mapping[str, tuple[Memory | None, tuple[Problem, ...]]]:
        """Return what each memory file says, by path, and what is wrong with it."""
        return {
            path: codec.decode(path, data)
            for path, data in sorted(self.files.items())
            if self.is_memory(path)
        }

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """Return the memories that could be read, by path."""
        return tuple(memory for memory, _ in self.decoded.values() if memory is not None)

    @cached_property
    def names(self) -> Names:
        """Return the memories by all that a text may call them."""
        from memrepo.policies.links import Names

        return Names(self.memories)

    @cached_property
    def earlier(self) -> Mapping[str, Memory]:
        """Return by id what the checked and deleted memories were before the change."""
        found: dict[str, Memory] = {}
        for path in (*self.gone, *self.files):
            data = self.around.before(path) if self.is_memory(path) else None
            if data is None:
                continue
            same = data == self.files.get(path)
            memory = self.decoded[path][0] if same else codec.decode(path, data)[0]
            if memory is not None and memory.id:
                found[memory.id] = memory
        return found

    @cached_property
    def others(self) -> Mapping[str, Memory]:
        """Return by id the memories around that the checked ones name or share an id with."""
        named = {id_ for m in self.memories for id_ in (m.id, *references(m))} - {""}
        paths = {*self.files, *self.gone}
        return {m.id: m for m in self.around.holders(named) if m.path not in paths}

    @cached_property
    def by_id(self) -> Mapping[str, Memory]:
        """Return every memory that is known, those checked before those around."""
        return {**self.others, **{m.id: m for m in reversed(self.memories) if m.id}}

    def is_memory(self, path: str) -> bool:
        """Return whether a file is read as a memory; a loose file is one if it is nothing else."""
        if self.layout is not None:
            return self.layout.is_memory(path)
        return path.endswith(".md") and self.area(path) in ("", "memories")

    def area(self, path: str) -> str:
        """Return the area in which a file lies, or an empty string; loose files show it any way."""
        parts = path.split("/")[:-1]
        if self.layout is None:
            return next((part for part in parts if part in AREAS), "")
        prefix = self.layout.prefix
        area = path.removeprefix(prefix).split("/")[0] if path.startswith(prefix) else ""
        return area if area in AREAS and area in parts else ""

    def in_area(self, area: str) -> Mapping[str, bytes]:
        """Return the files that are in an area, by path."""
        return {p: d for p, d in sorted(self.files.items()) if self.area(p) == area}


def place(data: bytes, key: str, *steps: str | int) -> tuple[int, int]:
    """Return the one-based line and column of a key's value, or of a part of it; (1, 1) for none.

    The key's own line where the part cannot be told from the rest.
    """
    text = data.decode("utf-8", "replace")
    header = headers.read(text, "")
    entries = {entry.key: entry for entry in header.entries}
    if key in ASIDES and key not in entries:
        key, steps = ASIDE, (key, *steps)
    entry = entries.get(key)
    if entry is None:
        return 1, 1
    inner = text.splitlines()[headers.FIRST_LINE - 1 : header.body_line - 2]
    line, column = headers.locate(inner, headers.FIRST_LINE, key, steps)
    return line or entry.first, column or 1


def body_line(data: bytes) -> int:
    """Return the one-based line on which the text of the body begins."""
    text = data.decode("utf-8", "replace")
    header = headers.read(text, "")
    lines = unix(text[header.body_offset :]).split("\n")
    return header.body_line + next((n for n, line in enumerate(lines) if line.strip()), 0)
