"""Files of a workspace that are moved, renamed, copied or lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, NEXT_DAY, assert_sound, begin, done, memories, memrepo

LOGS = {
    f"memory/2026-01-{day:02}.md": (
        f"# 2026-01-{day:02}\n\n"
        f"Nora measured window {day} and ordered a pane of {day * 100} mm.\n\n"
        f"We decided to buy paint number {day} only from Lemke.\n"
    )
    for day in range(11, 17)
}
PEOPLE = (
    "# People\n\n"
    "- Nora is the glazier and always comes on Mondays.\n"
    "- Lemke sells paint and is closed in August.\n"
    "- Oskar keeps the key of the workshop.\n"
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"MEMORY.md": "- The workshop is in the mill.\n", "memory/people.md": PEOPLE, **LOGS}
    given = {name: text.encode() for name, text in files.items()}
    return begin(tmp_path, workspaces.write(tmp_path / "workspace", given))


def workspace(repo: Path) -> Path:
    return repo.parent / "workspace"


def move(repo: Path, *pairs: tuple[str, str]) -> None:
    for old, new in pairs:
        target = workspace(repo) / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (workspace(repo) / old).rename(target)


def append(repo: Path, name: str, text: str) -> None:
    with (workspace(repo) / name).open("a") as file:
        file.write(text)


def places(repo: Path) -> set[str]:
    return {s.resource for m in memories(repo).values() for s in m.sources}


def said(repo: Path) -> dict[str, tuple[str, str]]:
    return {id_: (m.body, m.status) for id_, m in memories(repo).items()}


def test_logs_that_move_to_an_archive_stop_nothing_and_are_not_doubled(repo: Path) -> None:
    before = said(repo)
    move(repo, *((name, name.replace("memory/", "memory/archive/")) for name in LOGS))
    append(repo, "MEMORY.md", "- Oskar never works on Fridays.\n")
    ran = done(repo, "run", now=NEXT_DAY)
    after = said(repo)
    assert {id_: after[id_] for id_ in before} == before
    (new,) = after.keys() - before.keys()
    assert "Fridays" in after[new][0]
    assert ran["counts"]["notes_new"] == 0
    assert places(repo) == {
        "sources/MEMORY.md",
        "sources/memory/people.md",
        *(f"sources/{name}".replace("memory/", "memory/archive/") for name in LOGS),
    }
    assert done(repo, "run", now=NEXT_DAY)["status"] == "skipped"
    assert done(repo, "status")["unread"] == []
    assert_sound(repo)


def test_a_renamed_file_that_was_edited_loses_and_gains_only_the_edited_lines(repo: Path) -> None:
    before = said(repo)
    move(repo, ("memory/people.md", "memory/team.md"))
    path = workspace(repo) / "memory/team.md"
    path.write_text(path.read_text().replace("- Oskar keeps the key of the workshop.\n", ""))
    append(repo, "memory/team.md", "- Paula paints the doors each May.\n")
    done(repo, "run", now=NEXT_DAY)
    after = said(repo)
    (gone,) = (after[id_] for id_ in before if before[id_] != after[id_])
    (new,) = (after[id_] for id_ in after.keys() - before.keys())
    assert ("Oskar" in gone[0], gone[1]) == (True, "archived")
    assert "Paula" in new[0]
    assert "sources/memory/team.md" in places(repo)


def test_the_context_follows_a_file_that_is_renamed_with_its_heading(repo: Path) -> None:
    move(repo, ("memory/people.md", "memory/Mill folk.md"))
    file = workspace(repo) / "memory" / "Mill folk.md"
    file.write_text(PEOPLE.replace("# People", "# Mill folk"))
    done(repo, "run", now=NEXT_DAY)
    (nora,) = (m for m in memories(repo).values() if "glazier" in m.body)
    assert (nora.first[0], nora.context) == ("sources/memory/Mill folk.md", "Mill folk")


def test_the_revert_of_a_run_that_followed_a_move_is_followed_again(repo: Path) -> None:
    before = said(repo)
    move(repo, ("memory/people.md", "memory/team.md"))
    done(repo, "run", now=LATER)
    done(repo, "revert", now=LATER)
    assert said(repo) == before
    assert "sources/memory/people.md" in places(repo)
    done(repo, "run", now=NEXT_DAY)
    assert said(repo) == before
    assert_sound(repo)


def test_lines_that_were_copied_first_and_deleted_later_are_not_lost(tmp_path: Path) -> None:
    lines = "".join(f"- Shelf {n} is reserved for the tools of team {n}.\n" for n in range(12))
    other = "- Oskar lives in Brevik.\n- Oskar plays the tuba.\n"
    honey = f"- Oskar sells honey in May.\n{other}"
    given = {"MEMORY.md": lines.encode(), "memory/other.md": honey.encode()}
    repo = begin(tmp_path, workspaces.write(tmp_path / "workspace", given))
    (workspace(repo) / "memory/shelves.md").write_text(lines)
    done(repo, "run", now=LATER)
    (workspace(repo) / "MEMORY.md").write_text("- The shelves have a file of their own.\n")
    (workspace(repo) / "memory/other.md").write_text(other)
    before = {m.body: m.status for m in memories(repo).values()}
    ran = memrepo(repo, "run", now=NEXT_DAY)
    assert ran.exit == 0, ran
    after = {m.body: m.status for m in memories(repo).values()}
    changed = {body: status for body, status in after.items() if before.get(body) != status}
    assert sorted(changed.values()) == ["active", "archived"]  # the honey did not have to wait
