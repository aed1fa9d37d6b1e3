"""The one record of a run, from what is asked of it to what is written.

`gather.py`, `judge.py`, `decide.py`, `guard.py`, `upkeep.py` and `land.py` each fill in their part
and read what came before. Nothing else is handed from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal

import msgspec

from memrepo.actions.run.assemble import Assembled
from memrepo.actions.run.candidates import Nominee
from memrepo.actions.run.holds import Parted
from memrepo.actions.run.ingest import Ingested
from memrepo.core.changes import Delete, Step, Write
from memrepo.core.judge import CanonicalClaim, Cluster, Judge, Profile, Usage, Verdict
from memrepo.core.manifest import Consumed, Receipt, Recorded, Removal
from memrepo.core.problems import Problem
from memrepo.core.state import Files, State
from memrepo.judges.asking import Failure, Kept
from memrepo.policies.retrieval import Near
from memrepo.policies.rules import ContradictionRules, Size
from memrepo.purify.decisions import Statements
from memrepo.purify.gather import Gathered
from memrepo.purify.intake import Intake, Reader, SourceText
from memrepo.purify.known import Marks
from memrepo.store.history import Entry

Mode = Literal["incremental", "reconciliation"]
STAGES = ("ingest", "purify", "lifecycle", "consolidation")
"""What a run goes through, in order; a reconciliation has the first two."""
Units = Collection[tuple[str, str]]
"""Units of sources, each by its resource and its hash."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A finished chain of commits; `wait` says why it must not land by itself, empty if it may."""

    run: str
    base: str
    steps: tuple[Step, ...]
    counts: Mapping[str, int]
    receipt: Receipt
    wait: str = ""
    ledger: str = ""
    """The ledger's commit by which its upkeep was decided."""
    removals: tuple[Removal, ...] = ()
    """What a chain that waits would take away."""

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Return its steps without pages and record."""
        return tuple(step for step in self.steps if step.op not in ("view", "run"))


def _rules() -> Judge:
    from memrepo.judges.offline import OfflineJudge

    return OfflineJudge()


class RunPlan(msgspec.Struct, kw_only=True):
    """One run: what is asked, read, answered, decided, held back and written."""

    # What is asked (run.py).
    now: datetime
    judge: Judge = msgspec.field(default_factory=_rules)
    mode: Mode = "incremental"
    stages: frozenset[str] = frozenset(STAGES)
    max_change_pct: float = 20.0
    has_own_limit: bool = False
    """Whether that limit was named for this very run: what waited may land by it."""
    is_upgrade: bool = False
    """What was rejected before is judged again, and a record is left in any case."""
    asks_about_old: bool = True
    """Whether a model is asked about memories that exist; a dry run does not."""
    kept: Kept | None = None
    """The answers of a run that broke off, where the judge's cost money."""

    # What the commit and its configuration say (gather.py).
    state: State = msgspec.field(default_factory=lambda: State(files=Files({}, {}), memories={}))
    manifests: Sequence[Recorded] = ()
    zone: tzinfo = UTC
    profile: Profile = "personal"
    shelf: Size = "normal"
    days: bool = True
    """Whether daily logs yield claims besides notes."""
    learn: bool = True
    """Whether the owner's decisions move the ranks of similar statements."""
    by_object: bool = True
    """Whether claims of one triple are two where their objects differ."""
    contradictions: ContradictionRules = msgspec.field(default_factory=ContradictionRules)
    comparer: Judge | None = None
    """Who compares pairs, where that is not the judge."""
    near: Near | None = None
    """A search index over the memories, where there is one."""

    # What a person decided before (guard.py): fingerprints of decisions.
    reverted: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    # What is new (gather.py).
    texts: Sequence[SourceText] = ()
    intake: Intake = msgspec.field(default_factory=Intake)
    reader: Reader | None = None
    nominees: tuple[Nominee, ...] = ()
    moved: tuple[Step, ...] = ()
    """Steps that give memories the new paths of sources that moved."""
    follows: State | None = None
    """The state after those."""
    gathered: Gathered = msgspec.field(
        default_factory=lambda: Gathered(candidates=(), units={}, former={})
    )
    beside: Mapping[str, str] = msgspec.field(default_factory=dict)
    """From a candidate to the one that it is judged with."""
    previously: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """From a source to the texts that it held when it was read last."""
    statements: Statements = msgspec.field(default_factory=Statements)
    marks: Marks = msgspec.field(default_factory=lambda: Marks({}))

    # What the judge says (judge.py).
    verdicts: Sequence[Verdict] = ()
    clusters: Sequence[Cluster] = ()
    asked_of: Sequence[Cluster] = ()
    """Every cluster that was asked about, before and after it was split."""
    claims: Sequence[CanonicalClaim] = ()
    made: Assembled = msgspec.field(default_factory=Assembled)
    open_units: frozenset[tuple[str, str]] = frozenset()
    """Units that nobody judged: the next run reads them again."""
    unusable: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Why no answer about a candidate or a cluster could be used."""
    failures: tuple[Failure, ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)

    # What is decided (decide.py, upkeep.py), and what is held back (guard.py).
    steps: tuple[Step, ...] = ()
    files: tuple[Write | Delete, ...] = ()
    """Files of candidates that were deferred or rejected."""
    returned: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """From the file of a candidate that came back to the memories that it became."""
    consumed: tuple[Consumed, ...] = ()
    behind: Mapping[str, Units] = msgspec.field(default_factory=dict)
    """From a memory to the units that speak for it in this run."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    quarantined: tuple[Mapping[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    """Findings for the person; those of the judging go on record, too, as `warnings`."""
    warnings: tuple[Problem, ...] = ()
    parted: Parted = msgspec.field(default_factory=lambda: Parted(kept=(), held=()))
    removals: tuple[Step, ...] = ()
    """Steps that take memories away and wait for a person."""
    removal_reasons: tuple[str, ...] = ()
    new_removals: tuple[Removal, ...] = ()
    """Those of them that no earlier run has on record."""
    landed_removals: tuple[Removal, ...] = ()
    """What had waited before and lands with this run."""
    room: int = 0
    """How many more memories may leave recall in this run."""
    ledger: str = ""

    # What is written, and what became of it (land.py).
    main: Draft | None = None
    waiting: Draft | None = None
    status: str = ""
    base: str = ""
    head: str = ""
    ingested: Ingested = msgspec.field(default_factory=Ingested)
    landed: Draft | None = None
    branch: str = ""
    why: str = ""
    """Why it waits, or was skipped."""
    commits: tuple[Entry, ...] = ()
    used: Usage = msgspec.field(default_factory=Usage)
    resume: str = ""
    """The name by which `--resume` goes on with it."""
    reused: int = 0
    """Answers taken from a run that broke off."""

    @property
    def local_now(self) -> datetime:
        """Return the time of the run in the repository's zone: its date is today's."""
        return self.now.astimezone(self.zone)

    @property
    def decided(self) -> frozenset[str]:
        """Return the fingerprints of what a person reverted, left out or refused."""
        return self.reverted | self.left_out | self.refused

    @property
    def removal_reason(self) -> str:
        """Return why the removals wait, in words."""
        return "; ".join(dict.fromkeys(filter(None, self.removal_reasons)))
