"""Taking back: what was, comes back; what is proposed again is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import (
    LATER,
    assert_sound,
    by_word,
    done,
    git,
    memories,
    memrepo,
    runs,
    standing,
    tree,
)


def branches(repo: Path) -> list[str]:
    return git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/run/").split()


def test_a_revert_brings_back_the_tree_before_the_run_in_one_commit(small_repo: Path) -> None:
    before, base = tree(small_repo, "HEAD^1"), git(small_repo, "rev-parse", "HEAD").strip()
    answer = done(small_repo, "revert", "--reason", "it was a\nMemrepo-Op: purge\ntry")
    assert tree(small_repo) == before
    assert answer["reverts"] == base
    assert git(small_repo, "rev-parse", "HEAD^1").strip() == base
    said = git(
        small_repo, "log", "-1", "--format=%(trailers:key=Memrepo-Op,valueonly,separator=%x2c)"
    )
    assert said.strip() == "revert"
    assert_sound(small_repo)


@pytest.mark.parametrize(
    ("name", "text", "op"),
    [
        ("memory/tools.md", "- Never prune the roses before May.\n", "create"),
        ("memory/2026-02-02.md", "\nThe heap was covered.\n", "reword"),
        (
            "RTMEMORY.md",
            "- **Watering interval:** every 9 days (2026-02-20)\n",
            "create",
        ),
        (
            "memory/tools.md",
            "- Never prune the roses before the last frost in April.\n",
            "confirm",
        ),
    ],
)
def test_whatever_kind_of_decision_was_reverted_is_left_out_and_named(
    small_repo: Path, name: str, text: str, op: str
) -> None:
    with (small_repo.parent / "workspace" / name).open("a") as file:
        file.write(text)
    commits = done(small_repo, "run", now=LATER)["commits"]
    assert op in {commit["op"] for commit in commits}
    before, base = tree(small_repo, "HEAD^1"), git(small_repo, "rev-parse", "HEAD^1").strip()
    done(small_repo, "revert", now=LATER)
    assert tree(small_repo) == before
    answer = memrepo(small_repo, "run", now="2026-03-01T11:10:00Z")
    (named,) = [w for w in answer.data["warnings"] if w["rule"] == "reverted-left-out"]
    assert named["message"].startswith(op)
    assert ('left out: "' in named["message"]) == (op != "confirm")
    assert tree(small_repo, "HEAD:memories") == tree(small_repo, f"{base}:memories")
    assert done(small_repo, "run", now="2026-03-01T11:20:00Z")["status"] == "skipped"
    assert branches(small_repo) == []


HENS = "The keeper of the hens is Frau Maurer in the lower house."
PARTNER = HENS.replace("Maurer", "Dold")


@pytest.mark.parametrize("between", [True, False], ids=["a night between", "no night between"])
@pytest.mark.parametrize(
    ("back", "after"),
    [
        (HENS, {HENS: "active"}),  # restored, and later deleted
        (PARTNER, {PARTNER: "active"}),  # it comes back with other words
        ("", {HENS: "active"}),  # it never comes back
    ],
)
def test_a_reverted_removal_stays_out_until_other_words_take_the_place_of_the_line(
    tmp_path: Path, back: str, after: dict[str, str], between: bool
) -> None:
    nights = iter(f"2026-04-{day:02}T04:00:00Z" for day in range(1, 20))
    rest = ["Tax papers are in the grey box.", "The pump hangs in the shed.", "Ana has a boat."]
    source = tmp_path / "workspace" / "MEMORY.md"
    source.parent.mkdir()

    def night(*lines: str) -> Any:
        rows = "\n".join(f"- {line}" for line in (*lines, *rest) if line)
        source.write_text(f"# Memory\n\n{rows}\n", encoding="utf-8")
        return done(repo, "run", now=next(nights))

    def stated() -> dict[str, str]:
        found = memories(repo).values()
        return {m.body.strip(): m.status for m in found if "hens" in m.body}

    repo = tmp_path / "repo"
    source.write_text("# Memory\n", encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", "workspace", now=next(nights))
    night(HENS)
    night("")
    assert stated() == {HENS: "archived"}
    done(repo, "revert", now=next(nights))
    assert stated() == {HENS: "active"}
    assert done(repo, "status")["problems"] == []  # the line may be back before the next run
    rules = {"reverted-left-out", "kept-unstated"}
    for extra in ("Bo has a kayak.", "Bo has a canoe.") if between else ():
        rest.insert(1, extra)  # the same source, whatever else it says
        answer = night("")
        assert rules & {w["rule"] for w in answer["warnings"]}
        assert [p["rule"] for p in done(repo, "status")["problems"]] == ["kept-unstated"]
    night(back)
    if back == HENS:
        assert stated() == {HENS: "active"}
        assert done(repo, "status")["problems"] == []
        night("")
    assert stated() == after
    last = [p["rule"] for p in done(repo, "status")["problems"]]
    assert last == ([] if back == PARTNER else ["kept-unstated"])


@pytest.mark.parametrize("new", ["memory/alpha.md", "memory/zeta.md"])
def test_a_new_source_does_not_bring_a_reverted_one_back(small_repo: Path, new: str) -> None:
    line = "- Never prune the roses before the last frost in April.\n"
    workspace = small_repo.parent / "workspace"
    with (workspace / "memory" / "tools.md").open("a") as file:
        file.write(line)
    done(small_repo, "run", now=LATER)
    done(small_repo, "revert", now=LATER)
    (workspace / new).write_text(f"# Garden\n\n{line}")
    answer = done(small_repo, "run", now="2026-03-01T11:10:00Z")
    assert [w["rule"] for w in answer["warnings"]] == ["reverted-left-out"]
    (roses,) = [m for m in memories(small_repo).values() if "last frost" in m.body]
    files = {source.resource for source in roses.sources}
    assert "sources/memory/tools.md" not in files
    assert f"sources/{new}" in files


def test_what_was_reverted_is_a_file_and_lifting_it_lets_it_be_proposed(small_repo: Path) -> None:
    before = sorted(memories(small_repo))
    done(small_repo, "revert", "--reason", "it was a try")
    (stone,) = (small_repo / "tombstones").iterdir()
    text = stone.read_text()
    assert text.count("\n- mem-") == len(before)
    assert "reason: it was a try" in text
    (listed,) = done(small_repo, "reject", "--list")["rejected"]
    assert listed["changes"] == before
    assert "it was a try" in memrepo(small_repo, "reject", "--list", as_json=False).out
    done(small_repo, "reject", listed["key"], "--undo", now=LATER)
    done(small_repo, "run", now="2026-03-01T11:10:00Z")
    assert sorted(memories(small_repo)) == before


def test_a_part_of_a_revert_that_is_reverted_leaves_the_record(small_repo: Path) -> None:
    one, *others = sorted(memories(small_repo))
    (reverted,) = done(small_repo, "revert")["commits"]
    for n, ids in enumerate(([one], others)):
        words = [word for id_ in ids for word in ("--memory", id_)]
        done(small_repo, "revert", reverted, *words, now=LATER)
        stones = done(small_repo, "reject", "--list")["rejected"]
        assert [s["changes"] for s in stones] == ([others] if n == 0 else [])
    assert sorted(memories(small_repo)) == [one, *others]


@pytest.mark.parametrize("word", ["20200101T000000Z-00000000", "no-such-branch", "--upload-pack=x"])
def test_an_unknown_target_is_a_usage_error(small_repo: Path, word: str) -> None:
    assert memrepo(small_repo, "revert", "--", word).exit == 2


def test_what_is_not_in_effect_is_not_reverted_again(small_repo: Path) -> None:
    made = done(small_repo, "add", "The shed key hangs by the door.", "--reason", "seen")
    id_, commit = made["id"], made["commit"]
    (first,) = done(small_repo, "revert", commit, now=LATER)["commits"]
    before = standing(small_repo)
    assert done(small_repo, "revert", commit, now=LATER)["commits"] == []
    assert standing(small_repo) == before
    (second,) = done(small_repo, "revert", first, now=LATER)["commits"]
    done(small_repo, "edit", id_, "--text", "The shed key hangs by the gate.", now=LATER)
    assert done(small_repo, "revert", first, now=LATER)["commits"] == []
    assert memories(small_repo)[id_].body.strip() == "The shed key hangs by the gate."
    done(small_repo, "revert", second, "--later", now=LATER)
    assert id_ not in memories(small_repo)
    assert_sound(small_repo)


def test_without_a_name_the_latest_run_is_meant_and_captures_stay(small_repo: Path) -> None:
    before = tree(small_repo)
    workspaces.growing(small_repo.parent / "workspace", 1)
    done(small_repo, "ingest", now=LATER)
    captured = git(small_repo, "rev-parse", "HEAD:sources")
    reverted = done(small_repo, "revert", now=LATER)["commits"][0]
    assert memories(small_repo) == {}
    assert git(small_repo, "rev-parse", "HEAD:sources") == captured
    done(small_repo, "revert", reverted, now=LATER)
    done(small_repo, "revert", "HEAD~2", now=LATER)
    assert tree(small_repo) == before


ALL = {
    "MEMORY.md": b"- The office is in Rome.\n- The staging server runs Debian 11.\n",
    "USER.md": b"- **Name:** Dylan\n- **Location:** Colorado\n",
}


def night(repo: Path, day: int, *argv: str) -> dict[str, object]:
    return memrepo(repo, *argv or ("run",), now=f"2026-03-{day:02}T04:00:00Z").data


def test_a_reverted_retirement_is_left_out_after_a_later_run(tmp_path: Path) -> None:
    hours = b"- Remember the office hours (work 8-5, vacation from Friday)\n"
    workspaces.write(tmp_path / "workspace", {"MEMORY.md": ALL["MEMORY.md"] + hours})
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo, memory = tmp_path / "repo", tmp_path / "workspace" / "MEMORY.md"
    night(repo, 1)
    new = b"- Remember the office hours (work 9-6, Fridays off since December)\n"
    memory.write_bytes(memory.read_bytes().replace(hours, new))
    wrong = night(repo, 2)
    memory.write_bytes(memory.read_bytes() + b"- The cat of the office is called Mia.\n")
    night(repo, 3)
    night(repo, 4, "revert", str(wrong["run"]))
    assert night(repo, 5)["status"] == "ok"
    (old,) = [m for m in memories(repo).values() if "Remember the office hours" in m.body]
    assert ("8-5" in old.body, old.standing) == (True, "resolved")


# Taking back what is not the latest: later work stays and is named.


MUCH_LATER = "2026-03-01T11:10:00Z"


def test_what_later_work_refers_to_does_not_vanish_unasked(two_runs: Path) -> None:
    second, alpha, beta = runs(two_runs)[0], by_word(two_runs, "alpha"), by_word(two_runs, "beta")
    done(two_runs, "link", alpha, "supports", beta)
    answer = done(two_runs, "revert", second)
    assert {(c["kind"], c["memory"]) for c in answer["kept"]} == {("depended-on", alpha)}
    assert memories(two_runs)[alpha].links
    done(two_runs, "undo")
    done(two_runs, "revert", second, "--later", now=MUCH_LATER)
    assert "links" not in memories(two_runs)[alpha].fields
    assert_sound(two_runs)


def test_what_was_changed_later_is_named_with_the_way_to_revert_it_too(tmp_path: Path) -> None:
    done(tmp_path, "init", ".")
    id_ = done(tmp_path, "add", "The kiln is in the yard.")["id"]
    made = git(tmp_path, "rev-parse", "HEAD").strip()
    done(tmp_path, "edit", id_, "--text", "The kiln is in the barn.", now=LATER)
    said = memrepo(tmp_path, "revert", made, as_json=False).out
    assert "changes nothing: it was changed later" in said
    assert f"`memrepo revert {made[:10]} --later`" in said
    part = memrepo(tmp_path, "revert", made, "--memory", id_, as_json=False).out
    assert f"`memrepo revert {made[:10]} --memory {id_} --later`" in part


# -- what depends on it, a memory as a target, accepting what was taken back ----------------------


def test_of_a_memory_what_was_last_decided_is_taken_back(two_runs: Path) -> None:
    alpha, beta, vim = (by_word(two_runs, w) for w in ("alpha", "beta", "vim"))
    done(two_runs, "pin", alpha)
    done(two_runs, "add", "A person added this afterwards.")
    done(two_runs, "revert", alpha[:12], now=MUCH_LATER)
    assert not memories(two_runs)[alpha].pinned
    done(two_runs, "revert", vim, now=MUCH_LATER)
    assert memories(two_runs)[vim].status == "active", "a supersession goes as a whole"
    done(two_runs, "revert", beta, now=MUCH_LATER)
    assert not memories(two_runs)[beta].hot, "the run put it on the first page last"
    done(two_runs, "revert", beta, now=MUCH_LATER)
    assert memories(two_runs)[beta].hot, "the last decision was the revert"
    assert alpha in memories(two_runs)
    assert_sound(two_runs)


@pytest.mark.parametrize("program", ["memrepo", "git"])
def test_what_a_reverted_run_is_restored_with_is_named_and_works(
    two_runs: Path, program: str
) -> None:
    second, shown = runs(two_runs)[0], git(two_runs, "rev-parse", "HEAD:memories")
    if program == "memrepo":
        done(two_runs, "revert", second, now=MUCH_LATER)
    else:
        git(two_runs, "revert", "--no-edit", "-m", "1", "HEAD")
    by = git(two_runs, "rev-parse", "HEAD").strip()
    assert memrepo(two_runs, "accept", second).exit == 2, "it does not wait"
    for named in ((), (second,)):
        again = memrepo(two_runs, "revert", *named)
        assert again.exit == 2
        assert again.error["fix"].startswith(f"`{program} revert {by[:10]}` restores it")
    if program == "memrepo":
        done(two_runs, "revert", by[:10], now=MUCH_LATER)
    else:
        git(two_runs, "revert", "--no-edit", by[:10])
    assert git(two_runs, "rev-parse", "HEAD:memories") == shown
    assert second in runs(two_runs)
    assert_sound(two_runs)
