"""`memrepo mcp` over a pipe, driven by the official client library in a process of its own."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from docs_parts import ROOT
from driving import assert_sound, done, git, memrepo, operations, subjects
from envelopes import INJECTION
from mcp import Client, MCPError
from mcp_driving import data, text, with_client

from memrepo.store.repo import open_repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", tmp_path / "repo")
    return tmp_path / "repo"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_drives_every_tool(repo: Path, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        wire = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        assert math.ceil(len(json.dumps(wire[:10])) / 4) <= 1500
        assert all(tool["title"] and "readOnlyHint" in tool["annotations"] for tool in wire)
        left = {tool.name for tool in tools}

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            left.discard(name)
            return data(await client.call_tool(name, arguments))

        made = await call("memory_store", text=INJECTION, reason="to see")
        id_, commit = made["id"], made["commit"]
        other = await call("memory_store", text="Ana drinks tea.", reason="said")
        new = await call("memory_supersede", id=other["id"], text="Ana drinks coffee.", reason="r")
        for name, arguments in {
            "memory_search": {"query": "deploy"},
            "memory_get": {"id": id_},
            "memory_recent": {"since": commit},
            "memory_hot": {},
            "memory_related": {"id": new["id"]},
            "memory_thread_context": {"id": id_},
            "memory_status": {},
            "memory_runs": {},
            "memory_doctor": {},
            "memory_diff": {"run": commit},
        }.items():
            await call(name, **arguments)
        await call("memory_forget", id=new["id"], reason="r")
        await call("memory_restore", id=new["id"], reason="r")
        await call("memory_revert", target=new["commit"], reason="r")
        refused = await client.call_tool(
            "memory_accept", {"run": "20260101T000000Z-12345678", "reason": "r"}
        )
        assert refused.is_error
        assert left == {"memory_accept"}

    with_client(repo, work, "--toolset", "admin", mode=mode)
    assert_sound(repo)


def test_what_names_nothing_is_an_error_and_the_session_goes_on(repo: Path) -> None:
    async def work(client: Client) -> None:
        assert [t.name for t in (await client.list_tools()).tools][-1] == "memory_status"
        for failing in (
            lambda: client.call_tool("memory_accept", {}),
            lambda: client.call_tool("x" * 9999, {}),
        ):
            with pytest.raises(MCPError) as caught:
                await failing()
            assert len(caught.value.message) <= 600
        huge = await client.call_tool("memory_store", {"text": "x" * 3_000_000, "reason": "r"})
        assert huge.is_error
        assert len(text(huge)) < 500
        assert data(await client.call_tool("memory_status", {}))["memories"] == {}

    with_client(repo, work)


def test_calls_at_one_time_all_land_while_a_run_holds_its_lock(repo: Path) -> None:
    async def work(client: Client) -> list[str]:
        found: list[str] = []

        async def store(number: int) -> None:
            said = {"text": f"Fact number {number}.", "reason": f"concurrent {number}"}
            found.append(data(await client.call_tool("memory_store", said))["commit"])

        async def search() -> None:
            data(await client.call_tool("memory_search", {"query": "fact number"}))

        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(store, number)
                group.start_soon(search)
        return found

    with open_repository(repo) as other, other.running():
        commits = with_client(repo, work)
    assert len(set(commits)) == 6
    assert set(subjects(repo)) >= {f"Add fact: Fact number {n}." for n in range(6)}
    assert_sound(repo)


def test_a_call_that_is_given_up_leaves_a_sound_repository(repo: Path) -> None:
    said = {"text": "One.", "reason": "given up"}

    async def work(client: Client) -> None:
        with open_repository(repo) as other, other.writing():
            for name, arguments in (("memory_store", said), ("memory_search", {"query": "one"})):
                with anyio.move_on_after(0.3 if name == "memory_store" else 0):
                    await client.call_tool(name, arguments)
        with anyio.fail_after(20):
            data(await client.call_tool("memory_status", {}))
            # A write that was under way is seen through, and then meets itself.
            second = data(await client.call_tool("memory_store", {**said, "reason": "again"}))
        assert second["id"]

    with_client(repo, work)
    assert operations(repo).count("create") == 1
    assert_sound(repo)


def test_a_repository_that_changes_underneath_is_seen_as_it_is(repo: Path) -> None:
    async def work(client: Client) -> None:
        async def found() -> list[str]:
            answer = await client.call_tool("memory_search", {"query": "tea"})
            return [hit["id"] for hit in data(answer)["hits"]]

        assert await found() == []
        id_ = done(repo, "add", "Ana drinks tea.")["id"]
        assert await found() == [id_]
        git(repo, "reset", "-q", "--hard", "HEAD~1")
        assert await found() == []
        (repo / ".git").rename(repo / "away")
        assert (await client.call_tool("memory_search", {"query": "tea"})).is_error
        (repo / "away").rename(repo / ".git")
        assert await found() == []

    with_client(repo, work)


def test_a_client_that_calls_itself_a_person_is_a_program(repo: Path) -> None:
    async def work(client: Client) -> None:
        data(await client.call_tool("memory_store", {"text": "One.", "reason": "r"}))

    person = "human:person@example.org"
    with_client(repo, work, name=person, MEMREPO_ACTOR=person)
    said = git(repo, "log", "-1", "--format=%(trailers:key=Memrepo-Actor,valueonly)").strip()
    assert said == "process:human-person-example-org"


def test_without_the_extra_it_says_how_to_install_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    answer = memrepo(repo, "mcp")
    assert answer.exit == 2
    assert answer.error["fix"] == "`pip install '.[mcp]'` in memrepo's checkout"


def test_outside_of_a_repository_it_says_so_before_it_serves(tmp_path: Path) -> None:
    assert memrepo(tmp_path, "mcp").exit == 5


def test_a_handshake_loads_no_model_and_opens_no_index(repo: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    code = (
        "import sys; from memrepo.faces.cli import main; main(['mcp']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repo,
        input=f"{line}\n",
        text=True,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert json.loads(ran.stdout)["result"]["serverInfo"]["name"] == "memrepo"
    heavy = {"anthropic", "fastembed", "numpy", "onnxruntime", "sentence_transformers", "torch"}
    assert set(ran.stderr.split()) & heavy == set()
    assert not list((repo / ".git" / "memrepo").glob("*index*"))


class Wire:
    """A server spoken to in lines, as a client in any language may word them."""

    def __init__(self, repo: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memrepo", "-C", str(repo), "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        about = {"protocolVersion": "2025-06-18", "capabilities": {}}
        about["clientInfo"] = {"name": "wire", "version": "1"}
        self.ask("initialize", json.dumps(about))
        self.tell('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: str) -> dict[str, Any]:
        self.tell(f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}')
        return self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def wire(repo: Path) -> Iterator[Wire]:
    found = Wire(repo)
    yield found
    found.close()


def test_what_no_file_can_hold_is_answered(wire: Wire) -> None:
    for said in (r"\ud800", r"tea \udc00\ud800", r"a\u0000b", r"\\\uDBFF"):
        given = f'{{"name": "memory_search", "arguments": {{"query": "{said}"}}}}'
        result = wire.ask("tools/call", given)["result"]
        assert result["isError"]
        assert "half of a character" in result["content"][0]["text"]
    for said in (r"\ud83d\ude00", r"C:\\ud800", "tea", r"\n"):
        given = f'{{"name": "memory_search", "arguments": {{"query": "{said}"}}}}'
        assert not wire.ask("tools/call", given)["result"].get("isError")
    assert "error" in wire.ask("tools/call", r'{"name": "\udfff", "arguments": {}}')


def test_what_takes_long_says_how_far_it_is_to_who_asks(wire: Wire) -> None:
    given = (
        '{"name": "memory_store", "_meta": {"progressToken": "p"}, "arguments": '
        '{"reason": "r", "memories": [{"text": "One."}, {"text": "Two."}]}}'
    )
    told = [wire.ask("tools/call", given), wire.read(), wire.read()]
    steps = [one["params"] for one in told[:2]]
    assert [(one["progressToken"], one["progress"], one["message"]) for one in steps] == [
        ("p", 1, "1 of 2"),
        ("p", 2, "2 of 2"),
    ]
    assert len(told[2]["result"]["structuredContent"]["stored"]) == 2


def test_a_cursor_that_nobody_gave_out_is_refused(wire: Wire) -> None:
    assert wire.ask("tools/list", '{"cursor": "2"}')["error"]["code"] == -32602
    assert "result" in wire.ask("tools/list", "{}")


def test_a_call_that_is_cancelled_leaves_no_client_waiting(repo: Path, wire: Wire) -> None:
    with open_repository(repo) as other, other.writing():
        wire.tell(
            '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name":'
            ' "memory_search", "arguments": {"query": "tea"}}}'
        )
        wire.tell(
            '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}'
        )
        found = wire.ask("ping", "{}")
        while found["id"] == 7:
            found = wire.read()
    assert found["result"] == {}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server(wire: Wire, sent: signal.Signals) -> None:
    if signal.getsignal(sent) == signal.SIG_IGN:
        pytest.skip("whoever started the tests ignores it (nohup), and so does the server")
    wire.process.send_signal(sent)
    assert wire.process.wait(10) == -sent


def test_calls_on_an_unchanged_repository_read_no_object_twice(repo: Path, tmp_path: Path) -> None:
    done(repo, "add", "The kiln reaches 1200 degrees.", "--reason", "seen")
    folder, log = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)

    def readers() -> int:
        return sum("cat-file" in line for line in log.read_text().splitlines())

    async def work(client: Client) -> list[int]:
        found = []
        for _ in range(3):
            hits = data(await client.call_tool("memory_search", {"query": "kiln"}))
            assert hits["hits"]
            found.append(readers())
        return found

    first, *others = with_client(repo, work, PATH=f"{folder}:{os.environ['PATH']}")
    assert others == [first, first]
