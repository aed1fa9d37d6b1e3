"""`memrepo mcp` over a pipe, driven by the official client library in a process of its own."""

from __future__ import annotations

import json
import math
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from driving import assert_sound, done, git, id_in, memrepo, subjects
from envelopes import INJECTION
from mcp import Client, MCPError
from mcp_driving import text, told, with_client

from memrepo.store.repo import open_repository


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_drives_every_tool(repo: Path, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        wire = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        assert math.ceil(len(json.dumps(wire)) / 4) <= 1500
        assert all(tool["title"] and "readOnlyHint" in tool["annotations"] for tool in wire)
        left = {tool.name for tool in tools}

        async def call(name: str, **arguments: Any) -> str:
            left.discard(name)
            return told(await client.call_tool(name, arguments))

        id_ = id_in(await call("memory_store", text=INJECTION, reason="to see"))
        other = await call("memory_store", text="Ana drinks tea.", reason="said")
        new = await call("memory_supersede", id=id_in(other), text="Ana drinks coffee.", reason="r")
        for name, arguments in {
            "memory_search": {"query": "deploy"},
            "memory_get": {"id": id_},
            "memory_hot": {},
            "memory_related": {"id": id_in(new)},
            "memory_thread_context": {},
            "memory_status": {},
        }.items():
            await call(name, **arguments)
        await call("memory_forget", id=id_in(new), reason="r")
        assert not left

    with_client(repo, work, mode=mode)
    assert_sound(repo)


def test_what_names_nothing_is_an_error_and_the_session_goes_on(repo: Path) -> None:
    async def work(client: Client) -> None:
        assert [t.name for t in (await client.list_tools()).tools][-1] == "memory_status"
        for failing in (
            lambda: client.call_tool("memory_nothing", {}),
            lambda: client.call_tool("x" * 9999, {}),
        ):
            with pytest.raises(MCPError) as caught:
                await failing()
            assert len(caught.value.message) <= 600
        huge = await client.call_tool("memory_store", {"text": "x" * 3_000_000, "reason": "r"})
        assert huge.is_error
        assert len(text(huge)) < 500
        assert "0 active" in told(await client.call_tool("memory_status", {}))

    with_client(repo, work)


def test_calls_at_one_time_all_land_while_a_run_holds_its_lock(repo: Path) -> None:
    async def work(client: Client) -> list[str]:
        found: list[str] = []

        async def store(number: int) -> None:
            said = {"text": f"Fact number {number}.", "reason": f"concurrent {number}"}
            found.append(id_in(told(await client.call_tool("memory_store", said))))

        async def search() -> None:
            told(await client.call_tool("memory_search", {"query": "fact number"}))

        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(store, number)
                group.start_soon(search)
        return found

    with open_repository(repo) as other, other.running():
        stored = with_client(repo, work)
    assert len(set(stored)) == 6
    assert set(subjects(repo)) >= {f"Add fact: Fact number {n}." for n in range(6)}
    assert_sound(repo)


def test_a_repository_that_changes_underneath_is_seen_as_it_is(repo: Path) -> None:
    async def work(client: Client) -> None:
        async def found() -> list[str]:
            answer = await client.call_tool("memory_search", {"query": "tea"})
            return re.findall("mem-[0-9a-f]{16}", told(answer))

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


def test_outside_of_a_repository_it_says_so_before_it_serves(tmp_path: Path) -> None:
    assert memrepo(tmp_path, "mcp").exit == 5


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
