"""The addresses of the pages: each shows what a verb answers, each form does what a verb does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from memrepo.actions.work import Call, Work
from memrepo.assets import asset
from memrepo.core.errors import Exit, MemrepoError
from memrepo.faces.web import deeds, pages
from memrepo.faces.web.guard import Guard
from memrepo.faces.web.render import rendered

STATUS = {Exit.USAGE: 404, Exit.DECIDE: 409, Exit.LOCKED: 409}


class Site(msgspec.Struct, kw_only=True):
    """What is served: repositories by their name in addresses, and how."""

    call: Call
    repos: dict[str, Path]
    port: int
    token: str
    read_only: bool = False
    told: list[str] = msgspec.field(default_factory=list)
    """What the last deed came to: the next page shows it once."""
    busy: threading.Lock = msgspec.field(default_factory=threading.Lock)
    """One request works at a time, as one person does."""

    def work(self, name: str) -> Work:
        """Return a repository as it is now."""
        call = self.call
        now = call.clock() if call.clock else call.now
        return Work(Call(where=self.repos[name], now=now, actor=call.actor))


Show = Callable[[Work, Mapping[str, str]], pages.Shown]
SCREENS: Mapping[str, Show] = {
    "morning": pages.morning,
    "timeline": pages.timeline,
    "search": pages.search,
    "memory": pages.memory,
    "change": pages.change,
}
"""The five screens, and the page of one change."""


def application(site: Site) -> Starlette:
    """Return the application behind its guard."""

    async def root(_: Request) -> Response:
        return RedirectResponse(f"/r/{next(iter(site.repos))}/morning", status_code=303)

    async def sheet(_: Request) -> Response:
        parts = (asset("templates", "views", "review.css"), asset("templates", "web", "web.css"))
        return Response("\n".join(p.read_text("utf-8") for p in parts), media_type="text/css")

    async def script(_: Request) -> Response:
        return Response(asset("templates", "web", "web.js").read_text("utf-8"), media_type=_JS)

    async def icon(_: Request) -> Response:
        data = asset("templates", "web", "icon.svg").read_bytes()
        return Response(data, media_type="image/svg+xml")

    async def screen(request: Request) -> Response:
        return await run_in_threadpool(_screen, site, request)

    async def do(request: Request) -> Response:
        form = await request.form()
        return await run_in_threadpool(_do, site, request, form)

    repo = "/r/{repo}"
    return Starlette(
        routes=[
            Route("/", root),
            Route("/web.css", sheet),
            Route("/web.js", script),
            Route("/icon.svg", icon),
            Route(f"{repo}/do", do, methods=["POST"]),
            Route(f"{repo}/{{screen}}", screen),
            Route(f"{repo}/{{screen}}/{{id}}", screen),
        ],
        middleware=[Middleware(Guard, port=site.port, token=site.token)],
    )


_JS = "text/javascript"


def _screen(site: Site, request: Request) -> Response:
    """Show one screen; what a verb refuses is told on a page of its own."""
    name, screen = request.path_params["repo"], request.path_params["screen"]
    if name not in site.repos or screen not in SCREENS:
        return Response(status_code=404)
    asked = {**request.query_params, **request.path_params}
    with site.busy, site.work(name) as work:
        try:
            found, status = SCREENS[screen](work, asked), 200
        except MemrepoError as error:
            found, status = pages.refused(work, error), STATUS.get(error.exit_code, 500)
            screen = "refused"
        told, site.told[:] = tuple(site.told), []
        page = rendered(
            f"{screen}.html.j2",
            repo=name,
            repos=tuple(site.repos),
            screen=screen,
            read_only=site.read_only,
            told=told,
            **found,
        )
    return HTMLResponse(page, status_code=status)


def _do(site: Site, request: Request, form: FormData) -> Response:
    """Do what a form asks for, then show the page that it came from."""
    name = request.path_params["repo"]
    if name not in site.repos:
        return Response(status_code=404)
    if site.read_only:
        return Response(status_code=403)
    with site.busy, site.work(name) as work:
        site.told[:] = deeds.do(work, form)
    back = str(form.get("back", "morning"))
    back = back if back.partition("/")[0].partition("?")[0] in SCREENS else "morning"
    return RedirectResponse(f"/r/{name}/{back}", status_code=303)
