"""`doctor` on real histories: what is sound, what is broken, and since which commit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import LATER, begin, done, git, memories, memrepo

from benchmarks.memories import START
from benchmarks.memories import memories as many
from memrepo.actions.landing import prepare
from memrepo.core.changes import Create, Plan, Step
from memrepo.core.messages import Context
from memrepo.store.repo import open_repository

CHECKS = ("history", "references", "tombstones", "signatures")


def checks(repo: Path) -> dict[str, dict[str, Any]]:
    return {c["name"]: c for c in memrepo(repo, "doctor").data["checks"]}


def commit(repo: Path, message: str, *paths: str) -> str:
    git(repo, "add", "-A", *paths)
    git(repo, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", message)
    return git(repo, "rev-parse", "HEAD").strip()


@pytest.fixture
def long_repo(small_repo: Path) -> Path:
    """Return a repository in which everything that memrepo does so far was done once."""
    first = next(iter(memories(small_repo)))
    workspaces.growing(small_repo.parent / "workspace", 1)
    done(small_repo, "run", now=LATER)
    done(small_repo, "pin", first, now=LATER)
    done(small_repo, "revert", now=LATER)
    done(small_repo, "revert", "HEAD", now=LATER)
    new = done(small_repo, "add", "The office moved to Oslo", now=LATER)["id"]
    done(small_repo, "supersede", new, "The office moved to Bergen", now=LATER)
    assert memrepo(small_repo, "run", "--mode", "reconciliation", now=LATER).exit in (0, 3)
    return small_repo


def test_a_sound_history_passes_every_check(long_repo: Path) -> None:
    found = checks(long_repo)
    assert {name: found[name]["ok"] for name in CHECKS} == dict.fromkeys(CHECKS, True), found
    assert found["history"]["problems"] == []


@pytest.mark.parametrize("decide", ["accept", "discard"])
def test_what_a_person_decided_passes_too(small_repo: Path, decide: str) -> None:
    workspaces.growing(small_repo.parent / "workspace", 1)
    run = memrepo(small_repo, "run", "--max-change-pct", "0", now=LATER)
    if run.exit == 0:
        done(small_repo, "revert", now=LATER)
        assert memrepo(small_repo, "run", now=LATER).exit == 3
    done(small_repo, decide, now=LATER)
    found = checks(small_repo)
    assert found["history"]["ok"], found["history"]


def test_a_manifest_that_somebody_edited_names_the_commit(long_repo: Path) -> None:
    (manifest, *_) = sorted((long_repo / "runs").rglob("*.json"))
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "consumed": []}))
    bad = commit(long_repo, "a quick fix")
    done(long_repo, "add", "Later things go on", now=LATER)
    found = checks(long_repo)["history"]
    assert not found["ok"]
    assert bad[:10] in found["message"]
    assert [(p["path"], p["rule"]) for p in found["problems"]] == [(bad, "manifest-changed")]


def test_a_merge_that_says_more_than_its_chain_is_named(long_repo: Path) -> None:
    merge = git(long_repo, "rev-list", "--merges", "-1", "HEAD").strip()
    git(long_repo, "switch", "-qc", "evil", merge)
    (long_repo / "memories/knowledge/extra.md").write_text("---\ntype: fact\n---\n\nsneaked in\n")
    git(long_repo, "add", "-A")
    git(long_repo, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--amend", "--no-edit")
    bad = git(long_repo, "rev-parse", "HEAD").strip()
    found = checks(long_repo)["history"]
    assert [(p["path"], p["rule"]) for p in found["problems"]] == [(bad, "run-tree")]


def test_a_supersession_cut_in_half_names_the_commit_that_did_it(long_repo: Path) -> None:
    old = next(m for m in memories(long_repo).values() if m.status == "superseded")
    path = long_repo / old.path
    text = path.read_text()
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("superseded_")]
    path.write_text("".join(lines))
    bad = commit(long_repo, "tidied up")
    for text in ("One more", "And another"):
        done(long_repo, "add", text, now=LATER)
    found = checks(long_repo)["references"]
    assert not found["ok"]
    assert found["message"].endswith(f"since commit {bad[:10]}")
    assert {p["rule"] for p in found["problems"]} == {"supersession-half", "supersession-status"}
    assert "supersession-half" in {p["rule"] for p in done(long_repo, "status")["problems"]}


def test_a_tombstone_that_cannot_be_read_is_named(long_repo: Path) -> None:
    folder = long_repo / "tombstones"
    folder.mkdir(exist_ok=True)
    (folder / "a.md").write_text("---\nscope: ''\nreason: [\n---\n")
    bad = commit(long_repo, "by hand")
    done(long_repo, "add", "One more", now=LATER)
    found = checks(long_repo)["tombstones"]
    assert not found["ok"]
    assert "tombstones/a.md" in found["message"]
    assert found["message"].endswith(f"since commit {bad[:10]}")


def test_the_commit_is_found_within_the_chain_of_a_run(small_repo: Path) -> None:
    base = git(small_repo, "rev-parse", "HEAD").strip()
    git(small_repo, "switch", "-qc", "chain")
    commit(small_repo, "one")
    (small_repo / "tombstones").mkdir(exist_ok=True)
    (small_repo / "tombstones/a.md").write_text("no header")
    bad = commit(small_repo, "two")
    commit(small_repo, "three")
    git(small_repo, "switch", "-q", "main")
    assert git(small_repo, "rev-parse", "HEAD").strip() == base
    git(small_repo, "merge", "-q", "--no-ff", "--no-verify", "--no-edit", "chain")
    commit(small_repo, "after")
    assert checks(small_repo)["tombstones"]["message"].endswith(f"since commit {bad[:10]}")


def test_the_number_of_processes_does_not_grow_with_history(
    small_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started() -> int:
        trace = tmp_path / "trace"
        trace.unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setenv("GIT_TRACE2_EVENT", str(trace))
            assert checks(small_repo)["history"]["ok"]
        return trace.read_text().count('"event":"start"')

    before = started()
    with open_repository(small_repo) as store:
        steps = tuple(
            Step(op="create", what=m.slug, changes=(Create(memory=m),)) for m in many(300)
        )
        plan = Plan(base=store.head(), steps=steps)
        state = store.snapshot(store.head()).state()
        store.land(prepare(store, state, plan, Context(actor="memrepo/0"), START).chain, "many")
    # Many files at once are read by processes of their own (for the state two, for the index one),
    # and the index follows by one `diff-tree`: as many whatever the history.
    assert started() <= before + 4


def test_control_characters_in_foreign_commits_confuse_nothing(small_repo: Path) -> None:
    tree = git(small_repo, "rev-parse", "HEAD^{tree}").strip()
    head = git(small_repo, "rev-parse", "HEAD").strip()
    raw = (
        f"tree {tree}\nparent {head}\nauthor a\x1db <a\x1e@x> 1772359200 +0000\n"
        f"committer a <a\x1d@x> 1772359200 +0000\n\n\x1d{'0' * 40}\x1f subject\n"
    )
    made = subprocess.run(
        ["git", "-C", str(small_repo), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=raw.encode(),
        capture_output=True,
        check=True,
    )
    git(small_repo, "reset", "-q", "--hard", made.stdout.decode().strip())
    assert checks(small_repo)["history"]["ok"]


def test_the_quick_doctor_reads_no_memory_and_says_what_it_left_out(tmp_path: Path) -> None:
    from memrepo.actions.setup.doctor import WHOLE, names

    assert set(names()) >= WHOLE
    repo = begin(tmp_path, workspaces.small(tmp_path / "ws"))
    memory = next((repo / "memories").rglob("*.md"))
    memory.write_text("---\nid: [\n---\n\nNo header.\n", encoding="utf-8")
    git(repo, "add", "-A")
    git(repo, "commit", "-qnm", "by hand")
    whole = memrepo(repo, "doctor", now=LATER)
    assert "memories" in [c["name"] for c in whole.data["checks"] if not c["ok"]]
    assert (whole.exit, whole.data["left_out"]) == (1, [])
    quick = memrepo(repo, "doctor", "--quick", now=LATER)
    assert set(quick.data["left_out"]) == WHOLE
    assert {c["name"] for c in quick.data["checks"]} == set(names()) - WHOLE
    assert "left out  objects, memories" in memrepo(repo, "doctor", "--quick", as_json=False).out
