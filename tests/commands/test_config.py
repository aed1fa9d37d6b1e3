"""Setting, editing and explaining the configuration; a person's own bytes of it stay."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from driving import assert_sound, done, git, memrepo, standing, subjects
from hypothesis import given
from hypothesis import strategies as st

from memrepo.actions.setup.config import with_value, without

OWN = """\
# My notes on this file.
timezone = "UTC"   # where I live

[run]
judge = "offline"
# What a run may spend:
# max_usd = 0.50
# max_tokens = 1000

# [sources]
# claims = [
#   "a.md",
# ]
[sources]
days = true
# notes = [
#   "b.md",
# ]
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    done(tmp_path, "init", "repo", "--tz", "UTC")
    return tmp_path / "repo"


@pytest.mark.parametrize(
    ("path", "value", "new_line", "after"),
    [
        (("timezone",), "Asia/Tokyo", 'timezone = "Asia/Tokyo"   # where I live', "# My notes"),
        (("run", "max_usd"), 2.5, "max_usd = 2.5", "# max_usd = 0.50"),
        (("run", "max_tokens_month"), 9, "max_tokens_month = 9", 'judge = "offline"'),
        (("sources", "notes"), ["x.md"], 'notes = ["x.md"]', "days = true"),
        (("sources", "claims"), ["y.md"], 'claims = ["y.md"]', "days = true"),
        (("profile",), "business", 'profile = "business"', "timezone ="),
        (("decay", "ttl", "my class"), "3d", '"my class" = "3d"', "[decay.ttl]"),
    ],
)
def test_a_key_is_set_where_a_reader_looks_for_it_and_no_other_line_changes(
    path: tuple[str, ...], value: object, new_line: str, after: str
) -> None:
    new = with_value(OWN, path, value)
    lines, before = new.splitlines(), OWN.splitlines()
    assert new_line in lines
    assert lines[lines.index(new_line) - 1].startswith(after)
    kept = [line for line in before if not line.startswith(f"{path[-1]} =")]
    assert [line for line in lines if line in kept and line] == [line for line in kept if line]
    table: object = tomllib.loads(new)
    for name in path:
        assert isinstance(table, dict)
        table = table[name]
    assert table == value


NAMES = st.sampled_from([("run", "max_tokens"), ("timezone",), ("entities", "aliases", "K8s x")])


@given(NAMES, st.text() | st.integers(0, 10**6) | st.lists(st.text(max_size=9), max_size=3))
def test_what_is_set_is_read_back_and_what_is_unset_is_gone(
    path: tuple[str, ...], value: object
) -> None:
    new = with_value(with_value(OWN, path, "first"), path, value)
    table: object = tomllib.loads(new)
    for name in path:
        assert isinstance(table, dict)
        table = table[name]
    assert table == value
    assert path[-1] not in str(tomllib.loads(without(new, path)))
    assert [r for r in new.splitlines() if r.startswith("#")] == [
        r for r in OWN.splitlines() if r.startswith("#")
    ]


def test_a_key_is_set_in_a_commit_of_its_own_and_the_comments_stay(repo: Path) -> None:
    before = (repo / "memrepo.toml").read_text()
    answer = done(repo, "config", "set", "run.max_usd", "0.75", "--reason", "a small budget")
    assert (answer["old"], answer["new"], answer["state"]) == (None, 0.75, "committed")
    assert subjects(repo)[0] == "Set run.max_usd"
    assert "a small budget" in git(repo, "log", "-1", "--format=%B")
    after = (repo / "memrepo.toml").read_text()
    assert after.replace("max_usd = 0.75\n", "", 1) == before
    assert_sound(repo)
    done(repo, "config", "unset", "run.max_usd")
    assert (repo / "memrepo.toml").read_text() == before
    assert done(repo, "config", "set", "timezone", "UTC")["state"] == "unchanged"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("set", "timezone", "Europe/Berlin"), "Europe/Berlin"),
        (("set", "sources.days", "off"), False),
        (("set", "run.max_tokens", "1_000"), 1000),
        (("set", "sources.notes", "a.md", "b.md"), ["a.md", "b.md"]),
        (("set", "sources.notes", '["a.md"]'), ["a.md"]),
        (("add", "human_authors", "o@example.org"), ["person@example.org", "o@example.org"]),
        (("remove", "human_authors", "person@example.org"), []),
        (("set", "judge.model", "5"), "5"),
        (("set", "entities.aliases.Kubernetes", '["k8s"]'), {"Kubernetes": ["k8s"]}),
        (("set", "schedule.incremental", "15 5 * * *"), ["15 5 * * *"]),
    ],
)
def test_words_of_a_command_line_become_values(
    repo: Path, words: tuple[str, ...], value: object
) -> None:
    assert done(repo, "config", *words)["new"] == value
    key = words[1].removesuffix(".Kubernetes")
    assert done(repo, "config", "show", key)["keys"][0]["value"] == value


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "run.judge", "cloud"), "expected one of offline"),
        (("set", "run.max_usd", "-1"), "expected an amount"),
        (("set", "run.max_usdd", "1"), "did you mean run.max_usd?"),
        (("set", "run.max_usd"), "no value was given"),
        (("set",), "no key was given"),
        (("unset", "run.max_usd", "1"), "takes no value"),
        (("add", "run.judge", "x"), "holds no list"),
        (("remove", "sources.notes", "x"), "does not hold"),
        (("explain", "timezon"), "did you mean timezone?"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_changes(
    repo: Path, words: tuple[str, ...], said: str
) -> None:
    before = standing(repo)
    answer = memrepo(repo, "config", *words)
    assert answer.exit == 2
    assert said in answer.error["message"] + answer.error["fix"]
    assert standing(repo) == before


def test_a_program_is_set_for_this_clone_alone(repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    assert done(repo, "config", "set", "judge.command", "claude")["path"] == ".git/config"
    assert git(repo, "config", "memrepo.judge.command").strip() == "claude"
    assert done(repo, "config", "explain", "judge.command")["from"] == ".git/config"
    done(repo, "config", "unset", "judge.command")
    assert "judge.command" not in {r["key"] for r in done(repo, "config", "show")["keys"]}
    assert git(repo, "rev-parse", "HEAD") == head


def test_a_key_is_explained_with_what_it_may_be_and_what_is_in_effect(repo: Path) -> None:
    answer = memrepo(repo, "config", "explain", "run.judge", as_json=False).out
    assert "one of offline, anthropic, claude, openclaw, openai, command, replay" in answer
    assert 'default  "offline"' in answer
    assert "(memrepo.toml:" in answer
    assert max(map(len, answer.splitlines())) <= 80
