"""`memrepo mcp`: serve the memory's tools to an agent over standard input and output."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.request import option
from memrepo.actions.result import Result
from memrepo.actions.scopes import OutOfScope, narrowed
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError


class NotInstalled(MemrepoError):
    """The package that speaks the protocol comes with an extra."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "found no package `mcp`, which `memrepo mcp` speaks the protocol with",
            fix='pip install "memrepo[mcp]"',
        )


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
        str,
        option(
            "serve this scope and what holds in the whole repository; no call sees more",
            "--scope",
            metavar="SCOPE",
        ),
    ] = ""


def do(work: Work, request: Request) -> Result:
    """Serve until the client leaves; a folder without memories is said at once."""
    if find_spec("mcp") is None:
        raise NotInstalled
    with Work(work.call) as here:
        _ = here.store  # a folder that is no repository is said before a client waits
    call = work.call
    if scope := narrowed(call.scope, request.scope):
        if request.toolset == "admin":
            raise OutOfScope(scope, "the admin tools are about the whole repository")
        call = replace(call, scope=scope)
    from memrepo.faces.mcp.server import serve

    serve(call, admin=request.toolset == "admin", connector=request.connector)
    return Result()
