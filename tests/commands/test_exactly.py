"""What is named is taken back, all of it and nothing else; what a hand added is never lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import assert_sound, by_word, done, git, memories, runs

LATEST, NIGHT = "2026-03-01T11:10:00Z", "2026-03-01T12:10:00Z"


def last_run(repo: Path) -> str:
    return runs(repo)[0]


def statuses(repo: Path) -> dict[str, str]:
    return {i: m.status for i, m in memories(repo).items()}


def committed(repo: Path, subject: str = "by hand") -> str:
    git(repo, "commit", "-qam", subject, "--no-verify")
    return git(repo, "rev-parse", "--short=10", "HEAD").strip()


# -- one memory ------------------------------------------------------------------------------------


def test_of_a_revert_of_a_revert_only_the_named_memory_goes(two_runs: Path) -> None:
    beta, before = by_word(two_runs, "beta"), statuses(two_runs)
    done(two_runs, "undo", now=LATEST)
    done(two_runs, "undo", now=LATEST)
    done(two_runs, "revert", beta, now=NIGHT)
    assert statuses(two_runs) == {i: s for i, s in before.items() if i != beta}
    assert_sound(two_runs)


def test_a_supersession_whose_heir_was_edited_leaves_the_heir(two_runs: Path) -> None:
    vim, helix = by_word(two_runs, "vim"), by_word(two_runs, "helix")
    done(two_runs, "edit", helix, "--text", "Editor: helix, always.", now=LATEST)
    found = done(two_runs, "revert", last_run(two_runs), "--memory", vim, now=NIGHT)
    assert [work["memory"] for work in found["kept"]] == [helix]
    assert memories(two_runs)[helix].body.strip() == "Editor: helix, always."
    assert_sound(two_runs)


# -- what a hand added to a file -------------------------------------------------------------------


def keys(text: str) -> str:
    return text.replace("---\n", "---\nteam:\n  - choir\n  - parish\n", 1)


def last_comment(text: str) -> str:
    return text.replace("\n---\n", "\n# asked Vera: 7\n---\n", 1)


OWN: dict[str, tuple[Callable[[str], str], str]] = {
    "a key with a list": (keys, "  - parish"),
    "a comment at the end": (last_comment, "# asked Vera: 7"),
}
AFTER: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "a pin": ("pin",),
    "another text": ("edit", "--text", "It was said otherwise."),
    "a run": ("run",),
}


ORDERS = ("before it", "after it")
CASES = [  # each value of two parameters meets
    (word, [*OWN][(n + m) % 2], after, ORDERS[(n // 2 + m) % 2])
    for n, after in enumerate(AFTER)
    for m, word in enumerate(("beta", "vim", "helix"))
]


@pytest.mark.parametrize(("word", "own", "after", "order"), CASES)
def test_own_keys_and_comments_stay_after_a_revert(
    two_runs: Path, word: str, own: str, after: str, order: str
) -> None:
    """Of what the run made, replaced, and put in its place; other edits come before or after."""
    id_ = by_word(two_runs, word)
    added, words = OWN[own]

    def by_hand() -> None:
        path = two_runs / memories(two_runs)[id_].path
        path.write_text(added(path.read_text()))
        committed(two_runs)

    if order == "after it":
        by_hand()
    if AFTER[after]:
        verb, *rest = AFTER[after]
        done(two_runs, verb, *([id_] if verb != "run" else []), *rest, now=LATEST)
    if order == "before it":
        by_hand()
    done(two_runs, "revert", last_run(two_runs), now=NIGHT)
    assert words in (two_runs / memories(two_runs)[id_].path).read_text()
    assert_sound(two_runs)
