"""A year of nights with a few changed lines: what late ones cost, what the history takes."""

from __future__ import annotations

import random
import resource
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from driving import LONG, assert_sound, done, git, memories

from memrepo.core.times import format_time, parse_time

NIGHTS, YOUNG = 360, 30
"""How many nights are lived, and by how many a repository of the same memories is younger."""
MEASURED = 10
BYTES, OBJECTS = 6, 8
"""What a history takes at most, times plain commits of the same sources, both packed by git."""
BEGIN = parse_time("2026-03-01T22:00:00Z")
NAMES = ("Ada", "Bruno", "Clara", "Dimitri", "Elena", "Farid", "Greta", "Hanna", "Ivo", "Jana")
DOES = ("keeps", "repairs", "paints", "rents", "stores", "cleans", "measures", "labels")
THINGS = (
    "pump lamp ledger river copper engine ticket basket mirror hammer violin bridge anchor saddle"
    " feather lantern pepper marble button canvas kettle ladder magnet needle pencil ribbon timber"
).split()
PAGES = THINGS[:8]


def fact(dice: random.Random) -> str:
    who, does, thing, other, place = (
        dice.choice(words) for words in (NAMES, DOES, THINGS, THINGS, THINGS)
    )
    hall, moved = dice.randrange(1000), dice.choice(THINGS)
    return (
        f"{who} {does} the {thing} {other} near {place} hall {hall}, since the {moved} was moved."
    )


def begin(folder: Path, dice: random.Random) -> None:
    """Write a workspace of some pages with a line of the same words at their end."""
    (folder / "memory").mkdir(parents=True)
    for page in (*(f"memory/{name}.md" for name in PAGES), "MEMORY.md"):
        lines = "".join(f"- {fact(dice)}\n" for _ in range(12))
        folder.joinpath(page).write_text(f"# {page}\n\n{lines}\n- The north wing holds copies.\n")


def live(folder: Path, dice: random.Random, night: int) -> None:
    """Write the log of a day, and another line in two pages."""
    day = f"{BEGIN + timedelta(days=night):%Y-%m-%d}"
    told = "".join(
        f"## {hour}:10 Talk\n\n{' '.join(fact(dice) for _ in range(3))}\n\n"
        for hour in ("09", "17")
    )
    folder.joinpath(f"memory/{day}.md").write_text(f"# {day}\n\n{told}")
    for page in ("MEMORY.md", f"memory/{dice.choice(PAGES)}.md"):
        lines = folder.joinpath(page).read_text().splitlines()
        lines[dice.randrange(2, 14)] = f"- {fact(dice)}"
        folder.joinpath(page).write_text("\n".join([*lines, ""]))


def run(repo: Path, night: int) -> float:
    """Run once; return the CPU seconds of this process and of its children."""
    before = _spent()
    done(repo, "run", now=format_time(BEGIN + timedelta(days=night)))
    return _spent() - before


def _spent() -> float:
    found = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in found)


def packed(repo: Path) -> tuple[int, int]:
    """Have git collect; return what its packs take and how many objects they hold."""
    git(repo, "gc", "-q", "--prune=now")
    git(repo, "fsck", "--strict")
    counts = dict(line.split(": ") for line in git(repo, "count-objects", "-v").splitlines())
    assert counts["count"] == "0"
    packs = (repo / ".git" / "objects" / "pack").glob("*.pack")
    return sum(path.stat().st_size for path in packs), int(counts["in-pack"])


@pytest.mark.skipif(not LONG, reason="takes some minutes: make test-long")
def test_a_year_of_nights_is_frugal_and_its_last_ones_cost_what_young_ones_do(
    tmp_path: Path,
) -> None:
    dice = random.Random(5)
    workspace, plain, old, young = (tmp_path / name for name in ("ws", "plain", "old", "young"))
    begin(workspace, dice)
    now = format_time(BEGIN)
    done(tmp_path, "init", old, "--from", workspace, now=now)
    plain.mkdir()
    git(plain, "init", "-q")
    costs: dict[Path, list[float]] = {old: [], young: []}
    for night in range(NIGHTS + 1):
        if night:
            live(workspace, dice, night)
        if night == NIGHTS - YOUNG:
            now = format_time(BEGIN + timedelta(days=night))
            done(tmp_path, "init", young, "--from", workspace, now=now)
        for repo in (old, young):
            if repo.exists():
                costs[repo].append(run(repo, night))
        shutil.copytree(workspace, plain, dirs_exist_ok=True)
        git(plain, "add", "-A")
        git(plain, "commit", "-qm", f"night {night}")
    late, fresh = (sum(costs[repo][-MEASURED:]) for repo in (old, young))
    assert late <= 1.3 * fresh
    stands = "".join(path.read_text() for path in workspace.rglob("*.md"))
    archived = [m.body.strip() for m in memories(old).values() if m.status == "archived"]
    assert archived
    assert not [text for text in archived if text in stands]
    (size, count), (plain_size, plain_count) = packed(old), packed(plain)
    assert size <= BYTES * plain_size
    assert count <= OBJECTS * plain_count
    assert_sound(old)
