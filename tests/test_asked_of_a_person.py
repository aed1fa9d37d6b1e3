"""Agents take no memory of a person's out of recall: what they ask waits, by whichever face."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from driving import (
    LATER,
    NEXT_DAY,
    Done,
    assert_sound,
    configure,
    done,
    git,
    memories,
    memrepo,
    operations,
)
from msgspec.structs import replace

from memrepo.actions.work import Call
from memrepo.faces.mcp.replies import ToolReply
from memrepo.faces.mcp.tools import ADMIN, DEFAULT, answer
from memrepo.faces.memory_tool import MemoryTool
from memrepo.faces.python import open_repository

TOOLS = {tool.name: tool for tool in (*DEFAULT, *ADMIN)}
NOW = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
SAID = "Vera keeps the spare key under the third pot."
NEWS = "Vera keeps the spare key in the shed."
AGENT = Call(where=Path(), now=NOW, actor="process:helper")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def tool(repo: Path, name: str, **arguments: object) -> ToolReply:
    return answer(replace(AGENT, where=repo), TOOLS[name], arguments, "helper")


def supersede(repo: Path, id_: str) -> str:
    return tool(repo, "memory_supersede", id=id_, text=NEWS, reason="news").text


def forget(repo: Path, id_: str) -> str:
    return tool(repo, "memory_forget", id=id_, reason="it is old").text


def python_edit(repo: Path, id_: str) -> str:
    with open_repository(repo, clock=lambda: NOW) as memory:
        return str(memory.edit(id_, text=NEWS))


def shell_archive(repo: Path, id_: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMREPO_ACTOR", "process:helper")
        answer = memrepo(repo, "archive", id_, now=LATER)
    assert answer.exit in (0, 3)
    return answer.out


def shell_reject(repo: Path, id_: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMREPO_ACTOR", "process:helper")
        return memrepo(repo, "reject", id_, "--reason", "no", now=LATER).out


Ask = Callable[[Path, str], str]
ASKS: list[Ask] = [supersede, forget, python_edit, shell_archive, shell_reject]


def written(repo: Path) -> str:
    found: str = done(repo, "add", SAID)["id"]
    return found


def confirmed(repo: Path) -> str:
    id_: str = tool(repo, "memory_store", text=SAID, reason="x").data["id"]
    done(repo, "confirm", id_, now=LATER)
    return id_


def waiting(repo: Path) -> list[str]:
    found: list[str] = done(repo, "status", now=LATER)["waiting"]
    return found


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_what_an_agent_asks_of_a_persons_memory_waits_and_is_told(repo: Path, ask: Ask) -> None:
    id_ = written(repo)
    head = git(repo, "rev-parse", "HEAD")
    assert "waits for that person" in ask(repo, id_)
    assert git(repo, "rev-parse", "HEAD") == head
    (branch,) = waiting(repo)
    status = memrepo(repo, "status", as_json=False, now=LATER)
    (op,) = operations(repo, "-1", f"{branch}^2~1")
    assert f"asks to {op}" in status.out
    assert id_ in memrepo(repo, "diff", branch.removeprefix("run/"), now=LATER).out
    assert done(repo, "search", "spare", "key", now=LATER)["hits"][0]["text"] == SAID


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_the_person_accepts_it_or_it_never_happened(repo: Path, ask: Ask) -> None:
    id_ = written(repo)
    ask(repo, id_)
    done(repo, "accept", now=NEXT_DAY)
    gone = memories(repo)[id_]
    assert gone.status != "active" or gone.body == NEWS
    assert waiting(repo) == []
    assert memrepo(repo, "doctor").data["checks"]
    done(repo, "undo", now=NEXT_DAY)
    assert (memories(repo)[id_].status, memories(repo)[id_].body) == ("active", SAID)
    assert_sound(repo)


def test_a_refused_wish_leaves_the_memory_as_it_was(repo: Path) -> None:
    id_ = written(repo)
    supersede(repo, id_)
    done(repo, "discard", now=NEXT_DAY)
    assert (waiting(repo), [m.body for m in memories(repo).values()]) == ([], [SAID])


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_what_an_agent_wrote_itself_it_may_take_away(repo: Path, ask: Ask) -> None:
    id_ = tool(repo, "memory_store", text=SAID, reason="heard it").data["id"]
    ask(repo, id_)
    assert waiting(repo) == []
    found = memories(repo)[id_]
    assert found.status != "active" or found.body == NEWS


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_where_the_configuration_allows_it_nothing_waits(repo: Path, ask: Ask) -> None:
    id_ = written(repo)
    with (repo / "memrepo.toml").open("a", encoding="utf-8") as config:
        config.write('\n[agents]\nremovals = "allow"\n')
    ask(repo, id_)
    assert waiting(repo) == []
    assert memories(repo)[id_].status != "active" or memories(repo)[id_].body == NEWS


def test_a_person_at_the_command_line_is_not_held_up(repo: Path) -> None:
    id_ = written(repo)
    done(repo, "supersede", id_, NEWS, now=LATER)
    assert (waiting(repo), memories(repo)[id_].status) == ([], "superseded")


def test_an_agent_accepts_no_wish_of_its_own_and_reverts_no_memory_of_a_person(repo: Path) -> None:
    id_ = written(repo)
    commit = git(repo, "rev-parse", "HEAD").strip()
    forget(repo, id_)
    run = waiting(repo)[0].removeprefix("run/")
    for reply in (
        tool(repo, "memory_accept", run=run, reason="mine"),
        tool(repo, "memory_revert", target=commit, reason="off"),
    ):
        assert reply.failed
        assert "a person wrote or confirmed it" in reply.text
    assert memories(repo)[id_].status == "active"
    assert len(waiting(repo)) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"command": "delete"},
        {"command": "str_replace", "old_str": "third", "new_str": "fourth"},
        {"command": "insert", "insert_line": 0, "insert_text": "Once more:"},
    ],
    ids=lambda asked: asked["command"],
)
def test_the_memory_tool_says_that_a_persons_file_waits(repo: Path, asked: dict[str, Any]) -> None:
    tool_ = MemoryTool(repo, clock=lambda: AGENT.now, actor=AGENT.actor)
    tool_.call({"command": "create", "path": "/memories/keys.md", "file_text": SAID})
    (id_,) = memories(repo)
    done(repo, "confirm", id_, now=LATER)
    said = str(tool_.call({**asked, "path": "/memories/keys.md"}))
    assert said.startswith("Nothing was changed yet")
    assert "waits for that person" in said
    assert SAID in str(tool_.call({"command": "view", "path": "/memories/keys.md"}))
    assert len(waiting(repo)) == 1


def as_agent(repo: Path, *argv: str, now: str = LATER) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMREPO_ACTOR", "process:helper")
        return memrepo(repo, *argv, now=now)


def test_directives_of_an_agent_take_nothing_of_a_person_off_the_hot_cache(repo: Path) -> None:
    id_ = written(repo)
    own = tool(repo, "memory_store", text="The spare lamp is blue.", reason="x").data["id"]
    for one in (id_, own):
        done(repo, "promote", one, "--critical", now=LATER)
    (repo.parent / "wish.md").write_text("[[forget keyword:spare]]\n", encoding="utf-8")
    dry = as_agent(repo, "directives", "../wish.md", "--dry-run")
    assert (dry.exit, waiting(repo)) == (3, [])
    told = as_agent(repo, "directives", "../wish.md")
    assert told.exit == 3
    assert "waits for the person" in told.data["applied"][0]["said"]
    assert told.data["counts"]["steps"] == 1
    assert memories(repo)[id_].flag("critical")
    assert not memories(repo)[own].flag("critical")
    assert SAID in (repo / "MEMORY.md").read_text("utf-8")
    assert len(waiting(repo)) == 1
    done(repo, "accept", now=NEXT_DAY)
    assert not memories(repo)[id_].flag("critical")
    assert_sound(repo)


def test_what_an_agent_adds_waits_where_the_configuration_says_so(repo: Path) -> None:
    configure(repo, "agents.additions", "review")
    head = git(repo, "rev-parse", "HEAD")
    reply = tool(repo, "memory_store", text=SAID, reason="she told me")
    assert "it is stored when that person accepts it" in reply.text
    assert git(repo, "rev-parse", "HEAD") == head
    tool(repo, "memory_store", text=SAID, reason="she told me")
    assert len(waiting(repo)) == 1
    for more in ("Bo is in Cebu.", "Cy sings in the choir."):
        tool(repo, "memory_store", text=more, reason="two more")
    assert len(waiting(repo)) == 3
    assert memories(repo) == {}
    for branch in waiting(repo):
        done(repo, "accept", branch.removeprefix("run/"), now=NEXT_DAY)
    assert sorted(m.body for m in memories(repo).values()) == [
        "Bo is in Cebu.",
        "Cy sings in the choir.",
        SAID,
    ]
    assert_sound(repo)
