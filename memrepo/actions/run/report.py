"""`memrepo report`: show this clone's report of the last run, for a person or a chat."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.timetable import last_record
from memrepo.actions.setup.survey import budgets
from memrepo.actions.work import Work
from memrepo.read.marks import marked
from memrepo.views.report import RunRecord, chat, last_run

Report: TypeAlias = Literal["silent", "summary", "full"]
REPORTS: tuple[Report, ...] = ("silent", "summary", "full")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `report`."""

    chat: Annotated[
        bool, option("text for a chat; empty unless reporting.enabled is true", "--chat")
    ] = False
    report: Annotated[
        Report | None,
        option("level of detail for the chat (reporting.mode)", "--report", choices=REPORTS),
    ] = None


class Chat(VerbResult, frozen=True, kw_only=True):
    """The text to send to a chat; empty if there is nothing to send."""

    text: str
    enabled: bool
    mode: Report


class LastRunReport(VerbResult, frozen=True, kw_only=True):
    """The record of the last run, and its report for the operator."""

    last: RunRecord | None
    text: str


def do(work: Work, request: Request) -> Chat | LastRunReport:
    """Return the operator's report or, with --chat, the text to send to a chat."""
    config, run = work.config, last_record(work).last
    if request.chat:
        enabled, mode = config.reporting.enabled, request.report or config.reporting.mode
        text = chat(run, enabled=enabled, mode=mode) if run else ""
        return Chat(text=text, enabled=enabled, mode=mode)
    if run is None:
        return LastRunReport(last=None, text="no run was recorded in this clone yet")
    text = last_run(run)
    if run.run:
        text += f"\n## Changes\n\n- `memrepo diff {run.run}` lists them\n"
    text += f"\n## Spent\n\n- {budgets(work, 0, work.call.now).month.said}"
    return LastRunReport(last=run, text=marked("report", text))
