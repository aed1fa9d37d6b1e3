"""Agents take no memory of a person's out of recall: they are refused, by whichever face."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from driving import LATER, Done, assert_sound, done, git, id_in, memories, memrepo
from msgspec.structs import replace

from memrepo.actions.work import Call
from memrepo.core.errors import MemrepoError
from memrepo.faces.mcp import TOOLS, ToolReply, answer
from memrepo.faces.python import open_repository
from memrepo.memory_tool import MemoryTool
from memrepo.store.run_files import load

NOW = datetime(2026, 3, 1, 11, 0, tzinfo=UTC)
SAID = "Vera keeps the spare key under the third pot."
REFUSED = "a person wrote, confirmed, pinned or promoted it"
NEWS = "Vera keeps the spare key in the shed."
AGENT = Call(where=Path(), now=NOW, actor="process:helper")


def tool(repo: Path, name: str, **arguments: object) -> ToolReply:
    return answer(replace(AGENT, where=repo), TOOLS[name], arguments, "helper")


def supersede(repo: Path, id_: str) -> str:
    return tool(repo, "memory_supersede", id=id_, text=NEWS, reason="news").text


def forget(repo: Path, id_: str) -> str:
    return tool(repo, "memory_forget", id=id_, reason="it is old").text


def python_edit(repo: Path, id_: str) -> str:
    with open_repository(repo, clock=lambda: NOW) as memory:
        try:
            return str(memory.edit(id_, text=NEWS))
        except MemrepoError as error:
            return error.message


def as_agent(repo: Path, *argv: str) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMREPO_ACTOR", "process:helper")
        return memrepo(repo, *argv, now=LATER)


def shell_archive(repo: Path, id_: str) -> str:
    answer = as_agent(repo, "archive", id_)
    assert answer.exit in (0, 3)
    return answer.out or answer.error["message"]


def shell_reject(repo: Path, id_: str) -> str:
    answer = as_agent(repo, "reject", id_, "--reason", "no")
    return answer.out or answer.error["message"]


Ask = Callable[[Path, str], str]
ASKS: list[Ask] = [supersede, forget, python_edit, shell_archive, shell_reject]

TOLD = {supersede: "supersede {} TEXT", forget: "forget {}"}


def written(repo: Path) -> str:
    found: str = done(repo, "add", SAID)["id"]
    return found


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_what_an_agent_asks_of_a_persons_memory_is_refused(repo: Path, ask: Ask) -> None:
    id_ = written(repo)
    head = git(repo, "rev-parse", "HEAD")
    said = ask(repo, id_)
    assert REFUSED in said
    if ask in TOLD:
        assert f"ask that person to run: memrepo {TOLD[ask].format(id_)}" in said
    assert git(repo, "rev-parse", "HEAD") == head
    assert done(repo, "search", "spare", "key", now=LATER)["hits"][0]["text"] == SAID


@pytest.mark.parametrize(
    ("ask", "told"),
    [(supersede, f"replace it by '{NEWS}'"), (forget, "forget it"), (shell_archive, "archive it")],
)
@pytest.mark.parametrize(
    "decided", [("confirm",), ("supersede", NEWS), ("forget", "--reason", "old")]
)
def test_what_an_agent_asked_waits_in_status_until_a_person_decides(
    repo: Path, ask: Ask, told: str, decided: tuple[str, ...]
) -> None:
    id_ = written(repo)
    assert done(repo, "status", now=LATER)["needs"] == []
    as_agent(repo, "forget", id_, "--dry-run")
    assert done(repo, "status", now=LATER)["needs"] == []
    for _ in range(2):
        ask(repo, id_)
    (waits,) = done(repo, "status", now=LATER)["needs"]
    assert waits.startswith(f"{id_}: process:helper asked to {told} (`memrepo ")
    assert f"asked      {waits}" in memrepo(repo, "status", now=LATER, as_json=False).out
    other = as_agent(repo, "edit", id_, "--text", "The spare key is with Ben.")
    assert other.exit == 3
    assert len(done(repo, "status", now=LATER)["needs"]) == 2
    done(repo, decided[0], id_, *decided[1:], now=LATER)
    assert done(repo, "status", now=LATER)["needs"] == []
    assert not [key for key in load(repo / ".git" / "memrepo") if key.startswith("asked ")]


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_what_an_agent_wrote_itself_it_may_take_away(repo: Path, ask: Ask) -> None:
    id_ = id_in(tool(repo, "memory_store", text=SAID, reason="heard it").text)
    ask(repo, id_)
    found = memories(repo)[id_]
    assert found.status != "active" or found.body == NEWS


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: ask.__name__)
def test_where_the_configuration_allows_it_nothing_is_refused(repo: Path, ask: Ask) -> None:
    id_ = written(repo)
    with (repo / "memrepo.toml").open("a", encoding="utf-8") as config:
        config.write('\n[agents]\nremovals = "allow"\n')
    ask(repo, id_)
    assert memories(repo)[id_].status != "active" or memories(repo)[id_].body == NEWS


@pytest.mark.parametrize("named", ["name", "folder"])
def test_a_private_session_gets_nothing_and_stores_nothing_by_any_face(
    repo: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    id_ = id_in(tool(repo, "memory_store", text=SAID, reason="heard it").text)
    files = MemoryTool(repo, clock=lambda: AGENT.now)
    head = git(repo, "rev-parse", "HEAD")
    if named == "name":
        monkeypatch.setenv("MEMREPO_SESSION", "private")
        assert "is private" in as_agent(repo, "search", "key").error["message"]
    else:
        (repo / "memrepo.toml").write_text(f'[agents]\nprivate = ["{repo.parent}"]\n')
        monkeypatch.chdir(repo.parent)
    call = replace(AGENT, id="private" if named == "name" else "")
    given = {"query": "key", "id": id_, "text": NEWS, "reason": "x"}
    for one in TOOLS.values():
        reply = answer(replace(call, where=repo), one, {k: given[k] for k in one.required})
        assert "is private" in reply.text, one.name
    for asked in ({"command": "view"}, {"command": "create", "file_text": NEWS}):
        with pytest.raises(ToolError, match="is private"):
            files.call({**asked, "path": "/memories/keys.md"})
    with open_repository(repo, clock=lambda: NOW) as memory:
        for use in (memory.search, memory.add):
            with pytest.raises(MemrepoError, match="is private"):
                use(NEWS)
    assert git(repo, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "asked",
    [
        {"command": "delete"},
        {"command": "str_replace", "old_str": "third", "new_str": "fourth"},
        {"command": "insert", "insert_line": 0, "insert_text": "Once more:"},
    ],
    ids=lambda asked: asked["command"],
)
def test_the_memory_tool_changes_no_file_of_a_person(repo: Path, asked: dict[str, Any]) -> None:
    tool_ = MemoryTool(repo, clock=lambda: AGENT.now, actor=AGENT.actor)
    tool_.call({"command": "create", "path": "/memories/keys.md", "file_text": SAID})
    (id_,) = memories(repo)
    done(repo, "confirm", id_, now=LATER)
    with pytest.raises(ToolError, match=REFUSED):
        tool_.call({**asked, "path": "/memories/keys.md"})
    assert SAID in str(tool_.call({"command": "view", "path": "/memories/keys.md"}))


TAKES = (
    ("forget", "{}"),
    ("archive", "{}"),
    ("pin", "{}", "--off"),
    ("promote", "{}", "--off"),
    ("edit", "{}", "--set", "pinned="),
    ("edit", "{}", "--text", NEWS),
)


@pytest.mark.parametrize("mark", [("pin",), ("promote",), ("promote", "--critical")], ids="-".join)
def test_what_a_person_pinned_or_promoted_stays_until_a_person_decides(
    repo: Path, mark: tuple[str, ...]
) -> None:
    id_ = id_in(tool(repo, "memory_store", text=SAID, reason="heard it").text)
    done(repo, mark[0], id_, *mark[1:], now=LATER)
    as_agent(repo, "pin", id_)  # an agent's own mark takes nothing of the person's away
    as_agent(repo, "promote", id_, "--critical")
    head = git(repo, "rev-parse", "HEAD")
    for verb, *rest in TAKES:
        answer = as_agent(repo, verb, *(one.format(id_) for one in rest))
        assert answer.exit == 3, (verb, rest)
        assert REFUSED in answer.error["message"]
    assert REFUSED in forget(repo, id_)
    assert git(repo, "rev-parse", "HEAD") == head
    assert done(repo, "status", now=LATER)["needs"]


def test_what_a_person_pinned_and_let_go_again_an_agent_may_take_away(repo: Path) -> None:
    id_ = id_in(tool(repo, "memory_store", text=SAID, reason="heard it").text)
    done(repo, "promote", id_, "--critical", now=LATER)
    done(repo, "promote", id_, "--off", now=LATER)
    as_agent(repo, "pin", id_)
    as_agent(repo, "forget", id_)
    assert memories(repo)[id_].status == "forgotten"


def test_directives_of_an_agent_take_nothing_of_a_person_off_the_hot_cache(repo: Path) -> None:
    id_ = written(repo)
    own = id_in(tool(repo, "memory_store", text="The spare lamp is blue.", reason="x").text)
    done(repo, "promote", id_, "--critical", now=LATER)
    as_agent(repo, "promote", own, "--critical")
    (repo.parent / "wish.md").write_text("[[forget keyword:spare]]\n", encoding="utf-8")
    dry = as_agent(repo, "directives", "../wish.md", "--dry-run")
    assert dry.exit == 3
    told = as_agent(repo, "directives", "../wish.md")
    assert told.exit == 3
    assert "the person whose memory it is decides" in told.data["applied"][0]["said"]
    assert told.data["counts"]["steps"] == 1
    assert memories(repo)[id_].critical
    assert not memories(repo)[own].critical
    assert SAID in (repo / "MEMORY.md").read_text("utf-8")
    assert_sound(repo)
