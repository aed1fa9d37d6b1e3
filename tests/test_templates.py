"""What init writes is valid, views keep their page rules, and shipped folders are found."""

from __future__ import annotations

import re
import string
import subprocess
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml
from docs_parts import ROOT

from memrepo.config import DEFAULTS, JUDGES, KEYS, parse_config
from memrepo.core.layout import asset
from memrepo.faces.cli import COMMANDS, command_parser, globals_parser
from memrepo.faces.mcp import TOOLS
from memrepo.read.sources import SourceRules

VALUES = {
    "profile": "personal",
    "timezone": '"Asia/Manila"',
    "human_authors": '["mara@example.org"]',
}


def test_what_the_template_sets_is_the_default_in_force() -> None:
    text = asset("templates", "repo", "memrepo.toml").read_text(encoding="utf-8")
    config = parse_config(string.Template(text).substitute(VALUES))
    for name in ("schedule.timeout_s", "reporting.enabled"):
        assert config.value(KEYS[name]) == DEFAULTS[name]
    assert f'# mode = "{DEFAULTS["reporting.mode"]}"' in text


def test_the_commented_judge_settings_are_the_defaults_in_force() -> None:
    text = asset("templates", "repo", "memrepo.toml").read_text(encoding="utf-8")
    _, shown = text.split("\n[judge]\n")
    lines = [line.removeprefix("# ") for line in shown.split("\n")]
    told = tomllib.loads("\n".join(line for line in lines if re.match(r"[\w-]+ = |\[", line)))
    prices = {name: tuple(four) for name, four in told.pop("judge")["prices"].items()}
    assert prices == DEFAULTS["judge.prices"]
    assert told
    assert told == {key: DEFAULTS[f"judge.{key}"] for key in told}


def test_the_commented_sources_are_the_defaults_in_force() -> None:
    text = asset("templates", "repo", "memrepo.toml").read_text(encoding="utf-8")
    shown = re.findall(r"(?ms)^# (\w+ = \[.*?\])$", text)
    sources = tomllib.loads("\n".join(shown).replace("\n#", "\n"))
    rules = SourceRules()
    assert {key: tuple(patterns) for key, patterns in sources.items()} == {
        "claims": rules.claims,
        "notes": rules.notes,
        "folders": rules.folders,
        "search": rules.search,
        "deny": rules.deny,
    }


def test_the_hook_configuration_runs_check_on_memories_only() -> None:
    text = asset("templates", "repo", "pre-commit-config.yaml").read_text(encoding="utf-8")
    (hook,) = yaml.safe_load(text)["repos"][0]["hooks"]
    assert hook["entry"] == "memrepo check"
    assert re.search(hook["files"], "memories/preferences/2026-01/editor-a1b2c3.md")
    assert not re.search(hook["files"], "sources/memories/old.md")


@pytest.mark.parametrize(
    ("path", "merge", "text", "generated"),
    [
        ("memories/notes/2026-01/05/a.md", "unset", "unset", "unspecified"),
        ("views/LTMEMORY.md", "unset", "unset", "set"),
        ("runs/2026-01/20260101T000000Z-01234567.json", "unset", "unset", "set"),
        ("memrepo.toml", "unspecified", "unspecified", "unspecified"),
    ],
)
def test_git_reads_the_attributes_as_they_are_meant(
    tmp_path: Path, path: str, merge: str, text: str, generated: str
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    written = asset("templates", "repo", "gitattributes").read_bytes()
    (tmp_path / ".gitattributes").write_bytes(written)
    answer = subprocess.run(
        ["git", "check-attr", "merge", "text", "linguist-generated", "--", path],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = [line.rsplit(": ", 1)[1] for line in answer.stdout.splitlines()]
    assert found == [merge, text, generated]


LOCKED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==", re.MULTILINE)


NAMES = LOCKED.findall((ROOT / "requirements.lock").read_text(encoding="utf-8"))


FIT = re.compile(
    r"(?:MIT|BSD|ISC|Apache|PSF|MPL-2\.0|Python Software Foundation)[\w .()-]*", re.IGNORECASE
)
"""Licences under which a package may come with one that is under MIT."""


def licence(package: str) -> str:
    """Return the licence that an installed package names."""
    found = metadata(package)
    if text := found.get("License-Expression") or found.get("License") or "":
        return text.strip().split("\n")[0]
    kinds = (c for c in found.get_all("Classifier") or () if c.startswith("License ::"))
    return ", ".join(c.rpartition(" :: ")[2] for c in kinds)


@pytest.mark.parametrize("package", NAMES)
def test_a_package_of_the_lock_has_a_licence_that_fits(package: str) -> None:
    said = licence(package)
    parts = re.split(r", | OR | AND ", said)
    assert said
    assert [part for part in parts if not FIT.fullmatch(part)] == []


SHIPPED = [
    path
    for folder in ("plugins", "prompts", "templates")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and not {"demo", "test", "node_modules"} & {*path.parts}
]
_CALLS = re.compile(r"""(?:[`$>]|:-)memrepo[}\\"]* (?:-C \S+ )?([a-z][a-z-]*)([^`|>\n]*)""")
_SCRIPT_CALLS = re.compile(r"^ *(?:- run: )?memrepo (?:-C \S+ )?([a-z]+)(?= )([^|>\n]*)", re.M)
_TOOL = re.compile(r"\bmemory_[a-z_]+[a-z]\b")
_DIRECTIVE = re.compile(r"\[\[.*?\]\]")


@pytest.mark.parametrize(
    "path", [path for path in SHIPPED if path.suffix != ".js"], ids=lambda path: path.name
)
def test_a_shipped_file_names_only_commands_and_options_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    calls = _CALLS.findall(text) + (_SCRIPT_CALLS.findall(text) if "forge" in path.parts else [])
    for name, rest in calls:
        assert name in COMMANDS, name
        actions = (*globals_parser()._actions, *command_parser(name)._actions)
        known = {option for action in actions for option in action.option_strings}
        assert {*re.findall(r"(?<!\S)--?[A-Za-z][a-z-]*", rest)} <= known, name


@pytest.mark.parametrize(
    "path", [path for path in SHIPPED if "templates" not in path.parts], ids=lambda path: path.name
)
def test_a_shipped_file_names_only_tools_that_the_server_has(path: Path) -> None:
    text = _DIRECTIVE.sub("", path.read_text(encoding="utf-8"))
    assert {*_TOOL.findall(text)} <= {*TOOLS}


def test_every_key_of_the_configuration_that_init_writes_is_a_key() -> None:
    text, section, found = asset("templates", "repo", "memrepo.toml").read_text("utf-8"), "", []
    for line in text.splitlines():
        if heading := re.fullmatch(r"(?:# )?\[([\w.]+)\]", line):
            section = f"{heading[1]}."
        elif key := re.match(r"(?:# )?([\w]+) = ", line):
            found.append(f"{section}{key[1]}")
    named = {name for name in found if not name.startswith(("decay.ttl.", "judge.prices."))}
    assert sorted(named - KEYS.keys()) == []
    assert all(judge in text for judge in JUDGES)
