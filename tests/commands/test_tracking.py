"""hygiene.json and refcount.json: in the shapes of their tools, and there and back."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from driving import NOW, done, git, memories, memrepo, standing

from memrepo.core.access import Accesses
from memrepo.core.memory import Memory
from memrepo.core.times import format_time, parse_time
from memrepo.views.hygiene import HYGIENE, SIZE, Logged, hygiene_files


def after(**span: int) -> str:
    return format_time(parse_time(NOW) + timedelta(**span))


def filled(base: Path, name: str) -> Path:
    """Return a repository with two facts and a note, as any clone would make them."""
    done(base, "init", name)
    repo = base / name
    for text in ("The shed is red.", "The pump is new.", "The gate is oak."):
        done(repo, "add", text)
    done(repo, "add", "Vera came by and took the spare key.", "--type", "note", "--title", "Key")
    return repo


def ids(repo: Path) -> dict[str, str]:
    return {m.body.split()[1]: m.id for m in memories(repo).values()}


def exported(repo: Path, to: Path, kind: str, now: str) -> dict[str, Any]:
    done(repo, "export", kind, to, "--force", now=now)
    return json.loads((to / f"{kind}.json").read_text())


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """Return a repository in which something was used, hot, demoted and archived."""
    repo = filled(tmp_path, "lived")
    of = ids(repo)
    done(repo, "promote", of["shed"])
    done(repo, "pin", of["shed"])
    done(repo, "promote", of["gate"])
    for day, session in ((1, "a"), (2, "b")):
        done(repo, "session", "start", "--id", session, now=after(days=day))
        done(repo, "show", of["shed"], now=after(days=day, hours=1))
        done(repo, "show", of["came"], now=after(days=day, hours=2))
        done(repo, "show", of["came"], now=after(days=day, hours=3))
    done(repo, "demote", of["gate"], now=after(days=3))
    done(repo, "show", of["gate"], now=after(days=4))
    done(repo, "archive", of["pump"], "--reason", "sold", now=after(days=5))
    return repo


@pytest.mark.parametrize("kind", ["hygiene", "refcount"])
def test_what_was_exported_comes_back_elsewhere_and_changes_nothing_at_home(
    lived: Path, tmp_path: Path, kind: str
) -> None:
    now = after(days=6)
    out = exported(lived, tmp_path / "out", kind, now)
    before = standing(lived)
    home = done(lived, "import", kind, tmp_path / "out", now=now)
    assert (home["retrievals"], home["steps"]) == (0, [])
    assert standing(lived) == before
    other = filled(tmp_path, "other")
    done(other, "import", kind, tmp_path / "out" / f"{kind}.json", now=now)
    back = exported(other, tmp_path / "back", kind, now)
    if kind == "hygiene":
        for tracker in (out, back):
            for entry in tracker["L1accessLog"].values():
                del entry["sessionsSinceAccess"]  # begins anew, as in the lineage's recovery
            # What was promoted and then demoted has one row of each here, one there.
            del tracker["promotionLog"]
            for entry in (*tracker["demotionLog"], *tracker["archiveQueue"]):
                entry["reason"] = ""
    assert back == out
    again = standing(other)
    assert done(other, "import", kind, tmp_path / "out", now=now)["steps"] == []
    assert standing(other) == again


def test_names_without_the_digits_of_an_id_are_known_and_strangers_are_told(
    tmp_path: Path,
) -> None:
    repo = filled(tmp_path, "repo")
    (tmp_path / "hygiene.json").write_text(
        json.dumps(
            {
                "L1accessLog": {
                    "knowledge:the-shed-is-red": {"pinned": True},
                    "knowledge:nobody": {},
                    "x": 3,
                },
                "accessLog": {
                    "memory/knowledge.md:the-gate-is-oak": {
                        "sessions": ["s1", "s2"],
                        "lastAccess": "2026-02-01",
                    }
                },
                "archiveQueue": [
                    {
                        "entry": "memory/knowledge.md:the-pump-is-new",
                        "archivedAt": "2026-02-20",
                        "reason": "sold",
                    },
                    7,
                ],
            }
        )
    )
    dry = done(repo, "import", "hygiene", tmp_path, "--dry-run")
    assert dry["commit"] == ""
    found = done(repo, "import", "hygiene", tmp_path)
    assert found["steps"] == dry["steps"]
    assert found["retrievals"] == 2
    assert [p["key"] for p in found["problems"]] == ["knowledge:nobody", ""]
    by = {m.body.split()[1]: m for m in memories(repo).values()}
    assert by["shed"].flag("pinned")
    assert by["pump"].status == "archived"
    assert by["pump"].time("archived_at") == parse_time("2026-02-20T00:00:00Z")
    assert "The shed is red." in (repo / "MEMORY.md").read_text()
    assert git(repo, "status", "--porcelain") == ""


def test_a_total_without_times_counts_and_a_mark_is_kept(tmp_path: Path) -> None:
    repo = filled(tmp_path, "repo")
    (tmp_path / "refcount.json").write_text(
        json.dumps(
            {
                "warm/key.md": {
                    "total": 9,
                    "timestamps": [1771000000],
                    "user_marked": True,
                    "created": 1770000000,
                },
            }
        )
    )
    assert done(repo, "import", "refcount", tmp_path)["retrievals"] == 9
    assert done(repo, "import", "refcount", tmp_path)["retrievals"] == 0
    (one,) = done(repo, "nominate")["candidates"]
    assert one["why"] == ["9 retrievals in all", "marked by the user"]


@pytest.mark.parametrize("data", ["[]", "{", "null", '{"L1accessLog": 3, "archiveQueue": 4}'])
def test_a_damaged_tracker_is_told_and_changes_nothing(tmp_path: Path, data: str) -> None:
    repo = filled(tmp_path, "repo")
    (tmp_path / "hygiene.json").write_text(data)
    before = standing(repo)
    answer = memrepo(repo, "import", "hygiene", tmp_path)
    assert answer.exit == 0
    assert standing(repo) == before
    assert memrepo(repo, "import", "refcount", tmp_path).exit == 2


def test_old_log_entries_go_to_the_file_of_their_month_and_the_tracker_stays_small() -> None:
    now = parse_time(NOW)
    memory = Memory(
        path="memories/knowledge/2026-01/shed-123456.md",
        body="The shed.",
        fields={"id": "mem-1234560000000000", "type": "fact"},
    )
    logged = [
        Logged(op=op, memory=memory.id, when=now - timedelta(days=day), reason="r" * 40)
        for day in (0, *range(1, 400))
        for op in ("promote", "demote")
    ]
    files = hygiene_files({memory.id: memory}, Accesses(), logged, now)
    tracker = json.loads(files.pop(HYGIENE))
    rows = tracker["promotionLog"] + tracker["demotionLog"]
    assert len(json.dumps(tracker, indent=1)) <= SIZE
    assert min(r["at"] for r in rows) >= (now - timedelta(days=180)).date().isoformat()
    months = {name: json.loads(data) for name, data in files.items()}
    assert "hygiene-log-2025-03.json" in months
    for name, found in months.items():
        moved = found["promotionLog"] + found["demotionLog"]
        assert {f"hygiene-log-{r['at'][:7]}.json" for r in moved} == {name}
        rows += moved
    assert len(rows) == len(logged)
