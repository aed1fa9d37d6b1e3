"""Present the changes of a run, a commit or a revision range, with reasons and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo.core.fields import Node, bare, node_of
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
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
    """A commit that changed a memory: its operation, reason, actor and id.

    `together` contains every memory that the commit must not be split from, such as both sides of a
    supersession.
    """

    op: str
    reason: str
    actor: str
    commit: str
    together: tuple[str, ...] = ()


_PLACES = frozenset(("promote", "demote", "tier", "link"))
"""Operations that change a memory's place and not its content."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source of a memory, marked as new, gone or kept."""

    mark: Literal["new", "gone", "kept"]
    resource: str
    lines: tuple[int, int]
    captured: str = ""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change to one memory, with its causes.

    `successors` replaced this memory. `replaces` are the ids of memories it replaced in the same
    range. `against` are memories that contradict it since then.
    """

    difference: Difference
    decisions: tuple[Reason, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    successors: tuple[Memory, ...] = ()
    replaces: tuple[str, ...] = ()
    against: tuple[Memory, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the memory ids that must be passed to `accept` or `revert` together."""
        ids = (self.difference.memory.id, *(i for d in self.decisions for i in d.together))
        return tuple(dict.fromkeys(ids))

    @property
    def why(self) -> str:
        """Return the last reason given for the change, or why a run retired the memory."""
        retired = self.difference.memory.fields.get("retired", ())
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
            "kinds": found.kinds,
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
            "decisions": [replace(d, together=()) for d in self.decisions],
            "evidence": self.evidence,
        }


def _values(found: Difference, name: str) -> tuple[Node | None, Node | None]:
    old, new = (None if v in (None, ()) else bare(node_of(v)) for v in found.value(name))
    return old, new


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A group of changes that a person accepts or reverts together."""

    ids: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def kind(self) -> ChangeKind:
        """Return the kind of the decision's main change, the first in the order of KINDS."""
        return self.changes[0].difference.kind

    @property
    def leaves(self) -> bool:
        """Return whether the decision removes a memory from recall without a replacement."""
        return self.kind in LEAVING

    @property
    def target(self) -> Memory:
        """Return the memory that is valid after the decision, to be edited, split or merged."""
        made = [c.difference.memory for c in self.changes if c.difference.before is None]
        heirs = [m for c in self.changes for m in c.successors]
        return (made or heirs or [self.changes[0].difference.memory])[0]

    @property
    def shown(self) -> tuple[Change, ...]:
        """Return the changes to show, omitting new memories that are shown as replacements."""
        return tuple(c for c in self.changes if c is self.changes[0] or not c.replaces)


class ReviewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions under one heading. If `is_card` is true, they can be decided as a whole."""

    heading: str
    decisions: tuple[Decision, ...]
    is_card: bool = False
    is_by_cause: bool = False
    """Whether the heading is the reason why memories leave recall, with their number."""


LEAVING = ("retired", "removed", "forgotten", "archived")
"""Kinds of change by which a memory leaves recall without a replacement."""
_STATED = ("superseded", "restored", "reworded", "added")
"""Kinds of change to a memory's statement."""
_BY_CAUSE = 2
"""The rank of the groups of memories that leave recall, or are marked for it."""
_CAUSED = ("marked", *LEAVING)
_GONE = regex(r"(text|source)_removed: (?:.*?sources/)?([^;\n]+)")


def _place_in_review(decision: Decision) -> tuple[int, str]:
    """Return the rank and heading of the group to which a decision belongs."""
    first = decision.changes[0]
    memory = first.difference.memory
    if decision.kind in _CAUSED:
        gone = _GONE.match(first.why)
        if gone is None:
            why = in_words(first.why) or "no reason was given"
            return _BY_CAUSE, f"{SUMMARIES[decision.kind][0].lower()}: {why}"
        how = "which is gone" if gone[1] == "source" else "which no longer states it"
        marked = "marked for removal, " if decision.kind == "marked" else ""
        return _BY_CAUSE, f"{marked}from {gone[2]}, {how}"
    if decision.kind == "added" and not first.replaces and not first.against:
        file = memory.first[0].rpartition("sources/")[2]
        return 1, f"New, from {file}" if file else "New, written by hand"
    if decision.kind in _STATED or first.against:
        return 0, "Replaced, reworded or contradicted"
    heading, meaning = SUMMARIES[decision.kind]
    return 3 + KINDS.index(decision.kind), f"{heading}: {meaning}"


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
        """Return the decisions in groups, in the order that every user interface uses.

        Replaced memories come first, then new memories by file, memories that leave recall by
        cause, and bookkeeping.
        """
        found: dict[tuple[int, str], list[Decision]] = {}
        for decision in self._decisions():
            found.setdefault(_place_in_review(decision), []).append(decision)
        groups = []
        for (rank, heading), decisions in sorted(found.items(), key=lambda item: item[0]):
            count = sum(len(decision.changes) for decision in decisions)
            group = ReviewGroup(
                heading=heading,
                decisions=tuple(decisions),
                is_card=rank >= _BY_CAUSE and count > 1,
                is_by_cause=rank == _BY_CAUSE,
            )
            if group.is_by_cause:
                group = replace(group, heading=f"{counted(count, 'memory', 'memories')} {heading}")
            groups.append(group)
        return tuple(groups)

    def _decisions(self) -> Iterator[Decision]:
        by_id = {change.difference.memory.id: change for change in self.changes}
        seen = set[str]()
        for change in self.changes:
            if change.difference.memory.id in seen:
                continue
            ids = dict.fromkeys(change.ids)
            for id_ in [i for i in ids if i in by_id]:
                ids |= dict.fromkeys(by_id[id_].ids)
            seen |= ids.keys()
            group = tuple(by_id[i] for i in ids if i in by_id)
            yield Decision(ids=tuple(ids), changes=group)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return all decisions in display order."""
        return tuple(decision for group in self.groups for decision in group.decisions)

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
        case _ if "reworded" in found.kinds:
            yield from _two(old, body)
        case _:
            yield _plain(" ".join(body.split()))
    yield from (_plain(f"by {heir.id}  {heir.path}") for heir in change.successors)
    yield from (_plain(f"replaces {id_}, shown above") for id_ in change.replaces)
    for other in change.against:
        yield _plain(f"contradicts {other.id}, which says: {other.body}")
    yield from _fields(found)
    yield from _sources(change.evidence)


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
        yield _plain(_field_in_words(name, *_spelled(found, name)))


def _field_in_words(name: str, old: str, new: str) -> str:
    """Return what changed in a field as a phrase. The table has phrases for (set, removed)."""
    if name == "hot" and new.startswith("until"):  # the time of leaving the first page
        old, new = new, ""
    if name in WORDS["fields"]:
        is_set, removed = WORDS["fields"][name]
        return str(is_set if new else removed).format(new or old)
    label = name.replace("_", " ")
    if not new:
        return f"{label} removed: {old}"
    return f"{label} changed from {old} to {new}" if old else f"{label}: {new}"


def _sources(evidence: Iterable[Evidence]) -> Iterator[Line]:
    signs = {"new": "+", "gone": "-"}
    marked = [e for e in evidence if e.mark in signs]
    places = [_place_of(e) for e in marked]
    # A line that was edited in place has the same location before and after.
    marked = [e for e in marked if places.count(_place_of(e)) == 1]
    for found in marked[:MAX_SOURCES]:
        yield _plain(f"{signs[found.mark]} evidence {_place_of(found)}")
    if (more := len(marked) - MAX_SOURCES) > 0:
        yield _plain(f"and {counted(more, 'more source', 'more sources')}")


def _place_of(source: Evidence) -> str:
    """Return the place of a source as text, such as `sources/MEMORY.md:3-5`."""
    first, last = source.lines
    if not first:
        return source.resource
    return f"{source.resource}:{first}" + (f"-{last}" if last > first else "")


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
