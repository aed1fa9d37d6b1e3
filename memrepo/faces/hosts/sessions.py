"""What happens at the events of an agent's session: context, offers, and the note that is kept.

What was said is gathered beside the repository while the session lasts and becomes one note when
it ends. A session that never ends is taken in when another one starts, a day later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle import session
from memrepo.actions.recall.recall import index_of, recall
from memrepo.actions.recall.search import hit_of
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.actions.write import add
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import digest
from memrepo.core.messages import fold
from memrepo.core.secrets import redact
from memrepo.core.times import format_time, parse_time
from memrepo.faces.mcp.replies import listing, told
from memrepo.policies.terms import query_terms
from memrepo.store.index import Filter, no_model

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
    found = recall(work, index, [words], Filter(limit=OFFERS), work.call.now)
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
            text=f"Asked:\n\n{asked}{ended}",
            type="note",
            title=f"Session of {said['began'][:16]}Z",
            reason="what a session was about",
        )
        call = replace(work.call, subject=request.reason)
        with Work(call) as writing:
            perform(writing, "add", request)
    place.unlink(missing_ok=True)


def _take_in_broken_off(work: Work) -> None:
    found = sorted((work.store.folder / FOLDER).glob("*.json"))
    for place in found:
        at = _read(place).get("at", "")
        with suppress(ValueError):
            if parse_time(at) + BROKEN_OFF > work.call.now:
                continue
        _take_in(work, place)
