"""What the sources hold and no memory rests on is found by search, after the claims."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, NEXT_DAY, done, git, memories, memrepo
from purging import purged

from memrepo.actions.work import Call
from memrepo.faces.mcp.tools import DEFAULT, answer

TIME = datetime(2026, 3, 1, 11, tzinfo=UTC)
CLUB = """\
# Memory

## Club

- The boat shed is locked with a brass padlock.
- The launch ramp is closed on Mondays.
"""
TOWNS = ("Bergen", "Oslo", "Turku", "Gent")
VISITS = [
    f"Visited the {colour} workshop in {town} and looked at the {kind} lathe."
    for colour in ("red", "blue", "green", "yellow")
    for town in TOWNS
    for kind in ("steel", "wooden", "brass")
]
LOG = "# Workshops\n\n## Visits\n\n" + "".join(f"- {visit}\n" for visit in VISITS)
RED_TURKU = "Visited the red workshop in Turku and looked at the wooden lathe."
QUESTION = ("red", "workshop", "Turku", "wooden", "lathe")


def place(repo: Path, name: str, text: str) -> None:
    path = repo.parent / "workspace" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of two memories and a source of which nothing is promoted yet."""
    repo = tmp_path / "repo"
    place(repo, "MEMORY.md", CLUB)
    done(tmp_path, "init", repo, "--from", "workspace")
    done(repo, "run")
    place(repo, "memory/workshops.md", LOG)
    done(repo, "ingest")
    return repo


def found(repo: Path, *argv: str, now: str = LATER) -> list[dict[str, Any]]:
    passages: list[dict[str, Any]] = done(repo, "search", *argv, now=now)["passages"]
    return passages


def texts(repo: Path, *argv: str, now: str = LATER) -> list[str]:
    answer_ = memrepo(repo, "search", *argv, now=now)
    return [one["text"] for one in answer_.data["passages"]]


def indexed(repo: Path) -> bytes:
    """Return all that the index says of passages."""
    with sqlite3.connect(repo / ".git" / "memrepo" / "index.sqlite3") as base:
        return repr(base.execute("SELECT * FROM passage").fetchall()).encode()


def test_what_was_not_promoted_is_found_with_its_lines_and_headings(repo: Path) -> None:
    answer_ = done(repo, "search", *QUESTION)
    assert answer_["hits"] == []
    assert answer_["why"] == ""
    assert len(answer_["passages"]) == 5
    line = LOG.split("\n").index(f"- {RED_TURKU}") + 1
    resource = "sources/memory/workshops.md"
    assert answer_["passages"][0] == {
        "resource": resource,
        "lines": [line, line],
        "blob": git(repo, "rev-parse", f"HEAD:{resource}").strip(),
        "context": "workshops › Visits",
        "text": RED_TURKU,
        "truncated": False,
        "captured": "",
        "after": 0,
    }
    said = memrepo(repo, "search", *QUESTION, as_json=False)
    assert said.exit == 0
    assert said.out.startswith("in the sources, not promoted:\n  workshops › Visits\n")
    assert f"  {RED_TURKU}\n  from {resource}:{line}\n" in said.out
    assert "nothing found" not in said.out


def test_passages_come_after_the_claims_and_never_repeat_one(repo: Path) -> None:
    place(repo, "memory/ramp.md", "# Ramp\n\n- The launch ramp is closed on Mondays.\n")
    done(repo, "ingest", now=LATER)
    answer_ = done(repo, "search", "ramp", "closed", now=LATER)
    assert [hit["text"] for hit in answer_["hits"]] == ["The launch ramp is closed on Mondays."]
    assert answer_["passages"] == []
    place(repo, "memory/ramp.md", "# Ramp\n\n- The old ramp was closed by ice in January 1987.\n")
    done(repo, "ingest", now=LATER)
    said = memrepo(repo, "search", "ramp", "closed", now=LATER, as_json=False).out
    assert said.index("closed on Mondays") < said.index("not promoted:") < said.index("by ice")


@pytest.mark.parametrize(
    "limit",
    [
        ("--type", "fact"),
        ("--tag", "boats"),
        ("--status", "archived"),
        ("--scope", "user:ana"),
        ("--at", "HEAD"),
        ("--valid-at", "2026-03-01"),
        ("--layered",),
    ],
)
def test_a_search_that_is_limited_to_some_memories_finds_no_passage(
    repo: Path, limit: tuple[str, ...]
) -> None:
    assert found(repo, *QUESTION)
    assert not found(repo, *QUESTION, *limit)


def test_nothing_of_the_sources_is_found_for_a_bound_scope(repo: Path) -> None:
    tool = next(tool for tool in DEFAULT if tool.name == "memory_search")
    arguments = {"query": " ".join(QUESTION)}
    free = answer(Call(where=repo, now=TIME), tool, arguments, "test")
    assert RED_TURKU in free.text
    assert free.data["passages"][0]["source"].startswith("sources/memory/workshops.md:")
    assert free.text.index("no memory found") < free.text.index("in the sources, not promoted:")
    bound = answer(Call(where=repo, now=TIME, scope="user:ana"), tool, arguments, "test")
    assert "passages" not in bound.data
    assert "Turku" not in bound.text


def test_a_line_that_left_its_source_is_no_passage_any_more(repo: Path) -> None:
    assert RED_TURKU in texts(repo, *QUESTION)
    place(repo, "memory/workshops.md", LOG.replace(f"- {RED_TURKU}\n", ""))
    done(repo, "ingest", now=LATER)
    assert RED_TURKU not in texts(repo, *QUESTION)
    assert b"red workshop in Turku and looked at the wooden" not in indexed(repo)
    (repo.parent / "workspace" / "memory" / "workshops.md").unlink()
    done(repo, "ingest", "--force", now=LATER)
    assert not found(repo, *QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        "# Keys\n\n- The boat shed is locked with a brass padlock.\n",
        "# Keys\n\nThe boat shed is locked with a **brass** padlock.\n",
        "# Keys\n\nThe boat shed, they say, is locked with a brass padlock.\n",
    ],
)
def test_what_a_person_rejected_is_never_a_passage(repo: Path, text: str) -> None:
    place(repo, "memory/keys.md", text)
    done(repo, "ingest", now=LATER)
    (id_,) = [i for i, m in memories(repo).items() if "padlock" in m.body]
    found(repo, "brass", "padlock")
    done(repo, "reject", id_, "--reason", "it never was", now=LATER)
    assert not any("padlock" in one for one in texts(repo, "brass", "padlock", now=NEXT_DAY))
    assert b"padlock" not in indexed(repo)


def test_of_a_longer_thought_the_rest_is_found_without_what_was_rejected(repo: Path) -> None:
    shed = "The boat shed is locked with a brass padlock. Its roof is of Welsh slate."
    place(repo, "memory/shed.md", f"# Shed\n\n{shed}\n")
    done(repo, "ingest", now=LATER)
    assert texts(repo, "Welsh", "slate", "roof") == [shed]
    (id_,) = [i for i, m in memories(repo).items() if "padlock" in m.body]
    done(repo, "reject", id_, "--reason", "it never was", now=LATER)
    assert texts(repo, "Welsh", "slate", "roof") == ["Its roof is of Welsh slate."]


def test_a_purge_leaves_nothing_of_a_passage_in_the_index(repo: Path) -> None:
    found(repo, *QUESTION)
    index = repo / ".git" / "memrepo" / "index.sqlite3"
    assert b"wooden lathe" in index.read_bytes()
    purged(repo, "wooden lathe")
    assert not index.exists() or b"wooden lathe" not in index.read_bytes()
    assert not any("wooden" in text for text in texts(repo, *QUESTION))
    assert b"wooden lathe" not in index.read_bytes()
