"""Two servers, a run, a pull and a branch switch at one time: answers hold, nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from driving import LONG, NOW, assert_sound, begin, done, git
from mcp import Client
from mcp_driving import text, with_client
from workspaces import small

ROUNDS = 250 if LONG else 4
TURNS = 60 if LONG else 1
"""How often a run, a pull and a switch go on beside the servers."""


def stores(repo: Path, name: str) -> list[dict[str, Any]]:
    """Let one server's client store and search; return what it was told of each call."""

    async def work(client: Client) -> list[dict[str, Any]]:
        told = []
        for number in range(ROUNDS):
            said = {"text": f"{name} wrote down number {number}.", "reason": f"{name} {number}"}
            for tool, given in (("memory_store", said), ("memory_search", {"query": name})):
                answer = await client.call_tool(tool, given)
                told.append(
                    {
                        "tool": tool,
                        "refused": answer.is_error,
                        "text": text(answer),
                        "data": answer.structured_content or {},
                    }
                )
        return told

    return with_client(repo, work, name=name, seconds=1500)


def command(*words: str) -> tuple[int, str]:
    ran = subprocess.run(
        words,
        env={**os.environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_two_servers_a_run_a_pull_and_a_switch_at_once(tmp_path: Path) -> None:
    workspace = small(tmp_path / "ws")
    repo = begin(tmp_path, workspace)
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(hub))
    git(repo, "remote", "add", "origin", str(hub))
    git(repo, "fetch", "-q", "origin")
    git(repo, "branch", "--set-upstream-to=origin/main", "main")
    git(tmp_path, "clone", "-q", str(hub), str(other))
    afar = done(other, "add", "Somebody elsewhere wrote this down.")["id"]
    git(other, "push", "-q")
    (workspace / "MEMORY.md").write_text("- The new editor is helix.\n", encoding="utf-8")
    memrepo = (sys.executable, "-m", "memrepo", "-C", str(repo), "--now", NOW)

    def repeated(verb: str) -> list[tuple[int, str]]:
        told = []
        for turn in range(TURNS):
            if turn:  # what was said elsewhere, and a file that goes on
                with (workspace / "MEMORY.md").open("a", encoding="utf-8") as page:
                    page.write(f"- The {verb} of turn {turn} was noted by Ana.\n")
            told.append(command(*memrepo, verb))
        return told

    def switches() -> None:
        for turn in range(TURNS):
            new = () if turn else ("-c",)
            command("git", "-C", str(repo), "switch", "-q", *new, "side")
            command("git", "-C", str(repo), "switch", "-q", "main")

    jobs: list[Callable[[], Any]] = [
        lambda: stores(repo, "ana"),
        lambda: stores(repo, "bo"),
        lambda: repeated("run"),
        lambda: repeated("sync"),
        switches,
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        ana, bo, ran, pulled, _ = [job.result(1500) for job in [*map(pool.submit, jobs)]]

    # Whoever could not go on said so in words: no crash, no trace, no half answer.
    for code, said in (*ran, *pulled):
        assert code in (0, 1, 3, 5, 6), said
        assert "Traceback" not in said
    for one in (*ana, *bo):
        assert not one["refused"] or one["text"].startswith("refused:"), one
        assert "a bug" not in one["text"]
    command("git", "-C", str(repo), "switch", "-q", "main")
    assert_sound(repo)
    every = set(git(repo, "rev-list", "--branches").split())
    landed = [o["data"]["commit"] for o in (*ana, *bo) if o["tool"] == "memory_store" and o["data"]]
    assert len(landed) >= ROUNDS
    assert set(landed) <= every
    # Afterwards all of it goes on: the other clone's memory comes, and another call lands.
    done(repo, "sync")
    assert afar in {m["id"] for m in found(repo, "Somebody elsewhere")}
    assert not stores(repo, "cy")[0]["refused"]
    assert_sound(repo)


def found(repo: Path, words: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = done(repo, "search", words)["hits"]
    return hits
