"""The list of what was decided against (`tombstones/<key>.md`), and its matching with memories.

A tombstone is a readable file: the statement, who decided, when and why. Hashes of the text and the
triple find exact matches, words find similar texts. A tombstone never expires. Undoing a rejection
deletes its file, and git merges both.

A rejection applies to statements, however a text is split (`merge.statements`). A rejected line,
item, row or sentence is removed from any memory that contains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple
from zlib import crc32

import msgspec
from msgspec.structs import replace

from memrepo.core import header
from memrepo.core.changes import Update
from memrepo.core.header import entry_lines
from memrepo.core.ids import digest, text_hash, visible
from memrepo.core.layout import Layout, below
from memrepo.core.memory import Memory, having
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.times import EARLIEST
from memrepo.merge.statements import (
    Statement,
    leave_out,
    look,
    parts_of,
    plain,
    similarity,
    statements,
    text_key,
    tokens,
)

if TYPE_CHECKING:
    from memrepo.core.state import State

KEY_PATTERN = regex(r"ts-[0-9a-f]{16}")
SIMILAR = 0.85
"""The similarity (Dice coefficient of the words) from which a run leaves a text out."""
STANDS_ALONE_WORDS = 5
"""The number of words from which a statement has the same meaning under any heading."""
MIN_WORDS, MIN_PART_WORDS = 2, 4
"""The minimum number of words of a statement in a larger text, and of a part of a rejected one.
Shorter texts such as "None" or "vim" are too general."""
MAX_PARTS = 500


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """A rejected statement, as stored in a tombstone file. The statement is the file's text.

    `claim` is its subject, predicate and object, if it has all. `heading` is what a `key: value`
    statement is about. `memory` is the id of the rejected memory, and `forgotten` are the ids that
    the rejection removed from recall. `units` are the hashes of its source texts and former
    wordings.
    """

    key: Annotated[str, msgspec.Meta(pattern=f"^{KEY_PATTERN.pattern}$")]
    statement: str = ""
    scope: str = ""
    claim: tuple[str, ...] = ()
    heading: str = ""
    memory: str = ""
    units: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    reason: str = ""
    by: str
    at: datetime

    @property
    def summary(self) -> str:
        """Return who rejected the statement, the date, and the tombstone's key, as a text."""
        return f"{visible(self.by)} rejected on {self.at:%Y-%m-%d} ({self.key})"

    @property
    def text(self) -> str:
        """Return the hash of the statement, equal for texts that look the same."""
        return text_key(self.statement)

    @property
    def bare(self) -> str:
        """Return the hash of the statement without accents and marks, where it has any."""
        bare = text_key(plain(self.statement))
        return bare if bare != self.text else ""

    @property
    def triple(self) -> str:
        """Return the hash of the claim, or "" without one."""
        return _triple_key(self.claim)

    @property
    def tokens(self) -> frozenset[str]:
        """Return short hashes of the words."""
        return tokens(self.statement)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the hashes of the lines and sentences, if there is more than one."""
        parts = parts_of(self.statement, MIN_WORDS)
        return tuple(dict.fromkeys(map(text_key, parts)))[:MAX_PARTS]

    @property
    def about(self) -> str:
        """Return the hash of a `key: value` statement with its heading, or "" without both."""
        pair = _whole(self.statement).pair
        return _triple_key((self.heading, *pair)) if self.heading and pair[0] else ""


def tombstone_of(
    memory: Memory, *, reason: str, by: str, at: datetime, forgotten: Iterable[str] = ()
) -> Tombstone:
    """Create a tombstone for the text of a memory. It applies in the scope of the memory."""
    scope = memory.text("scope")
    claim = tuple(memory.text(key) for key in _TRIPLE)
    return Tombstone(
        key=_name(look(scope), text_key(memory.body), _triple_key(claim)),
        statement=memory.body,
        scope=scope,
        claim=claim if all(claim) else (),
        heading=next(reversed(_names(memory)), ""),
        units=tuple(sorted(_hashes(memory))),
        memory=memory.id,
        forgotten=tuple(forgotten),
        reason=reason,
        by=by,
        at=at,
    )


_TRIPLE = ("subject", "predicate", "object")


def _names(memory: Memory) -> list[str]:
    """Return the names of the subject of a memory, taken from its fields, outermost first."""
    shown = (memory.text("title"), *memory.text("context").split("›"))
    return [name for name in (*shown, memory.text("subject")) if _NAME.search(name)]


def _name(place: str, text: str, triple: str) -> str:
    return f"ts-{digest([place, text, triple])[:16]}"


def _triple_key(triple: Iterable[str]) -> str:
    """Return the hash of a triple, or an empty string if any part of the triple is missing."""
    parts = [look(part) for part in triple]
    return f"tk-{digest(parts)[:32]}" if parts and all(parts) else ""


_ROW = regex(r"\s*\|")
_NAME = regex(r"[^\W\d_]{2}")
"""Matches a heading that names something. A date does not."""


class Traits(NamedTuple):
    """What a memory is compared by: hashes of its text and of its triple, and its scope."""

    texts: frozenset[str]
    triple: str
    place: str

    def are_rejected_by(self, stone: Tombstone) -> bool:
        """Return whether a tombstone rejects the whole memory.

        If both have a complete triple, the triples are compared, because `green` under two headings
        is two statements. A rejection with a scope applies in that scope and without one.
        """
        if self.place and stone.scope and look(stone.scope) != self.place:
            return False
        if stone.triple and self.triple:
            return stone.triple == self.triple
        return stone.text in self.texts or stone.bare in self.texts


def _traits(memory: Memory) -> Traits:
    triple = tuple(memory.text(key) for key in _TRIPLE)
    return _traits_of(memory.body, triple, memory.text("scope"))


# A merge calls this for all memories, and accepting a run performs a merge per decision.
@lru_cache(maxsize=1 << 16)
def _traits_of(text: str, triple: tuple[str, ...], scope: str) -> Traits:
    key, whole, place = text_key(text), _triple_key(triple), look(scope)
    return Traits(
        texts=frozenset((key, text_key(plain(text)))),
        triple=whole,
        place=place,
    )


def _prints(memory: Memory) -> str:
    """Return short hashes of everything in a memory that a tombstone may match."""
    traits = _traits(memory)
    inner = {key for one in statements(memory.body) for key in one.keys}
    keys = {memory.id, traits.triple} | traits.texts | inner
    return " ".join(sorted(map(_short, keys - {""})))


def _short(key: str) -> str:
    return f"{crc32(key.encode('utf-8', 'surrogatepass')):x}"


class Tombstones:
    """The tombstones of one state. In a condition, the object is false if nothing is barred.

    `problems` lists unreadable files.
    """

    matches_without_context = True
    """Whether `key: value` without any heading matches a rejected statement."""

    def __init__(
        self,
        found: Mapping[str, Tombstone] | None = None,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        self.found = dict(sorted((found or {}).items()))
        self.problems = problems
        self.active = [*self.found.values()]
        self._exact: dict[str, list[Tombstone]] = {}
        for stone in self.active:
            for key in {stone.memory, stone.triple, stone.text, stone.bare} - {""}:
                self._exact.setdefault(key, []).append(stone)
        self._units = {unit: stone for stone in self.active for unit in stone.units}
        self._tokens = [(stone, stone.tokens) for stone in self.active]
        self._stated: dict[str, list[Tombstone]] = {}
        for stone in self.active:
            whole = (stone.text, stone.bare) if len(stone.tokens) >= MIN_WORDS else ()
            for key in {*filter(None, whole), *stone.parts}:
                self._stated.setdefault(key, []).append(stone)

    def __bool__(self) -> bool:
        return bool(self._exact)

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys of the tombstones."""
        return frozenset(stone.key for stone in self.active)

    def bar(self, memory: Memory) -> Tombstone | None:
        """Return a tombstone that matches a memory or one of its statements, or None."""
        return self.bar_whole(memory) or next((stone for _, stone in self.stated_in(memory)), None)

    def bar_whole(self, memory: Memory) -> Tombstone | None:
        """Return a tombstone that matches a memory as a whole, or None."""
        if not self:
            return None
        traits = _traits(memory)
        found = [*self._exact.get(memory.id, ())]
        for key in sorted({traits.triple} | traits.texts):
            found += (s for s in self._exact.get(key, ()) if traits.are_rejected_by(s))
        return found[0] if found else None

    def stated_in(self, memory: Memory) -> list[tuple[Statement, Tombstone]]:
        """Return the rejected statements in the text of a memory, with the matching tombstones."""
        if not self._stated:
            return []
        scope = memory.text("scope")
        return self.stated(memory.body, _names(memory), scope, is_log=memory.is_note)

    def stated(
        self, text: str, names: Iterable[str] = (), scope: str = "", *, is_log: bool = False
    ) -> list[tuple[Statement, Tombstone]]:
        """Return the rejected statements in a text, with the matching tombstones.

        The whole text is not compared. `names` is what the text is about: `status: green` under two
        headings is two statements. In a log, headings are ignored.
        """
        found: list[tuple[Statement, Tombstone]] = []
        for stone, key_of in self._matches(text, scope):
            whole = [one for one, key in key_of if key in (stone.text, stone.bare)]
            if whole and (is_log or self._is_same(stone, whole[0], names)):
                found += ((one, stone) for one in whole)
            elif stone.parts and {*stone.parts} <= {key for _, key in key_of}:
                found += ((one, stone) for one, _ in key_of)
        return found

    def _matches(
        self, text: str, scope: str, *, whole: bool = False
    ) -> list[tuple[Tombstone, list[tuple[Statement, str]]]]:
        """Return the statements of a text that equal a rejected statement or part of one."""
        found: dict[str, tuple[Tombstone, list[tuple[Statement, str]]]] = {}
        bare = text.strip()
        for one in statements(text) if self._stated else ():
            if one.text == bare and not whole:
                continue
            for key in one.keys:
                for stone in self._stated.get(key, ()):
                    if not (scope and stone.scope) or look(scope) == look(stone.scope):
                        found.setdefault(stone.key, (stone, []))[1].append((one, key))
        return [found[key] for key in sorted(found)]

    def _is_same(self, stone: Tombstone, one: Statement, names: Iterable[str]) -> bool:
        """Return whether a statement that looks like a rejected one also has the same subject."""
        if len(stone.tokens) >= STANDS_ALONE_WORDS:
            return True
        if not one.pair[0]:
            return len(stone.tokens) > MIN_WORDS
        named = [_triple_key((name, *one.pair)) for name in names if _NAME.search(name)]
        if not named or not (stone.triple or stone.about):
            return self.matches_without_context
        return stone.triple in named or stone.about in named

    def shortening(self, memory: Memory) -> Update | None:
        """Return an update that removes all rejected statements from a memory, or None without any.

        If nothing else remains, the update forgets the memory.
        """
        found = [one for one, _ in self.stated_in(memory)]
        if not found:
            return None
        rest = leave_out(memory.body, found)
        if not rest:
            return Update(id=memory.id, fields={"status": "forgotten"})
        fields: dict[str, object] = {"gist": None} if memory.has("gist") else {}
        if memory.sources:  # because the source lines are unchanged
            fields["sources"] = memory.sources
        return Update(id=memory.id, fields=fields, body=rest)

    def bars_all(self, memory: Memory) -> bool:
        """Return whether a memory consists only of rejected statements."""
        if self.bar_whole(memory) is not None:
            return True
        update = self.shortening(memory)
        return update is not None and update.body is None

    def suspected(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        """Return the memories that may match a tombstone, selected by short hashes of the keys."""
        if not self:
            return memories[:0]
        wanted = {_short(key) for key in (*self._exact, *self._stated)}
        rule = "what a rejection may match"
        return [
            m for m in memories if not wanted.isdisjoint(m.once(rule, partial(_prints, m)).split())
        ]

    def near(self, memory: Memory) -> Tombstone | None:
        """Return a tombstone similar to a memory, which a person must then review, or None.

        Such a memory has only sources of a rejected statement, equals a former wording of it, or
        shares at least `SIMILAR` of its words. For claims, each statement is also compared.
        """
        units = {s.text_hash for s in memory.sources if s.text_hash}
        if units and units <= self._units.keys():
            return self._units[min(units)]
        if stone := self._units.get(text_hash(memory.body)):
            return stone
        texts = [memory.body]
        if not memory.is_note:
            if (stone := self._partly(memory)) is not None:
                return stone
            texts += [one.text for one in statements(memory.body) if not one.is_run]
        first, *parts = map(tokens, texts)
        words = [first, *(part for part in parts if len(part) >= MIN_PART_WORDS)]
        scored = (
            (similarity(one, rejected), stone) for stone, rejected in self._tokens for one in words
        )
        score, stone = max(scored, key=lambda found: found[0], default=(0.0, None))
        return stone if score >= SIMILAR else None

    def _partly(self, memory: Memory) -> Tombstone | None:
        """Return the tombstone whose text, or a sufficient part of it, is in a claim, or None.

        Sufficient is a part that is the whole claim, a part of several words, or two parts.
        """
        scope, text = memory.text("scope"), memory.body
        for stone, key_of in self._matches(text, scope, whole=True):
            keys = {key for _, key in key_of}
            is_whole = stone.text in keys or stone.bare in keys
            if not is_whole and _ROW.match(text) and leave_out(text, [one for one, _ in key_of]):
                continue  # a table with rows of its own
            long = any(len(tokens(one.text)) >= MIN_PART_WORDS for one, _ in key_of)
            alone = any(one.text == text.strip() for one, _ in key_of)
            if is_whole or long or alone or len(keys) > 1:
                return stone
        return None


class Corrected(Tombstones):
    """Superseded texts, and texts declared untrue, which must not return from other files.

    They do not bar evidence with a later date. The files that stated the correction may revert it.
    """

    matches_without_context = False

    def __init__(self, state: State) -> None:
        self.correcting_sources: dict[str, frozenset[str]] = {}
        """The source paths that stated each correction, by key."""
        found = dict(self._superseded(state))
        super().__init__(found)
        self._former = dict(self._reworded(state))

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self._former)

    @property
    def spelled(self) -> str:
        """Return a string that represents all corrections. Equal corrections have equal strings."""
        sources = [(key, sorted(names)) for key, names in sorted(self.correcting_sources.items())]
        former = sorted((hash_, stone.key) for hash_, stone in self._former.items())
        return repr((sorted(self.found.items()), sources, former))

    def stated(
        self, text: str, names: Iterable[str] = (), scope: str = "", *, is_log: bool = False
    ) -> list[tuple[Statement, Tombstone]]:
        """Return the corrected statements within a text, including former wordings of memories."""
        found = super().stated(text, names, scope, is_log=is_log)
        for one in statements(text) if self._former else ():
            stone = self._former.get(text_hash(one.text))
            if stone is not None and one.text != text.strip() and not one.pair[0]:
                found.append((one, stone))
        return found

    def _reworded(self, state: State) -> Iterator[tuple[str, Tombstone]]:
        """Yield (hash of a former text, tombstone) for each text that a person reworded."""
        for memory in having(state.every, ("aliases", "former")):
            stamp = memory.fields.get("generated")
            if memory.status == "active" and stamp is not None and stamp.by.startswith("human:"):
                key = f"{memory.id}:{memory.id}"
                self.correcting_sources[key] = frozenset()
                stone = Tombstone(key=key, by=stamp.by, at=stamp.at or EARLIEST)
                yield from ((hash_, stone) for hash_ in memory.former_hashes)

    def _superseded(self, state: State) -> Iterator[tuple[str, Tombstone]]:
        for memory in (one for one in state.every if one.status == "superseded"):
            named = memory.texts("superseded_by")
            by = [state.memories[id_] for id_ in named if id_ in state.memories]
            if by and all(one.status == "forgotten" for one in by):
                continue  # the correction itself was wrong
            sources = frozenset(s.resource for one in by for s in one.sources)
            at = memory.time("superseded_at") or EARLIEST
            yield self._bound(named[0] if named else "", memory, at, sources)

    def _bound(
        self, by: str, memory: Memory, at: datetime, sources: frozenset[str]
    ) -> tuple[str, Tombstone]:
        key = f"{by}:{memory.id}"
        self.correcting_sources[key] = sources
        made = tombstone_of(memory, reason="corrected", by=by, at=at)
        return key, replace(made, key=key, units=(), memory="")

    def bar_whole(self, memory: Memory) -> Tombstone | None:
        """Return a correction that matches a memory. If the text is short, subjects must match."""
        stone = super().bar_whole(memory)
        if stone is None:
            return None
        return stone if self._is_same(stone, _whole(memory.body), _names(memory)) else None

    def binds(self, stone: Tombstone, resource: str, captured: str, *, whole: bool) -> bool:
        """Return whether a correction bars a statement found in a source.

        `captured` is the date of the statement, or empty. If `whole`, the complete source is read
        again, including content from before the correction.
        """
        later = captured[:10] > stone.at.date().isoformat()
        return not later and (whole or resource not in self.correcting_sources[stone.key])


class Forgotten:
    """The texts of forgotten memories, which no note and no search result shows again."""

    def __init__(self, state: State) -> None:
        gone = [m for m in state.every if m.status == "forgotten" and not m.is_note]
        rest = (m for m in state.every if m.status != "forgotten") if gone else ()
        hashes = {h for m in gone for h in _hashes(m)}.difference(*map(_hashes, rest))
        self._keys = {key for m in gone for key in _whole(m.body).keys} | hashes

    def __bool__(self) -> bool:
        return bool(self._keys)

    @property
    def spelled(self) -> str:
        """Return a string that represents all texts. Equal texts have equal strings."""
        return " ".join(sorted(self._keys))

    def stated(self, text: str) -> list[Statement]:
        """Return the statements within a text that are a forgotten text, or its source."""
        if not self:
            return []
        every = statements(text)
        return [s for s in every if not self._keys.isdisjoint((*s.keys, text_hash(s.text)))]


def _whole(text: str) -> Statement:
    return Statement(start=0, end=0, text=text)


def _hashes(memory: Memory) -> set[str]:
    return {s.text_hash for s in memory.sources if s.text_hash} | {*memory.former_hashes}


def forgotten_in(state: State) -> Forgotten:
    """Return the texts of a state whose memory was forgotten."""
    return state.once(Forgotten)


def describe_bar(key: str) -> tuple[str, str]:
    """Return why a statement is barred, such as `rejected as ts-…`, and how to undo the bar."""
    by, _, memory = key.partition(":")
    if memory == by:
        return f"corrected by {by}", f"`memrepo edit {memory}`, if it is right after all"
    if memory:
        return f"corrected by {by}", f"`memrepo restore {memory}`, if it is right after all"
    return f"rejected as {key}", f"`memrepo reject {key} --undo`, if it is right after all"


def corrected_in(state: State) -> Corrected:
    """Return the texts of a state that were superseded, or that a correction declared untrue."""
    return state.once(Corrected)


REJECTED = "rejected-value"
"""The rule for a file that contains a rejected statement."""


def brought_back(memory: Memory, stone: Tombstone) -> Problem:
    """Return the problem to report for a memory file that contains a rejected statement."""
    return Problem(
        path=memory.path,
        rule=REJECTED,
        severity="warning",
        message=f"states what {stone.summary}: it is excluded from recall",
        fix="remove that statement from the file, or delete the file;"
        f" `memrepo reject {stone.key} --undo` if it is right after all",
    )


def held_against(state: State) -> State:
    """Return a copy of a state in which all barred memories are forgotten. No file is changed."""
    stones = tombstones_in(state)
    if not stones:
        return state
    barred = ((memory, stones.bar(memory)) for memory in stones.suspected(state.every))
    found = [(m, stone) for m, stone in barred if stone is not None and m.status != "forgotten"]
    if not found:
        return state
    memories = dict(state.memories)
    memories.update((m.id, m.with_fields({"status": "forgotten"})) for m, _ in found)
    return replace(
        state,
        memories=MappingProxyType(memories),
        problems=(*state.problems, *(brought_back(*one) for one in found)),
    )


def sweep(state: State) -> Iterator[Update]:
    """Yield updates that forget or shorten each memory that a tombstone of the state matches."""
    stones = tombstones_in(state)
    for memory in stones.suspected(state.every):
        if memory.status == "forgotten":
            continue
        if stones.bar_whole(memory) is not None:
            yield Update(id=memory.id, fields={"status": "forgotten"})
        elif (update := stones.shortening(memory)) is not None:
            yield update


def path_of(layout: Layout, key: str) -> str:
    """Return the path of the tombstone with the given key."""
    return f"{layout.area('tombstones')}{key}.md"


def is_tombstone(layout: Layout, path: str) -> bool:
    """Return whether a path is a tombstone file."""
    return path.startswith(layout.area("tombstones")) and path.endswith(".md")


def tombstones_in(state: State) -> Tombstones:
    """Return the tombstones of a state. The result is cached."""
    return state.once(_in_state)


def _in_state(state: State) -> Tombstones:
    return read_tombstones(state.files, state.layout)


def read_tombstones(files: Mapping[str, bytes], layout: Layout) -> Tombstones:
    """Read all tombstones. One that cannot be read is a problem, and bars nothing."""
    paths = (p for p in below(files, layout.area("tombstones")) if is_tombstone(layout, p))
    read = [read_tombstone(path, files[path]) for path in paths]
    found = {one.key: one for one in read if isinstance(one, Tombstone)}
    return Tombstones(found, tuple(one for one in read if isinstance(one, Problem)))


def read_tombstone(path: str, data: bytes) -> Tombstone | Problem:
    """Decode a tombstone. Unknown keys are ignored."""
    head = header.split(data, path)
    errors = [p.message for p in head.problems if p.severity == "error"]
    values = {entry.key: entry.value for entry in head.entries}
    text = data.decode("utf-8", "replace")[head.body_offset :]
    values["statement"] = text.removeprefix("\n").removesuffix("\n")
    try:
        if not errors:
            return msgspec.convert(values, Tombstone, strict=False)
    except msgspec.ValidationError as error:
        errors = [str(error)]
    return Problem(
        path=path,
        rule="tombstone-unreadable",
        message=f"{errors[0]}: what it rejects is not kept out",
        fix="restore the file from history, or reject the memory again",
    )


def tombstone_bytes(stone: Tombstone) -> bytes:
    """Format a tombstone as a file that a person can read."""
    lines = ["---"]
    for name, value in msgspec.to_builtins(stone).items():
        if value and name != "statement":
            lines += entry_lines(name, [*value] if isinstance(value, (list, tuple)) else value)
    return "\n".join([*lines, "---", "", stone.statement, ""]).encode("utf-8", "surrogatepass")


def join_tombstones(one: Tombstone, other: Tombstone) -> Tombstone:
    """Merge two tombstones of the same statement: the later decision, with the evidence of both."""
    return replace(
        max(one, other, key=lambda s: (s.at, s.by, s.reason)),
        units=tuple(sorted({*one.units, *other.units})),
        forgotten=tuple(sorted({*one.forgotten, *other.forgotten})),
    )
