"""What each screen shows, asked of the verbs: nothing is decided here, and nothing is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from memrepo.actions.past import log, why
from memrepo.actions.past.timeline import Commit
from memrepo.actions.recall import related
from memrepo.actions.recall import search as searching
from memrepo.actions.recall import show as showing
from memrepo.actions.recall.recall import RECALL_STATUSES
from memrepo.actions.request import checked
from memrepo.actions.review import resolve, runs
from memrepo.actions.review.comparison import review_of, span_of
from memrepo.actions.review.screens import Near, Session, session_of
from memrepo.actions.run.timetable import last_record
from memrepo.actions.setup import status
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.memory import TYPES
from memrepo.core.messages import counted, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.times import extent
from memrepo.views.html import shown
from memrepo.views.report import from_json, one_line
from memrepo.views.review import SUMMARIES
from memrepo.views.review_page import cards_of

_WIDTH, _HEIGHT = 640, 180
_MOST = 12
"""Neighbours that are drawn; the list has them all."""
_LABEL = 28


class Neighbour(NamedTuple):
    """A memory beside another: its id, its first words, and how it is near."""

    id: str
    label: str
    kind: str


def _svg(title: str, inside: str, height: int = _HEIGHT, width: int = _WIDTH) -> Markup:
    head = f'<svg role="img" viewBox="0 0 {width} {height}"><title>{escape(title)}</title>'
    return Markup(f"{head}{inside}</svg>")  # noqa: S704 - numbers, and texts that were escaped


def neighbourhood(label: str, neighbours: Sequence[Neighbour]) -> Markup:
    """Return a memory in the middle of its neighbours; each is a link to its page."""
    near = neighbours[:_MOST]
    if not near:
        return Markup("")
    height, parts = 320, []
    middle_x, middle_y = _WIDTH / 2, height / 2
    spots = []
    for n, row in enumerate(near):
        angle = 2 * math.pi * n / len(near) - math.pi / 2
        spots.append((row, middle_x + 215 * math.cos(angle), middle_y + 118 * math.sin(angle)))
    for row, x, y in spots:
        parts.append(
            f'<line class="edge" x1="{middle_x}" y1="{middle_y}" x2="{x:.1f}" y2="{y:.1f}"/>'
            f'<text class="kind" x="{(x + middle_x) / 2:.1f}" y="{(y + middle_y) / 2:.1f}">'
            f"{escape(row.kind)}</text>"
        )
    for row, x, y in spots:
        parts.append(
            f'<a href="{escape(row.id)}"><circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="7"/>'
            f'<text x="{x:.1f}" y="{y + 20:.1f}">{_named(row.label)}</text></a>'
        )
    parts.append(
        f'<circle class="node here" cx="{middle_x}" cy="{middle_y}" r="9"/>'
        f'<text x="{middle_x}" y="{middle_y + 24}">{_named(label)}</text>'
    )
    return _svg(
        f"{counted(len(near), 'neighbour', 'neighbours')}; the list below names them",
        "".join(parts),
        height,
    )


def _named(label: str) -> Markup:
    return shown(fold(without_secrets(label), _LABEL))


Shown = dict[str, object]
"""What a template is given."""
_LINES = 100
_SHORT = 110
_ABOUT = 6
"""Memories about the same that stand beside those that are linked."""


def _ask(work: Work, name: str, request: Any) -> Any:
    return perform(work, name, checked(request))


def refused(work: Work, error: MemrepoError) -> Shown:
    """Return what is shown where a verb refuses: its words, and how to mend it."""
    del work
    return {"message": error.message, "fix": error.fix}


def morning(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return what waits, what the last run came to, what failed, the spend, and what to do."""
    del asked
    found = _ask(work, "status", status.Request())
    told = from_json(last_record(work).get("last", {}))
    waiting = [_waiting(session_of(work, branch)) for branch in found.waiting]
    disputes = _ask(work, "resolve", resolve.Request()).open
    return {
        "status": found,
        "last": one_line(told) if told else "",
        "ran": _when(told.finished, work) if told else "",
        "failed": bool(told and told.event == "run_failed"),
        "waiting": waiting,
        "disputes": disputes,
        "todo": list(_todo(found, waiting)),
    }


def _todo(found: status.Result, waiting: Sequence[object]) -> Iterable[str]:
    """Yield what a person may have to do, in the words for a terminal where they help."""
    if waiting:
        yield "Decide what waits, below (`memrepo review`)."
    if found.contradictions:
        yield "Say which of the contradicting memories holds, below (`memrepo resolve`)."
    if found.schedule.failed:
        yield "The last scheduled run failed: `memrepo doctor` looks further."
    yield from (f"Scheduled runs: {said}." for said in found.schedule.complaints)
    if not found.schedule.by:
        yield "No run is scheduled: `memrepo schedule install`."
    if found.unread:
        unread = counted(len(found.unread), "source is", "sources are")
        yield f"{unread} not taken in yet: `memrepo run`."
    if found.unmatched.count:
        yield f"Not read: {found.unmatched.said} (`memrepo config explain sources.claims`)."
    if found.hooks:
        yield f"Hooks: {found.hooks}."
    if found.trust:
        yield f"Trust: {found.trust}."
    if found.uncommitted:
        yield f"Not committed: {', '.join(found.uncommitted[:5])}."


def _waiting(session: Session) -> Shown:
    return {
        "run": session.run,
        "reason": session.review.reason,
        "when": session.review.when,
        "screens": [
            {
                "mark": screen.mark,
                "kind": SUMMARIES[screen.kind][0],
                "what": SUMMARIES[screen.kind][1],
                "text": screen.target.body,
                "id": screen.target.id,
                "near": screen.near,
                "cards": cards_of(
                    c for c in screen.changes if c is screen.changes[0] or not c.replaces
                ),
            }
            for screen in session.screens
        ],
    }


class Day(NamedTuple):
    """One day of the history."""

    day: str
    entries: list[tuple[str, Commit]]


def timeline(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return runs and hand edits by day, newest first."""
    since, until = _date(asked.get("since")), _date(asked.get("until"))
    request = log.Request(n=_LINES, since=since, until=until)
    found = _ask(work, "log", request)
    rows = [(entry.when.astimezone(work.config.zone), entry) for entry in found.entries]
    days = [
        Day(day, [(f"{when:%H:%M}", entry) for when, entry in group])
        for day, group in groupby(rows, key=lambda row: f"{row[0]:%A, %d %B %Y}")
    ]
    waiting = _ask(work, "runs", runs.Request(n=1)).waiting
    return {"days": days, "since": since or "", "until": until or "", "waiting": waiting}


def _date(text: str | None) -> str | None:
    """Return a date of a form; raises UsageError for anything else."""
    if not text:
        return None
    try:
        extent(text, UTC)
    except ValueError as error:
        raise UsageError(f"{text!r} is no date", fix="write it as 2026-01-31") from error
    return text


def change(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return what a run or commit changed, and whether it is in effect."""
    span = span_of(work, (asked.get("id", ""),))
    review = review_of(work, span, quote=True)
    return {
        "review": review,
        "target": span.run or span.tip,
        "cards": [(SUMMARIES[c.difference.kind][0], c) for c in review.changes],
        "shown": cards_of(review.changes),
        "back": f"change/{asked.get('id', '')}",
    }


def search(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return what is found, its subject, why, and an honest word where nothing is."""
    query, at = asked.get("q", "").strip(), asked.get("at", "").strip()
    type_, status_ = asked.get("type", ""), asked.get("status", "")
    found = None
    if query:
        request = searching.Request(
            words=tuple(query.split()),
            limit=25,
            types=(type_,) if type_ in TYPES else (),
            statuses=(status_,) if status_ in RECALL_STATUSES else (),
            at=at,
            explain=True,
            no_touch=True,
        )
        found = _ask(work, "search", request)
    state = work.tree.state()
    return {
        "query": query,
        "at": at,
        "type": type_,
        "status": status_,
        "types": TYPES,
        "statuses": RECALL_STATUSES,
        "explain": asked.get("explain") == "1",
        "found": found,
        "subjects": {
            hit.id: state.memories[hit.id].text("subject")
            for hit in (found.hits if found else ())
            if hit.id in state.memories
        },
    }


def memory(work: Work, asked: Mapping[str, str]) -> Shown:
    """Return one memory: its text, evidence, reasons, history and neighbours."""
    id_, at = asked.get("id", ""), asked.get("at", "")
    shown = _ask(work, "show", showing.Request(id=id_, at=at, no_touch=True))
    id_ = shown.memory["id"]
    near = [] if at else list(_near(work, id_))
    return {
        "shown": shown,
        "memory": shown.memory,
        "fields": [(k, v) for k, v in shown.memory.items() if k not in ("text", "id", "sources")],
        "why": _ask(work, "why", why.Request(id=id_, at=at)),
        "history": _ask(work, "why", why.Request(id=id_, show="history", n=20, at=at)),
        "blame": _ask(work, "why", why.Request(id=id_, show="blame", at=at)),
        "near": near,
        "picture": neighbourhood(shown.memory["text"], near),
        "at": at,
        "back": f"memory/{id_}",
    }


def _near(work: Work, id_: str) -> Iterable[Neighbour]:
    """Yield what a memory is linked to, then what is about the same."""
    linked = _ask(work, "related", related.Request(id=id_)).related
    for row in linked:
        yield Neighbour(id=row.id, label=row.label, kind=row.type)
    state, known = work.tree.state(), {row.id for row in linked}
    for memory in Near(state).of(state.memories[id_], most=_ABOUT):
        if memory.id not in known:
            yield Neighbour(id=memory.id, label=fold(memory.body, _SHORT), kind="about the same")


def _when(moment: datetime, work: Work) -> str:
    return f"{moment.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}"
