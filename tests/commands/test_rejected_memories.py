"""What a rejection takes out, what a list and a repeated one say, and what lifting brings back."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, assert_sound, done, git, memories, memrepo

DAY_3, DAY_4 = "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"
KEY = "The shed key hangs by the old green door."
GATE = "The gate of the mill squeaks in the rain."


def add(repo: Path, text: str, *more: str) -> str:
    return str(done(repo, "add", text, *more)["id"])


def reject(repo: Path, id_: str, *more: str, now: str = LATER) -> dict[str, object]:
    return done(repo, "reject", id_, "--reason", "no", *more, now=now)


def listed(repo: Path, *more: str) -> list[dict[str, object]]:
    return done(repo, "reject", "--list", *more, now=DAY_4)["rejected"]  # type: ignore[no-any-return]


def active(repo: Path) -> set[str]:
    return {m.body for m in memories(repo).values() if m.status == "active"}


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--list", "ID"), "and ID was given too"),
        ((), "no memory was given"),
        (("--undo",), "no memory was given"),
        (("ID",), "no reason was given"),
        (("mem-ffff",), "mem-ffff"),
        (("ID", "--undo"), "is neither a rejection nor a rejected memory"),
    ],
)
def test_what_is_missing_is_named(repo: Path, argv: tuple[str, ...], message: str) -> None:
    id_ = add(repo, KEY)
    answer = memrepo(repo, "reject", *(id_ if word == "ID" else word for word in argv))
    assert answer.exit == 2
    assert message.replace("ID", id_) in answer.error["message"]


def test_a_rejection_forgets_every_memory_that_says_it_and_shortens_the_others(repo: Path) -> None:
    one, other = add(repo, KEY, "--scope", "user:ana"), add(repo, KEY, "--scope", "user:ben")
    same, long = add(repo, f"{KEY} "), add(repo, f"{GATE} {KEY}")
    away = add(repo, f"{KEY} {GATE}", "--reason", "seen")
    done(repo, "forget", away)
    answer = reject(repo, same)
    assert answer["id"] == same
    found = memories(repo)
    assert {i: found[i].status for i in (one, other, same)} == dict.fromkeys(
        (one, other, same), "forgotten"
    )
    assert (found[long].status, found[long].body) == ("active", GATE)
    assert found[away].body == f"{KEY} {GATE}"
    (stone,) = listed(repo)
    assert stone["forgotten"] == sorted((one, other, same))
    assert (stone["memory"], stone["statement"]) == (same, found[same].body)
    done(repo, "reject", "--undo", same, now=NEXT_DAY)
    assert {i for i, m in memories(repo).items() if m.status == "active"} == {
        one, other, same, long
    }  # fmt: skip
    assert_sound(repo)


def test_rejecting_again_changes_nothing_but_after_lifting_it_does(repo: Path) -> None:
    id_ = add(repo, KEY)
    reject(repo, id_)
    head = git(repo, "rev-parse", "HEAD")
    assert reject(repo, id_, now=NEXT_DAY)["unchanged"].startswith("is rejected already as ts-")
    assert git(repo, "rev-parse", "HEAD") == head
    done(repo, "reject", id_, "--undo", "--reason", "it was right", now=NEXT_DAY)
    assert active(repo) == {KEY}
    assert listed(repo) == []
    copy = add(repo, KEY, "--scope", "user:ana")
    reject(repo, copy, now=DAY_3)
    (again,) = listed(repo)
    assert again["reason"] == "no"
    assert not active(repo)


def test_undo_beside_a_rejection_restores_each_byte(repo: Path) -> None:
    id_, gone = add(repo, GATE), add(repo, KEY)
    reject(repo, gone)
    path = repo / memories(repo)[id_].path
    path.write_text(path.read_text().replace("type: fact", "type:   fact"))
    git(repo, "commit", "-qanm", "by hand")
    before = git(repo, "rev-parse", "HEAD:memories")
    done(repo, "edit", id_, "--text", "The gate of the mill is oiled.", now=NEXT_DAY)
    done(repo, "undo", now=DAY_3)
    assert git(repo, "rev-parse", "HEAD:memories") == before


def test_a_part_of_a_rejection_is_reverted_only_by_the_memory_that_was_named(repo: Path) -> None:
    other, same = add(repo, KEY, "--scope", "user:ana"), add(repo, KEY)
    commit = str(reject(repo, same)["commit"])
    memrepo(repo, "revert", commit, "--memory", other, now=NEXT_DAY)
    assert [stone["memory"] for stone in listed(repo)] == [same]
    assert active(repo) == set()
    done(repo, "revert", commit, "--memory", same, now=DAY_3)
    assert listed(repo) == []
