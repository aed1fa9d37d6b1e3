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
from memrepo.assets import asset
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
    parser, commands = whole_parser()
    if request.shell == "fish":
        script = "\n".join(_fish(parser, commands))
        return Script(shell="fish", script=script)  # noqa: S604 - the name of a shell, not a call
    import shtab

    for each in (parser, *commands.values()):
        for action in each._actions:  # noqa: SLF001 - shtab sets an attribute on each action
            if names := _named(action):
                action.complete = _by_shell(names)  # type: ignore[attr-defined]
    script = shtab.complete(parser, shell=request.shell, preamble=_preamble(request.shell))
    return Script(shell=request.shell, script=script)


def _preamble(shell: str) -> str:
    """Return the functions that complete ids from git's list of files, without starting memrepo."""
    path = asset("templates", "completion", f"preamble.{shell}")
    return f"\n{path.read_text(encoding='utf-8')}"


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


def _named(action: argparse.Action) -> str:
    """Return the kind of values an argument accepts: memories, runs, both, files or empty."""
    words = set(str(action.metavar or action.dest).upper().split("|"))
    runs, memories = bool(words & {"RUN"}), bool(words & {"ID", "MEMORY"})
    if words & {"FILE", "DIR", "WORKSPACE", "PATH"}:
        return "files"
    return "both" if runs and memories else "runs" if runs else "memories" if memories else ""


def _by_shell(names: str) -> dict[str, str]:
    if names == "files":
        return {"bash": "_shtab_compgen_files", "zsh": "_files"}
    return {"bash": f"_memrepo_{names}", "zsh": f"_memrepo_{names}"}


def _fish(
    parser: argparse.ArgumentParser, commands: dict[str, argparse.ArgumentParser]
) -> Iterator[str]:
    """Yield the lines of the fish script, which shtab cannot generate: one per option or word."""
    yield _preamble("fish").strip("\n")
    yield "complete -c memrepo -f"
    for name, each in commands.items():
        yield f"complete -c memrepo -n __fish_use_subcommand -a {name}" + _quoted(
            COMMANDS[name].says
        )
        for action in each._actions:  # noqa: SLF001 - argparse has no public list of actions
            if not (action.option_strings or action.choices or _named(action)):
                continue  # any text is allowed
            yield f"complete -c memrepo -n '__fish_seen_subcommand_from {name}'" + _taken(action)
    for action in parser._actions:  # noqa: SLF001
        if action.option_strings:
            yield "complete -c memrepo" + _taken(action)


def _taken(action: argparse.Action) -> str:
    """Format the flags, the values and the description of an option in fish syntax."""
    line = ""
    for flag in action.option_strings:
        line += f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}"
    names = _named(action)
    if action.nargs == 0:
        return line + _quoted(action.help)
    if action.option_strings:
        line += " -r"
    if action.choices:
        line += f" -a '{' '.join(map(str, action.choices))}'"
    elif names:
        line += " -F" if names == "files" else f" -a '(__memrepo_{names})'"
    return line + _quoted(action.help)


def _quoted(says: object) -> str:
    text = str(says or "").replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
    return f" -d '{text}'" if text else ""
