"""Claude's memory tool over a repository: the SDK's runner, and a server that plays the model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from docs_parts import ROOT
from driving import assert_sound, done, git, memories, operations, subjects
from hostile_files import SECRETS
from hypothesis import given
from hypothesis import strategies as st
from serving import Act, Service, serving

from memrepo.memory_tool import FileRefused, MemoryTool, name_of, text_of


@pytest.fixture
def tool(repo: Path) -> MemoryTool:
    return MemoryTool(repo, clock=lambda: datetime(2026, 3, 1, 9, 0, tzinfo=UTC))


def call(tool: MemoryTool, command: str, **more: Any) -> str:
    said = tool.call({"command": command, **more})
    assert isinstance(said, str)
    return said


def refused(tool: MemoryTool, command: str, **more: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(tool, command, **more)
    return str(caught.value)


def create(tool: MemoryTool, path: str, text: str = "Text.") -> None:
    call(tool, "create", path=f"/memories/{path}", file_text=text)


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as found:
        yield found


def turn(block: dict[str, Any], stop: str) -> Act:
    """Return a turn of the model: one block, and why it stopped."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return Act(raw=json.dumps(message).encode())


def used(command: str, **more: Any) -> Act:
    """Return a turn of the model that calls the memory tool."""
    given = {"command": command, **more}
    return turn({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": given}, "tool_use")


def test_claude_keeps_its_memory_in_the_repository(
    repo: Path, tool: MemoryTool, service: Service
) -> None:
    path = "/memories/customers/ana.md"
    service.script = [
        used("view", path="/memories"),
        used("create", path=path, file_text="Ana drinks tea.\nShe lives in Cebu.\n"),
        used("str_replace", path=path, old_str="tea", new_str="coffee"),
        used("insert", path=path, insert_line=0, insert_text="# Ana\n"),
        used("view", path=path, view_range=[2, -1]),
        used("rename", old_path=path, new_path="/memories/ana.md"),
        used("view", path="/memories/../etc/passwd"),
        used("delete", path="/memories/ana.md"),
        turn({"type": "text", "text": "done"}, "end_turn"),
    ]
    client = Anthropic(api_key="key", base_url=service.url, max_retries=0)
    last = client.beta.messages.tool_runner(
        model="claude-test",
        max_tokens=100,
        tools=[tool],
        messages=[{"role": "user", "content": "Remember Ana."}],
    ).until_done()
    assert last.content[0].text == "done"
    assert service.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [turn["messages"][-1]["content"][0] for turn in service.asked[1:]]
    told = [r["content"] for r in results]
    assert told[0].endswith("\t/memories")
    assert told[1] == f"File created successfully at: {path}"
    assert told[2].endswith("     1\tAna drinks coffee.\n     2\tShe lives in Cebu.\n     3\t")
    assert told[4].endswith("     2\tAna drinks coffee.\n     3\tShe lives in Cebu.\n     4\t")
    assert [r.get("is_error", False) for r in results] == [*[False] * 6, True, False]
    assert operations(repo)[:5] == ["forget", "edit", "reword", "reword", "create"]
    said = git(repo, "log", "-1", "--format=%(trailers:key=Memrepo-Actor,valueonly)").strip()
    assert said == "process:claude"
    assert_sound(repo)


def test_the_lines_of_the_documentation_run(
    repo: Path,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(repo.parent)
    repo.rename(repo.with_name("memory"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
    service.script = [
        used("create", path="/memories/ana.md", file_text="Ana drinks tea."),
        turn({"type": "text", "text": "Noted."}, "end_turn"),
    ]
    exec(block, {})
    assert "Noted." in capsys.readouterr().out
    (memory,) = memories(repo.with_name("memory")).values()
    assert memory.body == "Ana drinks tea."


def test_a_file_is_a_memory_like_others(repo: Path, tool: MemoryTool) -> None:
    create(tool, "customers/ana.md", "Ana drinks tea.")
    (hit,) = done(repo, "search", "tea")["hits"]
    assert hit["trust"] == "unverified"
    (memory,) = memories(repo).values()
    assert memory.title == "customers/ana.md"
    assert memory.fields["decay"] == "permanent"
    done(repo, "edit", hit["id"], "--text", "Ana drinks coffee.")
    assert "coffee" in call(tool, "view", path="/memories/customers/ana.md")
    with pytest.raises(ToolError, match="a person wrote, confirmed, pinned or promoted it"):
        call(tool, "delete", path="/memories/customers")
    done(repo, "forget", hit["id"])
    assert done(repo, "search", "coffee")["hits"] == []
    done(repo, "restore", hit["id"])
    assert "coffee" in call(tool, "view", path="/memories/customers/ana.md")


def test_a_directory_is_renamed_and_deleted_in_one_commit(repo: Path, tool: MemoryTool) -> None:
    create(tool, "a/x.md")
    create(tool, "a/b/y.md", "Other.")
    before = len(subjects(repo))
    call(tool, "rename", old_path="/memories/a", new_path="/memories/c")
    assert "/memories/c/b/" in call(tool, "view", path="/memories")
    call(tool, "delete", path="/memories/c")
    assert call(tool, "view", path="/memories").count("\n") == 1
    assert len(subjects(repo)) == before + 2


@pytest.mark.parametrize(
    ("command", "more", "said"),
    [
        ("view", {"path": "/memories/no.md"}, "does not exist"),
        ("create", {"path": "/memories/a.md", "file_text": "x"}, "already exists"),
        ("create", {"path": "/memories/a.md/b.md", "file_text": "x"}, "Not a directory"),
        ("create", {"path": "/memories/d", "file_text": "x"}, "already exists"),
        ("create", {"path": "/memories", "file_text": "x"}, "already exists"),
        ("create", {"path": "/memories/e.md", "file_text": "x" * 100_001}, "at most 100000"),
        ("create", {"path": "/memories/e.md", "file_text": "---\na: b\n---\nc"}, "begin it with"),
        ("create", {"path": "/memories/e.md", "file_text": "a\0b"}, "NUL character, leave it out"),
        ("create", {"path": "/memories/e.md", "file_text": "a\ud800"}, "whole character"),
        ("create", {"path": "/memories/e.md", "file_text": f"key {SECRETS[0]}"}, "secret"),
        ("str_replace", {"path": "/memories/a.md", "old_str": "no", "new_str": ""}, "verbatim"),
        (
            "str_replace",
            {"path": "/memories/a.md", "old_str": "t", "new_str": ""},
            "lines: 1, 1, 2.",
        ),
        ("str_replace", {"path": "/memories/a.md", "old_str": "", "new_str": "x"}, "Multiple"),
        ("str_replace", {"path": "/memories/no.md", "old_str": "x", "new_str": ""}, "not exist"),
        ("insert", {"path": "/memories/a.md", "insert_line": 3, "insert_text": "x"}, "[0, 2]"),
        ("insert", {"path": "/memories/a.md", "insert_line": -1, "insert_text": "x"}, "[0, 2]"),
        ("delete", {"path": "/memories"}, "itself"),
        ("delete", {"path": "/memories/no"}, "does not exist"),
        ("rename", {"old_path": "/memories/a.md", "new_path": "/memories/d/b.md"}, "exists"),
        ("rename", {"old_path": "/memories/d", "new_path": "/memories/d/e"}, "Invalid"),
        ("rename", {"old_path": "/memories", "new_path": "/memories/d"}, "itself"),
        ("rename", {"old_path": "/memories/no", "new_path": "/memories/x"}, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(
    repo: Path, tool: MemoryTool, command: str, more: dict[str, Any], said: str
) -> None:
    create(tool, "a.md", "tt\nt")
    create(tool, "d/b.md")
    head = git(repo, "rev-parse", "HEAD")
    assert said in refused(tool, command, **more)
    assert git(repo, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/etc/passwd", "memories/a", "/memoriesa", "/memories/..", "/memories/../etc"),
        *("/memories/a/../../etc", "/memories/%2e%2e/etc", "/memories//a", "/memories/./a"),
        *("/memories/.git/config", "/memories/a\\..\\b", "/memories/a\0", "/memories/a\nb"),
        *("/memories/a.", "/memories/ a", "/memories/a\u202eb", "/memories" + "/a" * 11),
        *("/memories/" + "a" * 101, "C:\\memories", "/memories/-a", "file:///memories/a"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(FileRefused) as caught:
        name_of(path)
    assert len(caught.value.message) < 500


@given(path=st.text(max_size=30).map(lambda text: f"/memories/{text}"))
def test_a_name_never_leads_elsewhere(path: str) -> None:
    try:
        name = name_of(path)
    except FileRefused:
        return
    assert f"/memories/{name}" == path.removesuffix("/") or not name
    assert not any(part.startswith(".") or not part for part in name.split("/") if name)


# Texts with white space around them or other line ends, and what a file of them holds.
WHITE_SPACE = {
    "": "",
    "\n": "",
    "  \n\t\n ": "",
    "One.\nTwo.\n": "One.\nTwo.\n",
    "One.\n\n\n": "One.\n",
    "\n\n  One.\n": "  One.\n",
    "One.  \nTwo. \t": "One.  \nTwo.\n",
    "One.\r\nTwo.\r\n": "One.\nTwo.\n",
    "\u00a0\n\u3000One.\u2028\x0c\n": "\u3000One.\n",
}


def test_a_text_is_kept_as_in_a_plain_file_but_for_white_space_around_it(
    repo: Path, tool: MemoryTool, tmp_path: Path
) -> None:
    plain = BetaLocalFilesystemMemoryTool(str(tmp_path / "plain"))
    for n, (text, kept) in enumerate(WHITE_SPACE.items()):
        path = f"/memories/{n}.md"
        made = {"command": "create", "path": path}
        assert tool.call({**made, "file_text": text}) == plain.call({**made, "file_text": kept})
        for asked in (
            {"command": "insert", "path": path, "insert_line": 0, "insert_text": "New.\n"},
            {"command": "str_replace", "path": path, "old_str": "New.", "new_str": f"No. {n}"},
            {"command": "view", "path": path},
        ):
            assert tool.call(asked) == seen(str(plain.call(asked))), asked
    files = {p.name: p.read_bytes().decode() for p in (tmp_path / "plain").rglob("*.md")}
    assert {m.title: text_of(m) for m in memories(repo).values()} == files
    assert_sound(repo)


def test_an_edit_with_the_line_ends_of_windows_is_made(repo: Path, tool: MemoryTool) -> None:
    path = "/memories/a.md"
    create(tool, "a.md", "One.\r\nTwo.\r\nThree.\r\n")
    call(tool, "str_replace", path=path, old_str="One.\r\nTwo.", new_str="1.\r\n2.")
    call(tool, "insert", path=path, insert_line=0, insert_text="Zero.\r\n0.\r\n")
    (memory,) = memories(repo).values()
    assert memory.body == "Zero.\n0.\n1.\n2.\nThree."


def seen(answer: str) -> str:
    """Return an answer without what might move a cursor: such a character is a blank, or gone."""
    blanks = re.sub("[\x0b\x0c\u2028]", " ", answer)
    return re.sub(r"\r(?!\n)", "", blanks)
