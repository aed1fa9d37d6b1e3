"""A run lands whole: too many removals become marks, which one command confirms or refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import assert_sound, begin, configure, done, git, memories, memrepo

LINES = [f"- The locker number {n} belongs to crew {n + 100}." for n in range(60)]
NEW = [f"- The boat number {n} is moored at pier {n + 300}." for n in range(4)]
EDITED = "- The locker number 0 belongs to the harbour master."


def write(repo: Path, lines: list[str], name: str = "MEMORY.md") -> None:
    path = repo.parent / "workspace" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Memory\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


def night(repo: Path, day: int, *options: str) -> tuple[int, dict[str, Any]]:
    answer = memrepo(repo, "run", *options, now=f"2026-03-{day:02}T04:00:00Z")
    return answer.exit, answer.data


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write(tmp_path / "repo", LINES)
    return begin(tmp_path, tmp_path / "workspace")


def texts(repo: Path, standing: str = "", status: str = "active") -> set[str]:
    found = memories(repo).values()
    return {m.body for m in found if m.status == status and standing in ("", m.standing)}


def said(lines: list[str]) -> set[str]:
    return {line.removeprefix("- ") for line in lines}


def branches(repo: Path) -> list[str]:
    return git(repo, "branch", "--format=%(refname:short)").split()


def test_a_night_that_loses_too_much_lands_whole_and_marks(repo: Path) -> None:
    write(repo, [EDITED, *LINES[1:20], *NEW])
    code, data = night(repo, 2)
    assert (code, data["status"], data["branch"]) == (0, "ok", "")
    assert data["counts"]["memories_new"] >= len(NEW)
    assert texts(repo, "retire_candidate") == said(LINES[20:])
    assert len(data["marked"]) == 40
    assert (data["counts"]["marked"], data["counts"]["memories_retired"]) == (40, 0)
    assert "40 marked for removal" in git(repo, "log", "-1", "--format=%s")
    assert done(repo, "diff")["totals"]["marked"] == 40
    assert said([EDITED]) <= texts(repo), "an edit lands with its new half"
    assert not said(LINES[:1]) & texts(repo)
    reason = git(repo, "log", "--grep=^Memrepo-Op: retire", "-1", "--format=%B")
    assert "lost 40 of its 60 statements" in reason
    assert branches(repo) == ["main"]
    assert_sound(repo)


@pytest.mark.parametrize(
    ("before", "after", "marked", "retired"),
    [
        (5, NEW[:1], 5, 0),  # overwritten
        (3, LINES[:1], 2, 0),
        (10, LINES[:5], 0, 5),
        (1, [], 1, 0),
    ],
)
def test_a_file_that_lost_most_of_its_lines_is_marked_however_small(
    tmp_path: Path, before: int, after: list[str], marked: int, retired: int
) -> None:
    write(tmp_path / "repo", LINES[:before])
    other = tmp_path / "workspace" / "USER.md"
    kept = "# User\n\n- Ana lives in Bergen.\n- Ana speaks Norwegian and English.\n"
    other.write_text(f"{kept}- Ana drives a red tractor.\n", encoding="utf-8")
    repo = begin(tmp_path, tmp_path / "workspace")
    write(repo, after)
    other.write_text(kept, encoding="utf-8")
    night(repo, 2)
    assert len(texts(repo, "retire_candidate")) == marked
    gone = texts(repo, "retire_candidate", "archived") - {"Ana drives a red tractor."}
    assert len(gone) == retired
    assert "Ana drives a red tractor." in texts(repo, status="archived")  # whatever others lost


def test_marked_memories_leave_the_first_page_and_rank_below_others(repo: Path) -> None:
    write(repo, LINES[:20])
    night(repo, 2)
    page = (repo / "MEMORY.md").read_text("utf-8")
    assert not [line for line in LINES[20:] if line.removeprefix("- ") in page]
    hits = done(repo, "search", "which crew has a locker number", "-k", "60")["hits"]
    standings = [hit["standing"] for hit in hits]
    assert standings == sorted(standings, key="retire_candidate".__eq__)
    marked = next(hit for hit in hits if hit["standing"] == "retire_candidate")
    shown = memrepo(repo, "show", marked["id"], as_json=False).out
    assert "MEMORY.md" in shown


@pytest.mark.parametrize("verb", ["accept", "discard"])
def test_one_command_decides_all_of_them(repo: Path, verb: str) -> None:
    write(repo, LINES[:20])
    night(repo, 2)
    write(repo, [*LINES[:20], *NEW])
    assert night(repo, 3)[1]["marked"] == []
    assert f"memrepo {verb} removals" in memrepo(repo, "status", as_json=False).out
    head = git(repo, "rev-parse", "HEAD")
    bare = memrepo(repo, verb, now="2026-03-03T09:00:00Z")
    assert bare.exit == 2
    assert bare.error["message"] == "no run is pending review"
    assert "40 memories are marked" in bare.error["fix"]
    assert f"`memrepo {verb} removals`" in bare.error["fix"]
    assert git(repo, "rev-parse", "HEAD") == head
    answer = memrepo(repo, verb, "removals", now="2026-03-03T09:00:00Z", as_json=False)
    assert "40 memories marked for removal" in answer.out
    assert git(repo, "log", "-1", "--format=%B").count("Memrepo-Memory: ") == 40
    assert texts(repo, "retire_candidate") == set()
    night(repo, 4)  # may fill the page again
    assert night(repo, 5)[1]["status"] == "skipped"
    left = LINES if verb == "discard" else LINES[:20]
    assert texts(repo) == said([*left, *NEW])
    done(repo, "run", "--mode", "reconciliation", now="2026-03-06T04:00:00Z")
    assert branches(repo) == ["main"], "a reconciliation does not ask again"
    assert memrepo(repo, "accept", "removals").exit == 2


def page(repo: Path) -> set[str]:
    lines = (repo / "MEMORY.md").read_text("utf-8").splitlines()
    return {line[2:].partition(" ←")[0] for line in lines if line.startswith("- ")}


def test_what_is_kept_is_on_the_first_page_again_at_once(repo: Path) -> None:
    before = page(repo)
    write(repo, LINES[:20])
    night(repo, 2)
    left = before & said(LINES[20:])
    assert left
    assert not left & page(repo)
    done(repo, "discard", "removals", now="2026-03-02T09:00:00Z")
    assert left <= page(repo)


def test_a_line_that_returns_takes_its_mark_away(repo: Path) -> None:
    write(repo, LINES[:20])
    night(repo, 2)
    write(repo, LINES)
    night(repo, 3)
    assert texts(repo, "retire_candidate") == set()
    assert texts(repo) == said(LINES)


def test_reverting_the_night_takes_its_marks_along(repo: Path) -> None:
    before = git(repo, "rev-parse", "HEAD:memories")
    write(repo, [*LINES[:20], *NEW])
    run = night(repo, 2)[1]["run"]
    done(repo, "revert", run, now="2026-03-02T09:00:00Z")
    assert git(repo, "rev-parse", "HEAD:memories") == before


@pytest.mark.parametrize(("limit", "marked"), [(30, 25), (50, 0)])
def test_the_configured_limit_decides_what_is_marked(
    tmp_path: Path, limit: int, marked: int
) -> None:
    """No source loses enough to be named alone: all of them together are above the limit."""
    piers = range(0, 60, 12)
    rows = [f"- Pier {n} is lit by lamp {n * 7 + 100} of the harbour." for n in range(60)]
    repo = tmp_path / "repo"
    for n in piers:
        write(repo, rows[n : n + 12], f"pier-{n}.md")
    begin(tmp_path, tmp_path / "workspace")
    configure(repo, "run.max_change_pct", limit)
    for n in piers:
        write(repo, rows[n : n + 7], f"pier-{n}.md")
    code, data = night(repo, 2)
    assert (code, len(data["marked"])) == (0, marked)
    assert len(texts(repo)) == 35 + marked
