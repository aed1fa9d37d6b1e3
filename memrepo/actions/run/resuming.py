"""Going on with a run that broke off: what it was asked to do, and the answers it was given."""

from __future__ import annotations

import argparse
from datetime import datetime

from memrepo.actions.run.judging import CannotJudge, Choice, kind_of
from memrepo.actions.work import Desk
from memrepo.core.ids import digest
from memrepo.store.kept import Broken, KeptAnswers, broken_run, broken_runs

PAID = ("anthropic", "command")
"""Judges whose answers cost money or minutes; the others say the same again for nothing."""


def resumed(first: Desk, options: argparse.Namespace) -> argparse.Namespace:
    """Return the options with the mode and judge of the run that is resumed; raises NotKept."""
    given = {**vars(options)}
    if options.resume is not None:
        found = broken_run(first.store.folder, options.resume)
        for name, was in (("mode", found.mode), ("judge", found.kind)):
            if given[name] not in (None, was):
                raise CannotJudge(
                    f"the run {found.run} that broke off had --{name} {was}, not {given[name]}",
                    fix=f"leave --{name} out, or run without --resume",
                )
        given |= {"mode": found.mode, "judge": found.kind, "resume": found.run}
    return argparse.Namespace(**{**given, "mode": given["mode"] or "incremental"})


def kept_for(at: Desk, mode: str, resume: str | None, choice: Choice) -> KeptAnswers | None:
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
