"""`memrepo threads` and `memrepo thread`: conversations from daily logs."""

from __future__ import annotations

from pathlib import Path

from driving import begin, done, memrepo

LOG = """# 2026-02-01

## 09:00 Orders

Session key: agent:main:tg
Mara ordered seeds.

## 09:20 More orders

Jonas ordered pots.

## 14:00 Greenhouse

The fan was loud.
"""


def test_a_log_becomes_conversations_that_are_read_in_order(tmp_path: Path) -> None:
    logs = tmp_path / "agent" / "memory"
    logs.mkdir(parents=True)
    (logs / "2026-02-01.md").write_text(LOG, encoding="utf-8")
    repo = begin(tmp_path, tmp_path / "agent")
    late, early = done(repo, "threads")["threads"]
    assert (early["key"], len(early["members"]), len(late["members"])) == ("agent:main:tg", 2, 1)
    assert (early["begin"], early["end"]) == ("2026-02-01T01:00:00Z", "2026-02-01T01:20:00Z")

    read = done(repo, "thread", early["id"])
    assert [m["title"] for m in read["memories"]] == ["09:00 Orders", "09:20 More orders"]
    assert done(repo, "thread", early["members"][1])["id"] == early["id"]
    assert done(repo, "show", early["members"][1])["threads"] == [early["id"]]
    said = memrepo(repo, "thread", early["id"], as_json=False).out
    assert said.index("Mara ordered seeds.") < said.index("Jonas ordered pots.")
    assert "2026-02-01 09:00 to 09:20" in said

    narrow = repo / "memrepo.toml"
    narrow.write_text(f'{narrow.read_text("utf-8")}\n[threads]\ngap = "10min"\n', encoding="utf-8")
    assert len(done(repo, "threads")["threads"]) == 3


def test_a_thread_that_is_none_is_named_as_such(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo)
    fact = done(repo, "add", "Kestrel overheats.")["id"]
    assert "no thread is called" in memrepo(repo, "thread", fact).error["message"]
    assert memrepo(repo, "thread", "nothing").exit == 2
    assert done(repo, "threads")["threads"] == []
