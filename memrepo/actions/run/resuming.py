"""Going on with a run that broke off: what it was asked to do, and the answers it was given."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from memrepo.actions.run.judging import CannotJudge, Choice, kind_of
from memrepo.actions.work import Work
from memrepo.core.ids import digest
from memrepo.purify.pipeline import Mode
from memrepo.store.kept import Broken, KeptAnswers, broken_run, broken_runs

PAID = ("anthropic", "command")
"""Judges whose answers cost money or minutes; the others say the same again for nothing."""


class Resumable(Protocol):
    """What a request to run says of going on with an earlier run."""

    @property
    def mode(self) -> str | None:
        """Return the mode that is asked for."""

    @property
    def judge(self) -> str | None:
        """Return the judge that is asked for."""

    @property
    def resume(self) -> str | None:
        """Return the run to go on with: empty for the newest, None for none."""


def resumed(first: Work, request: Resumable) -> tuple[Mode, str | None, str | None]:
    """Return the mode, the judge and the run to go on with; raises NotKept."""
    mode, judge, resume = request.mode, request.judge, request.resume
    if resume is not None:
        found = broken_run(first.store.folder, resume)
        for name, was in (("mode", found.mode), ("judge", found.kind)):
            if (given := getattr(request, name)) not in (None, was):
                raise CannotJudge(
                    f"the run {found.run} that broke off had --{name} {was}, not {given}",
                    fix=f"leave --{name} out, or run without --resume",
                )
        mode, judge, resume = found.mode, found.kind, found.run
    return ("reconciliation" if mode == "reconciliation" else "incremental"), judge, resume


def kept_for(at: Work, mode: str, resume: str | None, choice: Choice) -> KeptAnswers | None:
    """Return where the answers of this run are kept, with those of the run that it goes on with.

    Without --resume that is the newest of the same mode and judge: what was paid for is used.
    None for a judge that costs nothing.
    """
    kind = kind_of(at, choice)
    if kind not in PAID or choice.now is None:
        return None
    there = [
        b
        for b in broken_runs(at.store.folder)
        if (b.mode, b.kind) == (mode, kind) and resume in (None, b.run)
    ]
    new = Broken(run=_name(choice.now, at.tree.commit, mode, kind), mode=mode, kind=kind)
    return KeptAnswers(at.store.folder, there[-1] if there else new)


def _name(now: datetime, base: str, mode: str, kind: str) -> str:
    return f"{now:%Y%m%dT%H%M%SZ}-{digest([base, mode, kind])[:8]}"
