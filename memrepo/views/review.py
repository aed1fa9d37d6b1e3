"""A run, a commit or a range as a reviewer is shown it: what changed, why, and on what evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec

from memrepo.core.differences import KINDS, Difference, Kind
from memrepo.core.fields import Node, bare
from memrepo.core.memory import Memory, Source
from memrepo.core.schema import BY_NAME

Standing = Literal["waits", "landed", "commit", "range"]
"""What is shown: a waiting run, a run in effect, one commit, or what lies between two commits."""
SUMMARIES: Mapping[Kind, tuple[str, str]] = {
    "superseded": ("Superseded", "an older statement gives way to a newer one"),
    "retired": ("Retired", "nothing bears it out any more: kept, and no longer believed"),
    "removed": ("Removed", "the file goes; history keeps it"),
    "forgotten": ("Forgotten", "taken out of recall"),
    "archived": ("Archived", "put away; recall says that it is there"),
    "restored": ("Restored", "back in recall"),
    "reworded": ("Reworded", "the same memory in other words"),
    "standing": ("Standing", "how sure we are of it"),
    "added": ("Added", "new memories"),
    "evidence": ("Evidence", "the same words, other sources"),
    "confirmed": ("Confirmed", "somebody said that it holds"),
    "promoted": ("Promoted", "onto the hot cache, or out of the notes"),
    "demoted": ("Demoted", "off the hot cache"),
    "tier": ("Tier moves", "notes that age, or return"),
    "confidence": ("Confidence", "how much it is trusted"),
    "flags": ("Flags", "pinned, critical, asked for"),
    "links": ("Links", "what it is tied to"),
    "moved": ("Moved", "the file lies elsewhere"),
    "fields": ("Other fields", "everything else that a memory says of itself"),
}
"""Heading and explanation of each kind of change."""
UNTOLD = ("sources", "superseded_by", "superseded_at", "retired")
"""Fields that a reviewer sees otherwise: as evidence, as a pair, as a reason."""
TELLTALES = ("status", "standing")
"""Fields that say no more than that a memory is superseded or retired."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One commit that concerned a memory: operation, reason, who acted, commit id.

    `together` holds every memory that it is indivisible for: both sides of a supersession.
    """

    op: str
    reason: str
    actor: str
    commit: str
    together: tuple[str, ...] = ()


_WHERE = frozenset(("promote", "demote", "tier", "link"))


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a memory: whether it is new, gone or kept, and its lines as they were recorded.

    `text` holds (line number, line); it is empty where the recorded text is not at hand.
    """

    source: Source
    mark: Literal["new", "gone", "kept"]
    text: tuple[tuple[int, str], ...] = ()


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference with what led to it.

    `successors` replaced this memory, `replaces` are those that it replaced in the same span, and
    with those in `against` it came into contradiction;
    `judged` is what the judge put down, in its own words.
    """

    difference: Difference
    decisions: tuple[Decision, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    successors: tuple[Memory, ...] = ()
    replaces: tuple[str, ...] = ()
    against: tuple[Memory, ...] = ()
    judged: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids to name to `accept` or `revert`: a decision is taken whole, or not."""
        ids = (self.difference.memory.id, *(i for d in self.decisions for i in d.together))
        return tuple(dict.fromkeys(ids))

    @property
    def why(self) -> str:
        """Return the reason of the last decision that gives one, or why a run gave it up."""
        given = [d.reason for d in self.decisions if d.reason]
        if any(d.op not in _WHERE for d in self.decisions):  # why it is, not where it stands
            given = [d.reason for d in self.decisions if d.reason and d.op not in _WHERE]
        retired = self.difference.memory.fields.get("retired", ())
        if self.difference.kind == "retired" and retired:
            return str(retired[-1].reason)
        return given[-1] if given else ""

    def record(self) -> ChangeRecord:
        """Return what is told of it to a program."""
        found, memory = self.difference, self.difference.memory
        return ChangeRecord(
            op=found.kind,
            kinds=tuple(found.kinds),
            id=memory.id,
            path=memory.path,
            type=memory.type,
            before=found.before.body if found.before else None,
            after=found.after.body if found.after else None,
            reason=self.why,
            fields=tuple(found.fields),
            values={name: _values(found, name) for name in found.fields},
            superseded_by=tuple(m.id for m in self.successors),
            supersedes=tuple(self.replaces),
            against=tuple(m.id for m in self.against),
            decisions=tuple(
                DecisionRecord(op=d.op, reason=d.reason, actor=d.actor, commit=d.commit)
                for d in self.decisions
            ),
            evidence=tuple(map(_evidence, self.evidence)),
            judged=self.judged,
        )


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One commit that concerned a memory, as a program is told of it."""

    op: str
    reason: str
    actor: str
    commit: str


class EvidenceRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a memory, and whether it is new, gone or kept."""

    mark: Literal["new", "gone", "kept"]
    resource: str
    lines: tuple[int, ...]
    blob: str
    captured: str


class ChangeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a memory, as a program is told of it."""

    op: Kind
    kinds: tuple[Kind, ...]
    id: str
    path: str
    type: str
    before: str | None
    """The text that it had."""
    after: str | None
    """The text that it has."""
    reason: str
    fields: tuple[str, ...]
    """The fields that changed."""
    values: Mapping[str, tuple[Any, Any]]
    """Before and after, by field, as a file spells them."""
    superseded_by: tuple[str, ...]
    supersedes: tuple[str, ...]
    against: tuple[str, ...]
    """The other sides of a contradiction."""
    decisions: tuple[DecisionRecord, ...]
    evidence: tuple[EvidenceRecord, ...]
    judged: str


def _values(found: Difference, name: str) -> tuple[Node | None, Node | None]:
    kind, (old, new) = BY_NAME[name].kind, found.value(name)
    return (
        None if old in (None, ()) else bare(kind.write(old)),
        None if new in (None, ()) else bare(kind.write(new)),
    )


def _evidence(found: Evidence) -> EvidenceRecord:
    source = found.source
    return EvidenceRecord(
        mark=found.mark,
        resource=source.resource,
        lines=tuple(source.lines),
        blob=source.blob,
        captured=source.captured,
    )


class Review(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that is shown; equal histories give equal reviews.

    `title` is a run id or what was asked for; `hot` holds the tokens of the hot cache before and
    after, None where there is none; `files` counts the other files that changed, by folder.
    """

    title: str
    state: Standing
    base: str
    tip: str
    run: str = ""
    reason: str = ""
    when: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    hot: tuple[int, int] | None = None
    files: Mapping[str, int] = msgspec.field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    @cached_property
    def totals(self) -> dict[Kind, int]:
        """Return how many memories changed, by the kind that each is counted as."""
        counts = Counter(change.difference.kind for change in self.changes)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    @cached_property
    def kinds(self) -> dict[Kind, int]:
        """Return how many memories changed in each way; one that is also retagged counts twice."""
        counts = Counter(kind for change in self.changes for kind in change.difference.kinds)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    @property
    def hot_change(self) -> int:
        """Return the tokens that the hot cache gains, negative where it loses some."""
        return self.hot[1] - self.hot[0] if self.hot else 0


def tokens_of(data: bytes) -> int:
    """Estimate the tokens of a file: a quarter of its characters, rounded up."""
    return math.ceil(len(data.decode("utf-8", "replace")) / 4)


def headline(memory: Memory) -> str:
    """Head a memory by its title, its triple or the start of its text, on one line."""
    subject, predicate = memory.text("subject"), memory.text("predicate")
    if memory.text("title"):
        return memory.text("title")
    if subject and predicate:
        return f"{subject} — {predicate} {memory.text('object')}".strip()
    return next((line for line in memory.body.split("\n") if line.strip()), memory.slug)


def place_of(source: Source) -> str:
    """Name where evidence stands, such as `sources/MEMORY.md:3-5`."""
    first, last = source.lines
    if not first:
        return source.resource
    return f"{source.resource}:{first}" + (f"-{last}" if last > first else "")


def spelled(found: Difference, name: str) -> tuple[str, str]:
    """Spell a field's value before and after on one line each; a set loses what both have."""
    kind = BY_NAME[name].kind
    old, new = found.value(name)
    if isinstance(old, tuple) and isinstance(new, tuple) and old and new:
        old, new = (tuple(v for v in x if v not in y) for x, y in ((old, new), (new, old)))
    before, after = ("" if v in (None, ()) else flat(kind.write(v)) for v in (old, new))
    return before, after


def flat(node: Node) -> str:
    """Put a written value on one line: list items by `; `, the keys of a record by `, `."""
    if isinstance(node, list):
        return "; ".join(flat(item) for item in node)
    if isinstance(node, dict):
        return ", ".join(f"{key} {flat(value)}" for key, value in node.items())
    return str(node)
