"""`--at` and `--valid-at`: what was known then, what was true then, and both together."""

from __future__ import annotations

import shutil
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import workspaces
from driving import NEXT_DAY, done, files, git, memories, memrepo, runs, standing

from memrepo.core.memory import Memory

DAY3 = "2026-03-03T09:00:00Z"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose watering interval was replaced on 2 March; read only."""
    base = tmp_path_factory.mktemp("watered")
    done(base, "init", "repo", "--from", workspaces.growing(base / "workspace", 0))
    repo = base / "repo"
    done(repo, "run")
    workspaces.growing(base / "workspace", 3)
    done(repo, "run", now=NEXT_DAY)
    done(repo, "add", "The well gives 40 litres a minute.", now=DAY3)
    return repo


@pytest.fixture
def watered(shared: Path, tmp_path: Path) -> Path:
    """Return a copy of the shared repository that a test may change."""
    return Path(shutil.copytree(shared, tmp_path / "repo", symlinks=True))


def by_text(repo: Path, part: str) -> Memory:
    (found,) = [m for m in memories(repo).values() if part in m.body]
    return found


def first_parents(repo: Path) -> list[str]:
    return git(repo, "rev-list", "--first-parent", "HEAD").split()


# -- from a word to a commit ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "back"),
    [
        ("2026-03-03", 0),
        ("2030-01-01", 0),
        ("9999-12-31", 0),
        # The runs were at 17:00 in Manila; a date alone is the end of that day there.
        ("2026-03-02", 1),
        ("2026-03-02T17:00", 1),
        ("2026-03-02T16:59:59", 3),
        ("2026-03-02T09:00:00Z", 1),
        ("2026-03-02T08:59:59Z", 3),
        ("2026-03-01", 3),
        ("HEAD", 0),
        ("main~1", 1),
        ("@", 0),
    ],
)
def test_at_means_a_commit_along_first_parents(shared: Path, word: str, back: int) -> None:
    answer = done(shared, "search", "watering", "--at", word)
    assert answer["commit"] == first_parents(shared)[back]


NO_COMMIT = (
    *("nothing-of-this-name", "-x", "--all", "--output=x", "^HEAD", "HEAD..HEAD~1", "HEAD^{tree}"),
    *("HEAD:memrepo.toml", "$(touch x)", "; touch x", "a\nb", "\udcff", "*", "2026-02-30"),
    *("x" * 300_000, "HEAD\0", "yesterday", ":/nothing like this", "refs/../config"),
)
VERBS = (("search", "water"), ("show", "mem-0"), ("why", "mem-0"))


@pytest.mark.parametrize(("command", "word"), [*zip(cycle(VERBS), NO_COMMIT, strict=False)])
def test_a_word_that_names_no_commit_is_refused_with_a_way_out(
    shared: Path, command: tuple[str, ...], word: str
) -> None:
    before = standing(shared)
    answer = memrepo(shared, *command, f"--at={word}")
    assert answer.exit == 2
    assert "neither a revision" in answer.error["message"]
    assert "2026-01-31" in answer.error["fix"]
    assert standing(shared) == before


# -- what was known then -------------------------------------------------------------------------


QUERIES = (
    ("watering", "greenhouse"),
    ("the", "seed"),
    ("pump", "--type", "note"),
    ("watering", "--status", "superseded"),
    ("beds", "--max-tokens", "9"),
)


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what questions about the past leave out: passages of sources.

    Scores count them too.
    """
    hits = [(hit["id"], hit["text"], hit["status"], hit["sources"]) for hit in answer["hits"]]
    return {**answer, "hits": hits, "heading": [], "tokens": 0, "why": "", "suggestions": []}


def test_search_at_answers_what_it_would_have_answered_there(shared: Path, tmp_path: Path) -> None:
    commits = first_parents(shared)[:-1]
    commits += git(shared, "rev-list", "--reverse", "HEAD~1^1..HEAD~1^2").split()[:3]
    git(tmp_path, "clone", "-q", str(shared), "clone")
    there = {}
    for commit in commits:
        git(tmp_path / "clone", "checkout", "-q", "-B", "main", commit)
        moment = git(shared, "show", "-s", "--format=%cI", commit).strip()
        there[commit] = [
            _told(done(tmp_path / "clone", "search", *words, "--no-touch", now=moment))
            for words in QUERIES
        ]
    # Scores are taken at the time of the question, so it is asked at that of the commit.
    moments = {c: git(shared, "show", "-s", "--format=%cI", c).strip() for c in commits}
    for commit, now in moments.items():
        then = [_told(done(shared, "search", *words, "--at", commit, now=now)) for words in QUERIES]
        assert then == there[commit]
    # And back again: the index of the past follows.
    for commit in commits[::-1]:
        again = done(shared, "search", *QUERIES[0], "--at", commit, now=moments[commit])
        assert _told(again) == there[commit][0]
    now = done(shared, "search", "watering")
    assert now["commit"] == commits[0]
    assert "5 days" in now["hits"][0]["text"]


def test_show_at_shows_what_the_file_said_and_says_when(shared: Path) -> None:
    old = by_text(shared, "every 3 days")
    then = done(shared, "show", old.id, "--at", "2026-03-01")
    assert then["memory"].get("status") is None
    assert then["evidence"][0]["resolved"] == "exact"
    assert done(shared, "show", old.id)["memory"]["status"] == "superseded"
    text = memrepo(shared, "show", old.id, "--at", "2026-03-01", as_json=False).out
    assert text.startswith(f"as of commit {then['commit'][:10]}, 2026-03-01 17:00\n")


@pytest.mark.parametrize("format_", ["artifacts", "jsonl"])
def test_export_at_writes_what_an_export_there_would_have_written(
    watered: Path, tmp_path: Path, format_: str
) -> None:
    (watered / "memrepo.toml").write_text(
        (watered / "memrepo.toml").read_text().replace("personal", "business")
    )
    git(watered, "commit", "-q", "-am", "another profile")
    commit = first_parents(watered)[2]
    git(tmp_path, "clone", "-q", str(watered), "clone")
    git(tmp_path / "clone", "checkout", "-q", "-B", "main", commit)
    done(watered, "export", format_, tmp_path / "then", "--at", commit)
    done(tmp_path / "clone", "export", format_, tmp_path / "there")
    assert files(tmp_path / "then") == files(tmp_path / "there")


def test_at_takes_the_id_of_a_run_and_a_waiting_branch(watered: Path) -> None:
    run = runs(watered)[0]
    assert done(watered, "search", "x", "--at", run)["commit"] == first_parents(watered)[1]
    git(watered, "branch", "2026-03-01", "HEAD")
    assert done(watered, "search", "x", "--at", "2026-03-01")["commit"] == first_parents(watered)[3]
    said = done(watered, "search", "x", "--at", "refs/heads/2026-03-01")
    assert said["commit"] == first_parents(watered)[0]


def test_what_ended_on_its_day_is_still_found_if_nothing_in_force_answers(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    notes = "# Memory\n\n- Jonna stays in Oslo until 2026-03-02.\n- Maud keeps bees at the mill.\n"
    workspaces.write(workspace, {"MEMORY.md": notes.encode()})
    done(tmp_path, "init", "repo", "--from", workspace)
    repo = tmp_path / "repo"
    done(repo, "run")
    done(repo, "run", now=DAY3)
    found = done(repo, "search", "Jonna", "Oslo", now=DAY3)
    assert [(hit["status"], hit["text"]) for hit in found["hits"]] == [
        ("archived", "Jonna stays in Oslo until 2026-03-02.")
    ]
    assert found["archived"] == 0
    bees = by_text(repo, "bees").id
    done(repo, "edit", bees, "--set", "valid_until=2026-12-01", now=DAY3)
    done(repo, "archive", bees, now=DAY3)
    assert not memrepo(repo, "search", "bees", now=DAY3).data["hits"]  # it was to hold longer
