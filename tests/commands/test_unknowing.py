"""A ledger that arrives late: the next run undoes what was decided without a retrieval."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from driving import NOW, assert_sound, classic, done, git, memories, standing

from memrepo.core.access import RETRIEVAL, Event, seconds
from memrepo.core.times import format_time, parse_time
from memrepo.store.ledger import ledger_of
from memrepo.store.repo import open_repository

SAID = "The shed is painted red this spring."


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def learns(repo: Path, id_: str, at: str, now: str) -> None:
    """Let the ledger show a retrieval that another clone counted."""
    with open_repository(repo) as store:
        ledger = ledger_of(store)
        when = parse_time(now)
        ledger.record(
            [Event(kind=RETRIEVAL, at=seconds(parse_time(at)), session="s", memory=id_)], when
        )
        ledger.flush(when)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace."""
    done(tmp_path, "init", "repo")
    return classic(tmp_path / "repo")


def pruned(repo: Path, cls: str = "normal", days: int = 15) -> str:
    id_ = str(done(repo, "add", SAID, "--class", cls)["id"])
    done(repo, "run", now=after(days=days))
    assert id_ not in memories(repo)
    return id_


def test_a_retrieval_before_the_prune_brings_the_memory_back_as_it_was(repo: Path) -> None:
    id_ = pruned(repo)
    learns(repo, id_, after(days=13), after(days=16))
    ran = done(repo, "run", now=after(days=17))
    assert (ran["counts"]["restored"], ran["counts"]["memories_new"]) == (1, 0)
    assert memories(repo)[id_].body == SAID
    body = git(repo, "log", "--format=%B", "-8")
    assert (
        f"Memrepo-Reason: retrieved at {after(days=13)}; its prune at {after(days=15)}"
        " was decided without that"
    ) in body
    before = standing(repo)
    assert done(repo, "run", now=after(days=17))["status"] == "skipped"
    assert standing(repo) == before
    # Its time goes on from the retrieval.
    done(repo, "run", now=after(days=28))
    assert id_ not in memories(repo)
    assert_sound(repo)


def test_what_a_person_took_out_or_rejected_stays_out(repo: Path) -> None:
    id_ = pruned(repo)
    done(repo, "restore", id_, now=after(days=15))
    done(repo, "reject", id_, "--reason", "wrong", now=after(days=15))
    git(repo, "rm", "-q", memories(repo)[id_].path)
    git(repo, "commit", "-qm", "gone", "--no-verify")
    learns(repo, id_, after(days=13), after(days=16))
    done(repo, "run", now=after(days=16))
    assert id_ not in memories(repo)


# -- notes, archive, hot cache -------------------------------------------------------------------


def test_what_a_person_archived_or_demoted_stays_so(repo: Path) -> None:
    rests, cold = (str(done(repo, "add", text)["id"]) for text in (SAID, "The hall is wet."))
    done(repo, "archive", rests, now=after(days=5))
    done(repo, "promote", cold, now=after(days=1))
    done(repo, "demote", cold, now=after(days=5))
    for id_ in (rests, cold):
        learns(repo, id_, after(days=3), after(days=6))
    done(repo, "run", now=after(days=7))
    assert memories(repo)[rests].status == "archived"
    assert memories(repo)[cold].fields["hot"].until is not None
