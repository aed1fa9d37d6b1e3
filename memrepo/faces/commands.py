"""`demo`, `serve`, `mcp`, `agent`, `help` and `completion`: they need a process or the parsers."""

from __future__ import annotations

import argparse
import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.agent import Request as AgentRequest
from memrepo.actions.verbs import narrowed, perform
from memrepo.actions.work import Call, VerbResult, Work, option, uncollected
from memrepo.core.errors import UsageError
from memrepo.core.layout import asset
from memrepo.faces.cli import COMMANDS, add_fields, add_globals, run_line

PAUSE_S = 1.5
LINES = 14


class DemoRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `demo`."""

    dir: Annotated[str, option("create the demo in this folder", metavar="DIR")] = ""
    fast: Annotated[bool, option("do not pause between the steps", "--fast")] = False


class Tour(VerbResult, frozen=True, kw_only=True):
    """The path of the tour's repository, which is empty after removal."""

    kept: str


def demo(work: Work, request: DemoRequest) -> Tour:
    """Play the command lines of the tour in DIR, or in a temporary folder that is removed."""
    with _folder(work.call, request.dir) as folder:
        shutil.copytree(asset("templates", "demo"), folder, dirs_exist_ok=True)
        for line in (folder / "tour.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                time.sleep(0.0 if request.fast or work.call.json else PAUSE_S)
                work.call.say(f"\n{line}")
            else:
                work.call.say(f"$ {line}")
                _play(work.call, folder, shlex.split(line))
    return Tour(kept=str(folder / "memory") if request.dir else "")


def _play(call: Call, folder: Path, words: list[str]) -> None:
    """Run one command line, and print the start of its output. Only an error stops the tour."""
    if words[0] == "cp":
        shutil.copyfile(folder / words[1], folder / words[2])
        return
    memory = folder / "memory"
    where = memory if memory.exists() else folder
    with Work(replace(call, where=where, json=False)) as work:
        answer, text = run_line(work, words[1:])
    lines = text.split("\n") + [str(p) for p in answer.notices]
    for shown in lines[:LINES]:
        call.say(shown)
    if len(lines) > LINES:
        call.say(f"... {len(lines) - LINES} more lines")


@contextmanager
def _folder(call: Call, name: str) -> Iterator[Path]:
    if name:
        folder = call.where / name
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty", fix="name a folder that does not exist yet")
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    else:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="memrepo-demo-") as made:
            yield Path(made)


def require(package: str, command: str, extra: str) -> None:
    """Raise UsageError if the package of an extra cannot be imported."""
    if find_spec(package) is None:
        raise UsageError(
            f"the package `{package}` is not installed; `memrepo {command}` needs it",
            fix=f"`pip install '.[{extra}]'` in memrepo's checkout",
        )


class ServeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `serve`."""

    port: Annotated[
        int,
        option("port on 127.0.0.1 (default: any free port)", "--port", metavar="N", ge=0, le=65535),
    ] = 0
    read_only: Annotated[
        bool, option("read-only: show everything, but no action that writes", "--read-only")
    ] = False


def serve(work: Work, request: ServeRequest) -> VerbResult:
    """Serve the web pages until interrupted. If there is no repository, fail immediately."""
    require("starlette", "serve", "web")
    from memrepo.faces.web import serve

    serve(work.call, port=request.port, read_only=request.read_only)
    return VerbResult()


class McpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `mcp`."""

    scope: Annotated[
        str | None,
        option("serve only this scope and memories without a scope", "--scope", metavar="SCOPE"),
    ] = None


def mcp(work: Work, request: McpRequest) -> VerbResult:
    """Serve until the client disconnects. If the folder is not a repository, fail immediately."""
    require("mcp", "mcp", "mcp")
    with Work(work.call) as here:
        _ = here.store  # fail before the client waits if the folder is not a repository
    call = work.call
    if request.scope is not None and not request.scope.strip():
        # The scope may come from an unset shell variable. An empty scope would serve all scopes.
        raise UsageError("--scope has no value", fix="name one, or leave the option out")
    if scope := narrowed(call.scope, request.scope or ""):
        call = replace(call, scope=scope)
    with uncollected():  # the thousands of types in the SDK are never garbage
        from memrepo.faces.mcp import serve, server_of

    serve(server_of(call))
    return VerbResult()


class Hooked(VerbResult, frozen=True, kw_only=True):
    """The text that memrepo answers to an event of the agent's program."""

    answer: str


def agent(work: Work, request: AgentRequest) -> VerbResult:
    """Install or uninstall the hooks of an agent's program, or answer one event of a session."""
    if request.what != "hook":
        # `-C` names the repository; a project's folder is relative to where the person stands.
        into = str(Path.cwd() / request.into) if request.into else ""
        return perform(work, "agent", replace(request, into=into))
    from memrepo.faces.hook import hook

    return Hooked(answer=hook(work.call, request.host, request.scope))


# -- help and completion --------------------------------------------------------------------------


SHELLS = ("bash", "zsh", "fish")


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `completion`."""

    shell: Annotated[str, option("which shell", choices=SHELLS)]


class Script(VerbResult, frozen=True, kw_only=True):
    """A completion script, and the name of the shell that it is for."""

    shell: str
    script: str


def completion(work: Work, request: CompletionRequest) -> Script:
    """Generate the completion script of a shell. The user redirects it into a completion file."""
    del work
    import shtab

    parser, commands = whole_parser()
    for each in (parser, *commands.values()):
        for action in each._actions:  # noqa: SLF001 - shtab reads an attribute of each action
            if str(action.metavar or action.dest).upper() in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return Script(shell=request.shell, script=shtab.complete(parser, shell=request.shell))


_FILES = ("FILE", "DIR", "WORKSPACE", "PATH")
"""Names of arguments that are files or folders."""


def whole_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the whole command line, and the parsers of all commands by name."""
    parser = argparse.ArgumentParser(prog="memrepo")
    add_globals(parser, defaults=True)
    commands = parser.add_subparsers(dest="command")
    found = {}
    for name, verb in COMMANDS.items():
        found[name] = commands.add_parser(name, help=verb.says)
        add_fields(found[name], verb.load().Request)
        add_globals(found[name], defaults=False)
    return parser, found
