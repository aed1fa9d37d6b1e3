"""`memrepo completion`: a completion script, made from the same parsers that read the line."""

from __future__ import annotations

import argparse
from typing import Annotated

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.work import Work
from memrepo.faces.cli.parser import COMMANDS, add_fields, add_globals

SHELLS = ("bash", "zsh", "tcsh")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `completion`."""

    shell: Annotated[str, option("which shell", choices=SHELLS)]


class Result(result.Result, frozen=True, kw_only=True):
    """A completion script, and the shell that reads it."""

    shell: str
    script: str


def do(work: Work, request: Request) -> Result:
    """Print the script: `memrepo completion bash > ~/.local/share/bash-completion/.../memrepo`."""
    del work
    import shtab

    script = shtab.complete(whole_parser(), shell=request.shell)
    return Result(shell=request.shell, script=script)


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command in it."""
    parser = argparse.ArgumentParser(prog="memrepo")
    add_globals(parser, defaults=True)
    commands = parser.add_subparsers(dest="command")
    for name, verb in COMMANDS.items():
        add_fields(commands.add_parser(name, help=verb.says), verb.load().Request)
    return parser
