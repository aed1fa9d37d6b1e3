"""The hook of an agent's program: its event in, its answer out, in time and never as a failure."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from threading import enumerate as enumerate_threads

from memrepo.actions.setup.hosts import CLAUDE_EVENTS, DEADLINES, PATIENCE
from memrepo.actions.work import Call, Work
from memrepo.core.errors import MemrepoError
from memrepo.core.messages import fold
from memrepo.core.secrets import concealed
from memrepo.faces.hosts.sessions import Event, happened
from memrepo.faces.mcp.calls import acting
from memrepo.views.context import fenced

GIVEN_UP = "memrepo-hook"
"""The name of a thread for whose end nobody waits, once the answer is told."""
_SPARE = 1.5
"""Seconds kept for the end of the program, within those that a host waits."""
_LEAST = 0.1


class _Late(Exception):
    """What was asked for did not come in time."""


def hook(call: Call, host: str) -> str:
    """Return what a host is answered; what goes wrong is a note that the person sees.

    What has not ended by its deadline is given up; a write is whole or not there at all.
    """
    name, began = "", time.monotonic() - call.age()
    try:
        name, event = _event(host, _within("prompt", began, call.read))
        if event.kind not in DEADLINES:
            return ""
        return _answer(host, name, _within(event.kind, began, lambda: _told(call, host, event)))
    except MemrepoError as error:
        note = fenced(fold(error.message, 300))
    except _Late as error:
        note = str(error)
    except ValueError as error:
        note = f"the hook was handed something else: {error}" if not name else _bug(error)
    except Exception as error:  # noqa: BLE001 - a session goes on whatever breaks here
        note = _bug(error)
    return _answer(host, name, note=note)


def leave(code: int) -> None:
    """End the program at once where what was given up is still at work.

    Python cannot be taken down under a thread that is within it: that ends in a signal, after the
    answer, and a host would be told a second time.
    """
    if not any(thread.name == GIVEN_UP for thread in enumerate_threads()):
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _told(call: Call, host: str, event: Event) -> str:
    with Work(acting(call, host)) as work:
        return happened(work, event)


def _bug(error: Exception) -> str:
    return f"a bug: {type(error).__name__}"


def _within(kind: str, began: float, asked: Callable[[], str]) -> str:
    """Return what is asked for, or raise what that raises; raises _Late at the deadline.

    Where the program took long to start, the deadline is sooner: a host counts from there.
    """
    left = began + DEADLINES[kind] + PATIENCE - _SPARE - time.monotonic()
    limit = min(DEADLINES[kind], max(left, _LEAST))
    found: list[str | Exception] = []

    def ask() -> None:
        try:
            found.append(asked())
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            found.append(error)

    thread = Thread(target=ask, name=GIVEN_UP, daemon=True)
    thread.start()
    thread.join(limit)
    answer = found[0] if found else _Late(f"gave up after {limit:.1f} s")
    if isinstance(answer, Exception):
        raise answer
    return answer


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
            own=_own_memory(_text(data, "transcript_path")),
        )
    keys = ("session", "prompt", "reply")
    return "", Event(kind=_text(data, "event"), **{key: _text(data, key) for key in keys})


def _own_memory(transcript: str) -> str:
    """Return the folder in which Claude Code keeps notes of its own, beside its transcripts."""
    folder = Path(transcript).parent / "memory"
    return str(folder) if transcript and folder.is_dir() else ""


def _text(data: Mapping[str, object], key: str) -> str:
    """Return a text of the event, without half characters, which no file could hold."""
    value = data.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _answer(host: str, name: str, told: str = "", note: str = "") -> str:
    """Return one JSON object, or a text for a host that takes one; in ASCII, as any pipe holds."""
    warning = f"memrepo: this session goes on without its memory\n{note}" if note else ""
    if host != "claude-code":
        return told or warning
    answer: dict[str, object] = {"systemMessage": warning} if warning else {}
    if told:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": told}
    return json.dumps(concealed(answer)) if answer else ""
