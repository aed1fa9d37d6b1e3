"""The web application behind `memrepo serve`: data from verbs that read, routes, access, forms.

Memory text is data. Templates escape it and make hidden characters visible.
"""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec
import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from memrepo.actions import past, review, status
from memrepo.actions.landing import Unchanged
from memrepo.actions.pending import REMOVALS, all_waiting
from memrepo.actions.recall import around
from memrepo.actions.recall import around as showing
from memrepo.actions.recall.recall import RECALL_STATUSES
from memrepo.actions.recall.search import Passage
from memrepo.actions.recall.search import Request as SearchRequest
from memrepo.actions.review import review_of
from memrepo.actions.run.decide import EDITED
from memrepo.actions.run.record import Result as RunResult
from memrepo.actions.run.record import last_record
from memrepo.actions.session import MAX_TOKENS, context
from memrepo.actions.takeback import Result as Reverted
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work, checked
from memrepo.core.errors import Exit, MemrepoError, Problem, UsageError
from memrepo.core.layout import asset
from memrepo.core.memory import Memory, Source
from memrepo.core.messages import counted, cut
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed, without_secrets
from memrepo.faces.text import text_of
from memrepo.faces.text.changes import about_run
from memrepo.policies.hotcache import hot_of
from memrepo.policies.standing import contesting, is_retired
from memrepo.store.settings import person
from memrepo.text.dates import date_of_path
from memrepo.text.words import index_terms, query_terms
from memrepo.views.hot import Packed, named, people_of, plain, sections, unmarked
from memrepo.views.report import (
    LEAVING,
    LEFT_OUT,
    SUMMARIES,
    WORDS,
    Change,
    Mark,
    ReviewGroup,
    change_lines,
    flat,
    in_words,
    rendered,
    rendered_line,
    shown,
    side,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from memrepo.store.history import LogEntry


Shown = dict[str, object]
"""The variables of a template."""
HEADING, LABEL = 110, 90
"""Maximum characters of a heading, and of a memory in a list."""


def _ask(work: Work, name: str, request: Any) -> Any:
    return perform(work, name, checked(request))


# -- the start page --------------------------------------------------------------------------------


def morning(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the start page: the last night, what waits, and the first page."""
    del asked
    found = _ask(work, "status", status.StatusRequest())
    waiting = [_waiting(work, branch) for branch in found.waiting]
    packed, hot, *_ = context(work, "private", MAX_TOKENS)
    on_page, last = {memory.id for memory in hot}, last_record(work).last
    disputes = list(_disputes(work, on_page))
    problems, todo = last.warnings if last else (), list(_todo(found))
    unexpected = [one for one in problems if one.rule not in (REDACTED, *LEFT_OUT)]
    needs = [
        (f"w-{one['run']}", f"{one['count']} change{'s' * (one['count'] != 1)}") for one in waiting
    ]
    if found.marked:
        needs.append(("marked", counted(len(found.marked), "removal", "removals")))
    if disputes:
        needs.append(("disputes", counted(len(disputes), "contradiction", "contradictions")))
    return {
        "status": found,
        "needs": needs,
        "night": _night(work, found, last, on_page),
        "runs": _runs(work, work.landed()[:MAX_RUNS]),
        "waiting": waiting,
        "marked": [_label(work, id_) for id_ in found.marked],
        "disputes": disputes,
        "warnings": _warnings(work, [p for p in problems if p.rule not in DECIDED_BEFORE], found),
        "decided": _warnings(work, [p for p in problems if p.rule in DECIDED_BEFORE]),
        "todo": todo,
        "is_done": not any((needs, unexpected, todo)),
        "page": _first_page(work, packed, hot),
    }


def _label(work: Work, id_: str) -> tuple[str, str]:
    """Return the id of a memory and its text on one line."""
    return id_, cut(plain(work.tree.state().memories[id_]), LABEL)


class NightRow(NamedTuple):
    """A memory that a run changed: what happened, its id, its text and why."""

    what: str
    id: str
    text: str
    why: str


DAY = timedelta(days=1)


def _night(
    work: Work, found: status.Result, last: RunResult | None, on_page: Collection[str]
) -> Shown:
    """Return what the runs of the last day did, or the last run that changed something.

    `unread` is what the agent no longer reads first, because a person has to decide about it.
    """
    summary, failed = _ran(work, found, last)
    effective = [one for one in work.landed() if one.in_effect]
    day = [one for one in effective if work.call.now - one.when < DAY]
    runs = () if failed else (day or effective[:1])[:MAX_RUNS]
    landed, left, unread = list[NightRow](), list[NightRow](), dict[str, NightRow]()
    by_hand = _by_hand(work, min([work.call.now - DAY, *(one.when for one in runs)]))
    pairs = [*((change, "") for run in runs for change in _changes_of(work, run.run)), *by_hand]
    claims = {unmarked(m.body) for m in (_shown_memory(one) for one, _ in pairs) if not m.is_note}
    # What runs did comes before what was written by hand, and notes are last of each.
    pairs.sort(key=lambda pair: (bool(pair[1]), _shown_memory(pair[0]).is_note))
    for one, who in pairs:
        row = _night_row(one, who, claims)
        memory = work.tree.state().memories.get(_shown_memory(one).id)
        is_off = one.kind == "marked" or _left_page(one)
        if is_off and memory and memory.status == "active" and memory.id not in on_page:
            if is_retired(memory):
                unread[row.id] = row._replace(what="marked")
            elif contesting(memory):
                unread[row.id] = row._replace(what="contested", why="Another line contradicts it.")
            elif one.kind != "marked":
                left.append(row._replace(what="off the page"))
        if one.kind in _CHANGES and row.text:
            (left if one.kind in LEAVING else landed).append(row)
    return {
        "summary": summary,
        "failed": failed,
        "runs": _runs(work, runs),
        "landed": landed,
        "left": left,
        "unread": [*unread.values()],
    }


def _left_page(change: Change) -> bool:
    """Return whether a change took a memory off the first page, and not out of recall."""
    before, after = change.difference.before, change.difference.after
    return bool(before and after and hot_of(before) and not hot_of(after))


def _changes_of(work: Work, word: str) -> Iterator[Change]:
    return (change for group in review_of(work, word).groups for change in group.changes)


def _by_hand(work: Work, since: datetime) -> Iterator[tuple[Change, str]]:
    """Yield what people and agents changed themselves since a time, and who changed it."""
    for one in _ask(work, "log", past.LogRequest(n=MAX_WRITES)).entries:
        if one.memories and not one.run and one.op != "sync" and one.when >= since:
            who = _who(work, one.author)
            yield from ((change, who) for change in _changes_of(work, one.commit))


def _night_row(change: Change, who: str, claims: Collection[str]) -> NightRow:
    """Return the row of a change, with both texts if one took the place of the other.

    The row of a log has its new lines without those that are in rows of their own.
    """
    memory, found = _shown_memory(change), change.difference
    is_log = memory.is_note and change.kind == "added" and date_of_path(memory.first[0])
    if text := change.addition or (is_log and memory.body):
        lines = [unmarked(line) for line in text.split("\n") if line.strip()]
        text = " · ".join(line for line in lines if line not in claims)
        kind = _kind_of(change) if change.addition else f"{_CHANGES[change.kind]} log"
        return NightRow(kind[:1].lower() + kind[1:], memory.id, cut(text, 2 * LABEL), "")
    former = {"superseded": found.memory, "reworded": found.before}.get(change.kind)
    text = cut(plain(memory), LABEL) if former is None else _both_texts(former, memory)
    why = f"By {who}." if who and change.kind == "added" else _sentence(change)
    return NightRow(_CHANGES.get(change.kind, ""), memory.id, text, why)


def _kind_of(change: Change) -> str:
    """Return the heading of a change, which names the log that got longer."""
    if not change.addition:
        return "Contradicted" if change.against else SUMMARIES[change.kind][0]
    memory = change.difference.memory
    day = date_of_path(memory.first[0])
    return f"Added to the log of {_day(date.fromisoformat(day))}" if day else "Added to"


def _both_texts(old: Memory, new: Memory) -> str:
    """Return the old and the new text of a memory, long ones from the words that differ."""
    sides = [plain(one).split(" ") for one in (old, new)]
    if any(len(plain(one)) > LABEL for one in (old, new)):
        pairs = enumerate(zip(*sides, strict=False))
        same = next((n for n, (was, now) in pairs if was != now), min(map(len, sides)))
        start = max(0, same - 1)
        sides = [["…"] * (start > 0) + words[start:] for words in sides]
    return " → ".join(cut(" ".join(words), LABEL) for words in sides)


def _ran(work: Work, found: status.Result, last: RunResult | None) -> tuple[str, bool]:
    """Return a sentence about the last run of this clone, and whether that run failed."""
    if last is None:
        return ("No run was made yet." if found.last_run is None else ""), False
    when = f" on {_when(last.finished, work)}" if last.finished else ""
    day = [one for one in work.landed() if one.in_effect and work.call.now - one.when < DAY]
    clock = f"{day[0].when.astimezone(work.config.zone):%H:%M}" if day else ""
    night = f"Last night at {clock}: {day[0].subject.partition(': ')[2]}" if day else ""
    match last.event, last.status:
        case "run_failed", _:
            return f"The last run{when} failed: {last.why}. {last.fix}".strip(), True
        case _, "held" if found.waiting:
            kind = "full check" if last.mode == "reconciliation" else "run"
            what = f"{night}; a {kind}" if night else f"A {kind}"
            return f"{what}{when} waits for you, below.", False
        case _, "held":
            is_accepted = any(one.run == last.run for one in work.landed())
            decided = f"was {'accepted' if is_accepted else 'discarded'}"
            if not work.tree.files.id_of(work.tree.layout.manifest(last.run)):
                decided = "is not in effect: the decision about it was reverted"
            return f"The last run{when} {decided}.", False
        case "run_skipped", _:
            more = " What you see here is from the run before." if found.last_run else ""
            return f"The last run{when} found nothing new to read.{more}", False
        case _:
            return f"{night or f'The last run was{when}'}.", False


_CHANGES: Mapping[str, str] = {
    "added": "new",
    "reworded": "edited",
    "superseded": "replaced",
    "restored": "back",
    "retired": "archived",
    "removed": "deleted",
    "forgotten": "forgotten",
    "archived": "archived",
}
"""The kinds of change that the page lists one by one, in a word."""


MAX_RUNS = 7
"""Maximum runs that are listed."""


def _runs(work: Work, landed: Iterable[LogEntry]) -> list[Shown]:
    """Return the rows of runs that landed, also of those that were reverted."""
    return [
        {
            "run": one.run,
            "when": _when(one.when, work),
            "summary": one.subject.partition(": ")[2],
            "in_effect": one.in_effect,
        }
        for one in landed
    ]


REDACTED = "source-secret-redacted"
DECIDED_BEFORE = frozenset(WORDS["warnings"]["decided"])
"""The rules whose warnings say that a run did what a person decided before."""
MAX_LISTED = 8
"""Maximum warnings of the last run that are listed."""


def _warnings(
    work: Work, problems: Sequence[Problem], found: status.Result | None = None
) -> list[tuple[str, str]]:
    """Return (what, how to change it) for warnings of the last run, and for unread files."""
    rows = [_in_sentences(work, one) for one in problems[:MAX_LISTED]]
    if (more := len(problems) - MAX_LISTED) > 0:
        rows.append((f"And {more} more.", "`memrepo report` lists them."))
    if found and found.unmatched.count:
        how = (
            'To read such a file, write `claims = ["...", "FILE OR PATTERN"]` under `[sources]`'
            " in memrepo.toml (`memrepo config sources.claims` explains it)."
        )
        rows.append((f"Not read: {found.unmatched.summary}.", how))
    return rows


_IDS = regex(r"(mem-[0-9a-f]{16})| as ts-[0-9a-f]{16}")


def _in_sentences(work: Work, one: Problem) -> tuple[str, str]:
    """Return a warning with the texts of its memories for their ids, and how to change it."""
    known = work.tree.state().memories
    names = {id_: f'"{cut(plain(memory), LABEL)}"' for id_, memory in known.items()}
    message = _IDS.sub(lambda m: names.get(m[1], m[1]) if m[1] else "", one.message)
    place = f"{one.path}, line {one.line}: " if one.line else f"{one.path}: "
    place = "" if message != one.message else place
    return f"{place}{message}.", f"{one.fix[:1].upper()}{one.fix[1:]}." if one.fix else ""


MAX_WRITES = 50
"""The commits in which writes are looked for."""


_OF_MEMORY = regex(r"- .* \([^()]*, mem-[0-9a-f]{16}\)")
_OF_TEXT = regex(r", mem-[0-9a-f]{16}(?=\):)|mem-[0-9a-f]{16} (?=\")")
_OF_OTHER = regex(r"mem-[0-9a-f]{16}")


def _first_page(work: Work, packed: Packed, hot: Sequence[Memory]) -> Shown:
    """Return what an agent reads when a session begins, by section."""
    others = [line for line in packed.text.split("\n")[2:-1] if not _OF_MEMORY.fullmatch(line)]
    people = people_of(work.tree.state())
    return {
        "sections": [
            (name.capitalize(), [(rendered_line(named(m, people)), m.id) for m in mine])
            for name, mine in sections(hot, short=work.config.hot.composed)
        ],
        "others": rendered(_OF_OTHER.sub("another", _OF_TEXT.sub("", "\n".join(others)))),
        "lines": len(hot),
        "most": work.config.hot.budget,
        "tokens": packed.tokens,
        "most_tokens": MAX_TOKENS,
        "left_out": packed.left_out,
    }


def _disputes(work: Work, on_page: Collection[str], id_: str = "") -> Iterator[Shown]:
    """Yield the open contradictions, all or those of one memory: who said what, and when."""
    memories = work.tree.state().memories
    for one in _ask(work, "resolve", review.ResolveRequest()).contradictions:
        sides = [
            {
                "id": side.id,
                "text": side.text,
                "whose": _whose(work, memories[side.id]),
                "is_read": side.id in on_page,
            }
            for side in one.memories
        ]
        if not id_ or any(side.id == id_ for side in one.memories):
            yield {"id": one.id, "sides": sides}


def _whose(work: Work, memory: Memory) -> str:
    """Return who worded a memory and when: a person, a program, or the file that states it."""
    stamp, sources = memory.stamp, memory.sources
    if stamp and stamp.at and (not sources or stamp.by.startswith("human:")):
        return f"{_who(work, stamp.by)}, {_day(stamp.at.astimezone(work.config.zone))}"
    if not sources:
        return "unknown"
    last = max(sources, key=lambda source: source.captured)
    day = f", {_day(date.fromisoformat(last.captured[:10]))}" if last.captured else ""
    return f"{last.resource.removeprefix('sources/')}{day}"


def _who(work: Work, actor: str) -> str:
    """Return an actor as a word: you, a run, or the name of another person or program."""
    name, _, mail = (actor.partition(":")[2] or actor).rstrip(">").partition(" <")
    if person(work.store.repo)[1] in (name, mail):
        return "you"
    return "a run" if name.startswith("memrepo") else name


def _todo(found: status.Result) -> Iterable[str]:
    """Yield sentences that name what a person has to do at the command line."""
    yield from (f"Scheduled runs: {message}." for message in found.schedule.complaints)
    if not found.schedule.by:
        yield "No run is scheduled: `memrepo schedule install` runs one each night."
    if found.unread and not found.waiting:
        unread = counted(len(found.unread), "source has", "sources have")
        yield f"{unread} new text: `memrepo run` reads it."
    if found.hooks:
        yield f"Hooks: {found.hooks}."
    if found.uncommitted:
        yield f"Not committed: {', '.join(found.uncommitted[:5])}."
    yield from (f"{one.message}. {one.fix}." for one in found.problems[:MAX_PROBLEMS])


MAX_PROBLEMS = 5
"""Maximum problems of the repository on the start page."""


def _waiting(work: Work, branch: str) -> Shown:
    review = review_of(work, branch)
    count = sum(len(group.changes) for group in review.groups)
    return {
        "run": review.run,
        "reason": _sentence_of(review.reason),
        "count": count,
        "more": max(0, count - MAX_CHANGES),
        "groups": _groups(review.groups),
    }


def _shown_memory(change: Change) -> Memory:
    """Return the memory that is valid after a change: the one that replaced it, if any."""
    return (*change.successors, change.difference.memory)[0]


MAX_CHANGES = 100
"""Maximum changes of a review that a page shows."""


def _groups(groups: Iterable[ReviewGroup]) -> list[Shown]:
    """Return the template variables that show the first changes of a review, in their groups."""
    pairs = ((group, change) for group in groups for change in group.changes)
    first = groupby(islice(pairs, MAX_CHANGES), key=lambda pair: pair[0])
    return [
        {
            "heading": group.heading,
            "count": len(group.changes),
            "is_card": group.is_card,
            "changes": [
                {
                    "kind": _kind_of(change),
                    "id": _shown_memory(change).id,
                    "label": cut(plain(_shown_memory(change)), LABEL),
                    "card": _card(change, with_reason=not group.is_by_cause),
                }
                for _, change in changes
            ],
        }
        for group, changes in first
    ]


# -- one change ------------------------------------------------------------------------------------


def _sentence_of(reason: str) -> str:
    """Return a reason as a sentence, without codes of programs. Ids and paths stay."""
    text = in_words(reason).replace("sources/", "").strip()
    is_code = any(map(text.split(" ", 1)[0].__contains__, "`-/._"))
    text = text.replace("`", "")
    start = text[:1] if is_code else text[:1].upper()
    return f"{start}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}" if text else ""


def _sentence(change: Change) -> str:
    """Return why a memory changed, in one sentence."""
    own = [d for d in change.decisions if d.actor.startswith("human:")]
    fresh = change.new_sources or change.difference.memory.sources
    if own and own[-1].reason:
        return _sentence_of(own[-1].reason)
    is_edit = change.kind != "reworded" or EDITED in change.why
    is_stated = change.kind in _CHANGES and change.kind not in LEAVING
    if not (is_stated and fresh and is_edit):
        return _sentence_of(change.why)
    source = fresh[0]
    place = source.resource.removeprefix("sources/")
    place += f", line {source.lines[0]}" if source.lines[0] else ""
    day = f", since {source.captured[:10]}" if source.captured else ""
    match change.kind:
        case "reworded":
            return f"The line was edited: {place}{day}."
        case "superseded":
            return f"{place} says something else{day}."
        case _:
            return f"{place} says so{day}."


def _card(change: Change, *, with_reason: bool = True) -> Shown:
    """Return the template variables that show one change (`parts.html.j2`).

    `with_reason` shows the reason. It is left out where the heading of a group has it.
    """
    marks: Mapping[str, Mark] = {"-": "old", "+": "new"}
    lines = [
        (one.sign, side(one.spans, marks[one.sign]) if one.sign else shown(one.spans[0].text))
        for one in change_lines(change)
    ]
    texts = [line for line in lines if line[0]] or lines[:1]
    return {
        "said": _sentence(change) if with_reason else "",
        "lines": texts,
        "details": [text for line in lines if line not in texts for text in line[1:]],
    }


def change(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the page for a run or a commit: its changes, and the form to revert it."""
    review = review_of(work, asked.get("id", ""))
    target = review.run or review.tip
    landing = next((one for one in work.landed() if one.run == review.run), None)
    began = datetime.strptime(f"{review.run[:15]}+0000", "%Y%m%dT%H%M%S%z") if review.run else None
    return {
        "review": review,
        "heading": f"Run of {_when(began, work)}" if began else review.title.partition(" ")[2],
        "reason": _sentence_of(review.reason),
        "target": target,
        "count": len(review.changes),
        "groups": _groups(review.groups),
        "more": max(0, sum(len(group.changes) for group in review.groups) - MAX_CHANGES),
        "is_reverted": landing is not None and not landing.in_effect,
        "can_revert": review.state in ("landed", "commit"),
        "back": f"change/{asked.get('id', '')}",
    }


# -- one memory -----------------------------------------------------------------------------------


def memory(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of a memory's page: text, evidence, reasons, history and neighbours."""
    id_, at = asked.get("id", ""), asked.get("at", "")
    found = _ask(work, "show", showing.ShowRequest(id=id_, at=at, no_touch=True))
    id_ = found.memory["id"]
    text = found.memory["text"]
    head = next((line for line in text.split("\n") if line.strip()), id_)
    why = _ask(work, "why", past.WhyRequest(id=id_, at=at))
    on_page = {memory.id for memory in context(work, "private", MAX_TOKENS)[1]}
    disputes = [] if at else list(_disputes(work, on_page, id_))
    history = _ask(work, "log", past.LogRequest(memory=id_, n=20)).entries if not at else ()
    state = work.tree.state().memories.get(id_)
    is_marked = state is not None and is_retired(state)
    doubt = "marked for removal" if is_marked else "contested" if disputes else ""
    status = doubt if doubt and why.status == "active" else why.status
    if state is not None and state.status == "forgotten" and work.tree.stones.find_barring(state):
        status = "rejected"
    return {
        "shown": found,
        "memory": found.memory,
        "head": cut(unmarked(found.memory.get("title") or head), HEADING),
        "is_headed": text.strip() == head == (found.memory.get("title") or head)[:HEADING],
        "fields": [
            (k, flat(v)) for k, v in found.memory.items() if k not in ("text", "id", "sources")
        ],
        "status": status,
        "is_active": why.status == "active",
        "doubts": [] if disputes else found.doubts,
        "disputes": disputes,
        "relations": [one for one in why.relations if not disputes or one.is_ != "contradicts"],
        "history": [
            (
                _day(entry.when.astimezone(work.config.zone)),
                entry.subject.partition(": ")[0],
                _sentence_of(entry.reason),
                _who(work, entry.actor or entry.author),
                entry.commit,
            )
            for entry in history
        ],
        "near": [] if at else list(_near(work, id_)),
        "at": at,
        "back": f"memory/{id_}",
    }


def _near(work: Work, id_: str) -> Iterable[tuple[str, str, str]]:
    """Yield linked memories as (relation, id, label) tuples."""
    for row in _ask(work, "related", around.RelatedRequest(id=id_)).related:
        if row.type not in ("supersedes", "contradicts"):  # the page shows them as such
            yield row.type if row.way == "to" else "linked from", *_label(work, row.id)


def search(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the page of a search: what it found, also what is not in effect.

    `waiting` has the changes of waiting runs with half of the words, and `pending` the run that
    changes a hit or states a passage, by id or passage.
    """
    query = asked.get("q", "").strip()
    if not query:
        return {"query": "", "found": None}
    request = SearchRequest(words=(query,), no_touch=True)
    found, past = (
        _ask(work, "search", replace(request, statuses=statuses))
        for statuses in ((), tuple(status for status in RECALL_STATUSES if status != "active"))
    )
    words, waiting = {*query_terms(query)}, list[tuple[int, str, NightRow]]()
    runs, pending = dict[object, str](), dict[object, str]()
    for run, one in ((w.run, c) for w in all_waiting(work) for c in _changes_of(work, w.run)):
        memory = _shown_memory(one)
        runs[one.difference.memory.id] = run
        for source in one.new_sources or memory.sources:
            runs |= dict.fromkeys(_places(source), run)
        count = len(words.intersection(index_terms(memory.body).terms))
        if 0 < len(words) <= 2 * count:
            waiting.append((count, run, _night_row(one, "", ())))
    pending |= {hit.id: runs.get(hit.id, "") for hit in found.hits}
    for one in found.passages:
        pending[one] = next(filter(None, map(runs.get, _places(one))), "")
    waiting.sort(reverse=True)
    lists = {"waiting": waiting, "past": past.hits, "pending": pending}
    return {"query": query, "found": found, **lists}


def _places(source: Source | Passage) -> list[tuple[str, int]]:
    """Return the lines of a source, each with its file."""
    return [(source.resource, line) for line in range(source.lines[0], source.lines[1] + 1)]


def _when(moment: datetime, work: Work) -> str:
    """Return a day and a time of it, with the year if it is not this one."""
    there = moment.astimezone(work.config.zone)
    year = f" {there.year}" if there.year != work.call.now.year else ""
    return f"{_day(there)}{year}, {there:%H:%M}"


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"


LOOPBACK = "127.0.0.1"


def serve(call: Call, *, port: int, read_only: bool) -> None:
    """Serve the web pages of a repository until interrupted.

    Raise NotARepository before listening if the folder is not a repository.
    """
    with Work(call) as work:
        root = work.store.root
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()  # a browser may connect before the event loop runs
        port = listener.getsockname()[1]
        site = Site(
            call=call, root=root, port=port, token=secrets.token_urlsafe(32), read_only=read_only
        )
        call.say(f"http://{LOOPBACK}:{port}/?token={site.token}")
        call.say("open this link in a browser of this machine; Ctrl-C ends it")
        config = uvicorn.Config(
            application(site),
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            lifespan="off",
        )
        uvicorn.Server(config).run(sockets=[listener])


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # "no-referrer" would hide the origin of forms
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SAFE = ("GET", "HEAD")
_OWN_SITE = ("none", "same-origin")
_LINK_ONLY = (
    "This page opens only with the link that `memrepo serve` printed when it started."
    " Open that link in this browser. Each start has a new one."
)


def refused(message: str) -> Response:
    """Return an answer that refuses a request of this machine and says why."""
    return PlainTextResponse(f"{message}\n", status_code=403)


class Guard:
    """The outermost layer of the web application, which controls access to all pages.

    It rejects foreign requests and sets the headers of all responses.
    """

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self.app = app
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.token = token
        self.cookie = f"memrepo-{port}"  # a browser sends cookies to all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on to the application."""
        if scope["type"] != "http":
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        await self._answer(Request(scope, receive))(scope, receive, sending)

    def _answer(self, request: Request) -> ASGIApp:
        host, headers = request.headers.get("host", ""), request.headers
        if host not in self.hosts or headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            return Response(status_code=403)
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and request.url.path == "/":
            return self._welcome(given)
        if not self._is(request.cookies.get(self.cookie, "")):
            return refused(_LINK_ONLY)
        if request.method not in SAFE and headers.get("origin") != f"http://{host}":
            return refused("The form was sent by another page. Nothing was done.")
        return self.app

    def _welcome(self, given: str) -> Response:
        """Store the token from the address in a cookie, and redirect to the address without it."""
        if not self._is(given):
            return refused(_LINK_ONLY)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _is(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


class FormResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a form did: a sentence, and the command line with its output, which does the same.

    `draft` is a text that could not be saved, and `commit` is what a button can revert.
    """

    message: str
    command: str = ""
    is_refused: bool = False
    draft: str = ""
    commit: str = ""


class Deed(NamedTuple):
    """A verb that pages offer: what it did in a sentence, and the fields of its request."""

    outcome: str
    """Empty if the first line of the verb's own text says it."""
    fields: tuple[str, ...]


_DEEDS: Mapping[str, Deed] = {
    "accept": Deed("Accepted: it is in effect now.", ("run",)),
    "discard": Deed(
        "Discarded: nothing of it takes effect, and it is not proposed again.", ("run", "reason")
    ),
    "revert": Deed(
        "Reverted: it is as it was before. What came later stays.",
        ("target", "only", "reason"),
    ),
    "edit": Deed("Saved in your words.", ("id", "text", "reason")),
    "pin": Deed("", ("id", "off")),
    "forget": Deed(
        "Forgotten: search no longer finds it. `memrepo restore` brings it back.", ("id", "reason")
    ),
    "archive": Deed(
        "Archived: search no longer finds it. `memrepo restore` brings it back.", ("id",)
    ),
    "reject": Deed("Rejected for good: it does not come back.", ("id", "reason", "undo")),
    "confirm": Deed("Confirmed: you marked it as right.", ("id",)),
    "restore": Deed("Restored: search finds it again.", ("id",)),
    "resolve": Deed("Decided: the contradiction is settled.", ("id", "keep", "both")),
}
"""The verbs that pages offer. Other verbs are ignored."""
_REMOVALS = {
    "accept": "Archived: search no longer finds them. `memrepo restore` brings one back.",
    "discard": "Kept: search finds them, and the agent reads them, as before.",
}
"""What deciding about marked memories did."""
_FLAGS = ("off", "both", "undo")
_OPTIONS = {"only": "memory"}
"""Options that are not called as their fields, which take several values."""


def do(work: Work, form: Mapping[str, str]) -> FormResult:
    """Perform the verb that a submitted form requests, and return the result as text."""
    given = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    verb = given.get("deed", "")
    if verb not in _DEEDS:
        return FormResult(message="nothing to do: no decision was made")
    deed = _DEEDS[verb]
    first, *rest = deed.fields
    named = {name: given[name] for name in rest if given.get(name)}
    fields = {
        name: (value,) if name in _OPTIONS else name in _FLAGS or value
        for name, value in named.items()
    }
    try:
        request = VERBS[verb].load().Request(**{first: given.get(first, "")}, **fields)
        if "was" in given and given["was"].split() != _text_of(work, given[first]).split():
            raise UsageError("the text changed since you began", fix="Compare both, and save again")
        answer = perform(work, verb, checked(request))
    except MemrepoError as error:
        fix = f" {error.fix}" if error.fix else ""
        message = concealed(f"not done: {error.message}.{fix}")
        return FormResult(message=message, is_refused=True, draft=given.get("text", ""))
    line = [given.get(first, "")]
    for name, value in named.items():
        line += [f"--{_OPTIONS.get(name, name)}", *([] if name in _FLAGS else [value])]
    text = text_of(verb, request, answer)
    is_refused = answer.exit is Exit.DECIDE
    outcome = _REMOVALS.get(verb, "") if line[0] == REMOVALS else deed.outcome
    if getattr(answer, "kept", ()):
        outcome = "Reverted, except where later work changed it: that stays."
    is_own = is_refused or "undo" in named or not outcome or isinstance(answer, Unchanged)
    message = text.partition("\n")[0] if is_own else outcome
    if isinstance(answer, Reverted) and (lines := about_run(answer)):
        message = " ".join(("Reverted.", *map(_sentence_of, lines), "What came later stays."))
    message, command = concealed([message, f"memrepo {verb} {shlex.join(line)}\n{text}"])
    made = getattr(answer, "commits", None) or (getattr(answer, "commit", ""),)
    commit = "" if is_refused or verb == "revert" else made[-1]
    return FormResult(message=message, command=command, is_refused=is_refused, commit=commit)


def _text_of(work: Work, id_: str) -> str:
    return str(_ask(work, "show", showing.ShowRequest(id=id_, no_touch=True)).memory["text"])


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(asset("templates", "web")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters["shown"] = lambda text: shown(without_secrets(str(text)))
    environment.filters["coded"] = _coded
    environment.filters["rendered"] = lambda text: rendered(without_secrets(str(text)))
    environment.filters["unmarked"] = unmarked
    return environment


def _coded(text: str) -> Markup:
    """Convert a text of memrepo's own to HTML, and its backticks to `<code>` elements."""
    parts = str(shown(without_secrets(text))).split("`")
    pairs = (f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts))
    return Markup("".join(pairs))  # noqa: S704 - every part was escaped


def fill(template: str, **values: object) -> str:
    """Render a template with the given values as HTML."""
    return _environment().get_template(template).render(**values)


STATUS = {Exit.USAGE: 404, Exit.DECIDE: 409, Exit.LOCKED: 409}


class Site(msgspec.Struct, kw_only=True):
    """A running web server: the served repository, and the server's settings."""

    call: Call
    root: Path
    port: int
    token: str
    read_only: bool = False
    done: FormResult | None = None
    """The result of the last form, which the next page shows once."""
    busy: threading.Lock = msgspec.field(default_factory=threading.Lock)
    """Lock that lets only one request work at a time."""

    def work(self) -> Work:
        """Open the repository at the current time."""
        call = self.call
        now = call.clock() if call.clock else call.now
        return Work(Call(where=self.root, now=now, actor=call.actor))


Show = Callable[[Work, Mapping[str, str]], Shown]
SCREENS: Mapping[str, Show] = {
    "morning": morning,
    "memory": memory,
    "change": change,
    "search": search,
}
"""Functions that return the template variables, by screen."""


def application(site: Site) -> Starlette:
    """Create the web application for a site, including access control."""

    async def root(_: Request) -> Response:
        return RedirectResponse("/morning", status_code=303)

    async def file(request: Request) -> Response:
        name = request.url.path.strip("/")
        return Response(asset("templates", "web", name).read_bytes(), media_type=_FILES[name])

    async def screen(request: Request) -> Response:
        return await run_in_threadpool(_screen, site, request)

    async def do(request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        return await run_in_threadpool(_do, site, form)

    return Starlette(
        routes=[
            Route("/", root),
            *(Route(f"/{name}", file) for name in _FILES),
            Route("/do", do, methods=["POST"]),
            Route("/{screen}", screen),
            Route("/{screen}/{id}", screen),
        ],
        middleware=[Middleware(Guard, port=site.port, token=site.token)],
    )


_FILES = {"web.css": "text/css", "web.js": "text/javascript", "icon.svg": "image/svg+xml"}


def _screen(site: Site, request: Request) -> Response:
    """Render the requested page, or an error page if a verb refuses."""
    screen = request.path_params["screen"]
    asked = {**request.query_params, **request.path_params}
    with site.busy, site.work() as work:
        try:
            if screen not in SCREENS:
                raise UsageError(f"there is no page {screen!r}")
            found, status = SCREENS[screen](work, asked), 200
        except MemrepoError as error:
            found = {"message": error.message, "fix": error.fix}
            screen, status = "refused", STATUS.get(error.exit_code, 500)
        done, site.done = site.done, None
        page = fill(
            f"{screen}.html.j2",
            repo=site.root.name,
            screen=screen,
            read_only=site.read_only,
            done=done,
            **found,
        )
    return HTMLResponse(page, status_code=status)


def _do(site: Site, form: Mapping[str, str]) -> Response:
    """Perform what a form requests, then redirect the browser to a page."""
    if site.read_only:
        return refused("These pages are read only: memrepo was started with --read-only.")
    with site.busy, site.work() as work:
        site.done = do(work, form)
    back = form.get("back", "morning")
    back = back if back.partition("/")[0].partition("?")[0] in SCREENS else "morning"
    return RedirectResponse(f"/{back}", status_code=303)
