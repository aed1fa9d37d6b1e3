"""What a stage of a run offers beside the purifier: steps, what to tell of them, what they cost.

What a judge words there is never waited for: the offline wording stands wherever it gives none
that the memories support. So it is with gists: the policy says which notes need one, and what was
worded stands in the note's file, so that no later run asks for it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.judge import (
    BadReply,
    BudgetReached,
    GistRequest,
    Judge,
    JudgeFailed,
    Usage,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.memory import Gist, Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.policies.gists import LENGTH, TAGS, TITLE, gist_of
from memrepo.purify.batches import Failure
from memrepo.purify.grounding import Grounds, foreign

T = TypeVar("T")
_TWICE = 2


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """Steps with what to tell of them, what a model was paid for them, and its vain answers.

    `compared` holds the prints of pairs of memories that a model let stand; `comparer` says who
    compared the memories, where no pair was left.
    """

    steps: tuple[Step, ...] = ()
    problems: tuple[Problem, ...] = ()
    usage: Usage = msgspec.field(default_factory=Usage)
    failures: tuple[Failure, ...] = ()
    compared: frozenset[str] = frozenset()
    comparer: str = ""

    def __add__(self, later: Offered) -> Offered:
        return Offered(
            steps=self.steps + later.steps,
            problems=self.problems + later.problems,
            usage=self.usage + later.usage,
            failures=self.failures + later.failures,
            compared=self.compared | later.compared,
            comparer=self.comparer or later.comparer,
        )


class Clerk(msgspec.Struct, kw_only=True):
    """Asks a judge for one wording after the other, and keeps what went wrong.

    `name` is the question's, `rule` and `what` are told of what had to be worded without a model.
    """

    name: str
    rule: str
    what: str
    stopped: bool = False
    asked: int = 0
    problems: list[Problem] = msgspec.field(default_factory=list)
    failures: list[Failure] = msgspec.field(default_factory=list)

    def word(self, path: str, ask: Callable[[str], T], fault_of: Callable[[T], str]) -> T | None:
        """Return an answer without a fault, or None; `ask` is given the fault of the first one."""
        if self.stopped:
            return None
        from memrepo.judges.claude import NoCredentials

        self.asked += 1
        try:
            return self._twice(ask, fault_of)
        except BadReply as failed:
            self._tell(path, failed)
        except (JudgeFailed, BudgetReached, NoCredentials) as failed:
            self.stopped = True
            self._tell(path, failed)
            if isinstance(failed, JudgeFailed):
                self._keep(failed)
        return None

    def _twice(self, ask: Callable[[str], T], fault_of: Callable[[T], str]) -> T:
        fault = ""
        for turn in range(1, _TWICE + 1):
            try:
                answer = ask(fault)
                if not (fault := fault_of(answer)):
                    return answer
                raise BadReply(fault, raw=repr(answer))
            except BadReply as failed:
                self._keep(failed)
                if turn == _TWICE:
                    raise
                fault = failed.message
        raise AssertionError("unreachable")

    def _keep(self, failed: JudgeFailed) -> None:
        self.failures.append(
            Failure(
                name=self.name,
                batch=self.asked,
                reason=failed.message,
                raw=failed.raw,
                tried=failed.tried,
            )
        )

    def _tell(self, path: str, failed: MemrepoError) -> None:
        rest = ", as those after it" if self.stopped else ""
        self.problems.append(
            Problem(
                path=path,
                rule=self.rule,
                severity="warning",
                fix=failed.fix,
                message=f"{self.what}{rest}: {failed.message}",
            )
        )


def unsound(
    fields: Sequence[tuple[str, str]],
    bounds: Mapping[str, int],
    memories: Sequence[Memory],
    judge: Judge,
    now: datetime,
) -> str:
    """Return what is wrong with a wording of memories, as a judge is told it; empty if nothing.

    Code checks what it can check exactly, then the judge is asked whether the memories state it.
    """
    for name, text in fields:
        if text != " ".join(visible(text).split()):
            return f"{name}: more than one line, or invisible characters"
        if not 0 < len(text) <= bounds.get(name, len(text)):
            return f"{name}: {len(text)} characters, expected 1 to {bounds[name]}"
    evidence = tuple(m.body for m in memories)
    context = tuple(dict.fromkeys(part for m in memories for part in _context(m) if part))
    days = tuple(sorted({m.captured[:10] for m in memories if m.captured}))
    grounds = Grounds(evidence=evidence, context=context, days=days)
    if found := [*foreign(fields, grounds)]:
        return "; ".join(map(str, found[:4]))
    check = WordingCheck(
        evidence=evidence,
        context=context,
        stated_on=max(days, default=""),
        wording=tuple((name, text) for name, text in fields if text),
    )
    said = [
        answer
        for answer in judge.verify(VerificationRequest(now=now, checks=(check,)))
        if answer.check_id == check.check_id
    ]
    if not said or said[0].fault:
        return said[0].fault if said else "nobody verified it"
    return "" if all(a.stated for a in said) else said[0].reason or "not what the evidence states"


def _context(memory: Memory) -> Iterator[str]:
    yield from (memory.text("title"), *memory.texts("tags"), memory.text("subject"))


MOST = 20
"""Notes that one run asks for; the others get the offline gist."""
LONGEST = 40_000
"""Characters of a note that is asked for; what is longer gets the offline gist."""


def gisted(state: State, steps: Sequence[Step], judge: Judge, now: datetime) -> Offered:
    """Have the judge word the gists of the notes that end a run at gist tier, at most MOST.

    A judge that fails, or a budget that is reached, is not asked again; the rest stay offline.
    """
    before = judge.usage
    clerk = Clerk(name="gist", rule="gist-offline", what="its gist was made without a model")
    worded = {
        note.id: gist
        for note in _notes(state, steps)[:MOST]
        if (gist := _gist(note, judge, clerk, now)) is not None
    }
    return Offered(
        steps=tuple(_filled(step, worded) for step in steps),
        problems=tuple(clerk.problems),
        usage=judge.usage.since(before),
        failures=tuple(clerk.failures),
    )


def _gist(note: Memory, judge: Judge, clerk: Clerk, now: datetime) -> Gist | None:
    return clerk.word(
        note.path,
        lambda fault: judge.gist(GistRequest(note=note, fault=fault)),
        lambda gist: fault_in(gist, note, judge, now),
    )


_TAG = 40
"""Characters of a tag."""


def fault_in(gist: Gist, note: Memory, judge: Judge, now: datetime) -> str:
    """Return what is wrong with a gist of a note, as a judge is told it; empty when it is sound."""
    if gist == gist_of(note):
        return ""
    if len(gist.tags) > TAGS or len(set(gist.tags)) < len(gist.tags):
        return f"tags: expected at most {TAGS}, each once"
    fields = [("title", gist.title), ("summary", gist.summary), *(("tags", t) for t in gist.tags)]
    return unsound(fields, {"title": TITLE, "summary": LENGTH, "tags": _TAG}, [note], judge, now)


def _notes(state: State, steps: Sequence[Step]) -> list[Memory]:
    """Return the notes whose last move is to gist tier, in the order of the steps."""
    last: dict[str, object] = {}
    for step in steps:
        for change in step.changes:
            if step.op == "tier" and isinstance(change, Update):
                last[change.id] = change.fields.get("tier")
    found = [state.memories[id_] for id_, tier in last.items() if tier == "gist"]
    return [note for note in found if len(note.body) <= LONGEST]


def _filled(step: Step, worded: Mapping[str, Gist]) -> Step:
    if step.op != "tier":
        return step
    changes = tuple(
        replace(change, fields={**change.fields, "gist": worded[change.id]})
        if isinstance(change, Update) and "gist" in change.fields and change.id in worded
        else change
        for change in step.changes
    )
    return replace(step, changes=changes)
