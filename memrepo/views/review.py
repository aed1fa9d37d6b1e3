"""Present the changes of a run, a commit or a revision range, with reasons and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec

from memrepo.core.ids import visible
from memrepo.core.memory import Memory, Node, Source, bare, node_of, span
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.state import KINDS, ChangeKind, Difference
from memrepo.views.html import Span, word_diff
from memrepo.views.report import WORDS, in_words

Stage = Literal["waits", "landed", "commit", "range"]
"""The subject of a review: a pending run, a landed run, one commit, or a range of commits."""
SUMMARIES: Mapping[ChangeKind, tuple[str, str]] = WORDS["changes"]
"""Heading and explanation of each kind of change."""
UNTOLD = ("sources", "superseded_by", "superseded_at", "retired")
"""Fields shown in other ways: as evidence, as a pair, or as a reason."""
MAX_SOURCES = 5
"""Maximum sources that are shown of a change."""
TELLTALES = ("status", "standing", "archived_at")
"""Fields that only repeat that a memory is superseded or retired."""


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit that changed a memory: its operation, reason, actor and id."""

    op: str
    reason: str
    actor: str
    commit: str


_PLACES = frozenset(("promote", "demote", "tier", "link"))
"""Operations that change a memory's place and not its content."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change to one memory, with its causes.

    `successors` replaced this memory. `replaces` are the ids of memories it replaced in the same
    range. `against` are memories that contradict it since then.
    """

    difference: Difference
    decisions: tuple[Reason, ...] = ()
    successors: tuple[Memory, ...] = ()
    replaces: tuple[str, ...] = ()
    against: tuple[Memory, ...] = ()

    @property
    def kind(self) -> ChangeKind:
        """Return the main kind of change."""
        return self.difference.kind

    @property
    def new_sources(self) -> tuple[Source, ...]:
        """Return the sources that the memory, or one that replaced it, did not have before."""
        old = self.difference.before.sources if self.difference.before else ()
        found = (*self.difference.memory.sources, *(s for m in self.successors for s in m.sources))
        return tuple(s for s in found if s not in old)

    @property
    def lost_sources(self) -> tuple[Source, ...]:
        """Return the sources that the memory had before and has no more."""
        before, after = self.difference.before, self.difference.after
        return (
            tuple(s for s in before.sources if s not in after.sources) if before and after else ()
        )

    @property
    def why(self) -> str:
        """Return the last reason given for the change, or why a run retired the memory."""
        retired = self.difference.memory.retired
        if self.difference.kind in ("retired", "marked") and retired:
            return str(retired[-1].reason)
        own = [d for d in self.decisions if d.op not in _PLACES] or self.decisions
        given = [d.reason for d in own if d.reason]
        return given[-1] if given else ""

    def record(self) -> dict[str, object]:
        """Return the change as a record for programs.

        `op` is the main kind of change, `before` and `after` are the texts, and `values` are the
        (before, after) values of the changed fields, as written in a file.
        """
        found, memory = self.difference, self.difference.memory
        return {
            "op": found.kind,
            "id": memory.id,
            "path": memory.path,
            "type": memory.type,
            "before": found.before.body if found.before else None,
            "after": found.after.body if found.after else None,
            "reason": self.why,
            "fields": found.fields,
            "values": {name: _values(found, name) for name in found.fields},
            "superseded_by": [m.id for m in self.successors],
            "supersedes": self.replaces,
            "against": [m.id for m in self.against],
            "decisions": self.decisions,
        }


def _values(found: Difference, name: str) -> tuple[Node | None, Node | None]:
    old, new = (None if v in (None, ()) else bare(node_of(v)) for v in found.value(name))
    return old, new


class ReviewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Changes under one heading. If `is_card` is true, one line shows each of them."""

    heading: str
    changes: tuple[Change, ...]
    is_card: bool = False
    is_by_cause: bool = False
    """Whether the heading is the reason of all changes."""


LEAVING = ("retired", "removed", "forgotten", "archived")
"""Kinds of change by which a memory leaves recall without a replacement."""
_STATED = ("superseded", "restored", "reworded", "added")
"""Kinds of change to a memory's statement."""
_BY_CAUSE = 2
"""The rank of the groups of memories that leave recall, or are marked for it."""
_CAUSED = ("marked", *LEAVING)
_GONE = regex(r"(text|source)_removed: (?:.*?sources/)?([^;\n]+)")


def _place_in_review(change: Change) -> tuple[int, str]:
    """Return the rank and heading of the group to which a change belongs."""
    kind = change.kind
    if kind in _CAUSED:
        gone = _GONE.match(change.why)
        if gone is None:
            why = in_words(change.why) or "no reason was given"
            return _BY_CAUSE, f"{SUMMARIES[kind][0]}: {why}"
        how = "which is gone" if gone[1] == "source" else "which no longer states it"
        return _BY_CAUSE, f"{SUMMARIES[kind][0]}, from {gone[2]}, {how}"
    if kind == "added" and not change.against:
        file = change.difference.memory.first[0].rpartition("sources/")[2]
        return 1, f"New, from {file}" if file else "New, written by hand"
    if kind in _STATED or change.against:
        return 0, "Replaced, reworded or contradicted"
    heading, meaning = SUMMARIES[kind]
    return 3 + KINDS.index(kind), f"{heading}: {meaning}"


class Review(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The complete content of a review. Equal histories give equal reviews.

    `title` is a run id or the requested revision. `files` counts other changed files by folder.
    """

    title: str
    state: Stage
    base: str
    tip: str
    run: str = ""
    reason: str = ""
    when: str = ""
    files: Mapping[str, int] = msgspec.field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    @cached_property
    def groups(self) -> tuple[ReviewGroup, ...]:
        """Return the changes in groups, in the order that every user interface uses.

        Replaced memories come first, each with its replacement, then new memories by file, memories
        that leave recall by cause, and bookkeeping.
        """
        found: dict[tuple[int, str], list[Change]] = {}
        for change in self.changes:
            if not change.replaces:  # the memory that it replaces shows it
                found.setdefault(_place_in_review(change), []).append(change)
        return tuple(
            ReviewGroup(
                heading=heading,
                changes=tuple(changes),
                is_card=rank >= _BY_CAUSE and len(changes) > 1,
                is_by_cause=rank == _BY_CAUSE,
            )
            for (rank, heading), changes in sorted(found.items(), key=lambda item: item[0])
        )

    @cached_property
    def totals(self) -> dict[ChangeKind, int]:
        """Return the number of changed memories by their main kind of change."""
        counts = Counter(change.difference.kind for change in self.changes)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}


def headline(memory: Memory) -> str:
    """Return a memory's heading on one line: its title, its triple or its first line."""
    subject, predicate = memory.subject, memory.predicate
    if memory.title:
        return memory.title
    if subject and predicate:
        return f"{subject} — {predicate} {memory.object}".strip()
    return next((line for line in memory.body.split("\n") if line.strip()), memory.slug)


class Line(NamedTuple):
    """A line that shows a change: `-` for what was, `+` for what is, or neither sign."""

    sign: Literal["-", "+", ""]
    spans: tuple[Span, ...]


def change_lines(change: Change) -> Iterator[Line]:
    """Yield the lines that show a change on a terminal, in a comment and on a web page."""
    found, body = change.difference, change.difference.memory.body
    old = found.before.body if found.before else ""
    match found.kind:
        case "superseded" | "removed" if len(change.successors) == 1:
            yield from _two(body, change.successors[0].body)
        case "superseded" | "removed":
            yield Line("-", (Span(mark="old", text=body),))
            yield from (Line("+", (Span(mark="new", text=m.body),)) for m in change.successors)
        case "added":
            yield Line("+", (Span(mark="new", text=body),))
        case _ if old and old != body:
            yield from _two(old, body)
        case _:
            yield _plain(" ".join(body.split()))
    yield from (_plain(f"by {heir.id}  {heir.path}") for heir in change.successors)
    for other in change.against:
        yield _plain(f"contradicts {other.id}, which says: {other.body}")
    yield from _fields(found)
    yield from _sources(change)


def _plain(text: str) -> Line:
    return Line("", (Span(mark="same", text=text),))


def _two(old: str, new: str) -> tuple[Line, Line]:
    spans = word_diff(visible(old), visible(new))
    was = tuple(span for span in spans if span.mark != "new")
    return Line("-", was), Line("+", tuple(span for span in spans if span.mark != "old"))


def _fields(found: Difference) -> Iterator[Line]:
    """Yield the changed fields of a memory that are not shown in other ways."""
    if found.before is None or found.after is None:
        return
    for name in found.fields:
        if name in UNTOLD or (found.kind in ("superseded", *_CAUSED) and name in TELLTALES):
            continue
        yield _plain(field_in_words(name, *_spelled(found, name)))


def field_in_words(name: str, old: str, new: str) -> str:
    """Return what changed in a field as a phrase. The table has phrases for (set, removed)."""
    if name == "hot" and old.startswith("until") and not new:
        return "may be on the first page again"
    if name == "hot" and new.startswith("until"):  # the time of leaving the first page
        old, new = new, ""
    if name in WORDS["fields"]:
        is_set, removed = WORDS["fields"][name]
        return str(is_set if new else removed).format(new or old)
    label = name.replace("_", " ")
    if not new:
        return f"{label} removed: {old}"
    return f"{label} changed from {old} to {new}" if old else f"{label}: {new}"


def _sources(change: Change) -> Iterator[Line]:
    if change.kind == "added":
        return  # its heading names the file
    gone, new = (
        dict.fromkeys(f"{s.resource}{span(s.lines)}" for s in sources)
        for sources in (change.lost_sources, change.new_sources)
    )
    # A line that was edited in place has the same location before and after.
    places = [f"+ evidence {at}" for at in new if at not in gone]
    places += [f"- evidence {at}" for at in gone if at not in new]
    yield from map(_plain, places[:MAX_SOURCES])
    if (more := len(places) - MAX_SOURCES) > 0:
        yield _plain(f"and {counted(more, 'more source', 'more sources')}")


def _spelled(found: Difference, name: str) -> tuple[str, str]:
    """Return a field's old and new values on one line each, without common elements of sets."""
    old, new = found.value(name)
    if isinstance(old, tuple) and isinstance(new, tuple) and old and new:
        old, new = (tuple(v for v in x if v not in y) for x, y in ((old, new), (new, old)))
    before, after = ("" if v in (None, ()) else _flat(node_of(v)) for v in (old, new))
    return before, after


def _flat(node: Node) -> str:
    """Format a header value on one line."""
    if isinstance(node, list):
        return "; ".join(_flat(item) for item in node)
    if isinstance(node, dict):
        return ", ".join(f"{key} {_flat(value)}" for key, value in node.items())
    return str(node)
