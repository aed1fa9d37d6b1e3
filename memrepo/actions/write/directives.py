"""`memrepo directives`: carry out the `[[...]]` directives of a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.lifecycle.ageing import Health, HealthRequest, health
from memrepo.actions.recall.lookup import Ambiguous, NoSuchMemory, find
from memrepo.actions.recall.usage import count_retrieval
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Wrote, said, write_steps
from memrepo.core.changes import Step
from memrepo.core.errors import UsageError
from memrepo.core.memory import Memory
from memrepo.core.messages import counted, subject_of
from memrepo.core.state import State, apply
from memrepo.policies.links import Directive, find_directives
from memrepo.policies.upkeep import directive_steps


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `directives`."""

    file: Annotated[str, option("the text; - or nothing is stdin", metavar="FILE")] = "-"
    dry_run: DryRun = False
    reason: Reason = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one directive in the text."""

    directive: str
    memories: tuple[str, ...]
    said: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of directives in the text and of commits made for them."""

    directives: int
    steps: int


class Result(result.Result, frozen=True, kw_only=True):
    """The outcome of each directive in order, and the last commit."""

    applied: tuple[Row, ...]
    commit: str
    counts: Counts
    health: Health | None
    """The health figures, if a directive requests them."""


def do(work: Work, request: Request) -> Result:
    """Carry out the directives of a text in order, with one commit each.

    Those already satisfied change nothing.
    """
    if request.file == "-":
        text = said(work.call.read(), "the text")
    else:
        path = work.call.where / request.file
        if not path.is_file():
            raise UsageError(f"{request.file}: no such file")
        text = path.read_text(encoding="utf-8", errors="replace")
    asked = find_directives(text)
    rows: list[Row] = []
    wrote = write_steps(work, request, lambda _, state: _draft(state, asked, work, rows))
    used = [s.memory_ids[0] for s in wrote.steps if s.op in ("restore", "pin")]
    if wrote.commit and used:
        count_retrieval(work, used)
    wants_health = any(d.verb == "memory_health" for d in asked)
    return Result(
        exit=wrote.exit,
        applied=tuple(_told(row, wrote) for row in rows),
        commit=wrote.commit,
        counts=Counts(directives=len(asked), steps=len(wrote.steps)),
        health=health(work.refreshed(), HealthRequest()) if wants_health else None,
        notices=wrote.notices,
    )


def _draft(state: State, asked: Sequence[Directive], work: Work, rows: list[Row]) -> list[Step]:
    """Return the steps of all directives, each computed on the result of the previous ones."""
    rows.clear()  # discard rows of an earlier attempt
    made: list[Step] = []
    for directive in asked:
        steps = directive_steps(
            directive,
            state.active,
            partial(_named, state),
            work.call.now,
        )
        rows.append(
            Row(
                directive=f"{directive.verb}:{directive.target}".rstrip(":"),
                memories=tuple(id_ for s in steps or () for id_ in s.memory_ids),
                said=_said(directive, steps, state),
            )
        )
        state = apply(state, (change for step in steps or () for change in step.changes))
        made += steps or ()
    return made


def _told(row: Row, wrote: Wrote) -> Row:
    """Return the outcome of a directive, corrected if its memories need a person's approval."""
    waits = {id_ for step in wrote.waits for id_ in step.memory_ids} & set(row.memories)
    if not waits:
        return row
    count = f"{len(waits)} of {len(row.memories)} " if len(row.memories) > 1 else ""
    return replace(row, said=f"{count}waits for the person whose memory it is")


def _said(directive: Directive, steps: Sequence[Step] | None, state: State) -> str:
    if steps is None:
        return "names no memory"
    if directive.verb == "memory_health":
        return "is shown below"
    if directive.verb == "forget keyword":
        return f"took {counted(len(steps), 'memory', 'memories')} off the hot cache"
    after = apply(state, (change for step in steps for change in step.changes))
    return "; ".join(subject_of(step, state, after) for step in steps) or "is so already"


def _named(state: State, key: str) -> Memory | None:
    try:
        return find(state, key)
    except (NoSuchMemory, Ambiguous):
        return None
