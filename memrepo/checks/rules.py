"""The building blocks of checks: named rules, the scene they check, and their problems.

Rules are pure. They only use file contents by path. All rules are listed in `rules.toml`, from
which docs/rules.md is generated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from unicodedata import normalize

import msgspec

from memrepo.core import codec
from memrepo.core.errors import Problem
from memrepo.core.layout import AREAS, Layout
from memrepo.core.memory import Memory, references
from memrepo.core.patterns import read_table, regex

Group = Literal["schema", "tags", "links", "secrets", "format", "derived", "size"]
GROUPS: Mapping[Group, str] = MappingProxyType(
    {
        "schema": "Headers, fields, ids and file names",
        "tags": "The tag vocabulary",
        "links": "References to other memories",
        "secrets": "Secrets, personal numbers and rejected statements",
        "format": "Characters and the order of keys",
        "derived": "Files and fields that memrepo writes",
        "size": "Limits of size",
    }
)
"""The groups of rules, with the titles of their tables in docs/rules.md."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A named rule: what it requires, and what `--fix` does if an automatic fix is safe."""

    name: str
    group: Group
    doc: str
    repair: str = ""
    severity: Literal["error", "warning"] = "error"


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return all rules by name, including those for commit messages."""
    table = read_table(Path(__file__).with_name("rules.toml"))
    return {name: Rule(name=name, **row) for name, row in table.items()}


def report(
    rule: str,
    path: str,
    message: str,
    *,
    line: int = 0,
    column: int = 0,
    key: str = "",
    fix: str = "",
) -> Problem:
    """Return the problem that reports a violation of a rule."""
    return Problem(
        path=path,
        rule=rule,
        message=message,
        line=line,
        column=column,
        key=key,
        fix=fix,
        severity=all_rules()[rule].severity,
    )


def folded(path: str) -> str:
    """Return a path in normalized case and Unicode form, as some file systems compare paths."""
    return path.casefold() if path.isascii() else normalize("NFC", path.casefold())


class Wants(msgspec.Struct, frozen=True, kw_only=True):
    """The repository settings that checks use.

    A tag must be in the vocabulary or match the pattern. Without either it must match
    `TAG_PATTERN`. `decay_classes` are
    added to those of `TTLS`.
    """

    tags: tuple[str, ...] = ()
    tag_pattern: str = ""
    decay_classes: tuple[str, ...] = ()


class Scene(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The input of a check: files by path, deleted paths, and the rest of the repository.

    `around` has the other files after the change, and may have the checked ones too, and `loose`
    those that git does not track. `before` has the checked and deleted files as they were. Without
    a layout the files belong to no repository, and references are not checked. `merging` is true
    during a manual merge in git. Rules about several files are then skipped, because git calls the
    hook before the merge is complete. A later check reports what they require.
    """

    files: Mapping[str, bytes]
    layout: Layout | None = None
    gone: tuple[str, ...] = ()
    around: Mapping[str, bytes] = MappingProxyType({})
    loose: Mapping[str, bytes] = MappingProxyType({})
    before: Mapping[str, bytes] = MappingProxyType({})
    wants: Wants = msgspec.field(default_factory=Wants)
    merging: bool = False

    @cached_property
    def decoded(self) -> Mapping[str, tuple[Memory | None, tuple[Problem, ...]]]:
        """Return {path: (decoded memory, problems)} of the checked memory files."""
        return {
            path: codec.decode(path, data)
            for path, data in sorted(self.files.items())
            if self.is_memory(path)
        }

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        """Return the checked memories that could be decoded, sorted by path."""
        return tuple(memory for memory, _ in self.decoded.values() if memory is not None)

    @cached_property
    def earlier(self) -> Mapping[str, Memory]:
        """Return {id: earlier version} of the checked and deleted memories."""
        found: dict[str, Memory] = {}
        for path in (*self.gone, *self.files):
            data = self.before.get(path) if self.is_memory(path) else None
            if data is None:
                continue
            same = data == self.files.get(path)
            memory = self.decoded[path][0] if same else codec.decode(path, data)[0]
            if memory is not None and memory.id:
                found[memory.id] = memory
        return found

    @cached_property
    def _by_digits(self) -> Mapping[str, Sequence[str]]:
        return self._grouped((*self.files, *self.around))

    def _grouped(self, paths: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return {first digits of the id: paths} of the memories among files, by their names."""
        found = defaultdict[str, list[str]](list)
        for path in self.layout.memory_files(paths) if self.layout else ():
            if path not in self.gone:
                found[match[1] if (match := DIGITS.search(path)) else ""].append(path)
        return found

    @cached_property
    def others(self) -> Mapping[str, Memory]:
        """Return {id: memory} of unchecked memories whose ids checked memories use or refer to."""
        named = {id_ for m in self.memories for id_ in (m.id, *references(m))} - {""}
        digits = sorted({*map(_digits, named)})
        paths = (path for six in ("", *digits) for path in self._by_digits.get(six, ()))
        rest = [path for path in paths if path not in self.files]
        found = (codec.decode(path, self.around[path])[0] for path in rest)
        return {memory.id: memory for memory in found if memory is not None and memory.id in named}

    def occurring(self, ids: Collection[str]) -> Collection[str]:
        """Return those of the given ids that any file has, even an unreadable or untracked one."""
        groups = (self._by_digits, self._grouped(self.loose)) if ids else ()
        unnamed = (path for group in groups for path in group.get("", ()))
        data = (self.files.get(p) or self.around.get(p) or self.loose[p] for p in unnamed)
        lines = {line for one in data for line in one.splitlines()}
        named = {id_ for id_ in ids for group in groups if _digits(id_) in group}
        return named | {id_ for id_ in ids if f"id: {id_}".encode() in lines}

    @cached_property
    def by_id(self) -> Mapping[str, Memory]:
        """Return {id: memory} of all known memories. Checked memories take precedence."""
        return {**self.others, **{m.id: m for m in reversed(self.memories) if m.id}}

    def is_memory(self, path: str) -> bool:
        """Return whether a file is a memory. A loose file is one unless it is in another area."""
        if self.layout is not None:
            return self.layout.is_memory(path)
        return path.endswith(".md") and self.area(path) in ("", "memories")

    def area(self, path: str) -> str:
        """Return the name of the area that contains a file, or an empty string.

        For a loose file, search all its folders.
        """
        parts = path.split("/")[:-1]
        if self.layout is None:
            return next((part for part in parts if part in AREAS), "")
        prefix = self.layout.prefix
        area = path.removeprefix(prefix).split("/")[0] if path.startswith(prefix) else ""
        return area if area in AREAS and area in parts else ""

    def in_area(self, area: str) -> Mapping[str, bytes]:
        """Return {path: content} of the files in an area."""
        return {p: d for p, d in sorted(self.files.items()) if self.area(p) == area}


DIGITS = regex(r"-([0-9a-f]{6})\.md$")
"""What ends the name of a memory's file, unless a person renamed it."""


def _digits(id_: str) -> str:
    return id_.removeprefix("mem-")[:6]


def place(data: bytes, key: str, *steps: str | int) -> tuple[int, int]:
    """Return the one-based (line, column) of a key's value, or of a part of this value.

    Return the position of the key if the part cannot be located, and (1, 1) if there is no such
    key.
    """
    text = data.decode("utf-8", "replace")
    header = codec.read_header(text, "")
    return header.place((key, *steps)) if (key,) in header.places else (1, 1)
