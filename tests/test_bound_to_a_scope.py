"""Whoever is bound to a scope sees that and the whole repository's, by whatever it asks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import mcp_driving
import pytest
from anthropic.lib.tools import ToolError
from driving import LATER, NEXT_DAY, done, git, id_in, memories, memrepo
from mcp import Client

from memrepo.actions.work import Call
from memrepo.core.errors import MemrepoError, OutOfScope
from memrepo.faces.mcp import TOOLS, ToolReply, answer
from memrepo.faces.python import open_repository
from memrepo.memory_tool import MemoryTool

NOW = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
OURS, THEIRS = "project:ours", "project:theirs"
SECRET = "the lighthouse"
"""What only memories of the other scope say."""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with a hot memory of each scope and of none, and one replaced."""
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    for where, said in (
        ("", "Lamps are switched off at night."),
        (OURS, "Lamps of the kiln are switched off at ten."),
        (THEIRS, f"Lamps of {SECRET} are switched off at six."),
    ):
        id_ = done(repo, "add", said, "--scope", where)["id"]
        done(repo, "promote", id_, "--reason", "known by heart")
    old = of(repo, THEIRS)
    new = f"Lamps of {SECRET} are switched off at seven."
    id_ = done(repo, "supersede", old, new, now=LATER)["id"]
    done(repo, "promote", id_, "--reason", "known by heart", now=LATER)
    return repo


def of(repo: Path, scope: str) -> str:
    """Return the newest memory of a scope."""
    return next(i for i, m in memories(repo).items() if m.scope == scope and m.status == "active")


def bound(repo: Path, scope: str = OURS) -> Call:
    return Call(where=repo, now=NOW, actor="process:helper", scope=scope)


def tool(repo: Path, name: str, scope: str = OURS, **arguments: object) -> ToolReply:
    return answer(bound(repo, scope), TOOLS[name], arguments, "helper")


def everything(repo: Path, scope: str) -> str:
    """Ask who serves a scope for all that it can be asked, and return all that it says."""
    foreign, commit = of(repo, THEIRS), git(repo, "rev-parse", "HEAD").strip()
    said = [
        tool(repo, name, scope, **arguments)
        for name, arguments in (
            ("memory_search", {"query": "lamps lighthouse six seven", "limit": 50}),
            ("memory_search", {"query": "lamps", "at": commit}),
            ("memory_search", {"query": "lighthouse", "at": "2026-03-01"}),
            ("memory_get", {"id": foreign}),
            ("memory_get", {"id": foreign, "at": commit}),
            *(("memory_get", {"id": id_}) for id_ in memories(repo)),
            ("memory_hot", {}),
            ("memory_related", {"id": foreign}),
            ("memory_thread_context", {"id": foreign}),
            ("memory_status", {}),
            ("memory_forget", {"id": foreign, "reason": "x"}),
            ("memory_supersede", {"id": foreign, "text": "No.", "reason": "x"}),
        )
    ]
    told = [reply.text for reply in said]
    files = files_of(repo, scope)
    told += [_told(files, view(path)) for path in ("/memories", "/memories/theirs.md")]
    return "\n".join(told)


def files_of(repo: Path, scope: str) -> MemoryTool:
    return MemoryTool(repo, clock=lambda: bound(repo, scope).now, scope=scope)


def view(path: str) -> dict[str, str]:
    return {"command": "view", "path": path}


def _told(tool: MemoryTool, asked: dict[str, str]) -> str:
    try:
        return str(tool.call(asked))
    except ToolError as error:
        return str(error)


def test_no_call_of_a_bound_caller_tells_of_another_scope(repo: Path) -> None:
    asked = {"command": "create", "path": "/memories/theirs.md", "file_text": f"Of {SECRET}."}
    files_of(repo, THEIRS).call(asked)
    said = everything(repo, OURS)
    assert "lighthouse" not in said.replace("no memory is called", "").replace(of(repo, THEIRS), "")
    assert "kiln" in said
    assert "switched off at night" in said
    assert "lighthouse" in everything(repo, THEIRS)  # the control: the questions do find it


def test_what_it_writes_is_of_its_scope_and_it_changes_nothing_beyond(repo: Path) -> None:
    stored = tool(repo, "memory_store", text="The kiln has four doors.", reason="counted")
    id_ = id_in(stored.text)
    assert memories(repo)[id_].scope == OURS
    shared = of(repo, "")
    refused = tool(repo, "memory_forget", id=shared, reason="x")
    assert refused.failed
    assert "of the whole repository" in refused.text
    before = git(repo, "rev-parse", "HEAD")
    assert tool(repo, "memory_forget", id=of(repo, THEIRS), reason="x").failed
    assert git(repo, "rev-parse", "HEAD") == before


def test_a_tool_of_the_whole_repository_is_not_served_to_a_scope(repo: Path) -> None:
    assert memrepo(repo, "mcp", "--scope", " ").exit == 2  # what a shell makes of an unset variable
    assert tool(repo, "memory_status").failed


@pytest.mark.parametrize(
    "line",
    [
        ["log"],
        ["status"],
        ["diff", "HEAD"],
        ["why", "mem-0000"],
        ["export", "jsonl", "out"],
        ["session", "refresh"],
        ["session", "show", "--scope", THEIRS],
        ["add", "Mine.", "--scope", THEIRS],
        ["mcp", "--scope", THEIRS],
    ],
    ids=lambda line: " ".join(line),
)
def test_a_scope_of_the_environment_is_not_widened(
    repo: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    monkeypatch.setenv("MEMREPO_SCOPE", OURS)
    refused = memrepo(repo, *line)
    assert refused.exit == 2
    assert "bound to the scope" in refused.err
    monkeypatch.delenv("MEMREPO_SCOPE")
    if line[0] in ("log", "status"):
        assert memrepo(repo, *line).exit == 0


def test_what_is_imported_with_a_scope_is_all_of_it(repo: Path, tmp_path: Path) -> None:
    done(repo, "export", "jsonl", tmp_path / "out.jsonl")
    done(tmp_path, "init", "other")
    done(tmp_path / "other", "import", "jsonl", tmp_path / "out.jsonl", "--scope", OURS)
    assert {m.scope for m in memories(tmp_path / "other").values()} == {OURS}


def test_a_search_with_another_scope_finds_only_what_holds_everywhere(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_SCOPE", OURS)
    hits = done(repo, "search", "lamps", "--scope", THEIRS)["hits"]
    assert [hit["text"] for hit in hits] == ["Lamps are switched off at night."]


def test_a_session_of_a_scope_begins_with_what_is_of_it(repo: Path) -> None:
    said = done(repo, "session", "show", "--scope", OURS)["context"]
    assert ("kiln" in said, "night" in said, "lighthouse" in said) == (True, True, False)
    everyone = done(repo, "session", "show")["context"]
    assert ("kiln" in everyone, "night" in everyone) == (False, True)


def test_python_is_bound_too(repo: Path) -> None:
    with open_repository(repo, clock=lambda: NOW, scope=OURS) as memory:
        assert all("lighthouse" not in hit.text for hit in memory.search("lamps lighthouse"))
        with pytest.raises(MemrepoError):
            memory.show(of(repo, THEIRS))
        with pytest.raises(OutOfScope):
            memory.status()
        id_ = memory.add("The kiln has four doors.")
    assert memories(repo)[id_].scope == OURS


def test_the_server_is_bound_at_its_start(repo: Path) -> None:
    async def ask(client: Client) -> str:
        found = await client.call_tool("memory_search", {"query": "lamps lighthouse"})
        wider = await client.call_tool("memory_search", {"query": "lamps", "scope": THEIRS})
        assert wider.is_error
        return mcp_driving.text(found)

    said = mcp_driving.with_client(repo, ask, "--scope", OURS, now=LATER)
    assert ("kiln" in said, "lighthouse" in said) == (True, False)


def test_pages_of_a_scope_lie_apart(repo: Path) -> None:
    done(repo, "run", now=NEXT_DAY)
    pages = {str(p.relative_to(repo)): p.read_text() for p in repo.glob("views/**/*.md")}
    telling = {path for path, text in pages.items() if "lighthouse" in text}
    assert len(telling) >= 1
    assert all(path.startswith("views/scopes/project-theirs-") for path in telling)
    assert "night" in pages["views/LTMEMORY.md"]
    assert not any("kiln" in pages[path] or "night" in pages[path] for path in telling)


def test_what_is_made_of_a_note_has_the_scope_of_the_note(repo: Path) -> None:
    rule = "The lathe of the kiln must always be oiled before it is started."
    note = done(repo, "add", rule, "--type", "note", "--scope", OURS)["id"]
    for hour in (8, 9, 10):
        done(repo, "show", note, now=f"2026-03-03T{hour:02}:00:00Z")
    done(repo, "run", now="2026-03-03T11:00:00Z")
    (made,) = (m for m in memories(repo).values() if m.origin == "promotion")
    assert (made.body.strip(), made.scope) == (rule, OURS)
