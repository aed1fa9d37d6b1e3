"""The page of agents shows configurations and commands that start our server."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from docs_parts import ROOT

from memrepo.actions import agent as hosts
from memrepo.faces.cli import command_parser, globals_parser

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def started(words: list[str]) -> Any:
    """Parse a line that starts memrepo."""
    options = globals_parser().parse_args(words[1:])
    name, *rest = options.line
    return name, command_parser(name).parse_args(rest, namespace=options)


def test_the_page_says_how_to_start_the_server() -> None:
    servers = json.loads(block("json")).values()
    found = [[s["memrepo"]["command"], *s["memrepo"]["args"]] for s in servers]
    lines = "".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    for line in lines.splitlines():
        words = shlex.split(line)
        if words[0] == "memrepo":
            started(words)
        elif words[:3] == ["claude", "mcp", "add"]:
            found.append(words[words.index("--") + 1 :])
    assert len(found) == 2
    assert {started(words)[0] for words in found} == {"mcp"}
    assert all(started(words)[1].folder == "/path/to/memory" for words in found)


def test_every_program_is_on_the_page() -> None:
    assert all(f"agent install {name}" in PAGE for name in hosts.INSTALLED)
