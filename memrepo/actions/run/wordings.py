"""Ask a model to word the gists of notes and the summaries of old memories.

An answer is checked like any other wording. After two faults the offline wording is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.plan import Decisions
from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.judge import BadReply, Summary
from memrepo.core.memory import Gist, Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judge.ask import Desk
from memrepo.judge.checks import Cited
from memrepo.judge.grounding import Grounds, find_unsupported
from memrepo.judge.interface import Assessment, Operation, Question
from memrepo.judge.questions import Proposed, gist_question, summary_question, verify_question
from memrepo.policies import gists
from memrepo.policies.entities import LONGEST
from memrepo.policies.gists import Group, gist_of, summary_of

W = TypeVar("W", Gist, Summary)
MAX_QUESTIONS = 20
"""Maximum gists, and maximum summaries, requested from a judge per run. Others are made offline."""
MAX_NOTE_LENGTH = 40_000
"""Maximum length of a note sent to a judge, in characters. Longer notes get the offline gist."""
MAX_TAG_LENGTH = 40
_LENGTHS: Mapping[type, Mapping[str, int]] = {
    Gist: {"title": gists.TITLE, "summary": gists.LENGTH, "tags": MAX_TAG_LENGTH},
    Summary: {
        "title": gists.TITLE,
        "text": gists.SUMMARY_LENGTH,
        "facts": gists.FACT,
        "entities": LONGEST,
    },
}
"""Maximum characters of each text of a wording."""
_COUNTS = {"tags": gists.TAGS, "facts": gists.FACTS, "entities": gists.ENTITIES}
"""Maximum texts of each list of a wording."""
_OFFLINE = {
    "gist": "its gist was made without a model",
    "summary": "a summary was made without a model",
}


class Clerk(msgspec.Struct, kw_only=True):
    """A requester of wordings from a judge. After a failure, it makes no further requests."""

    found: Decisions
    """The decisions to which warnings about offline wordings are added."""
    desk: Desk
    kind: Literal["gist", "summary"]
    stopped: bool = False
    asked: int = 0

    def word(
        self, memories: Sequence[Memory], question: Callable[[str], Question], offline: W
    ) -> W:
        """Return the first answer about some memories without faults, or the offline wording.

        `question` receives the fault of the first answer.
        """
        if self.stopped or self.asked >= MAX_QUESTIONS:
            return offline
        self.asked += 1
        fault, fix = "", ""
        try:
            for _ in range(2):
                try:
                    (answer,) = self.desk.ask(question(fault)).items
                    if not isinstance(answer, type(offline)):
                        fault = str(getattr(answer, "reason", "not a wording"))
                    elif answer == offline or not (fault := _fault_of(answer, memories, self.desk)):
                        return answer
                    self.desk.refuse(self.kind, fault, repr(answer))
                except BadReply as failed:
                    fault, fix = failed.message, failed.fix
        except MemrepoError as failed:
            self.stopped = True
            fault, fix = failed.message, failed.fix
        rest = ", like the questions after it" if self.stopped else ""
        problem = Problem(
            path=memories[0].path,
            rule=f"{self.kind}-offline",
            severity="warning",
            fix=fix,
            message=f"{_OFFLINE[self.kind]}{rest}: {fault}",
        )
        self.found.warnings += (problem,)
        return offline


def with_worded_gists(
    found: Decisions, state: State, steps: Sequence[Step], desk: Desk
) -> tuple[Step, ...]:
    """Return the steps with gists by the judge for the notes that they move to gist tier."""
    clerk = Clerk(found=found, desk=desk, kind="gist")

    def with_gist(change: object) -> object:
        if not isinstance(change, Update) or change.fields.get("tier") != "gist":
            return change
        note = state.memories[change.id]
        if len(note.body) > MAX_NOTE_LENGTH:
            return change
        gist = clerk.word([note], partial(gist_question, note), gist_of(note))
        return replace(change, fields={**change.fields, "gist": gist})

    return tuple(
        replace(step, changes=tuple(map(with_gist, step.changes))) if step.op == "tier" else step
        for step in steps
    )


def worded_summary(group: Group, clerk: Clerk | None) -> Summary:
    """Return the summary of a group, by the judge if the answer is valid, otherwise offline."""
    offline = summary_of(group.topic, group.memories)
    if clerk is None:
        return offline
    question = partial(summary_question, group.topic, group.memories)
    return clerk.word(group.memories, question, offline)


def _fault_of(answer: Gist | Summary, memories: Sequence[Memory], desk: Desk) -> str:
    """Return the fault of a wording, as feedback for the judge, or "" if the wording is valid.

    Exact checks are done in code. Then the model verifies that the memories support the wording.
    """
    fields: list[tuple[str, str]] = []
    for name, length in _LENGTHS[type(answer)].items():
        value: str | tuple[str, ...] = getattr(answer, name)
        texts = (value,) if isinstance(value, str) else value
        if len(texts) > _COUNTS.get(name, 1) or len(set(texts)) < len(texts):
            return f"{name}: expected at most {_COUNTS[name]}, each once"
        if name == "facts" and not texts:
            return "facts: expected at least one"
        for text in texts:
            if text != " ".join(visible(text).split()):
                return f"{name}: more than one line, or invisible characters"
            if not 0 < len(text) <= length:
                return f"{name}: {len(text)} characters, expected 1 to {length}"
        fields += ((name, text) for text in texts)
    evidence = tuple(m.body for m in memories)
    known = ((m.text("title"), *m.texts("tags"), m.text("subject")) for m in memories)
    context = tuple(dict.fromkeys(part for parts in known for part in parts if part))
    days = tuple(sorted({m.captured[:10] for m in memories if m.captured}))
    grounds = Grounds(evidence=evidence, context=context, days=days)
    if found := [*find_unsupported(fields, grounds)]:
        return "; ".join(map(str, found[:4]))
    cited = Cited(own=evidence, above=context, days=days)
    op = Operation(op="add", lines="", text="\n".join(f"{name}: {text}" for name, text in fields))
    given = desk.ask(verify_question([Proposed(id="1", op=op, cited=cited)], ()))
    own = [a for a in given.items if isinstance(a, Assessment) and a.id == "1"]
    if not own:
        return "it was not verified"
    return "" if all(a.stated for a in own) else own[0].reason or "not what the evidence states"
