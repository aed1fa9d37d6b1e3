"""Single writes: one validated commit each, nothing when there is nothing to do."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from driving import LATER, assert_sound, commits, done, git, memories, memrepo, standing

TEXT = "The deploy key lives in the vault."


def add(repo: Path, text: str = TEXT, *options: str) -> str:
    return str(done(repo, "add", text, *options)["id"])


def test_an_added_memory_is_a_file_a_commit_and_found_again(repo: Path) -> None:
    before = commits(repo)
    answer = done(repo, "add", TEXT, "--tag", "ops", "--type", "decision", "--pin")
    memory = memories(repo)[answer["id"]]
    assert (memory.body, memory.type, memory.tags) == (TEXT, "decision", ("ops",))
    assert memory.pinned
    assert memory.path.startswith("memories/decisions/2026-03/the-deploy-key")
    assert commits(repo) == before + 1
    assert done(repo, "search", "deploy")["hits"][0]["id"] == memory.id
    assert_sound(repo)


@pytest.mark.parametrize(
    "text", [TEXT, f"- {TEXT}", TEXT.upper(), "the deploy  key lives in the vault."]
)
def test_an_equal_text_returns_the_memory_there_is(repo: Path, text: str) -> None:
    first = add(repo)
    before = standing(repo)
    assert done(repo, "add", text, now=LATER)["id"] == first
    assert standing(repo) == before


def test_an_added_memory_says_its_type_and_how_to_choose_another(repo: Path) -> None:
    told = memrepo(repo, "add", "Mara prefers tea.", as_json=False).out
    assert "its type is fact; for another, `memrepo undo` and add it with --type" in told
    assert (
        "its type"
        not in memrepo(repo, "add", "Rui prefers tea.", "--type", "preference", as_json=False).out
    )
    again = memrepo(repo, "add", "Rui prefers tea.", "--tag", "drinks", as_json=False).out
    assert "says this already; its fields were left as they are" in again


def test_a_text_in_another_scope_is_another_memory(repo: Path) -> None:
    assert add(repo) != done(repo, "add", TEXT, "--scope", "project:x", now=LATER)["id"]


def test_text_comes_from_standard_input(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("first line\nsecond line\n\n"))
    id_ = add(repo, "-")
    assert memories(repo)[id_].body == "first line\nsecond line"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["add", "  "], "empty"),
        (["add", "password: hunter2fakehunter"], "secret"),
        (["add", "x", "--type", "thing"], "invalid choice"),
        (["add", "x", "--valid-from", "soon"], "valid_from"),
        (["confirm", "mem-ffffffffffffffff"], "no memory"),
        (["edit", "mem-ffffffffffffffff", "--text", "x"], "no memory"),
        (["edit", "deploy", "--set", "id=mem-1"], "written by memrepo only"),
        (["edit", "deploy", "--set", "colour=red"], "not a field"),
        (["edit", "deploy", "--set", "title"], "expected KEY=VALUE"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(repo: Path, argv: list[str], said: str) -> None:
    id_ = add(repo)
    before = standing(repo)
    answer = memrepo(repo, *(id_ if word == "ID" else word for word in argv))
    assert answer.exit == 2
    assert said in answer.error["message"]
    assert standing(repo) == before


def test_who_wants_another_type_is_told_how(repo: Path) -> None:
    answer = memrepo(repo, "edit", add(repo), "--set", "type=decision")
    assert "`memrepo add --type TYPE TEXT`" in answer.error["fix"]


def test_a_supersession_touches_both_files_in_one_commit(repo: Path) -> None:
    old = add(repo, TEXT, "--tag", "ops")
    new = done(repo, "supersede", old, "The deploy key lives in 1Password.", now=LATER)["id"]
    found = memories(repo)
    assert found[old].status == "superseded"
    assert found[old].superseded_by == (new,)
    assert found[new].supersedes == (old,)
    assert found[new].tags == ("ops",)
    files = git(repo, "show", "--name-only", "--format=", "HEAD").split()
    assert sorted(files) == sorted(["MEMORY.md", found[old].path, found[new].path])
    hits = [h["id"] for h in done(repo, "search", "deploy")["hits"]]
    assert hits == [new]


def test_a_memory_in_a_folder_of_ones_own_is_superseded(repo: Path) -> None:
    id_ = done(repo, "add", "The mill project is led by Ana.")["id"]
    path = repo / memories(repo)[id_].path
    (repo / "memories" / "projects").mkdir()
    git(repo, "mv", path.relative_to(repo).as_posix(), f"memories/projects/{path.name}")
    git(repo, "commit", "-qm", "file it", "--no-verify")
    new = done(repo, "supersede", id_, "The mill project is led by Rui.")["id"]
    found = memories(repo)
    assert found[id_].path == f"memories/projects/{path.name}"
    assert (found[id_].superseded_by, found[new].supersedes) == ((new,), (id_,))
    assert_sound(repo)


def test_confirming_adds_a_stamp_and_touches_nothing_else(repo: Path) -> None:
    id_ = add(repo)
    done(repo, "confirm", id_, now=LATER)
    diff = git(repo, "diff", "HEAD~1", "-U0")
    lines = [x for x in diff.splitlines() if x[:1] in "+-" and x[:3] not in ("+++", "---")]
    assert [line.split(":")[0] for line in lines] == ["+verified"]
    assert "unchanged" in done(repo, "confirm", id_, now=LATER)


def test_forgetting_hides_from_search_and_keeps_the_file(repo: Path) -> None:
    id_ = add(repo)
    done(repo, "forget", id_)
    assert done(repo, "search", "deploy")["hits"] == []
    assert memories(repo)[id_].status == "forgotten"
    assert "unchanged" in done(repo, "forget", id_)


def test_pinning_and_unpinning_leave_the_bytes_as_they_were(repo: Path) -> None:
    id_ = add(repo)
    path = repo / memories(repo)[id_].path
    before = path.read_bytes()
    done(repo, "pin", id_)
    assert b"pinned: true" in path.read_bytes()
    done(repo, "pin", "--off", id_)
    assert path.read_bytes() == before
    assert "unchanged" in done(repo, "pin", "--off", id_)


def test_a_link_points_at_a_memory_and_gets_a_new_strength(repo: Path) -> None:
    a, b = add(repo), add(repo, "Vault tokens expire after a day.")
    done(repo, "link", a, "supports", b)
    done(repo, "link", a, "supports", b, "--strength", "0.5")
    (link,) = memories(repo)[a].fields["links"]
    assert (link.target, link.type, link.strength) == (b, "supports", 0.5)
    assert "unchanged" in done(repo, "link", a, "supports", b, "--strength", "0.5")
    for argv in (
        ["link", a, "supports", a],
        ["link", a, "likes", b],
        ["link", a, "supports", b, "--strength", "7"],
    ):
        assert memrepo(repo, *argv).exit == 2


@pytest.mark.parametrize(
    "argv",
    [
        ["add", "A new one."],
        ["supersede", "ID", "x y z"],
        ["confirm", "ID"],
        ["forget", "ID"],
        ["pin", "ID"],
        ["edit", "ID", "--text", "other"],
    ],
)
def test_a_dry_run_writes_nothing(repo: Path, argv: list[str]) -> None:
    id_ = add(repo)
    before = standing(repo)
    answer = done(repo, *[id_ if a == "ID" else a for a in argv], "--dry-run", now=LATER)
    assert answer["commit"] == ""
    assert standing(repo) == before


def test_uncommitted_work_on_the_file_is_not_overwritten(repo: Path) -> None:
    id_ = add(repo)
    path = repo / memories(repo)[id_].path
    path.write_bytes(path.read_bytes() + b"half a thought")
    before = standing(repo)
    answer = memrepo(repo, "pin", id_)
    assert answer.exit == 5
    assert path.name in answer.error["message"]
    assert standing(repo) == before


def test_a_text_that_replaces_several_lines_names_those_that_go(small_repo: Path) -> None:
    text = "Pumps:\n\n- The old pump stands in bay 3.\n- The new pump leaks."
    id_ = done(small_repo, "add", text)["id"]
    answer = memrepo(small_repo, "edit", id_, "--text", "Pumps: none.", as_json=False)
    assert "2 lines are gone: - The old pump stands in bay 3. / - The new pump" in answer.err
    done(small_repo, "undo")
    kept = text.replace("leaks", "is fixed")
    answer = memrepo(small_repo, "edit", id_, "--text", kept, as_json=False)
    assert (answer.exit, answer.err) == (0, "")
