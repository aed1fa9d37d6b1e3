"""The page of agents shows configurations and commands that start our server."""

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

from memrepo.actions.setup import agent as hosts
from memrepo.faces.cli.parser import command_parser, globals_parser

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
    servers = (*json.loads(block("json")).values(), *tomllib.loads(block("toml")).values())
    found = [[s["memrepo"]["command"], *s["memrepo"]["args"]] for s in servers]
    lines = "".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    for line in lines.splitlines():
        words = shlex.split(line)
        if words[0] == "memrepo":
            started(words)
        elif words[:3] == ["claude", "mcp", "add"]:
            found.append(words[words.index("--") + 1 :])
        elif words[:2] == ["openclaw", "mcp"]:
            server = json.loads(words[-1])
            found.append([server["command"], *server["args"]])
    assert len(found) == 4
    assert {started(words)[0] for words in found} == {"mcp"}
    assert all(started(words)[1].folder == "/path/to/memory" for words in found)


@pytest.mark.parametrize("host", sorted(name for name, one in hosts.HOSTS.items() if one.is_client))
def test_what_is_installed_is_what_the_page_shows(
    host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(tmp_path, "init", tmp_path / "memory")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    client = hosts.HOSTS[host]
    for into, file in ((tmp_path / "home", client.home), (tmp_path / "project", client.project)):
        if not file:
            continue
        assert f"| `{host}` |" in PAGE
        assert f"{'~/' if into.name == 'home' else ''}{file}`" in PAGE
        place = ("--into", into) if into.name == "project" else ()
        done(tmp_path / "memory", "agent", "install", host, *place)
        toml = file.endswith(".toml")
        read = tomllib.loads if toml else json.loads
        (shown,) = read(block("toml" if toml else "json")).values()
        (entry,) = read((into / file).read_text(encoding="utf-8"))[client.key].values()
        option, folder, verb = entry["args"][-3:]
        assert (option, verb) == ("-C", "mcp")
        found = Path(folder.replace("${workspaceFolder}", str(into)))
        assert found.resolve() == tmp_path / "memory"
        assert set(entry) == {*shown["memrepo"], *client.entry}
        assert all(f'"{key}": "{value}"' in PAGE for key, value in client.entry.items())
        done(tmp_path / "memory", "agent", "uninstall", host, *place)
        assert not [path for path in into.rglob("*") if path.is_file()]
