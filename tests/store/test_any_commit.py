"""`search --at`: over random histories, hit for hit what a search in a checkout answers."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from driving import LONG, done, git
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.core import codec
from memrepo.core.memory import Memory, Source

BODIES = (
    "the pump",
    "a pump and a valve",
    "the valve of the pump house",
    "温室は寒い",
    "café Oslo",
    "nothing here",
    " ".join(f"The valve number {n} is shut." for n in range(60)) + " The pump.",
)
MEMORY = st.fixed_dictionaries(
    {
        "body": st.sampled_from(BODIES),
        "status": st.sampled_from(("active", "active", "archived")),
        "subject": st.sampled_from(("", "Ana", "Ben")),
        "line": st.integers(1, 4),
        "day": st.sampled_from(("", "2026-01-05", "2026-02-20")),
        "after": st.sampled_from((None, 0, 1, 2)),
    }
)
TREES = st.lists(st.dictionaries(st.integers(0, 4), MEMORY, max_size=5), min_size=1, max_size=4)
QUERIES = (
    ("pump", "valve"),
    ("what", "did", "Ana", "say", "of", "the", "pump", "yesterday?"),
    ("温室", "oslo", "-k", "1"),
    ("valve", "pump", "--status", "active", "--status", "archived", "--status", "superseded"),
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("any-commit")
    done(base, "init", "repo")
    return base / "repo"


def written(repo: Path, contents: dict[int, dict[str, object]]) -> None:
    """Make the memories of a work tree what was drawn."""
    shutil.rmtree(repo / "memories", ignore_errors=True)
    for number, drawn in contents.items():
        place = Source(
            resource="sources/a.md",
            blob="",
            lines=(drawn["line"], drawn["line"]),  # type: ignore[arg-type]
            text_hash=f"th-{number:016x}",
            kind="direct",
            captured=str(drawn["day"]),
        )
        fields: dict[str, object] = {
            "id": f"mem-{number:016x}",
            "type": "fact",
            "status": drawn["status"],
            "sources": (place,),
        }
        if drawn["subject"]:
            fields["subject"] = drawn["subject"]
        if drawn["after"] not in (None, number):
            fields |= {"status": "superseded", "superseded_by": (f"mem-{drawn['after']:016x}",)}
        path = repo / f"memories/knowledge/2026-01/m-{number:06x}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            codec.encode(Memory(path=path.name, fields=fields, body=str(drawn["body"])))
        )


def committed(repo: Path, number: int) -> str:
    git(repo, "add", "-A")
    date = f"2026-02-{21 + number:02}T09:00:00Z"
    git(repo, "commit", "-q", "--no-verify", "--allow-empty", "-m", date)
    return git(repo, "rev-parse", "HEAD").strip()


@settings(max_examples=200 if LONG else 3, deadline=None)
@given(trees=TREES, order=st.permutations(range(4)))
def test_a_search_at_a_commit_is_a_search_in_its_checkout(
    empty: Path, trees: list[dict[int, dict[str, object]]], order: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo, clone = Path(folder) / "repo", Path(folder) / "clone"
        shutil.copytree(empty, repo, symlinks=True)
        commits = []
        for number, contents in enumerate(trees):
            written(repo, contents)
            commits.append(committed(repo, number))
        git(repo, "clone", "-q", ".", str(clone))
        there, moments = {}, {}
        for commit in commits:
            git(clone, "checkout", "-q", "-B", "main", commit)
            now = moments[commit] = git(repo, "show", "-s", "--format=%cI", commit).strip()
            there[commit] = [
                done(clone, "search", *query, "--no-touch", now=now) for query in QUERIES
            ]
        # Work that is not committed, and an index of the present, change nothing of the past.
        written(
            repo,
            {
                0: {
                    **next(
                        iter(trees[0].values()),
                        {"day": "", "line": 1, "after": None, "subject": "", "status": "active"},
                    ),
                    "body": "the pump",
                }
            },
        )
        done(repo, "search", "pump")
        for commit in (commits[i] for i in order if i < len(commits)):
            now = moments[commit]
            found = [done(repo, "search", *query, "--at", commit, now=now) for query in QUERIES]
            assert all(one.pop("heading") for one in found)  # it says of when it is
            assert found == [
                {k: v for k, v in one.items() if k != "heading"} for one in there[commit]
            ]
