"""Random histories through the command line, held against each promise as a reader would put it.

The promises are stated here over files, commits and what was asked for; nothing of them is taken
from the rules of merging or taking back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import pytest
import workspaces
from driving import LONG, Done, assert_sound, begin, done, git, memories, memrepo, runs, tree

SEEDS = range(200) if LONG else range(5)
_T = TypeVar("_T")
THINGS = ("boat", "mill", "tower", "garden", "harbour", "library", "bakery", "bridge", "orchard")
VALUES = ("red", "blue", "green", "white", "black", "yellow")


class Dice:
    """Draws that follow from a seed alone."""

    def __init__(self, seed: int) -> None:
        self._seed, self._count = seed, 0

    def below(self, most: int) -> int:
        self._count += 1
        drawn = sha256(f"{self._seed} {self._count}".encode()).digest()
        return int.from_bytes(drawn[:4], "big") % most

    def one(self, of: Sequence[_T]) -> _T:
        return of[self.below(len(of))]


@dataclass(frozen=True, slots=True)
class Mark:
    """What one operation wrote into a memory's file: words that a reader can look for there."""

    turn: int
    memory: str
    words: str


@dataclass(slots=True)
class Story:
    """One history: the repository, what was done when, and what was seen on the way."""

    repo: Path
    dice: Dice
    turn: int = 0
    marks: list[Mark] = field(default_factory=list)
    landed: dict[str, int] = field(default_factory=dict)
    active: set[str] = field(default_factory=set)
    rejected: dict[str, str] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, tuple[str, str]]]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    @property
    def now(self) -> str:
        return f"2026-03-{1 + self.turn // 20:02}T{self.turn % 20:02}:00:00Z"

    def call(self, *argv: str) -> Done:
        """Run one command: whatever it answers, it is no bug and no broken repository."""
        answer = memrepo(self.repo, *argv, now=self.now)
        self.log.append(f"{self.turn}: {' '.join(argv)} -> {answer.exit}")
        assert answer.exit in (0, 1, 2, 3), (self.log, answer)
        return answer

    def some(self, *, active: bool = True) -> str:
        """Return the id of some memory, or an empty string."""
        found = sorted(
            i for i, m in memories(self.repo).items() if m.status == "active" or not active
        )
        return self.dice.one(found) if found else ""

    def mark(self, id_: str, words: str) -> None:
        self.marks.append(Mark(self.turn, id_, words))

    def file(self, id_: str) -> Path:
        return self.repo / memories(self.repo)[id_].path


# -- what can happen -------------------------------------------------------------------------------


def line(story: Story) -> str:
    thing = story.dice.one(THINGS)
    return f"- The {thing} of the village was painted {story.dice.one(VALUES)}."


def write(story: Story) -> None:
    """Change the workspace, and run."""
    path = story.repo.parent / "workspace" / "MEMORY.md"
    lines = path.read_text().splitlines()
    if len(lines) > 4 and story.dice.below(4) == 0:
        del lines[2 + story.dice.below(len(lines) - 2)]
    else:
        lines.append(line(story))
    path.write_text("\n".join(lines) + "\n")
    run(story)


def run(story: Story) -> None:
    before = set(runs(story.repo))
    story.call("run")
    for new in set(runs(story.repo)) - before:
        story.landed[new] = story.turn


def add(story: Story) -> None:
    story.call("add", f"Somebody saw the {story.dice.one(THINGS)} at turn {story.turn}.")


def reword(story: Story) -> None:
    if id_ := story.some():
        text = f"It was said otherwise at turn {story.turn}."
        if story.call("edit", id_, "--text", text).exit == 0:
            story.mark(id_, text)


def tag(story: Story) -> None:
    if id_ := story.some():
        tags = (*memories(story.repo)[id_].tags, f"turn-{story.turn}")
        if story.call("edit", id_, "--set", f"tags={','.join(tags)}").exit == 0:
            story.mark(id_, f"turn-{story.turn}")


def comment(story: Story) -> None:
    """Add a comment or a key of one's own by hand."""
    if id_ := story.some():
        words = story.dice.one((f"# asked at {story.turn}", f"mine{story.turn}: {story.turn}"))
        path = story.file(id_)
        path.write_text(path.read_text().replace("\ntype:", f"\n{words}\ntype:", 1))
        git(story.repo, "commit", "-qam", f"by hand at {story.turn}", "--no-verify")
        story.mark(id_, words)


def forget(story: Story) -> None:
    if id_ := story.some():
        story.call("forget", id_)


def reject(story: Story) -> None:
    if id_ := story.some():
        body = memories(story.repo)[id_].body
        answer = story.call("reject", id_, "--reason", "no")
        if answer.exit == 0:
            for one in done(story.repo, "reject", "--list")["rejected"]:
                story.rejected.setdefault(one["key"], body if one["memory"] == id_ else "")


def supersede(story: Story) -> None:
    if id_ := story.some():
        story.call("supersede", id_, f"By turn {story.turn} it was another colour.")


def restore(story: Story) -> None:
    if id_ := story.some(active=False):
        story.call("restore", id_)


def decide(story: Story) -> None:
    """Take what waits, or refuse it."""
    story.call(story.dice.one(("accept", "discard")))


def one_back(story: Story) -> None:
    if id_ := story.some(active=False):
        story.call("revert", id_)


def run_back(story: Story) -> None:
    """Take a run back: what came after it stays, to the word."""
    there = runs(story.repo)
    if not there:
        return
    run_ = story.dice.one(sorted(there))
    since = story.landed.get(run_, -1)
    later = [mark for mark in story.marks if mark.turn > since and stands(story, mark)]
    before = tree(story.repo)
    answer = story.call("revert", run_)
    if answer.exit:
        assert tree(story.repo) == before, story.log
        return
    lost = [mark for mark in later if not stands(story, mark)]
    assert lost == [], (story.log, lost)


def stands(story: Story, mark: Mark) -> bool:
    found = memories(story.repo).get(mark.memory)
    return found is not None and mark.words in (story.repo / found.path).read_text()


def undo_twice(story: Story) -> None:
    before = tree(story.repo)
    stones = git(story.repo, "ls-tree", "-r", "HEAD", "tombstones")
    if story.call("undo").exit == 0:
        story.turn += 1
        answer = story.call("undo")
        # A rejection that is lifted and set again is a newer one; a clash is told.
        if answer.exit == 0 and git(story.repo, "ls-tree", "-r", "HEAD", "tombstones") == stones:
            assert tree(story.repo) == before, story.log


def undo(story: Story) -> None:
    story.call("undo")


HAPPENINGS: tuple[Callable[[Story], None], ...] = (
    write,
    write,
    write,
    run,
    add,
    reword,
    tag,
    comment,
    comment,
    forget,
    reject,
    supersede,
    restore,
    decide,
    one_back,
    run_back,
    run_back,
    undo,
    undo_twice,
)


# -- the promises ----------------------------------------------------------------------------------


def told(seed: int, base: Path) -> Story:
    """Live through one history of 10 to 25 operations; each promise is asked for as it can be."""
    dice = Dice(seed)
    first = "# Village\n\n" + "\n".join(f"- The {t} is old and made of stone." for t in THINGS[:3])
    workspaces.write(base / "workspace", {"MEMORY.md": f"{first}\n".encode()})
    story = Story(repo=begin(base, base / "workspace"), dice=dice, turn=10)
    story.landed = dict.fromkeys(runs(story.repo), 0)
    for _ in range(10 + dice.below(16)):
        story.turn += 1
        with clock(story.now):
            dice.one(HAPPENINGS)(story)
        found = memories(story.repo)
        story.active |= {i for i, m in found.items() if m.status == "active"}
        head = git(story.repo, "rev-parse", "HEAD").strip()
        story.seen.append((head, {i: (m.body, m.status) for i, m in found.items()}))
        rejected_values_stay_away(story)
    return story


@contextmanager
def clock(now: str) -> Iterator[None]:
    """Let commits by hand be made at one time."""
    names = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
    os.environ.update(dict.fromkeys(names, now))
    yield
    for name in names:
        del os.environ[name]


def rejected_values_stay_away(story: Story) -> None:
    stand = {one["key"] for one in done(story.repo, "reject", "--list")["rejected"]}
    barred = {body for key, body in story.rejected.items() if body and key in stand}
    said = {m.body for m in memories(story.repo).values() if m.status == "active"}
    assert not barred & said, story.log


@pytest.mark.parametrize("seed", SEEDS)
def test_every_promise_holds_through_a_random_history(seed: int, tmp_path: Path) -> None:
    story = told(seed, tmp_path / "one")
    repo, log = story.repo, story.log
    assert_sound(repo)
    # What was answered then is answered of then.
    for head, held in story.seen[:: max(1, len(story.seen) // 3)]:
        for id_, (body, status) in sorted(held.items())[:3]:
            answer = memrepo(repo, "show", id_, "--at", head, now=story.now)
            assert answer.exit == 0, (log, answer)
            then = answer.data["memory"]
            assert (then["text"], then.get("status", "active")) == (body, status), log
    # What was ever in recall is in the tree, or can be brought back.
    for id_ in sorted(story.active - memories(repo).keys()):
        answer = memrepo(repo, "restore", id_, "--dry-run", now=story.now)
        assert answer.exit in (0, 3), (log, answer)
    # The same again gives the same memories.
    if LONG or seed % 4 == 0:
        # Once something was recalled, the ids of runs have that of the clone.
        state = git(repo, "rev-parse", "HEAD:memories")
        assert git(told(seed, tmp_path / "two").repo, "rev-parse", "HEAD:memories") == state, log
