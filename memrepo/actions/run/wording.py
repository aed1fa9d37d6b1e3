"""Wordings by a judge for replacements of old memories: gists of notes, summaries of groups.

The offline wording is used if the judge gives no wording that the memories support.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.plan import RunPlan
from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.judge import (
    BadReply,
    BudgetReached,
    GistRequest,
    Judge,
    JudgeFailed,
    Summary,
    SummaryRequest,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.memory import Gist, Memory
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judges.asking import Failure
from memrepo.judges.grounding import Grounds, foreign
from memrepo.policies import gists
from memrepo.policies.entities import LONGEST
from memrepo.policies.gists import Group, gist_of, summary_of

T = TypeVar("T")
MAX_GISTS = 20
"""Maximum gists requested from a judge per run. Other notes get the offline gist."""
MAX_NOTE_LENGTH = 40_000
"""Maximum length of a note sent to a judge, in characters. Longer notes get the offline gist."""
MAX_SUMMARIES = 20
"""Maximum summaries requested from a judge per run. Others are worded offline."""
MAX_TAG_LENGTH = 40


class Clerk(msgspec.Struct, kw_only=True):
    """A requester of wordings from a judge. After a failure, it makes no further requests.

    `name` is the kind of question. `rule` and `what` are used in warnings about offline wordings.
    """

    plan: RunPlan
    name: str
    rule: str
    what: str
    stopped: bool = False
    asked: int = 0

    def word(self, path: str, ask: Callable[[str], T], fault_of: Callable[[T], str]) -> T | None:
        """Return the first answer without faults, or None.

        `ask` receives the fault of the previous attempt.
        """
        if self.stopped:
            return None
        from memrepo.judges.claude import NoCredentials

        self.asked += 1
        fault = ""
        try:
            for _ in range(2):
                try:
                    answer = ask(fault)
                    if not (fault := fault_of(answer)):
                        return answer
                    last = BadReply(fault, raw=repr(answer))
                except BadReply as failed:
                    last, fault = failed, failed.message
                self._record(last)
            self._report(path, last)
        except (JudgeFailed, BudgetReached, NoCredentials) as failed:
            self.stopped = True
            self._report(path, failed)
            if isinstance(failed, JudgeFailed):
                self._record(failed)
        return None

    def _record(self, failed: JudgeFailed) -> None:
        failure = Failure(
            name=self.name,
            batch=self.asked,
            reason=failed.message,
            raw=failed.raw,
            tried=failed.tried,
        )
        self.plan.failures += (failure,)

    def _report(self, path: str, failed: MemrepoError) -> None:
        rest = ", as those after it" if self.stopped else ""
        problem = Problem(
            path=path,
            rule=self.rule,
            severity="warning",
            fix=failed.fix,
            message=f"{self.what}{rest}: {failed.message}",
        )
        self.plan.warnings += (problem,)


def worded_gists(
    plan: RunPlan, state: State, steps: Sequence[Step], judge: Judge
) -> tuple[Step, ...]:
    """Return the steps with gists by the judge for the notes that they move to gist tier."""
    clerk = Clerk(
        plan=plan, name="gist", rule="gist-offline", what="its gist was made without a model"
    )
    last: dict[str, object] = {}
    for step in steps:
        for change in step.changes:
            if step.op == "tier" and isinstance(change, Update):
                last[change.id] = change.fields.get("tier")
    notes = [state.memories[id_] for id_, tier in last.items() if tier == "gist"]
    worded: dict[str, Gist] = {}
    for note in [note for note in notes if len(note.body) <= MAX_NOTE_LENGTH][:MAX_GISTS]:
        gist = clerk.word(
            note.path,
            lambda fault, note=note: judge.gist(GistRequest(note=note, fault=fault)),  # type: ignore[misc]
            lambda gist, note=note: gist_fault(gist, note, judge, plan.now),  # type: ignore[misc]
        )
        if gist is not None:
            worded[note.id] = gist
    return tuple(_with_gists(step, worded) for step in steps)


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


def gist_fault(gist: Gist, note: Memory, judge: Judge, now: datetime) -> str:
    """Return the fault of a gist, as feedback for the judge, or "" if the gist is valid."""
    if gist == gist_of(note):
        return ""
    if len(gist.tags) > gists.TAGS or len(set(gist.tags)) < len(gist.tags):
        return f"tags: expected at most {gists.TAGS}, each once"
    fields = [("title", gist.title), ("summary", gist.summary), *(("tags", t) for t in gist.tags)]
    bounds = {"title": gists.TITLE, "summary": gists.LENGTH, "tags": MAX_TAG_LENGTH}
    return _unsound(fields, bounds, [note], judge, now)


def worded_summary(group: Group, judge: Judge | None, clerk: Clerk) -> Summary:
    """Return the summary of a group, by the judge if the answer is valid, otherwise offline."""
    summary = None
    if judge is not None and clerk.asked < MAX_SUMMARIES:
        summary = clerk.word(
            group.memories[0].path,
            lambda fault: judge.summarise(
                SummaryRequest(topic=group.topic, memories=group.memories, fault=fault)
            ),
            lambda given: _summary_fault(given, group, judge, clerk.plan.now),
        )
    return summary or summary_of(group.topic, group.memories)


def _summary_fault(given: Summary, group: Group, judge: Judge, now: datetime) -> str:
    """Return the fault of a summary, as feedback for the judge, or "" if the summary is valid."""
    if given == summary_of(group.topic, group.memories):
        return ""
    facts, entities = len(given.facts), len(given.entities)
    if not 0 < facts <= gists.FACTS:
        return f"facts: {facts}, expected 1 to {gists.FACTS}"
    if entities > gists.ENTITIES:
        return f"entities: {entities}, expected at most {gists.ENTITIES}"
    fields = [("title", given.title), ("text", given.text)]
    fields += [("facts", fact) for fact in given.facts]
    fields += [("entities", name) for name in given.entities]
    bounds = {
        "title": gists.TITLE,
        "text": gists.SUMMARY_LENGTH,
        "facts": gists.FACT,
        "entities": LONGEST,
    }
    return _unsound(fields, bounds, group.memories, judge, now)


def _unsound(
    fields: Sequence[tuple[str, str]],
    bounds: Mapping[str, int],
    memories: Sequence[Memory],
    judge: Judge,
    now: datetime,
) -> str:
    """Return the fault of a wording, as feedback for the judge, or "" if the wording is valid.

    Exact checks are done in code. Then the judge verifies that the memories support the wording.
    """
    for name, text in fields:
        if text != " ".join(visible(text).split()):
            return f"{name}: more than one line, or invisible characters"
        if not 0 < len(text) <= bounds.get(name, len(text)):
            return f"{name}: {len(text)} characters, expected 1 to {bounds[name]}"
    evidence = tuple(m.body for m in memories)
    known = ((m.text("title"), *m.texts("tags"), m.text("subject")) for m in memories)
    context = tuple(dict.fromkeys(part for parts in known for part in parts if part))
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
    answers = judge.verify(VerificationRequest(now=now, checks=(check,)))
    own = [answer for answer in answers if answer.check_id == check.check_id]
    if not own or own[0].fault:
        return own[0].fault if own else "nobody verified it"
    return "" if all(a.stated for a in own) else own[0].reason or "not what the evidence states"
