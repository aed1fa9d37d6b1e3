"""The values that the stages of a run hand on: plan, input, answers, decisions.

`gather` returns an `Input`, `judge` turns it into `Answers`, `decide` into `Decisions`. The
decisions grow by the maintenance of existing memories (`maintain.py`). They land or wait as a
whole (`land.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from memrepo.actions.run.known import Known
from memrepo.actions.run.overtake import StatementIndex
from memrepo.config import Config, parse_config
from memrepo.core.changes import Step
from memrepo.core.ids import digest, normal_claim, text_hash
from memrepo.core.judge import Statement
from memrepo.core.manifest import Consumed, Receipt, Recorded
from memrepo.core.problems import Problem
from memrepo.core.state import EMPTY, State
from memrepo.core.times import format_time
from memrepo.judge.ask import Desk
from memrepo.judge.offline import NAME as OFFLINE
from memrepo.policies.ageing import SKILLS, Nomination
from memrepo.policies.rules import RunMode
from memrepo.read.choice import NOTHING, Candidate, ShelfChoice
from memrepo.read.intake import Cursor, Intake, Placed, Reader, SourceText
from memrepo.read.thoughts import MAX_TEXT, Unit
from memrepo.text.dates import DateBasis


class RunPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is fixed for one attempt of a run: the request, the commit and its configuration."""

    # The request (run.py).
    now: datetime
    desk: Desk | None = None
    """Where a model is asked, or None if the rules judge."""
    mode: RunMode = "incremental"
    max_change_pct: float = 20.0
    has_own_limit: bool = False
    """Whether the limit was given for this run."""
    is_upgrade: bool = False
    """Whether rejected candidates are judged again and the run is always recorded."""
    asks_about_old: bool = True
    """Whether a model may be asked about existing memories. False for a dry run."""
    # The commit and its configuration (gather.py).
    config: Config = msgspec.field(default_factory=lambda: parse_config(""))
    state: State = EMPTY
    manifests: Sequence[Recorded] = ()
    problems: tuple[Problem, ...] = ()
    """Problems in the files of the commit."""
    decided: frozenset[str] = frozenset()
    """What a person reverted or discarded (`core.changes.traits`)."""
    index: StatementIndex = msgspec.field(default_factory=StatementIndex)
    """The words of the memories that rules compare."""

    @property
    def judge_name(self) -> str:
        """Return the name of the judge, as recorded in the manifest."""
        return self.desk.name if self.desk is not None else OFFLINE


_BASES: Mapping[str, DateBasis] = {"unit": "unit", "heading": "heading", "file": "file"}


class Nominee(msgspec.Struct, frozen=True, kw_only=True):
    """A nominated note, with its blob and the lines of its text in the file.

    `stated_by` are the memories that already state parts of it. `rest` is the text without those
    parts.
    """

    nomination: Nomination
    blob: str
    lines: tuple[int, int]
    stated_by: tuple[str, ...] = ()
    rest: str | None = None

    @property
    def text(self) -> str:
        """Return the part of the note to judge."""
        body = self.nomination.note.body.strip() if self.rest is None else self.rest
        return body[:MAX_TEXT]

    def placed(self) -> Placed:
        """Return the note as a unit in scope. A note without sources is dated by its creation."""
        note, text = self.nomination.note, self.text
        words = digest([note.path, normal_claim(text)])
        created, last = note.created, next(reversed(note.sources), None)
        day = format_time(created)[:10] if created else ""
        captured, basis = day, _BASES["file"]
        if last is not None:
            captured, basis = last.captured, _BASES.get(last.captured_from, "")
        return Placed(
            unit=Unit(
                resource=note.path,
                kind="section",
                text=text,
                lines=self.lines,
                headings=tuple(filter(None, (note.title,))),
                captured=captured if basis else "",
                captured_from=basis,
                text_hash=text_hash(text),
                hash=f"un-{words[:16]}",
            ),
            resource=note.path,
            blob=self.blob,
            committed=day,
            retrieved=self.nomination.record,
            hint="method" if self.nomination.destination == SKILLS else "",
        )


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """What a run reads: the new text of the sources, and the candidates to judge in it.

    `reader` is None if nothing is new. `state` is the state after the steps `moved`, which update
    the paths of moved sources, and `known` has its memories.
    """

    texts: Sequence[SourceText] = ()
    intake: Intake = msgspec.field(default_factory=Intake)
    reader: Reader | None = None
    state: State = EMPTY
    known: Known = msgspec.field(default_factory=Known)
    moved: tuple[Step, ...] = ()
    nominees: tuple[Nominee, ...] = ()
    candidates: Sequence[Candidate] = ()
    choice: ShelfChoice = NOTHING
    cursor: Mapping[str, Cursor] = msgspec.field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge answered about an input.

    `waiting` are the sources without an answer: the next run reads them again. `unusable` says why
    operations were left out. `names` are those of owner and agent. `may_arrange` is whether the
    judge may be asked to arrange the memories too.
    """

    statements: tuple[Statement, ...] = ()
    waiting: frozenset[str] = frozenset()
    unusable: Mapping[str, str] = msgspec.field(default_factory=dict)
    names: tuple[str, ...] = ()
    may_arrange: bool = False
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    warnings: tuple[Problem, ...] = ()


class Decisions(msgspec.Struct, kw_only=True):
    """The steps of a run and what its manifest records. Each stage after `decide` adds to it.

    `warnings` are recorded in the manifest, `problems` are only shown. `room` is how many more
    memories may leave recall. `run` is empty if there is nothing to write. `wait` is the reason for
    review, or empty if the run may be committed.
    """

    steps: tuple[Step, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    quarantined: tuple[Mapping[str, str], ...] = ()
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    room: int = 0
    run: str = ""
    base: str = ""
    wait: str = ""

    @property
    def lands(self) -> bool:
        """Return whether there is something to commit, and nobody needs to review it first."""
        return bool(self.run) and not self.wait

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Return all steps except those for pages and the run's record."""
        return tuple(step for step in self.steps if step.op not in ("view", "run"))
