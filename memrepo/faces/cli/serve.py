"""`memrepo serve`: local web pages for reading the memory and making decisions."""

from __future__ import annotations

from typing import Annotated

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `serve`."""

    repos: Annotated[
        tuple[str, ...], option("repositories to show (default: the current one)", metavar="DIR")
    ] = ()
    port: Annotated[
        int,
        option("port on 127.0.0.1 (default: any free port)", "--port", metavar="N", ge=0, le=65535),
    ] = 0
    read_only: Annotated[
        bool, option("read-only: show everything, but no action that writes", "--read-only")
    ] = False


def do(work: Work, request: Request) -> VerbResult:
    """Serve the web pages until interrupted. If a folder is not a repository, fail immediately."""
    folders = [work.call.where / name for name in request.repos] or [work.call.where]
    from memrepo.faces.web.app import serve

    serve(work.call, folders, port=request.port, read_only=request.read_only)
    return VerbResult()
