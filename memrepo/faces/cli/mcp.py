"""`memrepo mcp`: serve the memory's tools to an agent, by standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import OutOfScope, narrowed
from memrepo.actions.request import option
from memrepo.actions.result import Result
from memrepo.actions.work import Work, uncollected
from memrepo.core.errors import Exit, MemrepoError, UsageError


class NotInstalled(MemrepoError):
    """The package that speaks the protocol comes with an extra."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "found no package `mcp`, which `memrepo mcp` speaks the protocol with",
            fix="`pip install '.[mcp]'` in memrepo's checkout",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `mcp`."""

    toolset: Annotated[
        str,
        option(
            "admin adds tools to review, revert and restore",
            "--toolset",
            choices=("default", "admin"),
        ),
    ] = "default"
    scope: Annotated[
        str | None,
        option(
            "serve this scope and what holds in the whole repository; no call sees more",
            "--scope",
            metavar="SCOPE",
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
    with uncollected():  # the SDK's thousands of types are all here to stay
        from memrepo.faces.mcp.server import serve, server_of

    serve(server_of(call, admin=request.toolset == "admin"))
    return Result()
