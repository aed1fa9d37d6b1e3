"""`memrepo judge`: let the running agent answer as the judge, one question at a time.

`next` computes the run up to the first unanswered question and shows it. `answer` stores an answer
and then does the same. Answers pass the same checks as those of any model. A refused answer is
asked again with the reason. When no question is left, the run is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.actions.run import run
from memrepo.actions.run.record import Result as RunResult
from memrepo.actions.run.record import record_run
from memrepo.actions.work import DryRun, VerbResult, Work, option
from memrepo.core.errors import UsageError
from memrepo.core.judge import Usage
from memrepo.store.run_files import SavedAnswers

if TYPE_CHECKING:
    from memrepo.judge.interface import Question


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `judge`."""

    act: Annotated[
        Literal["next", "answer"],
        option(
            "next: show the next question; answer: store an answer, show the next question",
            choices=("next", "answer"),
        ),
    ]
    question: Annotated[str, option("id of the question, as shown", metavar="QUESTION")] = ""
    file: Annotated[str, option("the answer; - or nothing is stdin", metavar="FILE")] = "-"
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the commit of a run that lands", "--reason")] = ""


class SessionQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question for a session: instructions, the JSON Schema of the answer, and the data."""

    id: str
    kind: str
    items: int
    instructions: str
    schema: dict[str, Any]
    data: str


class Result(VerbResult, frozen=True, kw_only=True):
    """The next question or, if none is left, the result of the run.

    Secrets are looked for in each value of a question: as JSON, a word of secrecy can be before
    a harmless value.
    """

    question: SessionQuestion | None = None
    run: RunResult | None = None
    refusals: tuple[str, ...] = ()
    """What became of operations of the last answers that were not taken as they were worded."""

    @property
    def is_concealed(self) -> bool:
        """Return whether it is a question."""
        return self.question is not None


def do(work: Work, request: Request) -> Result:
    """Store the answer if one is given, then continue to the next question or to the end."""
    work.require_writable()
    if request.act == "answer":
        if not request.question:
            raise UsageError("memrepo judge answer: no QUESTION was given", fix="see `judge next`")
        before = _go_on(work, request)
        waiting = before.question
        if waiting is None or waiting.id != request.question:
            raise UsageError(
                f"no question {request.question} waits for an answer: it is answered,"
                " its lines changed, or memrepo or its settings did",
                fix="`memrepo judge next` shows the open question",
            )
        text = work.call.text_of(request.file)  # operations are checked one by one
        if request.dry_run:
            return Result(question=waiting)
        from memrepo.judge.ask import Session, key_of

        SavedAnswers(work.store.folder).keep(key_of(Session().name, waiting.id), text, Usage())
        after = _go_on(work, request)
        return replace(
            after, refusals=tuple(one for one in after.refusals if one not in before.refusals)
        )
    return _go_on(work, request)


def _go_on(work: Work, request: Request) -> Result:
    """Run with the answers given so far. Return the next question or the final result."""
    from memrepo.core.secrets import concealed
    from memrepo.judge.ask import Unanswered

    at = work.refreshed()
    asked = run.Request(
        mode="incremental", judge="session", dry_run=request.dry_run, reason=request.reason
    )
    run.refuse_other_owner(at)
    try:
        found = run.run_once(at, asked)
    except Unanswered as unanswered:
        refusals = tuple(concealed([*unanswered.refusals]))
        return Result(question=_question(unanswered.question), refusals=refusals)
    if not request.dry_run:
        found = record_run(at, lambda: found, mode="incremental")
    # Every question restarts the run, so reused answers are not worth reporting.
    return Result(run=replace(found, reused=0), refusals=found.refusals or (), exit=found.exit)


def _question(asked: Question) -> SessionQuestion:
    return SessionQuestion(
        id=asked.key,
        kind=asked.kind,
        items=asked.items,
        instructions=asked.system,
        schema=asked.schema,
        data=asked.data,
    )
