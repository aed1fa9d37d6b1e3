"""The same server over Streamable HTTP, for containers and agents on other machines.

Who asks has to name the token; the SDK refuses requests that a page in a browser was lured into.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
_GRACE = 2
"""Seconds that an open stream may go on after a signal."""


def serve_http(server: Server[object], host: str, port: int, token: str) -> None:
    """Serve at `http://HOST:PORT/mcp` until a signal comes."""
    app = server.streamable_http_app(streamable_http_path=PATH, host=host)
    uvicorn.run(
        guarded(app, token),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
    )


def guarded(app: App, token: str) -> App:
    """Return an application that answers nobody who does not name the token."""
    wanted = f"Bearer {token}".encode()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            named = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(named, wanted):
                await _refuse(send)
                return
        await app(scope, receive, send)

    return answer


async def _refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"memrepo: name the token\n"})
