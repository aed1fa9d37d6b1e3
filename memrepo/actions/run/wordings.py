"""Ask a model to word the gists of notes and the summaries of old memories.

An answer is checked like any other wording. After two faults the offline wording is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.plan import Decisions
from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.judge import BadReply, JudgeFailed, Summary
from memrepo.core.memory import Gist, Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judge.ask import Desk, Failure
from memrepo.judge.checks import Cited
from memrepo.judge.grounding import Grounds, find_unsupported
from memrepo.judge.interface import Assessment, Fault, Operation, Question
from memrepo.judge.questions import Proposed, gist_question, summary_question, verify_question
from memrepo.policies import gists
from memrepo.policies.entities import LONGEST
from memrepo.policies.gists import Group, gist_of, summary_of

W = TypeVar("W", Gist, Summary)
MAX_GISTS = 20
"""Maximum gists requested from a judge per run. Other notes get the offline gist."""
MAX_NOTE_LENGTH = 40_000
"""Maximum length of a note sent to a judge, in characters. Longer notes get the offline gist."""
MAX_SUMMARIES = 20
"""Maximum summaries requested from a judge per run. Others are worded offline."""
MAX_TAG_LENGTH = 40
_GIST_BOUNDS = {"title": gists.TITLE, "summary": gists.LENGTH, "tags": MAX_TAG_LENGTH}
_SUMMARY_BOUNDS = {
    "title": gists.TITLE,
    "text": gists.SUMMARY_LENGTH,
    "facts": gists.FACT,
    "entities": LONGEST,
}


class Clerk(msgspec.Struct, kw_only=True):
    """A requester of wordings from a judge. After a failure, it makes no further requests.

    `name` is the kind of question. `rule` and `what` are used in warnings about offline wordings.
    """

    found: Decisions
    """The decisions to which warnings are added."""
    desk: Desk
    name: str
    rule: str
    what: str
    stopped: bool = False
    asked: int = 0

    def word(self, memories: Sequence[Memory], ask: Callable[[str], W], offline: W) -> W:
        """Return the first answer about some memories without faults, or the offline wording.

        `ask` receives the fault of the previous attempt.
        """
        if self.stopped:
            return offline
        self.asked += 1
        fault = ""
        try:
            for _ in range(2):
                try:
                    answer = ask(fault)
                    fault = wording_fault(answer, offline, memories, self.desk)
                    if not fault:
                        return answer
                    last = BadReply(fault, raw=repr(answer))
                except BadReply as failed:
                    last, fault = failed, failed.message
                self._record(last)
            self._report(memories[0].path, last)
        except MemrepoError as failed:
            self.stopped = True
            self._report(memories[0].path, failed)
            if isinstance(failed, JudgeFailed):
                self._record(failed)
        return offline

    def _record(self, failed: JudgeFailed) -> None:
        failure = Failure(
            name=self.name,
            batch=self.asked,
            reason=failed.message,
            raw=failed.raw,
            tried=failed.tried,
        )
        self.desk.failures.append(failure)

    def _report(self, path: str, failed: MemrepoError) -> None:
        rest = ", like the questions after it" if self.stopped else ""
        problem = Problem(
            path=path,
            rule=self.rule,
            severity="warning",
            fix=failed.fix,
            message=f"{self.what}{rest}: {failed.message}",
        )
        self.found.warnings += (problem,)


def with_worded_gists(
    found: Decisions, state: State, steps: Sequence[Step], desk: Desk
) -> tuple[Step, ...]:
    """Return the steps with gists by the judge for the notes that they move to gist tier."""
    clerk = Clerk(
        found=found,
        desk=desk,
        name="gist",
        rule="gist-offline",
        what="its gist was made without a model",
    )
    tiers = {
        change.id: change.fields.get("tier")
        for step in steps
        for change in step.changes
        if step.op == "tier" and isinstance(change, Update)
    }
    notes = [state.memories[id_] for id_, tier in tiers.items() if tier == "gist"]
    notes = [note for note in notes if len(note.body) <= MAX_NOTE_LENGTH][:MAX_GISTS]
    worded: dict[str, Gist] = {}
    for note in notes:
        gist = clerk.word([note], partial(_ask_gist, desk, note), gist_of(note))
        if gist != gist_of(note):
            worded[note.id] = gist
    return tuple(_with_gists(step, worded) for step in steps)


def _ask_gist(desk: Desk, note: Memory, fault: str) -> Gist:
    return cast("Gist", _only(desk, gist_question(note, fault)))


def _only(desk: Desk, question: Question) -> object:
    """Return the only element of an answer. Raise BadReply if it is malformed."""
    (item,) = desk.ask(question).items
    if isinstance(item, Fault):
        raise BadReply(item.reason)
    return item


def _with_gists(step: Step, worded: Mapping[str, Gist]) -> Step:
    if step.op != "tier":
        return step
    changes = tuple(
        replace(change, fields={**change.fields, "gist": worded[change.id]})
        if isinstance(change, Update) and "gist" in change.fields and change.id in worded
        else change
        for change in step.changes
    )
    return replace(step, changes=changes)


def worded_summary(group: Group, clerk: Clerk | None) -> Summary:
    """Return the summary of a group, by the judge if the answer is valid, otherwise offline."""
    offline = summary_of(group.topic, group.memories)
    if clerk is None or clerk.asked >= MAX_SUMMARIES:
        return offline
    ask = partial(_ask_summary, clerk.desk, group)
    return clerk.word(group.memories, ask, offline)


def _ask_summary(desk: Desk, group: Group, fault: str) -> Summary:
    return cast("Summary", _only(desk, summary_question(group.topic, group.memories, fault)))


def wording_fault(
    answer: Gist | Summary,
    offline: Gist | Summary,
    memories: Sequence[Memory],
    desk: Desk,
) -> str:
    """Return the fault of a wording, as feedback for the judge, or "" if the wording is valid.

    Exact checks are done in code. Then the model verifies that the memories support the wording.
    """
    if answer == offline:
        return ""
    names: tuple[str, ...]
    if isinstance(answer, Gist):
        names, bounds = ("title", "summary", "tags"), _GIST_BOUNDS
        if len(answer.tags) > gists.TAGS or len(set(answer.tags)) < len(answer.tags):
            return f"tags: expected at most {gists.TAGS}, each once"
    else:
        names, bounds = ("title", "text", "facts", "entities"), _SUMMARY_BOUNDS
        if not 0 < len(answer.facts) <= gists.FACTS:
            return f"facts: {len(answer.facts)}, expected 1 to {gists.FACTS}"
        if len(answer.entities) > gists.ENTITIES:
            return f"entities: {len(answer.entities)}, expected at most {gists.ENTITIES}"
    fields: list[tuple[str, str]] = []
    for name in names:
        value = getattr(answer, name)
        fields += [(name, text) for text in ((value,) if isinstance(value, str) else value)]
    for name, text in fields:
        if text != " ".join(visible(text).split()):
            return f"{name}: more than one line, or invisible characters"
        if not 0 < len(text) <= bounds[name]:
            return f"{name}: {len(text)} characters, expected 1 to {bounds[name]}"
    evidence = tuple(m.body for m in memories)
    known = ((m.text("title"), *m.texts("tags"), m.text("subject")) for m in memories)
    context = tuple(dict.fromkeys(part for parts in known for part in parts if part))
    days = tuple(sorted({m.captured[:10] for m in memories if m.captured}))
    grounds = Grounds(evidence=evidence, context=context, days=days)
    if found := [*find_unsupported(fields, grounds)]:
        return "; ".join(map(str, found[:4]))
    cited = Cited(own=evidence, above=context, days=days)
    text = "\n".join(f"{name}: {text}" for name, text in fields if text)
    op = Operation(op="add", lines="", text=text)
    given = desk.ask(verify_question([Proposed(id="1", op=op, cited=cited)], ()))
    own = [a for a in given.items if isinstance(a, Assessment) and a.id == "1"]
    if not own:
        return "it was not verified"
    return "" if all(a.stated for a in own) else own[0].reason or "not what the evidence states"
