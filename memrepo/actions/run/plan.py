"""The record of one run, from the request to the result.

`gather.py`, `judge.py`, `decide.py`, `guard.py`, `upkeep.py` and `land.py` each fill in their
fields and read the earlier ones. They share no other data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Literal

import msgspec

from memrepo.actions.run.assemble import Assembled
from memrepo.actions.run.candidates import Gathered, Nominee
from memrepo.actions.run.contradictions import Statements
from memrepo.actions.run.ingest import Ingested
from memrepo.actions.run.known import Marks
from memrepo.core.changes import (
    Delete,
    Step,
    Write,
)
from memrepo.core.judge import CanonicalClaim, Cluster, Judge, Profile, Usage, Verdict
from memrepo.core.manifest import Consumed, Receipt, Recorded, Removal
from memrepo.core.problems import Problem
from memrepo.core.state import Files, State
from memrepo.judges.asking import AnswerStore, Asking, Failure
from memrepo.policies.matching import Near
from memrepo.policies.rules import ContradictionRules, Size
from memrepo.read.intake import Intake, Reader, SourceText
from memrepo.store.history import LogEntry

Mode = Literal["incremental", "reconciliation"]
STAGES = ("ingest", "purify", "lifecycle", "consolidation")
"""The stages of a run in order. A reconciliation has only the first two."""
Units = Collection[tuple[str, str]]
"""Units of sources as (resource, hash)."""


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A finished chain of commits that has not been written yet.

    `wait` is the reason for review, or empty if it may be committed.
    """

    run: str
    base: str
    steps: tuple[Step, ...]
    counts: Mapping[str, int]
    receipt: Receipt
    wait: str = ""
    ledger: str = ""
    """The ledger commit used for the maintenance decisions."""
    removals: tuple[Removal, ...] = ()
    """The removals in a pending chain."""

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Return all steps except those for pages and the run's record."""
        return tuple(step for step in self.steps if step.op not in ("view", "run"))


class SplitSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The steps to commit, and the steps that need review, with the reason.

    `open_ids` are all memories that a pending step concerns. The units that support them remain
    open.
    """

    kept: tuple[Step, ...] = ()
    held: tuple[Step, ...] = ()
    open_ids: frozenset[str] = frozenset()
    why: str = ""


def _rules() -> Judge:
    from memrepo.judges.offline import OfflineJudge

    return OfflineJudge()


class RunPlan(msgspec.Struct, kw_only=True):
    """The state of one run: request, input, answers, decisions, pending parts and results."""

    # The request (run.py).
    now: datetime
    judge: Judge = msgspec.field(default_factory=_rules)
    mode: Mode = "incremental"
    stages: frozenset[str] = frozenset(STAGES)
    max_change_pct: float = 20.0
    has_own_limit: bool = False
    """Whether the limit was given for this run. Pending removals may then be committed."""
    is_upgrade: bool = False
    """Whether rejected candidates are judged again and the run is always recorded."""
    only_waiting: bool = False
    """Whether to draft only the pending part, on the commit that the run has just made."""
    asks_about_old: bool = True
    """Whether a model may be asked about existing memories. False for a dry run."""
    stored: AnswerStore | None = None
    """The stored answers of an interrupted run, for judges that cost money."""

    # From the commit and its configuration (gather.py).
    state: State = msgspec.field(default_factory=lambda: State(files=Files({}, {}), memories={}))
    manifests: Sequence[Recorded] = ()
    zone: tzinfo = UTC
    profile: Profile = "personal"
    shelf: Size = "normal"
    days: bool = True
    """Whether daily logs yield claims in addition to notes."""
    learn: bool = True
    """Whether the owner's decisions change the rank of similar statements."""
    by_object: bool = True
    """Whether claims with different objects are different claims."""
    contradictions: ContradictionRules = msgspec.field(default_factory=ContradictionRules)
    comparer: Judge | None = None
    """The judge that compares pairs, if not the run's judge."""
    near: Near = lambda _: ()
    """A search function over the memories, if available."""

    # Fingerprints of a person's earlier decisions (guard.py).
    reverted: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()

    # New text (gather.py).
    texts: Sequence[SourceText] = ()
    intake: Intake = msgspec.field(default_factory=Intake)
    reader: Reader | None = None
    nominees: tuple[Nominee, ...] = ()
    moved: tuple[Step, ...] = ()
    """Steps that update the paths of moved sources."""
    follows: State | None = None
    """The state after the `moved` steps."""
    gathered: Gathered = msgspec.field(default_factory=Gathered)
    previously: Callable[[str], frozenset[str]] = lambda _: frozenset()
    """Returns the texts of a source at its last reading."""
    statements: Statements = msgspec.field(default_factory=Statements)
    marks: Marks = msgspec.field(default_factory=lambda: Marks({}))

    # From the judge (judge.py).
    verdicts: Sequence[Verdict] = ()
    clusters: Sequence[Cluster] = ()
    asked_of: Sequence[Cluster] = ()
    """Every cluster that was judged, before and after splitting."""
    claims: Sequence[CanonicalClaim] = ()
    made: Assembled = msgspec.field(default_factory=Assembled)
    open_units: frozenset[tuple[str, str]] = frozenset()
    """Units without an answer. The next run reads them again."""
    unusable: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Why the answers about a candidate or cluster were unusable."""
    failures: tuple[Failure, ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)

    # Decisions (decide.py, upkeep.py), and pending parts (guard.py).
    steps: tuple[Step, ...] = ()
    files: tuple[Write | Delete, ...] = ()
    """Changes to the files of deferred and rejected candidates."""
    returned: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """Maps the file of a returned candidate to the memories it became."""
    consumed: tuple[Consumed, ...] = ()
    behind: Mapping[str, Units] = msgspec.field(default_factory=dict)
    """Maps a memory to the units that support it in this run."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    quarantined: tuple[Mapping[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    """Problems to show. Those found while judging are also recorded, as `warnings`."""
    warnings: tuple[Problem, ...] = ()
    split: SplitSteps = msgspec.field(default_factory=SplitSteps)
    removals: tuple[Step, ...] = ()
    """Steps that remove memories and are pending."""
    removal_reasons: tuple[str, ...] = ()
    new_removals: tuple[Removal, ...] = ()
    """The pending removals that no earlier run recorded."""
    landed_removals: tuple[Removal, ...] = ()
    """Formerly pending removals that are committed by this run."""
    room: int = 0
    """How many more memories may leave recall in this run."""
    ledger: str = ""

    # Results (land.py).
    main: Draft | None = None
    waiting: Draft | None = None
    status: str = ""
    base: str = ""
    head: str = ""
    ingested: Ingested = msgspec.field(default_factory=Ingested)
    landed: Draft | None = None
    branch: str = ""
    why: str = ""
    """Why the run is pending or was skipped."""
    commits: tuple[LogEntry, ...] = ()
    used: Usage = msgspec.field(default_factory=Usage)
    resume: str = ""
    """The name to pass to `--resume`."""
    reused: int = 0
    """Number of answers reused from an interrupted run."""

    @property
    def local_now(self) -> datetime:
        """Return the time of the run in the repository's time zone."""
        return self.now.astimezone(self.zone)

    @property
    def asking(self) -> Asking:
        """Return the settings for asking the judge."""
        return Asking(
            judge=self.judge,
            now=self.now,
            local_now=self.local_now,
            profile=self.profile,
            by_object=self.by_object,
            stored=self.stored,
        )

    @property
    def decided(self) -> frozenset[str]:
        """Return the fingerprints of the decisions that a person reverted, left out or refused."""
        return self.reverted | self.left_out | self.refused

    @property
    def removal_reason(self) -> str:
        """Return the reason why the removals are pending, as text."""
        return "; ".join(dict.fromkeys(filter(None, self.removal_reasons)))
