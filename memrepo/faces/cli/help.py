"""`memrepo help COMMAND`, `--man` and `--schema`: pages made from the records of the commands."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import get_args, get_type_hints

import msgspec

from memrepo import __version__
from memrepo.actions.result import Result
from memrepo.core.errors import Exit, UsageError
from memrepo.faces.cli.parser import (
    COMMANDS,
    GROUPS,
    canonical,
    command_parser,
    globals_parser,
)

_ELSEWHERE = ("memrepo.actions.past.blame", "memrepo.actions.past.history")
"""Where results lie that a verb names without importing them."""
_EXITS = {
    Exit.DONE: "done",
    Exit.NO: "what was asked about is not so, or was not found",
    Exit.USAGE: "the command line or the configuration is wrong",
    Exit.DECIDE: "a person has to decide",
    Exit.MODEL: "the judge failed, or its budget is spent; what was judged landed",
    Exit.REPOSITORY: "git or the file system refused",
    Exit.LOCKED: "another memrepo writes, and did not end within the time to wait",
    Exit.BUG: "a bug of memrepo's",
}
_ENVIRONMENT = (
    ("MEMREPO_ACTOR", "who acts; an agent sets it, so as never to pass for you"),
    ("MEMREPO_SCOPE", "the scope that the caller is bound to"),
    ("MEMREPO_SESSION", "the session that a retrieval counts for"),
    ("MEMREPO_PAGER, PAGER", "what shows a text that is longer than the terminal"),
    ("VISUAL, EDITOR", "the editor that edit, review and config open"),
    ("NO_COLOR", "print no colours"),
)


def page(words: Sequence[str]) -> str:
    """Return what is asked for: the help of a command, a manual page, or a JSON Schema."""
    match [*words]:
        case ["--man"]:
            return _roff("memrepo", "an agent's memory as plain markdown in git", _whole())
        case ["--man", name]:
            parser, name = command_parser(name), canonical(name)
            return _roff(f"memrepo-{name}", COMMANDS[name].says, _one(parser, name))
        case ["--schema", name]:
            return json.dumps(schema(canonical(name)), indent=2)
        case [name] if not name.startswith("-"):
            return command_parser(name).format_help().rstrip("\n")
    raise UsageError(
        f"memrepo: help {' '.join(words)}: found no such page",
        fix="`memrepo help [--all | COMMAND | --man [COMMAND] | --schema COMMAND]`",
    )


# -- JSON Schema -----------------------------------------------------------------------------------


def schema(name: str) -> dict[str, object]:
    """Return the JSON Schema of what a command answers with `--json`: one of its results."""
    command_parser(name)
    kinds = results(name)
    refs, parts = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    for kind, ref in zip(kinds, refs, strict=True):
        answer = parts[ref["$ref"].rpartition("/")[2]]
        for key in ("exit", "notices", *kind.beside):
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


def results(name: str) -> tuple[type[Result], ...]:
    """Return the records that a command may answer with."""
    module = COMMANDS[name].load()
    known = {kind.__name__: kind for each in _ELSEWHERE for kind in _structs(each)}
    told = get_type_hints(module.do, {**known, **vars(module)})["return"]
    return tuple(dict.fromkeys(each for kind in get_args(told) or (told,) for each in _kinds(kind)))


def _kinds(kind: type[Result]) -> Iterator[type[Result]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)


def _structs(module: str) -> Iterator[type[msgspec.Struct]]:
    for value in vars(import_module(module)).values():
        if isinstance(value, type) and issubclass(value, msgspec.Struct):
            yield value


# -- manual pages ----------------------------------------------------------------------------------


def _roff(title: str, says: str, sections: Iterator[str]) -> str:
    head = f'.TH {title.upper()} 1 "" "memrepo {__version__}" "memrepo"'
    return "\n".join([head, ".SH NAME", f"{_plain(title)} \\- {_plain(says)}", *sections])


def _whole() -> Iterator[str]:
    parser = globals_parser()
    yield from _synopsis(parser)
    yield ".SH DESCRIPTION"
    yield _plain(parser.description or "")
    yield "Without a command it shows the status."
    for group, verbs in GROUPS.items():
        yield f".SH {_plain(group.upper())}"
        yield from _entries((verb.name, verb.says) for verb in verbs)
    yield from _options(parser)
    yield ".SH EXIT STATUS"
    yield from _entries((str(int(code)), says) for code, says in _EXITS.items())
    yield ".SH ENVIRONMENT"
    yield from _entries(_ENVIRONMENT)


def _one(parser: argparse.ArgumentParser, name: str) -> Iterator[str]:
    yield from _synopsis(parser)
    yield ".SH DESCRIPTION"
    yield _plain(parser.description or "")
    yield from _options(parser)
    yield ".SH SEE ALSO"
    yield f"\\fBmemrepo\\fR(1); \\fBmemrepo help \\-\\-schema {_plain(name)}\\fR for \\-\\-json"


def _synopsis(parser: argparse.ArgumentParser) -> Iterator[str]:
    used = " ".join(parser.format_usage().removeprefix("usage: ").split())
    yield from (".SH SYNOPSIS", ".nf", *map(_plain, textwrap.wrap(used, 72)), ".fi")


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield ".SH OPTIONS"
    form = parser._get_formatter()  # noqa: SLF001 - how argparse spells an option in its help
    yield from _entries(
        (form._format_action_invocation(action), action.help or "")  # noqa: SLF001
        for action in parser._actions  # noqa: SLF001
        if action.help != argparse.SUPPRESS
    )


def _entries(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, says in rows:
        yield from (".TP", f"\\fB{_plain(name)}\\fR", _plain(says.replace("%%", "%")))


def _plain(text: str) -> str:
    """Let a text stand for itself in roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
