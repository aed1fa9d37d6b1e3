"""Secrets on every way in: texts that are given, reasons, other programs' files, and the past."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import workspaces
from anthropic.lib.tools import ToolError
from driving import LATER, NEXT_DAY, begin, done, git, memories, memrepo, standing

from memrepo.actions.work import Call
from memrepo.core.errors import MemrepoError
from memrepo.faces.cli import COMMANDS, command_parser
from memrepo.faces.mcp import TOOLS, answer
from memrepo.faces.python import Entry, open_repository
from memrepo.memory_tool import MemoryTool

VALUE = "ghp_" + "Fake1234" * 5
SECRET = f"The token is {VALUE}."
MUCH_LATER = "2026-03-03T09:00:00Z"
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
LOVES = "She really loves dark mode in editors."


def in_history(repo: Path) -> bool:
    return VALUE in git(repo, "log", "--all", "-p", "--format=%B")


def shown(*parts: str) -> bool:
    return any(VALUE in part for part in parts)


REASONED: dict[str, tuple[str, ...]] = {
    "ingest": (),
    "judge": ("next",),
    "run": (),
    "add": ("x",),
    "supersede": ("ID", "x"),
    "confirm": ("ID",),
    "edit": ("ID", "--text", "x"),
    "forget": ("ID",),
    "pin": ("ID",),
    "link": ("ID", "related", "ID"),
    "directives": ("x.md",),
    "accept": (),
    "discard": (),
    "resolve": ("ID", "--both"),
    "revert": ("HEAD",),
    "undo": (),
    "restore": ("ID",),
    "reject": ("ID",),
    "session": ("end",),
    "promote": ("ID",),
    "archive": ("ID",),
    "health": ("--prune",),
    "sync": ("origin",),
    "import": ("obsidian", "."),
}


@pytest.mark.parametrize("name", REASONED)
def test_no_command_takes_a_secret_for_its_reason(repo: Path, name: str) -> None:
    id_ = str(done(repo, "add", LOVES)["id"])
    before = standing(repo)
    words = (id_ if word == "ID" else word for word in REASONED[name])
    refused = memrepo(repo, name, *words, "--reason", SECRET)
    assert refused.exit == 2
    assert refused.error["message"] == "the reason holds a secret (github-pat): nothing was written"
    assert (standing(repo), in_history(repo)) == (before, False)


def test_every_command_with_a_reason_is_looked_at_above() -> None:
    found = {n for n in COMMANDS if "--reason" in command_parser(n).format_usage()}
    assert found == {*REASONED}


Way = Callable[[Path, str], object]


def line(*words: str) -> Way:
    """Write by a command line; ID is the memory that there is."""
    return lambda repo, id_: memrepo(repo, *(id_ if w == "ID" else w for w in words), now=LATER)


def mcp(name: str, **given: str) -> Way:
    """Write by a tool of the MCP server."""
    return lambda repo, id_: answer(
        Call(where=repo, now=AT),
        TOOLS[name],
        {k: id_ if v == "ID" else v for k, v in given.items()},
        "test",
    )


def tool(command: str, **given: object) -> Way:
    """Write by Claude's memory tool, in which `a.md` stands."""

    def write(repo: Path, _: str) -> object:
        directory = MemoryTool(repo, clock=lambda: AT)
        directory.call({"command": "create", "path": "/memories/a.md", "file_text": "A line."})
        try:
            return directory.call({"command": command, **given})
        except ToolError as error:
            return error

    return write


def python(entry: Entry) -> Way:
    """Write by the Python interface."""

    def write(repo: Path, _: str) -> object:
        with open_repository(repo, clock=lambda: AT) as memory:
            try:
                return memory.add_all([Entry(text="Another."), entry])
            except MemrepoError as error:
                return error

    return write


WAYS: dict[str, Way] = {
    "add": line("add", SECRET),
    "add, allowed by itself": line("add", f"{SECRET} <!-- memrepo:allow-secret -->"),
    "add --title": line("add", "x", "--title", SECRET),
    "add --tag": line("add", "x", "--tag", SECRET),
    "add --entity": line("add", "x", "--entity", SECRET),
    "add --scope": line("add", "x", "--scope", f"project:{SECRET}"),
    "edit --text": line("edit", "ID", "--text", SECRET),
    "edit --set": line("edit", "ID", "--set", f"description={SECRET}"),
    "supersede": line("supersede", "ID", SECRET),
    "memory_store": mcp("memory_store", text=SECRET, reason="why"),
    "memory_store, reason": mcp("memory_store", text="x", reason=SECRET),
    "memory_supersede": mcp("memory_supersede", id="ID", text=SECRET, reason="why"),
    "memory tool, create": tool("create", path="/memories/b.md", file_text=SECRET),
    "memory tool, insert": tool("insert", path="/memories/a.md", insert_line=1, insert_text=SECRET),
    "memory tool, str_replace": tool(
        "str_replace", path="/memories/a.md", old_str="A line.", new_str=SECRET
    ),
    "python, text": python(Entry(text=SECRET)),
    "python, subject": python(Entry(text="x", subject=SECRET)),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_writing_takes_a_secret(repo: Path, way: str) -> None:
    id_ = str(done(repo, "add", LOVES)["id"])
    told = str(WAYS[way](repo, id_))
    assert "secret (github-pat)" in told
    assert not shown(told)
    assert not in_history(repo)


PRIVATE = "<private>Ines is ill</private> and the shed is green."
TEXTS: dict[str, Way] = {
    "add": line("add", PRIVATE),
    "add, by request": line("add", "Do not remember this: Ines is ill"),
    "add, title": line("add", "The clock is slow.", "--title", "Do not remember this: Ines is ill"),
    "edit, tag": line("edit", "ID", "--set", "entities=%%Ines is ill%%"),
    "add, named": line("add", "Off the record: the <private> tag hides that Ines is ill"),
    "add, amid": line("add", "Anna called about <private> that Ines is ill"),
    "add, unclosed": line("add", "The shed is green. <private>Ines is ill"),
    "edit": line("edit", "ID", "--text", PRIVATE),
    "supersede": line("supersede", "ID", "%% Ines is ill %% The shed is green."),
    "memory_store": mcp("memory_store", text=PRIVATE, reason="why"),
    "memory_supersede": mcp("memory_supersede", id="ID", text=PRIVATE, reason="why"),
    "memory tool": tool("create", path="/memories/b.md", file_text=PRIVATE),
    "python": python(Entry(text=PRIVATE)),
}


@pytest.mark.parametrize("way", TEXTS)
def test_no_way_of_writing_takes_private_parts(repo: Path, way: str) -> None:
    id_ = str(done(repo, "add", LOVES)["id"])
    assert "never stored" in str(TEXTS[way](repo, id_))
    assert "is ill" not in git(repo, "log", "--all", "-p", "--format=%B")


def by_hand(repo: Path, *lines: str, id_: str = "") -> str:
    """Commit a memory past the hooks, or more lines for one; return its id."""
    if id_:
        path = repo / memories(repo)[id_].path
        path.write_text("\n".join([path.read_text(encoding="utf-8").rstrip(), *lines, ""]))
    else:
        path = repo / "memories" / "knowledge" / "pot-aaaaaa.md"
        head = ["---", "id: mem-" + "a" * 16, "type: fact", "---", ""]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*head, *lines, ""]))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "by hand", "--no-verify")
    return id_ or "mem-" + "a" * 16


ALLOWED = f"{SECRET} <!-- memrepo:allow-secret -->"


@pytest.mark.parametrize(("text", "code"), [(SECRET, 2), (ALLOWED, 0)], ids=["secret", "allowed"])
def test_what_left_the_tree_comes_back_without_its_secret_only(
    repo: Path, text: str, code: int
) -> None:
    id_ = by_hand(repo, "The door.", text)
    git(repo, "rm", "-q", memories(repo)[id_].path)
    git(repo, "commit", "-qm", "away", "--no-verify")
    before = git(repo, "rev-parse", "HEAD")
    back = memrepo(repo, "restore", id_, now=LATER)
    assert (back.exit, shown(back.out, back.err)) == (code, False)
    assert (git(repo, "rev-parse", "HEAD") == before) == bool(code)
    if code:
        assert "pot-aaaaaa.md, line" in back.error["message"]


def test_a_branch_that_waits_brings_none_that_was_slipped_into_it(tmp_path: Path) -> None:
    facts = [f"- The server number {n} keeps the archive of {1990 + n}." for n in range(20)]
    text = "# Servers\n\n" + "\n".join(facts) + "\n"
    workspaces.write(tmp_path / "workspace", {"MEMORY.md": text.encode()})
    made = begin(tmp_path, tmp_path / "workspace")
    workspaces.write(
        tmp_path / "workspace", {"MEMORY.md": "\n".join(text.split("\n")[:9]).encode()}
    )
    branch = memrepo(made, "run", "--mode", "reconciliation", now=NEXT_DAY).data["branch"]
    git(made, "checkout", "-q", branch)
    by_hand(made, SECRET, id_=next(iter(memories(made))))
    git(made, "checkout", "-q", "main")
    before = standing(made)
    refused = memrepo(made, "accept", now=MUCH_LATER)
    assert (refused.exit, shown(refused.err)) == (2, False)
    assert "secret (github-pat)" in refused.error["message"]
    assert standing(made) == before


STATED = {
    "password: {}": "Maple7731$",
    "Password: {} (from the hall)": "$Maple7731",
    "the password is {} I think": "Ma<pl>e{77}31",
    "**Password:** {} (from the shop)": "Maple7731&Oak",
    "Shared screen works (port 5902, password {})": "Maple7731x",
    "Backup host 10.1.1.4, opsuser pass `{}`": "BlueOak2029!",
    "dashboard: user `ann` / pass `{}` | unit `mc`": "OakBlue2030!",
    "Wi-Fi password {}": "MapleOak7731",
    "contraseña: {}": "Arce7731$",
    "密码:{}": "Feng7731$",
    "Пароль {}": "Klen7731$",
    "Trial account: ann+1@mail.test / {} (view only)": "OpenOak2031",
    "The HillWeather key is {}": "hw-Qm4tZs81LxVc93BnRk27",
    "Pager auth token {}": "4f1c9b07d2e86a35c0f7b41e9d28a653",
    "The PIN of the shed is {}": "7391",
    "Alarm code: {}": "82610#",
    "Bank card {} until May": "5395 8241 7730 1681",
    "Discord login: {}": "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "API_KEY={}": "k9f3a1c07b55d12e",
}
BELOW = """
### API Keys
- HillWeather (free plan) `hw2-Zp4tQs81LxVc93BnRk27`
- Tides: td-91LxVc93BnRk27Qm4tZs

```markdown
## Passwords
- router: Birch4471!
```

| service | user | password |
|---|---|---|
| wiki | ann | Cedar5582x |

Password:
Hazel6693x
"""
LISTED = (
    "hw2-Zp4tQs81LxVc93BnRk27",
    "td-91LxVc93BnRk27Qm4tZs",
    "Birch4471",
    "Cedar5582x",
    "Hazel6693x",
)


def test_however_a_secret_is_stated_no_file_of_a_run_holds_it(tmp_path: Path) -> None:
    lines = [f"- {line.format(value)}" for line, value in STATED.items()]
    text = "# Notes\n\n" + "\n".join(lines) + "\n" + BELOW
    given = workspaces.write(
        tmp_path / "workspace",
        {name: text.encode() for name in ("MEMORY.md", "TOOLS.md", "memory/2026-02-01.md")},
    )
    made = begin(tmp_path, given)
    done(made, "run", now=NEXT_DAY)
    done(made, "search", "password router", now=NEXT_DAY)
    assert "[redacted:password]" in (made / "sources" / "MEMORY.md").read_text()
    history = git(made, "log", "--all", "-p", "--format=%B")
    files = [path.read_bytes() for path in made.rglob("*") if path.is_file()]
    for value in (*STATED.values(), *LISTED):
        assert value not in history, value
        assert not any(value.encode() in data for data in files), value


READ = (
    ("show", "ID"),
    ("log", "--memory", "ID"),
    ("why", "ID"),
    ("search", "door"),
    ("search", "door", "--explain"),
    ("related", "ID"),
    ("diff", "HEAD~3"),
    ("log",),
    ("session", "start"),
    ("show", "ID", "--at", "HEAD~1"),
    ("status",),
    ("topics",),
    ("health",),
    ("check",),
    ("doctor",),
)


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository in which a hot memory holds two secrets, of now and of before."""
    made = tmp_path_factory.mktemp("spoilt") / "repo"
    done(made.parent, "init", "repo")
    id_ = by_hand(made, "The door.", "The password: hunter9x", SECRET, "Mind the step.")
    done(made, "promote", id_)
    path = made / memories(made)[id_].path
    path.write_text(path.read_text().replace("hunter9x", "hunter8x"))
    git(made, "commit", "-qam", "another", "--no-verify")
    done(made, "run", now=NEXT_DAY)
    return made


def nothing_shown(*parts: str) -> bool:
    return not any(word in part for part in parts for word in (VALUE, "hunter9x", "hunter8x"))


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
@pytest.mark.parametrize("argv", READ, ids=" ".join)
def test_no_answer_shows_a_secret_of_the_tree_or_of_the_past(
    spoilt: Path, argv: tuple[str, ...], as_json: bool
) -> None:
    id_ = next(iter(memories(spoilt)))
    words = [id_ if w == "ID" else w for w in argv]
    told = memrepo(spoilt, *words, now=NEXT_DAY, as_json=as_json)
    assert told.exit in (0, 1), told
    assert nothing_shown(told.out, told.err)


def test_pages_that_agents_read_show_none(spoilt: Path) -> None:
    pages = [*(spoilt / "views").glob("*.md"), spoilt / "MEMORY.md"]
    assert any("redacted:password" in p.read_text() for p in pages)
    assert nothing_shown(*(p.read_text() for p in pages))
    problems = memrepo(spoilt, "check", "--all").data["problems"]
    assert not [p for p in problems if p["rule"] in ("hot-edited", "page-edited")]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("memory_get", {"id": "ID"}),
        ("memory_search", {"query": "door"}),
        ("memory_status", {}),
        ("memory_related", {"id": "ID"}),
    ],
)
def test_no_tool_hands_a_secret_to_a_model(spoilt: Path, name: str, given: dict[str, str]) -> None:
    id_ = next(iter(memories(spoilt)))
    arguments = {k: id_ if v == "ID" else v for k, v in given.items()}
    reply = answer(Call(where=spoilt, now=AT), TOOLS[name], arguments, "test")
    assert not reply.failed, reply
    assert nothing_shown(reply.text)


def test_the_memory_tool_shows_a_placeholder(repo: Path) -> None:
    directory = MemoryTool(repo, clock=lambda: AT)
    directory.call({"command": "create", "path": "/memories/a.md", "file_text": "A line."})
    by_hand(repo, SECRET, id_=next(iter(memories(repo))))
    said = str(directory.call({"command": "view", "path": "/memories/a.md"}))
    assert "The token is [redacted:github-pat]." in said
    assert nothing_shown(said)


@pytest.mark.parametrize(
    ("text", "switch"),
    [
        ("My IBAN is DE89 3704 0044 0532 0130 00.", 'off = ["iban"]'),
        ("The token is ghp_0123456789abcdefghijABCDEFGHIJ012345.", ""),
    ],
    ids=["a kind that may be remembered", "one that may not"],
)
def test_a_refusal_names_the_switch_of_a_kind_that_may_be_remembered(
    tmp_path: Path, text: str, switch: str
) -> None:
    done(tmp_path, "init", "repo")
    refused = memrepo(tmp_path / "repo", "add", text).error
    assert ("secrets.off" in refused["fix"]) == bool(switch)
    assert switch in refused["fix"]


def test_no_other_door_to_a_model_shows_one(spoilt: Path) -> None:
    with open_repository(spoilt, clock=lambda: AT) as memory:
        hits = memory.search("door", no_touch=True)
    assert hits
    assert nothing_shown(*(hit.text for hit in hits))
