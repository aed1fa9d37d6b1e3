"""The configuration that each client's page shows is one that starts our server."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from docs_parts import ROOT
from driving import done

from memrepo.actions.setup import hosts
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
    for block in blocks(page, "toml"):
        (servers,) = tomllib.loads(block).values()
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


@pytest.mark.parametrize("host", sorted(hosts.CLIENTS))
def test_what_is_installed_is_what_the_client_s_page_shows(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ROOT / "docs" / "clients" / f"{host}.md"
    done(tmp_path, "init", tmp_path / "memory")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    client = hosts.CLIENTS[host]
    for into, file in ((tmp_path / "home", client.home), (tmp_path / "project", client.project)):
        if not file:
            continue
        assert f"{'~/' if into.name == 'home' else ''}{file}`" in page.read_text(encoding="utf-8")
        place = ("--into", into) if into.name == "project" else ()
        done(tmp_path / "memory", "agent", "install", host, *place)
        text = (into / file).read_text(encoding="utf-8")
        toml = file.endswith(".toml")
        read = tomllib.loads if toml else json.loads
        (shown,) = map(read, blocks(page, "toml" if toml else "json"))
        (entry,) = read(text)[client.key].values()
        option, folder, verb = entry["args"][-3:]
        assert (option, verb) == ("-C", "mcp")
        found = Path(folder.replace("${workspaceFolder}", str(into)))
        assert found.resolve() == tmp_path / "memory"
        assert set(entry) == set(shown[client.key]["memrepo"])
        done(tmp_path / "memory", "agent", "uninstall", host, *place)
        assert not [path for path in into.rglob("*") if path.is_file()]
