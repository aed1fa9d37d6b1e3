"""The configuration is set in its file; a program changes one line of it and no other."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from driving import done, git, memrepo
from hypothesis import given
from hypothesis import strategies as st

from memrepo.config import with_value
from memrepo.core.errors import UsageError

OWN = """\
# My notes on this file.
timezone = "UTC"   # where I live
human_authors = [
  "a@example.org",  # me
]

[run]
judge = "offline"
# max_usd = 0.50
[sources]
notes = ["b.md"]
"""


@pytest.mark.parametrize(
    ("name", "value", "line", "after"),
    [
        ("run.owner", "here", 'owner = "here"', "[run]"),
        ("run.judge", "claude", 'judge = "claude"', "[run]"),
        ("human_authors", ["a@x", "b@x"], 'human_authors = ["a@x", "b@x"]', "timezone"),
        ("sources.claims", ["y.md"], 'claims = ["y.md"]', "[sources]"),
        ("profile", "business", 'profile = "business"', ""),
        ("hot.budget", 9, "budget = 9", "[hot]"),
    ],
)
def test_a_key_is_set_and_no_other_line_changes(
    name: str, value: object, line: str, after: str
) -> None:
    lines = with_value(OWN, name, value).split("\n")  # type: ignore[arg-type]
    at = lines.index(line)
    assert lines[at - 1].startswith(after) if after else not at
    removed = set(OWN.split("\n")) - {*lines}
    assert all(name.rpartition(".")[2] in row or "@" in row or row == "]" for row in removed)


@given(st.sampled_from(["run.owner", "timezone", "importance.x"]), st.text() | st.lists(st.text()))
def test_what_is_set_is_read_back(name: str, value: str | list[str]) -> None:
    try:
        table: object = tomllib.loads(with_value(with_value(OWN, name, "first"), name, value))
    except UsageError:
        assert "\x7f" in "".join(value)  # what JSON and TOML write in different ways
        return
    for part in name.split("."):
        assert isinstance(table, dict)
        table = table[part]
    assert table == value


def test_a_key_is_explained_with_what_it_may_be_and_where_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(tmp_path, "init", "repo", "--tz", "UTC")
    repo = tmp_path / "repo"
    answer = memrepo(repo, "config", "run.judge", as_json=False).out
    assert "one of offline, anthropic, claude, openclaw, openai, command" in answer
    assert "(memrepo.toml:" in answer
    assert "[run], judge = ..." in answer
    assert max(map(len, answer.splitlines())) <= 80
    error = memrepo(repo, "config", "run.max_usdd").error
    assert (error["exit"], error["fix"]) == (2, "did you mean run.max_usd?")
    user = tmp_path / "gitconfig"
    user.write_text('[memrepo "judge"]\n\tcommand = mine\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(user))
    (row,) = done(repo, "config", "judge.command")["keys"]
    assert (row["value"], row["from"]) == ("mine", "git's global settings")
    git(repo, "config", "memrepo.judge.command", "claude")
    (row,) = done(repo, "config", "judge.command")["keys"]
    assert (row["value"], row["from"]) == ("claude", ".git/config")
    assert "notify.command" not in {row["key"] for row in done(repo, "config")["keys"]}
