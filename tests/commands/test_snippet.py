"""What an agent's own instructions say of its memory: every command in it is one that works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from driving import done, memrepo, standing

from memrepo.faces.cli import command_parser
from memrepo.policies.links import find_directives


@pytest.fixture
def snippet(tmp_path: Path) -> str:
    done(tmp_path, "init", "a repo")
    repo = tmp_path / "a repo"
    before = standing(repo)
    found = done(repo, "session", "snippet")
    assert standing(repo) == before
    plain = memrepo(repo, "session", "snippet", as_json=False).out
    assert plain.strip() == found["prompt"]
    return str(found["prompt"])


def test_every_command_in_it_is_one_that_the_parser_takes(snippet: str, tmp_path: Path) -> None:
    assert "$" not in snippet
    calls = [shlex.split(line) for line in re.findall(r"`([^`]* -C [^`]*)`", snippet)]
    said = []
    for words in calls:
        at = words.index("-C")
        assert words[at + 1] == str(tmp_path / "a repo")
        name, *rest = words[at + 2 :]
        command_parser(name).parse_args(rest)
        said.append(" ".join([name, *rest[:1]]))
    needed = [
        "session start",
        "session end",
        "session refresh",
        "search --layered",
        "search QUESTION",
    ]
    assert [one for one in needed if one not in said] == []
    assert said.count("directives -") == 1


def test_the_directives_in_it_are_those_that_are_executed(snippet: str) -> None:
    named = re.findall(r"\[\[[^\]]*\]\]", snippet)
    assert len(named) == 6
    assert len(find_directives("\n".join(named))) == 6
