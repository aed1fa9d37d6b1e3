"""`memrepo session`: what an agent is told when it begins, and what is kept when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

import msgspec

from memrepo.actions.lifecycle.nominate import lines_of
from memrepo.actions.recall.usage import CURRENT
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.review.waiting import all_waiting, requests_waiting
from memrepo.actions.setup.cron_prompts import agent_snippet
from memrepo.actions.setup.timetable import timetable
from memrepo.actions.work import Answer, Work
from memrepo.actions.write.commit import Wrote, write_steps
from memrepo.core.access import SESSION, Accesses, Event, seconds
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.times import EARLIEST
from memrepo.policies.chunking import token_count
from memrepo.policies.decay import is_over, keeping
from memrepo.policies.doubt import disputed, is_retired
from memrepo.policies.hotcache import hot_of
from memrepo.policies.nomination import Candidate, nominated
from memrepo.policies.tiers import effective
from memrepo.policies.upkeep import owed_tier_moves
from memrepo.store.kept import broken_runs
from memrepo.store.ledger import ledger_of
from memrepo.views.context import PERSONAL_LAYERS, Packed, pack

MAX_TOKENS = 2000
DOUBTS = 5
"""So many contradictions are told one by one."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `session`."""

    what: Annotated[
        str,
        option(
            "print the context and begin; keep what was counted; "
            "move notes and begin anew; print what the agent's own instructions should say",
            choices=("start", "end", "refresh", "snippet"),
        ),
    ]
    id: Annotated[str, option("the session's name", "--id", metavar="SESSION")] = ""
    audience: Annotated[
        str,
        option(
            "shared leaves out the hot cache and the personal layers",
            "--audience",
            choices=("private", "shared"),
        ),
    ] = "private"
    max_tokens: Annotated[
        int, option(f"bound of the context ({MAX_TOKENS})", "--max-tokens", metavar="N", ge=1)
    ] = MAX_TOKENS
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Answer:
    """Start, end, refresh (owed moves, nominations, end, start), or print the instructions."""
    match request.what:
        case "start":
            return _start(work, request)
        case "end":
            return _end(work, request)
        case "snippet":
            found = agent_snippet(work)
            return Answer(data=found, text=found["prompt"])
        case _:
            return _refresh(work, request)


def _start(first: Work, request: Request) -> Answer:
    id_ = _id(first, request)
    if not request.dry_run:
        at = seconds(first.call.now)
        ledger_of(first.store).record([Event(kind=SESSION, at=at, session=id_)], first.call.now)
        (first.store.folder / CURRENT).write_text(f"{at} {id_}\n", encoding="utf-8")
    packed, hot, notes, warnings = context(first, request.audience, request.max_tokens)
    data = {
        "session": id_,
        "audience": request.audience,
        "context": packed.text,
        "tokens": packed.tokens,
        "left_out": packed.left_out,
        "hot": [m.id for m in hot],
        "notes": [m.id for m in notes],
        "warnings": warnings,
    }
    return Answer(data=data, text=_told(packed, request.max_tokens))


def _told(packed: Packed, max_tokens: int) -> str:
    if not packed.text and not packed.left_out:
        return "no memory is hot"
    said = f"{packed.text}\n{packed.left_out} more did not fit".lstrip()
    return said if packed.left_out and token_count(said) <= max_tokens else packed.text


def _id(work: Work, request: Request) -> str:
    given = " ".join((request.id or work.call.id).split())[:100]
    return given or f"session-{work.call.now:%Y%m%dT%H%M%SZ}"


def context(
    first: Work, audience: str, max_tokens: int
) -> tuple[Packed, list[Memory], list[Memory], list[str]]:
    """Return what a session is told, and the hot memories, hot notes and warnings in it.

    Looking at them is no retrieval.
    """
    state, rules = first.tree.state(), first.config.rules
    accesses = ledger_of(first.store).accesses()
    hot = [
        m
        for m in state.active
        if hot_of(m) is not None
        and not is_over(m, keeping(m, accesses.of(m.id), first.call.now, rules.decay))
    ]
    notes = [
        m
        for m in state.active
        if m.is_note and effective(m, accesses.of(m.id), first.call.now, rules.tiers) == "hot"
    ]
    notes.sort(key=lambda n: _newest(n, accesses), reverse=True)
    if audience == "shared":
        hot, notes = [], [n for n in notes if n.layer not in PERSONAL_LAYERS]
    waiting = [f"{w.branch} waits for review" for w in all_waiting(first)]
    if asked := requests_waiting(first):
        # Their words stay out of a context: they come from what was read.
        told = counted(len(asked), "request waits", "requests wait")
        waiting.append(f"{told} for a person (`memrepo status`)")
    waiting += [f"run {b.run} broke off" for b in broken_runs(first.store.folder)]
    waiting += timetable(first, first.call.now).complaints
    problems = [str(p) for p in state.problems if p.severity == "error"]
    if problems:
        waiting.append(counted(len(problems), "file is", "files are") + " unreadable")
    shown = [m for m in state.active if audience != "shared" or m.layer not in PERSONAL_LAYERS]
    return pack(hot, notes, waiting, max_tokens, _doubts(shown)), hot, notes, waiting


def _doubts(shown: Sequence[Memory]) -> list[str]:
    """Return what a session should not take for certain: what is contested, how much is retired."""
    told = disputed(shown, {m.id: m for m in shown}.get)
    more = [f"{len(told) - DOUBTS} more memories are contested"] if len(told) > DOUBTS else []
    if retired := sum(map(is_retired, shown)):
        said = counted(retired, "memory is", "memories are")
        more.append(f"{said} retired: the line it rested on is gone from its source")
    return [*told[:DOUBTS], *more]


def _newest(note: Memory, accesses: Accesses) -> tuple[datetime, str, str]:
    """Return what orders notes: the last touch, then the day they tell of, then the id."""
    told = max((s.captured for s in note.sources), default="")
    return (accesses.of(note.id).last or note.time("created") or EARLIEST, told, note.id)


def _end(first: Work, request: Request) -> Answer:
    if request.dry_run:
        return Answer(data={"ledger": ledger_of(first.store).tip()}, text="dry run: nothing kept")
    tip = ledger_of(first.store).flush(first.call.now)
    with suppress(FileNotFoundError):
        (first.store.folder / CURRENT).unlink()
    said = f"retrievals kept ({tip[:10]})" if tip else "nothing was retrieved yet"
    return Answer(data={"ledger": tip}, text=said)


def _refresh(first: Work, request: Request) -> Answer:
    wrote = write_steps(
        first,
        request,
        lambda at, state: owed_tier_moves(
            state, ledger_of(at.store).accesses(), first.call.now, at.config.rules
        ),
    )
    ended = _end(first, request)
    at = first.refreshed()
    found = nominated(
        wrote.state.active, ledger_of(at.store).accesses(), first.call.now, at.config.rules.tiers
    )
    started = _start(at, request)
    data = {
        **started.data,
        **ended.data,
        "commit": wrote.commit,
        "moves": [step.what for step in wrote.steps],
        "candidates": [c.as_json() for c in found],
    }
    text = "\n".join([*_moved(wrote), *_nominated(found), started.text])
    return Answer(data=data, text=text, problems=wrote.notices)


def _moved(wrote: Wrote) -> list[str]:
    head = counted(len(wrote.steps), "move", "moves") + " between tiers"
    return [head, *(f"  {step.what}" for step in wrote.steps)]


def _nominated(found: tuple[Candidate, ...]) -> list[Any]:
    return lines_of(found) if found else ["no note is nominated"]
