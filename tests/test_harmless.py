"""What is printed or handed out moves no cursor, hides nothing and turns no text: every face."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from driving import done, git, memrepo

from memrepo.actions.work import Call
from memrepo.core.secrets import harmless, harmless_data
from memrepo.faces.mcp import TOOLS, answer
from memrepo.memory_tool import MemoryTool

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HARM = "\x1b[2J\x07\x7f\x85\x9b31m\u2028\u2029\u202e\u2066\u200f\U000e0041\r\x00"
SEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
BY_HAND = """\
---
id: mem-0123456789abcdef
type: fact
title: "lamps %s"
---

Lamps are %s switched off at night.
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with a memory of a hand that holds all of it, and one of another's."""
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    path = repo / "memories/knowledge/2026-03/lamps-012345.md"
    path.parent.mkdir(parents=True)
    harm = HARM.replace("\x00", "")
    escaped = "".join(f"\\U{ord(char):08x}" for char in harm)
    path.write_bytes((BY_HAND % (escaped, harm)).encode())
    done(repo, "add", "Lamps are dear.")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", f"lamps {harm}", "--no-verify")
    git(repo, "branch", "odd\u202ename")
    return repo


LINES = [
    ["search", "lamps"],
    ["search", "lamps", "--explain"],
    ["show", "mem-0123456789abcdef"],
    ["why", "mem-0123456789abcdef"],
    ["log", "--memory", "mem-0123456789abcdef"],
    ["session", "show"],
    ["log"],
    ["status"],
    ["check", "--all"],
    ["doctor"],
    ["topics"],
    ["show", f"no such {HARM.replace(chr(0), '')}"],
    ["edit", "mem-0123456789abcdef", "--set", f"{HARM.replace(chr(0), '')}=1"],
    ["diff", f"x{HARM.replace(chr(0), '')}"],
]


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("line", LINES, ids=lambda line: ascii(" ".join(line))[:30])
def test_a_command_prints_nothing_that_moves_a_cursor_or_hides(
    repo: Path, line: list[str], as_json: bool
) -> None:
    (repo / ".pre-commit-config.yaml").write_text(f"repos: [] # {HARM[:-1]}\n", encoding="utf-8")
    answer = memrepo(repo, *line, as_json=as_json)
    printed = answer.out + answer.err
    if as_json:
        printed += "".join(_texts(json.loads(answer.out or answer.err.splitlines()[-1])))
    assert not SEEN.findall(printed), ascii(printed)
    assert printed


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in _texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [value] if isinstance(value, str) else []


def test_the_server_and_the_memory_tool_hand_out_nothing_of_it(repo: Path) -> None:
    call = Call(where=repo, now=NOW, actor="process:helper")
    id_ = "mem-0123456789abcdef"
    for name, arguments in (
        ("memory_search", {"query": "lamps"}),
        ("memory_get", {"id": id_}),
        ("memory_status", {}),
        ("memory_store", {"text": f"Say{HARM}", "reason": "x"}),
        ("memory_get", {"id": f"x{HARM}"}),
    ):
        reply = answer(call, TOOLS[name], arguments, "helper")
        assert not SEEN.findall(reply.text), name
    memory = MemoryTool(repo, clock=lambda: NOW)
    memory.call({"command": "create", "path": "/memories/a.md", "file_text": "Lamps\x0c."})
    assert not SEEN.findall(str(memory.call({"command": "view", "path": "/memories/a.md"})))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nbc"),
        ("a\x85b\u2028c\x0bd", "a\nb\nc\nd"),
        ("a\x1b[31mb\x9b0m", "a[31mb0m"),
        ("\u202ea\u2069\U000e0061", "a"),
        ("ل\u200cا👩\u200d🚀", "ل\u200cا👩\u200d🚀"),
    ],
    ids=["blanks", "returns", "breaks", "escapes", "bidi and tags", "joiners stay"],
)
def test_what_is_harmless(text: str, shown: str) -> None:
    assert harmless(text) == shown
    assert harmless_data({text: [text, (text,), 1, None]}) == {shown: [shown, [shown], 1, None]}
