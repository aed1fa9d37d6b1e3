"""The configuration that each client's page shows is one that starts our server."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from docs_parts import ROOT

from memrepo.faces.cli.parser import command_parser, globals_parser

PAGES = sorted((ROOT / "docs" / "clients").glob("*.md"))


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def started(words: list[str]) -> Any:
    """Parse a line that starts memrepo."""
    options = globals_parser().parse_args(words[1:])
    name, *rest = options.line
    return name, command_parser(name).parse_args(rest, namespace=options)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_client_is_told_how_to_start_the_server(page: Path) -> None:
    lines = "".join(blocks(page, "sh")).splitlines()
    found = []
    for block in blocks(page, "json"):
        (servers,) = json.loads(block).values()
        found.append([servers["memrepo"]["command"], *servers["memrepo"]["args"]])
    for line in lines:
        words = shlex.split(line)
        if words[0] == "memrepo":
            started(words)
        elif "mcp" in words and words[0] == "claude":
            found.append(words[words.index("--") + 1 :])
        elif words[:2] == ["openclaw", "mcp"]:
            server = json.loads(words[-1])
            found.append([server["command"], *server["args"]])
    assert found
    assert {started(words)[0] for words in found} == {"mcp"}
    assert all(started(words)[1].folder == "/path/to/memory" for words in found)
