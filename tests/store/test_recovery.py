"""A crash at any point leaves, after the next command, the old state or the new, and no third."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import crashing
import driving
import pytest
import standing
import workspaces
from driving import git, head

from memrepo.store import repo as journal
from memrepo.store.repo import open_repository

NOW, THEN, DONE = driving.LATER, "2026-03-04T09:00:00Z", "2026-03-05T09:00:00Z"
LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock")


def recover(repo: Path) -> None:
    """Do what every writing command begins with."""
    with open_repository(repo) as store, store.writing():
        pass


def sound(repo: Path, before: str) -> None:
    """Check that nothing of an unfinished write is left, and that git finds no fault."""
    assert standing.left_behind(repo) == []
    assert standing.status(repo) == before
    git(repo, "fsck", "--strict", "--no-dangling", "--no-progress", "--connectivity-only")


def uncommitted(repo: Path) -> str:
    """Leave work of a person's on paths that no command writes; return the status."""
    (repo / "memrepo.toml").write_text((repo / "memrepo.toml").read_text() + "\n# mine\n")
    (repo / "mine.txt").write_text("mine\n")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    return standing.status(repo)


def ingest(repo: Path) -> tuple[str, ...]:
    return ("ingest",)


def run(repo: Path) -> tuple[str, ...]:
    driving.done(repo, "ingest", now=NOW)
    return ("run",)


def revert(repo: Path) -> tuple[str, ...]:
    return ("revert",)


def add(repo: Path) -> tuple[str, ...]:
    return "add", "Vera keeps the spare key under the third pot."


def some_memory(repo: Path) -> str:
    return min(i for i, m in driving.memories(repo).items() if not m.is_note)


def revert_the_older(repo: Path) -> tuple[str, ...]:
    """Land two runs and a write; the older run is to go, field by field."""
    run = driving.done(repo, "run", now=NOW)["run"]
    driving.done(repo, "add", "Vera keeps the spare key under the third pot.", now=THEN)
    return "revert", run


def accept(repo: Path) -> tuple[str, ...]:
    assert driving.memrepo(repo, "run", "--mode", "reconciliation", now=THEN).exit == 3
    return ("accept",)


def restore(repo: Path) -> tuple[str, ...]:
    id_ = some_memory(repo)
    git(repo, "rm", "-q", driving.memories(repo)[id_].path)
    git(repo, "commit", "-qm", "prune", "--no-verify")
    return "restore", id_


def reject(repo: Path) -> tuple[str, ...]:
    return "reject", some_memory(repo), "--reason", "never"


def unreject(repo: Path) -> tuple[str, ...]:
    driving.done(repo, *reject(repo), now=THEN)
    return "reject", "--undo", some_memory(repo)


def undo(repo: Path) -> tuple[str, ...]:
    driving.done(repo, *reject(repo), now=THEN)
    return ("undo",)


@pytest.mark.parametrize(
    "prepare",
    [
        *(ingest, run, revert, add, revert_the_older, accept, restore, reject, unreject, undo),
    ],
)
def test_dying_at_any_moment_leaves_the_old_state_or_the_new(
    repo: Path, tmp_path: Path, prepare: Callable[[Path], tuple[str, ...]]
) -> None:
    argv = prepare(repo)
    old, before = head(repo), uncommitted(repo)
    whole = Path(shutil.copytree(repo.parent, tmp_path / "whole", symlinks=True)) / "repo"
    driving.done(whole, *argv, now=DONE)
    new, seen = head(whole), set()
    for turn, copy in crashing.deaths(repo.parent, tmp_path / "dead", *argv, now=DONE):
        recover(copy)
        assert head(copy) in (old, new), turn
        seen.add(head(copy))
        sound(copy, before)
        if prepare is undo and head(copy) == new:
            continue  # an undo that landed would be undone
        driving.memrepo(copy, *argv, now=DONE)
        assert head(copy) == new, turn
        assert standing.status(copy) == before
        if prepare is accept:
            assert git(copy, "for-each-ref", "refs/heads/run/") == ""
    assert old in seen
    assert new in seen or prepare not in (ingest, run, revert, add)


@pytest.mark.parametrize("argv", [("init", "--from", "../ws"), ("init",)], ids=["new", "adopted"])
def test_dying_in_init_at_any_moment_is_mended_by_init(
    tmp_path: Path, argv: tuple[str, ...]
) -> None:
    place = tmp_path / "place"
    workspaces.small(place / ("ws" if len(argv) > 1 else "repo"))
    (place / "repo").mkdir(exist_ok=True)
    whole = Path(shutil.copytree(place, tmp_path / "whole")) / "repo"
    driving.done(whole, *argv, now=NOW)
    for turn, copy in crashing.deaths(place, tmp_path / "dead", *argv, now=NOW):
        (copy / ".git" / "config.lock").unlink(missing_ok=True)
        driving.done(copy, *argv, now=NOW)
        assert head(copy) == head(whole), turn
        sound(copy, standing.status(whole))
        wanted = ".\n" if argv == ("init",) else f"{copy}/../ws\n"
        assert git(copy, "config", "memrepo.workspace") == wanted
        for name in ("info/attributes", "info/exclude", "hooks/pre-commit"):
            paths = [root / ".git" / name for root in (copy, whole)]
            left, right = (path.read_text() if path.exists() else "" for path in paths)
            assert left == right, (turn, name)


# -- a fast-forward that dies half-way ---------------------------------------------------------


def write(repo: Path, path: str, blob: str) -> None:
    """Check a file out as git does."""
    target = repo / path
    target.unlink(missing_ok=True)
    if not blob.strip("0"):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    data = subprocess.run(
        ["git", "-C", str(repo), "cat-file", "blob", blob], capture_output=True, check=True
    ).stdout
    target.write_bytes(data)


def halfway(repo: Path, changed: dict[str, str], count: int) -> None:
    """Check out some of the files."""
    for path, blob in list(changed.items())[:count]:
        write(repo, path, blob)


def all_states(
    repo: Path, scratch: Path, *argv: str
) -> Iterator[tuple[Path, str, str, dict[str, str]]]:
    """Yield copies that died in the middle of a fast-forward, each in another way."""
    base, tip, changed = crashing.stopped_before_merge(repo.parent, *argv, now=NOW)
    number = 0
    for count in sorted({0, 1, len(changed) // 2, len(changed)}):
        for locks in ((), LOCKS[:1], LOCKS):
            number += 1
            copy = shutil.copytree(repo.parent, scratch / str(number), symlinks=True) / "repo"
            halfway(copy, changed, count)
            for name in locks:
                (copy / ".git" / name).write_bytes(b"")
            yield copy, base, tip, changed
            shutil.rmtree(copy.parent)
    # The index was written too, the branch was not.
    copy = shutil.copytree(repo.parent, scratch / "staged", symlinks=True) / "repo"
    halfway(copy, changed, len(changed))
    git(copy, "add", "-A", "--", *(path.split("/")[0] for path in changed))
    yield copy, base, tip, changed


@pytest.mark.parametrize("argv", [("run",), ("revert",)], ids=lambda a: a[0])
def test_a_fast_forward_cut_short_is_taken_back(
    repo: Path, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    driving.done(repo, "ingest", now=NOW)
    if argv == ("revert",):
        driving.done(repo, "run", now=NOW)
    before = uncommitted(repo)
    for copy, base, _, _ in all_states(repo, tmp_path / "dead", *argv):
        recover(copy)
        assert head(copy) == base
        sound(copy, before)


PERSON: dict[str, Callable[[Path], object]] = {
    "commits another file": lambda repo: git(repo, "commit", "-qm", "x", "--", "staged.txt"),
    "switches to another branch": lambda repo: git(repo, "switch", "-qc", "other"),
    "commits nothing": lambda repo: git(repo, "commit", "-q", "--allow-empty", "-m", "x", "--only"),
}


@pytest.mark.parametrize(
    ("argv", "what"),
    [*((("run",), what) for what in PERSON), (("revert",), "commits another file")],
)
def test_when_a_person_went_on_the_write_is_taken_back(
    repo: Path, tmp_path: Path, argv: tuple[str, ...], what: str
) -> None:
    driving.done(repo, "ingest", now=NOW)
    if argv == ("revert",):
        driving.done(repo, "run", now=NOW)
    uncommitted(repo)
    control = Path(shutil.copytree(repo.parent, tmp_path / "control", symlinks=True)) / "repo"
    PERSON[what](control)
    after = standing.status(control)
    for copy, base, _, _ in all_states(repo, tmp_path / "dead", *argv):
        for lock in LOCKS:
            (copy / ".git" / lock).unlink(missing_ok=True)
        PERSON[what](copy)
        theirs = head(copy)
        recover(copy)
        assert head(copy) == theirs
        sound(copy, after)
        assert standing.files(copy) == standing.files(control)
        assert git(copy, "diff", "--name-only", base, "HEAD") == git(
            control, "diff", "--name-only", base, "HEAD"
        )


def test_committing_everything_after_a_crash_reverses_nothing(repo: Path, tmp_path: Path) -> None:
    driving.done(repo, "ingest", now=NOW)
    whole = Path(shutil.copytree(repo.parent, tmp_path / "whole", symlinks=True)) / "repo"
    driving.done(whole, "run", now=NOW)
    wanted = driving.memories(whole)
    for copy, _, _, changed in all_states(repo, tmp_path / "dead", "run"):
        for lock in LOCKS:
            (copy / ".git" / lock).unlink(missing_ok=True)
        (copy / "mine.txt").write_text("mine\n")
        git(copy, "add", "-N", "mine.txt")
        whole_files = all(
            not (copy / p).exists() or blob == git(copy, "hash-object", p).strip()
            for p, blob in changed.items()
            if git(copy, "ls-files", "--", p)
        )
        git(copy, "commit", "-qam", "x")
        person = head(copy)
        recover(copy)
        assert git(copy, "show", "HEAD:mine.txt") == "mine\n"
        assert head(copy) == person
        assert standing.left_behind(copy) == []
        assert standing.status(copy) == ""
        if whole_files:
            driving.done(copy, "run", now=NOW)
            assert set(driving.memories(copy)) == set(wanted)


def test_committing_after_the_branch_moved_keeps_the_run(repo: Path) -> None:
    """The crash came between the ref and the end of the journal."""
    driving.done(repo, "ingest", now=NOW)
    base = head(repo)
    _, tip, _ = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    git(repo, "merge", "-q", "--ff-only", tip)
    (repo / "memrepo.toml").write_text((repo / "memrepo.toml").read_text() + "\n# mine\n")
    git(repo, "commit", "-qam", "x")
    after = head(repo)
    recover(repo)
    assert head(repo) == after
    assert git(repo, "diff", "--name-only", tip, "HEAD") == "memrepo.toml\n"
    assert base != tip
    sound(repo, "")


@pytest.mark.parametrize("is_staged", [False, True])
def test_an_inbox_file_survives_a_crash_and_a_commit(repo: Path, is_staged: bool) -> None:
    """The file lay there before the ingest that died: taking it back must not delete it."""
    driving.done(repo, "ingest", now=NOW)
    path = repo / "sources" / "inbox" / "a.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("- Holt moved to Bergen.\n")
    if is_staged:
        git(repo, "add", str(path))
    crashing.stopped_before_merge(repo.parent, "ingest", now=NOW)
    git(repo, "commit", "-q", "--allow-empty", "-m", "x", "--only")
    recover(repo)
    assert path.read_text() == "- Holt moved to Bergen.\n"
    wanted = f"{'A ' if is_staged else '??'} sources/inbox/a.md\n"
    assert git(repo, "status", "--porcelain", "-uall") == wanted
    assert driving.done(repo, "ingest", now=NOW)["added"] == ["sources/inbox/a.md"]


@pytest.mark.parametrize("edit", ["appends", "shortens", "empties"])
def test_what_a_person_wrote_into_the_half_state_is_kept_and_named(repo: Path, edit: str) -> None:
    driving.done(repo, "ingest", now=NOW)
    base, _, changed = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    halfway(repo, changed, len(changed))
    path = next(p for p in changed if p.startswith("memories/"))
    whole = (repo / path).read_text()
    edits = {"appends": f"{whole}a person's line\n", "shortens": whole[:-9], "empties": ""}
    edited = edits[edit]
    (repo / path).write_text(edited)
    answer = driving.memrepo(repo, "ingest", now=NOW, as_json=False)
    assert answer.exit == 0
    assert "write-taken-back" in answer.err
    assert path in answer.err
    assert head(repo) == base
    assert (repo / path).read_text() == edited
    assert standing.left_behind(repo) == []
    assert git(repo, "status", "--porcelain", "-uall")[3:].strip() == path
    # Nothing is wedged: the next run names the file, and works once it is out of the way.
    assert driving.memrepo(repo, "run", now=NOW).exit == 5
    (repo / path).unlink()
    driving.done(repo, "run", now=NOW)


@pytest.mark.parametrize("what", ["a merge", "detached"])
def test_a_crash_waits_for_the_end_of_what_a_person_does(repo: Path, what: str) -> None:
    driving.done(repo, "ingest", now=NOW)
    base, _, _ = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    if what == "a merge":
        (repo / ".git" / "MERGE_HEAD").write_text(head(repo) + "\n")
    else:
        git(repo, "switch", "-q", "--detach")
    answer = driving.memrepo(repo, "run", now=NOW)
    assert (answer.exit, what in answer.error["message"]) == (5, True)
    assert journal.load_journal(repo / ".git" / "memrepo") is not None
    (repo / ".git" / "MERGE_HEAD").unlink(missing_ok=True)
    git(repo, "switch", "-q", "main")
    recover(repo)
    assert head(repo) == base


def test_the_index_lock_of_a_living_git_is_respected(repo: Path) -> None:
    driving.done(repo, "ingest", now=NOW)
    base, _, _ = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    # A commit that waits for its editor holds the index all the while.
    editor = repo.parent / "editor.sh"
    editor.write_text("#!/bin/sh\necho ready\nread line\nexit 1\n")
    editor.chmod(0o755)
    (repo / "memrepo.toml").write_text((repo / "memrepo.toml").read_text() + "\n# mine\n")
    with subprocess.Popen(
        ["git", "commit", "-a"],
        cwd=repo,
        env={**os.environ, "GIT_EDITOR": str(editor)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as commit:
        assert commit.stdout is not None
        assert b"ready" in commit.stdout.readline()
        assert (repo / ".git" / "index.lock").exists()
        answer = driving.memrepo(repo, "run", now=NOW)
        assert (answer.exit, "another git process" in answer.error["message"]) == (5, True)
        assert (repo / ".git" / "index.lock").exists()
        assert head(repo) == base
        commit.communicate(b"\n")
    recover(repo)
    assert head(repo) == base
    assert standing.left_behind(repo) == []


def test_our_own_git_that_outlives_us_keeps_the_lock(repo: Path, tmp_path: Path) -> None:
    """`kill -9` hits memrepo and not its git: the next command waits until that one is done."""
    driving.done(repo, "ingest", now=NOW)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    found = shutil.which("git")
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" read-tree "*) touch {tmp_path}/started; sleep 1;; esac\n'
        f'exec {found} "$@"\n'
    )
    slow.chmod(0o755)

    def act() -> None:
        os.environ["PATH"] = f"{slow.parent}:{os.environ['PATH']}"

        def watch() -> None:
            while not (tmp_path / "started").exists():
                pass
            crashing.kill_self()

        threading.Thread(target=watch, daemon=True).start()
        crashing.command(repo, "run", now=NOW)()

    assert crashing.fork(act) == -9
    base = head(repo)
    recover(repo)
    assert head(repo) == base
    sound(repo, "")


def test_an_interrupt_while_files_are_written_waits_for_their_end(repo: Path) -> None:
    driving.done(repo, "ingest", now=NOW)
    base = head(repo)

    def act() -> None:
        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event == "subprocess.Popen" and "read-tree" in arguments[1]:  # type: ignore[operator]
                os.kill(os.getpid(), signal.SIGINT)

        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.addaudithook(hook)
        os._exit(crashing.command(repo, "run", now=NOW)())  # type: ignore[arg-type]

    assert crashing.fork(act) == 130
    assert head(repo) != base
    sound(repo, "")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"branch": 1}', '{"tip": "x"}'])
def test_a_damaged_journal_is_dropped(repo: Path, text: str) -> None:
    (repo / ".git" / "memrepo" / "journal.json").write_text(text)
    before = standing.prints(repo)
    recover(repo)
    assert standing.prints(repo) == before
    assert standing.left_behind(repo) == []


def test_a_journal_whose_objects_are_gone_is_dropped(repo: Path) -> None:
    driving.done(repo, "ingest", now=NOW)
    base, _, _ = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    for ref in git(repo, "for-each-ref", "--format=%(refname)", "refs/memrepo").split():
        git(repo, "update-ref", "-d", ref)
    git(repo, "prune", "--expire=now")
    recover(repo)
    assert head(repo) == base
    sound(repo, "")
    driving.done(repo, "run", now=NOW)


def test_a_crash_while_leaving_a_waiting_run_leaves_no_trace(repo: Path) -> None:
    driving.done(repo, "ingest", now=NOW)
    argv = ("run", "--mode", "reconciliation")
    base, before = head(repo), standing.status(repo)
    scratch = repo.parent.parent / "dead"
    for turn, copy in crashing.deaths(repo.parent, scratch, *argv, now=NOW):
        recover(copy)
        assert standing.left_behind(copy) == [], turn
        assert standing.status(copy) == before
        driving.memrepo(copy, *argv, now=NOW)
        assert len(git(copy, "for-each-ref", "refs/heads/run").splitlines()) <= 1
    assert head(repo) == base


@pytest.mark.parametrize("autocrlf", ["true", "input"])
def test_translated_line_ends_are_known_as_our_own(repo: Path, autocrlf: str) -> None:
    """An adopted folder has no attributes for JSON: git writes manifests with CRLF there."""
    git(repo, "config", "core.autocrlf", autocrlf)
    git(repo, "rm", "-q", ".gitattributes")
    git(repo, "commit", "-qm", "no attributes")
    driving.done(repo, "ingest", now=NOW)
    base, _, changed = crashing.stopped_before_merge(repo.parent, "run", now=NOW)
    halfway(repo, changed, len(changed))
    if autocrlf == "true":
        for path, blob in changed.items():
            if blob.strip("0"):
                data = (repo / path).read_bytes()
                (repo / path).write_bytes(data.replace(b"\n", b"\r\n"))
    other = Path(shutil.copytree(repo.parent, repo.parent.parent / "other")) / "repo"
    recover(repo)
    assert head(repo) == base
    sound(repo, "")
    git(other, "commit", "-q", "--allow-empty", "-m", "x", "--only")
    recover(other)
    assert git(other, "diff", "--name-only", base, "HEAD") == ""
    sound(other, "")
