"""The history of a small workspace over a few days, word for word, as `git log` shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import workspaces
from driving import begin, done, git, memrepo

RUN = re.compile(r"(\d{8}T\d{6}Z)-[0-9a-f]{8}")
DIGITS = re.compile(r"-[0-9a-f]{6}(?=\.md$| by )")
HASH = re.compile(r"\b(con|ts)-[0-9a-f]{16}")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small workspace's repository after three days, a revert and a held run."""
    base = tmp_path_factory.mktemp("golden")
    made = begin(base, workspaces.growing(base / "workspace", 0))
    for day in range(1, 4):
        workspaces.growing(base / "workspace", day)
        done(made, "run", now=f"2026-03-{day + 1:02d}T09:00:00Z")
    done(made, "revert", now="2026-03-05T09:00:00Z")
    memrepo(made, "run", now="2026-03-06T09:00:00Z")
    return made


def plain(text: str) -> str:
    """Drop what hangs on hashes: the tail of run ids, of file names."""
    text = RUN.sub(r"\1", text)
    return DIGITS.sub("", HASH.sub(r"\1", text))


def history(repo: Path, *argv: str) -> list[tuple[str, ...]]:
    """Return subject and changed files of each commit, oldest first."""
    raw = git(
        repo,
        "log",
        "--reverse",
        "--topo-order",
        "--no-renames",
        "--name-status",
        "--format=%x01%s",
        *argv,
    )
    found = []
    for record in raw.split("\x01")[1:]:
        subject, *rest = [line for line in record.split("\n") if line]
        found.append((plain(subject), *(plain(line.replace("\t", " ")) for line in rest)))
    return found


def test_the_full_log_is_word_for_word(repo: Path) -> None:
    assert history(repo) == FULL


def test_the_first_parent_log_is_one_line_an_operation(repo: Path) -> None:
    assert [
        plain(s) for s in git(repo, "log", "--first-parent", "--format=%s").splitlines()
    ] == LINES


def test_who_wrote_what_is_on_every_commit(repo: Path) -> None:
    raw = git(repo, "log", "--format=%an <%ae>|%cn|%(trailers:key=Memrepo-Op,valueonly,separator=)")
    authors = {line.split("|")[2]: tuple(line.split("|")[:2]) for line in raw.splitlines()}
    machine = "memrepo run <run@memrepo.invalid>"
    person = "Test Person <person@example.org>"
    assert {op: author for op, (author, _) in authors.items()} == {
        "create": machine,
        "reword": machine,
        "tier": machine,
        "supersede": machine,
        "promote": machine,
        "run": machine,
        "ingest": machine,
        "init": person,
        "revert": person,
    }


FULL: list[tuple[str, ...]] = [
    (
        "Create knowledge repository",
        "A .gitattributes",
        "A .gitignore",
        "A .pre-commit-config.yaml",
        "A memrepo.toml",
        "A templates/daily-log.md",
    ),
    (
        "Copy sources: 6 added",
        "A sources/MEMORY.md",
        "A sources/PROCEDURES.md",
        "A sources/RTMEMORY.md",
        "A sources/memory/2026-02-01.md",
        "A sources/memory/2026-02-02.md",
        "A sources/memory/tools.md",
    ),
    (
        "Add 6 memories from MEMORY.md and 3 other files",
        "A memories/decisions/we-decided-to-plant-only-heirloom-tomatoes-from-2026-on.md",
        "A memories/knowledge/2026-01/watering-interval-every-3-days-2026-01-05.md",
        "A memories/knowledge/never-prune-the-roses-before-the-last-frost-in-april.md",
        "A memories/knowledge/the-rotary-hoe-must-always-be-stored-with-an-empty-tank.md",
        "A memories/preferences/vera-prefers-raised-beds-because-her-back-hurts.md",
        "A memories/skills/start-the-pump.md",
    ),
    (
        "Add 3 notes from memory/2026-02-01.md and 1 other file",
        "A memories/notes/2026-02/09-00-orders.md",
        "A memories/notes/2026-02/15-30-weather.md",
        "A memories/notes/2026-02/2026-02-02.md",
    ),
    (
        "Show 4 memories on the first page",
        "M memories/decisions/we-decided-to-plant-only-heirloom-tomatoes-from-2026-on.md",
        "M memories/knowledge/never-prune-the-roses-before-the-last-frost-in-april.md",
        "M memories/knowledge/the-rotary-hoe-must-always-be-stored-with-an-empty-tank.md",
        "M memories/preferences/vera-prefers-raised-beds-because-her-back-hurts.md",
    ),
    (
        "Record what the run read and decided",
        "A MEMORY.md",
        "A runs/2026-03/20260301T090000Z.json",
        "A views/EPISODES.md",
        "A views/HISTORY.md",
        "A views/LTMEMORY.md",
        "A views/PLAYBOOKS.md",
        "A views/TOPICS.md",
        "A views/WISHES.md",
    ),
    ("Run 20260301T090000Z: 6 new, 3 new notes, 4 on first page",),
    ("Copy sources: 1 added, 1 changed", "M sources/MEMORY.md", "A sources/memory/2026-02-03.md"),
    (
        "Add decision: Vera decided to keep the greenhouse heated at 14 degrees.",
        "A memories/decisions/vera-decided-to-keep-the-greenhouse-heated-at-14-degrees.md",
    ),
    ("Add note: 08:10: The new pump arrived.", "A memories/notes/2026-02/08-10.md"),
    (
        "Move 3 notes to warm",
        "M memories/notes/2026-02/09-00-orders.md",
        "M memories/notes/2026-02/15-30-weather.md",
        "M memories/notes/2026-02/2026-02-02.md",
    ),
    (
        "Record what the run read and decided",
        "A runs/2026-03/20260302T090000Z.json",
        "M views/LTMEMORY.md",
        "M views/TOPICS.md",
    ),
    ("Run 20260302T090000Z: 1 new, 1 new note, 3 tier moves",),
    ("Copy sources: changed memory/2026-02-01.md", "M sources/memory/2026-02-01.md"),
    (
        "Extend note: 09:00 Orders: The seed order was placed with Holt.…",
        "M memories/notes/2026-02/09-00-orders.md",
    ),
    ("Move note to warm: 08:10: The new pump arrived.", "M memories/notes/2026-02/08-10.md"),
    (
        "Record what the run read and decided",
        "A runs/2026-03/20260303T090000Z.json",
        "M views/TOPICS.md",
    ),
    ("Run 20260303T090000Z: 1 note extended, 1 tier move",),
    ("Copy sources: changed MEMORY.md", "M sources/MEMORY.md"),
    (
        "Add fact: Watering interval: every 5 days (2026-02-10)",
        "A memories/knowledge/2026-02/watering-interval-every-5-days-2026-02-10.md",
    ),
    (
        "Supersede: Watering interval: every 5 days… (was: every 3 days…)",
        "A corrections/2026-03-04-con.md",
        "M memories/knowledge/2026-01/watering-interval-every-3-days-2026-01-05.md",
        "M memories/knowledge/2026-02/watering-interval-every-5-days-2026-02-10.md",
    ),
    (
        "Record what the run read and decided",
        "A runs/2026-03/20260304T090000Z.json",
        "M views/LTMEMORY.md",
    ),
    ("Run 20260304T090000Z: 1 new, 1 superseded",),
    (
        "Revert: Run 20260304T090000Z: 1 new, 1 superseded",
        "D corrections/2026-03-04-con.md",
        "M memories/knowledge/2026-01/watering-interval-every-3-days-2026-01-05.md",
        "D memories/knowledge/2026-02/watering-interval-every-5-days-2026-02-10.md",
        "D runs/2026-03/20260304T090000Z.json",
        "A tombstones/ts.md",
        "M views/LTMEMORY.md",
    ),
    ("Record what the run read and decided", "A runs/2026-03/20260306T090000Z.json"),
    ("Run 20260306T090000Z: no change",),
]
LINES: list[str] = [
    "Run 20260306T090000Z: no change",
    "Revert: Run 20260304T090000Z: 1 new, 1 superseded",
    "Run 20260304T090000Z: 1 new, 1 superseded",
    "Copy sources: changed MEMORY.md",
    "Run 20260303T090000Z: 1 note extended, 1 tier move",
    "Copy sources: changed memory/2026-02-01.md",
    "Run 20260302T090000Z: 1 new, 1 new note, 3 tier moves",
    "Copy sources: 1 added, 1 changed",
    "Run 20260301T090000Z: 6 new, 3 new notes, 4 on first page",
    "Copy sources: 6 added",
    "Create knowledge repository",
]
