"""One value in every place of a repository, with a clone and a hub: after a purge it is in none."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import hubs
import pytest
import workspaces
from driving import LATER, NEXT_DAY, NOW, assert_sound, done, git, memories, memrepo, runs
from purging import VALUE, collect, given, purged, remove_from_workspace, traces

PLANTED = {"file", "loose file", "file name", "commit", "tag", "ref name", "reflog"} | {
    "work tree",
    "cache",
    "git folder",
}
MEMORY = """# Memory

## People

- Núria Valdés prefers green tea in the morning, and no sugar.
- The server alpha keeps the archive of the choir.
- **Editor of Núria Valdés:** vim

## Office

- We decided to meet at NURIA VALDES' desk on Mondays.
- The keys hang beside the door of the store room.
"""
DREAMS = """# Dreams

## 2026-02-22

I would love to visit Núria Valdés some day.
"""
LOG = """# 2026-02-27

## 09:00 standup

Núria Valdés said that the release is on Friday.

## 10:00 parser

The parser was mended, and nobody was told of it.
"""


def planted(base: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Make a hub and two clones, and put the value into every place there is."""
    hub, laptop, desk = base / "hub.git", base / "laptop", base / "desk"
    git(base, "init", "-q", "--bare", "hub.git")
    workspace = workspaces.write(
        base / "workspace",
        {
            "MEMORY.md": MEMORY.encode(),
            "memory/2026-02-27.md": LOG.encode(),
            "DREAMS.md": DREAMS.encode(),
            "memory/nuria-valdes.md": b"# Topics\n\n- She keeps bees behind the barn.\n",
        },
    )
    done(base, "init", laptop, "--from", workspace)
    git(laptop, "remote", "add", "origin", "../hub.git")
    done(laptop, "run", "--reason", "so that Núria Valdés is known")
    (hot,) = (m.id for m in memories(laptop).values() if "green tea" in m.body)
    done(laptop, "promote", hot)
    done(laptop, "add", "Núria Valdés likes the sea", "--reason", "so Núria Valdés said")
    done(laptop, "sync")
    hubs.clone(base, "desk")
    wordings(laptop, desk, hot)
    beside_history(laptop, monkeypatch)
    runs_that_wait(laptop, workspace)
    by_hand(laptop)
    return hub, laptop, desk


def wordings(laptop: Path, desk: Path, id_: str) -> None:
    """Word one memory differently on two machines: what gives way is kept as a correction."""
    done(laptop, "edit", id_, "--text", "Núria Valdés drinks black tea these days.", now=NOW)
    done(desk, "edit", id_, "--text", "Núria Valdés drinks mint tea these days.", now=LATER)
    hubs.converge(laptop, desk, now=LATER)


def beside_history(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the value in what recall, hooks and caches keep beside history."""
    with monkeypatch.context() as patch:
        patch.setenv("MEMREPO_SESSION", VALUE)
        done(repo, "session", "start", now=LATER)
        done(repo, "search", "tea", now=LATER)
    done(repo, "sync", now=LATER)
    event = {
        "hook_event_name": "Stop",
        "session_id": "s-1",
        "prompt": "Who is Núria Valdés?",
        "last_assistant_message": "Núria Valdés is a colleague.",
    }
    given(repo, json.dumps(event), "agent", "hook", "claude-code", now=LATER)
    with sqlite3.connect(repo / ".git" / "memrepo" / "vectors-small.sqlite3") as vectors:
        vectors.execute("create table texts (said text)")
        vectors.execute("insert into texts values (?)", (VALUE,))
    logs = repo / ".memrepo" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "memory-log-2026-03-01.jsonl").write_text(json.dumps({"said": VALUE}) + "\n")


def runs_that_wait(repo: Path, workspace: Path) -> None:
    """Leave one run that was discarded and one that waits."""
    for hour, tea in ((12, "red"), (13, "white")):
        text = MEMORY.replace("green tea", f"{tea} tea").replace("vim", f"{tea}-vim")
        (workspace / "MEMORY.md").write_text(text)
        now = f"2026-03-01T{hour}:00:00Z"
        answer = memrepo(repo, "run", "--mode", "reconciliation", now=now)
        assert answer.exit == 3, answer
        if hour == 12:
            done(repo, "discard", answer.data["run"], now=now)


def by_hand(repo: Path) -> None:
    """Leave the value where a person's own git leaves it."""
    git(repo, "notes", "add", "-m", "Núria Valdés asked for this")
    git(repo, "tag", "-a", "-m", "as of Núria Valdés' leave", "v-nuria-valdes")
    git(repo, "branch", "draft/nuria-valdes")
    (repo / "plan.txt").write_text("Lunch with Núria Valdés\n")
    git(repo, "add", "plan.txt")
    who = ("-c", "user.name=Núria Valdés", "-c", "user.email=nuria.valdes@example.org")
    git(repo, *who, "commit", "-q", "--no-verify", "-m", "Lunch, by Núria Valdés")
    (repo / "loose.txt").write_text("about Núria Valdés\n")
    git(repo, "hash-object", "-w", "loose.txt")
    (repo / "loose.txt").write_text("more about Núria Valdés\n")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Return a hub and two clones that hold the value everywhere; yours to change."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return planted(tmp_path, monkeypatch)


def bees(repo: Path) -> set[str]:
    """Return the sources of what was read from a file whose name held the value."""
    (memory,) = (m for m in memories(repo).values() if "bees" in m.body)
    return {source.resource for source in memory.sources}


def test_a_value_in_every_place_is_in_none_after_a_purge(places: tuple[Path, Path, Path]) -> None:
    hub, laptop, desk = places
    found = given(laptop, VALUE, "purge", "--dry-run", now=NEXT_DAY).data
    assert found["hits"].keys() >= PLANTED, PLANTED - found["hits"].keys()
    run = runs(laptop)[-1]
    count = git(laptop, "rev-list", "--count", "HEAD")

    (laptop / "plan.txt").write_text("Dinner with Núria Valdés\n")
    git(laptop, "stash", "push", "-q")
    assert "stash" in given(laptop, VALUE, "purge", now=NEXT_DAY).error["fix"]
    git(laptop, "stash", "clear")
    git(laptop, "tag", "-d", "v-nuria-valdes")
    git(laptop, "branch", "-D", "draft/nuria-valdes")
    told = purged(laptop, now=NEXT_DAY)
    assert given(laptop, VALUE, "purge", "--dry-run", now=NEXT_DAY).data["hits"] == {}
    assert git(laptop, "rev-list", "--count", "HEAD~1") == count
    done(laptop, "sync", now=NEXT_DAY)
    collect(hub, told["collect"])
    assert [traces(place) for place in (hub, laptop)] == [[], []]
    assert "asked for this" in git(laptop, "log", "-1", "--notes", "--format=%N", "HEAD~2")

    assert hubs.tip(hub) == hubs.tip(laptop)
    refused = memrepo(desk, "sync", now=NEXT_DAY)
    assert refused.exit == 3
    assert "clone" in refused.error["fix"]
    assert hubs.tip(hub) == hubs.tip(laptop)
    shutil.rmtree(desk)
    hubs.clone(hub.parent, "desk")
    done(desk, "sync", now=NEXT_DAY)

    done(laptop, "search", "tea", "--at", "2026-03-01", "--no-touch", now=NEXT_DAY)
    remove_from_workspace(laptop.parent / "workspace")
    assert memrepo(laptop, "run", now="2026-03-02T10:00:00Z").exit in (0, 3)
    (source,) = bees(laptop)
    assert (laptop / source).exists()
    done(laptop, "revert", run, now="2026-03-02T11:00:00Z")
    done(laptop, "undo", now="2026-03-02T12:00:00Z")
    done(laptop, "sync", now="2026-03-02T13:00:00Z")
    done(desk, "sync", now="2026-03-02T13:00:00Z")
    assert [traces(place) for place in places] == [[], [], []]
    assert hubs.tip(laptop) == hubs.tip(desk)
    assert_sound(desk)
