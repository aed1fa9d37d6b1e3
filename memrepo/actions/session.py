"""`memrepo session`: give an agent its context at the start, and store retrievals at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import asdict, replace

from memrepo.actions.agent import AgentPrompt, agent_snippet
from memrepo.actions.landing import write_steps
from memrepo.actions.pending import all_waiting, requests_waiting
from memrepo.actions.recall.lookup import CURRENT
from memrepo.actions.run.record import timetable
from memrepo.actions.verbs import narrowed
from memrepo.actions.work import DryRun, Reason, VerbResult, Work, option
from memrepo.core.errors import OutOfScope, Problem, UsageError
from memrepo.core.manifest import SESSION, Accesses, Event, seconds
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.core.state import State, Step, Update
from memrepo.core.times import EARLIEST
from memrepo.merge.tombstones import without_rejected
from memrepo.policies.ageing import SKILLS, Nomination, effective, nominated
from memrepo.policies.hotcache import session_page
from memrepo.policies.latest import latest
from memrepo.policies.standing import disputed, is_of_project, is_retired
from memrepo.policies.upkeep import due_tier_moves, tier_steps
from memrepo.store import run_files
from memrepo.store.run_files import Ledger, SavedAnswers
from memrepo.text.words import content_words
from memrepo.views.hot import PERSONAL_LAYERS, Packed, in_page_order, pack, people_of

MAX_TOKENS = 1500
MAX_DOUBTS = 2
"""Maximum contradictions to list."""
MAX_NOTES = 5
NOTES_OF_ONE_PAGE = 2
"""Number of notes per page that are listed before the remaining ones."""
MIN_WORDS = 3
"""Minimum number of words of a note in a context. This excludes heartbeats."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `session`."""

    what: Annotated[
        Literal["start", "show", "end", "refresh", "snippet"],
        option(
            "print the context and begin; print it and begin nothing; store what was counted; "
            "move notes and begin again; print instructions for the agent",
            choices=("start", "show", "end", "refresh", "snippet"),
        ),
    ]
    id: Annotated[str, option("the session's name", "--id", metavar="SESSION")] = ""
    audience: Annotated[
        Literal["private", "shared"],
        option(
            "shared leaves out the first page and the personal layers",
            "--audience",
            choices=("private", "shared"),
        ),
    ] = "private"
    max_tokens: Annotated[
        int,
        option(f"maximum size of the context ({MAX_TOKENS})", "--max-tokens", metavar="N", ge=1),
    ] = MAX_TOKENS
    skills: Annotated[
        str,
        option(
            "with refresh: the folder of skills; a nominated how-to goes to docs/retrospect.md of"
            " the skill that it names",
            "--skills",
            metavar="DIR",
        ),
    ] = ""
    scope: Annotated[str, option("use only this scope and memories without a scope", "--scope")] = (
        ""
    )
    dry_run: DryRun = False
    reason: Reason = ""


class Started(VerbResult, frozen=True, kw_only=True):
    """The context given to an agent when its session starts."""

    session: str
    audience: str
    context: str
    tokens: int
    left_out: int
    hot: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


class Ended(VerbResult, frozen=True, kw_only=True):
    """The end of a session. The next run records its retrievals."""


class Refreshed(Started, frozen=True, kw_only=True):
    """The result of refreshing a session: moved notes and nominated notes."""

    commit: str
    moves: tuple[str, ...]
    candidates: tuple[Nomination, ...]
    retrospects: tuple[str, ...] = ()
    """The files of skills to which a note was added."""


def do(work: Work, request: Request) -> AgentPrompt | Started | Ended | Refreshed:
    """Start, show, end or refresh a session, or return instructions for the agent."""
    if request.scope or work.call.scope:
        scope = narrowed(work.call.scope, request.scope)
        if request.what == "refresh":
            raise OutOfScope(scope, "session refresh applies to the whole repository")
        work = Work(replace(work.call, scope=scope), store=work.store)
    match request.what:
        case "start":
            return _start(work, request)
        case "show":
            return _start(work, replace(request, dry_run=True))
        case "end":
            return _end(work, request)
        case "snippet":
            return agent_snippet(work)
        case _:
            return _refresh(work, request)


def _start(first: Work, request: Request) -> Started:
    asked = (request.id or first.call.id).encode("utf-8", "replace").decode()
    name = " ".join(asked.split())[:100]
    id_ = name or f"session-{first.call.now:%Y%m%dT%H%M%SZ}"
    folder = first.store.folder
    notices: tuple[Problem, ...] = ()
    if not request.dry_run:
        at = seconds(first.call.now)
        Ledger(first.store).record([Event(kind=SESSION, at=at, session=id_)])
        (folder / CURRENT).write_text(f"{at} {id_}\n", encoding="utf-8")
        notices = _layers(first)
    packed, hot, notes, warnings = context(first, request.audience, request.max_tokens)
    return Started(
        session=id_,
        audience=request.audience,
        context=packed.text,
        tokens=packed.tokens,
        left_out=packed.left_out,
        hot=tuple(m.id for m in hot),
        notes=tuple(m.id for m in notes),
        warnings=tuple(warnings),
        notices=notices,
    )


def _layers(work: Work) -> tuple[Problem, ...]:
    """Write the tracker and the layers if configured. A new session changes the counts in them."""
    if not work.config.hot.layers:
        return ()
    from memrepo.actions.export import write_layers

    return write_layers(work)


def context(
    first: Work, audience: str, max_tokens: int
) -> tuple[Packed, list[Memory], list[Memory], list[str]]:
    """Return a session's context, with its hot memories, notes and warnings."""
    state, rules = first.tree.state(), first.config.rules
    accesses = Ledger(first.store).accesses()
    seen = [m for m in state.active if first.call.scope or not is_of_project(m)]
    found = session_page(seen, accesses, first.call.now, rules.hot, rules.decay)
    hot = in_page_order(found, rules.hot)
    notes = [
        m
        for m in seen
        if m.is_note and effective(m, accesses.of(m.id), first.call.now, rules.tiers) == "hot"
    ]
    if audience == "shared":
        hot, notes = [], [n for n in notes if n.layer not in PERSONAL_LAYERS]
    elif rules.hot.composed:
        logs = (m for m in seen if m.is_note)
        hot = in_page_order(
            [*hot, *latest(state, logs, hot, rules.hot.budget - len(hot))], rules.hot
        )

    def newest(note: Memory) -> tuple[datetime, str, int, str]:
        last = accesses.of(note.id).last or note.created or EARLIEST
        return (last, note.captured, max((s.lines[0] for s in note.sources), default=0), note.id)

    notes.sort(key=newest, reverse=True)
    allowed = without_rejected(state, _spread(notes, accesses))
    telling = (note for note in allowed if len(content_words(note.body)) >= MIN_WORDS)
    notes = [*islice(telling, MAX_NOTES)]
    waiting = [f"{w.branch} waits for review" for w in all_waiting(first)]
    if asked := requests_waiting(first):
        # Requests come from source texts, so their wording must not enter a context.
        count = counted(len(asked), "request waits", "requests wait")
        waiting.append(f"{count} for a person (`memrepo status`)")
    if len(SavedAnswers(first.store.folder)):
        waiting.append("a run was not completed; the next one goes on")
    waiting += timetable(first, first.call.now).complaints
    problems = [str(p) for p in state.problems if p.severity == "error"]
    if problems:
        waiting.append(counted(len(problems), "file is", "files are") + " unreadable")
    shown = [m for m in seen if audience != "shared" or m.layer not in PERSONAL_LAYERS]
    packed = pack(hot, notes, waiting, max_tokens, _doubts(shown), people_of(state))
    return packed, hot, notes, waiting


def _doubts(shown: Sequence[Memory]) -> list[str]:
    """Return warnings about contested memories, and the number of retired ones."""
    doubts = disputed(shown, {m.id: m for m in shown}.get)
    rest = len(doubts) - MAX_DOUBTS
    more = [f"{rest} more memories are contested"] if rest > 0 else []
    if retired := sum(map(is_retired, shown)):
        count = counted(retired, "memory is", "memories are")
        more.append(f"{count} marked for removal, because source lines are gone")
    return [*doubts[:MAX_DOUBTS], *more]


def _spread(notes: Sequence[Memory], accesses: Accesses) -> list[Memory]:
    """Return the notes, with retrieved ones and the first few of each page moved to the front."""
    seen: Counter[str] = Counter()
    first, later = list[Memory](), list[Memory]()
    for note in notes:
        page = note.sources[0].resource if note.sources else note.id
        seen[page] += 1
        used = accesses.of(note.id).last is not None
        (first if used or seen[page] <= NOTES_OF_ONE_PAGE else later).append(note)
    return [*first, *later]


def _end(first: Work, request: Request) -> Ended:
    if request.dry_run:
        return Ended()
    with suppress(FileNotFoundError):
        (first.store.folder / CURRENT).unlink()
    return Ended(notices=_layers(first))


def _refresh(first: Work, request: Request) -> Refreshed:
    moves: list[str] = []

    def draft(at: Work, state: State) -> Sequence[Step]:
        rules, now = at.config.rules, first.call.now
        due = due_tier_moves(state, Ledger(at.store).accesses(), now, rules)
        moves[:] = [move.describe(note) for note, move in due]
        return tier_steps(due, now, rules.tiers)

    wrote = write_steps(first, request, draft)
    _end(first, request)
    at = first.refreshed()
    found = nominated(
        wrote.state.active, Ledger(at.store).accesses(), first.call.now, at.config.rules.tiers
    )
    moved = _retrospects(first, request, wrote.state, found) if request.skills else {}
    found = tuple(one for one in found if one.id not in moved)
    started = asdict(_start(at, request))
    return Refreshed(
        **{
            **started,
            "commit": wrote.commit,
            "moves": tuple(moves),
            "candidates": found,
            "retrospects": tuple(dict.fromkeys(map(str, moved.values()))),
            "notices": (*wrote.notices, *started["notices"]),
        }
    )


def _retrospects(
    first: Work, request: Request, state: State, found: Sequence[Nomination]
) -> dict[str, Path]:
    """Move nominated how-to notes to the skills they name. Return the target file by note id."""
    folder = (first.call.where / request.skills).resolve()
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: no such folder of skills", fix="name the folder with --skills DIR"
        )
    names = sorted((path for path in folder.iterdir() if path.is_dir()), key=lambda p: p.name)
    moved: dict[str, Path] = {}
    for one in found:
        words = content_words(f"{one.title} {state.memories[one.id].body}")
        skill = max(
            (path for path in names if content_words(path.name) <= words),
            key=lambda path: len(content_words(path.name)),
            default=None,
        )
        if one.destination == SKILLS and skill is not None:
            moved[one.id] = skill / "docs" / "retrospect.md"
    if request.dry_run or not moved:
        return moved
    for id_, path in moved.items():
        note, old = state.memories[id_], path.read_text(encoding="utf-8") if path.exists() else ""
        if f"<!-- {id_} -->" not in old:
            title = without_secrets(note.title) or note.slug
            text = f"## {title}\n<!-- {id_} -->\n\n{without_secrets(note.body)}\n"
            run_files.write_file(path, f"{old.rstrip()}\n\n{text}".lstrip(), within=folder)

    steps = [
        Step(
            op="nominate",
            reason=f"moved to {path.relative_to(folder).as_posix()}",
            changes=(Update(id=id_, fields={"promoted": True}),),
        )
        for id_, path in moved.items()
    ]
    write_steps(first, request, lambda _, __: steps)
    return moved
