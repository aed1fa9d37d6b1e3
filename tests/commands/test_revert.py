"""Taking back: what was, comes back; what is proposed again is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import LATER, assert_sound, done, git, memories, memrepo, standing, tree


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
        ("memory/tools.md", "- Never prune the roses before the last frost in April.\n", "confirm"),
        ("memory/2026-02-02.md", "\nThe heap was covered.\n", "reword"),
        ("RTMEMORY.md", "- **Watering interval:** every 9 days (2026-02-20)\n", "create"),
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
    assert tree(small_repo, "HEAD:memories") == tree(small_repo, f"{base}:memories")
    assert done(small_repo, "run", now="2026-03-01T11:20:00Z")["status"] == "skipped"
    assert branches(small_repo) == []


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


def test_a_revert_by_git_alone_counts_too(small_repo: Path) -> None:
    git(small_repo, "revert", "--no-edit", "-m", "1", "HEAD")
    assert memories(small_repo) == {}
    done(small_repo, "run", now=LATER)
    assert memories(small_repo) == {}


def test_what_is_new_lands_without_what_was_reverted(small_repo: Path) -> None:
    done(small_repo, "revert")
    workspaces.growing(small_repo.parent / "workspace", 1)
    done(small_repo, "run", now=LATER)
    bodies = [m.body for m in memories(small_repo).values()]
    assert len(bodies) == 2
    assert any("14 degrees" in body for body in bodies)
    assert any("new pump" in body for body in bodies)


def test_reverting_the_revert_restores_the_run(small_repo: Path) -> None:
    full = tree(small_repo)
    taken_back = done(small_repo, "revert")["commits"][0]
    done(small_repo, "revert", taken_back, now=LATER)
    assert tree(small_repo) == full
    assert done(small_repo, "run", now="2026-03-01T11:10:00Z")["status"] == "skipped"
    assert branches(small_repo) == []
    assert_sound(small_repo)


@pytest.mark.parametrize("word", ["20200101T000000Z-00000000", "no-such-branch", "--upload-pack=x"])
def test_an_unknown_target_is_a_usage_error(small_repo: Path, word: str) -> None:
    assert memrepo(small_repo, "revert", "--", word).exit == 2


def test_uncommitted_work_on_a_touched_path_stops_the_revert_and_stays(small_repo: Path) -> None:
    path = small_repo / next(iter(memories(small_repo).values())).path
    path.write_text("my own words\n")
    head = git(small_repo, "rev-parse", "HEAD")
    answer = memrepo(small_repo, "revert")
    assert answer.exit == 5
    assert path.name in answer.error["message"]
    assert path.read_text() == "my own words\n"
    assert git(small_repo, "rev-parse", "HEAD") == head


def test_a_decision_that_is_reverted_is_not_reverted_again(small_repo: Path) -> None:
    made = done(small_repo, "add", "The shed key hangs by the door.", "--reason", "seen")
    id_, commit = made["id"], made["commit"]
    (first,) = done(small_repo, "revert", commit, now=LATER)["commits"]
    (second,) = done(small_repo, "revert", first, now=LATER)["commits"]
    edited = done(small_repo, "edit", id_, "--text", "The shed key hangs by the gate.", now=LATER)
    for words in ([first], [first, "--theirs"], [first, "--ours"]):
        answer = memrepo(small_repo, "revert", *words, now=LATER)
        assert answer.exit == 2, answer
        assert f"is reverted already, by {second[:10]}" in answer.error["message"]
    assert memories(small_repo)[id_].body.strip() == "The shed key hangs by the gate."
    # What brought it back is in effect, and so can be reverted; then the first one is once more.
    done(small_repo, "revert", edited["commit"], now=LATER)
    done(small_repo, "revert", second, now=LATER)
    assert id_ not in memories(small_repo)
    assert memrepo(small_repo, "revert", commit, now=LATER).exit == 2
    done(small_repo, "revert", first, now=LATER)
    assert id_ in memories(small_repo)
    assert_sound(small_repo)


def test_a_settled_revert_is_never_proposed_again(small_repo: Path) -> None:
    done(small_repo, "revert", "--settle")
    before = standing(small_repo)
    answer = done(small_repo, "run", now=LATER)
    assert (answer["status"], branches(small_repo)) == ("skipped", [])
    assert standing(small_repo) == before


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


def test_a_commit_that_memrepo_did_not_write_is_left_to_git(small_repo: Path) -> None:
    git(small_repo, "commit", "-q", "--allow-empty", "-m", "mine", "--no-verify")
    answer = memrepo(small_repo, "revert", "HEAD")
    assert answer.exit == 2
    assert "git revert" in answer.error["fix"] + answer.error["message"]


ALL = {
    "MEMORY.md": b"- The office is in Rome.\n- The staging server runs Debian 11.\n",
    "USER.md": b"- **Name:** Dylan\n- **Location:** Colorado\n",
}
EDITS = ((b"Rome", b"Lisbon"), (b"Debian 11", b"Debian 12"), (b"Colorado", b"Lisbon"))


def edited(workspace: Path) -> None:
    for path in (workspace / name for name in ALL):
        text = path.read_bytes()
        for old, new in EDITS:
            text = text.replace(old, new)
        path.write_bytes(text)


def night(repo: Path, day: int, *argv: str) -> dict[str, object]:
    return memrepo(repo, *argv or ("run",), now=f"2026-03-{day:02}T04:00:00Z").data


@pytest.mark.parametrize("later", [b"", b"- We decided to bill per month.\n"])
@pytest.mark.parametrize("again", [b"", b"- The cat of the office is called Mia.\n"])
def test_a_reverted_rewording_is_left_out(tmp_path: Path, later: bytes, again: bytes) -> None:
    workspaces.write(tmp_path / "workspace", ALL)
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo, memory = tmp_path / "repo", tmp_path / "workspace" / "MEMORY.md"
    night(repo, 1)
    edited(tmp_path / "workspace")
    reworded = night(repo, 2)
    if later:
        memory.write_bytes(memory.read_bytes() + later)
        night(repo, 3)
    night(repo, 4, "revert", str(reworded["run"]))
    before = {m.id: m.body for m in memories(repo).values()}
    if again:
        memory.write_bytes(memory.read_bytes() + again)
    answer = night(repo, 5)
    assert answer["status"] == "ok"
    for day in (6, 7):
        landed = {m.id: m.body for m in memories(repo).values()}
        assert before.items() <= landed.items()
        assert len(landed) - len(before) == bool(again)
        assert night(repo, day)["status"] == "skipped"


def test_a_reverted_retirement_is_left_out_after_a_later_run(
    tmp_path: Path,
) -> None:
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


def test_an_old_gap_raises_no_alarm_on_later_nights(tmp_path: Path) -> None:
    lines = [f"- Room {n} has {n} copper lamps and {n + 3} chairs.\n" for n in range(11, 43)]
    workspaces.write(tmp_path / "workspace", {"MEMORY.md": "".join(lines).encode()})
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo, memory = tmp_path / "repo", tmp_path / "workspace" / "MEMORY.md"

    def replaced(at: int) -> None:
        lines[at] = f"- The barn number {at} was sold to Ada in May.\n"
        memory.write_text("".join(lines))

    night(repo, 1)
    replaced(0)
    wrong = night(repo, 2)
    replaced(1)
    night(repo, 3)
    night(repo, 4, "revert", str(wrong["run"]), "--ours")
    assert night(repo, 5)["status"] == "ok"
    for day in range(7, 15):
        replaced(2 * day)
        assert night(repo, day)["status"] == "ok"
