"""A review session: the answer to each decision of a run, and the commands that apply them.

A session covers the pending run, or the last landed run if none is pending. Answers are stored next
to the index until they are applied, so a review can be interrupted and continued. They are applied
only by other commands, with the same commits as if the user had typed these commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from memrepo.actions.recall.related import graph_of
from memrepo.actions.review.diff import review_of, span_of
from memrepo.actions.work import Work
from memrepo.core.corrections import contradiction_id
from memrepo.core.memory import Memory
from memrepo.core.state import State
from memrepo.store.lock import keep_newest, scratch
from memrepo.views.review import LEAVING, Decision, Review

AnswerWord = Literal["accept", "reject", "skip", "edit", "split", "merge", "keep", "both"]
"""The kinds of answers. `keep` and `both` apply to memories that contradict each other."""
REASON = "rejected in review"
MAX_NEIGHBOURS = 3
"""The maximum number of neighbours shown with a memory."""
MAX_STORED = 50
"""The maximum number of reviews with stored answers. The newest are retained."""
_FOLDER = "review"


class ReviewAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that a reviewer gave to one decision.

    `texts` are the new texts of an edit, a split or a merge. `other` is the memory to merge with,
    or to keep instead.
    """

    does: AnswerWord
    texts: tuple[str, ...] = ()
    other: str = ""
    reason: str = ""


class Words(NamedTuple):
    """A command with its request, and its arguments as a user would type them."""

    verb: str
    request: msgspec.Struct
    line: tuple[str, ...]


class ReviewSession(msgspec.Struct, kw_only=True):
    """A run under review, with its decisions, and the stored answers by decision mark."""

    run: str
    review: Review
    after: State
    answers: dict[str, ReviewAnswer]
    path: Path

    @property
    def waits(self) -> bool:
        """Return whether the run is pending."""
        return self.review.state == "waits"

    @property
    def open(self) -> list[Decision]:
        """Return the decisions without an answer."""
        return [d for d in self.review.decisions if d.mark not in self.answers]

    def answer(self, decision: Decision, answer: ReviewAnswer | None) -> None:
        """Store the answer to a decision. None removes the answer."""
        if answer is None:
            self.answers.pop(decision.mark, None)
        else:
            self.answers[decision.mark] = answer
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.encode(self.answers)
        scratch(self.path.parent, f".{self.path.name}.", text).replace(self.path)
        keep_newest(self.path.parent, "*.json", MAX_STORED)

    def settle(self) -> None:
        """Remove the stored answers after they are applied.

        For a landed run, mark them as accepted.
        """
        if self.waits:
            self.path.unlink(missing_ok=True)
            self.answers.clear()
            return
        for decision in self.review.decisions:
            if decision.mark in self.answers:
                self.answer(decision, ReviewAnswer(does="accept"))


def session_of(work: Work, run: str = "") -> ReviewSession:
    """Return the session for the named run or, by default, for the pending or the last run."""
    span = span_of(work, (run,) if run else ())
    review = review_of(work, span, quote=True)
    path = work.store.folder / _FOLDER / f"{span.run or span.tip}.json"
    stored: dict[str, ReviewAnswer] = {}
    with suppress(OSError, msgspec.MsgspecError):
        stored = msgspec.json.decode(path.read_bytes(), type=dict[str, ReviewAnswer])
    marks = {decision.mark for decision in review.decisions}
    return ReviewSession(
        run=span.run or span.tip[:10],
        review=review,
        after=work.store.snapshot(span.tip).state(),
        answers={m: a for m, a in stored.items() if m in marks and a.does != "skip"},
        path=path,
    )


class Neighbours:
    """The active memories of a state, indexed by links and by subject, to find related ones."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._graph = graph_of(state)
        self._about: dict[str, list[Memory]] = {}
        for memory in state.active:
            if subject := memory.text("subject").casefold():
                self._about.setdefault(subject, []).append(memory)

    def of(
        self, memory: Memory, but: Sequence[str] = (), most: int = MAX_NEIGHBOURS
    ) -> tuple[Memory, ...]:
        """Return the memories related to a memory, linked ones first.

        Return at most `most` memories, and none whose id is in `but`.
        """
        linked = (
            [self._state.memories[r.id] for r in self._graph.related(memory.id, 1)]
            if memory.id in self._graph.memories
            else []
        )
        about = self._about.get(memory.text("subject").casefold(), [])
        found = {m.id: m for m in (*linked, *about) if m.status == "active" and m.id not in but}
        return tuple(m for m in found.values() if m.id != memory.id)[:most]


def words_of(session: ReviewSession) -> tuple[Words, ...]:
    """Return the commands that apply the answers of a session, in order."""
    pairs = [(d, session.answers.get(d.mark)) for d in session.review.decisions]
    if session.waits and all(answer is None or answer.does == "skip" for _, answer in pairs):
        return ()
    given = [(decision, answer) for decision, answer in pairs if answer]
    first = _refusals(session, [(d, a) for d, a in given if a.does == "reject"])
    middle = [_accepted(session, pairs)] if session.waits else []
    last = [w for decision, answer in given for w in _changes(decision, answer)]
    return (*first, *middle, *last)


def _refusals(
    session: ReviewSession, rejected: Sequence[tuple[Decision, ReviewAnswer]]
) -> list[Words]:
    """Return the commands for rejected decisions: one per new memory, one revert per reason."""
    from memrepo.actions.takeback import reject
    from memrepo.actions.takeback.revert import RevertRequest

    found: list[Words] = []
    reverted: dict[str, list[str]] = {}
    for decision, answer in rejected:
        reason = answer.reason or REASON
        if decision.kind == "added" or (decision.is_new and session.waits):
            for change in decision.changes:
                if change.difference.before is None:
                    id_ = change.difference.memory.id
                    request = reject.Request(id=id_, reason=reason)
                    found.append(Words("reject", request, (id_, "--reason", reason)))
        elif not session.waits:  # a pending run uses `accept --refuse`
            reverted.setdefault(reason, []).extend(decision.ids)
    for reason, ids in reverted.items():
        line = (session.run, "--memory", *ids, "--reason", reason)
        only = RevertRequest(target=session.run, only=tuple(ids), reason=reason)
        found.append(Words("revert", only, line))
    return found


def _accepted(
    session: ReviewSession, pairs: Sequence[tuple[Decision, ReviewAnswer | None]]
) -> Words:
    from memrepo.actions.review import accept

    left = [i for d, answer in pairs if answer is None or answer.does == "skip" for i in d.ids]
    refused = [
        i
        for d, answer in pairs
        if answer and (answer.does == "reject" or _keeps(d, answer)) and not d.is_new
        for i in d.ids
    ]
    out = (*left, *refused)
    request = accept.AcceptRequest(run=session.run, without=out)
    line: tuple[str, ...] = (session.run,)
    line += ("--except", *out) if out else ()
    return Words("accept", request, line)


def _keeps(decision: Decision, answer: ReviewAnswer) -> bool:
    """Return whether an answer keeps a memory that the decision itself would remove."""
    return decision.kind in LEAVING and answer.does in ("edit", "split", "merge")


def _changes(decision: Decision, answer: ReviewAnswer) -> list[Words]:
    """Return the commands for the reviewer's own changes, which go beyond the decision."""
    from memrepo.actions.review import resolve
    from memrepo.actions.write import add
    from memrepo.actions.write.change import EditRequest, SupersedeRequest

    id_, type_ = decision.target.id, decision.target.type
    match answer.does:
        case "edit" | "split":
            first, *rest = answer.texts
            found = [Words("edit", EditRequest(id=id_, text=first), (id_, "--text", first))]
            given = None if type_ == "chunk" else type_
            kind = ("--type", given) if given else ()
            found += [Words("add", add.Request(text=t, type=given), (t, *kind)) for t in rest]
            return found
        case "merge":
            (text,) = answer.texts
            request = SupersedeRequest(id=id_, text=text, also=(answer.other,))
            return [Words("supersede", request, (id_, text, "--also", answer.other))]
        case "keep" | "both":
            one = contradiction_id(id_, decision.against[0].id)
            if answer.does == "both":
                return [Words("resolve", resolve.Request(id=one, both=True), (one, "--both"))]
            kept = resolve.Request(id=one, keep=answer.other)
            return [Words("resolve", kept, (one, "--keep", answer.other))]
        case _:
            return []
