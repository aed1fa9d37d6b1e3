"""`memrepo report`: what the last run in this clone came to, for its operator or for a chat."""

from __future__ import annotations

import argparse
from typing import Any

from memrepo.actions.work import Answer, Session, opened
from memrepo.actions.setup.timetable import last_record
from memrepo.views.report import chat, from_json, last_run


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--chat",
        action="store_true",
        help="what may go to a chat: nothing unless reporting.enabled is true",
    )
    parser.add_argument(
        "--report",
        choices=("silent", "summary", "full"),
        help="how much of it goes to a chat (reporting.mode)",
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Print the operator's report, or with --chat what is fit to be passed on."""
    with opened(session) as desk:
        config, told = desk.config, from_json(last_record(desk).get("last", {}))
    if options.chat:
        enabled, mode = config.get("reporting.enabled"), options.report
        mode = mode or config.get("reporting.mode")
        text = chat(told, enabled=enabled, mode=mode) if told else ""
        return Answer(data={"text": text, "enabled": enabled, "mode": mode}, text=text)
    record: dict[str, Any] = told.as_json() if told else {}
    text = last_run(told).rstrip("\n") if told else "no run was told of in this clone yet"
    return Answer(data={"last": record, "text": text}, text=text)
