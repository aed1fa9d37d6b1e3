"""Every tool of the server has an example: what goes in and what comes out fit its schemas.

A tool without a row in EXAMPLES, or a row without a tool, fails here.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
from driving import begin, done, git, id_in
from real_clients import installed
from workspaces import small

from memrepo.actions.work import Call
from memrepo.faces.mcp import TOOLS, ToolReply, answer

NOW = datetime(2026, 3, 3, 9, tzinfo=UTC)
WHY = "a person asked for it"
OF_A_COMMAND_LINE = re.compile(r"standard input|[Uu]sage:|argparse|(^|\s)--?[a-z]|\bstdin\b")
Arguments = dict[str, Any]


def a_memory(repo: Path) -> str:
    return str(done(repo, "add", "Tea is drunk at four.")["id"])


def an_agents(repo: Path) -> str:
    """Return a memory that an agent wrote: what is a person's waits for that person."""
    said = {"text": "Tea is drunk at four.", "reason": WHY}
    return id_in(call(repo, "memory_store", said).text)


EXAMPLES: dict[str, Callable[[Path], Arguments]] = {
    "memory_search": lambda _: {"query": "tea", "limit": 3, "types": ["fact"], "max_tokens": 200},
    "memory_get": lambda repo: {"id": a_memory(repo), "max_tokens": 200},
    "memory_store": lambda _: {
        "text": "Tea is drunk at five.",
        "reason": WHY,
        "type": "fact",
        "tags": ["tea"],
        "decay_class": "durable",
        "valid_until": "2027-01-01",
    },
    "memory_supersede": lambda repo: {"id": an_agents(repo), "text": "At six.", "reason": WHY},
    "memory_forget": lambda repo: {"id": an_agents(repo), "reason": WHY},
    "memory_hot": lambda _: {"max_tokens": 300},
    "memory_related": lambda repo: {"id": a_memory(repo)},
    "memory_thread_context": lambda _: {"max_tokens": 400},
    "memory_status": lambda _: {},
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository after its first run, beside its workspace; nobody writes into it."""
    base = tmp_path_factory.mktemp("tools")
    return begin(base, small(base / "ws"))


@pytest.fixture
def repo(begun: Path, tmp_path: Path) -> Path:
    """Return a copy of it, with the workspace."""
    place = Path(shutil.copytree(begun.parent, tmp_path / "place", symlinks=True))
    git(place / begun.name, "config", "memrepo.workspace", str(place / "ws"))
    return place / begun.name


def call(repo: Path, name: str, arguments: Arguments) -> ToolReply:
    return answer(Call(where=repo, now=NOW), TOOLS[name], arguments, "test")


def test_every_tool_has_an_example_and_every_example_a_tool() -> None:
    assert set(EXAMPLES) == set(TOOLS)


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_what_goes_in_and_what_comes_out_fit_the_schemas(repo: Path, name: str) -> None:
    tool, arguments = TOOLS[name], EXAMPLES[name](repo)
    jsonschema.validate(arguments, tool.input_schema())
    head = git(repo, "rev-parse", "HEAD")
    reply = call(repo, name, arguments)
    assert not reply.failed, reply
    assert (git(repo, "rev-parse", "HEAD") != head) is tool.writes


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_what_is_missing_or_unknown_is_refused_and_nothing_is_written(
    begun: Path, name: str
) -> None:
    tool, head = TOOLS[name], git(begun, "rev-parse", "HEAD")
    for wrong in ({"nonsense": 1}, *({a: "x" * 99_999} for a in tool.required)):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, tool.input_schema())
        assert call(begun, name, dict(wrong)).failed
    assert git(begun, "rev-parse", "HEAD") == head


class Session(NamedTuple):
    """One tool in a repository of its own: what fits, and what is refused, one call each."""

    name: str
    line: tuple[str, ...]
    good: Arguments
    wrong: tuple[Arguments, ...]


def sessions(begun: Path, folder: Path) -> Iterator[Session]:
    """Yield every tool with each way in which its arguments may not fit."""
    for name in sorted(TOOLS):
        place = Path(shutil.copytree(begun.parent, folder / name, symlinks=True))
        repo = place / begun.name
        git(repo, "config", "memrepo.workspace", str(place / "ws"))
        good, properties = EXAMPLES[name](repo), TOOLS[name].input_schema()["properties"]
        missing = [{k: v for k, v in good.items() if k != key} for key in TOOLS[name].required]
        missing += [{}] if TOOLS[name].required else []
        long = [{**good, key: "x" * 99_999} for key in TOOLS[name].required]
        unknown = [{**good, key: "mem-0000000000000000"} for key in ("id",) if key in good]
        other = [{**good, key: {"neither": "text", "nor": "number"}} for key in properties]
        closed = [{**good, key: "no-such"} for key, said in properties.items() if "enum" in said]
        yield Session(
            name,
            (sys.executable, "-m", "memrepo", "-C", str(repo), "mcp"),
            good,
            ({"nonsense": 1}, *missing, *long, *unknown, *other, *closed),
        )


def assert_refused(answer: Mapping[str, Any], what: object) -> None:
    """Assert that a client was told in words, and nothing that a schema speaks of."""
    assert answer["isError"], (what, answer)
    text = answer["content"][0]["text"]
    assert text.startswith("refused:"), (what, answer)
    assert not OF_A_COMMAND_LINE.search(text), (what, answer)


def test_a_refusal_advises_to_what_a_model_has(begun: Path) -> None:
    reply = call(begun, "memory_get", {"id": "mem-0000000000000000"})
    assert "`memory_search` finds memories by words" in reply.text
    assert "it needs id" in call(begun, "memory_get", {}).text


def test_the_typescript_client_accepts_every_answer_and_every_refusal(
    begun: Path, tmp_path: Path
) -> None:
    modules = installed("sdk", "@modelcontextprotocol/sdk").parent.parent
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not there")
    every = [*sessions(begun, tmp_path)]
    calls = [
        {"command": s.line[0], "args": s.line[1:], "name": s.name, "given": [s.good, *s.wrong]}
        for s in every
    ]
    ran = subprocess.run(
        [node, str(Path(__file__).with_name("sdk_client.mjs"))],
        input=json.dumps({"modules": str(modules), "calls": calls}),
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    for session, answers in zip(every, json.loads(ran.stdout), strict=True):
        first, *others = answers
        assert "thrown" not in first, (session.name, first)
        assert not first.get("isError"), (session.name, first)
        assert first["content"][0]["text"]
        for wrong, other in zip(session.wrong, others, strict=True):
            assert_refused(other, (session.name, wrong))
