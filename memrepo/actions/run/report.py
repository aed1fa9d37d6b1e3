"""`memrepo report`: what the last run in this clone came to, for its operator or for a chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.run.timetable import last_record
from memrepo.actions.work import Work
from memrepo.views.report import chat, from_json, last_run

Report: TypeAlias = Literal["silent", "summary", "full"]
REPORTS: tuple[Report, ...] = ("silent", "summary", "full")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `report`."""

    chat: Annotated[
        bool, option("what may go to a chat: nothing unless reporting.enabled is true", "--chat")
    ] = False
    report: Annotated[
        Report | None,
        option("how much of it goes to a chat (reporting.mode)", "--report", choices=REPORTS),
    ] = None


class Chat(result.Result, frozen=True, kw_only=True):
    """What may go to a chat, empty for nothing."""

    text: str
    enabled: bool
    mode: Report


class LastRun(result.Result, frozen=True, kw_only=True):
    """The record of the last run, and the operator's report of it."""

    last: Mapping[str, Any]
    text: str


def do(work: Work, request: Request) -> Chat | LastRun:
    """Return the operator's report, or with --chat what is fit to be passed on."""
    config, told = work.config, from_json(last_record(work).get("last", {}))
    if request.chat:
        enabled, mode = config.get("reporting.enabled"), request.report
        mode = mode or config.get("reporting.mode")
        text = chat(told, enabled=enabled, mode=mode) if told else ""
        return Chat(text=text, enabled=enabled, mode=mode)
    record: dict[str, object] = told.as_json() if told else {}
    text = last_run(told).rstrip("\n") if told else "no run was told of in this clone yet"
    return LastRun(last=record, text=text)
