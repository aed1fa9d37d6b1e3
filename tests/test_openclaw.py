"""The plugin for OpenClaw: its own tests, and OpenClaw itself on a scripted model."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from docs_parts import ROOT
from driving import assert_sound, done, git, memories, operations
from real_clients import bare_environment, installed
from scripted_model import Model, Use, model

from memrepo import __version__
from memrepo.faces.mcp import TOOLS

PLUGIN = ROOT / "plugins" / "openclaw"
PROGRAM = f"{Path(sys.executable).parent}/memrepo"


def read(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def test_the_plugin_offers_the_tools_that_there_are() -> None:
    assert read("tools.json") == [
        {
            "name": tool.name,
            "label": tool.title,
            "description": tool.description,
            "parameters": tool.listed_schema(),
        }
        for tool in TOOLS.values()
    ]
    assert read("openclaw.plugin.json")["contracts"]["tools"] == [*TOOLS]


def test_the_plugin_is_of_this_version() -> None:
    assert read("package.json")["version"] == __version__
    assert read("openclaw.plugin.json")["version"] == __version__


def test_the_plugin_s_own_tests_pass() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not there")
    ran = subprocess.run(
        [node, "--test", "test/plugin.test.js"],
        cwd=PLUGIN,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout


class OpenClaw:
    """OpenClaw in a home of its own, whose memory slot is the plugin."""

    def __init__(self, base: Path, repo: Path) -> None:
        self.program = installed("openclaw", "openclaw/openclaw.mjs")
        self.node = installed("node", ".bin/node")
        self.home, self.repo = base / "home", repo
        (self.home / ".openclaw").mkdir(parents=True)

    def says(self, prompt: str, *script: str | Use) -> Model:
        """Put one prompt to a scripted model, and return what passed."""
        with model(*script) as said:
            self._configure(said.address)
            session = ("--agent", "main", "--session-key", "agent:main:one")
            ran = subprocess.run(
                [str(self.node), str(self.program), "agent", "--local", *session, "-m", prompt],
                cwd=self.home,
                env=bare_environment(self.home),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=170,
                check=False,
            )
        assert ran.returncode == 0, ran.stderr
        assert not said.says, (ran.stderr, said.aside)
        return said

    @contextmanager
    def gateway(self, *script: str) -> Iterator[None]:
        """Keep a gateway at work on a scripted model; at its end it is stopped and waited for."""
        with model(*script) as said, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            free.close()
            self._configure(said.address, port)
            words = [str(self.node), str(self.program), "gateway", "run"]
            with subprocess.Popen(
                words,
                cwd=self.home,
                env=bare_environment(self.home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as child:
                try:
                    assert self._is_up(child, port)
                    yield
                finally:
                    child.terminate()

    def _is_up(self, child: subprocess.Popen[bytes], port: int) -> bool:
        late = time.monotonic() + 150
        while time.monotonic() < late and child.poll() is None:
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    return True
            time.sleep(0.5)
        return False

    def tell(self, prompt: str) -> None:
        """Put a prompt to the gateway, in the same session as the one before."""
        session = ("--agent", "main", "--session-key", "agent:main:one")
        subprocess.run(
            [str(self.node), str(self.program), "agent", *session, "-m", prompt],
            cwd=self.home,
            env=bare_environment(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=170,
            check=True,
        )

    def _configure(self, address: str, port: int = 18789) -> None:
        one = {"id": "one", "name": "One", "contextWindow": 200_000, "maxTokens": 8000}
        provider = {
            "baseUrl": address,
            "apiKey": "none",
            "api": "anthropic-messages",
            "models": [{**one, "input": ["text"]}],
        }
        ours = {
            "enabled": True,
            "hooks": {"allowConversationAccess": True},
            "config": {"repository": str(self.repo), "program": PROGRAM},
        }
        whole = {
            "gateway": {
                "mode": "local",
                "port": port,
                "bind": "loopback",
                "auth": {"mode": "token", "token": "one"},
            },
            "agents": {
                "defaults": {
                    "model": {"primary": "scripted/one"},
                    "workspace": str(self.home / "workspace"),
                }
            },
            "models": {"providers": {"scripted": provider}},
            "plugins": {
                "load": {"paths": [str(PLUGIN)]},
                "slots": {"memory": "memrepo"},
                "allow": ["memrepo"],
                "entries": {"memrepo": ours},
            },
        }
        (self.home / ".openclaw" / "openclaw.json").write_text(json.dumps(whole))


def test_openclaw_searches_stores_and_reads_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = tmp_path / "repo"
    monkeypatch.setenv("MEMREPO_ACTOR", "process:notes")  # what a person wrote would wait for them
    done(tmp_path, "init", repo)
    claw = OpenClaw(tmp_path, repo)
    tea = done(repo, "add", "Ana drinks tea at four.")["id"]
    own = claw.home / "workspace" / "USER.md"
    own.parent.mkdir()
    own.write_text("# User\n\n- Name: Ana, who keeps bees\n", encoding="utf-8")
    said = claw.says(
        "When does Ana drink tea?",
        Use("memory_search", query="tea"),
        Use("memory_forget", id="nothing-of-this-name", reason="gone"),
        Use("memory_store", reason="he told me", text="Bo sings."),
        Use("memory_supersede", id=tea, text="Ana drinks tea at five.", reason="it moved"),
        "Noted.",
    )
    # Before anything was asked for, the prompt itself was offered what fits it.
    assert "Ana drinks tea at four." in json.dumps(said.asked[0]["messages"])
    assert "who keeps bees" in json.dumps(said.asked[0]), "OpenClaw's own USER.md is left out"
    found, refused, stored, replaced = (text for _, text in said.results())
    assert tea in found
    assert "no memory is called" in refused
    assert "create mem-" in stored
    assert "supersede mem-" in replaced
    assert operations(repo)[:2] == ["supersede", "create"]
    actors = git(repo, "log", "-2", "--format=%(trailers:key=Memrepo-Actor,valueonly)").split()
    assert actors == ["process:openclaw"] * 2
    kept = list((repo / ".git" / "memrepo" / "captured").glob("*.json"))
    assert [json.loads(path.read_text())["reply"] for path in kept] == ["Noted."]
    assert_sound(repo)


def test_a_session_ends_in_a_note_after_a_new_one_was_asked_for(repo: Path, tmp_path: Path) -> None:
    claw = OpenClaw(tmp_path, repo)
    with claw.gateway("Tea at four.", "It is five."):
        claw.tell("When does Ana drink tea?")
        claw.tell("/new")  # which the gateway answers, and no model
        claw.tell("What time is it now?")
    notes = sorted(m.body for m in memories(repo).values())
    assert notes == [
        "- What time is it now?\n\nIt ended with: It is five.",
        "- When does Ana drink tea?\n\nIt ended with: Tea at four.",
    ]
    assert_sound(repo)
