"""What a person rejected comes back by no file, commit, pull or export: real git, no hook asked."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import hubs
import pytest
from driving import LATER, NEXT_DAY, Done, done, git, memrepo

SAID = "The gate code of the north depot is kept by Vera."
OTHER = "The archive of the choir lies in the cellar."
BACK = "memories/knowledge/2026-03/back-012345.md"
BY_HAND = "---\nid: mem-0123456789abcdef\ntype: fact\n---\n\n{}\n"
ASKED = ("gate", "code", "depot")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository that remembers one thing and rejected another."""
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    done(repo, "add", OTHER)
    reject(repo)
    return repo


def reject(repo: Path) -> str:
    """Write the memory and reject it; return the tombstone's key."""
    id_ = done(repo, "add", SAID)["memories"][0]
    done(repo, "reject", id_, "--reason", "it never was", now=LATER)
    return done(repo, "reject", "--list")["rejected"][0]["key"]


def by_hand(repo: Path, text: str = SAID, path: str = BACK) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(BY_HAND.format(text), encoding="utf-8")


def commit_unseen(repo: Path) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "brought back", "--no-verify")


def lift(repo: Path) -> None:
    key = done(repo, "reject", "--list")["rejected"][0]["key"]
    done(repo, "reject", key, "--undo", "--reason", "it is so after all", now=NEXT_DAY)


def handed_out(repo: Path) -> list[str]:
    """Return by which of the ways in which recall hands out texts the rejected one comes."""
    ways = {
        "search": memrepo(repo, "search", *ASKED, now=LATER),
        "layered": memrepo(repo, "search", "--layered", *ASKED, now=LATER),
        "session": memrepo(repo, "session", "show", now=LATER),
    }
    for path in ("MEMORY.md", *(str(p.relative_to(repo)) for p in repo.glob("views/*.md"))):
        if (repo / path).exists():
            ways[path] = Done(exit=0, out=(repo / path).read_text(encoding="utf-8"), err="")
    return [name for name, answer in ways.items() if "kept by Vera" in answer.out]


def named(repo: Path) -> list[str]:
    """Return which of `status` and `doctor` name the file and the way out."""
    status = json.dumps(memrepo(repo, "status", now=LATER).data["problems"])
    (found,) = [c for c in memrepo(repo, "doctor").data["checks"] if c["name"] == "rules"]
    said = {"status": status, "doctor": json.dumps(found)}
    return [name for name, text in said.items() if BACK in text and "reject ts-" in text]


def uncommitted(repo: Path) -> None:
    by_hand(repo)


def committed_unseen(repo: Path) -> None:
    by_hand(repo)
    commit_unseen(repo)


def before_the_next_write(repo: Path) -> None:
    committed_unseen(repo)
    done(repo, "add", "The lathe stands beside the window.", now=LATER)


def before_the_next_run(repo: Path) -> None:
    committed_unseen(repo)
    done(repo, "run", now=LATER)


WAYS = [uncommitted, committed_unseen, before_the_next_write, before_the_next_run]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_file_of_a_hand_is_out_of_recall_and_named_and_back_once_the_rejection_is_lifted(
    repo: Path, way: object
) -> None:
    assert callable(way)
    way(repo)
    assert handed_out(repo) == []
    assert named(repo) == ["status", "doctor"]
    assert (repo / BACK).read_text(encoding="utf-8") == BY_HAND.format(SAID)  # it is a person's
    lift(repo)
    assert "search" in handed_out(repo)  # the control: what stood in the way is the tombstone
    assert named(repo) == []


@pytest.mark.parametrize(
    "text",
    [
        SAID.upper(),
        f"- {SAID}",
        "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in SAID),
        SAID.replace("gate", "g\u200bate").replace("code", "\u200ecode\u200f"),
        SAID.replace("a", "\u0430"),
        SAID.replace("code", "co\U000e0064de"),
        unicodedata.normalize("NFD", SAID) + "\u2066\u2069",
        f"## {SAID}",
        f"> {SAID}",
        f"_{SAID}_",
        f"The __gate code__ of the ~~north~~ depot is kept by <b>Vera</b>{SAID[-1:]}",
        SAID.replace("gate code", "[gate code](https://gate.example/a)"),
        SAID.replace("gate code", "gate&nbsp;code") + "<!-- so -->",
        SAID.removesuffix(".") + "。",
    ],
    ids=[
        *("case", "list", "width", "marks", "letters", "tags", "isolates"),
        *("heading", "quotation", "emphasis", "markup", "link", "entity", "stop"),
    ],
)
def test_it_is_known_however_it_is_spelled(repo: Path, text: str) -> None:
    by_hand(repo, text)
    assert named(repo) == ["status", "doctor"]
    found = done(repo, "search", *ASKED, "Vera")["hits"]
    assert [hit["id"] for hit in found] == []


def test_a_new_tombstone_takes_what_is_indexed_out_of_a_search_and_a_lifted_one_brings_it(
    tmp_path: Path,
) -> None:
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    by_hand(repo)
    commit_unseen(repo)
    assert len(done(repo, "search", *ASKED)["hits"]) == 1
    first = git(repo, "rev-parse", "HEAD").strip()
    done(repo, "reject", "mem-0123456789abcdef", "--reason", "no", now=LATER)
    git(repo, "checkout", "-q", first, "--", BACK)
    commit_unseen(repo)
    assert done(repo, "search", *ASKED)["hits"] == []
    assert [h["status"] for h in done(repo, "search", *ASKED, "--status", "forgotten")["hits"]] == [
        "forgotten"
    ]
    git(repo, "revert", "--no-edit", "HEAD")
    git(repo, "checkout", "-q", "--detach", first)
    assert len(done(repo, "search", *ASKED)["hits"]) == 1


@pytest.fixture
def clones(tmp_path: Path) -> list[Path]:
    """Return two clones of a hub that know one rejection."""
    first, second = hubs.begin(tmp_path, "first", "second")
    reject(first)
    hubs.converge(first, second)
    return [first, second]


def test_a_commit_without_hooks_that_a_sync_pulls_is_out_of_recall_on_every_machine(
    clones: list[Path],
) -> None:
    first, second = clones
    committed_unseen(second)
    git(second, "push", "-q", "origin", "HEAD")
    assert done(first, "sync")["pulled"] == 1
    assert handed_out(first) == handed_out(second) == []
    assert named(first) == named(second) == ["status", "doctor"]
