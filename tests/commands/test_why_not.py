"""`why-not`: each way in which a memory can be missing is told with its reason and its remedy."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from driving import NOW, classic, done, git, memories, memrepo

from memrepo.core.times import format_time, parse_time


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace."""
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def added(repo: Path, text: str, *options: str, now: str = NOW) -> str:
    return str(done(repo, "add", text, *options, now=now)["id"])


def why(repo: Path, *argv: str, now: str = NOW) -> list[str]:
    found: list[str] = done(repo, "why-not", *argv, now=now)["why"]
    return found


def test_what_is_recalled_says_until_when_and_what_comes_first(repo: Path) -> None:
    classic(repo)
    short = added(repo, "The hall is wet.", "--class", "short")
    stable = added(repo, "The hall has a piano.")
    pinned = added(repo, "The hall has a stage.", "--pin")
    # Past three quarters of two days it is halved each three hours: the fourth time is too often.
    assert why(repo, short) == [
        f"recalled: class short, confidence 1.00, until {after(hours=45)}",
        f"pruned after {after(hours=45)}, if it is not confirmed",
        "not hot: retrieved in 0 sessions of 3, each session counted once",
    ]
    assert why(repo, stable)[1] == (
        f"due for the archive at {after(days=30)}, if it is not retrieved"
    )
    assert why(repo, pinned)[0] == "recalled: class stable, confidence 1.00"
    over, remedy, _ = why(repo, short, now=after(hours=46))
    assert over.startswith("not recalled: class short, confidence 0.0625 below 0.1, last")
    assert remedy == f"`memrepo confirm {short}` confirms that it is still true"


@pytest.mark.parametrize(
    ("at", "first", "second"),
    [
        ({"hours": 1}, "tier hot, confidence high", f"warm at {after(hours=3)}"),
        ({"hours": 3}, "tier warm, confidence high", f"gist at {after(days=7)}"),
        ({"days": 8}, "tier gist, confidence medium", f"forgotten at {after(days=14)}"),
    ],
)
def test_a_note_says_where_it_goes_next(
    repo: Path, at: dict[str, int], first: str, second: str
) -> None:
    id_ = added(repo, "Walked the dog.", "--type", "note")
    lines = why(repo, id_, now=after(**at))
    assert lines[0] == f"recalled as a note of {first}"
    assert lines[1] == f"{second}, if it is not retrieved"
    assert "nomination" in lines[2]


@pytest.mark.parametrize("name", ["id", "prefix", "slug", "path"])
def test_what_is_gone_is_found_by_any_of_its_names(repo: Path, name: str) -> None:
    id_ = added(repo, "The hall is wet.", "--class", "short")
    memory = memories(repo)[id_]
    done(repo, "run", now=after(days=3))
    word = {"id": id_, "prefix": id_[:12], "slug": memory.slug, "path": memory.path}[name]
    assert "class short, expired" in why(repo, word)[1]


def test_what_a_person_decided_is_told_with_the_way_back(repo: Path) -> None:
    one, two, three = (added(repo, f"The {word} is wet.") for word in ("hall", "attic", "shed"))
    done(repo, "archive", one, "--reason", "painted over")
    assert why(repo, one)[:2] == [
        f"not recalled: archived at {NOW} (painted over)",
        f"`memrepo restore {one}` brings it back",
    ]
    assert why(repo, one)[-1] == "not hot: it is archived, and only active memories can be"
    heir = done(repo, "supersede", two, "The attic is dry.")["id"]
    assert why(repo, two)[0].startswith(f"not recalled: superseded at {NOW} by {heir} (")
    done(repo, "forget", two, "--reason", "not ours")
    assert why(repo, two)[0] == "not recalled: forgotten (not ours)"
    done(repo, "reject", three, "--reason", "never was")
    (key,) = (stone["key"] for stone in done(repo, "reject", "--list")["rejected"])
    told = why(repo, three)[1]
    assert told.startswith("rejected by human:person@example.org at ")
    assert told.endswith(f": never was; `memrepo reject {key} --undo` lifts it")
    git(repo, "rm", "-q", memories(repo)[three].path)
    git(repo, "commit", "-qm", "away with it", "--no-verify")
    assert why(repo, three)[-1] == told


def test_why_it_is_not_hot(repo: Path) -> None:
    id_ = added(repo, "The hall is wet.")
    done(repo, "show", id_)
    assert why(repo, id_)[-1] == "not hot: retrieved in 1 session of 3, each session counted once"
    done(repo, "promote", id_)
    assert why(repo, id_)[-1] == f"hot since {NOW} (user request)"
    config = repo / "memrepo.toml"
    config.write_text(f"{config.read_text('utf-8')}\n[hot]\nmax_lines = 6\n", "utf-8")
    assert "left out of MEMORY.md: no room within hot.max_lines (6)" in why(repo, id_)[-1]
    done(repo, "promote", "--off", id_, "--reason", "spring")
    assert f"since it was demoted at {NOW} (spring" in why(repo, id_)[-1]


def test_what_waits_for_review_is_told(fresh_repo: Path) -> None:
    waits = memrepo(fresh_repo, "run", "--mode", "reconciliation").data
    held = git(fresh_repo, "ls-tree", "-r", "--name-only", waits["branch"], "memories")
    path = next(p for p in held.splitlines() if "/notes/" not in p)
    assert why(fresh_repo, path)[-1].startswith(f"not in effect yet: {waits['branch']} contains it")


def test_what_never_was_is_no_memory(repo: Path) -> None:
    for word in ("mem-ffffffffffffffff", "nothing-at-all"):
        answer = memrepo(repo, "why-not", word)
        assert answer.exit == 2
        assert "is or ever was called" in answer.error["message"]


def test_a_scope_is_named(repo: Path) -> None:
    id_ = added(repo, "The hall is wet.", "--scope", "project:hall")
    assert "its scope is project:hall: a search in another scope does not return it" in why(
        repo, id_
    )


def test_words_that_find_it_and_words_that_do_not(repo: Path) -> None:
    for number in range(12):
        added(repo, f"Zebra zebra zebra {number}.")
    id_ = added(repo, "Somewhere beyond the river there may be a zebra or another.")
    said = why(repo, id_, "zebra", "lion")[-1]
    assert said.startswith("found by 'zebra lion' as hit ")
    assert said.endswith("of 13; 10 are shown unless `-k` asks for more; it does not contain lion")
    asked = why(repo, id_, "is the zebra", "a lion?")[-1]
    assert asked.startswith("found by 'is the zebra a lion?' as hit ")
    assert asked.endswith("; it does not contain lion?")
    assert why(repo, id_, "lion")[-1] == "not found by 'lion': it contains none of these words"
    done(repo, "archive", id_)
    assert why(repo, id_, "river")[-1] == (
        "found by 'river' as hit 1 of 1, with `--status archived`"
    )
