"""`memrepo help COMMAND` and `memrepo completion`: texts generated from requests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Annotated

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import UsageError
from memrepo.faces.cli.parser import COMMANDS, add_fields, add_globals, command_parser


def page(words: Sequence[str]) -> str:
    """Return the help of a command. Raise UsageError for invalid arguments."""
    if len(words) != 1 or words[0].startswith("-"):
        raise UsageError(
            f"memrepo: help {' '.join(words)}: no such page", fix="`memrepo help [--all | COMMAND]`"
        )
    return command_parser(words[0]).format_help().rstrip("\n")


SHELLS = ("bash", "zsh", "fish")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `completion`."""

    shell: Annotated[str, option("which shell", choices=SHELLS)]


class Script(VerbResult, frozen=True, kw_only=True):
    """A completion script, and the name of the shell that it is for."""

    shell: str
    script: str


def do(work: Work, request: Request) -> Script:
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
