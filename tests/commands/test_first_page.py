"""The first page: at most its budget, there also when it is empty, and reading it is an access."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, assert_sound, done, git, memories, memrepo

from memrepo.actions.work import Call
from memrepo.core.times import parse_time
from memrepo.faces.mcp.answer import answer
from memrepo.faces.mcp.tools import DEFAULT

BULLET = re.compile(r"^- .*←memories/", re.MULTILINE)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace."""
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def page(repo: Path) -> str:
    return (repo / "MEMORY.md").read_text()


def by_heart(repo: Path, now: str) -> str:
    """Ask for the first page as an agent does."""
    (tool,) = [tool for tool in DEFAULT if tool.name == "memory_hot"]
    reply = answer(Call(where=repo, now=parse_time(now)), tool, {}, "test")
    assert not reply.failed
    return reply.text


def test_the_page_never_holds_more_than_its_budget(repo: Path) -> None:
    ids = [done(repo, "add", f"Locker {n} belongs to rower {n}.")["id"] for n in range(32)]
    for id_ in ids:
        done(repo, "promote", id_, now=LATER)
        assert len(BULLET.findall(page(repo))) <= 30
    assert "2 more stand in:" in page(repo), "what is left out is named"
    assert memrepo(repo, "check", "--all").exit == 0
    done(repo, "run", now=NEXT_DAY)
    assert len(BULLET.findall(page(repo))) == 30
    assert_sound(repo)


def test_the_page_stays_when_its_last_bullet_left(repo: Path) -> None:
    id_ = done(repo, "add", "Locker 4 belongs to Ilse.")["id"]
    assert not (repo / "MEMORY.md").exists()
    done(repo, "promote", id_)
    done(repo, "promote", id_, "--off", now=LATER)
    assert BULLET.findall(page(repo)) == []
    assert "Nothing is on it now" in page(repo)
    assert memrepo(repo, "check", "--all").exit == 0
    done(repo, "run", now=NEXT_DAY)
    assert "Nothing is on it now" in page(repo)
    assert git(repo, "status", "--porcelain") == ""
    done(repo, "undo", now=NEXT_DAY)
    done(repo, "promote", id_, now=NEXT_DAY)
    assert len(BULLET.findall(page(repo))) == 1
    assert "Nothing is on it now" not in page(repo)


def test_a_memory_read_on_the_page_is_not_idle(repo: Path) -> None:
    id_ = done(repo, "add", "Locker 4 belongs to Ilse.")["id"]
    other = done(repo, "add", "The pier was built in 1962.")["id"]
    for one in (id_, other):
        done(repo, "promote", one)
    done(repo, "promote", other, "--off", now=LATER)
    for day in range(2, 7):
        now = f"2026-03-0{day}T09:00:00Z"
        done(repo, "session", "start", "--id", f"s{day}", now=now)
        assert "Locker 4" in by_heart(repo, f"2026-03-0{day}T09:01:00Z")
        done(repo, "run", now=f"2026-03-0{day}T23:00:00Z")
    assert len(BULLET.findall(page(repo))) == 1
    for day in range(11, 15):  # a page that is only injected is read by nobody
        done(repo, "session", "start", "--id", f"s{day}", now=f"2026-03-{day}T09:00:00Z")
        done(repo, "run", now=f"2026-03-{day}T23:00:00Z")
    assert BULLET.findall(page(repo)) == []


def test_what_is_critical_stays_so_through_an_import(repo: Path, tmp_path: Path) -> None:
    layers = tmp_path / "layers"
    (layers / "memory").mkdir(parents=True)
    said = "The boat shed is always locked before dark."
    (layers / "memory" / "knowledge.md").write_text(
        f"# Knowledge\n\n- {said}\n- The pier is old.\n"
    )
    (layers / "MEMORY.md").write_text(
        f"# Memory\n\n## Knowledge\n- {said} ↑2026-01-02(critical)←memory/knowledge.md\n"
    )
    done(repo, "import", "layered", layers)
    (memory,) = [m for m in memories(repo).values() if m.body == said]
    assert memory.flag("critical")
    assert "↑2026-01-02(critical)←" in page(repo)
    for day in range(2, 8):
        done(repo, "session", "start", "--id", f"s{day}", now=f"2026-03-0{day}T09:00:00Z")
        memrepo(repo, "run", now=f"2026-03-0{day}T23:00:00Z")
    assert "(critical)" in page(repo)
