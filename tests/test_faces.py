"""Every face says of a verb what its request and result say: parser, JSON, tools, Python, texts."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from docs_parts import ROOT
from driving import done

from memrepo import OpenRepository, open_repository
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Option, Unfit, VerbResult, checked, choices_of
from memrepo.core.memory import defaults_of
from memrepo.faces.cli import COMMANDS, add_fields, command_parser, main, request_of
from memrepo.faces.mcp import TOOLS, Tool
from memrepo.faces.text import wording

METHODS = [
    name for name in VERBS if callable(getattr(OpenRepository, name, None)) and name != "add"
]
"""Methods that are a verb; `add` is of records that Python alone has."""
OURS = {"self", "now"}
NAMES = {"query": "words"}


def options(name: str) -> Iterator[tuple[str, Any, msgspec.Meta, Option]]:
    """Yield the fields of a verb's request with what is declared of each."""
    hints = get_type_hints(VERBS[name].load().Request, include_extras=True)
    for field in VERBS[name].load().Request.__struct_fields__:
        type_, meta = get_args(hints[field])
        yield field, type_, meta, meta.extra["option"]


def results(name: str) -> tuple[type, ...]:
    """Return the kinds of record that a verb answers with."""
    module = import_module(VERBS[name].module)
    answer = VERBS[name].load().do
    words = [word.strip() for word in answer.__annotations__["return"].split("|")]
    late = {  # what only a type checker imports
        alias.asname or alias.name: getattr(import_module(node.module), alias.name)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if (alias.asname or alias.name) in words
    }
    return tuple(late.get(word) or getattr(module, word) for word in words)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_a_request_and_a_typed_result(name: str) -> None:
    verb = VERBS[name].load()
    assert list(inspect.signature(verb.do).parameters) == ["work", "request"]
    assert all(issubclass(kind, VerbResult) for kind in results(name))
    for kind in results(name):
        schema = msgspec.json.schema(kind)
        record = schema["$defs"][schema["$ref"].rpartition("/")[2]]
        bare = record["properties"].keys() == {"exit", "notices"}
        assert bare == (kind.__name__ == "Ended"), "only the end of a session has nothing to report"
    config = verb.Request.__struct_config__
    assert config.frozen
    assert all(meta.description and meta.description.strip() for _, _, meta, _ in options(name))
    fields = set(verb.Request.__struct_fields__)
    needed = {"dry_run"} if name == "purge" else {"dry_run", "reason"}  # a purge adds no commit
    assert not VERBS[name].writes or fields >= needed


@pytest.mark.parametrize("name", VERBS)
def test_the_command_line_takes_what_the_request_holds(name: str) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_fields(parser, VERBS[name].load().Request)
    actions = {action.dest: action for action in parser._actions}
    assert set(actions) == set(VERBS[name].load().Request.__struct_fields__)
    for field, type_, meta, known in options(name):
        assert tuple(actions[field].option_strings) == known.flags
        assert (actions[field].help or "").replace("%%", "%") == meta.description
        assert tuple(actions[field].choices or ()) == choices_of(type_, meta)


def line(name: str) -> list[str]:
    """Return the shortest command line of a verb."""
    words = []
    for field, type_, meta, known in options(name):
        default = defaults_of(VERBS[name].load().Request)[field]
        if default is not msgspec.NODEFAULT or (get_origin(type_) is tuple and not known.least):
            continue
        value = next(iter(choices_of(type_, meta)), "1")
        words += [known.flags[0], value] if known.flags else [value]
    return words


@pytest.mark.parametrize("name", VERBS)
def test_what_is_left_out_is_the_default_of_the_request(name: str) -> None:
    request = request_of(name, command_parser(name).parse_args(line(name)))
    for field, default in defaults_of(type(request)).items():
        if default is not msgspec.NODEFAULT:
            assert getattr(request, field) == default
    checked(request)


@pytest.mark.parametrize("name", VERBS)
def test_a_result_has_a_wording_of_its_verb_s_name(name: str) -> None:
    assert callable(wording(name))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_takes_fields_of_its_verb(tool: Tool) -> None:
    fields = {field: (type_, meta, known) for field, type_, meta, known in options(tool.verb)}
    schema = tool.input_schema()["properties"]
    for name, argument in tool.arguments.items():
        type_, meta, _ = fields[argument.field or name]
        found = schema[name]
        several = get_origin(type_) is tuple and not argument.one
        assert (found.get("type") == "array") is several
        inner = found["items"] if several else found
        assert tuple(inner.get("enum", ())) == choices_of(type_, meta)
    assert set(tool.own) & set(fields) <= {"max_tokens"}
    assert tool.writes is (VERBS[tool.verb].writes and not tool.reads)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_fields_of_its_verb(name: str) -> None:
    request = VERBS[name].load().Request
    defaults = defaults_of(request)
    for key, parameter in inspect.signature(getattr(OpenRepository, name)).parameters.items():
        if key in OURS or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        field = NAMES.get(key, key)
        assert field in defaults
        if parameter.default is not inspect.Parameter.empty:
            assert parameter.default == defaults[field]


def test_help_shows_the_verbs_of_every_day() -> None:
    assert sum(verb.everyday for verb in COMMANDS.values()) == 19


def test_every_verb_is_a_method(tmp_path: Path) -> None:
    done(tmp_path, "init", tmp_path / "repo")
    with open_repository(
        tmp_path / "repo", clock=lambda: datetime(2026, 3, 1, 9, tzinfo=UTC)
    ) as memory:
        assert all(callable(getattr(memory, name.replace("-", "_"))) for name in VERBS)
        made = memory.add("The kiln has four doors.")
        assert memory.status().types == {"fact": 1}
        assert memory.related(made).related == ()
        assert memory.pin(id=made, dry_run=True).memories == (made,)
        with pytest.raises(AttributeError, match="no attribute 'bake'"):
            memory.bake()


@pytest.mark.parametrize(
    ("verb", "fields", "at_fault"),
    [
        ("search", {"words": ("tea",), "limit": 0}, "limit"),
        ("search", {"words": ("tea",), "types": ("rumour",)}, "types"),
        ("search", {"words": ("tea",), "recency_weight": 1.5}, "recency_weight"),
        ("link", {"id": "a", "type": "likes", "target": "b"}, "type"),
    ],
)
def test_a_field_outside_its_bounds_is_refused_by_name(
    verb: str, fields: dict[str, Any], at_fault: str
) -> None:
    with pytest.raises(Unfit, match=f"^{at_fault}: found"):
        checked(VERBS[verb].load().Request(**fields))


def test_no_module_outside_the_command_line_knows_its_parser() -> None:
    for path in sorted((ROOT / "memrepo").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name not in ("cli.py", "commands.py"):
            assert "argparse" not in text, path
    assert set(COMMANDS) - set(VERBS) == {"demo", "mcp", "completion", "serve"}


def test_a_folder_that_is_gone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone, back = tmp_path / "gone", Path.cwd()
    done(tmp_path, "init", tmp_path / "notes")
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    try:
        assert main(["status"]) == 2
        with open_repository(tmp_path / "notes") as memory:
            assert not memory.search("tea")
    finally:
        os.chdir(back)
    assert "the current folder was deleted" in capsys.readouterr().err
