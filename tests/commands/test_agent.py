"""Memory in an agent's program: its settings merged and given back, its hooks answered in time."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from driving import LATER, NEXT_DAY, NOW, done, git, memories, memrepo, subjects
from envelopes import INJECTION, MARK, assert_inside, outside
from hostile_files import SECRETS

from memrepo.actions import agent as hosts
from memrepo.config import parse_config, with_value
from memrepo.core.errors import MemrepoError
from memrepo.faces import hook as hooking
from memrepo.store import settings
from memrepo.store.repo import open_repository

SETTINGS = """\
{
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    },
    "env": {"A": "1"}
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(SETTINGS, encoding="utf-8")
    (folder / ".claude" / "CLAUDE.md").write_text("# Mine", encoding="utf-8")
    return folder


def install(repo: Path, host: str, into: Path, what: str = "install") -> dict[str, Any]:
    return done(repo, "agent", what, host, "--into", into)


def everything(folder: Path) -> dict[str, object]:
    """Return what all files hold: of JSON the values in their order, of others the bytes."""
    return {
        str(p): str(json.loads(p.read_bytes())) if p.suffix == ".json" else p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def hook(
    repo: Path, monkeypatch: pytest.MonkeyPatch, event: str, now: str = NOW, **more: Any
) -> dict[str, Any]:
    said = {"hook_event_name": event, "session_id": "s1", "cwd": "/", **more}
    answer = raw(repo, monkeypatch, "claude-code", json.dumps(said), now=now)
    return json.loads(answer) if answer else {}


def raw(repo: Path, monkeypatch: pytest.MonkeyPatch, host: str, given: str, now: str = NOW) -> str:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin.read", lambda: given, raising=False)
        answer = memrepo(repo, "agent", "hook", host, as_json=False, now=now)
    assert (answer.exit, answer.err) == (0, "")
    return answer.out.strip()


# Installing


@pytest.mark.parametrize("host", hosts.INSTALLED)
def test_what_was_installed_goes_without_a_trace(repo: Path, project: Path, host: str) -> None:
    before = everything(project)
    first = install(repo, host, project)
    assert {row["does"] for row in first["files"]} <= {"made", "edited"}
    there = everything(project)
    assert there != before
    again = install(repo, host, project)
    assert {row["does"] for row in again["files"]} == {"unchanged"}
    assert everything(project) == there
    install(repo, host, project, "uninstall")
    assert everything(project) == before
    install(repo, host, project, "uninstall")
    assert everything(project) == before
    assert git(repo, "status", "--porcelain") == ""


def test_what_is_removed_is_known_without_the_repository(repo: Path, project: Path) -> None:
    before = everything(project)
    install(repo, "claude-code", project)
    git(project, "init", "-q")
    there = ("claude-code", "--into", project)
    assert memrepo(project, "agent", "install", *there).exit != 0
    done(project, "agent", "uninstall", *there)
    shutil.rmtree(project / ".git")
    assert everything(project) == before


def test_a_project_s_rules_and_notes_are_of_its_scope_whatever_its_folder_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders of one name, and a memory that reads the first of them."""
    monkeypatch.setenv("HOME", str(tmp_path))
    shop, other = tmp_path / "x" / "shop", tmp_path / "y" / "shop"
    kept = tmp_path / ".claude/projects" / re.sub("[^A-Za-z0-9]", "-", str(shop)) / "memory"
    for folder in (shop, other, kept):
        folder.mkdir(parents=True)
    (shop / "CLAUDE.md").write_text("- Never deploy the shop on Fridays.\n", encoding="utf-8")
    (kept / "till.md").write_text("---\nname: till\n---\nThe till is a Pi.\n", encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", shop)
    repo = tmp_path / "repo"
    done(repo, "run")
    assert [install(repo, "claude-code", shop)["scope"] for _ in range(2)] == ["project:shop"] * 2
    own = install(repo, "claude-code", other)
    assert own["scope"] == "project:y-shop"
    assert "`--scope project:shop` joins it" in own["next"][-1]
    for _ in range(2):
        done(repo, "import", "claude-code", kept)
    done(repo, "import", "claude-code", kept, "--scope", "project:y-shop")
    with (shop / "CLAUDE.md").open("a", encoding="utf-8") as file:
        file.write("- The shop uses Postgres 16 in production.\n")
    done(repo, "run", now=LATER)
    scopes = sorted((m.body, m.scope) for m in memories(repo).values())
    assert scopes == [
        ("Never deploy the shop on Fridays.", "project:shop"),
        ("The shop uses Postgres 16 in production.", "project:shop"),
        ("The till is a Pi.", "project:shop"),
        ("The till is a Pi.", "project:y-shop"),
    ]
    (shop / "CLAUDE.md").write_text("", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setenv("MEMREPO_SCOPE", "project:y-shop")
        assert "Postgres" not in str(memrepo(repo, "search", "postgres", "production"))
    install(repo, "codex", shop)
    install(repo, "claude-code", shop, "uninstall")
    assert 'scope = "project:shop"' in (repo / "memrepo.toml").read_text()  # codex is still there
    install(repo, "codex", shop, "uninstall")
    assert "scope =" not in (repo / "memrepo.toml").read_text()
    shared = [m.body for m in memories(repo).values() if not m.scope]
    assert len(shared) == 2
    kept_scope = install(repo, "claude-code", other)["scope"]
    other.rename(tmp_path / "till")
    assert install(repo, "claude-code", tmp_path / "till")["scope"] == kept_scope


@pytest.mark.parametrize(
    ("header", "is_edited"),
    [("[sources] # read", True), ("[sources]\r", True), ('["sources"]', False)],
)
def test_the_scope_of_sources_is_written_where_the_file_has_its_section(
    header: str, is_edited: bool
) -> None:
    before = f"timezone = 'UTC'\n{header}\nclaims = ['a']\n"
    if not is_edited:
        with pytest.raises(MemrepoError, match=r"sources\.scope"):
            with_value(before, "sources", "scope", "project:a")
        return
    after = with_value(before, "sources", "scope", "project:a")
    assert parse_config(after).sources.scope == "project:a"
    assert with_value(after, "sources", "scope", "") == before


def test_hooks_stand_beside_those_of_others(repo: Path, project: Path) -> None:
    install(repo, "claude-code", project)
    path = project / ".claude" / "settings.json"
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    assert list(data) == ["model", "hooks", "env"]
    assert set(data["hooks"]) == set(hosts.CLAUDE_EVENTS)
    assert len(data["hooks"]["Stop"]) == 2
    (ours,) = data["hooks"]["UserPromptSubmit"][0]["hooks"]
    assert ours["timeout"] > hosts.DEADLINES["prompt"]


@pytest.mark.parametrize("host", hosts.INSTALLED)
def test_files_that_may_be_committed_name_no_path_of_one_machine(
    repo: Path, project: Path, tmp_path: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = install(repo, host, project)
    for row in answer["files"]:
        text = Path(row["path"]).read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert sys.prefix not in text


def test_one_program_s_parts_go_and_those_of_another_stay(repo: Path, project: Path) -> None:
    before = everything(project)
    install(repo, "codex", project)
    codex = everything(project)
    (project / ".claude/CLAUDE.md").write_bytes(codex[str(project / "AGENTS.md")])
    mixed = everything(project)
    install(repo, "claude-code", project)
    install(repo, "claude-code", project, "uninstall")
    assert everything(project) == mixed
    (project / ".claude/CLAUDE.md").write_bytes(before[str(project / ".claude/CLAUDE.md")])
    install(repo, "codex", project, "uninstall")
    assert everything(project) == before


def test_a_folder_is_relative_to_where_one_stands(
    repo: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.parent)
    assert install(repo, "codex", Path("project"))["files"][0]["path"].startswith(str(project))


def test_for_any_other_program_the_parts_are_printed(repo: Path) -> None:
    told = done(repo, "agent", "install", "generic", "--scope", "project:kiln")
    server = json.loads(told["paste"].partition("\n\n")[2].partition("\n\nits ")[0])
    (entry,) = server["mcpServers"].values()
    assert entry["args"] == ["-C", str(repo), "mcp", "--scope", "project:kiln"]
    assert told["files"] == []
    assert "MCP servers" in done(repo, "agent", "uninstall", "generic")["next"][0]


@pytest.mark.parametrize(
    ("host", "option"), [("openclaw", "--scope"), ("openclaw", "--into"), ("generic", "--into")]
)
def test_an_option_without_effect_for_a_program_is_refused(
    repo: Path, host: str, option: str
) -> None:
    answer = memrepo(repo, "agent", "install", host, option, "x")
    assert answer.exit == 2
    assert answer.error["fix"] == f"leave out {option}"


def test_for_openclaw_the_commands_that_install_its_plugin_are_printed(repo: Path) -> None:
    told = done(repo, "agent", "install", "openclaw")
    lines = [shlex.split(line) for line in told["paste"].splitlines()]
    assert {line[0] for line in lines} == {"openclaw"}
    plugin = Path(lines[0][-1])
    assert (plugin / "openclaw.plugin.json").is_file()
    known = json.loads((plugin / "openclaw.plugin.json").read_text())["configSchema"]["properties"]
    given = {line[3].rpartition(".")[2]: line[4] for line in lines if ".config." in line[3]}
    assert given.keys() == known.keys()
    assert given["repository"] == str(repo)
    assert any("judge" in line for line in told["next"])
    (step,) = done(repo, "agent", "uninstall", "openclaw")["next"]
    assert step == "run `openclaw plugins uninstall memrepo`"


@pytest.mark.parametrize("place", ["src/deep", ".claude/worktrees/w"])
def test_a_subfolder_or_a_worktree_of_a_project_has_its_memory(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    done(repo, "add", "Bea never wants calls before ten.", "--critical")
    install(repo, "claude-code", tmp_path / "shop")
    here = tmp_path / "shop" / place
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    args = json.loads((tmp_path / "shop/.mcp.json").read_text())["mcpServers"]["memrepo"]["args"]
    for start in (".", str(here)):
        named = Path(args[args.index("-C") + 1].replace("${CLAUDE_PROJECT_DIR:-.}", start))
        begun = hook(named, monkeypatch, "SessionStart", cwd=str(here))
        assert "Bea never wants calls" in begun["hookSpecificOutput"]["additionalContext"]


def test_rules_of_one_project_are_not_in_another(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = {"alpha": "Always use tabs in Alpha.", "beta": "Always use spaces in Beta."}
    for name, rule in rules.items():
        done(repo, "add", rule, "--type", "constraint", "--scope", f"project:{name}", "--critical")
        (tmp_path / name).mkdir()
        told = install(repo, "claude-code", tmp_path / name)
        assert told["scope"] == f"project:{name}"
        assert f"--scope project:{name}" in (tmp_path / name / ".mcp.json").read_text().replace(
            '",\n        "', " "
        ).replace('", "', " ")
    done(repo, "add", "Bea never wants calls before ten.", "--critical")
    counted = memrepo(repo, "status", as_json=False).out
    assert "first page 3 of 30 bullets, 2 of them only in sessions of their projects" in counted
    for where, seen in (("alpha", {"alpha"}), ("beta", {"beta"}), ("", set())):
        said = {"cwd": str(tmp_path / where)}
        begun = hook(repo, monkeypatch, "SessionStart", **said)["hookSpecificOutput"]
        asked = hook(
            repo, monkeypatch, "UserPromptSubmit", prompt="always use tabs or spaces", **said
        )
        page = begun["additionalContext"] + json.dumps(asked)
        assert {name for name, rule in rules.items() if rule in page} == seen
        assert "Bea never wants calls" in page
    line = "SessionStart"
    given = json.dumps({"hook_event_name": line, "cwd": str(tmp_path / "beta")})
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin.read", lambda: given, raising=False)
        answer = memrepo(repo, "agent", "hook", "claude-code", "--scope", "all", as_json=False)
    assert answer.out.strip() == ""  # the hook of all projects leaves it to the project's own
    beta = {"cwd": str(tmp_path / "beta")}
    hook(repo, monkeypatch, "UserPromptSubmit", prompt="Where is the kiln?", **beta)
    hook(repo, monkeypatch, "SessionEnd", **beta)
    (note,) = (m for m in memories(repo).values() if m.is_note)
    assert note.scope == "project:beta"


def test_what_a_bound_session_leaves_is_of_its_scope(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"ledger": "The ledger is closed on Fridays.", "sensor": "The sensors sleep at night."}
    there = {}
    for name, text in said.items():
        (tmp_path / name).mkdir()
        install(repo, "claude-code", tmp_path / name)
        own = tmp_path / "projects" / f"-code-{name}" / "memory"
        own.mkdir(parents=True)
        header = "---\nname: habit\ndescription: a habit\ntype: project\n---\n"
        (own / "habit.md").write_text(f"{header}\n{text}\n", encoding="utf-8")
        there[name] = {
            "session_id": name,
            "cwd": str(tmp_path / name),
            "transcript_path": str(own.parent / "s.jsonl"),
        }
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=f"Ask the {name} again", **there[name])
    hook(repo, monkeypatch, "SessionEnd", **there["ledger"])
    # The other session broke off: its note is written when any session begins, in its own scope.
    hook(repo, monkeypatch, "SessionStart", now="2026-03-04T09:00:00Z", **there["ledger"])
    hook(repo, monkeypatch, "SessionEnd", now="2026-03-04T09:00:00Z", **there["sensor"])
    found = {(m.body.split()[-1], m.scope) for m in memories(repo).values()}
    assert found == {
        ("Fridays.", "project:ledger"),
        ("night.", "project:sensor"),
        *(("again", f"project:{name}") for name in said),
    }
    for name, text in said.items():
        asked = hook(repo, monkeypatch, "UserPromptSubmit", prompt=text, **there[name])
        other = hook(
            repo, monkeypatch, "UserPromptSubmit", prompt=said["ledger"], **there["sensor"]
        )
        assert text in json.dumps(asked)
        assert said["ledger"] not in json.dumps(other)
    pages = [p.read_text() for p in repo.glob("views/scopes/project-sensor-*/*.md")]
    hook(repo, monkeypatch, "SessionEnd", **there["ledger"])  # it writes no page of the other
    assert [p.read_text() for p in repo.glob("views/scopes/project-sensor-*/*.md")] == pages != []


def test_install_says_whose_rules_a_second_project_sees_and_how_to_keep_them_apart(
    tmp_path: Path,
) -> None:
    for name in ("shop", "blog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "CLAUDE.md").write_text(f"# Rules\n\n- Always test the {name}.\n")
    done(tmp_path, "init", "mem", "--from", "shop")
    told = " ".join(install(tmp_path / "mem", "claude-code", tmp_path / "blog")["next"])
    assert f"read in {tmp_path / 'shop'} is seen here too" in told
    for name in ("shop", "blog"):
        told_again = str(install(tmp_path / "mem", "claude-code", tmp_path / name)["next"])
        assert "seen here too" not in told_again
    command = told.split("`memrepo init ")[1].split("`")[0]
    done(tmp_path, "init", *shlex.split(command))
    done(tmp_path / "blog-memory", "run")
    assert [m.body for m in memories(tmp_path / "blog-memory").values()] == [
        "Always test the blog."
    ]


def test_a_session_end_imports_no_repository(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is wrong if memrepo is in Claude Code's own folder. Another repository is named."""
    own = repo.rename(tmp_path / "memory")
    done(tmp_path, "init", "other/memory")
    before = len(memories(own))
    for folder, told in ((tmp_path, ""), (tmp_path / "other", "could not record all of this")):
        ends = {"transcript_path": str(folder / "s.jsonl")}
        message = hook(own, monkeypatch, "SessionEnd", **ends).get("systemMessage", "")
        assert told in message
        assert bool(message) == bool(told)
        assert len(memories(own)) == before


@pytest.mark.parametrize(
    ("left", "status", "standing"),
    [(2, "archived", "retire_candidate"), (1, "active", "retire_candidate")],
)
def test_a_file_that_left_claude_codes_folder_ends_like_a_line(
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    left: int,
    status: str,
    standing: str,
) -> None:
    own = tmp_path / "projects" / "-code" / "memory"
    own.mkdir(parents=True)
    texts = [f"The lathe of bay {n} stands beside a stove." for n in range(3)]
    for n, text in enumerate(texts):
        header = f"---\nname: bay-{n}\ndescription: bay {n}\ntype: project\n---\n"
        (own / f"bay-{n}.md").write_text(f"{header}\n{text}\n", encoding="utf-8")
    ends = {"transcript_path": str(own.parent / "s.jsonl")}
    kept = {p: p.read_bytes() for p in own.iterdir()}

    def states() -> list[tuple[str, str]]:
        found = sorted(memories(repo).values(), key=lambda m: m.body)
        return [(m.status, m.standing) for m in found]

    hook(repo, monkeypatch, "SessionEnd", **ends)
    assert states() == [("active", "resolved")] * 3
    for path in sorted(kept)[left:]:
        path.unlink()
    hook(repo, monkeypatch, "SessionEnd", now=LATER, **ends)
    assert states() == [("active", "resolved")] * left + [(status, standing)] * (3 - left)
    for path, data in kept.items():
        path.write_bytes(data)
    hook(repo, monkeypatch, "SessionEnd", now=NEXT_DAY, **ends)
    assert states() == [("active", "resolved")] * 3
    for path in kept:
        path.unlink()
    hook(repo, monkeypatch, "SessionEnd", now=NEXT_DAY, **ends)
    assert states() == [("active", "retire_candidate")] * 3


def test_a_session_ends_only_what_is_of_its_scope(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "projects" / "-code" / "memory"
    own.mkdir(parents=True)
    for n in range(3):
        header = f"---\nname: bay-{n}\ndescription: bay {n}\ntype: project\n---\n"
        text = f"{header}\nThe lathe of bay {n} stands beside a stove.\n"
        (own / f"bay-{n}.md").write_text(text, encoding="utf-8")
    for name in ("ledger", "sensor"):
        (tmp_path / name).mkdir()
        install(repo, "claude-code", tmp_path / name)

    def ended(name: str, now: str) -> set[str]:
        there = {"cwd": str(tmp_path / name), "transcript_path": str(own.parent / "s.jsonl")}
        hook(repo, monkeypatch, "SessionEnd", now=now, session_id=name, **there)
        return {m.scope for m in memories(repo).values() if m.standing == "retire_candidate"}

    assert [ended(name, NOW) for name in ("ledger", "sensor")] == [set(), set()]
    (own / "bay-0.md").unlink()
    assert ended("sensor", LATER) == {"project:sensor"}
    assert ended("ledger", NEXT_DAY) == {"project:sensor", "project:ledger"}


@pytest.mark.parametrize("key", ["s1", "~/diary", "*"])
def test_a_session_or_a_folder_is_left_out_by_one_key(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = (repo / "memrepo.toml").read_text(encoding="utf-8")
    (repo / "memrepo.toml").write_text(f"{config}\n[agents]\nprivate = {json.dumps([key])}\n")
    done(repo, "add", "Ana's editor is helix.", "--critical")
    there = {"cwd": str(tmp_path / "diary" / "2026")}
    assert hook(repo, monkeypatch, "SessionStart", **there) == {}
    assert hook(repo, monkeypatch, "UserPromptSubmit", prompt="Which editor?", **there) == {}
    hook(repo, monkeypatch, "SessionEnd", **there)
    assert not [m for m in memories(repo).values() if m.is_note]
    other = {"session_id": "s2", "cwd": str(tmp_path)}
    assert (hook(repo, monkeypatch, "SessionStart", **other) == {}) == (key == "*")


@pytest.mark.parametrize("made", ["before", "within"])
def test_what_claude_code_notes_in_a_private_session_is_never_imported(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    own = tmp_path / "projects" / "-code" / "memory"
    there = {"transcript_path": str(own.parent / "s.jsonl")}
    header = "---\nname: {0}\ndescription: {0}\ntype: project\n---\n\n"
    index = own / "MEMORY.md"

    def write(name: str, text: str) -> None:
        own.mkdir(parents=True, exist_ok=True)
        (own / f"{name}.md").write_text(header.format(name) + text, encoding="utf-8")
        line = index.read_text("utf-8") if index.exists() else ""
        index.write_text(f"{line}- [{name}]({name}.md)\n- Of {name}: {text}", encoding="utf-8")

    def play(session: str, now: str, **texts: str) -> str:
        monkeypatch.setenv("MEMREPO_SESSION", session)
        hook(repo, monkeypatch, "SessionStart", now=now, **there)
        for name, text in texts.items():
            write(name, text)
        hook(repo, monkeypatch, "SessionEnd", now=now, **there)
        return str([(m.title, m.body) for m in memories(repo).values()])

    if made == "before":
        write("well", "The well of the farm is 12 m deep.\n")
    assert play("private", NOW, plan="Mia leaves the farm in spring.\n") == "[]"
    shown = play("", LATER, barn="The barn of the farm is painted red.\n")
    assert ("well" in shown, "barn" in shown) == (made == "before", True)
    write("plan", "Mia leaves the farm in spring.\nThe plough of the farm is green.\n")
    moved = (own / "plan.md").read_text(encoding="utf-8")  # by a session that is not private
    (own / "farm.md").write_text(moved, encoding="utf-8")
    shown += play("", NEXT_DAY)
    assert "plough" in shown
    assert not {"Mia", "spring", "plan"} & set(shown.replace("'", " ").split())


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("first", ["private", "mine"])
def test_of_sessions_at_one_time_only_the_private_one_s_notes_are_left_out(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, at_once: bool
) -> None:
    own = tmp_path / "projects" / "-code" / "memory"
    own.mkdir(parents=True)
    said = {"private": "Mia leaves the farm in spring.", "mine": "The barn is painted red."}

    def happen(name: str, *events: str) -> None:
        monkeypatch.setenv("MEMREPO_SESSION", name if name == "private" else "")
        for event in events:
            there = {"transcript_path": str(own.parent / "s.jsonl"), "session_id": name}
            hook(repo, monkeypatch, event, prompt="Look at the farm's well.", **there)

    def write(name: str) -> None:
        with (own / "MEMORY.md").open("a") as file:
            file.write(f"- {said[name]}\n")

    order = [first, *({"private", "mine"} - {first})]
    for name in order:
        happen(name, "SessionStart")
    for name in order if at_once else ():
        happen(name, "UserPromptSubmit")
    for name in order:
        happen(name, *([] if at_once else ["UserPromptSubmit"]))
        write(name)
        happen(name, "Stop")
    for name in order:
        happen(name, "SessionEnd")
    happen("later", "SessionStart", "SessionEnd")
    known = {m.body for m in memories(repo).values() if not m.is_note}
    assert said["private"] not in known
    assert (said["mine"] in known) != (at_once and first == "mine")
    told = done(repo, "import", "claude-code", own)["problems"]
    assert [p["rule"] for p in told] == ["import-beside-private"] * at_once


@pytest.mark.parametrize("named", ["{}/diary", "../diary"])
@pytest.mark.parametrize(
    ("inside", "said"), [("", {}), ("2026", {}), (None, {"cwd": "diary/2026"})]
)
def test_every_hook_leaves_out_a_private_folder(
    repo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    inside: str | None,
    said: Any,
    named: str,
) -> None:
    (tmp_path / "real" / "2026").mkdir(parents=True)
    (tmp_path / "diary").symlink_to(tmp_path / "real")
    config = (repo / "memrepo.toml").read_text(encoding="utf-8")
    assert repo.parent == tmp_path
    private = json.dumps([named.format(tmp_path)])
    (repo / "memrepo.toml").write_text(f"{config}\n[agents]\nprivate = {private}\n")
    monkeypatch.chdir(tmp_path if inside is None else tmp_path / "diary" / inside)
    for event in ("prompt", "end"):
        given = {"event": event, "session": "s1", "prompt": "The well is 12 m deep.", **said}
        assert raw(repo, monkeypatch, "generic", json.dumps(given)) == ""
    assert memories(repo) == {}


def test_private_parts_of_a_session_are_in_no_note(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prompt in (
        "Is the well deep? <private>Ines is ill</private>",
        f"Do not remember this: Ines is ill\nWe dig on Friday. {'x' * 260} <private>Ines is ill.",
        "do not\nremember this: Ines is ill",
    ):
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=prompt)
    hook(repo, monkeypatch, "Stop", last_assistant_message="%% Ines is ill %% It is 12 m deep.")
    hook(repo, monkeypatch, "SessionEnd")
    (note,) = memories(repo).values()
    assert "ill" not in note.body
    assert all(word in note.body for word in ("deep?", "Friday", "12 m"))


def test_a_session_about_what_was_rejected_leaves_a_note_of_the_rest(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = done(repo, "add", "Uwe owns a red boat in Kiel.")["id"]
    done(repo, "reject", id_, "--reason", "wrong", now=LATER)
    for prompt in ("In Kiel, a red boat is owned by Uwe.", "We dig the well on Friday."):
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=prompt, now=LATER)
    assert hook(repo, monkeypatch, "SessionEnd", now=LATER) == {}
    (note,) = [m for m in memories(repo).values() if m.is_note]
    assert note.body == "- We dig the well on Friday."


def test_small_talk_leaves_no_note(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for prompt in (
        "OK, thanks!",
        "Yes.",
        "Danke!",
        "hi, good morning",
        "Good evening, many thanks",
    ):
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=prompt)
    hook(repo, monkeypatch, "Stop", last_assistant_message="You are welcome.")
    hook(repo, monkeypatch, "SessionEnd")
    assert memories(repo) == {}


@pytest.mark.parametrize(
    "prompts",
    [
        ("vielen Dank, super!",),
        ("Cheers mate, that's perfect", "see you tomorrow :)"),
        ("how are you today?", "nice weather"),
        ("merci beaucoup, à demain", "ok cool"),
        ("go on", "continue"),
        ("Dzięki, świetnie!", "do jutra"),
        ("¡Muchas gracias!", "hasta mañana"),
        ("谢谢，很好！", "明天见", "继续"),
        ("Guten Morgen, wie geht's?", "Danke für deine Hilfe, bis morgen"),
        ("Thank you so much for your help, have a nice day", "see you later"),
        ("Grazie mille", "a domani"),
        ("こんにちは、ありがとうございます",),
    ],
)
def test_a_session_of_small_talk_leaves_no_note(
    repo: Path, monkeypatch: pytest.MonkeyPatch, prompts: tuple[str, ...]
) -> None:
    for prompt in prompts:
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=prompt)
    hook(repo, monkeypatch, "SessionEnd")
    assert memories(repo) == {}


@pytest.mark.parametrize(
    "prompt",
    [
        "OK, we take Thursday",
        "thanks, go with 3",
        "good, see you at Ana's",
        "super, nimm die grüne",
        "ok, main.py",
        "Yes, not today",
        "I'm off tomorrow",
        "j'aime le thé",
        "谢谢，明天买票",
        "continue in `api`",
        "Wir sehen uns morgen Abend",
        "Let's meet tomorrow night",
        "The talk is tomorrow afternoon.",
        "明天可以见吗",
        "La ayuda es para mañana",
        "Je vous aide demain",
        "Is it done?",
        "Spotkanie jutro",
        "Встречи завтра",
        "o problema é hoje",
    ],
)
def test_a_session_with_content_beside_small_talk_is_a_note(
    repo: Path, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    for said in ("hi there", "that's perfect", prompt):
        hook(repo, monkeypatch, "UserPromptSubmit", prompt=said)
    hook(repo, monkeypatch, "SessionEnd")
    (note,) = memories(repo).values()
    assert prompt in note.body
    assert "perfect" in note.body


def test_what_was_stored_is_on_the_next_session_s_page(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("MEMREPO_ACTOR", "agent:claude-code")
        done(repo, "add", "The kiln is fired on Thursdays.", "--reason", "Ana said so")
    begun = hook(repo, monkeypatch, "SessionStart", session_id="s2", now=LATER)
    assert "fired on Thursdays" in begun["hookSpecificOutput"]["additionalContext"]


def test_the_end_of_a_session_returns_at_once_and_its_note_lands(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(repo, monkeypatch, "UserPromptSubmit", prompt="What is for lunch?")
    slow = tmp_path / "slow"
    program = shlex.join([*settings.program(), "-C", str(repo)])
    slow.write_text(f'#!/bin/sh\nsleep 1\nexec {program} "$@"\n')
    slow.chmod(0o755)
    given = {"hook_event_name": "SessionEnd", "session_id": "s1"}
    began = time.monotonic()
    subprocess.run(
        ["sh", "-c", hosts.hook_line([str(slow)], "claude-code", "end")],
        input=json.dumps(given),
        text=True,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert time.monotonic() - began < 1
    for _ in range(600):
        if memories(repo):
            break
        time.sleep(0.1)
    assert [m.body[:30] for m in memories(repo).values()] == ["- What is for lunch?"]


def test_a_dry_run_writes_nothing(repo: Path, project: Path) -> None:
    before = everything(project)
    told = done(repo, "agent", "install", "claude-code", "--into", project, "--dry-run")
    assert [row["does"] for row in told["files"]] == ["edited", "made", "edited"]
    assert everything(project) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // mine\n  "model": "opus"\n}\n', "line 2: found a comment"),
        ('{\n  "model": "opus", /* mine */\n}\n', "line 2: found a comment"),
        ('{"model": "opus",}', "line 1"),
        ("[]", "expected an object"),
        ('{"hooks": []}', "hooks: expected an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop: expected a list"),
        ('{"env": {"A": "1", "A": "2"}}', "found 'A' twice in one object"),
        ("[" * 100_000, "recursion"),
    ],
    ids=["comment", "behind", "comma", "list", "hooks", "event", "twice", "depth"],
)
def test_settings_that_cannot_be_edited_are_left_alone(
    repo: Path, project: Path, text: str, said: str
) -> None:
    path = project / ".claude" / "settings.json"
    path.write_text(text, encoding="utf-8")
    answer = memrepo(repo, "agent", "install", "claude-code", "--into", project)
    assert answer.exit == 2
    assert said in answer.error["message"]
    assert path.read_text(encoding="utf-8") == text


def test_line_ends_of_the_settings_stay(repo: Path, project: Path) -> None:
    path = project / ".claude" / "settings.json"
    path.write_bytes(b'{\r\n    "model": "opus"\r\n}\r\n')
    done(repo, "agent", "install", "claude-code", "--into", project)
    installed = path.read_bytes()
    assert b"hooks" in installed
    assert installed.count(b"\r\n") == installed.count(b"\n")
    done(repo, "agent", "uninstall", "claude-code", "--into", project)
    assert path.read_bytes() == b'{\r\n    "model": "opus"\r\n}\r\n'


def test_half_a_surrogate_pair_in_the_settings_stays(repo: Path, project: Path) -> None:
    path = project / ".claude" / "settings.json"
    path.write_text('{\n  "env": "\\ud83d, \\ud83d\\ude00"\n}\n', encoding="utf-8")
    assert memrepo(repo, "agent", "install", "claude-code", "--into", project).exit == 0
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["env"] == "\ud83d, \U0001f600"
    assert "hooks" in found


def test_without_a_folder_it_goes_where_a_host_keeps_what_holds_for_all(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    told = done(repo, "agent", "install", "claude-code")
    assert any("all projects share" in line for line in told["next"])
    assert [row["path"] for row in told["files"]] == [
        str(tmp_path / "home/.claude/settings.json"),
        str(tmp_path / "home/.claude/CLAUDE.md"),
    ]
    done(repo, "agent", "uninstall", "claude-code")
    assert not (tmp_path / "home/.claude").exists()


# Hooks


def test_a_session_begins_with_what_is_hot_and_ends_as_a_note(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = done(repo, "add", "Ana's editor is helix.", "--critical")["id"]
    done(repo, "promote", id_)
    head = git(repo, "rev-parse", "HEAD")
    begun = hook(repo, monkeypatch, "SessionStart", source="startup")["hookSpecificOutput"]
    assert begun["hookEventName"] == "SessionStart"
    assert "helix" in begun["additionalContext"]
    offered = hook(repo, monkeypatch, "UserPromptSubmit", prompt="Which editor does Ana use?")
    assert id_ in offered["hookSpecificOutput"]["additionalContext"]
    secret = f"And the key is {SECRETS[0]}."
    hook(repo, monkeypatch, "UserPromptSubmit", prompt=secret)
    assert hook(repo, monkeypatch, "Stop", last_assistant_message="Helix it is.") == {}
    hook(repo, monkeypatch, "UserPromptSubmit", prompt="Thanks, bye")
    hook(repo, monkeypatch, "Stop", last_assistant_message="You are welcome. Bye!")
    assert len(memories(repo)) == 1
    assert git(repo, "rev-parse", "HEAD") == head  # what is read makes no commit
    assert hook(repo, monkeypatch, "SessionEnd", reason="exit", now=LATER) == {}
    author = git(repo, "log", "-1", "--format=%an <%ae>").strip()
    assert author == "Claude Code (memrepo) <claude-code@memrepo.invalid>"
    (note,) = (m for m in memories(repo).values() if m.is_note)
    assert note.body.startswith("- Which editor does Ana use?\n- And the key is [redacted")
    assert note.body.endswith("It ended with: Helix it is.")
    assert note.stamp.by == "process:claude-code"
    assert note.title == "Session of 2026-03-01T09:00Z"
    assert subjects(repo)[0] == "Add note: Which editor does Ana use? - And the key is…"
    hook(repo, monkeypatch, "SessionEnd", now=LATER)
    assert len(memories(repo)) == 2
    assert done(repo, "show", id_, "--no-touch")["derived"]["retrievals"] == 0


@pytest.mark.parametrize(
    "prompt",
    [
        "Deploy the API to production",
        "First fix the build, then deploy the new version of the shop, and write to Ben about it.",
    ],
)
def test_a_prompt_brings_the_rule_about_it_before_what_was_asked_before(
    repo: Path, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    rule = done(repo, "add", "Never deploy without Ana's consent.", "--type", "constraint")["id"]
    for n in range(3):
        done(repo, "add", f"The API was deployed to production on day {n}.", "--type", "note")
    for day in ("2026-03-01", "2026-03-02", "2026-03-03"):
        now = f"{day}T09:00:00Z"
        told = hook(repo, monkeypatch, "UserPromptSubmit", prompt=prompt, now=now)
        offered = told["hookSpecificOutput"]["additionalContext"]
        assert offered.split("mem-")[1].startswith(rule.removeprefix("mem-"))
        assert prompt not in offered
        hook(repo, monkeypatch, "SessionEnd", now=now)
    notes = [m for m in memories(repo).values() if m.tags]
    assert [prompt in m.body for m in notes] == [True]  # once, however often it was asked
    hits = done(repo, "search", prompt, "--no-touch", now=LATER)["hits"]
    assert hits[-1]["id"] == notes[0].id


def test_a_note_of_a_session_is_found_by_its_score(repo: Path) -> None:
    text = "The plumber mends the gutter on 9 December, says the contract."
    note = done(repo, "add", text, "--type", "note", "--tag", "agent-session")["id"]
    for other in ("is in the blue folder", "with the bank is old", "of Ana ends in May"):
        done(repo, "add", f"The contract {other}.")
    hits = done(repo, "search", "plumber contract", "-k", "3", "--no-touch")["hits"]
    assert hits[0]["id"] == note
    assert hits[0]["answers"]


def test_a_session_that_never_ended_is_taken_in_a_day_later(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook(repo, monkeypatch, "UserPromptSubmit", prompt="What is for lunch?")
    hook(repo, monkeypatch, "SessionStart", session_id="s2", now=LATER)
    assert memories(repo) == {}
    merging = repo / ".git" / "MERGE_HEAD"
    merging.write_text(git(repo, "rev-parse", "HEAD"), encoding="utf-8")
    later = "2026-03-03T09:00:00Z"
    assert "systemMessage" not in hook(repo, monkeypatch, "SessionStart", now=later)
    merging.unlink()
    hook(repo, monkeypatch, "SessionStart", session_id="s2", now=later)
    (note,) = memories(repo).values()
    assert "lunch" in note.body


def test_an_injection_stays_inside_the_envelope_of_every_hook(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = done(repo, "add", INJECTION, "--critical")["id"]
    done(repo, "promote", id_)
    assert_inside(hook(repo, monkeypatch, "SessionStart"))
    assert_inside(hook(repo, monkeypatch, "UserPromptSubmit", prompt="the deploy key"))
    for event in ("start", "prompt", "stop", "end"):
        said = {"event": event, "session": MARK, "prompt": "deploy key", "reply": MARK}
        told = raw(repo, monkeypatch, "generic", json.dumps(said))
        assert MARK not in outside(told)
        assert (MARK in told) is (event in ("start", "prompt"))


@pytest.mark.parametrize(
    "given",
    [
        "",
        "nonsense",
        "[]",
        "null",
        "7",
        '{"hook_event_name": 7}',
        '{"hook_event_name": "X"}',
        '{"hook_event_name": "Stop", "session_id": "\\ud800", "prompt": []}',
    ],
)
def test_whatever_a_hook_is_handed_it_does_not_fail(
    repo: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    answer = raw(repo, monkeypatch, "claude-code", given)
    assert answer == "" or set(json.loads(answer)) == {"systemMessage"}


def test_what_is_offered_fits_its_budget(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(6):
        done(repo, "add", f"Tea {n}: " + "very good " * 100)
    told = hook(repo, monkeypatch, "UserPromptSubmit", prompt="tea " * 9000)
    text = told["hookSpecificOutput"]["additionalContext"]
    assert len(text) / 4 <= hooking.OFFER_TOKENS
    assert text.count("mem-") <= hooking.OFFERS


def test_a_hook_gives_up_at_its_deadline_and_says_so(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(hosts.DEADLINES, "start", 0.1)
    monkeypatch.setattr(hooking, "happened", lambda *_: time.sleep(2))
    began = time.monotonic()
    told = hook(repo, monkeypatch, "SessionStart")
    assert time.monotonic() - began < 1.5
    assert "gave up after 0.1 s" in told["systemMessage"]


def test_a_repository_in_trouble_is_said_and_the_session_goes_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "memrepo.toml").write_text("nothing = 1\n", encoding="utf-8")
    told = hook(repo, monkeypatch, "SessionStart")
    assert "nothing" in told["systemMessage"]
    monkeypatch.setattr(hooking, "happened", lambda *_: 1 / 0)
    assert "a bug: ZeroDivisionError" in hook(repo, monkeypatch, "Stop")["systemMessage"]


def test_a_run_that_holds_its_lock_stops_no_hook(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(repo) as other, other.running():
        hook(repo, monkeypatch, "UserPromptSubmit", prompt="What is for lunch?")
        assert hook(repo, monkeypatch, "SessionEnd") == {}
    assert len(memories(repo)) == 1


def test_the_line_in_the_settings_never_fails(repo: Path, tmp_path: Path) -> None:
    for where in (repo, tmp_path / "gone"):
        line = hosts.hook_line([*settings.program(), "-C", str(where)], "claude-code")
        ran = subprocess.run(
            ["sh", "-c", line],
            input='{"hook_event_name": "SessionStart"}',
            text=True,
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert ("systemMessage" in json.loads(ran.stdout or "{}")) is (where != repo)


def test_a_session_s_id_may_hold_a_byte_that_is_no_character(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo")
    assert done(tmp_path / "repo", "session", "start", "--id", "s\udcff")["session"] == "s?"
