"""A line that states several facts is several memories, each of which lives its own life."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, begin, done, memories

from memrepo.core.memory import Memory

THIRD = "2026-03-03T09:00:00Z"
HEAD = "# Memory\n\n## Atlas\n\n"


def stack(*values: str) -> bytes:
    return f"{HEAD}- **Stack:** {'; '.join(values)}\n".encode()


def by_object(repo: Path) -> dict[str, Memory]:
    return {m.text("object"): m for m in memories(repo).values() if m.status == "active"}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"MEMORY.md": stack("Python 3.11", "Postgres", "deployed on Fly")}
    return begin(tmp_path, workspaces.write(tmp_path / "workspace", files))


def edit(repo: Path, data: bytes, now: str = LATER) -> dict[str, object]:
    (repo.parent / "workspace" / "MEMORY.md").write_bytes(data)
    return done(repo, "run", now=now)


def test_each_value_is_a_memory_with_the_line_as_evidence(repo: Path) -> None:
    found = by_object(repo)
    assert set(found) == {"Python 3.11", "Postgres", "deployed on Fly"}
    assert len({m.id for m in found.values()}) == 3
    for value, memory in found.items():
        assert (memory.text("subject"), memory.text("predicate")) == ("Atlas", "Stack")
        assert (memory.text("lead"), memory.said.strip()) == ("Atlas", f"Stack: {value}")
        assert [s.lines for s in memory.sources] == [(5, 5)]
    assert_sound(repo)


@pytest.mark.parametrize(
    "values",
    [
        ("Python 3.11", "MariaDB", "deployed on Fly"),
        ("MariaDB", "Python 3.11", "deployed on Fly"),
    ],
)
def test_an_edited_value_leaves_the_others_as_they_are(repo: Path, values: tuple[str, ...]) -> None:
    before = by_object(repo)
    edit(repo, stack(*values))
    after = by_object(repo)
    for value in ("Python 3.11", "deployed on Fly"):
        assert after[value].id == before[value].id
        assert after[value].standing == "resolved"
    assert after["MariaDB"].id not in {m.id for m in before.values()}
    old = memories(repo)[before["Postgres"].id]
    assert (old.status, old.texts("superseded_by")) == ("superseded", (after["MariaDB"].id,))
    assert_sound(repo)


def test_a_value_that_is_taken_out_is_retired_alone(repo: Path) -> None:
    before = by_object(repo)
    edit(repo, stack("Python 3.11", "deployed on Fly"))
    standings = {m.text("object"): m.standing for m in memories(repo).values()}
    assert standings == {
        "Python 3.11": "resolved",
        "deployed on Fly": "resolved",
        "Postgres": "retire_candidate",
    }
    assert set(memories(repo)) == {m.id for m in before.values()}


def test_the_same_line_elsewhere_is_more_evidence_of_each(repo: Path) -> None:
    (repo.parent / "workspace" / "RTMEMORY.md").write_bytes(
        stack("Python 3.11", "Postgres", "deployed on Fly")
    )
    done(repo, "run", now=LATER)
    found = by_object(repo)
    assert len(found) == 3
    assert {len(m.sources) for m in found.values()} == {2}
    answer = done(repo, "run", now=THIRD)
    assert answer["commits"] == []


def test_a_reconciliation_of_several_facts_changes_nothing(repo: Path) -> None:
    answer = done(repo, "run", "--mode", "reconciliation", now=LATER)
    assert (answer["status"], answer["commits"]) == ("skipped", [])


SAID = "Anna likes green tea in the morning. Ben hates the smell of coffee in the office."


def test_sentences_about_two_people_are_two_memories(tmp_path: Path) -> None:
    files = {"MEMORY.md": f"{HEAD}- {SAID}\n".encode()}
    repo = begin(tmp_path, workspaces.write(tmp_path / "workspace", files))
    assert {m.text("subject") for m in memories(repo).values()} == {"Anna", "Ben"}
    edit(repo, f"{HEAD}- {SAID.replace('smell', 'sight')}\n".encode())
    active = [m for m in memories(repo).values() if m.status == "active"]
    assert {m.text("subject"): m.body.strip() for m in active} == {
        "Anna": "Atlas: Anna likes green tea in the morning.",
        "Ben": "Atlas: Ben hates the sight of coffee in the office.",
    }
    assert len(active) == 2


STEPS = [f"{n}. Open valve {n} by a quarter turn and wait for the green light." for n in range(20)]


def test_a_long_procedure_keeps_every_step_in_order(tmp_path: Path) -> None:
    text = "# Procedures\n\n## Fill the boiler\n\n" + "\n".join(STEPS) + "\n"
    files = {"PROCEDURES.md": text.encode()}
    repo = begin(tmp_path, workspaces.write(tmp_path / "workspace", files))
    found = sorted(memories(repo).values(), key=lambda m: m.sources[0].lines)
    assert "\n".join(m.body.strip() for m in found) == "\n".join(STEPS)
    assert all(len(m.body) <= 400 for m in found)
    assert {m.text("title") for m in found} == {"Fill the boiler"}
    page = (repo / "views" / "PLAYBOOKS.md").read_text()
    places = [page.index(f"Open valve {n} by") for n in range(20)]
    assert places == sorted(places)
    before = {m.id for m in found}
    (repo.parent / "workspace" / "PROCEDURES.md").write_text(
        text.replace("valve 9 by", "valve 99 by")
    )
    done(repo, "run", now=LATER)
    assert set(memories(repo)) == before
    assert sum("valve 99 by" in m.body for m in memories(repo).values()) == 1


def test_what_a_colon_announces_is_told_elsewhere_and_the_colon_goes(tmp_path: Path) -> None:
    text = (
        b"# Band\n\n## Badges\n\n**B-28 - Badges of the players**\n"
        b"The band gives each player a badge at these marks of the year:\n"
        b"- ten rehearsals in a row\n- a solo at the harvest concert\n"
    )
    made = begin(tmp_path, workspaces.write(tmp_path / "workspace", {"MEMORY.md": text}))
    found = [m.body for m in memories(made).values() if not m.is_note]
    assert any("at these marks of the year" in body for body in found)
    assert not any(body.rstrip().endswith(":") for body in found)
