"""The web application behind `memrepo serve`: its routes, access control and forms."""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
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

from memrepo.actions.pending import REMOVALS
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work, checked
from memrepo.assets import asset
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.secrets import concealed, without_secrets
from memrepo.faces.text import text_of
from memrepo.faces.web import pages
from memrepo.views.hot import unmarked
from memrepo.views.html import rendered, shown
from memrepo.views.report import in_words

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


Show = Callable[[Work, Mapping[str, str]], pages.Shown]
SCREENS: Mapping[str, Show] = {
    "morning": pages.morning,
    "memory": pages.memory,
    "change": pages.change,
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
