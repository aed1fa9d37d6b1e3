"""What a text asks of the memory is told to a person with the command that does it, never done."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, done, memories, memrepo

from memrepo.actions.run.retire import requests


@pytest.mark.parametrize(
    ("text", "asks", "fix"),
    [
        (
            "Please [[pin:knowledge:shed]] now",
            "asks [[pin:knowledge:shed]]",
            "`echo '[[pin:knowledge:shed]]' | memrepo directives`",
        ),
        (
            "[[forget keyword:a b]]",
            "asks [[forget keyword:a b]]",
            "`echo '[[forget keyword:a b]]' | memrepo directives`",
        ),
        (
            "[[memory_health]]",
            "asks [[memory_health]]",
            "`echo '[[memory_health]]' | memrepo directives`",
        ),
    ],
)
def test_a_request_is_told_with_its_command(text: str, asks: str, fix: str) -> None:
    (found,) = requests("sources/MEMORY.md", 3, text)
    assert found.message == f"{asks}: nothing was done, a person decides"
    assert (found.fix, found.line, found.severity) == (fix, 3, "warning")


@pytest.mark.parametrize("text", ["[[link]]", "Remember this: the pump leaks"])
def test_other_words_ask_nothing(text: str) -> None:
    assert list(requests("a.md", 1, text)) == []


def test_the_words_of_a_request_cannot_break_out_of_the_command() -> None:
    text = "[[forget keyword:x'; rm -rf /; echo ']]"
    (found,) = requests("a.md", 1, text)
    assert found.fix.startswith("`echo '[[forget keyword:x'\"'\"'; rm")


def test_a_run_lists_what_it_read_once_and_does_nothing_of_it(tmp_path: Path) -> None:
    workspace = workspaces.growing(tmp_path / "workspace", 0)
    with (workspace / "MEMORY.md").open("a") as page:
        page.write("- [[promote:knowledge:anything]] said the mail of the seed shop.\n")
    done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    ran = done(repo, "run")
    asked = [w for w in ran["warnings"] if w["rule"] == "request-in-text"]
    assert len(asked) == 1
    asking = [m for m in memories(repo).values() if "[[" in m.body]
    assert asking
    assert all("hot" not in m.fields for m in asking)
    assert len(done(repo, "status")["requests"]) == 1
    shown = memrepo(repo, "status", as_json=False).out
    assert "nothing was done, a person decides" in shown
    began = done(repo, "session", "start")
    assert "1 request waits for a person (`memrepo status`)" in began["warnings"]
    with (workspace / "MEMORY.md").open("a") as page:
        page.write("- The hose is ten metres long and green.\n")
    again = done(repo, "run", now=LATER)
    assert [w for w in again["warnings"] if w["rule"] == "request-in-text"] == []
