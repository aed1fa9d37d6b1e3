"""The documentation names everything that exists and nothing else, and its links work."""

from __future__ import annotations

import ast
import re
import tomllib
import typing
from functools import cache
from pathlib import Path

import docs_parts
import pytest
from docs_parts import ROOT

from memrepo.checks.rules import all_rules
from memrepo.config import KEYS, OUTSIDE
from memrepo.core.errors import Exit
from memrepo.core.layout import CONFIG_NAME
from memrepo.core.state import Op
from memrepo.faces.cli import COMMANDS, Parser, add_globals, command_parser

PAGES = docs_parts.pages()
GENERATED = [p for p in PAGES if docs_parts.PART.search(p.read_text(encoding="utf-8"))]
OPS = typing.get_args(Op)
REFERENCE = ("cli.md", "configuration.md", "files.md", "rules.md")


@cache
def text(name: str) -> str:
    """Return a page's text."""
    return (ROOT / name).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(
        rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{level}}} |\Z)", page, re.MULTILINE | re.DOTALL
    )
    assert found is not None, f"no section {heading}"
    return found[1]


def cells(part: str) -> dict[str, str]:
    """Return the rows of a section's tables: the rest of the row by its first cell."""
    return dict(re.findall(r"^\| *`?([^|`]+?)`? *\|(.*)\|$", part, re.MULTILINE))


@cache
def trees() -> tuple[ast.Module, ...]:
    """Return memrepo's source, parsed."""
    paths = sorted((ROOT / "memrepo").rglob("*.py"))
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in paths)


@cache
def calls() -> tuple[ast.Call, ...]:
    """Return every call in memrepo's source."""
    return tuple(n for tree in trees() for n in ast.walk(tree) if isinstance(n, ast.Call))


def given(keyword: str) -> set[str]:
    """Return the texts that are passed by this keyword anywhere in memrepo."""
    return {
        node.value
        for call in calls()
        for k in call.keywords
        if k.arg == keyword
        for node in ast.walk(k.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


STORE_ERRORS = tomllib.loads(text("memrepo/core/errors.toml"))


def rules() -> set[str]:
    """Return the rule of every problem that memrepo can find."""
    found = {rule for rule in given("rule") if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", rule)}
    families = {rule.partition("-")[0] for rule in {*all_rules(), *found}}
    passed = {
        word.value
        for tree in trees()
        for node in ast.walk(tree)
        for word in _passed(node)
        if isinstance(word, ast.Constant) and re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", str(word.value))
    }
    return {*all_rules(), *found, *(w for w in passed if w.partition("-")[0] in families)}


def _passed(node: ast.AST) -> list[ast.expr]:
    """Return the positional arguments of a call, and the defaults of parameters."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in STORE_ERRORS or name.endswith("Error"):
            return []  # the first argument of such an error names its text
        case ast.Call():
            return node.args
        case ast.arguments():
            return node.defaults
    return []


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_the_generated_parts_are_fresh(page: Path) -> None:
    found = page.read_text(encoding="utf-8")
    assert found == docs_parts.refreshed(found), "refresh it with: make docs"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MkDocs make them."""
    heads = re.findall(r"^#{1,6} (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8"))
    broken = []
    for name, anchor in targets:
        if "://" in name:
            continue
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{name}#{anchor}")
    assert broken == []


def test_the_program_names_only_pages_that_exist() -> None:
    shipped = [
        p
        for f in ("memrepo", "hooks", "prompts", "templates", "plugins")
        for p in sorted((ROOT / f).rglob("*"))
        if p.suffix in {".py", ".md", ".toml", ".txt", ""}
    ]
    named = {
        name
        for path in shipped
        if path.is_file() and "workspace" not in path.parts
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", path.read_text(encoding="utf-8"))
    }
    assert "docs/files.md" in named
    assert [n for n in sorted(named) if not (ROOT / n).exists()] == ["docs/retrospect.md"]


def test_every_key_and_option_that_a_page_names_exists() -> None:
    keys = {*KEYS, *OUTSIDE}
    sections = {key.partition(".")[0] for key in keys if "." in key}
    unknown = []
    for page in (p for p in PAGES if p.name != "CHANGELOG.md"):
        prose = docs_parts.PART.sub("", page.read_text(encoding="utf-8"))
        named = re.findall(r"`([a-z_]+\.[a-z_]+)(?: = [^`]*)?`", prose)
        unknown += [k for k in named if k.partition(".")[0] in sections and k not in keys]
        for command, rest in re.findall(r"(?:`|^\$ )memrepo ([a-z-]+)([^`\n|\"]*)", prose, re.M):
            options = re.findall(r"(?<!\S)--[a-z][a-z-]*", rest.split(" -- ")[0])
            if command in COMMANDS and options:
                known = {o for a in command_parser(command)._actions for o in a.option_strings}
                unknown += [f"{page.name}: {command} {o}" for o in options if o not in known]
    assert unknown == []


def words(path: Path) -> int:
    """Count the words that are written by hand: all but the generated parts."""
    return len(docs_parts.PART.sub("", path.read_text(encoding="utf-8")).split())


def test_the_documentation_stays_short() -> None:
    pages = [p for p in PAGES if p.name not in ("CHANGELOG.md", "CODE_OF_CONDUCT.md")]
    assert sum(map(words, pages)) <= 25_240
    assert len([p for p in pages if p.parent.name == "docs"]) <= 20 + len(REFERENCE)
    assert len(text("README.md").splitlines()) <= 110


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_opens_with_what_its_reader_can_do_afterwards(page: Path) -> None:
    assert page.read_text(encoding="utf-8").split("\n")[2].startswith("After this page ")
    assert words(page) <= 1650


def test_the_words_are_in_order_and_each_is_there_once() -> None:
    listed = re.findall(r"^\| \*\*([^*]+)\*\* \|", text("docs/README.md"), re.MULTILINE)
    assert listed == sorted(set(listed))
    assert len(listed) > 20


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_a_section_with_every_option(command: str) -> None:
    found = section(text("docs/cli.md"), f"### `memrepo {command}`")
    actions = docs_parts.own_actions(command_parser(command))
    words = [word for action in actions for word in action.option_strings or [action.metavar]]
    assert [w for w in words if isinstance(w, str) and w not in found] == []


def test_no_section_is_about_a_command_that_is_not_there() -> None:
    headed = re.findall(r"^### `memrepo (\S+)`$", text("docs/cli.md"), re.MULTILINE)
    assert sorted(headed) == sorted(COMMANDS)


def test_every_global_option_is_listed() -> None:
    parser = Parser(add_help=False)
    add_globals(parser, defaults=True)
    listed = section(text("docs/cli.md"), "## Global options")
    words = [word for action in parser._actions for word in action.option_strings]
    assert words
    assert [w for w in [*words, "--version", "--help"] if w not in listed] == []


def test_every_exit_code_is_explained_and_no_other() -> None:
    listed = cells(section(text("docs/cli.md"), "## Exit codes"))
    assert {k for k in listed if k.isdigit()} == {str(int(code)) for code in Exit}


def test_every_configuration_key_is_listed() -> None:
    listed = cells(section(text("docs/configuration.md"), "## Keys of `memrepo.toml`"))
    assert {*KEYS} <= set(listed)


def test_every_setting_of_a_clone_is_listed() -> None:
    source = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "memrepo").rglob("*.py"))
    keys = set(re.findall(r'^[A-Z_]+ = "(memrepo\.[a-z]+)"$', source, re.MULTILINE))
    keys -= {CONFIG_NAME}
    assert "memrepo.workspace" in keys
    listed = cells(section(text("docs/configuration.md"), "## Settings of one clone"))
    assert {k for k in listed if k.startswith("memrepo.")} == keys


def test_every_rule_of_a_problem_is_explained_and_no_other() -> None:
    listed = {k for k in cells(text("docs/rules.md")) if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", k)}
    literals = {n.value for t in trees() for n in ast.walk(t) if isinstance(n, ast.Constant)}
    joined = {"corrected-left-out", "rejected-left-out"}
    assert sorted(rules() - listed) == []
    assert sorted(listed - rules() - literals - joined) == []


def test_every_operation_is_in_the_git_model() -> None:
    assert set(OPS) <= set(cells(section(text("docs/git-model.md"), "## Operations")))
