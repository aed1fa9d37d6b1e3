"""The web application behind `memrepo serve`: data from verbs that read, routes, access, forms.

Memory text is data. Templates escape it and make hidden characters visible.
"""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec
import uvicorn
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from memrepo.actions import past, review, status
from memrepo.actions.pending import REMOVALS
from memrepo.actions.recall import around
from memrepo.actions.recall import around as showing
from memrepo.actions.review import review_of
from memrepo.actions.run.decide import EDITED
from memrepo.actions.run.record import Result as RunResult
from memrepo.actions.run.record import last_record
from memrepo.actions.session import MAX_TOKENS, context
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work, checked
from memrepo.core.errors import Exit, MemrepoError, Problem
from memrepo.core.layout import asset
from memrepo.core.memory import Memory
from memrepo.core.messages import counted, cut
from memrepo.core.patterns import regex
from memrepo.core.secrets import concealed, without_secrets
from memrepo.faces.text import text_of
from memrepo.faces.text.changes import phrases_of
from memrepo.views.hot import condensed, plain, sections, unmarked
from memrepo.views.report import (
    LEAVING,
    LEFT_OUT,
    SUMMARIES,
    Change,
    Mark,
    ReviewGroup,
    change_lines,
    in_words,
    rendered,
    rendered_line,
    shown,
    side,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


Shown = dict[str, object]
"""The variables of a template."""
MAX_NEIGHBOURS = 6
"""Maximum similar memories that are listed next to linked ones."""
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
    memories = work.tree.state().memories
    last = last_record(work).last
    marked = [memories[id_] for id_ in found.marked]
    disputes = _ask(work, "resolve", review.ResolveRequest()).contradictions
    problems, todo = last.warnings if last else (), list(_todo(found))
    unexpected = [one for one in problems if one.rule not in (REDACTED, *LEFT_OUT)]
    return {
        "status": found,
        "recall": _in_recall(found),
        "night": _night(work, found, last),
        "runs": list(_runs(work)),
        "writes": _writes(work),
        "waiting": waiting,
        "marked": [(memory.id, cut(plain(memory), LABEL)) for memory in marked],
        "disputes": disputes,
        "warnings": list(_warnings(found, problems)),
        "todo": todo,
        "is_done": not any((waiting, marked, disputes, unexpected, todo)),
        "page": _first_page(work),
    }


def _in_recall(found: status.Result) -> str:
    """Return how many memories a search finds, with the notes and the marked ones."""
    notes, marked = sum(found.tiers.values()), len(found.marked)
    parts = [counted(found.memories.get("active", 0) - notes, "memory", "memories")]
    parts += [counted(notes, "note", "notes")] * bool(notes)
    parts += [f"{marked} marked for removal"] * bool(marked)
    return ", ".join(parts)


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
    marked: int = 0
    """The number of memories that the run marked for removal."""


def _night(work: Work, found: status.Result, last: RunResult | None) -> Night:
    """Return what the last run did, or the last run that changed something."""
    summary, failed = _ran(work, found, last)
    if found.last_run is None or failed:
        return Night(summary, failed)
    landed, left, small, marked = list[NightRow](), list[NightRow](), 0, 0
    changes = [
        change for group in review_of(work, found.last_run.run).groups for change in group.changes
    ]
    for one in sorted(changes, key=lambda one: _shown_memory(one).is_note):  # notes are many
        if one.kind == "marked":
            marked += 1
        elif one.kind not in _CHANGES:
            small += 1
        else:
            (left if one.kind in LEAVING else landed).append(_night_row(one))
    when = _when(datetime.fromisoformat(found.last_run.when), work)
    return Night(summary, False, found.last_run.run, when, landed, left, small, marked)


def _night_row(change: Change) -> NightRow:
    """Return the row of a change, with both texts if one took the place of the other."""
    memory, found = _shown_memory(change), change.difference
    former = {"superseded": found.memory, "reworded": found.before}.get(change.kind)
    text = cut(plain(memory), LABEL) if former is None else _both_texts(former, memory)
    return NightRow(_CHANGES[change.kind], memory.id, text, _sentence(change))


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
    match last.event, last.status:
        case "run_failed", _:
            return f"The last run{when} failed: {last.why}. {last.fix}".strip(), True
        case _, "held":
            what = "waits for you, below" if found.waiting else "was decided by you"
            return f"The last run{when} {what}.", False
        case "run_skipped", _:
            more = " What you see here is from the run before." if found.last_run else ""
            return f"The last run{when} found nothing new to read.{more}", False
        case _:
            return f"The last run was{when}.", False


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


class RunRow(NamedTuple):
    """A run that landed: its id, time and counts, and whether it is in effect."""

    run: str
    when: str
    summary: str
    in_effect: bool


MAX_RUNS = 7
"""Maximum runs that are listed."""


def _runs(work: Work) -> Iterator[RunRow]:
    """Yield the newest runs, with those that were reverted."""
    for one in work.landed()[:MAX_RUNS]:
        summary = one.subject.partition(": ")[2]
        yield RunRow(one.run, _when(one.when, work), summary, one.in_effect)


REDACTED = "source-secret-redacted"
MAX_LISTED = 8
"""Maximum warnings of the last run that are listed."""


def _warnings(found: status.Result, problems: Sequence[Problem]) -> Iterator[tuple[str, str]]:
    """Yield (what, how to change it) for each warning of the last run, and for unread files."""
    for one in problems[:MAX_LISTED]:
        place = f"{one.path}, line {one.line}" if one.line else one.path
        yield f"{place}: {one.message}.", f"{one.fix[:1].upper()}{one.fix[1:]}." if one.fix else ""
    if len(problems) > MAX_LISTED:
        yield f"And {len(problems) - MAX_LISTED} more.", "`memrepo report` lists them."
    if found.unmatched.count:
        yield (
            f"Not read: {found.unmatched.summary}.",
            (
                'To read such a file, write `claims = ["...", "FILE OR PATTERN"]` under `[sources]`'
                " in memrepo.toml (`memrepo config sources.claims` explains it)."
            ),
        )


class WriteRow(NamedTuple):
    """A commit by which somebody changed memories: its id, time, author and subject."""

    commit: str
    when: str
    who: str
    what: str


def _writes(work: Work) -> Sequence[WriteRow]:
    """Return what was written by hand of late, if more than one person or agent wrote."""
    entries = _ask(work, "log", past.LogRequest(n=MAX_WRITES)).entries
    found = [
        WriteRow(
            one.commit[:10],
            _when(one.when, work),
            one.author.rpartition(" <")[0],
            one.subject,
        )
        for one in entries
        if one.memories and not one.run and one.op != "sync"
    ]
    return found[:MAX_LISTED] if len({row.who for row in found}) > 1 else ()


MAX_WRITES = 50
"""The commits in which writes are looked for."""


_OF_MEMORY = regex(r"- .* \([^()]*, mem-[0-9a-f]{16}\)")
_NOTE_ID = regex(r"(?m)^(note .*), mem-[0-9a-f]{16}\):$")


def _first_page(work: Work) -> Shown:
    """Return what an agent reads when a session begins, by section."""
    packed, hot, *_ = context(work, "private", MAX_TOKENS)
    others = [line for line in packed.text.split("\n")[2:-1] if not _OF_MEMORY.fullmatch(line)]
    return {
        "sections": [
            (name.capitalize(), [(rendered_line(condensed(m)), m.id) for m in mine])
            for name, mine in sections(hot, short=work.config.hot.composed)
        ],
        "others": rendered(_NOTE_ID.sub(r"\1):", "\n".join(others))),
        "lines": len(hot),
        "most": work.config.hot.budget,
        "tokens": packed.tokens,
        "most_tokens": MAX_TOKENS,
        "left_out": packed.left_out,
    }


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
                    "kind": SUMMARIES[change.kind][0],
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
    """Return a reason as a sentence, without the codes of programs."""
    text = in_words(reason).replace("sources/", "").strip()
    return (
        f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
        if text
        else ""
    )


def _sentence(change: Change) -> str:
    """Return why a memory changed, in one sentence."""
    own = [d for d in change.decisions if d.actor.startswith("human:")]
    fresh = change.new_sources or change.difference.memory.sources
    if own and own[-1].reason:
        return _sentence_of(own[-1].reason)
    is_edit = change.kind != "reworded" or EDITED in change.why
    if change.kind in (*LEAVING, "marked", "standing") or not fresh or not is_edit:
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
    """Return the data of the page for a run or a commit: its changes, and the form to revert it."""
    review = review_of(work, asked.get("id", ""))
    target = review.run or review.tip
    return {
        "review": review,
        "target": target,
        "groups": _groups(review.groups),
        "more": max(0, sum(len(group.changes) for group in review.groups) - MAX_CHANGES),
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
    return {
        "shown": found,
        "memory": found.memory,
        "head": cut(unmarked(found.memory.get("title") or head), HEADING),
        "is_headed": text.strip() == head and len(head) <= HEADING,
        "fields": [(k, v) for k, v in found.memory.items() if k not in ("text", "id", "sources")],
        "why": _ask(work, "why", past.WhyRequest(id=id_, at=at)),
        "history": [
            (entry, "; ".join(phrases_of(entry)))
            for entry in _ask(
                work, "why", past.WhyRequest(id=id_, show="history", n=20, at=at)
            ).entries
        ],
        "near": [] if at else list(_near(work, id_)),
        "at": at,
        "back": f"memory/{id_}",
    }


def _near(work: Work, id_: str) -> Iterable[tuple[str, str, str]]:
    """Yield linked memories, then similar ones, as (relation, id, label) tuples."""
    linked = _ask(work, "related", around.RelatedRequest(id=id_)).related
    state, known = work.tree.state(), {row.id for row in linked}
    yield from ((row.type, row.id, cut(plain(state.memories[row.id]), LABEL)) for row in linked)
    subject = state.memories[id_].subject.casefold()
    about = (m for m in state.active if m.id not in known | {id_} and subject)
    same = (m for m in about if m.subject.casefold() == subject)
    for memory in islice(same, MAX_NEIGHBOURS):
        yield "about the same", memory.id, cut(plain(memory), LABEL)


def _when(moment: datetime, work: Work) -> str:
    return f"{moment.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}"


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

    `draft` is a text that could not be saved.
    """

    message: str
    command: str = ""
    is_refused: bool = False
    draft: str = ""


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
        "Reverted: the memory is as it was before. What came later stays.", ("target", "reason")
    ),
    "edit": Deed("Saved in your words.", ("id", "text", "reason")),
    "pin": Deed("", ("id", "off")),
    "forget": Deed(
        "Forgotten: search no longer finds it. `memrepo restore` brings it back.", ("id", "reason")
    ),
    "reject": Deed("Rejected for good: it does not come back.", ("id", "reason")),
    "confirm": Deed("Confirmed: you marked it as right.", ("id",)),
    "resolve": Deed("Decided: the contradiction is settled.", ("id", "keep", "both")),
}
"""The verbs that pages offer. Other verbs are ignored."""
_REMOVALS = {
    "accept": "Archived: search no longer finds them. `memrepo restore` brings one back.",
    "discard": "Kept: search finds them as before.",
}
"""What deciding about marked memories did."""
_FLAGS = ("off", "both")


def do(work: Work, form: Mapping[str, str]) -> FormResult:
    """Perform the verb that a submitted form requests, and return the result as text."""
    given = {name: value.replace("\r\n", "\n") for name, value in form.items()}
    verb = given.get("deed", "")
    if verb not in _DEEDS:
        return FormResult(message="nothing to do: no decision was made")
    deed = _DEEDS[verb]
    first, *rest = deed.fields
    named = {name: given[name] for name in rest if given.get(name)}
    fields = {name: name in _FLAGS or value for name, value in named.items()}
    try:
        request = VERBS[verb].load().Request(**{first: given.get(first, "")}, **fields)
        answer = perform(work, verb, checked(request))
    except MemrepoError as error:
        fix = f" {error.fix}" if error.fix else ""
        message = concealed(f"not done: {error.message}.{fix}")
        return FormResult(message=message, is_refused=True, draft=given.get("text", ""))
    line = [given.get(first, "")]
    for name, value in named.items():
        line += [f"--{name}", *([] if name in _FLAGS else [value])]
    text = text_of(verb, request, answer)
    is_refused = answer.exit is Exit.DECIDE
    outcome = _REMOVALS.get(verb, "") if line[0] == REMOVALS else deed.outcome
    message = text.partition("\n")[0] if is_refused or not outcome else outcome
    message, command = concealed([message, f"memrepo {verb} {shlex.join(line)}\n{text}"])
    return FormResult(message=message, command=command, is_refused=is_refused)


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
    environment.filters["plain"] = in_words
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
    if screen not in SCREENS:
        return Response(status_code=404)
    asked = {**request.query_params, **request.path_params}
    with site.busy, site.work() as work:
        try:
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
