"""`memrepo why`: the recorded lines for ever, where they stand by now, and what was decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import NEXT_DAY, done, git, memories, memrepo

from memrepo.core.ids import text_hash
from memrepo.core.memory import Memory

DAY3 = "2026-03-03T09:00:00Z"


def by_text(repo: Path, part: str) -> Memory:
    """Return the note of a log or, where no note says it, the one claim."""
    found = [m for m in memories(repo).values() if part in m.body]
    (one,) = [m for m in found if m.is_note] or found
    return one


def rewrite(repo: Path, name: str, text: str | None, now: str = NEXT_DAY) -> None:
    """Write a file of the workspace anew, or take it away, and ingest."""
    path = repo.parent / "workspace" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    done(repo, "ingest", now=now)


def piece(repo: Path, id_: str, *flags: str) -> dict[str, Any]:
    (found,) = done(repo, "why", id_, *flags)["evidence"]
    return found


def related(repo: Path, id_: str, word: str) -> list[dict[str, Any]]:
    """Return the memories that stand in a relation to a memory."""
    return [one for one in done(repo, "why", id_)["relations"] if one["is"] == word]


BEDS = "- Vera prefers raised beds because her back hurts."


@pytest.mark.parametrize(
    ("text", "resolved", "lines"),
    [
        (None, "exact", None),
        # Another part of the file changed: the lines are where they were.
        (f"# Memory\n\n## Garden\n\n- Another line.\n{BEDS}\n", "exact", None),
        (f"# Memory\n\n{BEDS}\n", "moved", [3, 3]),
        # Same words under another marker, deeper, with another line end.
        (
            "# Memory\r\n\r\n- List:\r\n  * Vera prefers raised beds because her back hurts.\r\n",
            "moved",
            [4, 4],
        ),
        # Broken anew: no line is the same, the unit is.
        ("# Memory\n\n- Vera prefers raised beds\n  because her back hurts.\n", "moved", [3, 4]),
        # Of several places the nearest.
        (f"{BEDS}\n\n\n\n\n\n\n{BEDS}\n", "moved", [8, 8]),
        ("# Memory\n\n- Vera prefers raised beds because of the slugs.\n", "lost", None),
        ("", "lost", None),
    ],
)
def test_evidence_is_quoted_whatever_became_of_its_source(
    small_repo: Path, text: str | None, resolved: str, lines: list[int] | None
) -> None:
    id_ = by_text(small_repo, "raised beds").id
    if text is not None:
        rewrite(small_repo, "MEMORY.md", text)
    found = piece(small_repo, id_)
    assert found["quote"] == BEDS
    assert (found["resource"], found["lines"]) == ("sources/MEMORY.md", [6, 6])
    assert found["resolved"] == resolved
    there = {"resource": "sources/MEMORY.md", "lines": lines}
    assert found["found"] == (there if lines else None)
    # As it was then, whatever became of it since.
    assert piece(small_repo, id_, "--at", "2026-03-01")["resolved"] == "exact"


def test_a_secret_in_the_recorded_version_is_not_quoted(small_repo: Path) -> None:
    memory = by_text(small_repo, "raised beds")
    said = f"the token is ghp_{'a1B2' * 9} and more"
    (small_repo / "sources" / "MEMORY.md").write_text(f"# Memory\n\n- {said}\n")
    path = small_repo / memory.path
    place = memory.sources[0].spell()
    path.write_text(path.read_text().replace(place, f"MEMORY.md:3, {text_hash(said)}"))
    git(small_repo, "add", "-A")
    git(small_repo, "commit", "-q", "--no-verify", "-m", "past every guard")
    for command in ("why", "show"):
        told = memrepo(small_repo, command, memory.id)
        assert "ghp_" not in told.out
        (found,) = told.data["evidence"]
        assert found["quote"] == "- the token is [redacted:github-pat] and more"


def test_why_tells_the_run_its_verdict_and_the_commit_that_accepted_it(small_repo: Path) -> None:
    found = done(small_repo, "why", by_text(small_repo, "prune the roses").id)
    merge = git(small_repo, "rev-parse", "HEAD").strip()
    (judged,) = found["judgements"]
    assert (judged["accepted"], judged["judge"]) == (merge, "offline/3")
    assert judged["disposition"] == "new_claim"
    shown, decided = found["decisions"]
    assert shown["op"] == "promote"
    assert (decided["op"], decided["accepted"]) == ("create", merge)
    assert decided["commit"] != merge


def test_why_follows_the_supersession_both_ways_and_survives_a_ring(small_repo: Path) -> None:
    first = by_text(small_repo, "raised beds").id
    second = done(small_repo, "supersede", first, "Vera prefers high beds.", now=NEXT_DAY)[
        "memories"
    ][0]
    third = done(small_repo, "supersede", second, "Vera gave up gardening.", now=DAY3)["memories"][
        0
    ]

    def line(id_: str, side: str) -> list[str]:
        return [other["id"] for other in related(small_repo, id_, side)]

    assert (line(first, "replaced"), line(first, "replaced by")) == ([], [second, third])
    assert (line(second, "replaced"), line(second, "replaced by")) == ([first], [third])
    assert (line(third, "replaced"), line(third, "replaced by")) == ([second, first], [])
    assert line(first, "replaced by")[0] in memrepo(small_repo, "why", first, as_json=False).out
    memory = memories(small_repo)[third]
    path = small_repo / memory.path
    path.write_text(path.read_text().replace("created:", f"superseded_by: [{first}]\ncreated:", 1))
    git(small_repo, "rm", "-q", memories(small_repo)[second].path)
    git(small_repo, "commit", "-q", "--no-verify", "-am", "a ring with a gap")
    found = related(small_repo, third, "replaced")
    assert [(o["id"], o["gone"]) for o in found] == [(second, True)]
    assert line(third, "replaced by") == [first, second]


def test_why_of_a_memory_that_left_the_tree_says_where_it_still_is(small_repo: Path) -> None:
    memory = by_text(small_repo, "raised beds")
    before = git(small_repo, "rev-parse", "HEAD").strip()
    git(small_repo, "rm", "-q", memory.path)
    git(small_repo, "commit", "-q", "-m", "away")
    for word in (memory.id, memory.id[:10], memory.slug, memory.path):
        for command in ("why", "show"):
            answer = memrepo(small_repo, command, word)
            assert answer.exit == 2
            assert "removed it" in answer.error["message"]
            (flag,) = [w for w in answer.error["fix"].split("`") if w.startswith("--at ")]
            then = done(small_repo, command, word, *flag.split())
            assert then["commit"].startswith(flag.split()[1])
    assert git(small_repo, "merge-base", "--is-ancestor", flag.split()[1], before) == ""


def test_why_names_duplicates_and_contradictions(small_repo: Path) -> None:
    one, other = by_text(small_repo, "raised beds"), by_text(small_repo, "heirloom")
    done(small_repo, "link", one.id, "contradicts", other.id)
    path = small_repo / by_text(small_repo, "rotary hoe").path
    path.write_text(path.read_text().replace("created:", f"duplicate_of: {one.id}\ncreated:", 1))
    git(small_repo, "add", "-A")
    git(small_repo, "commit", "-q", "--no-verify", "-m", "by hand")
    assert [m["id"] for m in related(small_repo, other.id, "contradicts")] == [one.id]
    assert [m["id"] for m in related(small_repo, one.id, "contradicts")] == [other.id]
    twin = by_text(small_repo, "rotary hoe").id
    assert [m["id"] for m in related(small_repo, one.id, "repeated by")] == [twin]
    assert [m["id"] for m in related(small_repo, twin, "repeats")] == [one.id]
