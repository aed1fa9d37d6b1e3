"""`memrepo report`: show this clone's report of the last run, for a person or a chat."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.run.timetable import last_record
from memrepo.actions.setup.survey import budgets
from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.messages import counted, cut
from memrepo.core.secrets import without_secrets
from memrepo.read.marks import marked
from memrepo.views.report import RunRecord, chat, in_words, last_run
from memrepo.views.review import SUMMARIES, Change

Report: TypeAlias = Literal["silent", "summary", "full"]
REPORTS: tuple[Report, ...] = ("silent", "summary", "full")
SHOWN, WIDTH = 30, 100
"""Maximum memories to list, and maximum characters of each."""


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
    config, summary = work.config, last_record(work).last
    if request.chat:
        enabled, mode = config.reporting.enabled, request.report
        mode = mode or config.reporting.mode
        text = chat(summary, enabled=enabled, mode=mode) if summary else ""
        return Chat(text=text, enabled=enabled, mode=mode)
    if summary is None:
        return LastRunReport(last=None, text="no run was recorded in this clone yet")
    spent = ["", "## Spent", "", f"- {budgets(work, 0, work.call.now).month.said}"]
    text = "\n".join([last_run(summary).rstrip("\n"), *spent, *_changed(work, summary.run)])
    text = marked("report", text)
    return LastRunReport(last=summary, text=text)


def _changed(work: Work, run: str) -> list[str]:
    """Return lines with a run's changes, by memory; empty if the run is not available."""
    from memrepo.actions.review.diff import NothingToCompare, review_of, span_of

    if not run:
        return []
    try:
        review = review_of(work, span_of(work, (run,)), quote=False)
    except NothingToCompare:  # it was discarded, or is in another clone
        return []
    what = "What it would change" if review.state == "waits" else "What it changed"
    lines = ["", f"## {what}"] if review.groups else []
    shown = 0
    for group in review.groups:
        lines += ["", f"### {visible(without_secrets(group.heading))}", ""]
        changes = [change for decision in group.decisions for change in decision.shown]
        if group.is_card or shown >= SHOWN:
            count = counted(len(changes), "memory", "memories")
            lines.append(f"- {count}: `memrepo diff {run}` lists them")
            continue
        lines += map(_line, changes[: SHOWN - shown])
        if len(changes) > SHOWN - shown:
            lines.append(f"- and {len(changes) - SHOWN + shown} more: `memrepo diff {run}`")
        shown += len(changes)
    return lines


def _line(change: Change) -> str:
    found = change.difference
    text = cut(visible(without_secrets(found.memory.body)), WIDTH)
    after = "".join(
        f' -> "{cut(visible(without_secrets(m.body)), WIDTH)}"' for m in change.successors[:1]
    )
    why = f"{visible(in_words(change.why))}, " if change.why else ""
    return f'- {SUMMARIES[found.kind][0].lower()}: "{text}"{after} ({why}{found.memory.id})'
