"""The examples of docs/libraries.md, each with the real library where it is installed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import done

PAGE = Path(__file__).resolve().parents[1] / "docs" / "libraries.md"
EXAMPLES = dict(
    re.findall(r"(?ms)^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```$", PAGE.read_text("utf-8"))
)
TEA = "Ana drinks green tea in the morning."


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder `memory` below the one where the example runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    done(tmp_path, "init", "memory")
    return tmp_path / "memory"


def played(title: str) -> dict[str, Any]:
    """Run an example; return its names."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLES[title], str(PAGE), "exec"), names)
    return names


def test_each_library_has_one_example() -> None:
    assert list(EXAMPLES) == [
        "LangGraph and LangChain",
        "LlamaIndex",
        "OpenAI Agents SDK",
        "pydantic-ai",
    ]


def test_langgraph(repo: Path) -> None:
    pytest.importorskip("langgraph.store.base", reason="langgraph is not installed")
    names = played("LangGraph and LangChain")
    assert names["found"] == [TEA]
    store = names["store"]
    assert store.get(("ana",), "drink").value == {"text": TEA}
    assert store.get(("ben",), "drink") is None
    assert store.search(("ben",), query="what does Ana drink?") == []
    assert asyncio.run(store.aget(("ana",), "drink")).value == {"text": TEA}
    (hit,) = done(repo, "search", "green", "tea")["hits"]
    assert hit["text"] == TEA


def test_llama_index(repo: Path) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    done(repo, "add", TEA)
    assert played("LlamaIndex")["found"] == [TEA]


def test_openai_agents(repo: Path) -> None:
    context = pytest.importorskip("agents.tool_context", reason="openai-agents is not installed")
    names = played("OpenAI Agents SDK")

    def called(name: str, **arguments: str) -> Any:
        tool, said = names[name], json.dumps(arguments)
        here = context.ToolContext(
            context=None, tool_name=name, tool_call_id="1", tool_arguments=said
        )
        return asyncio.run(tool.on_invoke_tool(here, said))

    assert called("remember", text=TEA).startswith("mem-")
    assert called("recall", query="what does Ana drink?") == [TEA]
    assert {tool.name for tool in names["agent"].tools} == {"recall", "remember"}
    assert "process:openai-agents" in str(done(repo, "log"))


def test_pydantic_ai(repo: Path) -> None:
    pytest.importorskip("pydantic_ai.mcp", reason="pydantic-ai is not installed")
    from pydantic_ai.models.test import TestModel

    done(repo, "add", TEA)
    agent = played("pydantic-ai")["agent"]
    model = TestModel(call_tools=["memory_search"])

    async def asked() -> str:
        async with agent:
            return str((await agent.run("What does Ana drink?", model=model)).output)

    assert "memory_search" in asyncio.run(asked())
