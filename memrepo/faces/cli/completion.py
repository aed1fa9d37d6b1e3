"""`memrepo completion`: a completion script, made from the same parsers that read the line."""

from __future__ import annotations

import argparse

from memrepo.actions.work import Answer, Session
from memrepo.faces.cli.table import COMMANDS, add_globals, module_of

SHELLS = ("bash", "zsh", "tcsh")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Print the script: `memrepo completion bash > ~/.local/share/bash-completion/.../memrepo`."""
    del session
    import shtab

    script = shtab.complete(whole_parser(), shell=options.shell)
    return Answer(data={"shell": options.shell, "script": script}, text=script.rstrip("\n"))


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser with every command in it."""
    parser = argparse.ArgumentParser(prog="memrepo")
    add_globals(parser, defaults=True)
    commands = parser.add_subparsers(dest="command")
    for name, text in COMMANDS.items():
        module_of(name).arguments(commands.add_parser(name, help=text))
    return parser
