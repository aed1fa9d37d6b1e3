"""`memrepo mcp`: serve memory tools to an agent over standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import OutOfScope, narrowed
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work, uncollected
from memrepo.core.errors import Exit, MemrepoError, UsageError


class NotInstalled(MemrepoError):
    """Raised when the MCP package is missing, which an extra of memrepo installs."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "the package `mcp` is not installed; `memrepo mcp` needs it",
            fix="`pip install '.[mcp]'` in memrepo's checkout",
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `mcp`."""

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
            "serve only this scope and memories without a scope",
            "--scope",
            metavar="SCOPE",
        ),
    ] = None


def do(work: Work, request: Request) -> VerbResult:
    """Serve until the client disconnects. If the folder is not a repository, fail immediately."""
    if find_spec("mcp") is None:
        raise NotInstalled
    with Work(work.call) as here:
        _ = here.store  # fail before the client waits if the folder is not a repository
    call = work.call
    if request.scope is not None and not request.scope.strip():
        # The scope may come from an unset shell variable. An empty scope would serve all scopes.
        raise UsageError("--scope has no value", fix="name one, or leave the option out")
    if scope := narrowed(call.scope, request.scope or ""):
        if request.toolset == "admin":
            raise OutOfScope(scope, "the admin tools apply to the whole repository")
        call = replace(call, scope=scope)
    with uncollected():  # the thousands of types in the SDK are never garbage
        from memrepo.faces.mcp.server import serve, server_of

    serve(server_of(call, admin=request.toolset == "admin"))
    return VerbResult()
