"""The tools without the wire: bounds, refusals, the envelope, who acts, and what a commit says."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, done, git, id_in, memories, subjects
from envelopes import INJECTION, MARK, assert_inside, outside, strings
from hostile_files import SECRETS

from memrepo.actions import status
from memrepo.actions.work import Call, as_program
from memrepo.faces.mcp import TOOLS, Tool, ToolReply, answer
from memrepo.views.hot import HEAD

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
BOUNDS = {"additionalProperties", "maxItems", "maxLength", "maximum", "minimum", "pattern"}


def session(repo: Path, **more: Any) -> Call:
    return Call(where=repo, now=NOW, **more)


def call(repo: Path, name: str, **arguments: Any) -> ToolReply:
    return answer(session(repo), TOOLS[name], arguments, "test")


def good(repo: Path, name: str, **arguments: Any) -> ToolReply:
    reply = call(repo, name, **arguments)
    assert not reply.failed, reply
    return reply


def found(repo: Path, query: str) -> list[str]:
    """Return the ids of the hits of a search."""
    return re.findall("(?m)^mem-[0-9a-f]{16}", good(repo, "memory_search", query=query).text)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_what_is_listed_allows_whatever_is_accepted(tool: Tool) -> None:
    def bare(schema: Any) -> Any:
        match schema:
            case dict():
                return {k: bare(v) for k, v in schema.items() if k not in BOUNDS}
            case list():
                return [bare(part) for part in schema]
            case _:
                return schema

    assert tool.listed_schema() == bare(tool.input_schema())
    assert tool.input_schema()["additionalProperties"] is False


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_says_what_it_does_and_reaches_no_further(tool: Tool) -> None:
    hints = tool.annotations()
    assert {"readOnlyHint", "openWorldHint"} <= set(hints)
    assert ("destructiveHint" in hints) == ("idempotentHint" in hints) == tool.writes
    assert hints["openWorldHint"] is False
    assert hints["readOnlyHint"] is not tool.writes
    assert tool.writes or not tool.destructive
    assert tool.writes == ("reason" in tool.required) == ("expected_commit" in tool.own)
    assert not set(tool.names) & {"path", "file", "folder", "url", "uri", "remote"}


def test_what_is_stored_is_found_opened_replaced_and_forgotten(repo: Path) -> None:
    stored = good(
        repo,
        "memory_store",
        text="Ana drinks tea.",
        reason="she said so",
        tags=["food"],
        type="preference",
        decay_class="durable",
    ).text
    id_ = id_in(stored)
    opened = good(repo, "memory_get", id=id_).text
    assert "class:         durable" in opened
    assert "trust:         unverified" in opened
    assert "Ana drinks tea." in opened
    assert found(repo, "tea") == [id_]
    commit = re.search(r"\(([0-9a-f]{10})\)", stored)
    assert commit
    new = id_in(
        good(
            repo,
            "memory_supersede",
            id=id_,
            text="Ana drinks coffee.",
            reason="she changed her mind",
            expected_commit=commit[1],
        ).text
    )
    assert found(repo, "tea") == [new]
    assert f"supersedes:    {id_}" in good(repo, "memory_get", id=new).text
    good(repo, "memory_forget", id=new, reason="a test")
    head = git(repo, "rev-parse", "HEAD")
    assert "0 active, 1 forgotten, 1 superseded" in good(repo, "memory_status").text
    good(repo, "memory_search", query="coffee")
    assert git(repo, "rev-parse", "HEAD") == head
    authors = git(repo, "log", "-3", "--format=%an <%ae>|%cn").splitlines()
    assert authors == ["Test (memrepo) <test@memrepo.invalid>|Test Person"] * 3
    assert subjects(repo)[:3] == [
        "Forget preference: Ana drinks coffee.",
        "Supersede: Ana drinks coffee. (was: drinks tea.)",
        "Add preference: Ana drinks tea.",
    ]
    assert_sound(repo)


@pytest.mark.parametrize("reason", ["", "  \n ", "\u200b"])
def test_a_write_without_a_reason_is_refused(repo: Path, reason: str) -> None:
    reply = call(repo, "memory_store", text="One.", reason=reason)
    assert "the reason is empty" in reply.text
    assert memories(repo) == {}


@pytest.mark.parametrize(
    ("actor", "client", "found"),
    [
        ("", "Claude Code", "process:claude-code"),
        ("", "human:person@example.org", "process:human-person-example-org"),
        ("human:person@example.org", "", "process:mcp"),
        ("process:cron", "x", "process:cron"),
        ("", "\n" * 9, "process:mcp"),
        ("", "x" * 900, f"process:{'x' * 40}"),
    ],
)
def test_a_tool_never_acts_for_a_person(repo: Path, actor: str, client: str, found: str) -> None:
    session_ = session(repo, actor=actor)
    reply = answer(session_, TOOLS["memory_store"], {"text": "One.", "reason": "r"}, client)
    memory = memories(repo)[id_in(reply.text)]
    assert memory.stamp.by == found
    assert as_program(session_, client).actor == found
    assert "trust:         unverified" in good(repo, "memory_get", id=memory.id).text


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory_search", {}),
        ("memory_search", {"query": 7}),
        ("memory_search", {"query": "x" * 1001}),
        ("memory_search", {"query": "x", "limit": 0}),
        ("memory_search", {"query": "x", "limit": 10**30}),
        ("memory_search", {"query": "x", "max_tokens": 1}),
        ("memory_search", {"query": "x", "types": ["nothing"]}),
        ("memory_search", {"query": "x", "path": "/etc/passwd"}),
        ("memory_search", {"query": "x\ud800"}),
        ("memory_search", {"query": "x", "types": ["x\0"]}),
        ("memory_get", {"id": "../../etc/passwd"}),
        ("memory_get", {"id": "mem-0000000000000000"}),
        ("memory_get", {"id": "mem-0000", "at": "HEAD:memrepo.toml"}),
        ("memory_get", {"id": "mem-0000", "at": "--help"}),
        ("memory_store", {"text": "x" * 8001, "reason": "r"}),
        ("memory_store", {"text": " \n ", "reason": "r"}),
        ("memory_store", {"text": "a\0b", "reason": "r"}),
        ("memory_store", {"text": "x", "reason": "r", "type": "chunk"}),
        ("memory_store", {"text": "x", "reason": "r", "decay_class": "eternal"}),
        ("memory_store", {"text": "x", "reason": "r", "valid_until": "soon"}),
        ("memory_store", {"text": "x", "reason": "r", "actor": "human:person@example.org"}),
        ("memory_store", {"text": "key " + SECRETS[0], "reason": "r"}),
        ("memory_store", {"text": "x", "reason": "key " + SECRETS[0]}),
        ("memory_forget", {"id": "mem-0000", "reason": "r", "expected_commit": "HEAD"}),
    ],
)
def test_what_does_not_fit_is_refused_in_few_words(
    repo: Path, name: str, arguments: dict[str, Any]
) -> None:
    head = git(repo, "rev-parse", "HEAD")
    reply = call(repo, name, **arguments)
    assert reply.failed, reply
    assert reply.text.startswith("refused:")
    assert reply.tokens < 600
    assert git(repo, "rev-parse", "HEAD") == head


def test_a_write_that_names_a_commit_lands_on_that_one_only(repo: Path) -> None:
    id_ = id_in(good(repo, "memory_store", text="One.", reason="r").text)
    commit = git(repo, "rev-parse", "HEAD").strip()
    done(repo, "add", "A person was quicker.")
    head = git(repo, "rev-parse", "HEAD").strip()
    reply = call(repo, "memory_forget", id=id_, reason="r", expected_commit=commit)
    assert reply.failed
    assert head[:12] in reply.text
    assert git(repo, "rev-parse", "HEAD").strip() == head
    good(repo, "memory_forget", id=id_, reason="r", expected_commit=head[:7])


# Bounds


def test_limit_and_max_tokens_are_true_bounds(repo: Path) -> None:
    for n in range(6):
        good(repo, "memory_store", text=f"Tea number {n}: " + "very good " * 40, reason="r")
    two = good(repo, "memory_search", query="tea", limit=2).text
    assert len(set(re.findall("mem-[0-9a-f]{16}", two))) == 2
    for bound in (200, 400):
        reply = good(repo, "memory_search", query="tea", max_tokens=bound)
        assert reply.tokens <= bound
        assert any(sign in reply.text for sign in ("…", "omitted", "cut: raise max_tokens"))
    assert "very good" in good(repo, "memory_search", query="number 3", max_tokens=200).text
    id_ = id_in(good(repo, "memory_store", text="tea " * 2000, reason="r").text)
    cut = good(repo, "memory_get", id=id_, max_tokens=300)
    assert cut.tokens <= 300
    assert cut.text.endswith("cut: raise max_tokens for the rest")


def test_a_refusal_names_tools_that_list_what_it_says(repo: Path) -> None:
    for name, arguments in (
        ("memory_search", {"query": "x", "at": "nothing"}),
        ("memory_search", {"query": "x", "at": "2020-01-01"}),
    ):
        fix = call(repo, name, **arguments).text.partition("try: ")[2]
        assert "date" in fix
        assert "memrepo log" not in fix


# The envelope


def test_an_injection_stays_inside_the_envelope_of_every_tool(repo: Path) -> None:
    first = id_in(good(repo, "memory_store", text=INJECTION, reason=MARK, tags=[MARK]).text)
    second = id_in(good(repo, "memory_store", text=f"Vault: {INJECTION}", reason="r").text)
    done(repo, "link", first, "related", second)
    done(repo, "add", f"{INJECTION} noted", "--type", "note", "--title", MARK)
    for name, arguments in {
        "memory_search": {"query": "vault"},
        "memory_get": {"id": first},
        "memory_related": {"id": first},
    }.items():
        reply = good(repo, name, **arguments)
        assert_inside(reply.text)
    for name, arguments in {
        "memory_thread_context": {"id": first},
        "memory_status": {},
        "memory_forget": {"id": second, "reason": "r"},
        "memory_get": {"id": MARK},
        "memory_store": {"text": INJECTION, "reason": "again"},
    }.items():
        reply = call(repo, name, **arguments)
        assert [s for s in strings([reply.text]) if MARK in outside(s)] == []


# Others who write


def test_a_bug_in_one_tool_is_an_answer(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError(MARK)

    monkeypatch.setattr(status, "marked_memories", broken)
    reply = answer(session(repo), TOOLS["memory_status"], {})
    assert reply.failed
    assert_inside(reply.text, told=False)


def test_a_reply_has_one_fence_and_advises_nothing_that_only_a_terminal_can_do(repo: Path) -> None:
    stored = good(repo, "memory_store", text="The kiln has four doors.", reason="counted")
    twin = good(repo, "memory_store", text="The kiln has four red doors.", reason="seen")
    hot = good(repo, "memory_hot")
    nothing = good(repo, "memory_search", query="zeppelin")
    unsure = good(repo, "memory_search", query="price of zeppelin doors in winter")
    alone = good(repo, "memory_related", id=id_in(stored.text))
    again = good(repo, "memory_store", text="The kiln has four doors.", reason="x", tags=["a"])
    assert "ask again" in unsure.text
    for reply in (stored, twin, hot, nothing, unsure, alone, again):
        assert not re.search("`(memrepo|--)", reply.text)
        assert "pip install" not in reply.text
    assert "four doors" in hot.text
    assert hot.text.count(HEAD) == 1
    assert hot.text.count("````") == 0
