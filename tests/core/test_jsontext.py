"""Edits of somebody else's JSON: what is not touched stays, what was added goes without a trace."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.actions.setup.agent import with_block, without_block
from memrepo.core.jsontext import NotJson, append, put, take_away, take_out, without_comments

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
    added = append(text, KEYS, OURS)
    had = (hooks or {}).get("Stop", [])
    wanted = {**whole, "hooks": {**(hooks or {}), "Stop": [*had, OURS]}}
    assert json.loads(added) == wanted
    assert take_out(added, KEYS, is_ours) == text
    assert added.count("\n") == added.count("\r\n") or "\r\n" not in text


def test_what_became_empty_goes_too_and_nothing_else() -> None:
    assert take_out('{"hooks": {"Stop": [1]}}', KEYS, lambda v: v == 1) == "{}"
    text = '{"hooks": {"Stop": [1, 2, 1], "Start": []}}'
    assert take_out(text, KEYS, lambda v: v == 1) == '{"hooks": {"Stop": [2], "Start": []}}'
    assert take_out(text, ("hooks", "Start"), is_ours) == text
    assert take_out(text, ("nothing", "Start"), is_ours) == text


SERVERS = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), OBJECTS, min_size=1)


@given(data=OBJECTS, servers=SERVERS, indent=st.sampled_from([None, 2, "\t"]))
@settings(max_examples=80)
def test_a_member_that_was_put_is_there_once_and_goes_without_a_trace(
    data: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None
) -> None:
    whole = {**data, **({} if servers is None else {"servers": servers})}
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    keys = ("servers", "memrepo")
    added = put(put(text, keys, {"old": 1}), keys, OURS)
    assert json.loads(added) == {**whole, "servers": {**(servers or {}), "memrepo": OURS}}
    assert take_away(added, keys, lambda _: False) == added
    assert take_away(added, keys, is_ours) == text


NOTES = (" // one\n", "/* two, */", '\n  // three // "\n', " ")


@given(
    data=OBJECTS,
    hooks=HOOKS,
    indent=st.sampled_from([None, 2]),
    notes=st.lists(st.sampled_from(NOTES), min_size=40, max_size=40),
    commas=st.booleans(),
)
@settings(max_examples=150)
def test_comments_and_trailing_commas_outlive_an_edit(
    data: dict[str, Any],
    hooks: dict[str, Any] | None,
    indent: int | None,
    notes: list[str],
    commas: bool,
) -> None:
    whole = {**data, **({} if hooks is None else {"hooks": hooks})}
    left = list(notes)

    def noted(match: re.Match[str]) -> str:
        if match[0].startswith('"') or not left:
            return match[0]
        comma = "," * (commas and match[0] in "]}" and match.string[match.start() - 1] not in "[{")
        return left.pop() + comma + left.pop() * bool(left) + match[0]

    text = re.sub(r'"(?:[^"\\]|\\.)*"|[\]},]', noted, json.dumps(whole, indent=indent))
    assert json.loads(without_comments(text)) == whole
    added = append(text, KEYS, OURS)
    had = (hooks or {}).get("Stop", [])
    wanted = {**whole, "hooks": {**(hooks or {}), "Stop": [*had, OURS]}}
    assert json.loads(without_comments(added)) == wanted
    out = take_out(added, KEYS, is_ours)
    assert json.loads(without_comments(out)) == whole
    for told in ("// one", "/* two, */", "// three"):
        assert text.count(told) == added.count(told) == out.count(told)


def test_a_comment_stays_beside_what_it_is_of() -> None:
    text = (
        '{\n  // which\n  "model": "x", // big\n'
        '  "hooks": {\n    "Stop": [\n      1, // mine\n    ],\n  },\n}\n'
    )
    added = append(text, KEYS, 2)
    assert added == text.replace("1, // mine\n", "1, // mine\n      2\n")
    assert take_out(added, KEYS, lambda v: v == 2).split() == text.replace("1,", "1").split()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1"),
        ("{,}", "line 1"),
        ("[1,,]", "line 1"),
        ('{\n "a": 1,,\n}', "line 2"),
        ("/ x\n{}", "line 1"),
        ("{} /* x", "line 1"),
        ("[]", "expected an object"),
        ('{"hooks": []}', "expected an object"),
        ('{"hooks": {"Stop": {}}}', "expected a list"),
        ("[" * 100_000, "line 1"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(NotJson, match=said):
        append(text, KEYS, OURS)


@given(text=st.text(max_size=80).filter(lambda t: "memrepo:" not in t))
@settings(max_examples=60)
def test_a_block_goes_as_it_came(text: str) -> None:
    once = with_block(text, "body")
    assert "\nbody\n" in once
    assert with_block(once, "body") == once
    joint = "" if not text or text.endswith("\n") else "\n"
    assert without_block(once) == text + joint


def test_a_block_of_a_toml_file_goes_without_a_trace() -> None:
    for text in ("", "a = 1\n", 'a = 1\n\n[t]\nb = "# memrepo:begin"\n'):
        made = with_block(text, "[mcp_servers.memrepo]\ncommand = 1", toml=True)
        assert tomllib.loads(made)["mcp_servers"] == {"memrepo": {"command": 1}}
        assert with_block(made, "[mcp_servers.memrepo]\ncommand = 1", toml=True) == made
        assert without_block(made, toml=True) == text
