"""Two machines and a hub: what each holds after a sync, and what a sync never does."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

import hubs
import pytest
from driving import LATER, assert_sound, done, git, memories, memrepo, standing, subjects
from hubs import clone, commit_all, converge, tip, write


@pytest.fixture(scope="module")
def _machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("machines")
    hubs.begin(base, "laptop", "desk")
    return base


@pytest.fixture
def machines(_machines: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return two clones of one hub, in sync; yours to change."""
    shutil.copytree(_machines, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path / "laptop", tmp_path / "desk"


def only(repo: Path) -> str:
    """Return the path of the one memory that the first clone wrote."""
    (memory,) = memories(repo).values()
    return memory.path


def path_of(repo: Path, id_: str) -> str:
    """Return the path of a memory among its own."""
    return memories(repo)[id_].path


# -- what is brought together ------------------------------------------------------------------


def test_init_in_a_clone_makes_no_commit_and_sync_works_with_and_without_it(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    before = tip(desk)
    done(desk, "init")
    assert tip(desk) == before
    done(desk, "add", "The desk is made of oak.")
    assert done(desk, "sync")["pushed"] == 1
    assert done(laptop, "sync")["pulled"] == 1
    assert tip(laptop) == tip(desk)


def test_with_nothing_to_do_nothing_is_written(machines: tuple[Path, Path]) -> None:
    laptop, _ = machines
    done(laptop, "sync")
    before = standing(laptop)
    answer = done(laptop, "sync", now=LATER)
    assert (answer["pulled"], answer["pushed"], answer["merged"]) == (0, 0, [])
    assert standing(laptop) == before


def test_two_sides_are_joined_on_the_hubs_line(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(laptop, "add", "The cat is called Miso.")
    mine = tip(laptop)
    answer = done(laptop, "sync", now=LATER)
    assert (answer["pulled"], answer["pushed"]) == (1, 2)
    assert git(laptop, "log", "-1", "--format=%P %s").strip() == (
        f"{tip(desk)} {mine} Merge 1 commit of this clone and 1 of the hub"
    )
    trailers = git(laptop, "log", "-1", "--format=%(trailers:only)")
    assert "Memrepo-Op: sync" in trailers
    assert "Memrepo-Actor: human:person@example.org" in trailers
    converge(laptop, desk, now=LATER)
    assert len(memories(desk)) == 3
    assert "called Miso" in (desk / "views" / "LTMEMORY.md").read_text()
    assert "made of oak" in (desk / "views" / "LTMEMORY.md").read_text()
    assert_sound(laptop)
    assert_sound(desk)


def test_a_memory_that_both_changed_is_merged_field_by_field(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    done(laptop, "pin", id_)
    done(laptop, "edit", id_, "--set", "tags=home,keys", now=LATER)
    done(desk, "edit", id_, "--text", "Vera keeps the spare key under the fourth pot.", now=LATER)
    done(laptop, "sync", now=LATER)
    answer = done(desk, "sync", now=LATER)
    assert [m["id"] for m in answer["merged"]] == [id_]
    assert f"Memrepo-Memory: {id_}" in git(desk, "log", "-1", "--format=%B")
    converge(laptop, desk, now=LATER)
    memory = memories(laptop)[id_]
    assert memory.body == "Vera keeps the spare key under the fourth pot."
    assert memory.fields["pinned"] is True
    assert memory.tags == ("home", "keys")


def test_of_two_wordings_the_newer_stands_and_the_other_is_kept(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    done(
        laptop,
        "edit",
        id_,
        "--text",
        "The spare key lies on the shelf.",
        now="2026-03-01T10:30:00Z",
    )
    done(desk, "edit", id_, "--text", "The spare key hangs by the door.", now=LATER)
    done(desk, "sync", now=LATER)
    answer = memrepo(laptop, "sync", now=LATER, as_json=False)
    assert memories(laptop)[id_].body == "The spare key hangs by the door."
    assert f" of {LATER} is used" in answer.err
    command = answer.err.split("`git ")[1].split("`")[0].split(" ")
    assert "The spare key lies on the shelf." in git(laptop, *command)
    told = memrepo(desk, "sync", now=LATER, as_json=False).err
    assert "another clone joined its changes with yours" in told
    assert f" of {LATER} is used" in told
    command = ["diff", *told.split("`git diff ")[1].split("`")[0].split(" ")]
    shown = git(desk, *command)
    assert "+The spare key lies on the shelf." in shown
    assert "-The spare key hangs by the door." in shown
    converge(laptop, desk, now=LATER)


def test_two_people_who_replaced_one_memory_contradict_each_other(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    ola = "The spare key is kept by Ola in Brevik."
    for repo, text in ((laptop, ola), (desk, "The key is in the blue box.")):
        done(repo, "supersede", id_, text, now=LATER)
    done(laptop, "sync", now=LATER)
    for repo in (desk, laptop):  # both are told, each at its own sync
        told = memrepo(repo, "sync", now=LATER, as_json=False).err
        assert "it was replaced on both sides" in told
    for turn in range(3):
        if turn == 2:  # a run that touches one of them does not end what two people stated
            write(desk, "sources/MEMORY.md", f"# Home\n\n- {ola}\n")
        done(desk, "run", now=LATER)
        (case,) = done(desk, "resolve", now=LATER)["contradictions"]
        assert case["reason"] == f"both were written to replace {id_}"
        assert {m.standing for m in memories(desk).values() if m.status == "active"} == {
            "contested"
        }
    assert any(m.sources for m in memories(desk).values() if m.body == ola)
    done(desk, "resolve", case["id"], "--both", now=LATER)
    done(desk, "run", now=LATER)
    assert done(desk, "resolve", now=LATER)["contradictions"] == []


@pytest.mark.parametrize("other", ["--both", "--keep"])
def test_two_decisions_about_one_contradiction_are_named_if_they_differ(
    machines: tuple[Path, Path], other: str
) -> None:
    laptop, desk = machines
    one, two = (
        done(laptop, "add", f"The cellar key hangs by the {door}.")["memories"][0]
        for door in ("door", "oven")
    )
    done(laptop, "link", one, "contradicts", two)
    converge(laptop, desk)
    done(laptop, "resolve", one, "--keep", one, now=LATER)
    decision = ("--both",) if other == "--both" else ("--keep", one)
    done(desk, "resolve", one, *decision, "--reason", "seen today", now=LATER)
    done(laptop, "sync", now=LATER)
    said = memrepo(desk, "sync", now=LATER, as_json=False).err
    assert ("tombstones/" in said) is (other == "--both")


@pytest.mark.parametrize("forgotten_first", [True, False])
@pytest.mark.parametrize("by", ["", "agent:codex"])
def test_the_edit_of_a_person_wins_over_forgetting_and_sync_says_so(
    machines: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, by: str, forgotten_first: bool
) -> None:
    laptop, desk = machines
    new = "The cellar key hangs by the door."
    with monkeypatch.context() as env:
        env.setenv("MEMREPO_ACTOR", by)
        id_ = done(laptop, "add", "The cellar key lies on the shelf.")["memories"][0]
        converge(laptop, desk)
        done(laptop, "edit", id_, "--text", new, now=LATER)
    done(desk, "forget", id_, "--reason", "gone")
    first, second = (desk, laptop) if forgotten_first else (laptop, desk)
    done(first, "sync", now=LATER)
    said = "it stays forgotten" if by else "a person reworded it on the other: it stays in recall"
    for repo, expected in ((second, True), (first, True), (first, False)):  # each is told, once
        assert (said in memrepo(repo, "sync", now=LATER, as_json=False).err) is expected
    merged = memories(laptop)[id_]
    assert (merged.status, merged.body) == ("forgotten" if by else "active", new)
    done(laptop, "restore" if by else "forget", id_, now=LATER)
    assert memories(laptop)[id_].body == new
    converge(laptop, desk)


def test_a_clone_without_the_merge_driver_is_told_by_status_and_by_writes(
    machines: tuple[Path, Path],
) -> None:
    _, desk = machines
    words = (["status"], ["add", "The desk is made of oak."], ["sync"])
    for before, said in ((None, True), ("init", False)):
        if before:
            done(desk, before)
        for argv in words:
            found = memrepo(desk, *argv, as_json=False)
            text = found.out + found.err
            assert ("merge driver" in text and "`memrepo init`" in text) is said, (argv, text)


def test_equal_merges_of_equal_clones_have_equal_ids(
    machines: tuple[Path, Path], tmp_path: Path
) -> None:
    laptop, desk = machines
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(laptop, "add", "The cat is called Miso.")
    found = set()
    for name in ("one", "two"):
        for part in ("hub.git", "laptop"):
            shutil.copytree(tmp_path / part, tmp_path / name / part, symlinks=True)
        done(tmp_path / name / "laptop", "sync", now=LATER)
        found.add(tip(tmp_path / name / "laptop"))
    assert len(found) == 1


def test_other_files_of_the_repository_are_joined_with_their_modes(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    write(desk, "script.sh", "#!/bin/sh\n")
    (desk / "script.sh").chmod(0o755)
    (desk / "link").symlink_to("script.sh")
    (desk / "notes.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    commit_all(desk, "files of mine")
    converge(desk, laptop)
    (desk / "notes.txt").write_bytes(b"ONE\r\ntwo\nthree\r\n")
    commit_all(desk, "the first line")
    (laptop / "notes.txt").write_bytes(b"one\r\ntwo\nTHREE\r\n")
    write(laptop, "link", None)
    (laptop / "script.sh").chmod(0o644)
    commit_all(laptop, "the last line")
    converge(desk, laptop)
    assert (laptop / "notes.txt").read_bytes() == b"ONE\r\ntwo\nTHREE\r\n"
    assert not (desk / "link").is_symlink()
    assert not (desk / "script.sh").stat().st_mode & stat.S_IXUSR
    assert_sound(desk)


# -- what the two sides cannot both have ------------------------------------------------------


@pytest.mark.parametrize("hub_removes", [True, False], ids=["hub", "here"])
def test_a_file_that_one_side_deleted_and_the_other_changed_stays(
    machines: tuple[Path, Path], hub_removes: bool
) -> None:
    laptop, desk = machines
    remover, editor = (desk, laptop) if hub_removes else (laptop, desk)
    (id_,) = memories(remover)
    write(remover, only(remover), None)
    commit_all(remover, "take it out")
    done(editor, "edit", id_, "--text", "The spare key hangs by the door.")
    done(desk, "sync")
    for repo in (laptop, desk):  # both are told
        told = memrepo(repo, "sync", as_json=False).err
        assert "one side deleted its file and the other changed it: it stays" in told
    converge(laptop, desk)
    assert memories(laptop)[id_].body == "The spare key hangs by the door."
    assert_sound(laptop)


@pytest.mark.parametrize("name", ["README.txt", "memrepo.toml"])
def test_the_same_lines_of_other_files_are_joined_by_git_and_a_person(
    machines: tuple[Path, Path], name: str
) -> None:
    laptop, desk = machines
    for repo, zone in ((desk, "Atlantic/Azores"), (laptop, "Europe/Oslo")):
        text = (repo / "memrepo.toml").read_text() if name == "memrepo.toml" else "timezone = x\n"
        write(repo, name, re.sub("(?m)^timezone = .*", f'timezone = "{zone}"', text))
        commit_all(repo, "the time zone")
    done(laptop, "init")
    done(desk, "sync")
    before = standing(laptop)[1:]
    answer = memrepo(laptop, "sync")
    assert (answer.exit, name in answer.error["message"]) == (3, True)
    assert standing(laptop)[1:] == before
    git(laptop, *answer.error["fix"].split("`")[1].split()[1:], check=False)
    text = (laptop / name).read_text()
    write(laptop, name, re.sub("(?s)<<<<<<< .*>>>>>>> [^\n]*", 'timezone = "Europe/Oslo"', text))
    git(laptop, "commit", "-qa", "--no-edit", "--no-verify")
    converge(laptop, desk)
    assert 'timezone = "Europe/Oslo"' in (desk / name).read_text()


def test_other_files_that_cannot_be_joined_are_counted_and_left_alone(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    names = ["append.txt", "data.bin", "gone.txt", *(f"same-{n}.txt" for n in range(4))]
    for name in names:
        write(desk, name, "one\n\0\ntwo\n" if name == "data.bin" else "one\n")
    commit_all(desk, "files of mine")
    converge(desk, laptop)
    for repo in machines:
        write(repo, "append.txt", f"one\n{repo.name}\n")
        for name in names[3:]:
            write(repo, name, f"{repo.name}\n")
    write(desk, "data.bin", "ONE\n\0\ntwo\n")
    write(laptop, "data.bin", "one\n\0\nTWO\n")
    write(desk, "gone.txt", None)
    write(laptop, "gone.txt", "one\ntwo\n")
    for repo in machines:
        commit_all(repo, "work")
    done(desk, "sync")
    before = standing(laptop)[1:]
    answer = memrepo(laptop, "sync")
    assert answer.exit == 3
    named = ", ".join(names[:5])
    assert f"changed these differently: {named} and 2 more;" in answer.error["message"]
    assert standing(laptop)[1:] == before


def test_a_reference_that_a_merge_by_git_broke_is_repaired_by_check(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    path = only(laptop)
    done(desk, "add", "The hub is a small machine.")
    other = next(m for m in memories(desk).values() if m.id != id_)
    done(desk, "link", other.id, "related", id_)
    git(laptop, "rm", "-q", path)
    git(laptop, "commit", "-q", "--no-verify", "-m", "by hand")
    git(laptop, "pull", "-q", "--no-rebase", "--no-edit", str(desk), "main")
    assert "reference-lost" in memrepo(laptop, "check", as_json=False).out
    fixed = memrepo(laptop, "check", "--fix", other.path, as_json=False)
    assert fixed.exit == 0, fixed
    assert f"fixed {other.path}" in fixed.out
    commit_all(laptop, "references")
    assert memrepo(laptop, "check").exit == 0


@pytest.mark.parametrize("has_moved", [False, True], ids=["alone", "both sides"])
def test_a_memory_that_cannot_be_read_is_not_joined_into_the_hub_not_even_on_trial(
    machines: tuple[Path, Path], has_moved: bool
) -> None:
    laptop, desk = machines
    path = only(laptop)
    if has_moved:
        done(desk, "add", "The hub is a small machine.")
        done(desk, "sync")
    before = git(laptop.parent / "hub.git", "rev-parse", "main")
    write(laptop, path, (laptop / path).read_text().replace("type: fact", "type: fakt"))
    commit_all(laptop, "broken")
    for argv in (["sync", "--dry-run"], ["sync"]):
        answer = memrepo(laptop, *argv)
        assert answer.exit == 3
        assert answer.error["message"].startswith(f"{path}:3: found 'fakt'")
        assert git(laptop.parent / "hub.git", "rev-parse", "main") == before


def test_a_memory_that_the_hub_has_and_nobody_can_read_is_named(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    path = only(desk)
    write(desk, path, (desk / path).read_text().replace("type: fact", "type: fakt"))
    commit_all(desk, "broken")
    git(desk, "push", "-q", "--no-verify", "origin", "HEAD:main")
    assert f"{path}:3:7: frontmatter-value" in memrepo(laptop, "sync", as_json=False).err
    done(laptop, "add", "The hub is a small machine.")
    assert done(laptop, "sync")["pushed"] == 1


def test_a_rejection_against_an_edit_names_the_command_that_lifts_it(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    done(desk, "reject", id_, "--reason", "no key lies there")
    done(desk, "sync")
    done(laptop, "pin", id_)
    answer = memrepo(laptop, "sync", as_json=False)
    assert memories(laptop)[id_].status == "forgotten"
    command = answer.err.split("(fix: `memrepo ")[1].split("`")[0].split(" ")
    done(laptop, *command, now=LATER)
    assert memories(laptop)[id_].status == "active"


def test_git_leaves_both_texts_between_marks_and_status_names_the_file(
    machines: tuple[Path, Path],
) -> None:
    laptop, _ = machines
    (id_,) = memories(laptop)
    path = only(laptop)
    git(laptop, "branch", "other")
    done(laptop, "edit", id_, "--text", "The spare key hangs by the door.")
    done(laptop, "pin", id_)
    git(laptop, "checkout", "-q", "other")
    done(laptop, "edit", id_, "--text", "The spare key lies on the shelf.", now=LATER)
    git(laptop, "merge", "main", check=False)
    text = (laptop / path).read_text()
    ours, theirs = text.partition("<<<<<<< ours\n")[2].split("=======\n")
    assert ours == "The spare key lies on the shelf.\n"
    assert theirs == "The spare key hangs by the door.\n>>>>>>> theirs\n"
    assert "pinned: true" in text
    found = done(laptop, "status")["problems"]
    assert [(p["rule"], p["path"]) for p in found if p["rule"] == "merge-open"] == [
        ("merge-open", path)
    ]
    assert "between the marks" in next(p["fix"] for p in found if p["rule"] == "merge-open")
    assert memrepo(laptop, "check", path).exit == 1


def test_a_merge_by_git_without_marks_is_to_be_aborted_and_synced(
    machines: tuple[Path, Path],
) -> None:
    laptop, _ = machines
    (id_,) = memories(laptop)
    path = only(laptop)
    git(laptop, "branch", "other")
    done(laptop, "edit", id_, "--text", "The spare key hangs by the door.")
    git(laptop, "checkout", "-q", "other")
    git(laptop, "rm", "-q", path)
    git(laptop, "commit", "-qm", "Delete the key", "--no-verify")
    git(laptop, "merge", "main", check=False)
    (found,) = (p for p in done(laptop, "status")["problems"] if p["rule"] == "merge-open")
    assert (found["path"], found["fix"]) == (path, "`git merge --abort`, then `memrepo sync`")


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_clash_of_texts_names_a_file_of_any_script(
    machines: tuple[Path, Path], locale: str
) -> None:
    laptop, _ = machines
    title = "Größe 日本"
    id_ = done(laptop, "add", f"{title}: 42.", "--title", title)["id"]
    path = path_of(laptop, id_)
    assert path.rpartition("/")[2].startswith("grösse-日本")
    git(laptop, "branch", "other")
    done(laptop, "edit", id_, "--text", f"{title}: 43.")
    git(laptop, "checkout", "-q", "other")
    done(laptop, "edit", id_, "--text", f"{title}: 44.", now=LATER)
    merge = subprocess.run(
        ["git", "-C", str(laptop), "-c", "core.quotePath=false", "merge", "main"],
        capture_output=True,
        env={**os.environ, "LC_ALL": locale},
        check=False,
    )
    told = (merge.stdout + merge.stderr).decode("utf-8", "backslashreplace")
    assert merge.returncode == 1, told
    assert f"CONFLICT (content): Merge conflict in {path}" in told
    assert f"{path}: git-merge-conflict" in told
    assert "Traceback" not in told
    text = (laptop / path).read_text(encoding="utf-8")
    assert f"<<<<<<< ours\n{title}: 44.\n=======\n{title}: 43.\n>>>>>>> theirs\n" in text


# -- what is refused ---------------------------------------------------------------------------


def test_a_hub_that_lost_history_is_refused_until_a_person_says_so(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    old = tip(laptop)
    for text in ("The desk is made of oak.", "The lamp is made of brass."):
        done(desk, "add", text)
    done(desk, "sync")
    done(laptop, "sync")
    new = tip(laptop)
    git(laptop.parent / "hub.git", "update-ref", "refs/heads/main", old)
    before = standing(laptop)[1:]
    answer = memrepo(laptop, "sync")
    assert answer.exit == 3
    assert new[:10] in answer.error["message"]
    assert "2 commits" in answer.error["message"]
    assert "--accept-rewritten" in answer.error["fix"]
    assert standing(laptop)[1:] == before
    assert memrepo(laptop, "sync", "--dry-run").exit == 3
    done(laptop, "sync", "--accept-rewritten")
    assert tip(laptop.parent / "hub.git", "main") == new
    assert done(laptop, "sync")["pushed"] == 0


def test_a_hub_that_was_rewritten_is_refused_and_joining_it_loses_nothing(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(laptop, "sync")
    rewritten = clone(laptop.parent, "rewritten")
    git(rewritten, "reset", "-q", "--hard", "HEAD^")
    done(rewritten, "add", "Another history.")
    git(rewritten, "push", "-q", "--force", "origin", "main")
    assert memrepo(laptop, "sync").exit == 3
    done(laptop, "sync", "--accept-rewritten")
    converge(laptop, desk)
    bodies = {m.body for m in memories(laptop).values()}
    assert {"The desk is made of oak.", "Another history."} < bodies


def test_a_hub_that_was_replaced_by_force_is_refused_with_a_command_that_works(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    git(desk, "checkout", "-q", "--orphan", "other")
    git(desk, "rm", "-rqf", ".")
    write(desk, "README.md", "hi\n")
    commit_all(desk, "backfill")
    git(desk, "push", "-qf", "origin", "other:main")
    before = standing(laptop)
    answer = memrepo(laptop, "sync")
    assert answer.exit == 3
    assert standing(laptop) == before
    (command, *_) = [w for w in answer.error["fix"].split("`") if w.startswith("git push")]
    git(laptop, *command.split()[1:])
    assert done(laptop, "sync")["pushed"] == 0


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("https://example.org/x.git", "is an address or a path"),
        ("../hub.git", "is an address or a path"),
        ("nowhere", "is not the name of a remote"),
        ("--upload-pack=touch x", ""),
    ],
)
def test_only_a_configured_name_is_synced_with(
    machines: tuple[Path, Path], word: str, said: str
) -> None:
    answer = memrepo(machines[0], "sync", word)
    assert answer.exit == 2
    assert said in answer.error["message"]


def test_without_a_remote_it_says_how_to_add_one(tmp_path: Path) -> None:
    done(tmp_path, "init", tmp_path / "repo")
    answer = memrepo(tmp_path / "repo", "sync")
    assert answer.exit == 2
    assert "git remote add" in answer.error["fix"]


def test_an_address_that_starts_a_program_is_refused(
    machines: tuple[Path, Path], tmp_path: Path
) -> None:
    laptop, _ = machines
    git(laptop, "config", "protocol.ext.allow", "always")
    git(laptop, "remote", "set-url", "origin", f"ext::touch {tmp_path}/owned")
    assert memrepo(laptop, "sync").exit == 2
    git(laptop, "remote", "set-url", "origin", "../hub.git")
    git(laptop, "remote", "set-url", "--push", "origin", f"ext::touch {tmp_path}/owned")
    assert memrepo(laptop, "sync").exit == 2
    assert not (tmp_path / "owned").exists()


def test_a_hub_that_is_not_there_is_told_without_a_password(machines: tuple[Path, Path]) -> None:
    laptop, _ = machines
    git(laptop, "remote", "set-url", "origin", "https://me:hunter2@127.0.0.1:9/x.git")
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert "could not be reached" in answer.error["message"]
    assert "hunter2" not in answer.err


def test_uncommitted_work_in_the_way_is_left_alone_and_nothing_is_pushed(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    done(desk, "edit", id_, "--text", "The spare key hangs by the door.")
    done(desk, "sync")
    done(laptop, "add", "The cat is called Miso.")
    write(laptop, path_of(laptop, id_), "my own work\n")
    hub, before = tip(desk), tip(laptop)
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert (laptop / path_of(desk, id_)).read_text() == "my own work\n"
    assert (tip(laptop), tip(laptop.parent / "hub.git", "main")) == (before, hub)
    git(laptop, "checkout", "-q", "--", ".")
    write(laptop, "unrelated.txt", "work elsewhere\n")
    done(laptop, "sync")
    assert (laptop / "unrelated.txt").read_text() == "work elsewhere\n"


def test_a_push_that_the_hub_refuses_is_told_and_changes_nothing(
    machines: tuple[Path, Path],
) -> None:
    laptop, _ = machines
    hook = laptop.parent / "hub.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho closed on sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    done(laptop, "add", "The cat is called Miso.")
    before = tip(laptop)
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert "pre-receive hook declined" in answer.error["message"]
    assert tip(laptop) == before
    hook.unlink()
    assert done(laptop, "sync")["pushed"] == 1


def test_no_hook_of_this_machine_runs(machines: tuple[Path, Path], tmp_path: Path) -> None:
    laptop, desk = machines
    for name in ("pre-push", "post-merge", "reference-transaction", "pre-merge-commit"):
        hook = laptop / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        hook.chmod(0o755)
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(laptop, "add", "The cat is called Miso.")
    done(laptop, "sync")
    assert [p for p in tmp_path.iterdir() if p.name.startswith("ran-")] == []


def test_a_dry_run_says_what_would_come_and_go_and_writes_nothing(
    machines: tuple[Path, Path],
) -> None:
    laptop, desk = machines
    done(desk, "add", "The desk is made of oak.")
    done(desk, "sync")
    done(laptop, "add", "The cat is called Miso.")
    before, hub = standing(laptop), tip(desk)
    answer = done(laptop, "sync", "--dry-run")
    assert (answer["pulled"], answer["pushed"]) == (1, 2)
    assert standing(laptop) == before
    assert tip(laptop.parent / "hub.git", "main") == hub
    said = memrepo(laptop, "sync", "--dry-run", as_json=False).out
    assert "1 commit would be pulled, 2 commits would be pushed" in said


# -- who did what ------------------------------------------------------------------------------


@pytest.mark.parametrize("restored_first", [True, False])
def test_a_rejection_wins_over_a_restore_and_sync_says_so(
    machines: tuple[Path, Path], restored_first: bool
) -> None:
    laptop, desk = machines
    (id_,) = memories(laptop)
    done(laptop, "forget", id_)
    converge(laptop, desk)
    done(laptop, "restore", id_, now=LATER)
    done(desk, "reject", id_, "--reason", "no key lies there", now=LATER)
    first, second = (laptop, desk) if restored_first else (desk, laptop)
    done(first, "sync", now=LATER)
    answer = memrepo(second, "sync", now=LATER, as_json=False)
    assert (answer.exit, memories(second)[id_].status) == (0, "forgotten")
    assert id_ in answer.err or memories(second)[id_].path in answer.err


def test_a_newer_format_on_the_hub_is_not_written(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    text = (desk / "memrepo.toml").read_text()
    write(desk, "memrepo.toml", text.replace("format = 2", "format = 3"))
    commit_all(desk, "of a newer program")
    git(desk, "push", "-q", "origin", "main")
    done(laptop, "add", "The cat is called Miso.")
    before = tip(laptop)
    answer = memrepo(laptop, "sync")
    assert answer.exit == 3
    assert "format = 3" in answer.error["message"]
    assert (tip(laptop), tip(laptop.parent / "hub.git", "main")) == (before, tip(desk))


# -- what is taken back and listed afterwards --------------------------------------------------


def apart(laptop: Path, desk: Path) -> tuple[str, str]:
    """Let both work and join them on the desk; return the desk's run and the laptop's memory."""
    hubs.tell(desk)
    run = done(desk, "run")["run"]
    added = done(laptop, "add", "The cat is called Miso.")["id"]
    done(laptop, "sync")
    done(desk, "sync", now=LATER)
    assert subjects(desk)[0].startswith("Merge ")
    return run, added


@pytest.mark.parametrize("how", ["revert", "undo"])
def test_a_sync_itself_is_not_taken_back_but_what_it_brought_is(
    machines: tuple[Path, Path], how: str
) -> None:
    laptop, desk = machines
    run, added = apart(laptop, desk)
    before = standing(desk)
    answer = memrepo(desk, how, *(["HEAD"] if how == "revert" else []), now=LATER)
    assert answer.exit == 2
    assert "joined this clone with its hub" in answer.error["message"]
    assert standing(desk) == before
    done(desk, "revert", added, now=LATER)
    assert added not in memories(desk)
    done(desk, "revert", run, now=LATER)
    assert len(memories(desk)) == 1
    assert_sound(desk)


def test_a_revert_made_elsewhere_is_remembered_here(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    write(laptop, "sources/MEMORY.md", "# Home\n\n- The spare key hangs by the blue door.\n")
    run = done(laptop, "run")["run"]
    done(laptop, "sync")
    done(desk, "sync")
    done(desk, "revert", run, now=LATER)
    done(laptop, "add", "The cat is called Miso.", now=LATER)
    done(laptop, "sync", now=LATER)
    done(desk, "sync", now=LATER)
    assert git(desk, "log", "-1", "--format=%s").startswith("Merge ")
    # Off the first-parent line by now, and still known: the run leaves it out.
    done(desk, "run", now="2026-03-03T09:00:00Z")
    assert not [m for m in memories(desk).values() if "blue door" in m.body]


@pytest.mark.parametrize("was_file", [False, True], ids=["added", "replaced"])
def test_a_file_here_and_a_folder_there_are_refused(
    machines: tuple[Path, Path], was_file: bool
) -> None:
    laptop, desk = machines
    if was_file:
        write(desk, "docs", "a file\n")
        commit_all(desk, "the file")
        converge(desk, laptop)
        write(desk, "docs", None)
    write(desk, "docs/readme.txt", "a folder\n")
    commit_all(desk, "a folder")
    write(laptop, "docs", "another file\n")
    commit_all(laptop, "a file")
    done(desk, "sync")
    before = tip(laptop)
    answer = memrepo(laptop, "sync")
    assert answer.exit == 3
    assert answer.error["message"].startswith("docs is a file on one side and a folder")
    assert tip(laptop) == before
    commands = answer.error["fix"].split("`")[1::2]
    for command in commands[:2]:
        git(laptop, *command.split()[1:], check=False)
    git(laptop, "commit", "-q", "--no-edit", "--no-verify")
    converge(laptop, desk)
    assert (desk / "docs" / "readme.txt").read_text() == "a folder\n"
    assert (desk / "docs~HEAD").read_text() == "another file\n"


def test_settings_of_a_remote_cannot_force_mirror_or_prune(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    git(desk, "branch", "keep")
    git(desk, "push", "-q", "origin", "keep")
    for key, value in (
        ("remote.origin.mirror", "true"),
        ("remote.origin.push", "+refs/heads/*:refs/heads/*"),
        ("remote.origin.prune", "true"),
        ("push.followTags", "true"),
        ("push.gpgSign", "true"),
        ("push.pushOption", "x"),
        ("fetch.prune", "true"),
    ):
        git(laptop, "config", key, value)
    done(laptop, "add", "The cat is called Miso.")
    done(laptop, "sync")
    assert tip(laptop.parent / "hub.git", "main") == tip(laptop)
    assert tip(laptop.parent / "hub.git", "keep")


def test_the_upstream_branch_of_another_name_is_what_is_synced(machines: tuple[Path, Path]) -> None:
    laptop, _ = machines
    git(laptop, "branch", "-m", "work")
    git(laptop, "config", "branch.work.remote", "origin")
    git(laptop, "config", "branch.work.merge", "refs/heads/main")
    done(laptop, "add", "The cat is called Miso.")
    assert done(laptop, "sync")["branch"] == "main"
    assert tip(laptop.parent / "hub.git", "main") == tip(laptop)
    assert tip(laptop.parent / "hub.git", "work") == ""


def test_a_hub_without_a_configuration_is_refused(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    write(desk, "memrepo.toml", None)
    commit_all(desk, "no configuration")
    git(desk, "push", "-q", "origin", "main")
    done(laptop, "add", "The cat is called Miso.")
    answer = memrepo(laptop, "sync")
    assert answer.exit == 5
    assert "memrepo.toml" in answer.error["message"]


def test_log_lists_the_runs_that_a_sync_put_off_the_line(machines: tuple[Path, Path]) -> None:
    laptop, desk = machines
    run, _ = apart(laptop, desk)
    assert run not in git(desk, "log", "--first-parent", "--format=%B")
    for repo in machines:
        done(repo, "sync", now=LATER)
        listed = [e["run"] for e in done(repo, "log")["entries"] if e["op"] == "run"]
        assert listed == [run]
    times = [e["when"] for e in done(desk, "log")["entries"]]
    assert times == sorted(times, reverse=True)


def test_a_second_person_is_told_that_they_count_as_a_program_until_they_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, ben = hubs.begin(tmp_path, "ana", "ben")
    git(ben, "config", "user.email", "ben@example.org")

    def told(*argv: str) -> set[str]:
        answer = memrepo(ben, *argv, as_json=False)
        assert answer.exit == 0
        return {line.split()[1] for line in answer.err.splitlines()}

    for verb in ("status", "sync"):
        assert told(verb) == {"merge-driver", "person-unknown"}
    assert told("add", "Ben likes tea.") == {"merge-driver"}
    with monkeypatch.context() as env:  # git, too, prefers what the environment names
        env.setenv("GIT_AUTHOR_EMAIL", "person@example.org")
        assert told("status") == {"merge-driver"}
    assert told("init") == {"person-unknown"}
    assert told("add", "Ben likes rye.") == set()
    (pasted,) = re.findall("`memrepo (.*?)`", memrepo(ben, "status", as_json=False).err)
    with monkeypatch.context() as env:
        env.setenv("MEMREPO_ACTOR", "agent:codex")
        assert "needs a person's" in memrepo(ana, *shlex.split(pasted), as_json=False).err
    done(ana, *shlex.split(pasted))
    assert done(ana, *shlex.split(pasted))["commit"] == ""
    git(ben, "config", "user.email", "Ben@Example.org")
    assert told("status") == told("sync") == set()
    git(ben, "config", "user.email", "ben@example.org")
    done(ana, "sync")
    line = 'human_authors = ["ben@example.org", "person@example.org"]\n'
    assert line in (ana / "memrepo.toml").read_text(encoding="utf-8")
    done(ben, "add", "Ben likes the sea.")
    actors = git(ben, "log", "-3", "--format=%(trailers:key=Memrepo-Actor,valueonly)").split()
    assert actors[0] == "human:ben@example.org"
    assert actors[-1] == "process:unknown"
