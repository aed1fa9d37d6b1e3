"""Collect the data for each web page from verbs that only read.

Memory text is data. Templates escape it and make hidden characters visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup

from memrepo.actions.lifecycle.session import last_context
from memrepo.actions.past import log, why
from memrepo.actions.past.log import Commit
from memrepo.actions.recall import related
from memrepo.actions.recall import search as searching
from memrepo.actions.recall import show as showing
from memrepo.actions.recall.recall import RECALL_STATUSES
from memrepo.actions.request import checked
from memrepo.actions.review import resolve
from memrepo.actions.review.diff import review_of, span_of
from memrepo.actions.review.session import Neighbours, ReviewSession, session_of
from memrepo.actions.run.timetable import last_record
from memrepo.actions.setup import status
from memrepo.actions.takeback.revert import RevertRequest
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.ids import normal_claim
from memrepo.core.memory import TYPES, Memory
from memrepo.core.messages import counted, cut
from memrepo.core.times import extent
from memrepo.store.ledger import ledger_of
from memrepo.views.html import shown, side, word_diff
from memrepo.views.report import from_json, in_words, judged_in_words, summary
from memrepo.views.review import (
    LEAVING,
    SUMMARIES,
    TELLTALES,
    UNTOLD,
    Change,
    Evidence,
    ReviewGroup,
    headline,
    place_of,
    spelled,
)

Shown = dict[str, object]
"""The variables of a template."""
MAX_ENTRIES, MAX_HITS, MAX_FOUND = 100, 25, 500
"""Maximum commits in the timeline, hits on a page, and hits that are counted."""
MAX_NEIGHBOURS = 6
"""Maximum similar memories that are listed next to linked ones."""
HEADING, LABEL = 110, 90
"""Maximum characters of a heading, and of a memory in a list."""
MAX_TEXT, MAX_VALUE, MAX_QUOTE = 20_000, 500, 600
"""Maximum characters of a memory, of a field value and of a quoted line."""


def _ask(work: Work, name: str, request: Any) -> Any:
    return perform(work, name, checked(request))


# -- the start screen ------------------------------------------------------------------------------


def morning(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the start page: status, runs, open contradictions and tasks."""
    del asked
    found = _ask(work, "status", status.StatusRequest())
    last = from_json(last_record(work).get("last", {}))
    waiting = [_waiting(session_of(work, branch)) for branch in found.waiting]
    active, notes = found.memories.get("active", 0), sum(found.tiers.values())
    recall = [counted(active - notes, "memory", "memories")]
    return {
        "status": found,
        "recall": ", ".join(recall + [counted(notes, "note", "notes")] * bool(notes)),
        "last": summary(last) if last else "",
        "ran": _when(last.finished, work) if last else "",
        "failed": bool(last and last.event == "run_failed"),
        "waiting": waiting,
        "disputes": _ask(work, "resolve", resolve.Request()).open,
        "todo": list(_todo(found, waiting)),
    }


def _todo(found: status.Result, waiting: Sequence[object]) -> Iterable[str]:
    """Yield sentences that name the user's open tasks, with commands where useful."""
    if waiting:
        yield "Review the pending changes below (`memrepo accept` or `memrepo discard`)."
    if found.contradictions:
        yield "Choose between contradictory memories below (`memrepo resolve`)."
    if found.schedule.failed:
        yield "The last scheduled run failed: `memrepo doctor` shows why."
    yield from (f"Scheduled runs: {message}." for message in found.schedule.complaints)
    if not found.schedule.by:
        yield "No run is scheduled: `memrepo schedule install`."
    if found.unread:
        unread = counted(len(found.unread), "source is", "sources are")
        yield f"{unread} not taken in yet: `memrepo run`."
    if found.unmatched.count:
        yield f"Not read: {found.unmatched.summary} (`memrepo config explain sources.claims`)."
    if found.hooks:
        yield f"Hooks: {found.hooks}."
    if found.uncommitted:
        yield f"Not committed: {', '.join(found.uncommitted[:5])}."


def _waiting(session: ReviewSession) -> Shown:
    review = session.review
    return {
        "run": session.run,
        "reason": review.reason,
        "when": review.when,
        "count": len(review.decisions),
        "groups": _groups(review.groups, Neighbours(session.after)),
    }


def _groups(groups: Iterable[ReviewGroup], neighbours: Neighbours | None = None) -> list[Shown]:
    """Return the template variables that show the groups of a review."""
    return [
        {
            "heading": group.heading,
            "is_card": group.is_card,
            "leaves": group.decisions[0].leaves,
            "decisions": [
                {
                    "mark": decision.mark,
                    "kind": SUMMARIES[decision.kind][0],
                    "meaning": SUMMARIES[decision.kind][1],
                    "text": decision.target.body,
                    "id": decision.target.id,
                    "label": cut(decision.target.body, LABEL),
                    "near": neighbours.of(decision.target, decision.ids)
                    if neighbours and not group.is_card
                    else (),
                    "cards": [_card(change) for change in decision.shown],
                }
                for decision in group.decisions
            ],
        }
        for group in groups
    ]


# -- one change ------------------------------------------------------------------------------------


def _card(change: Change) -> Shown:
    """Return the template variables that show one change (`_change.html.j2`)."""
    found, memory = change.difference, change.difference.memory
    head = " ".join(headline(memory).split())
    # Show each text once: a replaced text with its successor, a short text as the heading.
    is_reworded = found.kind == "added" and bool(change.replaces)
    single = "reworded" not in found.kinds and not change.successors and not change.against
    is_headed = single and head == memory.body and len(head) <= HEADING
    reasons = [(d.op, d.reason, d.actor, d.commit[:10]) for d in change.decisions]
    if change.why and not any(d.reason for d in change.decisions):
        reasons = [("", change.why, "", ""), *reasons]
    bodies = {normal_claim(m.body) for m in (found.before, memory, *change.successors) if m}
    return {
        "id": memory.id,
        "ids": " ".join(change.ids),
        "head": _cut(head, HEADING if single else LABEL),
        "type": memory.type,
        "layer": memory.layer if memory.layer != memory.type else "",
        "path": memory.path,
        "texts": [] if is_reworded or is_headed else _texts(change),
        "replaces": change.replaces if is_reworded else (),
        "also": [SUMMARIES[kind][0].lower() for kind in found.kinds[1:]],
        "rows": list(_rows(change)),
        "why": [(op, in_words(reason), actor, commit) for op, reason, actor, commit in reasons],
        "judged": judged_in_words(change.judged),
        "evidence": [_evidence(e, bodies) for e in change.evidence if not is_reworded],
    }


class CardText(NamedTuple):
    """A text on a card. `id` names the memory of the text if it is not the memory of the card."""

    label: str
    tone: str
    text: Markup
    id: str = ""


def _texts(change: Change) -> list[CardText]:
    """Return the texts to show for a change: before and after, and any contradicting memories."""
    found, memory = change.difference, change.difference.memory
    old = _long((found.before or memory).body)
    against = [CardText("against", "plain", shown(_long(m.body)), m.id) for m in change.against]
    match found.kind:
        case "superseded" if len(change.successors) == 1:
            (heir,) = change.successors
            spans = word_diff(old, _long(heir.body))
            texts = [
                CardText("until now", "before", side(spans, "old")),
                CardText("from now on", "after", side(spans, "new"), heir.id),
            ]
        case "superseded" if change.successors:
            texts = [CardText("until now", "before", shown(old))]
            texts += [
                CardText("from now on", "after", shown(_long(m.body)), m.id)
                for m in change.successors
            ]
        case "added":
            texts = [CardText("", "after", shown(old))]
        case "removed":
            texts = [CardText("was", "before", shown(old))]
        case _ if "reworded" in found.kinds:
            spans = word_diff(old, _long(memory.body))
            texts = [
                CardText("was", "before", side(spans, "old")),
                CardText("becomes", "after", side(spans, "new")),
            ]
        case _:
            texts = [CardText("", "plain", shown(_long(memory.body)))]
    return [*texts, *against]


def _rows(change: Change) -> Iterable[tuple[str, str, str]]:
    """Yield the fields that a change affects, as (name, old value, new value) tuples."""
    found = change.difference
    if found.before is None or found.after is None:
        return
    for name in found.fields:
        if name in UNTOLD or (found.kind in ("superseded", *LEAVING) and name in TELLTALES):
            continue
        old, new = (_cut(text, MAX_VALUE) for text in spelled(found, name))
        yield name, old, new
    if found.before.path != found.after.path:
        yield "path", found.before.path, found.after.path


def _evidence(found: Evidence, bodies: set[str]) -> Shown:
    text = "\n".join(line for _, line in found.text)
    same = bool(text) and normal_claim(text) in bodies
    return {
        "mark": found.mark,
        "place": place_of(found.source),
        "captured": found.source.captured[:10],
        "same": same,
        "lines": [] if same else [(n, _cut(line, MAX_QUOTE)) for n, line in found.text],
    }


def _cut(text: str, most: int) -> str:
    """Truncate a text to a maximum length.

    Unlike `cut`, retain hidden characters, which the page shows.
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _long(text: str) -> str:
    """Truncate a very long text for display, and append a note about the truncation."""
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[{len(text) - MAX_TEXT} more characters are in the file]"


def change(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the page for a run or a commit: changes, and if a revert is possible."""
    span = span_of(work, (asked.get("id", ""),))
    review = review_of(work, span, quote=True)
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
    return memory.text("title") if memory else ""


def session(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return the data of the session page: the last session's context and its retrievals."""
    del asked
    given = last_context(work)
    if given is None:
        return {"given": None}
    state, accesses = work.tree.state(), ledger_of(work.store).accesses()
    looked_up = sorted(
        (
            (max(at), memory)
            for memory in state.memories.values()
            if (at := [t for t, name in accesses.of(memory.id).recent if name == given.session])
        ),
        key=lambda pair: (-pair[0], pair[1].id),
    )
    return {
        "given": given,
        "began": _when(datetime.fromisoformat(given.at), work),
        "looked_up": [
            (f"{datetime.fromtimestamp(at, work.config.zone):%H:%M}", _labelled(memory))
            for at, memory in looked_up
        ],
        "hot": [_labelled(state.memories[i]) for i in given.hot if i in state.memories],
        "notes": [_labelled(state.memories[i]) for i in given.notes if i in state.memories],
    }


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
        "blame": _ask(work, "why", why.Request(id=id_, show="blame", at=at)),
        "near": [] if at else list(_near(work, id_)),
        "at": at,
        "back": f"memory/{id_}",
    }


def _near(work: Work, id_: str) -> Iterable[tuple[str, str, str]]:
    """Yield linked memories, then similar ones, as (relation, id, label) tuples."""
    linked = _ask(work, "related", related.RelatedRequest(id=id_)).related
    yield from ((row.type, row.id, row.label) for row in linked)
    state, known = work.tree.state(), {row.id for row in linked}
    for memory in Neighbours(state).of(state.memories[id_], most=MAX_NEIGHBOURS):
        if memory.id not in known:
            yield "about the same", memory.id, cut(memory.body, LABEL)


def _when(moment: datetime, work: Work) -> str:
    return f"{moment.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}"
