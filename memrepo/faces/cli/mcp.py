"""`memrepo mcp`: serve the memory's tools to an agent, by standard input and output or HTTP."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import option
from memrepo.actions.result import Result
from memrepo.actions.scopes import OutOfScope, narrowed
from memrepo.actions.work import Work, uncollected
from memrepo.core.errors import Exit, MemrepoError, UsageError

TOKEN = "MEMREPO_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST = 16
LOOPBACK, PORT = "127.0.0.1", "8750"


class NotInstalled(MemrepoError):
    """The package that speaks the protocol comes with an extra."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "found no package `mcp`, which `memrepo mcp` speaks the protocol with",
            fix='pip install "memrepo[mcp]"',
        )


class NoToken(MemrepoError):
    """Nobody is served over HTTP who does not name a token, and there is none."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            f"mcp --http: {TOKEN} is empty or shorter than {SHORTEST} characters",
            fix=f"`export {TOKEN}=$(openssl rand -hex 24)`, and give clients the same",
        )


class NotAnAddress(MemrepoError):
    """What stands behind `--http` is no place to listen at."""

    exit_code = Exit.USAGE

    def __init__(self, word: str) -> None:
        super().__init__(f"mcp --http: found {word!r}", fix="write PORT, or HOST:PORT")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `mcp`."""

    toolset: Annotated[
        str,
        option(
            "admin adds tools to review, take back and restore",
            "--toolset",
            choices=("default", "admin"),
        ),
    ] = "default"
    connector: Annotated[
        bool, option("add `search` and `fetch` for connector clients", "--connector")
    ] = False
    scope: Annotated[
        str | None,
        option(
            "serve this scope and what holds in the whole repository; no call sees more",
            "--scope",
            metavar="SCOPE",
        ),
    ] = None
    http: Annotated[
        str | None,
        option(
            f"serve over HTTP at this place, to who names {TOKEN} ({LOOPBACK}:{PORT})",
            "--http",
            metavar="[HOST:]PORT",
            const=PORT,
            optional=True,
        ),
    ] = None


def do(work: Work, request: Request) -> Result:
    """Serve until the client leaves; a folder without memories is said at once."""
    if find_spec("mcp") is None:
        raise NotInstalled
    with Work(work.call) as here:
        _ = here.store  # a folder that is no repository is said before a client waits
    call = work.call
    if request.scope is not None and not request.scope.strip():
        # An unset variable of a shell: without a scope it would serve all of them.
        raise UsageError("--scope names no scope", fix="name one, or leave the option out")
    if scope := narrowed(call.scope, request.scope or ""):
        if request.toolset == "admin":
            raise OutOfScope(scope, "the admin tools are about the whole repository")
        call = replace(call, scope=scope)
    host, port, token = ("", 0, "") if request.http is None else _place(request.http)
    with uncollected():  # the SDK's thousands of types are all here to stay
        from memrepo.faces.mcp.server import serve, server_of

    server = server_of(call, admin=request.toolset == "admin", connector=request.connector)
    if request.http is None:
        serve(server)
    else:
        from memrepo.faces.mcp.http import serve_http

        serve_http(
            server.streamable_http_app(streamable_http_path="/mcp", host=host), host, port, token
        )
    return Result()


def _place(word: str) -> tuple[str, int, str]:
    """Return where to listen, and the token; without a host this machine alone is answered."""
    host, _, port = word.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise NotAnAddress(word)
    token = os.environ.get(TOKEN, "").strip()
    if len(token) < SHORTEST:
        raise NoToken
    return host.strip("[]") or LOOPBACK, int(port), token
