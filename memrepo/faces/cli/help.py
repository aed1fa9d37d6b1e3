"""`memrepo help COMMAND` and `memrepo completion`: texts generated from requests and results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Annotated, get_args, get_type_hints

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import UsageError
from memrepo.faces.cli.parser import COMMANDS, add_fields, add_globals, command_parser


def page(words: Sequence[str]) -> str:
    """Return the help or the JSON Schema of a command. Raise UsageError for invalid arguments."""
    match [*words]:
        case ["--schema", name]:
            return json.dumps(schema(name), indent=2)
        case [name] if not name.startswith("-"):
            return command_parser(name).format_help().rstrip("\n")
    raise UsageError(
        f"memrepo: help {' '.join(words)}: no such page",
        fix="`memrepo help [--all | COMMAND | --schema COMMAND]`",
    )


def schema(name: str) -> dict[str, object]:
    """Return the JSON Schema of a command's `--json` output."""
    command_parser(name)
    kinds = results(name)
    refs, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for kind, ref in zip(kinds, refs, strict=True):
        answer = parts[ref["$ref"].rpartition("/")[2]]
        for key in ("exit", "notices", *kind.unlisted):
            answer["properties"].pop(key, None)
        answer["properties"] = {"schema_version": {"const": 1}, **answer["properties"]}
        kept = [k for k in answer.get("required", []) if k in answer["properties"]]
        answer["required"] = ["schema_version", *kept]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"memrepo {name} --json",
        "anyOf": [*refs],
        "$defs": {key: part for key, part in parts.items() if key not in ("Exit",)},
    }


def results(name: str) -> tuple[type[VerbResult], ...]:
    """Return the types of result that a command can return."""
    do = COMMANDS[name].load().do
    hint = get_type_hints(do, {**vars(import_module(COMMANDS[name].module))})["return"]
    return tuple(dict.fromkeys(each for kind in get_args(hint) or (hint,) for each in _kinds(kind)))


def _kinds(kind: type[VerbResult]) -> Iterator[type[VerbResult]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


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
    return parser, found
