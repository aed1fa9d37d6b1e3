"""Other programs' memory taken in by `memrepo import FORMAT`: what comes, and what stays out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import foreign_memory
import pytest
import workspaces
from driving import LATER, assert_sound, done, git, memories, memrepo, standing, subjects

from memrepo.core.errors import Problem
from memrepo.core.memory import Memory
from memrepo.formats.readers import Files, Format, ImportRecord

FORMATS = sorted(foreign_memory.FOLDERS)


def folder(tmp_path: Path, format_: str) -> Path:
    """Write a format's files; return their folder."""
    return workspaces.write(tmp_path / format_, foreign_memory.FOLDERS[format_])


def taken(repo: Path, tmp_path: Path, format_: str) -> dict[str, Memory]:
    """Import a format's files; return the memories by title, else by text."""
    done(repo, "import", format_, folder(tmp_path, format_))
    return {m.title or m.body: m for m in memories(repo).values()}


def rules(answer: dict[str, Any]) -> list[tuple[str, str, int, str]]:
    """Return what was found wrong: rule, file, line and key."""
    return [(p["rule"], p["path"], p["line"], p["key"]) for p in answer["problems"]]


@pytest.mark.parametrize("format_", FORMATS)
def test_an_import_is_one_commit_and_the_next_changes_nothing(
    repo: Path, tmp_path: Path, format_: str
) -> None:
    where = folder(tmp_path, format_)
    before = standing(repo)
    wanted = done(repo, "import", format_, where, "--dry-run")
    assert standing(repo) == before
    answer = done(repo, "import", format_, where, "--reason", "moving house")
    count = answer["imported"]
    assert answer["counts"] == wanted["counts"]
    assert count == len(memories(repo)) > 1
    assert subjects(repo)[0] == f"Import {count} memories from {format_}"
    assert "moving house" in git(repo, "log", "-1", "--format=%b")
    assert_sound(repo)
    assert memrepo(repo, "check", "--all").exit == 0
    bad = [c for c in done(repo, "doctor")["checks"] if not c["ok"]]
    assert bad == []
    still = standing(repo)
    again = done(repo, "import", format_, where, now=LATER)
    assert (again["commit"], again["imported"]) == ("", 0)
    assert again["counts"]["memories_known"] == count
    assert standing(repo) == still


@pytest.mark.parametrize("format_", sorted(set(FORMATS) - {"artifacts"}))
def test_every_memory_says_where_it_came_from(repo: Path, tmp_path: Path, format_: str) -> None:
    files = foreign_memory.FOLDERS[format_]
    taken(repo, tmp_path, format_)
    for memory in memories(repo).values():
        source = memory.sources[0]
        name, _, key = (
            source.resource.removeprefix(f"{format_}://").removeprefix(f"{format_}/").partition("#")
        )
        assert name in files
        assert memory.origin == "import"
        told = memrepo(repo, "why", memory.id, as_json=False).out
        assert source.resource in told
        assert "no longer" not in told
        assert "judged" not in told
        if format_ in ("chatgpt", "claude", "claude-mem"):
            assert key  # the id there: these have no lines
            continue
        first, last = source.lines
        quoted = "\n".join(files[name].decode().split("\n")[first - 1 : last])
        shown = memory.body.split("\n")[0][:20]
        if format_ == "mcp-memory":
            shown = shown.partition(" ")[0]
        assert shown in quoted


@pytest.mark.parametrize("format_", FORMATS)
def test_what_a_person_rejected_stays_out(repo: Path, tmp_path: Path, format_: str) -> None:
    where = folder(tmp_path, format_)
    done(repo, "import", format_, where)
    rejected = min(memories(repo).values(), key=lambda m: m.path)
    done(repo, "reject", rejected.id, "--reason", "wrong")
    still = standing(repo)
    again = done(repo, "import", format_, where, now=LATER)
    assert (again["commit"], standing(repo)) == ("", still)
    assert memories(repo)[rejected.id].status == "forgotten"


SECRET = "ghp_" + "a1B2" * 10


@pytest.mark.parametrize(
    ("note", "line"),
    [
        (f"The token is {SECRET}.\n", 1),
        (f"---\nhost: mill\n---\n\n# Keys\n\n%% who\nknows %%\n\nThe token is {SECRET}.\n", 10),
        (f"---\nhost: mill\ntoken: {SECRET}\n---\n# Keys\n\nFor the mill.\n", 3),
    ],
)
def test_a_secret_is_replaced_and_named(repo: Path, tmp_path: Path, note: str, line: int) -> None:
    secret = SECRET
    vault = workspaces.write(tmp_path / "v", {"Keys.md": note.encode()})
    answer = done(repo, "import", "obsidian", vault)
    assert ("import-secret", "Keys.md", line, "") in rules(answer)
    (memory,) = memories(repo).values()
    assert "[redacted:github-pat]" in memory.body
    assert secret not in git(repo, "log", "-p", "--all")
    assert done(repo, "import", "obsidian", vault, now=LATER)["commit"] == ""


def test_the_templates_of_a_vault_are_left_out_and_named(repo: Path, tmp_path: Path) -> None:
    note = b"- The lamp always hangs in the hall.\n"
    names = ("People/Ada.md", "Forms/Person.md", "Templates/Day.md")
    settings = {".obsidian/templates.json": b'{"folder": "Forms"}'}
    vault = workspaces.write(tmp_path / "v", {**dict.fromkeys(names, note), **settings})
    answer = done(repo, "import", "obsidian", vault)
    assert [path for _, path, *_ in rules(answer)] == ["Templates/", "Forms/"]
    assert answer["imported"] == 1
    told = memrepo(tmp_path, "init", "read", "--from", vault, as_json=False).out
    assert "  Forms/ " in told
    assert "  Templates/ " in told
    assert not (tmp_path / "read" / "sources" / "Forms").exists()


def test_a_path_with_nothing_of_the_format_is_a_usage_error(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path, said in (("empty", "found no file"), ("missing", "no such file or folder")):
        answer = memrepo(repo, "import", "mcp-memory", tmp_path / path)
        assert (answer.exit, said in answer.error["message"]) == (2, True)
    assert memrepo(repo, "import", "carrier-pigeon", tmp_path).exit == 2


def test_a_memory_folder_of_claude_code(repo: Path, tmp_path: Path) -> None:
    answer = done(repo, "import", "claude-code", folder(tmp_path, "claude-code"))
    assert [r[:2] for r in rules(answer)] == [("import-header", "broken.md")]
    found = {m.title or m.body: m for m in memories(repo).values()}
    tests, freeze = found["real-database-in-tests"], found["release-freeze"]
    assert (tests.type, freeze.type) == ("preference", "fact")
    assert "mocks hid a broken migration" in tests.description
    assert [(k.type, k.target) for k in tests.fields["links"]] == [("references", freeze.id)]
    assert freeze.captured == "2026-03-01"
    assert found["The staging host is rebooted every Sunday night."].subject == ("Memory index")
    assert found["Set `TRACE=1` before the worker starts, never after."].subject == ("Debugging")


def test_an_index_line_is_no_memory_even_if_its_file_is_gone(repo: Path, tmp_path: Path) -> None:
    lines = (
        "# Memory Index",
        "",
        "- [Mara](mara.md) - her role",
        "- [The old desk](gone.md) - where it stood",
        "- The port is 8080, as [the handbook](../docs/handbook.md) says.",
        "- [Grafana](https://grafana.example/x.md) runs on the NAS of Uwe.",
        "- [Runbook](../docs/runbook.md) is the page for restarts of hermes.",
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "MEMORY.md").write_text("\n".join(lines) + "\n")
    (tmp_path / "mine" / "mara.md").write_text("---\nname: Mara\n---\n\nMara sails.\n")
    answer = done(repo, "import", "claude-code", tmp_path / "mine")
    (named,) = answer["problems"]
    assert (named["rule"], named["line"], named["severity"]) == ("import-record", 4, "warning")
    assert lines[3].removeprefix("- ") in named["message"]
    bodies = {m.body for m in memories(repo).values()}
    assert bodies == {"Mara sails.", *(line.removeprefix("- ") for line in lines[4:])}


def test_a_vault(repo: Path, tmp_path: Path) -> None:
    found = taken(repo, tmp_path, "obsidian")
    house, plot = found["Greenhouse"], found["Plot map"]
    assert house.tags == ("building", "glass/double")
    assert house.aliases == ("Glasshouse",)
    assert house.captured == "2026-01-20"
    assert [k.target for k in house.fields["links"]] == [plot.id]
    assert [k.target for k in plot.fields["links"]] == [house.id]
    assert found["2026-02-03"].type == "note"
    assert len(found) == 3


@pytest.mark.parametrize("inside", [False, True])
def test_memory_fs(repo: Path, tmp_path: Path, inside: bool) -> None:
    where = folder(tmp_path, "memory-fs")
    done(repo, "import", "memory-fs", where / "memory_fs" if inside else where)
    found = {m.title: m for m in memories(repo).values()}
    assert {m.type for m in found.values()} == {"note"}
    gate = found["my-checkpoint"]
    assert gate.body == "We agreed to repaint the gate in May, in green."
    gist = gate.fields["gist"]
    assert (gate.tier, gist.title, gist.tags, gist.summary) == (
        "gist",
        "The gate",
        ("gate", "paint"),
        "Repaint in May.",
    )
    assert found["2026-02-28-pump"].captured == "2026-02-28"
    assert found["old-talk"].tier == "forgotten"
    assert gate.user_marked is gate.promoted is not inside


Change = Callable[[dict[str, Any]], None]


@pytest.mark.parametrize(
    ("change", "rule", "key"),
    [
        (lambda r: r.update(id="x"), "import-record", "id"),
        (lambda r: r.pop("type"), "import-record", "type"),
        (lambda r: r.pop("text"), "import-record", "text"),
        (lambda r: r.update(confidence=7), "import-field", "confidence"),
        (lambda r: r.update(mood="good"), "import-field", "mood"),
    ],
)
def test_a_bad_line_is_named_with_its_key(
    repo: Path, tmp_path: Path, change: Change, rule: str, key: str
) -> None:
    good = {"id": f"mem-{'1' * 16}", "type": "fact", "text": "The well is dry in August."}
    bad: dict[str, Any] = {"id": f"mem-{'2' * 16}", "type": "fact", "text": "The barn leaks."}
    change(bad)
    path = tmp_path / "memories.jsonl"
    path.write_text(f"{json.dumps(bad)}\n{{nonsense\n{json.dumps(good)}\n")
    answer = done(repo, "import", "jsonl", path)
    found = rules(answer)
    assert (rule, "memories.jsonl", 1, key) in found
    assert ("import-line", "memories.jsonl", 2, "") in found
    assert good["id"] in memories(repo)
    assert len(memories(repo)) == (1 if rule == "import-record" else 2)


def test_what_an_import_brought_and_a_person_took_out_does_not_come_back(
    repo: Path, tmp_path: Path
) -> None:
    where = folder(tmp_path, "obsidian")
    done(repo, "import", "obsidian", where)
    gone = next(m for m in memories(repo).values() if m.title == "Plot map")
    git(repo, "rm", "-q", gone.path)
    git(repo, "commit", "-qm", "by hand", "--no-verify")
    answer = done(repo, "import", "obsidian", where, now=LATER)
    assert (answer["commit"], answer["counts"]["left_before"]) == ("", 1)
    assert gone.id not in memories(repo)


def test_a_file_that_a_reader_cannot_read_is_left_out_and_named() -> None:
    def read(files: Files) -> Iterator[ImportRecord]:
        for path, data in files.items():
            yield ImportRecord(path=path, text=str(int(data)))

    found = Format("numbers", ".*", read).read({"a": b"1", "b": b"x", "c": b"3"})
    assert {r.path: r.text for r in found if isinstance(r, ImportRecord)} == {"a": "1", "c": "3"}
    assert [(p.path, p.rule) for p in found if isinstance(p, Problem)] == [("b", "import-record")]
