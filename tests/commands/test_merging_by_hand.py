"""`git merge` and `git pull` by hand: with the driver, without it, and what follows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from driving import (
    LATER,
    assert_sound,
    done,
    git,
    memories,
    memrepo,
    operations,
    standing,
    subjects,
)

from memrepo.actions.sync import join
from memrepo.merge import closure
from memrepo.merge.states import merge_states
from memrepo.store.repo import open_repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with two memories."""
    done(tmp_path, "init", "repo")
    for text in ("Coffee is served at nine", "Tea is served at ten"):
        done(tmp_path / "repo", "add", text)
    return tmp_path / "repo"


def clone(repo: Path, *, set_up: bool = True) -> Path:
    """Clone beside it; without `set_up` git knows nothing of memrepo there."""
    other = repo.with_name("other")
    git(repo.parent, "clone", "-q", str(repo), str(other))
    if set_up:
        assert done(other, "init")["warnings"] == []
    return other


def edit(repo: Path, word: str, old: str, new: str) -> None:
    """Edit a memory's file in an editor and commit it with git."""
    path = file_of(repo, word)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    git(repo, "commit", "-qam", f"edit {word}")


def file_of(repo: Path, word: str) -> Path:
    (path,) = (repo / "memories").rglob(f"{word}-*.md")
    return path


def named(repo: Path, word: str) -> str:
    return next(i for i, m in memories(repo).items() if word in m.path)


def pull(repo: Path, *options: str) -> int:
    ran = git(repo, "pull", "-q", "--no-rebase", "--no-edit", *options, check=False)
    del ran
    return len(git(repo, "ls-files", "-u").splitlines())


def test_git_pull_joins_a_memory_field_by_field_with_the_driver(repo: Path) -> None:
    other = clone(repo)
    id_ = named(repo, "coffee")
    done(repo, "pin", id_)
    edit(other, "coffee", "nine", "eight")
    assert pull(other) == 0
    memory = memories(other)[id_]
    assert (memory.body, memory.fields["pinned"]) == ("Coffee is served at eight", True)
    assert done(other, "status")["unsettled"] == []
    done(other, "add", "next", now=LATER)
    assert not [op for op in operations(other) if op == "sync"]
    assert_sound(other)


def test_two_wordings_of_one_line_are_a_conflict_without_markers(repo: Path) -> None:
    other = clone(repo)
    edit(repo, "coffee", "nine", "seven")
    edit(other, "coffee", "nine", "eight")
    assert pull(other) > 0
    text = file_of(other, "coffee").read_text()
    assert "<<<<" not in text
    assert ("seven" in text) is not ("eight" in text)
    assert memrepo(other, "add", "x").exit == 5  # in the middle of a merge
    git(other, "commit", "-qam", "merged")
    assert done(other, "add", "x", now=LATER)["commit"]
    assert_sound(other)


def test_a_line_merge_in_a_clone_without_the_driver_is_contained(repo: Path) -> None:
    other = clone(repo, set_up=False)
    id_ = named(repo, "coffee")
    done(repo, "pin", id_)
    edit(other, "coffee", "nine", "eight")
    assert pull(other) > 0  # the committed `-merge` keeps ours and says so
    git(other, "commit", "-qam", "merged by hand")
    assert "pinned" not in memories(other)[id_].fields
    status = done(other, "status")
    assert [u["memories"] for u in status["unsettled"]] == [[id_]]
    assert "git-merge-unsettled" in {p["rule"] for p in status["problems"]}
    before = standing(other)
    memrepo(other, "add", "dry", "--dry-run")
    assert standing(other) == before
    answer = memrepo(other, "confirm", id_, now=LATER, as_json=False)
    assert answer.exit == 0
    assert "git-merge-settled" in answer.err
    memory = memories(other)[id_]
    assert (memory.body, memory.fields["pinned"]) == ("Coffee is served at eight", True)
    settling = subjects(other)[1]
    assert settling.startswith("Repair merge ")
    assert done(other, "status")["unsettled"] == []
    assert_sound(other)


def test_a_merge_is_settled_once_whichever_clone_looks_next(repo: Path) -> None:
    other = clone(repo, set_up=False)
    done(repo, "pin", named(repo, "coffee"))
    edit(other, "coffee", "nine", "eight")
    pull(other)
    git(other, "commit", "-qam", "merged by hand")
    done(other, "add", "one more", now=LATER)
    # Whoever undoes what was settled means it.
    done(other, "unpin", named(other, "coffee"), now=LATER)
    git(repo, "pull", "-q", "--ff-only", str(other), "main")
    done(repo, "add", "and another", now=LATER)
    assert "pinned" not in memories(repo)[named(repo, "coffee")].fields
    assert len([op for op in operations(repo) if op == "sync"]) == 1


def test_a_resolution_in_a_persons_words_stands(repo: Path) -> None:
    other = clone(repo, set_up=False)
    id_ = named(repo, "coffee")
    edit(repo, "coffee", "nine", "seven")
    done(repo, "pin", id_)
    edit(other, "coffee", "nine", "eight")
    assert pull(other) > 0
    path = file_of(other, "coffee")
    path.write_text(path.read_text().replace("eight", "seven, on Sundays at eight"))
    git(other, "commit", "-qam", "resolved")
    done(other, "confirm", named(other, "tea"), now=LATER)
    memory = memories(other)[id_]
    assert memory.body == "Coffee is served at seven, on Sundays at eight"
    assert memory.fields["pinned"] is True


def test_init_in_a_plain_clone_sets_the_driver_up_and_doctor_mends_it(repo: Path) -> None:
    other = clone(repo, set_up=False)
    names = {c["name"]: c["ok"] for c in memrepo(other, "doctor").data["checks"]}
    assert names["drivers"] is False
    memrepo(other, "doctor", "--fix")
    names = {c["name"]: c["ok"] for c in memrepo(other, "doctor").data["checks"]}
    assert names["drivers"] is True
    config, attributes = (other / ".git/config").read_text(), other / ".git/info/attributes"
    assert attributes.read_text() == "*.md merge=memrepo diff=memrepo\n"
    done(other, "init")
    assert (other / ".git/config").read_text() == config
    assert attributes.read_text() == "*.md merge=memrepo diff=memrepo\n"


def test_in_an_adopted_folder_only_memrepos_files_are_joined_by_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "code")
    code = tmp_path / "code"
    (code / "MEMORY.md").write_text("# Notes\n\n- One thing (2026-01-02)\n")
    git(code, "add", ".")
    git(code, "commit", "-qm", "first")
    done(code, "init")
    lines = (code / ".git/info/attributes").read_text().splitlines()
    assert all(line.endswith("/**/*.md merge=memrepo diff=memrepo -text") for line in lines)
    said = git(code, "check-attr", "merge", "README.md", "memories/a/b.md")
    assert said.splitlines() == ["README.md: merge: unspecified", "memories/a/b.md: merge: memrepo"]


# The driver itself


def drive(where: Path, path: str, *versions: bytes) -> tuple[int, bytes]:
    names = [where / name for name in ("o", "a", "b")]
    for name, data in zip(names, versions, strict=True):
        name.write_bytes(data)
    answer = memrepo(where, "merge-driver", *names, "7", path)
    return answer.exit, names[1].read_bytes()


HEAD = b"---\nid: mem-0000010000000001\ntype: fact\n%s---\n\none\n"
PATH = "memories/knowledge/2026-01/m-000001.md"


@pytest.mark.parametrize(
    ("path", "base", "ours", "theirs", "exit_", "result"),
    [
        pytest.param(
            PATH,
            HEAD % b"",
            HEAD % b"title: t\n",
            HEAD % b"pinned: true\n",
            0,
            HEAD % b"title: t\npinned: true\n",
            id="fields",
        ),
        pytest.param(
            PATH,
            b"",
            HEAD % b"title: t\n",
            HEAD % b"pinned: true\n",
            0,
            HEAD % b"title: t\npinned: true\n",
            id="no ancestor",
        ),
        pytest.param(
            PATH,
            HEAD % b"",
            HEAD % b"title: a\n",
            HEAD % b"title: b\n",
            1,
            HEAD % b"title: b\n",
            id="two titles",
        ),
        pytest.param(
            PATH,
            HEAD % b"",
            b"---\nbroken\n",
            HEAD % b"title: b\n",
            1,
            HEAD % b"title: b\n",
            id="one side cannot be read",
        ),
        pytest.param(
            PATH,
            b"",
            HEAD % b"",
            HEAD.replace(b"0001\n", b"0002\n") % b"",
            1,
            HEAD % b"",
            id="two memories under one name",
        ),
        pytest.param(
            "memrepo/" + PATH,
            HEAD % b"",
            HEAD % b"title: t\n",
            HEAD % b"pinned: true\n",
            0,
            HEAD % b"title: t\npinned: true\n",
            id="under the prefix",
        ),
        pytest.param("views/LTMEMORY.md", b"1", b"2", b"3", 0, b"2", id="a page"),
        pytest.param(
            "sources/MEMORY.md",
            b"1\n2\n3\n",
            b"0\n1\n2\n3\n",
            b"1\n2\n4\n",
            0,
            b"0\n1\n2\n4\n",
            id="a source",
        ),
        pytest.param("sources/MEMORY.md", b"1\n", b"2\n", b"3\n", 1, b"3\n", id="a source, twice"),
        pytest.param("README.md", b"1\n", b"2\n", b"3\n", 1, b"2\n", id="not ours"),
    ],
)
def test_the_driver(
    tmp_path: Path, path: str, base: bytes, ours: bytes, theirs: bytes, exit_: int, result: bytes
) -> None:
    assert drive(tmp_path, path, base, ours, theirs) == (exit_, result)


# Several merge bases


def test_a_criss_cross_has_a_virtual_base(repo: Path) -> None:
    """Both branches merged each other once: a removal of one side must not come back."""
    coffee, tea = named(repo, "coffee"), named(repo, "tea")
    for name in ("one", "two"):
        shutil.copytree(repo, repo.with_name(name))
    one, two = (repo.with_name(name) for name in ("one", "two"))
    edit(one, "coffee", "nine", "seven")
    edit(two, "tea", "ten", "noon")
    heads = [git(r, "rev-parse", "HEAD").strip() for r in (one, two)]
    for here, there, head in ((one, two, heads[1]), (two, one, heads[0])):
        git(here, "fetch", "-q", str(there), head)
        git(here, "merge", "-q", "--no-edit", head)
    git(one, "rm", "-q", str(file_of(one, "tea").relative_to(one)))
    git(one, "commit", "-qm", "tea is gone")
    edit(two, "coffee", "seven", "six")
    git(one, "fetch", "-q", str(two), "main")
    with open_repository(one) as store:
        tips = store.head(), store.resolve("FETCH_HEAD")
        found = join.sides_of(store, *tips, ())
        result = found.merged()
        assert len(found.bases) == 2
        assert result.state.memories[coffee].body == "Coffee is served at six"
        assert tea not in result.state.memories
        assert result.conflicts == ()
        assert merge_states(found.base, *found.states).state == result.state
        back = join.sides_of(store, *reversed(tips), ()).merged()
        assert dict(back.state.memories) == dict(result.state.memories)
        assert closure.closure(result.state) == ()
        assert store.head() == tips[0]


# Commits that no hook saw


def test_a_broken_memory_from_the_web_is_named_skipped_and_stops_nothing(repo: Path) -> None:
    path = file_of(repo, "tea")
    path.write_text("---\ntype: fact\ntype: fact\n---\n\nbroken\n")
    git(repo, "-c", "core.hooksPath=/dev/null", "commit", "-qam", "edited on the web")
    problems = done(repo, "status")["problems"]
    assert "frontmatter-duplicate-key" in {p["rule"] for p in problems}
    inbox = repo / "sources/inbox"
    (inbox / "note.md").write_text("- The library opens at eight on weekdays.\n")
    answer = done(repo, "run", now=LATER)
    assert answer["status"] == "ok"
    assert "frontmatter-duplicate-key" in {w["rule"] for w in answer["warnings"]}
    assert path.read_text().endswith("broken\n")


def test_what_a_rebase_broke_between_memories_is_told_by_the_next_write(repo: Path) -> None:
    tea = named(repo, "tea")
    done(repo, "supersede", tea, "Tea is served at eleven")
    path = file_of(repo, "tea-is-served-at-ten")
    kept = [line for line in path.read_text().splitlines(True) if "superseded_by" not in line]
    path.write_text("".join(kept))
    git(repo, "-c", "core.hooksPath=/dev/null", "commit", "-qam", "rebased")
    answer = memrepo(repo, "add", "next", now=LATER, as_json=False)
    assert answer.exit == 0
    assert "supersession-status" in answer.err
    again = memrepo(repo, "add", "once more", now=LATER, as_json=False)
    assert "supersession-status" not in again.err
    rules = {p["rule"] for p in done(repo, "status")["problems"]}
    assert "supersession-status" in rules


def test_uncommitted_work_on_a_file_to_settle_postpones_it(repo: Path) -> None:
    other = clone(repo, set_up=False)
    id_ = named(repo, "coffee")
    done(repo, "pin", id_)
    edit(other, "coffee", "nine", "eight")
    pull(other)
    git(other, "commit", "-qam", "merged by hand")
    path = file_of(other, "coffee")
    mine = path.read_text().replace("eight", "noon")
    path.write_text(mine)
    answer = memrepo(other, "add", "Something else", now=LATER, as_json=False)
    assert answer.exit == 0
    assert "git-merge-unsettled" in answer.err
    assert path.read_text() == mine
    git(other, "commit", "-qam", "noon")
    done(other, "add", "More", now=LATER)
    memory = memories(other)[id_]
    assert (memory.body, memory.fields["pinned"]) == ("Coffee is served at noon", True)
