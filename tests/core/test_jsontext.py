"""Edits of somebody else's JSON: what is not touched stays, what was added goes without a trace."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.actions.setup.agent import block_part
from memrepo.core.jsontext import NotJson, put_item, put_member, take_item, take_member

KEYS = ("hooks", "Stop")
OURS = {"hooks": [{"type": "command", "command": "memrepo"}]}
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=5), part, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5).filter(lambda k: k != "hooks"), VALUES, max_size=3)
HOOKS = st.none() | st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse"]),
    st.lists(OBJECTS, min_size=1, max_size=3),
    min_size=1,
    max_size=2,
)


def is_ours(value: Any) -> bool:
    return value == OURS


@given(data=OBJECTS, hooks=HOOKS, indent=st.sampled_from([None, 1, 2, 4, "\t"]), crlf=st.booleans())
@settings(max_examples=80)
def test_what_was_added_is_there_and_goes_without_a_trace(
    data: dict[str, Any], hooks: dict[str, Any] | None, indent: int | str | None, crlf: bool
) -> None:
    whole = {**data, **({} if hooks is None else {"hooks": hooks})}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    added = put_item(text, KEYS, OURS)
    had = (hooks or {}).get("Stop", [])
    wanted = {**whole, "hooks": {**(hooks or {}), "Stop": [OURS, *had]}}
    assert json.loads(added) == wanted
    assert take_item(added, KEYS, is_ours) == text
    assert added.count("\n") == added.count("\r\n") or "\r\n" not in text


def test_what_became_empty_goes_too_and_nothing_else() -> None:
    assert take_item('{"hooks": {"Stop": [1]}}', KEYS, lambda v: v == 1) == "{}"
    text = '{"hooks": {"Stop": [1, 2, 1], "Start": []}}'
    assert take_item(text, KEYS, lambda v: v == 1) == '{"hooks": {"Stop": [2], "Start": []}}'
    assert take_item(text, ("hooks", "Start"), is_ours) == text
    assert take_item(text, ("nothing", "Start"), is_ours) == text


SERVERS = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), OBJECTS, min_size=1)


@given(data=OBJECTS, servers=SERVERS, indent=st.sampled_from([None, 2, "\t"]))
@settings(max_examples=80)
def test_a_member_that_was_put_is_there_once_and_goes_without_a_trace(
    data: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None
) -> None:
    whole = {**data, **({} if servers is None else {"servers": servers})}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    keys = ("servers", "memrepo")
    added = put_member(text, keys, OURS)
    assert json.loads(added) == {**whole, "servers": {**(servers or {}), "memrepo": OURS}}
    assert take_member(added, keys, lambda _: False) == added
    assert take_member(added, keys, is_ours) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{,}", "line 1"),
        ('{\n "a": 1,,\n}', "line 2"),
        ('{\n // mine\n "a": 1\n}', "line 2"),
        ("[]", "expected an object"),
        ('{"hooks": []}', "expected an object"),
        ('{"hooks": {"Stop": {}}}', "expected a list"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(NotJson, match=said):
        put_item(text, KEYS, OURS)


@given(text=st.text(max_size=80).filter(lambda t: "memrepo:" not in t))
@settings(max_examples=60)
def test_a_block_goes_as_it_came_and_another_s_stays(text: str) -> None:
    part, other = (block_part(Path("x"), name, "body") for name in ("one", "two"))
    once = part.put(text)
    assert "\nbody\n" in once
    assert part.put(once) == once
    assert part.take(once) == text
    assert part.take(other.take(part.put(other.put(text)))).strip() == text.strip()
    assert once.strip() in other.put(once)


def test_a_block_of_a_toml_file_goes_without_a_trace() -> None:
    part = block_part(Path("x"), "codex", "[mcp_servers.memrepo]\ncommand = 1", ("# ", ""))
    for text in ("", "a = 1\n", 'a = 1\n\n[t]\nb = "# memrepo:begin"\n'):
        made = part.put(text)
        assert tomllib.loads(made)["mcp_servers"] == {"memrepo": {"command": 1}}
        assert part.put(made) == made
        assert part.take(made) == text
