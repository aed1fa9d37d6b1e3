"""Collect the data for each web page from verbs that only read.

Memory text is data. Templates escape it and make hidden characters visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any, NamedTuple

from memrepo.actions.lifecycle.session import MAX_TOKENS, context
from memrepo.actions.past import log, why
from memrepo.actions.past.log import Commit
from memrepo.actions.recall import around
from memrepo.actions.recall import search as searching
from memrepo.actions.recall import show as showing
from memrepo.actions.recall.recall import RECALL_STATUSES
from memrepo.actions.request import checked
from memrepo.actions.review import resolve
from memrepo.actions.review.diff import review_of, span_of
from memrepo.actions.run.record import last_record
from memrepo.actions.setup import status
from memrepo.actions.takeback.revert import RevertRequest
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.memory import TYPES, Memory
from memrepo.core.messages import counted, cut
from memrepo.core.patterns import regex
from memrepo.core.times import extent
from memrepo.views.hot import condensed, plain, sections
from memrepo.views.html import Mark, rendered, rendered_line, shown, side
from memrepo.views.report import in_words
from memrepo.views.review import (
    LEAVING,
    SUMMARIES,
    Change,
    ReviewGroup,
    change_lines,
    headline,
)

Shown = dict[str, object]
"""The variables of a template."""
MAX_ENTRIES, MAX_HITS, MAX_FOUND = 100, 25, 500
"""Maximum commits in the timeline, hits on a page, and hits that are counted."""
MAX_NEIGHBOURS = 6
"""Maximum similar memories that are listed next to linked ones."""
HEADING, LABEL = 110, 90
"""Maximum characters of a heading, and of a memory in a list."""


def _ask(work: Work, name: str, request: Any) -> Any:
    return perform(work, name, checked(request))


# -- the start screen ------------------------------------------------------------------------------


def morning(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the start page: the last night, what waits, and the first page."""
    del asked
    found = _ask(work, "status", status.StatusRequest())
    waiting = [_waiting(work, branch) for branch in found.waiting]
    memories = work.tree.state().memories
    active, notes = found.memories.get("active", 0), sum(found.tiers.values())
    recall = [counted(active - notes, "memory", "memories")]
    return {
        "status": found,
        "recall": ", ".join(recall + [counted(notes, "note", "notes")] * bool(notes)),
        "night": _night(work, found),
        "waiting": waiting,
        "marked": [_labelled(memories[id_]) for id_ in found.marked],
        "disputes": _ask(work, "resolve", resolve.Request()).corrections,
        "todo": list(_todo(found)),
        "page": _first_page(work),
    }


class NightRow(NamedTuple):
    """A memory that the last run changed: what happened, its id, its text and why."""

    what: str
    id: str
    text: str
    why: str


class Night(NamedTuple):
    """What the last run did: a sentence, and the memories that came and left with it."""

    summary: str
    failed: bool = False
    run: str = ""
    """The last run in effect."""
    when: str = ""
    landed: Sequence[NightRow] = ()
    left: Sequence[NightRow] = ()
    small: int = 0
    """The number of other changes, such as evidence and places on the first page."""


def _night(work: Work, found: status.Result) -> Night:
    """Return what the last run did."""
    last = last_record(work).last
    if last is None and found.last_run is None:
        return Night("No run was made yet.")
    ran = f"The last run was on {_when(last.finished, work)}." if last and last.finished else ""
    match last and (last.event, last.status):
        case ("run_failed", _) if last is not None:
            return Night(f"The last run failed: {last.why}. {last.fix}".strip(), failed=True)
        case (_, "held"):
            ran += " It waits for you, below." if found.waiting else " You decided about it."
        case ("run_skipped", _):
            ran += " There was nothing new to read."
    if found.last_run is None:
        return Night(ran)
    landed, left, small = list[NightRow](), list[NightRow](), 0
    decisions = review_of(work, span_of(work, (found.last_run.run,))).decisions
    for one in sorted(decisions, key=lambda one: one.target.is_note):  # notes last: they are many
        if word := _CHANGES.get(one.kind):
            text = cut(plain(one.target), LABEL)
            row = NightRow(word, one.target.id, text, _sentence(one.changes[0]))
            (left if one.leaves else landed).append(row)
        else:
            small += len(one.changes)
    when = _when(datetime.fromisoformat(found.last_run.when), work)
    return Night(ran, run=found.last_run.run, when=when, landed=landed, left=left, small=small)


_CHANGES: Mapping[str, str] = {
    "added": "new",
    "reworded": "reworded",
    "superseded": "replaced",
    "restored": "back",
    "retired": "out",
    "marked": "marked for removal",
    "removed": "deleted",
    "forgotten": "forgotten",
    "archived": "archived",
}
"""The kinds of change that the page lists one by one, in a word."""
_OF_MEMORY = regex(r"- .* \([^()]*, mem-[0-9a-f]{16}\)")


def _first_page(work: Work) -> Shown:
    """Return what an agent reads when a session begins, by section, and how much of it there is."""
    packed, hot, *_ = context(work, "private", MAX_TOKENS)
    others = [line for line in packed.text.split("\n")[2:-1] if not _OF_MEMORY.fullmatch(line)]
    return {
        "sections": [
            (name.capitalize(), [(rendered_line(condensed(m)), m.id) for m in mine])
            for name, mine in sections(hot, short=work.config.hot.composed)
        ],
        "others": rendered("\n".join(others)),
        "lines": len(hot),
        "most": work.config.hot.budget,
        "tokens": packed.tokens,
        "most_tokens": MAX_TOKENS,
        "left_out": packed.left_out,
    }


def _todo(found: status.Result) -> Iterable[str]:
    """Yield sentences that name what a person has to do at the command line."""
    if found.schedule.failed:
        yield "The last scheduled run failed: `memrepo doctor` says why."
    yield from (f"Scheduled runs: {message}." for message in found.schedule.complaints)
    if not found.schedule.by:
        yield "No run is scheduled: `memrepo schedule install` runs one each night."
    if found.unread and not found.waiting:
        unread = counted(len(found.unread), "source is", "sources are")
        yield f"{unread} not read yet: `memrepo run` reads them."
    if found.unmatched.count:
        yield f"Not read: {found.unmatched.summary}."
    if found.hooks:
        yield f"Hooks: {found.hooks}."
    if found.uncommitted:
        yield f"Not committed: {', '.join(found.uncommitted[:5])}."
    yield from (f"{one.message}. {one.fix}." for one in found.problems[:MAX_PROBLEMS])


MAX_PROBLEMS = 5
"""Maximum problems of the repository on the start page."""


def _waiting(work: Work, branch: str) -> Shown:
    review = review_of(work, span_of(work, (branch,)))
    return {
        "run": review.run,
        "reason": _sentence_of(review.reason),
        "count": len(review.decisions),
        "groups": _groups(review.groups),
    }


def _groups(groups: Iterable[ReviewGroup]) -> list[Shown]:
    """Return the template variables that show the groups of a review."""
    return [
        {
            "heading": group.heading,
            "is_card": group.is_card,
            "leaves": group.decisions[0].leaves,
            "decisions": [
                {
                    "kind": SUMMARIES[decision.kind][0],
                    "id": decision.target.id,
                    "label": cut(plain(decision.target), LABEL),
                    "cards": [
                        _card(change, with_reason=not group.is_by_cause)
                        for change in decision.shown
                    ],
                }
                for decision in group.decisions
            ],
        }
        for group in groups
    ]


# -- one change ------------------------------------------------------------------------------------


def _sentence_of(reason: str) -> str:
    """Return a reason as a sentence, without the codes of programs."""
    text = in_words(reason).replace("sources/", "").strip()
    return (
        f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
        if text
        else ""
    )


def _sentence(change: Change) -> str:
    """Return why a memory changed, in one sentence."""
    kind, own = (
        change.difference.kind,
        [d for d in change.decisions if d.actor.startswith("human:")],
    )
    fresh = [e for e in change.evidence if e.mark == "new"] or [
        e for e in change.evidence if e.mark == "kept"
    ]
    if own and own[-1].reason:
        return _sentence_of(own[-1].reason)
    if kind in LEAVING or not fresh:
        return _sentence_of(change.why)
    source = fresh[0]
    place = source.resource.removeprefix("sources/")
    place += f", line {source.lines[0]}" if source.lines[0] else ""
    day = f", since {source.captured[:10]}" if source.captured else ""
    match kind:
        case "reworded":
            return f"The line was edited: {place}{day}."
        case "superseded":
            return f"{place} says something else{day}."
        case _:
            return f"{place} says so{day}."


def _card(change: Change, *, with_reason: bool = True) -> Shown:
    """Return the template variables that show one change (`_change.html.j2`).

    `with_reason` shows the reason. It is left out where the heading of a group has it.
    """
    marks: Mapping[str, Mark] = {"-": "old", "+": "new"}
    return {
        "said": _sentence(change) if with_reason else "",
        "lines": [
            (one.sign, side(one.spans, marks[one.sign]) if one.sign else shown(one.spans[0].text))
            for one in change_lines(change)
        ],
    }


def change(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the page for a run or a commit: changes, and if a revert is possible."""
    span = span_of(work, (asked.get("id", ""),))
    review = review_of(work, span)
    target = span.run or span.tip
    return {
        "review": review,
        "target": target,
        "groups": _groups(review.groups),
        "can_revert": review.state in ("landed", "commit") and _can_revert(work, target),
        "back": f"change/{asked.get('id', '')}",
    }


def _can_revert(work: Work, target: str) -> bool:
    """Return whether a run or a commit can be reverted without conflicts and with an effect."""
    with suppress(MemrepoError):
        found = _ask(work, "revert", RevertRequest(target=target, dry_run=True))
        return bool(found.files) and not found.conflicts
    return False


# -- the other screens -----------------------------------------------------------------------------


class TimelineDay(NamedTuple):
    """A day of the history, and its commits with their times of day."""

    day: str
    entries: list[tuple[str, Commit]]


def timeline(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the history page: runs and manual edits by day, newest first."""
    since, until = _date(asked.get("since")), _date(asked.get("until"))
    found = _ask(work, "log", log.Request(n=MAX_ENTRIES, since=since, until=until))
    rows = [(entry.when.astimezone(work.config.zone), entry) for entry in found.entries]
    days = [
        TimelineDay(day, [(f"{when:%H:%M}", entry) for when, entry in group])
        for day, group in groupby(rows, key=lambda row: f"{row[0]:%A, %d %B %Y}")
    ]
    waiting = _ask(work, "log", log.Request(runs=True, n=1)).waiting
    return {"days": days, "since": since or "", "until": until or "", "waiting": waiting}


def _date(text: str | None) -> str | None:
    """Validate a date from a form. Return None if it is empty, or raise UsageError if invalid."""
    if not text:
        return None
    try:
        extent(text, UTC)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a date", fix="write it as 2026-01-31") from error
    return text


def search(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the search page: hits with scores, or the reason why there are none."""
    query, at = asked.get("q", "").strip(), asked.get("at", "").strip()
    type_, status_ = asked.get("type", ""), asked.get("status", "")
    found = None
    if query:
        request = searching.Request(
            words=tuple(query.split()),
            limit=MAX_FOUND,
            types=(type_,) if type_ in TYPES else (),
            statuses=(status_,) if status_ in RECALL_STATUSES else (),
            at=at,
            explain=True,
            no_touch=True,
        )
        found = _ask(work, "search", request)
    hits = found.hits if found else ()
    return {
        "query": query,
        "at": at,
        "type": type_,
        "status": status_,
        "types": TYPES,
        "statuses": RECALL_STATUSES,
        "explain": asked.get("explain") == "1",
        "found": found,
        "hits": hits if asked.get("all") == "1" else hits[:MAX_HITS],
        "total": f"{len(hits)}{' or more' if len(hits) == MAX_FOUND else ''}",
        "heads": {hit.id: cut(_title(work, hit.id) or hit.text, LABEL) for hit in hits},
    }


def _title(work: Work, id_: str) -> str:
    memory = work.tree.state().memories.get(id_)
    return memory.title if memory else ""


def _labelled(memory: Memory) -> tuple[str, str]:
    return memory.id, cut(headline(memory), LABEL)


def memory(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of a memory's page: text, evidence, reasons, history and neighbours."""
    id_, at = asked.get("id", ""), asked.get("at", "")
    found = _ask(work, "show", showing.Request(id=id_, at=at, no_touch=True))
    id_ = found.memory["id"]
    text = found.memory["text"]
    head = next((line for line in text.split("\n") if line.strip()), id_)
    return {
        "shown": found,
        "memory": found.memory,
        "head": cut(found.memory.get("title") or head, HEADING),
        "is_headed": text.strip() == head and len(head) <= HEADING,
        "fields": [(k, v) for k, v in found.memory.items() if k not in ("text", "id", "sources")],
        "why": _ask(work, "why", why.Request(id=id_, at=at)),
        "history": _ask(work, "why", why.Request(id=id_, show="history", n=20, at=at)),
        "near": [] if at else list(_near(work, id_)),
        "at": at,
        "back": f"memory/{id_}",
    }


def _near(work: Work, id_: str) -> Iterable[tuple[str, str, str]]:
    """Yield linked memories, then similar ones, as (relation, id, label) tuples."""
    linked = _ask(work, "related", around.RelatedRequest(id=id_)).related
    yield from ((row.type, row.id, row.label) for row in linked)
    state, known = work.tree.state(), {row.id for row in linked}
    subject = state.memories[id_].subject.casefold()
    about = (m for m in state.active if m.id not in known | {id_} and subject)
    same = (m for m in about if m.subject.casefold() == subject)
    for memory in islice(same, MAX_NEIGHBOURS):
        yield "about the same", memory.id, cut(plain(memory), LABEL)


def _when(moment: datetime, work: Work) -> str:
    return f"{moment.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}"
