"""The same server over Streamable HTTP, for containers and agents on other machines.

Who asks has to name the token; the SDK refuses requests that a page in a browser was lured into.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_GRACE = 2
"""Seconds that an open stream may go on after a signal."""


def serve_http(app: App, host: str, port: int, token: str) -> None:
    """Serve the SDK's application until a signal comes."""
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

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
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
