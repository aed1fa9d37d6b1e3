"""`memrepo help COMMAND`: help and JSON Schemas, generated from requests and results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import get_args, get_type_hints

import msgspec

from memrepo.actions.request import VerbResult
from memrepo.core.errors import UsageError
from memrepo.faces.cli.parser import (
    COMMANDS,
    canonical,
    command_parser,
)


def page(words: Sequence[str]) -> str:
    """Return the help or the JSON Schema of a command. Raise UsageError for invalid arguments."""
    match [*words]:
        case ["--schema", name]:
            return json.dumps(schema(canonical(name)), indent=2)
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


def results(name: str) -> tuple[type[VerbResult], ...]:
    """Return the types of result that a command can return."""
    do = COMMANDS[name].load().do
    told = get_type_hints(do, {**vars(import_module(COMMANDS[name].module))})["return"]
    return tuple(dict.fromkeys(each for kind in get_args(told) or (told,) for each in _kinds(kind)))


def _kinds(kind: type[VerbResult]) -> Iterator[type[VerbResult]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
