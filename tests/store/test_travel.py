"""The access ledger between clones: a union of segments, whoever flushed and in whatever order."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import driving
import hubs
import pytest
from driving import done, git, memrepo
from hubs import ledger, segments, tip

ACCESS = "refs/memrepo/access"


@pytest.fixture(scope="module")
def _machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ledgers")
    hubs.begin(base, "laptop", "desk", "phone")
    return base


@pytest.fixture
def machines(_machines: Path, tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return three clones of one hub, in sync and without a ledger."""
    shutil.copytree(_machines, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path / "laptop", tmp_path / "desk", tmp_path / "phone"


def test_without_a_ledger_on_either_side_nothing_happens(machines: tuple[Path, ...]) -> None:
    done(machines[0], "sync")
    assert tip(machines[0], ACCESS) == ""
    assert "access" not in git(machines[0], "for-each-ref")
    assert "access" not in git(machines[0].parent / "hub.git", "for-each-ref")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_ledgers_unite_in_any_order(machines: tuple[Path, ...], order: tuple[int, ...]) -> None:
    for name, repo in zip("abc", machines, strict=True):
        ledger(repo, {f"{name}/1-{name * 4}.jsonl": f'{{"by": "{name}"}}\n'})
        ledger(repo, {f"{name}/2-{name * 4}.jsonl": "{}\n"})
    for turn in (*order, *order):
        done(machines[turn], "sync")
    wanted = {f"{name}/{n}-{name * 4}.jsonl" for name in "abc" for n in (1, 2)}
    for repo in machines:
        assert set(segments(repo)) == wanted
    assert len({tip(repo, ACCESS) for repo in (*machines, machines[0].parent / "hub.git")}) == 1
    assert done(machines[0], "sync")["ledger"] == {"pulled": 0, "pushed": 0}


def test_what_came_and_went_is_counted_and_the_union_has_both_parents(
    machines: tuple[Path, ...],
) -> None:
    laptop, desk, _ = machines
    theirs = ledger(desk, {"d/1-dd.jsonl": "d\n", "d/2-dd.jsonl": "dd\n"})
    assert done(desk, "sync")["ledger"] == {"pulled": 0, "pushed": 2}
    mine = ledger(laptop, {"l/1-ll.jsonl": "l\n"})
    assert done(laptop, "sync", "--dry-run")["ledger"] == {"pulled": 2, "pushed": 1}
    assert tip(laptop, ACCESS) == mine
    assert done(laptop, "sync")["ledger"] == {"pulled": 2, "pushed": 1}
    assert git(laptop, "log", "-1", "--format=%P", ACCESS).split() == [theirs, mine]
    assert tip(laptop, "refs/memrepo/remote/origin/access") == tip(laptop, ACCESS)
    assert "Memrepo-Op: sync" in git(laptop, "log", "-1", "--format=%B", ACCESS)
    git(laptop, "fsck", "--strict")


def test_a_segment_that_differs_under_one_name_is_told_and_neither_ledger_changes(
    machines: tuple[Path, ...],
) -> None:
    laptop, desk, _ = machines
    theirs = ledger(desk, {"x/1-aa.jsonl": "one\n"})
    done(desk, "sync")
    mine = ledger(laptop, {"x/1-aa.jsonl": "two\n"})
    done(laptop, "add", "The cat is called Miso.")
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert answer.data["pushed"] == 1
    said = memrepo(laptop, "sync", as_json=False)
    assert "ledger-differs" in said.err
    assert "x/1-aa.jsonl" in said.err
    assert tip(laptop, ACCESS) == mine
    assert tip(laptop.parent / "hub.git", ACCESS) == theirs


def test_a_hub_that_refuses_the_ref_gets_a_branch(machines: tuple[Path, ...]) -> None:
    laptop, desk, _ = machines
    hook = laptop.parent / "hub.git" / "hooks" / "update"
    hook.write_text('#!/bin/sh\ncase "$1" in refs/heads/*) ;; *) exit 1;; esac\n')
    hook.chmod(0o755)
    ledger(laptop, {"l/1-ll.jsonl": "l\n"})
    done(laptop, "add", "The cat is called Miso.")
    assert done(laptop, "sync")["pushed"] == 1
    said = memrepo(laptop, "sync", as_json=False)
    assert said.exit == 0
    assert "ledger-refused" in said.err
    assert "memrepo.toml" in said.err
    config = (laptop / "memrepo.toml").read_text()
    hubs.write(laptop, "memrepo.toml", config + '\n[ledger]\nref = "memrepo-access"\n')
    hubs.commit_all(laptop, "the ledger on a branch")
    assert done(laptop, "sync")["ledger"] == {"pulled": 0, "pushed": 1}
    assert tip(laptop.parent / "hub.git", "refs/heads/memrepo-access") == tip(laptop, ACCESS)
    done(desk, "sync")
    done(desk, "sync")
    assert segments(desk) == {"l/1-ll.jsonl": "l\n"}


def test_the_branch_of_the_memories_is_no_place_for_the_ledger(machines: tuple[Path, ...]) -> None:
    laptop = machines[0]
    config = (laptop / "memrepo.toml").read_text()
    hubs.write(laptop, "memrepo.toml", config + '\n[ledger]\nref = "main"\n')
    answer = memrepo(laptop, "sync")
    assert answer.exit == 2
    assert "ledger.ref" in answer.error["message"]


@pytest.mark.parametrize(
    "ref", ["refs/tags/x", "../x", "-x", "a b", "x.lock", "refs/heads/", "a:b"]
)
def test_a_ref_that_is_none_of_ours_is_an_error(machines: tuple[Path, ...], ref: str) -> None:
    laptop = machines[0]
    config = (laptop / "memrepo.toml").read_text()
    hubs.write(laptop, "memrepo.toml", config + f'\n[ledger]\nref = "{ref}"\n')
    assert memrepo(laptop, "status").exit == 2


def test_a_ledger_that_only_the_hub_has_is_taken(machines: tuple[Path, ...]) -> None:
    laptop, desk, phone = machines
    made = ledger(laptop, {"l/1-ll.jsonl": "l\n"})
    done(laptop, "sync")
    done(desk, "sync")
    assert tip(desk, ACCESS) == made
    more = ledger(desk, {"d/1-dd.jsonl": "d\n"})
    done(desk, "sync")
    done(laptop, "sync")
    assert tip(laptop, ACCESS) == more
    driving.assert_sound(phone)
