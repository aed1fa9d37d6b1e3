"""Decay and pruning of openclaw-hybrid-memory, promise by promise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from driving import NOW, configure, done, git, memories, memrepo, standing, subjects
from hoards import memory, stored
from seed_rows import SECOND, START, assert_each_row_has_an_end, at, row

from memrepo.core.memory import Memory

LIVES = {
    "durable": timedelta(days=90),
    "normal": timedelta(days=14),
    "short": timedelta(days=2),
    "ephemeral": timedelta(hours=4),
    "stable": timedelta(days=90),
    "active": timedelta(days=14),
    "session": timedelta(hours=24),
    "checkpoint": timedelta(hours=4),
}
REFRESHED = ("durable", "normal", "stable", "active")
KEYS = {
    "permanent": (
        *("name", "email", "api_key", "api_endpoint", "architecture", "decision", "birthday"),
        *("born", "phone", "language", "location"),
    ),
    "session": ("current_file", "temp", "debug", "working_on_right_now"),
    "active": ("task", "todo", "wip", "branch", "sprint", "blocker"),
    "checkpoint": ("checkpoint", "preflight"),
}
TEXTS = {
    "permanent": (
        *("They decided on larch.", "The architecture is of two layers."),
        *("Always use larch.", "Never use pine."),
    ),
    "session": (
        *("Currently debugging the pump.", "The pump is open right now."),
        "In this session the pump is open.",
    ),
    "active": (
        *("Vera is working on the gate.", "They need to oil the gate.", "A todo for the gate."),
        *("A blocker at the gate.", "The sprint of the gate."),
    ),
    "checkpoint": ("A checkpoint of the mill.", "The preflight of the mill."),
}


LIFE_CYCLE = ("migrating.md", "Differences from the life cycle of facts")


def aged(number: int, text: str, cls: str = "", **fields: Any) -> Memory:
    decay = {"decay": cls} if cls else {}
    return memory(number, text, created=START, **decay, **fields)


def began(folder: Path, found: list[Memory], *options: str) -> Path:
    """Make a repository of some memories in one commit."""
    done(folder, "init", "repo", *options)
    stored(folder / "repo", found)
    return folder / "repo"


def every_class() -> list[Memory]:
    return [
        aged(n, f"The {cls} lantern burns.", cls) for n, cls in enumerate(("permanent", *LIVES))
    ]


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of the profile classic with a memory of each class; read only."""
    return began(tmp_path_factory.mktemp("classic"), every_class(), "--profile", "classic")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a repository of the profile classic with a memory of each class; yours to change."""
    return began(tmp_path, every_class(), "--profile", "classic")


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository of the default profile whose memories name keys and words; read only."""
    found: list[Memory] = []
    for keys in KEYS.values():
        found += [aged(len(found) + n, "It is blue.", predicate=k) for n, k in enumerate(keys)]
    for texts in TEXTS.values():
        found += [aged(len(found) + n, text) for n, text in enumerate(texts)]
    found += [
        aged(90 + n, "It is red.", subject=e) for n, e in enumerate(("decision", "convention"))
    ]
    found.append(aged(95, "The gate is green.", predicate="colour"))
    return began(tmp_path_factory.mktemp("named"), found)


def found(repo: Path, word: str, span: timedelta) -> bool:
    return bool(done(repo, "search", word, "--no-touch", now=at(span))["hits"])


def shown(repo: Path, id_: str, span: timedelta = timedelta(0)) -> dict[str, Any]:
    derived: dict[str, Any] = done(repo, "show", id_, "--no-touch", now=at(span))["derived"]
    return derived


def of_class(repo: Path, cls: str) -> str:
    return next(m.id for m in memories(repo).values() if m.body == f"The {cls} lantern burns.")


def classes(repo: Path, holds: Callable[[Memory], bool]) -> set[str]:
    ids = [m.id for m in memories(repo).values() if holds(m)]
    assert ids
    return {shown(repo, id_)["class"] for id_ in ids}


# -- classes -------------------------------------------------------------------------------------


def _lives(cls: str, classic: Path) -> None:
    ttl = LIVES[cls]
    assert shown(classic, of_class(classic, cls))["expires"] == at(ttl)
    assert found(classic, cls, ttl * 0.75)
    derived = shown(classic, of_class(classic, cls), ttl + SECOND)
    assert derived["expired"]
    assert not found(classic, cls, ttl + SECOND)


for _cls, _ttl in LIVES.items():

    def _row(classic: Path, cls: str = _cls) -> None:
        _lives(cls, classic)

    _promise = f"A memory of class {_cls} expires after {_ttl.total_seconds() / 3600:g} hours"
    setattr(sys.modules[__name__], f"test_a_row_{_cls}_lives", row(_promise, "classic")(_row))


@row("A permanent memory never expires", "default")
def test_a_row_permanent(named: Path, classic: Path) -> None:
    derived = shown(classic, of_class(classic, "permanent"), timedelta(days=9000))
    assert (derived["expires"], derived["expired"]) == ("", False)
    assert found(classic, "permanent", timedelta(days=9000))
    id_ = next(m.id for m in memories(named).values() if m.predicate == "email")
    assert shown(named, id_, timedelta(days=9000))["expires"] == ""


@row("Recall hides what is expired, pruned or not", "classic")
def test_a_row_recall_hides(classic: Path) -> None:
    for cls in ("ephemeral", "short"):
        assert found(classic, cls, LIVES[cls] / 2)
        assert not found(classic, cls, LIVES[cls] + SECOND)
    over = done(
        classic, "search", "short", "--status", "expired", "--no-touch", now=at(2 * LIVES["short"])
    )
    assert [hit["id"] for hit in over["hits"]] == [of_class(classic, "short")]


@row("Recall hides a memory of a short class that somebody gave, once its time is over", "default")
def test_a_row_recall_hides_by_default(repo: Path) -> None:
    done(repo, "add", "The ladder leans at the shed.", "--class", "ephemeral")
    assert found(repo, "ladder", LIVES["ephemeral"])
    assert not found(repo, "ladder", LIVES["ephemeral"] + SECOND)


@row(
    "A fact without a class expires after ninety days",
    "documented",
    *LIFE_CYCLE,
    "Time never takes a claim out of recall",
)
def test_a_row_stable_is_stale_by_default(named: Path) -> None:
    id_ = next(m.id for m in memories(named).values() if m.predicate == "colour")
    assert shown(named, id_, timedelta(days=90))["class"] == "stable"
    assert found(named, "gate", timedelta(days=91))


# -- how a class is chosen -----------------------------------------------------------------------


def _by_key(cls: str, named: Path) -> None:
    assert classes(named, lambda m: m.predicate in KEYS[cls]) == {cls}


def _by_text(cls: str, named: Path) -> None:
    assert classes(named, lambda m: m.body in TEXTS[cls]) == {cls}


for _cls in KEYS:
    for _how, _test in (("key", _by_key), ("text", _by_text)):

        def _chosen(named: Path, cls: str = _cls, test: Any = _test) -> None:
            test(cls, named)

        setattr(
            sys.modules[__name__],
            f"test_a_row_{_cls}_by_{_how}",
            row(f"The {_how}s that are listed give the class {_cls}", "default")(_chosen),
        )


@row("The entities decision and convention give the class permanent", "default")
def test_a_row_permanent_by_entity(named: Path) -> None:
    assert classes(named, lambda m: m.subject in ("decision", "convention")) == {"permanent"}


@row("Everything else is stable", "default")
def test_a_row_stable_for_the_rest(named: Path) -> None:
    assert classes(named, lambda m: m.predicate == "colour") == {"stable"}


@row("The first rule that matches decides, in the order given", "default")
def test_a_row_first_rule(tmp_path: Path) -> None:
    texts = {
        "We decided it right now.": "permanent",
        "Right now they need to paint.": "session",
        "They need to reach the checkpoint.": "active",
    }
    repo = began(tmp_path, [aged(n, text) for n, text in enumerate(texts)])
    assert {m.body: shown(repo, m.id)["class"] for m in memories(repo).values()} == texts


@row("A key or an entity that is given when a fact is stored decides its class", "default")
def test_a_row_store(repo: Path) -> None:
    for options, cls in (
        (("--predicate", "email"), "permanent"),
        (("--entity", "convention"), "permanent"),
        (("--subject", "decision"), "permanent"),
        (("--entity", "birthday"), "permanent"),
        (("--predicate", "sprint"), "active"),
        (("--predicate", "temp"), "session"),
        (("--entity", "Vera"), "stable"),
    ):
        id_ = done(repo, "add", f"Larch it is, {' '.join(options)}.", *options)["id"]
        assert shown(repo, id_)["class"] == cls, options
    assert done(repo, "health")["decay"]["classes"]["permanent"] == 4


@row("A class that is given explicitly wins over the rules", "default")
def test_a_row_explicit(repo: Path) -> None:
    id_ = done(repo, "add", "We decided on larch.", "--predicate", "email", "--class", "short")[
        "id"
    ]
    assert shown(repo, id_)["class"] == "short"


@row(
    "A key matches when it contains a listed word anywhere",
    "documented",
    *LIFE_CYCLE,
    "Keys are matched by whole segments",
)
def test_a_row_segments(tmp_path: Path) -> None:
    repo = began(tmp_path, [aged(1, "It is blue.", predicate="username")])
    assert classes(repo, lambda m: m.predicate == "username") == {"stable"}


# -- refresh on access ---------------------------------------------------------------------------


@row("A retrieval makes a durable, normal, stable or active fact begin its time anew", "classic")
def test_a_row_refresh(own: Path) -> None:
    read = timedelta(days=1)
    for cls in REFRESHED:
        id_ = of_class(own, cls)
        done(own, "show", id_, now=at(read))
        assert shown(own, id_, read)["expires"] == at(read + LIVES[cls])


@row("A retrieval refreshes no session, checkpoint, short or ephemeral fact", "classic")
def test_a_row_no_refresh(own: Path) -> None:
    read = timedelta(hours=1)
    for cls in sorted({*LIVES} - {*REFRESHED}):
        id_ = of_class(own, cls)
        done(own, "show", id_, now=at(read))
        assert shown(own, id_, read)["expires"] == at(LIVES[cls])


@row("A fact that is recalled again and again stays alive", "classic")
def test_a_row_alive(own: Path) -> None:
    for day in range(10, 61, 10):
        done(own, "search", "normal", now=at(timedelta(days=day)))
        done(own, "run", now=at(timedelta(days=day)))
    assert of_class(own, "normal") in memories(own)
    assert {m.body for m in memories(own).values()}.isdisjoint({"The active lantern burns."})


@row("A confirmation restores the time of a fact of any class", "default")
def test_a_row_confirm(own: Path) -> None:
    later = timedelta(hours=2)
    for cls, ttl in LIVES.items():
        id_ = of_class(own, cls)
        done(own, "confirm", id_, now=at(later))
        assert shown(own, id_, later)["expires"] == at(later + ttl)


# -- pruning -------------------------------------------------------------------------------------


@row("The hard prune removes what expired and nothing that expires at this very moment", "classic")
def test_a_row_hard_prune(own: Path) -> None:
    gone = of_class(own, "ephemeral")
    exact = done(own, "health", "--prune", "--dry-run", now=at(LIVES["ephemeral"]))
    assert exact["changes"] == []
    done(own, "health", "--prune", now=at(LIVES["ephemeral"] + SECOND))
    assert gone not in memories(own)
    assert of_class(own, "session") in memories(own)


@row(
    "Expired facts are pruned at the start of the gateway and every sixty minutes",
    "documented",
    *LIFE_CYCLE,
    "is not recalled",
    "the next run prunes it",
)
def test_a_row_when(own: Path) -> None:
    now = at(timedelta(hours=5))
    gone = {of_class(own, cls) for cls in ("ephemeral", "checkpoint")}
    assert not found(own, "ephemeral", timedelta(hours=5))
    assert gone <= set(memories(own))
    assert done(own, "run", now=now)["counts"]["pruned"] == 2
    assert gone.isdisjoint(memories(own))


@row("The log of a prune says what was removed and why", "default")
def test_a_row_log(own: Path) -> None:
    done(own, "health", "--prune", now=at(LIVES["ephemeral"] + SECOND))
    said = git(own, "log", "-5", "--format=%B")
    assert f"class ephemeral, expired {at(LIVES['ephemeral'])}, last confirmed {NOW}" in said
    assert any(subject.startswith("Remove ") for subject in subjects(own, "-5"))


@row("Past three quarters of its time the confidence of a fact is halved", "classic")
def test_a_row_soft_decay(classic: Path) -> None:
    for cls in ("session", "short"):
        id_, edge = of_class(classic, cls), LIVES[cls] * 0.75
        assert shown(classic, id_, edge)["confidence"] == 1.0
        assert shown(classic, id_, edge + SECOND)["confidence"] == 0.5


@row(
    "Each hourly job halves the confidence once more",
    "documented",
    *LIFE_CYCLE,
    "halved once for each sixteenth",
)
def test_a_row_by_time(classic: Path) -> None:
    id_, edge = of_class(classic, "short"), LIVES["short"] * 0.75
    halved = [shown(classic, id_, edge + n * timedelta(hours=3) + SECOND) for n in range(3)]
    assert [one["confidence"] for one in halved] == [0.5, 0.25, 0.125]


@row("A fact whose confidence falls below 0.1 is removed, at 0.1 it stays", "classic")
def test_a_row_floor(tmp_path: Path) -> None:
    found_ = [
        aged(1, "The lower lamp.", "permanent", confidence=0.1),
        aged(2, "The upper lamp.", "durable", confidence=0.1),
        aged(3, "The broken lamp.", "durable", confidence=0.09),
    ]
    repo = began(tmp_path, found_, "--profile", "classic")
    done(repo, "health", "--prune", now=at(timedelta(days=1)))
    assert {m.body for m in memories(repo).values()} == {"The lower lamp.", "The upper lamp."}


@row("A refresh restores the confidence of a fact", "classic")
def test_a_row_restored(own: Path) -> None:
    id_, late = of_class(own, "normal"), timedelta(days=11)
    assert shown(own, id_, late)["confidence"] == 0.5
    done(own, "show", id_, now=at(late))
    assert shown(own, id_, late)["confidence"] == 1.0


@row("The command prune runs the hard and the soft step", "classic")
def test_a_row_both_steps(tmp_path: Path) -> None:
    weak = aged(1, "The weak lamp.", "short", confidence=0.15)
    repo = began(tmp_path, [weak, aged(2, "The brief lamp.", "ephemeral")], "--profile", "classic")
    done(repo, "health", "--prune", now=at(LIVES["short"] * 0.75 + SECOND))
    assert memories(repo) == {}


@row("prune --soft leaves what is expired", "classic")
def test_a_row_soft_only(tmp_path: Path) -> None:
    weak = aged(1, "The weak lamp.", "short", confidence=0.15)
    repo = began(tmp_path, [weak, aged(2, "The brief lamp.", "ephemeral")], "--profile", "classic")
    done(repo, "health", "--prune", "--soft", now=at(LIVES["short"] * 0.75 + SECOND))
    assert [m.body for m in memories(repo).values()] == ["The brief lamp."]


@row("prune --dry-run counts and writes nothing", "classic")
def test_a_row_dry_run(own: Path) -> None:
    before = standing(own)
    answer = done(own, "health", "--prune", "--dry-run", now=at(timedelta(hours=5)))
    assert len(answer["changes"]) == 2
    assert standing(own) == before


# -- commands and rules --------------------------------------------------------------------------


@row("backfill classifies again what was classified by older rules", "default")
def test_a_row_backfill(tmp_path: Path) -> None:
    repo = began(tmp_path, [aged(1, "We decided on larch.", "stable")])
    shown_first = done(repo, "health", "--reclassify", "--dry-run")
    assert len(shown_first["changes"]) == 1
    done(repo, "health", "--reclassify")
    assert {shown(repo, id_)["class"] for id_ in memories(repo)} == {"permanent"}


@row("stats counts the facts of each class and those that wait to be pruned", "classic")
def test_a_row_stats(classic: Path) -> None:
    answer = memrepo(classic, "health", now=at(timedelta(hours=5))).data["decay"]
    assert answer["classes"] == dict.fromkeys(("permanent", *LIVES), 1)
    assert answer["expired_pending"] == 2


@row(
    "There is no configuration of times to live; they are constants of the code",
    "documented",
    "configuration.md",
    "Keys of `memrepo.toml`",
    "decay.ttl",
)
def test_a_row_ttl_key(own: Path) -> None:
    configure(own, "decay.ttl.short", "5d")
    assert shown(own, of_class(own, "short"))["expires"] == at(timedelta(days=5))


@row("A new class is added with its time, and is then a class like the others", "default")
def test_a_row_new_class(repo: Path) -> None:
    assert memrepo(repo, "add", "A sundial.", "--class", "glimpse").exit == 2
    configure(repo, "decay.ttl.glimpse", "1h")
    done(repo, "add", "A sundial.", "--class", "glimpse")
    assert found(repo, "sundial", timedelta(hours=1))
    assert not found(repo, "sundial", timedelta(hours=1) + SECOND)


@row("An expired fact is removed from the index of search too", "classic")
def test_a_row_index(own: Path) -> None:
    done(own, "health", "--prune", now=at(timedelta(hours=5)))
    query = partial(done, own, "search", "ephemeral", "--no-touch", now=at(timedelta(hours=5)))
    assert query()["hits"] == query("--status", "expired")["hits"] == []


def test_each_row_has_an_end() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 40)
