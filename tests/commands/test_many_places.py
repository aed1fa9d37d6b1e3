"""A line that stands in many files is one memory with some of its places, and tells of them all."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from driving import begin, done, git, memories, memrepo

from memrepo.actions.run import known
from memrepo.actions.work import Call
from memrepo.core import memory as places
from memrepo.core.memory import MAX_LISTED, Memory
from memrepo.faces.mcp.tools import DEFAULT, answer

LINE = "The barn door is painted green."


def night(day: int) -> str:
    return f"2026-03-{day:02}T09:00:00Z"


def page(base: Path, number: int) -> Path:
    return base / "workspace" / "memory" / f"part-{number:03}.md"


def write(base: Path, numbers: Iterable[int], line: str = LINE) -> None:
    """Let the line stand in some files; an empty one leaves them without."""
    for number in numbers:
        path = page(base, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Part {number}\n" + (f"\n- {line}\n" if line else ""))


def told(repo: Path) -> Memory:
    (found,) = (m for m in memories(repo).values() if "barn door" in m.body)
    return found


def count(memory: Memory) -> int | None:
    found: int | None = memory.fields.get("source_count")
    return found


def standing_places(repo: Path, memory: Memory) -> list[str]:
    """Return the listed files that still hold the line."""
    return [f for f in memory.files if LINE in (repo / f).read_text()]


def commits(repo: Path) -> int:
    return int(git(repo, "rev-list", "--count", "HEAD"))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of 120 files with the line, after its first night."""
    write(tmp_path, range(120))
    return begin(tmp_path, tmp_path / "workspace")


@pytest.mark.parametrize(
    ("files", "listed", "counted"), [(49, 49, None), (50, 50, None), (51, 50, 51)]
)
def test_more_places_than_fifty_are_counted(
    tmp_path: Path, files: int, listed: int, counted: int | None
) -> None:
    write(tmp_path, range(files))
    memory = told(begin(tmp_path, tmp_path / "workspace"))
    assert (len(memory.sources), count(memory)) == (listed, counted)
    assert memory.first == ("sources/memory/part-000.md", 3)


def test_a_night_with_more_places_raises_the_count_in_one_change(repo: Path) -> None:
    base, before = repo.parent, told(repo)
    assert (len(before.sources), count(before)) == (MAX_LISTED, 120)
    write(base, range(120, 200))
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (len(after.sources), count(after)) == (MAX_LISTED, 200)
    assert (after.id, after.first) == (before.id, before.first)
    assert after.captured == max("2026-03-02", before.captured)
    assert (repo / after.path).stat().st_size < 20_000
    head = commits(repo)
    assert done(repo, "run", now=night(3))["status"] == "skipped"
    assert (commits(repo), told(repo)) == (head, after)


def test_a_reconciliation_counts_nothing_twice(repo: Path) -> None:
    before = told(repo)
    done(repo, "run", "--mode", "reconciliation", now=night(2))
    assert told(repo) == before


def test_a_line_under_another_heading_of_its_file_is_no_new_place(repo: Path) -> None:
    unlisted = next(
        n for n in range(120) if f"sources/memory/part-{n:03}.md" not in told(repo).files
    )
    page(repo.parent, unlisted).write_text(f"# Another part\n\n## Doors\n\n- {LINE}\n")
    done(repo, "run", now=night(2))
    assert count(told(repo)) == 120


def test_half_of_the_listed_places_gone_changes_nothing(repo: Path) -> None:
    before = told(repo)
    write(repo.parent, range(25), line="")
    done(repo, "run", now=night(2))
    assert told(repo) == before
    assert len(standing_places(repo, before)) < MAX_LISTED


def test_a_memory_whose_listed_places_are_gone_lists_others(repo: Path) -> None:
    before = told(repo)
    gone = [int(f[-6:-3]) for f in before.files]
    write(repo.parent, gone, line="")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.id, after.status, after.standing) == (before.id, "active", "resolved")
    assert (after.captured, count(after)) == (before.captured, 120)
    assert len(after.sources) == MAX_LISTED
    assert len(standing_places(repo, after)) > MAX_LISTED - 10
    assert after.first[0] in standing_places(repo, after)
    assert done(repo, "run", now=night(3))["status"] == "skipped"
    assert done(repo, "check")["problems"] == []


def test_a_memory_whose_last_place_is_gone_is_retired(repo: Path) -> None:
    listed = {int(f[-6:-3]) for f in told(repo).files}
    write(repo.parent, range(120), line="")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.status, after.standing) == ("archived", "retire_candidate")
    assert listed


@pytest.mark.parametrize("last", [0, 60, 119])
def test_the_last_of_all_places_may_go_at_any_time(repo: Path, last: int) -> None:
    write(repo.parent, (n for n in range(120) if n != last), line="")
    done(repo, "run", now=night(2))
    assert told(repo).status == "active"
    write(repo.parent, [last], line="")
    done(repo, "run", now=night(3))
    assert told(repo).standing == "retire_candidate"
    write(repo.parent, [last])
    done(repo, "run", now=night(4))
    assert (told(repo).status, told(repo).standing) == ("active", "resolved")


def test_a_line_that_leaves_its_listed_places_and_comes_to_another_is_listed_there(
    repo: Path,
) -> None:
    write(repo.parent, range(120), line="")
    write(repo.parent, [500])
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.status, count(after)) == ("active", 121)
    assert standing_places(repo, after) == ["sources/memory/part-500.md"]
    write(repo.parent, [500], line="")
    done(repo, "run", now=night(3))
    assert told(repo).standing == "retire_candidate"


def test_a_line_edited_in_all_its_places_is_reworded(repo: Path) -> None:
    before = told(repo)
    write(repo.parent, range(120), line="The barn door is painted green and white.")
    done(repo, "run", now=night(2))
    after = told(repo)
    assert (after.id, after.body) == (before.id, "The barn door is painted green and white.")
    assert (len(after.sources), count(after)) == (MAX_LISTED, 120)


def test_a_line_edited_in_its_listed_places_alone_still_stands(repo: Path) -> None:
    before = told(repo)
    gone = [int(f[-6:-3]) for f in before.files]
    write(repo.parent, gone, line="The barn door is painted green and white.")
    done(repo, "run", now=night(2))
    after = memories(repo)[before.id]
    assert (after.body, after.status) == (before.body, "active")
    assert standing_places(repo, after)


def test_a_reword_in_few_places_drops_the_count(repo: Path) -> None:
    before = told(repo)
    write(repo.parent, range(1, 120), line="")
    write(repo.parent, [0], line="The barn door is painted green and white.")
    done(repo, "run", now=night(2))
    after = memories(repo)[before.id]
    assert (after.body, count(after)) == ("The barn door is painted green and white.", None)
    assert len(after.sources) == 1


def test_a_night_taken_back_takes_its_count_back(repo: Path) -> None:
    before = told(repo)
    write(repo.parent, range(120, 200))
    run = done(repo, "run", now=night(2))["run"]
    assert count(told(repo)) == 200
    done(repo, "revert", run, now=night(3))
    assert told(repo).fields == before.fields


def test_a_night_taken_back_keeps_what_came_after_it(repo: Path) -> None:
    id_ = told(repo).id
    write(repo.parent, range(120, 160))
    run = done(repo, "run", now=night(2))["run"]
    done(repo, "pin", id_, now=night(2))
    write(repo.parent, range(160, 200))
    done(repo, "run", now=night(3))
    done(repo, "revert", run, now=night(4))
    after = told(repo)
    assert (after.id, after.status, after.flag("pinned")) == (id_, "active", True)
    assert count(after) == 200
    assert done(repo, "check")["problems"] == []
    write(repo.parent, range(200), line="")
    done(repo, "run", "--force", now=night(5))
    assert told(repo).standing == "retire_candidate"


def test_a_memory_that_lists_more_lists_fewer_when_it_is_met_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, range(120))
    with monkeypatch.context() as before:
        for module in (places, known):
            before.setattr(module, "MAX_LISTED", 10_000)
        repo = begin(tmp_path, tmp_path / "workspace")
    memory = told(repo)
    assert (len(memory.sources), count(memory)) == (120, None)
    write(tmp_path, range(20), line="")
    done(repo, "run", now=night(2))
    assert told(repo) == memory
    write(tmp_path, [120])
    done(repo, "run", now=night(3))
    after = told(repo)
    assert (len(after.sources), count(after), after.first) == (MAX_LISTED, 121, memory.first)


def test_what_is_left_out_of_a_waiting_run_is_taken_in_again_from_all_its_places(
    tmp_path: Path,
) -> None:
    own = tmp_path / "workspace" / "MEMORY.md"
    own.parent.mkdir()
    lines = [f"- The server number {n} keeps the archive of year {1990 + n}." for n in range(20)]
    own.write_text("\n".join(["# Servers", "", *lines, ""]))
    repo = begin(tmp_path, tmp_path / "workspace")
    write(tmp_path, range(120))
    own.write_text("\n".join(["# Servers", "", *lines[:8], ""]))
    assert memrepo(repo, "run", "--mode", "reconciliation", now=night(2)).exit == 3
    (added,) = (c for c in done(repo, "diff")["changes"] if c["op"] == "added")
    taken = done(repo, "accept", "--except", added["id"], now=night(2))
    assert added["id"] in taken["offered"]
    again = memrepo(repo, "run", now=night(3))
    assert (again.exit, again.data["counts"]["units"]) == (3, 120)
    done(repo, "accept", now=night(3))
    assert (len(told(repo).sources), count(told(repo))) == (MAX_LISTED, 120)


def test_every_face_tells_how_many_places_there_are(repo: Path) -> None:
    memory = told(repo)
    for command in ("why", "show"):
        text = memrepo(repo, command, memory.id, as_json=False).out
        assert "and 110 more places (--json lists 50)" in text
    assert done(repo, "why", memory.id)["source_count"] == 120
    assert done(repo, "show", memory.id)["memory"]["source_count"] == "120"
    (hit,) = done(repo, "search", "barn", "door")["hits"]
    assert (len(hit["sources"]), hit["source_count"]) == (MAX_LISTED, 120)
    assert "and 117 more places" in memrepo(repo, "search", "barn", "door", as_json=False).out


@pytest.mark.parametrize(
    ("form", "told_so"), [("jsonl", '"source_count": 120'), ("okf", "source_count: 120")]
)
def test_an_export_tells_how_many_places_there_are(repo: Path, form: str, told_so: str) -> None:
    target = repo.parent / "out"
    done(repo, "export", form, target)
    texts = [path.read_text() for path in target.rglob("*") if path.is_file()]
    assert any(told_so in text for text in texts)


def test_the_tools_of_an_agent_tell_how_many_places_there_are(repo: Path) -> None:
    call = Call(where=repo, now=datetime(2026, 3, 2, tzinfo=UTC))
    tools = {tool.name: tool for tool in DEFAULT}
    found = answer(call, tools["memory_search"], {"query": "barn door"}, "test")
    opened = answer(call, tools["memory_get"], {"id": told(repo).id}, "test")
    assert "'source_count': 120" in str(found.data)
    assert "'source_count': 120" in str(opened.data)
    assert "and 115 more places" in opened.text
