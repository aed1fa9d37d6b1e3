"""Claude Code itself, with the plugin or with what `agent install` writes, on a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from docs_parts import ROOT
from driving import assert_sound, done, git, memories, operations, subjects
from hostile_files import SECRETS
from real_clients import bare_environment, installed
from scripted_model import Model, Use, model

from memrepo import __version__
from memrepo.actions.agent import CLAUDE_EVENTS, DEADLINES, FAILED, PATIENCE, hook_line

PLUGIN = ROOT / "plugins" / "claude-code"
PROGRAM = f"{Path(sys.executable).parent}/memrepo"
NOTE = (
    "---\nname: editor\ndescription: Ana edits in helix.\ntype: user\n---\n\nAna edits in helix.\n"
)


class Claude:
    """Claude Code in a home and a project of its own."""

    def __init__(self, base: Path, repo: Path) -> None:
        self.program = installed("claude-code", ".bin/claude")
        self.home, self.project, self.repo = base / "home", base / "project", repo
        self.home.mkdir()
        self.project.mkdir()

    def run(self, *words: str, **more: str) -> str:
        """Run a command and return what it prints."""
        quiet = {
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}",
            # One prompt and no second: the tools are to be there before it.
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": "30000",
        }
        ran = subprocess.run(
            [str(self.program), *words],
            cwd=self.project,
            env=bare_environment(self.home, **quiet, **more),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def says(self, prompt: str, script: Sequence[str | Use], *options: str) -> Model:
        """Put one prompt to a scripted model, and return what passed."""
        with model(*script) as said:
            at = {"ANTHROPIC_BASE_URL": said.address, "ANTHROPIC_API_KEY": "none"}
            self.run("-p", prompt, "--output-format", "json", *options, **at)
        assert not said.says, (said.aside, said.told()[-3000:])
        _wait_for_the_end(self.repo)
        return said


def _wait_for_the_end(repo: Path) -> None:
    """Wait until the note of a session has landed: its hook returns before that."""
    working = f"{repo.name} agent hook claude-code"
    for _ in range(300):
        if subprocess.run(["pgrep", "-f", working], capture_output=True, check=False).returncode:
            return
        time.sleep(0.1)
    raise AssertionError("the hook of the session's end is at work still")


def with_plugin(claude: Claude) -> tuple[str, ...]:
    claude.run("plugin", "marketplace", "add", str(ROOT))
    given = (f"repository={claude.repo}", f"program={PROGRAM}")
    options = [word for one in given for word in ("--config", one)]
    claude.run("plugin", "install", "memrepo@memrepo", *options)
    return ("--allowedTools", "mcp__plugin_memrepo_memrepo")


def with_install(claude: Claude) -> tuple[str, ...]:
    where = ("--into", claude.project, "--scope", "none")
    done(claude.repo, "agent", "install", "claude-code", *where)
    yes = {"enabledMcpjsonServers": ["memrepo"]}  # what a person answers when asked at first
    (claude.project / ".claude" / "settings.local.json").write_text(json.dumps(yes))
    return ("--allowedTools", "mcp__memrepo")


@pytest.mark.parametrize("way", [with_plugin, with_install])
def test_a_session_from_its_first_context_to_its_note(
    tmp_path: Path,
    repo: Path,
    way: Callable[[Claude], tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claude = Claude(tmp_path, repo)
    options = way(claude)
    monkeypatch.setenv("MEMREPO_ACTOR", "process:notes")  # what a person wrote would wait for them
    tea = done(repo, "add", "Ana drinks tea at four.", "--critical")["id"]
    done(repo, "promote", tea)
    said = claude.says(
        "When does Ana drink tea?",
        [
            Use("memory_search", query="tea"),
            Use("memory_store", text=f"The key is {SECRETS[0]}", reason="kept"),
            Use("memory_forget", id="nothing-of-this-name", reason="gone"),
            Use("memory_store", reason="she told me", text="Bo is in Cebu."),
            Use("memory_supersede", id=tea, text="Ana drinks tea at five.", reason="it moved"),
            "Noted.",
        ],
        *options,
    )
    begun = json.dumps(said.asked[0]["messages"])
    assert begun.count("Ana drinks tea at four.") >= 2  # known by heart, and offered to the prompt
    found, secret, nothing, stored, replaced = said.results()
    assert not found[0]
    assert tea in found[1]
    for refused, told in (secret, nothing):
        assert refused
        assert told.startswith("refused:")
    assert not stored[0]
    assert not replaced[0]
    assert operations(repo)[:3] == ["create", "supersede", "create"]
    assert subjects(repo)[0].startswith("Add note: ")
    assert subjects(repo)[1].startswith("Supersede: Ana drinks tea at five. (was: ")
    actors = git(repo, "log", "-3", "--format=%(trailers:key=Memrepo-Actor,valueonly)").split()
    assert set(actors) == {"process:claude-code"}
    note = next(m for m in memories(repo).values() if m.is_note)
    assert "When does Ana drink tea?" in note.body
    assert "It ended with: Noted." in note.body
    assert SECRETS[0] not in said.results()[1][1]
    assert_sound(repo)


def test_what_claude_code_notes_by_itself_is_taken_in_and_stays_its_own(
    tmp_path: Path, repo: Path
) -> None:
    claude = Claude(tmp_path, repo)
    options = with_plugin(claude)
    claude.says("Hello there, good day.", ["Hello."], *options)
    (kept,) = (claude.home / ".claude" / "projects").iterdir()
    own = kept / "memory"
    own.mkdir(exist_ok=True)
    (own / "MEMORY.md").write_text("- [Editor](editor.md): helix\n", encoding="utf-8")
    (own / "editor.md").write_text(NOTE, encoding="utf-8")
    before = {p.name: p.read_bytes() for p in own.iterdir()}
    for _ in range(2):
        claude.says("Which editor is it today?", ["Helix."], *options)
        claims = [m for m in memories(repo).values() if not m.is_note]
        assert [m.body for m in claims] == ["Ana edits in helix."]
        assert {p.name: p.read_bytes() for p in own.iterdir()} == before
    (own / "editor.md").write_text(NOTE.replace("helix", "kakoune"), encoding="utf-8")
    claude.says("And which editor is it now?", ["Kakoune."], *options)
    claims = [m for m in memories(repo).values() if not m.is_note]
    assert [(m.body, m.status) for m in claims] == [("Ana edits in kakoune.", "active")]
    assert_sound(repo)


def test_claude_code_finds_nothing_wrong_with_the_plugin(tmp_path: Path, repo: Path) -> None:
    claude = Claude(tmp_path, repo)
    for path in (ROOT, PLUGIN):
        assert "passed" in claude.run("plugin", "validate", "--strict", str(path))


# Without the program


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_plugin_is_of_this_version_and_the_marketplace_holds_it() -> None:
    assert read(PLUGIN / ".claude-plugin" / "plugin.json")["version"] == __version__
    (entry,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert ROOT / entry["source"] == PLUGIN
    assert entry["name"] == read(PLUGIN / ".claude-plugin" / "plugin.json")["name"]


def test_the_plugin_s_hooks_are_those_that_are_installed() -> None:
    hooks = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    assert set(hooks) == set(CLAUDE_EVENTS)
    for event, kind in CLAUDE_EVENTS.items():
        (group,) = hooks[event]
        (one,) = group["hooks"]
        line = hook_line(["PROGRAM", "-C", "REPOSITORY"], "claude-code", kind)
        program = '"${CLAUDE_PLUGIN_OPTION_PROGRAM:-memrepo}"'
        line = line.replace("PROGRAM", program).replace(
            "REPOSITORY", '"$CLAUDE_PLUGIN_OPTION_REPOSITORY"'
        )
        assert one["command"] == line
        assert one["timeout"] == PATIENCE + (0 if kind == "end" else int(DEADLINES[kind]))
        said = subprocess.run(
            ["sh", "-c", one["command"]],
            env={"CLAUDE_PLUGIN_OPTION_PROGRAM": "/nowhere/memrepo", "PATH": "/usr/bin:/bin"},
            input="{}",
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(said.stdout or "null") == (
            None if kind == "end" else {"systemMessage": FAILED}
        )


def test_the_skill_says_what_installed_instructions_say() -> None:
    skill = (PLUGIN / "skills" / "memory" / "SKILL.md").read_text(encoding="utf-8")
    told = (ROOT / "prompts" / "agent-tools.md").read_text(encoding="utf-8")
    assert skill.endswith(told)
    assert "memrepo session" not in told
