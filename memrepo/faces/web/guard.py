"""Who is let in: a browser that was given the link, on this machine, from these pages.

Any page of the web may send requests to a loopback port, by its number or by a name that it points
there (DNS rebinding). So a request counts only with the name under which we serve, with the token
(once in the link, then in a cookie that no other site can send), and a form only from our own
pages. What fails gets an empty answer that says nothing of what is here.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none at all a form has no origin
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SAFE = ("GET", "HEAD")


class Guard:
    """The outermost layer: refuses what is not ours, and sets the headers of all answers."""

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self.app = app
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.token = token
        self.cookie = f"memrepo-{port}"  # a browser sends cookies to all ports of a host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on a request that may pass."""
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
        if host not in self.hosts:
            return Response(status_code=403)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Response(status_code=403)
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and request.url.path == "/":
            return self._welcome(given)
        if not self._is(request.cookies.get(self.cookie, "")):
            return Response(status_code=403)
        if request.method not in SAFE and headers.get("origin") != f"http://{host}":
            return Response(status_code=403)
        return self.app

    def _welcome(self, given: str) -> Response:
        """Put the token of the link into a cookie, and out of the address."""
        if not self._is(given):
            return Response(status_code=403)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _is(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())
