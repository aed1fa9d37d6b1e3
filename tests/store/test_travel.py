"""The access ledger between clones: a union of segments, whoever flushed and in whatever order."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import hubs
import pytest
from driving import done, memrepo
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
