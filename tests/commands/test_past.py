"""`log`: who changed a memory, over moves and merges."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import NEXT_DAY, done, git, head, memories, memrepo

from memrepo.core.memory import Memory

DAY3 = "2026-03-03T09:00:00Z"


def by_text(repo: Path, part: str) -> Memory:
    (found,) = [m for m in memories(repo).values() if part in m.body]
    return found


def ops(repo: Path, id_: str) -> list[str]:
    """Return the operations on a memory, newest first."""
    return [row["op"] for row in done(repo, "log", "--memory", id_)["entries"]]


def last_replaced(text: str, old: str, new: str) -> str:
    """Replace the last occurrence: the body says again what the header says."""
    return new.join(text.rsplit(old, 1))


def write_by_hand(repo: Path, path: str, old: str, new: str, message: str) -> str:
    file = repo / path
    text = file.read_text()
    assert old in text
    file.write_text(last_replaced(text, old, new))
    git(repo, "commit", "-q", "--no-verify", "-am", message)
    return head(repo)


def move(repo: Path, path: str, to: str) -> str:
    (repo / to).parent.mkdir(parents=True, exist_ok=True)
    git(repo, "mv", path, to)
    git(repo, "commit", "-q", "--no-verify", "-m", "moved by hand")
    return head(repo)


def test_history_follows_the_file_to_other_layers_and_names_with_its_id(small_repo: Path) -> None:
    memory = by_text(small_repo, "prune the roses")
    shown, first = git(small_repo, "log", "--format=%H", "--", memory.path).split()[-2:]
    layer = f"memories/decisions/2026-03/{memory.slug}.md"
    moved = move(small_repo, memory.path, layer)
    other = f"memories/decisions/any-name-{memory.slug.rpartition('-')[2]}.md"
    named = move(small_repo, layer, other)
    edited = write_by_hand(small_repo, other, "roses", "ivy", "reword")
    back = move(small_repo, other, memory.path)
    rows = done(small_repo, "log", "--memory", memory.id)["entries"]
    assert [r["commit"] for r in rows] == [back, edited, named, moved, shown, first]


def test_a_deleted_memory_keeps_its_history_by_any_of_its_names(small_repo: Path) -> None:
    memory = by_text(small_repo, "prune the roses")
    data = (small_repo / memory.path).read_bytes()
    git(small_repo, "rm", "-q", memory.path)
    git(small_repo, "commit", "-q", "-m", "away")
    for word in (memory.id, memory.id[:9], memory.id[4:14], memory.slug, memory.path):
        assert ops(small_repo, word) == ["edit", "promote", "create"]
    other = small_repo / "memories" / "context" / f"{memory.slug}.md"
    other.parent.mkdir(parents=True)
    other.write_bytes(data)
    git(small_repo, "add", "-A")
    git(small_repo, "commit", "-q", "-m", "and back elsewhere")
    assert ops(small_repo, memory.id) == ["edit", "edit", "promote", "create"]


@pytest.mark.parametrize("word", ["mem-ffffffffffff", "nothing-abcdef", "zz", "*", ":(glob)**"])
def test_a_memory_that_never_was_is_unknown(small_repo: Path, word: str) -> None:
    for argv in (("why", word), ("log", "--memory", word)):
        assert memrepo(small_repo, *argv).exit == 2


# -- log -----------------------------------------------------------------------------------------


def test_log_filters_join(small_repo: Path) -> None:
    workspaces.growing(small_repo.parent / "workspace", 3)
    run = done(small_repo, "run", now=NEXT_DAY)["run"]
    memory = by_text(small_repo, "every 5 days")
    done(small_repo, "pin", memory.id, now=DAY3)
    by_hand = write_by_hand(small_repo, memory.path, "5 days", "6 days", "by hand")

    def listed(*flags: str) -> list[str]:
        return [entry["op"] for entry in done(small_repo, "log", *flags)["entries"]]

    assert listed("--memory", memory.id) == ["edit", "pin", "promote", "supersede", "create"]
    assert listed("--memory", memory.id, "--run", run) == ["create", "supersede", "promote"]
    assert listed("--run", run, "--op", "supersede") == ["supersede"]
    assert done(small_repo, "log", "-n", "1")["entries"][0]["commit"] == by_hand


# -- time it takes -------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("-n", "0"), ("-n", "-3"), ("-n", "x"), ("--op", "nothing")])
def test_log_refuses_what_it_cannot_mean(small_repo: Path, flags: tuple[str, ...]) -> None:
    assert memrepo(small_repo, "log", *flags).exit == 2
