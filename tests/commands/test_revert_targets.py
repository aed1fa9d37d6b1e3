"""Which operation a word given to revert names, what counts as later work, and what goes along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from driving import done, git, head, memories, memrepo, runs, subjects

THEN, NIGHT, LAST = (f"2026-03-01T{hour}:10:00Z" for hour in (11, 12, 14))
WORDS = ("alpha", "beta", "vim", "helix")


def named(repo: Path) -> dict[str, str]:
    """Return the id of each of the four memories by its word."""
    found = memories(repo).values()
    return {word: m.id for word in WORDS for m in found if word in m.body}


def trailers(repo: Path, key: str) -> list[str]:
    form = f"--format=%(trailers:key=Memrepo-{key},valueonly)"
    return git(repo, "log", "-1", form).split()


def by_hand(repo: Path, path: str, old: str = "", new: str = "") -> str:
    """Commit a changed or new file of a person's own; return the commit."""
    file = repo / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(file.read_text().replace(old, new, 1) if old else new)
    git(repo, "add", path)
    git(repo, "commit", "-qm", f"write {path}", "--no-verify")
    return head(repo)


def pinned(repo: Path, *words: str) -> str:
    """Pin memories, as one operation; return its commit."""
    ids = [named(repo)[word] for word in words]
    for id_ in ids:
        done(repo, "pin", id_, now=THEN)
    lines = "".join(f"Memrepo-Memory: {id_}\n" for id_ in ids)
    git(repo, "reset", "-q", "--soft", f"HEAD~{len(ids)}")
    git(repo, "commit", "-qnm", f"Pin some memories\n\nMemrepo-Op: pin\n{lines}")
    return head(repo)


# -- what the answer says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reads_again", "together", "subject"),
    [
        ((), True, [], "Revert: "),
        (("--memory", "beta"), False, [], "Revert part of: "),
        (("--memory", "vim"), False, ["helix"], "Revert part of: "),
    ],
)
def test_the_answer_says_what_goes_and_whether_the_input_is_read_again(
    two_runs: Path, options: tuple[str, ...], reads_again: bool, together: list[str], subject: str
) -> None:
    ids = named(two_runs)
    argv = [ids.get(word, word) for word in options]
    answer = done(two_runs, "revert", *argv, now=THEN)
    assert (answer["latest"], answer["reads_again"], answer["kept"]) == (True, reads_again, [])
    assert answer["together"] == [ids[word] for word in together]
    changed = git(two_runs, "diff", "--name-only", "HEAD^").split()
    assert answer["files"] == sum(not path.startswith("tombstones/") for path in changed)
    assert subjects(two_runs)[0].startswith(subject)
    gone = {ids[w] for w in ([*options[1:], *together] if "--memory" in options else WORDS[1:])}
    assert set(trailers(two_runs, "Memory")) == gone
    assert trailers(two_runs, "Reason") == ["`memrepo", "revert`"]


@pytest.mark.parametrize("later", [False, True])
def test_later_work_stays_and_is_named_unless_it_is_to_go_too(two_runs: Path, later: bool) -> None:
    beta = named(two_runs)["beta"]
    done(two_runs, "edit", beta, "--text", "The server beta is silent.", now=THEN)
    words = ("revert", runs(two_runs)[0], *["--later"] * later)
    answer = done(two_runs, *words, now=NIGHT)
    assert [work["memory"] for work in answer["kept"]] == [beta] * (not later)
    assert (beta in memories(two_runs)) is not later


# -- what cannot be reverted -----------------------------------------------------------------------


ORPHAN = "all at once\n\nMemrepo-Op: edit\n"
BEGIN = ("commit", "-qn", "--allow-empty", "-m", "begin\n\nMemrepo-Op: init\n")
REFUSED: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a commit without a parent": (lambda repo: (
        git(repo, "checkout", "-q", "--orphan", "other"), git(repo, "commit", "-qnm", ORPHAN),
    ), "HEAD", "was not written by memrepo"),
    "a commit by hand": (
        lambda repo: by_hand(repo, "README.md", new="mine\n"), "HEAD", "was not written by memrepo",
    ),
    "a commit elsewhere": (lambda repo: (
        git(repo, "checkout", "-q", "-b", "other"), done(repo, "pin", named(repo)["alpha"]),
        git(repo, "checkout", "-q", "main"),
    ), "other", "is not an operation on this branch"),
    "the beginning": (lambda repo: git(repo, *BEGIN), "HEAD", "created this repository"),
}  # fmt: skip


@pytest.mark.parametrize("way", REFUSED)
def test_what_cannot_be_reverted_is_named_and_nothing_is_written(two_runs: Path, way: str) -> None:
    prepare, word, message = REFUSED[way]
    prepare(two_runs)
    before = head(two_runs)
    answer = memrepo(two_runs, "revert", *([word] if word else []), now=LAST)
    assert answer.exit == 2, answer
    assert message in answer.error["message"]
    assert head(two_runs) == before


def test_where_each_run_is_reverted_no_older_one_is_named(two_runs: Path) -> None:
    first = runs(two_runs)[1]
    done(two_runs, "revert", now=THEN)
    answer = memrepo(two_runs, "revert", now=NIGHT)
    assert answer.error["fix"].endswith(f"`memrepo revert {first}` reverts the run before it")
    done(two_runs, "revert", first, now=NIGHT)
    answer = memrepo(two_runs, "revert", now=LAST)
    newest = git(two_runs, "log", "-1", "--format=%h", "--abbrev=10", "HEAD~1").strip()
    assert answer.error["fix"] == f"`memrepo revert {newest}` restores it"


# -- a memory as a target --------------------------------------------------------------------------


def edited(repo: Path, path: str) -> str:
    return by_hand(repo, path, "server alpha", "old server")


def spaced(repo: Path, path: str) -> str:
    return by_hand(repo, path, "pinned: true", "pinned:  true")


def beside(repo: Path, path: str) -> str:
    return by_hand(repo, "README.md", new=f"see {path}\n")


def moved(repo: Path, path: str) -> str:
    git(repo, "mv", path, path.replace("/the-server", "/old-server"))
    git(repo, "commit", "-qnm", "move it")
    return head(repo)


@pytest.mark.parametrize("way", [spaced, beside, moved], ids=lambda way: way.__name__)
def test_what_a_hand_did_since_is_later_work(
    two_runs: Path, way: Callable[[Path, str], str]
) -> None:
    alpha = named(two_runs)["alpha"]
    edited(two_runs, memories(two_runs)[alpha].path)
    done(two_runs, "pin", alpha, now=THEN)
    way(two_runs, memories(two_runs)[alpha].path)
    done(two_runs, "revert", alpha, now=NIGHT)
    assert not memories(two_runs)[alpha].pinned
    assert "old server" in memories(two_runs)[alpha].body
    assert subjects(two_runs)[0].startswith("Revert: ")


def test_a_commit_that_only_records_an_author_is_no_decision(two_runs: Path) -> None:
    alpha = named(two_runs)["alpha"]
    edited(two_runs, memories(two_runs)[alpha].path)
    workspace = two_runs.parent / "workspace" / "MEMORY.md"
    workspace.write_text(workspace.read_text() + "- The organ was tuned by Mr. Holt.\n")
    done(two_runs, "run", now=NIGHT)
    recorded = git(two_runs, "log", "-1", "--format=%H", "--grep=^Record who edited").strip()
    git(two_runs, "reset", "-q", "--hard", recorded)
    undo = memrepo(two_runs, "undo", now=NIGHT)
    assert undo.exit == 2
    assert recorded[:10] in undo.error["message"]
    done(two_runs, "revert", alpha, now=NIGHT)
    assert not memories(two_runs)[alpha].hot, "what was decided before"
    assert "old server" in memories(two_runs)[alpha].body


def test_of_a_bulk_decision_a_memory_names_its_own_part(two_runs: Path) -> None:
    ids, _ = named(two_runs), pinned(two_runs, "alpha", "beta")
    done(two_runs, "revert", ids["alpha"], now=THEN)
    assert [i for i, m in memories(two_runs).items() if m.pinned] == [ids["beta"]]
    assert trailers(two_runs, "Memory") == [ids["alpha"]]
    assert subjects(two_runs)[0].startswith("Revert part of: ")


def test_a_rejection_of_two_memories_is_reverted_as_a_whole(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo")
    repo, said = tmp_path / "repo", "The shed key hangs by the door."
    one = done(repo, "add", said, "--scope", "user:ana")["id"]
    other = done(repo, "add", said, "--scope", "user:ben")["id"]
    done(repo, "reject", one, "--reason", "no", now=THEN)
    trailer = f"Memrepo-Memory: {one}\nMemrepo-Memory: {other}"
    text = git(repo, "log", "-1", "--format=%B").replace(f"Memrepo-Memory: {one}", trailer)
    git(repo, "commit", "-qn", "--amend", "-m", text)
    done(repo, "revert", other, now=NIGHT)
    assert memories(repo)[one].status == "active"
    assert done(repo, "reject", "--list")["rejected"] == []


# -- what counts as later work, and what goes along ------------------------------------------------


def reworded(repo: Path) -> str:
    argv = ("edit", named(repo)["beta"], "--text", "The server beta is silent.")
    return str(done(repo, *argv, now=THEN)["commit"])


def in_beta(repo: Path, old: str, new: str) -> str:
    return by_hand(repo, memories(repo)[named(repo)["beta"]].path, old, new)


LATER_WORK: dict[str, tuple[Callable[[Path], object], bool]] = {
    "elsewhere": (lambda repo: done(repo, "pin", named(repo)["alpha"]), False),
    "reverted": (lambda repo: done(repo, "revert", reworded(repo), now=THEN), False),
    "reverted with git": (
        lambda repo: (reworded(repo), git(repo, "revert", "--no-edit", "HEAD")), False,
    ),
    "reverted twice": (lambda repo: (
        done(repo, "revert", reworded(repo), now=THEN), done(repo, "revert", head(repo), now=NIGHT),
    ), True),
    "reverted for another memory": (lambda repo: done(
        repo, "revert", pinned(repo, "alpha", "beta"), "--memory", named(repo)["alpha"]
    ), True),
    "changed back by hand": (
        lambda repo: (in_beta(repo, "answers", "takes"), in_beta(repo, "takes", "answers")), False,
    ),
    "spaced": (lambda repo: in_beta(repo, "type: fact", "type:  fact"), False),
    "a key of one's own": (lambda repo: in_beta(repo, "\n---\n", "\nmine: kept\n---\n"), True),
}  # fmt: skip


@pytest.mark.parametrize("way", LATER_WORK)
def test_only_work_that_is_still_there_keeps_a_new_memory(two_runs: Path, way: str) -> None:
    (work, clashes), beta = LATER_WORK[way], named(two_runs)["beta"]
    run = runs(two_runs)[0]
    work(two_runs)
    answer = done(two_runs, "revert", run, now=LAST)
    found = [(c["kind"], c["memory"]) for c in answer["kept"]]
    assert found == ([("edited-later", beta)] if clashes else [])
    assert (beta in memories(two_runs)) is clashes


@pytest.mark.parametrize("word", ["beta", "helix"])
def test_after_a_part_of_a_run_the_rest_goes_without_a_clash(two_runs: Path, word: str) -> None:
    run, part = runs(two_runs)[0], ("--memory", named(two_runs)[word])
    before = git(two_runs, "rev-parse", "HEAD^1:memories")
    (reverted,) = done(two_runs, "revert", run, *part, now=THEN)["commits"]
    done(two_runs, "revert", reverted, now=NIGHT)
    done(two_runs, "revert", run, *part, now=NIGHT)
    assert done(two_runs, "revert", run, now=LAST)["kept"] == []
    assert git(two_runs, "rev-parse", "HEAD:memories") == before


def test_an_agent_takes_nothing_of_a_person_out_of_recall(
    two_runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = done(two_runs, "add", "The organ was tuned by Mr. Holt.", now=THEN)
    monkeypatch.setenv("MEMREPO_ACTOR", "bot")
    for argv in (("undo",), ("revert", added["commit"])):
        answer = memrepo(two_runs, *argv, now=NIGHT)
        assert (answer.exit, "may not take" in answer.error["message"]) == (3, True)
    by_bot = done(two_runs, "add", "The pump was repaired on Monday.", now=NIGHT)["id"]
    done(two_runs, "undo", now=LAST)
    assert by_bot not in memories(two_runs)


# -- undo ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "stops"), [
    ("README.md", False), ("memrepo.toml", False), ("views/LTMEMORY.md", True), ("ALPHA", True),
])  # fmt: skip
def test_undo_stops_at_a_hand_that_changed_what_memrepo_keeps(
    two_runs: Path, path: str, stops: bool
) -> None:
    alpha = memories(two_runs)[named(two_runs)["alpha"]]
    pinned = done(two_runs, "pin", alpha.id, now=THEN)["commit"]
    path = alpha.path if path == "ALPHA" else path
    text = (two_runs / path).read_text() if (two_runs / path).exists() else ""
    hand = by_hand(two_runs, path, new=f"{text}\n# more\n")
    by_hand(two_runs, "README.md", new="mine\n# later\n")
    answer = memrepo(two_runs, "undo", now=NIGHT)
    assert answer.exit == (2 if stops else 0), answer
    if stops:
        assert hand[:10] in answer.error["message"]
        assert f"`git revert {hand[:10]}`" in answer.error["fix"]
    else:
        assert (answer.data["undone"]["commit"], answer.data["latest"]) == (pinned, False)
        assert not memories(two_runs)[alpha.id].pinned


@pytest.mark.parametrize("is_named", [True, False])
def test_what_was_brought_back_of_a_revert_can_be_reverted_again(
    two_runs: Path, is_named: bool
) -> None:
    commit, alpha, beta = (
        pinned(two_runs, "alpha", "beta"),
        named(two_runs)["alpha"],
        named(two_runs)["beta"],
    )
    (first,) = done(two_runs, "revert", commit, now=THEN)["commits"]
    done(two_runs, "revert", first, "--memory", alpha, now=NIGHT)
    assert memories(two_runs)[alpha].pinned
    assert done(two_runs, "revert", commit, "--memory", beta, now=NIGHT)["commits"] == []
    done(two_runs, "revert", commit, *(["--memory", alpha] if is_named else []), now=NIGHT)
    assert not memories(two_runs)[alpha].pinned
    assert not memories(two_runs)[beta].pinned
