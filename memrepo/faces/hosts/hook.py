"""The hook of an agent's program: its event in, its answer out, in time and never as a failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Thread

from memrepo.actions.setup.hosts import CLAUDE_EVENTS, DEADLINES
from memrepo.actions.work import Call, Work
from memrepo.core.errors import MemrepoError
from memrepo.core.messages import fold
from memrepo.faces.hosts.sessions import Event, happened
from memrepo.faces.mcp.calls import acting
from memrepo.views.context import fenced


def hook(call: Call, host: str, given: str) -> str:
    """Return what a host is answered; what goes wrong is a note that the person sees.

    What has not ended by its deadline is given up; a write is whole or not there at all.
    """
    name, event = "", Event(kind="")
    try:
        name, event = _event(host, given)
    except ValueError as error:
        return _answer(host, name, "", f"the hook was handed something else: {error}")
    if event.kind not in DEADLINES:
        return ""
    found: list[tuple[str, str]] = []

    def answer() -> None:
        try:
            with Work(acting(call, host)) as work:
                found.append((happened(work, event), ""))
        except MemrepoError as error:
            found.append(("", fenced(fold(error.message, 300))))
        except Exception as error:  # noqa: BLE001 - a session goes on whatever breaks here
            found.append(("", f"a bug: {type(error).__name__}"))

    limit = DEADLINES[event.kind]
    thread = Thread(target=answer, daemon=True)
    thread.start()
    thread.join(limit)
    told, note = found[0] if found else ("", f"gave up after {limit:g} s")
    return _answer(host, name, told, note)


def _event(host: str, given: str) -> tuple[str, Event]:
    data = json.loads(given)
    if not isinstance(data, Mapping):
        raise ValueError("expected one JSON object")
    if host == "claude-code":
        name = _text(data, "hook_event_name")
        return name, Event(
            kind=CLAUDE_EVENTS.get(name, ""),
            session=_text(data, "session_id"),
            prompt=_text(data, "prompt"),
            reply=_text(data, "last_assistant_message"),
        )
    keys = ("session", "prompt", "reply")
    return "", Event(kind=_text(data, "event"), **{key: _text(data, key) for key in keys})


def _text(data: Mapping[str, object], key: str) -> str:
    """Return a text of the event, without half characters, which no file could hold."""
    value = data.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _answer(host: str, name: str, told: str, note: str) -> str:
    warning = f"memrepo: this session goes on without its memory\n{note}" if note else ""
    if host != "claude-code":
        return told or warning
    answer: dict[str, object] = {"systemMessage": warning} if warning else {}
    if told:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": told}
    return json.dumps(answer, ensure_ascii=False) if answer else ""
