"""Telling a person at the end of a run what needs them; a run without such a setting skips this."""

from __future__ import annotations

from datetime import datetime

from memrepo.actions.needs import needs, ping, tell
from memrepo.actions.pending import all_waiting
from memrepo.actions.run.timetable import timetable
from memrepo.actions.setup.budgets import budgets
from memrepo.actions.setup.survey import survey
from memrepo.actions.work import Work
from memrepo.core.problems import Problem


def notify(at: Work, now: datetime, *, well: bool) -> tuple[Problem, ...]:
    """Tell of what needs a person, and that a run ended; return what could not be told."""
    spent = budgets(at, 0, now).spent
    found = needs(all_waiting(at), timetable(at, now), survey(at).undecided, spent)
    return (*tell(at, found)[1], *ping(at, well=well))
