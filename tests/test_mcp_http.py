"""`memrepo mcp --http`: the official client over HTTP, and those who are not let in."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
from driving import assert_sound, done, git, memrepo
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_driving import data

TOKEN = "a-token-of-enough-characters"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", tmp_path / "repo")
    return tmp_path / "repo"


@pytest.fixture
def address(repo: Path) -> Iterator[str]:
    """Serve a repository on a free port of this machine; a signal ends that."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "memrepo", "-C", str(repo), "mcp", "--http", str(port)],
        env={**os.environ, "MEMREPO_TOKEN": TOKEN},
        stderr=subprocess.DEVNULL,
    )
    for _ in range(300):
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    server.send_signal(signal.SIGTERM)
    assert server.wait(20) in (0, -signal.SIGTERM)


def status(address: str, **headers: str) -> int:
    asked = urllib.request.Request(
        address, data=b"{}", headers={"content-type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_client_with_the_token_searches_and_stores(repo: Path, address: str) -> None:
    async def main() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with anyio.fail_after(60):
            async with (
                httpx.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                said = {"text": "Ana drinks tea.", "reason": "she said so"}
                stored = data(await client.call_tool("memory_store", said))
                found = data(await client.call_tool("memory_search", {"query": "tea"}))
                assert [hit["id"] for hit in found["hits"]] == [stored["id"]]

    anyio.run(main)
    assert git(repo, "log", "-1", "--format=%s").strip() == "create: she said so"
    assert_sound(repo)


def test_nobody_without_the_token_is_answered(address: str) -> None:
    for wrong in ("", "Bearer", "Bearer x", f"bearer {TOKEN}", f"Basic {TOKEN}"):
        assert status(address, authorization=wrong) == 401
    assert status(address) == 401
    assert status(address.replace("/mcp", "/")) == 401
    assert status(address, authorization=f"Bearer {TOKEN}") != 401
    # A page in a browser names its own host: the SDK knows that it was lured here.
    assert status(address, authorization=f"Bearer {TOKEN}", host="evil.example") == 421


@pytest.mark.parametrize("word", ["x", "0", "70000", "127.0.0.1:", ":x"])
def test_what_is_no_place_to_listen_at_is_refused(
    repo: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_TOKEN", TOKEN)
    assert memrepo(repo, "mcp", "--http", word).exit == 2


@pytest.mark.parametrize("token", ["", "short"])
def test_without_a_token_nothing_is_served(
    repo: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMREPO_TOKEN", token)
    answer = memrepo(repo, "mcp", "--http")
    assert answer.exit == 2
    assert "MEMREPO_TOKEN" in answer.error["message"]
