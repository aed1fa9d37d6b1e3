"""A run as one decision a screen, what a person says of each, and the words that do the same.

What waits is decided, and where nothing waits the last run is gone through. What is said is kept
beside the index until it is done: a review may be left and gone on with. It takes effect by other
verbs alone, so that a review makes the commits that its words on a command line make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from memrepo.actions.recall.related import graph_of
from memrepo.actions.review.comparison import review_of, span_of
from memrepo.actions.work import Work
from memrepo.core.corrections import contradiction_id
from memrepo.core.differences import Kind
from memrepo.core.ids import digest
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.store.lock import keep_newest, scratch
from memrepo.views.review import Change, Review, Standing

Does = Literal["accept", "reject", "skip", "edit", "split", "merge", "keep", "both"]
"""What a person says of a decision; `keep` and `both` are of memories that contradict."""
REASON = "rejected in review"
NEAR = 3
"""Neighbours that are shown with a memory."""
KEPT = 50
"""So many reviews that were begun are remembered, the newest."""
_FOLDER = "review"


class Screen(msgspec.Struct, frozen=True, kw_only=True):
    """One decision: its changes, which stand or fall together, and what lies near."""

    kind: Kind
    ids: tuple[str, ...]
    changes: tuple[Change, ...]
    target: Memory
    """The memory that is edited, split or merged: what holds after the decision."""
    made: bool
    """Whether the decision makes it."""
    near: tuple[Memory, ...]

    @property
    def mark(self) -> str:
        """Return what a decision is known by: its memories and what they would say."""
        told = [[c.difference.kinds, c.difference.memory.body] for c in self.changes]
        return digest([sorted(self.ids), told])[:16]

    @property
    def against(self) -> tuple[Memory, ...]:
        """Return the memories that contradict it since."""
        return tuple({m.id: m for c in self.changes for m in c.against}.values())


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What a person said of one decision.

    `texts` are the wordings of an edit, a split or a merger, `other` the memory that is merged with
    it or that is kept instead of it.
    """

    does: Does
    texts: tuple[str, ...] = ()
    other: str = ""
    reason: str = ""


class Words(NamedTuple):
    """One verb with its request, and the same as a person types it."""

    verb: str
    request: msgspec.Struct
    line: tuple[str, ...]


class Session(msgspec.Struct, kw_only=True):
    """A run that is gone through: its screens, and what was said of them, by their marks."""

    run: str
    state: Standing
    review: Review
    screens: tuple[Screen, ...]
    said: dict[str, Said]
    path: Path

    @property
    def open(self) -> list[int]:
        """Return the places of the screens of which nothing was said yet."""
        return [n for n, screen in enumerate(self.screens) if screen.mark not in self.said]

    def says(self, screen: Screen, said: Said | None) -> None:
        """Keep what was said of a screen, or forget it."""
        if said is None:
            self.said.pop(screen.mark, None)
        else:
            self.said[screen.mark] = said
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.encode(self.said)
        scratch(self.path.parent, f".{self.path.name}.", text).replace(self.path)
        keep_newest(self.path.parent, "*.json", KEPT)

    def settle(self) -> None:
        """Forget what was said, since it took effect; a run that landed counts as gone through."""
        if self.state == "waits":
            self.path.unlink(missing_ok=True)
            self.said.clear()
            return
        for screen in self.screens:
            if screen.mark in self.said:
                self.says(screen, Said(does="accept"))


def session_of(work: Work, run: str = "") -> Session:
    """Return what is to be gone through: a run by its name, what waits, or else the last run."""
    span = span_of(work, (run,) if run else ())
    review = review_of(work, span, quote=True)
    path = work.store.folder / _FOLDER / f"{span.run or span.tip}.json"
    said: dict[str, Said] = {}
    with suppress(OSError, msgspec.MsgspecError):
        said = msgspec.json.decode(path.read_bytes(), type=dict[str, Said])
    screens = screens_of(review, work.store.snapshot(span.tip).state())
    marks = {screen.mark for screen in screens}
    return Session(
        run=span.run or span.tip[:10],
        state=review.state,
        review=review,
        screens=screens,
        said={m: one for m, one in said.items() if m in marks and one.does != "skip"},
        path=path,
    )


def screens_of(review: Review, after: State) -> tuple[Screen, ...]:
    """Return the decisions of a review, in its order: what belongs together is one."""
    by_id = {change.difference.memory.id: change for change in review.changes}
    found, seen = [], set[str]()
    near = Near(after)
    for change in review.changes:
        if change.difference.memory.id in seen:
            continue
        ids = _together(change, by_id)
        seen |= {*ids}
        group = tuple(by_id[i] for i in ids if i in by_id)
        target = _target(group)
        found.append(
            Screen(
                kind=change.difference.kind,
                ids=ids,
                changes=group,
                target=target,
                made=any(c.difference.before is None for c in group),
                near=near.of(target, ids),
            )
        )
    return tuple(found)


def _together(change: Change, by_id: Mapping[str, Change]) -> tuple[str, ...]:
    """Return a memory with all that stand in a decision with it, or replace it."""
    found = dict.fromkeys(change.ids)
    for id_ in (i for i in tuple(found) if i in by_id):
        found |= dict.fromkeys(by_id[id_].ids)
    return tuple(found)


def _target(group: Sequence[Change]) -> Memory:
    made = [c.difference.memory for c in group if c.difference.before is None]
    heirs = [m for c in group for m in c.successors]
    return (made or heirs or [group[0].difference.memory])[0]


class Near:
    """The memories of a state by what they are linked to and what they are about."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._graph = graph_of(state)
        self._about: dict[str, list[Memory]] = {}
        for memory in state.active:
            if subject := memory.text("subject").casefold():
                self._about.setdefault(subject, []).append(memory)

    def of(self, memory: Memory, but: Sequence[str] = (), most: int = NEAR) -> tuple[Memory, ...]:
        """Return the nearest memories in recall, but for some."""
        linked = (
            [self._state.memories[r.id] for r in self._graph.related(memory.id, 1)]
            if memory.id in self._graph.memories
            else []
        )
        about = self._about.get(memory.text("subject").casefold(), [])
        found = {m.id: m for m in (*linked, *about) if m.status == "active" and m.id not in but}
        return tuple(m for m in found.values() if m.id != memory.id)[:most]


# -- from what was said to verbs -------------------------------------------------------------------


def words_of(session: Session) -> tuple[Words, ...]:
    """Return the verbs that do what was said, in the order in which they are done.

    Of a run that waits, what nothing was said of is left out, and the next run offers it again.
    """
    pairs = [(screen, session.said.get(screen.mark)) for screen in session.screens]
    waits = session.state == "waits"
    if waits and all(said is None or said.does == "skip" for _, said in pairs):
        return ()
    first = [w for screen, said in pairs if said for w in _refusals(session, screen, said)]
    middle = [_accepted(session, pairs)] if waits else []
    last = [w for screen, said in pairs if said for w in _changes(screen, said)]
    return (*first, *middle, *last)


def _refusals(session: Session, screen: Screen, said: Said) -> list[Words]:
    """Return what keeps a decision from taking effect, or takes it back."""
    from memrepo.actions.takeback import reject
    from memrepo.actions.takeback.revert import RevertRequest

    if said.does != "reject":
        return []
    reason = said.reason or REASON
    if screen.kind == "added" or (screen.made and session.state == "waits"):
        made = [c.difference.memory.id for c in screen.changes if c.difference.before is None]
        return [
            Words("reject", reject.Request(id=id_, reason=reason), (id_, "--reason", reason))
            for id_ in made
        ]
    if session.state == "waits":
        return []  # `accept --refuse`
    request = RevertRequest(target=session.run, only=screen.ids, reason=reason)
    line = (session.run, "--memory", *screen.ids, "--reason", reason)
    return [Words("revert", request, line)]


def _accepted(session: Session, pairs: Sequence[tuple[Screen, Said | None]]) -> Words:
    from memrepo.actions.review import accept

    left = [i for s, said in pairs if said is None or said.does == "skip" for i in s.ids]
    refused = [
        i
        for s, said in pairs
        if said and (said.does == "reject" or _keeps(s, said)) and not s.made
        for i in s.ids
    ]
    request = accept.Request(run=session.run, without=tuple(left), refuse=tuple(refused))
    line: tuple[str, ...] = (session.run,)
    line += ("--except", *left) if left else ()
    line += ("--refuse", *refused) if refused else ()
    return Words("accept", request, line)


def _keeps(screen: Screen, said: Said) -> bool:
    """Tell whether what was said keeps a memory that the decision would take away."""
    leaves = screen.kind in ("retired", "removed", "forgotten", "archived")
    return leaves and said.does in ("edit", "split", "merge")


def _changes(screen: Screen, said: Said) -> list[Words]:
    """Return what a person changes beyond the decision."""
    from memrepo.actions.review import resolve
    from memrepo.actions.write import add
    from memrepo.actions.write.change import EditRequest, SupersedeRequest

    id_ = screen.target.id
    match said.does:
        case "edit" | "split":
            first, *rest = said.texts
            found = [Words("edit", EditRequest(id=id_, text=first), (id_, "--text", first))]
            type_ = screen.target.type if screen.target.type != "chunk" else None
            kind = ("--type", type_) if type_ else ()
            found += [Words("add", add.Request(text=t, type=type_), (t, *kind)) for t in rest]
            return found
        case "merge":
            (text,) = said.texts
            request = SupersedeRequest(id=id_, text=text, also=(said.other,))
            return [Words("supersede", request, (id_, text, "--also", said.other))]
        case "keep" | "both":
            one = contradiction_id(id_, screen.against[0].id)
            if said.does == "both":
                return [Words("resolve", resolve.Request(id=one, both=True), (one, "--both"))]
            kept = said.other
            request_ = resolve.Request(id=one, keep=kept)
            return [Words("resolve", request_, (one, "--keep", kept))]
        case _:
            return []
