"""The hook of an agent's program: its event in, its answer out, in time and never as a failure."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Thread
from threading import enumerate as enumerate_threads
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle import session
from memrepo.actions.recall.recall import index_of, recall
from memrepo.actions.recall.search import hit_of
from memrepo.actions.setup.hosts import CLAUDE_EVENTS, DEADLINES, PATIENCE
from memrepo.actions.verbs import perform
from memrepo.actions.work import Call, Work
from memrepo.actions.write import add
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import digest
from memrepo.core.messages import fold
from memrepo.core.secrets import concealed, redact
from memrepo.core.times import format_time, parse_time
from memrepo.faces.mcp.calls import acting
from memrepo.faces.mcp.replies import listing, told
from memrepo.store.index import Filter, no_model
from memrepo.text.terms import query_terms
from memrepo.views.context import fenced

FOLDER = "captured"
"""The folder in memrepo's own that holds what sessions said so far."""
OFFERS, OFFER_TOKENS = 3, 800
PROMPTS, PROMPT_LENGTH, REPLY_LENGTH = 10, 300, 800
BROKEN_OFF = timedelta(days=1)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's program tells of: start, prompt, stop or end, and what was said."""

    kind: str
    session: str = ""
    prompt: str = ""
    reply: str = ""
    own: str = ""
    """The folder of the notes that the program keeps by itself."""


def happened(work: Work, event: Event) -> str:
    """Do what an event asks for and return what the agent is told, empty for nothing."""
    match event.kind:
        case "start":
            begun = perform(work, "session", session.Request(what="start", id=event.session))
            with suppress(MemrepoError):  # what cannot be written now is kept for the next time
                _take_in_broken_off(work)
            return str(begun.as_json()["context"])
        case "prompt":
            _gather(work, event)
            return _offer(work, event.prompt)
        case "stop":
            _gather(work, event)
        case "end":
            _take_in(work, _place(work.store.folder, event.session))
            perform(work.refreshed(), "session", session.Request(what="end"))
            if event.own:
                _take_in_own(work.refreshed(), event.own)
    return ""


def _take_in_own(work: Work, folder: str) -> None:
    """Take in the program's own notes, which stay where they are; what is known stays as it is."""
    from memrepo.actions.exchange import import_

    if work.config.get("agents.additions") == "review":
        return  # a person imports them: an import lands at once
    with suppress(import_.NothingToImport):
        perform(work, "import", import_.Request(format="claude-code", path=folder))


def _offer(work: Work, prompt: str) -> str:
    """Return the memories that a prompt asks for; being offered is no retrieval.

    Words alone find them: to load a model takes longer than a prompt may wait.
    """
    words = fold(prompt, 1000)
    if not words:
        return ""
    index = replace(index_of(work), model=no_model)
    found = recall(work, index, [words], Filter(limit=OFFERS), work.call.now).hits
    best = max((one.score for one in found), default=0.0)
    asked, commit = query_terms(words), work.tree.commit
    near = [told(hit_of(one, commit), asked) for one in found if one.score >= best / 2]
    reply = listing(near, work.tree.commit, OFFER_TOKENS)
    return reply.text if reply.data["hits"] else ""


def _place(folder: Path, name: str) -> Path:
    return folder / FOLDER / f"{digest([name])[:16]}.json"


def _gather(work: Work, event: Event) -> None:
    """Add to what a session said so far; what looks like a secret is left out."""
    place = _place(work.store.folder, event.session)
    said: dict[str, Any] = {"prompts": [], "reply": "", "began": format_time(work.call.now)}
    said |= _read(place)
    if prompt := fold(redact(event.prompt)[0], PROMPT_LENGTH):
        said["prompts"] = [*said["prompts"], prompt][-PROMPTS:]
    if reply := fold(redact(event.reply)[0], REPLY_LENGTH):
        said["reply"] = reply
    said["at"] = format_time(work.call.now)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".new")
    draft.write_text(json.dumps(said, ensure_ascii=False), encoding="utf-8")
    draft.replace(place)


def _read(place: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(place.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _take_in(work: Work, place: Path) -> None:
    """Write what a session said as one note, and forget it."""
    said = _read(place)
    if said.get("prompts"):
        asked = "\n".join(f"- {prompt}" for prompt in said["prompts"])
        ended = f"\n\nIt ended with: {said['reply']}" if said.get("reply") else ""
        request = add.Request(
            text=f"{asked}{ended}",
            type="note",
            title=f"Session of {said['began'][:16]}Z",
            reason="what was asked in a session of the agent",
        )
        perform(work, "add", request)
    place.unlink(missing_ok=True)


def _take_in_broken_off(work: Work) -> None:
    found = sorted((work.store.folder / FOLDER).glob("*.json"))
    for place in found:
        at = _read(place).get("at", "")
        with suppress(ValueError):
            if parse_time(at) + BROKEN_OFF > work.call.now:
                continue
        _take_in(work, place)


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
    """Return the folder in which Claude Code keeps notes of its own, next to its transcripts."""
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
