"""The process that serves: one loopback socket, one link with a token, and the end of it."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from msgspec.structs import replace

from memrepo.actions.work import Call, Work
from memrepo.faces.web.app import Site, application

LOOPBACK = "127.0.0.1"


def serve(call: Call, folders: Sequence[Path], *, port: int, read_only: bool) -> None:
    """Serve repositories until interrupted; raises NotARepository before anything listens."""
    repos: dict[str, Path] = {}
    for folder in folders:
        with Work(replace(call, where=folder.absolute())) as work:
            root = work.store.root
        repos[_name(root.name, repos)] = root
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()  # who has the link may come before the loop runs
        port = listener.getsockname()[1]
        site = Site(
            call=call,
            repos=repos,
            port=port,
            token=secrets.token_urlsafe(32),
            read_only=read_only,
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


def _name(name: str, taken: dict[str, Path]) -> str:
    """Return a name for the address of a repository that no other has."""
    plain = "".join(ch if ch.isalnum() or ch in "-_" else "-" for ch in name) or "memory"
    number = 1
    while (found := plain if number == 1 else f"{plain}-{number}") in taken:
        number += 1
    return found
