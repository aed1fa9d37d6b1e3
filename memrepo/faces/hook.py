"""Answer hook events of an agent's program within its deadline, and without ever failing it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from msgspec.structs import replace

from memrepo.actions import session, write
from memrepo.actions.agent import CLAUDE_EVENTS, DEADLINES, EVERYWHERE, NO_SCOPE, is_hook
from memrepo.actions.recall.recall import Hit, Recall, index_of
from memrepo.actions.recall.search import bounded
from memrepo.actions.verbs import PrivateSession, narrowed, perform, refuse_private
from memrepo.actions.work import Call, Work, as_program
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import digest
from memrepo.core.messages import fold
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed, without_secrets
from memrepo.core.times import format_time, parse_time
from memrepo.faces.text.recall import hit_text
from memrepo.policies.importance import Lexicon, lexicon
from memrepo.policies.standing import SESSION_TAG, is_of_project, is_of_session
from memrepo.read.marks import without_private
from memrepo.store import run_files
from memrepo.store.index import Filter, Index, no_model
from memrepo.text.words import query_terms, table, tables, telling_words, tokens
from memrepo.views.hot import HEAD, fenced

FOLDER = "captured"
"""The folder inside memrepo's own folder for prompts and replies of unfinished sessions."""
OFFERS, OFFER_TOKENS = 3, 800
"""Maximum memories offered for a prompt; half of the tokens are for their texts."""
MAX_RULE_WORDS = 40
"""Maximum words of a prompt for which rules are looked up."""
PROMPTS, PROMPT_LENGTH, REPLY_LENGTH = 10, 300, 800


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a session of an agent: its start, a prompt, a reply (`stop`) or its end."""

    kind: str
    session: str = ""
    prompt: str = ""
    reply: str = ""
    own: str = ""
    """The folder of the program's own notes."""
    folder: str = ""
    """The folder in which the session works."""


def happened(work: Work, event: HookEvent) -> str:
    """Handle an event of a session. Return a text for the agent, or an empty string."""
    is_private = _is_private(work, event)
    if event.own:
        place, now = Path(event.own), work.call.now
        run_files.watch(
            work.store.folder, place, event.session, event.kind, now, is_private=is_private
        )
    if is_private:
        return ""
    match event.kind:
        case "start":
            begun = perform(work, "session", session.Request(what="start", id=event.session))
            with suppress(MemrepoError):  # a failed write is retried when the next session starts
                _take_in_broken_off(work)
            return str(begun.as_json()["context"])
        case "prompt":
            _gather(work, event)
            return _offer(work, event.prompt)
        case "stop":
            _gather(work, event)
        case "end":
            _take_in(work, _place(work, event.session))
            perform(work.refreshed(), "session", session.Request(what="end"))
            if event.own:
                _take_in_own(work.refreshed(), event.own)
    return ""


def _is_private(work: Work, event: HookEvent) -> bool:
    try:
        refuse_private(work, event.session, event.folder)
    except PrivateSession:
        return True
    return False


def _take_in_own(work: Work, folder: str) -> None:
    """Import new notes that the agent's program keeps in its own folder. The notes stay there."""
    from memrepo.actions import import_
    from memrepo.store.workspace import repository_of

    if not Path(folder).is_dir() or repository_of(Path(folder)) == work.store.root:
        return  # files in a repository are no notes of a session
    with suppress(import_.NothingToImport):
        perform(work, "import", import_.Request(format="claude-code", path=folder))


def _offer(work: Work, prompt: str) -> str:
    """Return the text of the memories that match a prompt, or an empty string if none match.

    Rules come first, however well others match. What former sessions asked is no answer. These
    memories do not count as retrieved. The search compares words only, because loading a model
    takes too long for a prompt.
    """
    words = fold(prompt, 1000)
    if not words:
        return ""
    index = replace(index_of(work), model=no_model)
    recall, near = Recall(work, work.call.now, index), list[Hit]()
    rules = _rules_about(index, words)
    for types in (("constraint",), ()):
        answer = recall.find([words], Filter(limit=OFFERS, types=types))
        fit = [
            hit
            for hit in answer.hits
            if (hit.answers or hit.id in rules)
            and not is_of_session(answer.memories[hit.id])
            and (work.call.scope or not is_of_project(answer.memories[hit.id]))
        ]
        best = max((hit.score for hit in fit), default=0.0)
        known = {hit.id for hit in near}
        near += [hit for hit in fit if hit.score >= best / 2 and hit.id not in known]
    asked = query_terms(words)
    hits, _ = bounded(near[:OFFERS], OFFER_TOKENS // 2, asked)
    return f"{HEAD}\n{fenced(chr(10).join(hit_text(hit, asked) for hit in hits))}" if hits else ""


def _rules_about(index: Index, prompt: str) -> set[str]:
    """Return the ids of the rules with a word of a prompt that few rules have.

    A long prompt has one word for what a rule forbids, so the rule does not answer it as a whole.
    """
    found = set[str]()
    for word in list(dict.fromkeys(telling_words(prompt)))[:MAX_RULE_WORDS]:
        held = index.holding([word], Filter(types=("constraint",)))
        found |= {block.id for block in held} if len(held) <= OFFERS else set()
    return found


def _place(work: Work, name: str) -> Path:
    return work.store.folder / FOLDER / f"{digest([name, work.call.scope])[:16]}.json"


def _gather(work: Work, event: HookEvent) -> None:
    """Append the event's prompt and reply to the file of the session."""
    place = _place(work, event.session)
    record: dict[str, Any] = {"prompts": [], "reply": "", "began": format_time(work.call.now)}
    record |= {"scope": work.call.scope, **_read(place)}
    if prompt := _public(event.prompt, PROMPT_LENGTH):
        record["prompts"] = [*record["prompts"], prompt][-PROMPTS:]
    reply = _public(event.reply, REPLY_LENGTH)
    if reply and not all(map(_is_small_talk, (*record["prompts"][-1:], reply))):
        record["reply"] = reply
    record["at"] = format_time(work.call.now)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".new")
    draft.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    draft.replace(place)


def _public(text: str, limit: int) -> str:
    """Return the beginning of a text on one line, without its secrets and private parts."""
    return without_private(fold(without_secrets(without_private(text)), limit))


def _read(place: Path) -> Mapping[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(place.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _take_in(work: Work, place: Path) -> None:
    """Write the recorded prompts of a session as one note, and delete the session's file.

    Greetings and thanks are left out, and so is what an earlier session asked or a person rejected.
    A session of nothing else, or of small talk, leaves no note.
    """
    record = _read(place)
    words, past = lexicon(), filter(is_of_session, work.tree.state().active)
    known = {line for note in past for line in note.body.splitlines()}
    prompts = [
        prompt
        for prompt in record.get("prompts", ())
        if not _is_greeting(prompt, words) and f"- {prompt}" not in known
    ]
    asked = "\n".join(f"- {prompt}" for prompt in prompts)
    ended = f"\n\nIt ended with: {record['reply']}" if record.get("reply") else ""
    allowed = work.tree.stones.without(f"{asked}{ended}", record.get("scope", work.call.scope))
    if allowed and not all(map(_is_small_talk, prompts)):
        request = write.AddRequest(
            text=allowed,
            type="note",
            title=f"Session of {record['began'][:16]}Z",
            tags=(SESSION_TAG,),
            reason="requests made in a session of the agent",
        )
        bound = replace(work.call, scope=record.get("scope", work.call.scope))
        perform(Work(bound, store=work.store), "add", request)
    place.unlink(missing_ok=True)


_PIECES = regex(r"[,;:.!?…()¡¿、。，！？]+")


def _is_greeting(prompt: str, words: Lexicon) -> bool:
    """Return whether a prompt consists of greetings, thanks and the like, in any language."""
    pieces = filter(None, map(tokens, _PIECES.split(prompt)))
    return all(map(words.is_trivial, pieces))


def _is_small_talk(prompt: str) -> bool:
    """Return whether a prompt is short, and each of its parts is small talk in some language.

    The tables hold neither names nor numbers, and a path or code has a sign that no part may have.
    """
    if len(prompt) > SMALL_TALK or _TECHNICAL.search(prompt):
        return False
    known = [_small_talk(language) for language, _ in tables("small_talk")]
    parts = (" ".join(tokens(part)) for part in _PIECES.split(prompt))
    return all(any(not one.sub("", part) for one in known) for part in parts if part)


_TECHNICAL = regex(r"[\d`/\\_=<>{}\[\]#$@|~+*&]")
SMALL_TALK = 60
"""Maximum characters of small talk."""


@cache
def _small_talk(language: str) -> re.Pattern[str]:
    """Return the pattern of a word or phrase of small talk of one language, the longest first.

    Tokens of scripts without blanks are single characters, so blanks do not end a word there. The
    pattern repeats nothing, as a text can be split into such words in very many ways.
    """
    both = table(language, "small_talk")
    known = sorted([*both["words"].split(), *both["phrases"]], key=len, reverse=True)
    listed = "|".join(" ".join(tokens(one)) for one in known)
    return re.compile(rf"(?:{listed})(?: |$)")


def _take_in_broken_off(work: Work) -> None:
    found = sorted((work.store.folder / FOLDER).glob("*.json"))
    for place in found:
        at = _read(place).get("at", "")
        with suppress(ValueError):
            if parse_time(at) + run_files.BROKEN_OFF > work.call.now:
                continue
        _take_in(work, place)


class _Late(BaseException):
    """Raised when an answer is not ready at its deadline, through whatever catches exceptions."""


def hook(call: Call, host: str, scope: str = "") -> str:
    """Answer an event of an agent's program (the host). Report errors as a message to the user.

    Work that misses its deadline is broken off. Such a write is either complete or absent. The
    hook of all projects (`EVERYWHERE`) leaves a project to the hook that is installed there.
    """
    name = ""
    try:
        name, event = _event(host, _within("prompt", call.read))
        there = _scope_at(event.folder) if scope in ("", EVERYWHERE) else scope
        if event.kind not in DEADLINES or (scope == EVERYWHERE and there):
            return ""
        call = replace(call, scope=narrowed(call.scope, "" if there == NO_SCOPE else there))
        return _answer(host, name, _within(event.kind, lambda: _handle(call, host, event)))
    except MemrepoError as error:
        note = fenced(fold(error.message, 300))
    except _Late as error:
        note = str(error)
    except ValueError as error:
        note = f"the hook received unexpected input: {error}" if not name else _bug(error)
    except Exception as error:  # noqa: BLE001 - no error may end the session
        note = _bug(error)
    return _answer(host, name, note=note)


def _handle(call: Call, host: str, event: HookEvent) -> str:
    with Work(as_program(call, host)) as work:
        return happened(work, event)


def _bug(error: Exception) -> str:
    return f"a bug: {type(error).__name__}"


def _within(kind: str, asked: Callable[[], str]) -> str:
    """Call a function and return its result. Raise _Late at the deadline of a kind of event."""
    limit = DEADLINES[kind]

    def late(*_: object) -> NoReturn:
        raise _Late(f"gave up after {limit:.1f} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return asked()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _scope_at(folder: str) -> str:
    """Return the scope of memrepo's hook that is installed in a project, or "" if there is none.

    The project is the folder of a session or a folder above it.
    """
    for place in [Path(folder), *Path(folder).parents] if folder else []:
        if place == Path.home():
            break
        with suppress(OSError, ValueError, KeyError, TypeError):
            settings = json.loads((place / ".claude/settings.json").read_text(encoding="utf-8"))
            ours = next(filter(is_hook, settings["hooks"]["SessionStart"]), None)
            if ours is not None:
                words = _SCOPE.search(ours["hooks"][0]["command"])
                return words[1] if words else NO_SCOPE
    return ""


_SCOPE = regex(r" --scope (\S+)")


def _event(host: str, given: str) -> tuple[str, HookEvent]:
    data = json.loads(given)
    if not isinstance(data, Mapping):
        raise ValueError("expected one JSON object")
    if host == "claude-code":
        name = _text(data, "hook_event_name")
        return name, HookEvent(
            kind=CLAUDE_EVENTS.get(name, ""),
            session=_text(data, "session_id"),
            prompt=_text(data, "prompt"),
            reply=_text(data, "last_assistant_message"),
            own=_own_memory(_text(data, "transcript_path")),
            folder=_text(data, "cwd"),
        )
    folder = _text(data, "cwd") or _text(data, "folder")
    keys = {key: _text(data, key) for key in ("session", "prompt", "reply")}
    return "", HookEvent(kind=_text(data, "event"), folder=folder, **keys)


def _own_memory(transcript: str) -> str:
    """Return the folder of Claude Code's own notes, which is next to the transcript, or ""."""
    return str(Path(transcript).parent / "memory") if transcript else ""


def _text(data: Mapping[str, object], key: str) -> str:
    """Return the text under a key of an event's data, or an empty string.

    Replace lone surrogates, which no file can store.
    """
    value = data.get(key)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


_AFTER = ("Stop", "SessionEnd")
"""The names of the events after which a session needs no memory."""
_WITHOUT = "this session goes on without its memory"


def _answer(host: str, name: str, context: str = "", note: str = "") -> str:
    """Format an answer as the host expects it: as one JSON object in ASCII, or as plain text."""
    what = "could not record all of this session" if name in _AFTER else _WITHOUT
    warning = f"memrepo: {what}\n{note}" if note else ""
    if host != "claude-code":
        return context or warning
    answer: dict[str, object] = {"systemMessage": warning} if warning else {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    return json.dumps(concealed(answer)) if answer else ""
