"""Named rules, the scene they check, their problems, and the rules about memory files.

Rules are pure. They only use file contents by path. All rules are listed in `rules.toml`, from
which docs/rules.md is generated.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from unicodedata import normalize

import msgspec
from msgspec.structs import replace

from memrepo.core import codec
from memrepo.core.codec import changed_keys
from memrepo.core.errors import Problem, problem
from memrepo.core.ids import TAG_PATTERN, as_tag, manual_id
from memrepo.core.layout import AREAS, Layout
from memrepo.core.memory import (
    BY_NAME,
    LAYER_OF_TYPE,
    LAYERS,
    REFERENCES,
    Memory,
    references,
    shown,
    targets,
)
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import find_conflict, read_table, regex
from memrepo.core.secrets import find_secrets

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


def report(rule: str, path: str, variant: str = "", **values: Any) -> Problem:
    """Return the problem that reports a violation of a rule, as `errors.problem` does."""
    return replace(problem(rule, path, variant, **values), severity=all_rules()[rule].severity)


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


def find_unreadable(scene: Scene) -> Iterator[Problem]:
    """Decode every memory file, and check memrepo's other files for conflict markers."""
    for path, (_, problems) in scene.decoded.items():
        is_emptied = not scene.files[path].strip() and scene.before.get(path, b"").strip()
        yield from (replace(p, severity="error") if is_emptied else p for p in problems)
    for path, data in scene.files.items():
        if scene.is_memory(path) or scene.area(path) in ("", "sources"):
            continue
        if line := find_conflict(data.decode("utf-8", "replace")):
            yield report("file-conflict", path, line=line, column=1)


def find(scene: Scene) -> Iterator[Problem]:
    """Check each memory, and report paths that collide on some file systems."""
    seen: dict[str, str] = {}
    for memory in scene.memories:
        if not memory.id:
            yield report("memory-no-id", memory.path, line=1, key="id")
        else:
            yield from _id(scene, memory, seen)
        yield from _place(memory)
        yield from _decay(scene, memory)
    yield from _collisions(scene)


def completed(memory: Memory, now: datetime, taken: Container[str] = ()) -> Memory:
    """Return a manually written memory with any missing id, time, origin and file name added."""
    id_ = memory.id or manual_id(
        created=memory.created or now,
        text=memory.body,
        scope=memory.scope,
        type_=memory.type,
        taken=taken,
    )
    path, digits = memory.path, _right_digits(memory) or ("" if memory.id else id_[4:10])
    if digits:
        path = f"{path.removesuffix('.md')}-{digits}.md"
    given = {"id": id_, "created": memory.created or now}
    if not memory.id and "origin" not in memory.fields:
        given["origin"] = "manual"
    return replace(memory.with_fields(given), path=path)


def _id(scene: Scene, memory: Memory, seen: dict[str, str]) -> Iterator[Problem]:
    other = seen.setdefault(memory.id, memory.path)
    if memory.id in scene.others:
        other = scene.others[memory.id].path
    if other != memory.path and not scene.merging:
        path, id_ = memory.path, memory.id
        yield report("memory-same-id", path, line=1, key="id", id=id_, other=other)
    if digits := _right_digits(memory):
        yield report("memory-file-name", memory.path, key="id", digits=digits)


def _right_digits(memory: Memory) -> str:
    """Return the first digits of a memory's id if its file name ends in those of another id.

    Files are found by these digits. A name without any is one that a person chose.
    """
    named, digits = DIGITS.search(memory.path), memory.id[4:10]
    return digits if named and named[1] != digits else ""


def _place(memory: Memory) -> Iterator[Problem]:
    if memory.layer not in LAYERS:
        if closest := _closest(memory.layer, LAYERS, 0.8):
            layer = shown(memory.layer)
            yield report("memory-layer", memory.path, "misspelt", layer=layer, closest=closest)
    elif (memory.layer == "notes") != memory.is_note:
        found = {"type": memory.type, "layer": memory.layer, "wanted": LAYER_OF_TYPE[memory.type]}
        yield report("memory-layer", memory.path, line=1, key="type", **found)


def _closest(word: str, known: Iterable[str], likeness: float) -> str:
    """Return the known word that is most like a word, or an empty string if none is."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word.casefold(), [*known], n=1, cutoff=likeness)), "")


def _decay(scene: Scene, memory: Memory) -> Iterator[Problem]:
    if not memory.decay:
        return
    from memrepo.policies.rules import TTLS

    known = sorted({*TTLS, *scene.wants.decay_classes})
    if memory.decay not in known:
        closest = _closest(memory.decay, known, 0.6)
        suggestion = f"; did you mean {closest}?" if closest else ""
        yield report(
            "memory-decay-class",
            memory.path,
            line=1,
            key="decay",
            decay=shown(memory.decay),
            known=", ".join(known),
            suggestion=suggestion,
            closest=closest or "stable",
        )


def _collisions(scene: Scene) -> Iterator[Problem]:
    alike: dict[str, set[str]] = {}
    new = {folded(path) for path in scene.files if path not in scene.before}
    twins = (path for path in scene.around if folded(path) in new) if new else ()
    for path in (*scene.files, *twins):
        alike.setdefault(folded(path), set()).add(path)
    for path in sorted(scene.files):
        if others := alike[folded(path)] - {path, *scene.gone}:
            found = report("path-collision", path, other=min(others))
            # Copies are what the workspace has, so a run may write them.
            is_copy = scene.layout is not None and path.startswith(scene.layout.area("sources"))
            yield replace(found, severity="warning") if is_copy else found


_LOOSE = regex(r"[\s_-]+")


def find_unknown_tags(scene: Scene) -> Iterator[Problem]:
    """Check that each tag of the memories is allowed."""
    wants = scene.wants
    for memory in scene.memories:
        for n, tag in enumerate(memory.tags):
            if is_known_tag(tag, wants):
                continue
            line, column = place(scene.files[memory.path], "tags", n)
            yield report(
                "tag-unknown",
                memory.path,
                "listed" if wants.tags else "",
                line=line,
                column=column,
                key=f"tags.{n}",
                tag=shown(tag),
                expected=expected_tag(tag, wants),
                word=shown(as_tag(tag) or "another"),
            )


def expected_tag(tag: str, wants: Wants) -> str:
    """Describe which tag is expected instead of an unknown one."""
    if not wants.tags:
        return f"expected one word that matches the pattern {wants.tag_pattern or TAG_PATTERN}"
    closest = _closest(tag, wants.tags, 0.7)
    return "which is not in the vocabulary" + (f"; did you mean {closest}?" if closest else "")


def is_known_tag(tag: str, wants: Wants) -> bool:
    """Return whether the vocabulary (including its shell patterns) or tag pattern allows a tag."""
    if any(fnmatchcase(tag, allowed) for allowed in wants.tags):
        return True
    pattern = wants.tag_pattern or ("" if wants.tags else TAG_PATTERN)
    return bool(pattern and re.fullmatch(pattern, tag))


def respelled(memory: Memory, wants: Wants) -> Memory:
    """Return a memory with its tags spelled as they are in the vocabulary."""
    tags = tuple(dict.fromkeys(_spelled(tag, wants) for tag in memory.tags))
    return memory if tags == memory.tags else memory.with_fields({"tags": tags})


def _spelled(tag: str, wants: Wants) -> str:
    if is_known_tag(tag, wants):
        return tag
    if not wants.tags and is_known_tag(as_tag(tag), wants):
        return as_tag(tag)
    loose = _LOOSE.sub("", tag.casefold())
    same = [word for word in wants.tags if _LOOSE.sub("", word.casefold()) == loose]
    return same[0] if len(same) == 1 else tag


# Changes of status, which the module `merge.states` checks.
_STATUS = (
    "status",
    "supersedes",
    "superseded_by",
    "superseded_at",
    "archived_at",
)
_COMMANDS: Mapping[str, str] = {
    "verified": "`memrepo confirm` does it",
    "hot": "`memrepo promote` and `promote --off` do it",
    "standing": "`memrepo resolve` does it",
    "gist": "`memrepo edit` rewords the note",
}


def find_by_hand(scene: Scene) -> Iterator[Problem]:
    """Compare each checked memory with its earlier version, except during a manual merge."""
    for memory, old in () if scene.merging else pairs(scene):
        if memory.id != old.id:
            if old.id and not (memory.id in scene.earlier or old.id in scene.by_id):
                line, column = place(scene.files[memory.path], "id")
                path = memory.path
                yield report("id-changed", path, line=line, column=column, key="id", old=old.id)
            continue
        for key in machine_keys(scene, memory, old):
            yield _by_hand(scene, memory, key)


def _is_repaired(scene: Scene, memory: Memory, old: Memory, key: str) -> bool:
    """Return whether a field only lost references to memories that are gone, as by `--fix`."""
    before, after = old.fields.get(key) or (), memory.fields.get(key) or ()
    gone = {*targets(before)} - {*targets(after)}
    there = {*scene.by_id, *scene.occurring(gone)}
    items = () if isinstance(before, str) else before
    rest = tuple(item for item in items if targets((item,))[0] not in gone)
    return bool(gone) and gone.isdisjoint(there) and rest == after


def pairs(scene: Scene) -> Iterator[tuple[Memory, Memory]]:
    """Yield (memory, earlier version) pairs. Earlier versions are found by id or else by path."""
    at = {old.path: old for old in scene.earlier.values()}
    for memory in scene.memories:
        old = scene.earlier.get(memory.id) or at.get(memory.path)
        if old is not None:
            yield memory, old


def machine_keys(scene: Scene, memory: Memory, old: Memory) -> list[str]:
    """Return the machine-written fields changed by hand."""
    keys = changed_keys(old.fields, memory.fields)
    return [
        k
        for k in keys
        if not BY_NAME[k].is_by_person
        and k not in ("id", *_STATUS)
        and not (k in REFERENCES and _is_repaired(scene, memory, old, k))
    ]


def restore_fields(scene: Scene, memory: Memory, old: Memory) -> Memory:
    """Return a memory with its machine-written fields restored."""
    back = {key: old.fields.get(key) for key in machine_keys(scene, memory, old)}
    return memory.with_fields(back) if back else memory


def _by_hand(scene: Scene, memory: Memory, key: str) -> Problem:
    line, column = place(scene.files[memory.path], key)
    values = {"field": key, "command": f"; {_COMMANDS[key]}" if key in _COMMANDS else ""}
    return report("field-by-hand", memory.path, line=line, column=column, key=key, **values)


_SCISSORS = regex(r"^. -+ >8 -+$", re.MULTILINE)
_TRAILER = regex(rf"[ \t]*{PREFIX}[A-Za-z-]+[ \t]*[:=#]", re.IGNORECASE)


def message_problems(path: str, text: str) -> Iterator[Problem]:
    """Yield the problems of a commit message as saved by the editor, including comment lines."""
    cut = _SCISSORS.search(text)
    text = text[: cut.start()] if cut else text
    for number, line in enumerate(text.split("\n"), start=1):
        if _TRAILER.match(line):
            trailer = line.strip().split(":")[0][:40]
            yield report("message-trailer", path, line=number, column=1, trailer=trailer)
    for one in find_secrets(text):
        yield report("message-secret", path, line=one.line, column=one.column, kind=one.kind)
