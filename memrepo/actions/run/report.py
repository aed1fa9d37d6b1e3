"""`memrepo report`: what the last run in this clone came to, for its operator or for a chat."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memrepo.actions.request import option
from memrepo.actions.setup.timetable import last_record
from memrepo.actions.work import Answer, Work
from memrepo.views.report import chat, from_json, last_run


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `report`."""

    chat: Annotated[
        bool, option("what may go to a chat: nothing unless reporting.enabled is true", "--chat")
    ] = False
    report: Annotated[
        str | None,
        option(
            "how much of it goes to a chat (reporting.mode)",
            "--report",
            choices=("silent", "summary", "full"),
        ),
    ] = None


def do(work: Work, request: Request) -> Answer:
    """Print the operator's report, or with --chat what is fit to be passed on."""
    config, told = work.config, from_json(last_record(work).get("last", {}))
    if request.chat:
        enabled, mode = config.get("reporting.enabled"), request.report
        mode = mode or config.get("reporting.mode")
        text = chat(told, enabled=enabled, mode=mode) if told else ""
        return Answer(data={"text": text, "enabled": enabled, "mode": mode}, text=text)
    record: dict[str, Any] = told.as_json() if told else {}
    text = last_run(told).rstrip("\n") if told else "no run was told of in this clone yet"
    return Answer(data={"last": record, "text": text}, text=text)
