"""The files that memrepo installs for each agent program, and the functions that edit them.

Installing twice does not duplicate memrepo's part. Uninstalling works even if the file was edited
after the installation.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from memrepo.assets import asset
from memrepo.core.jsontext import append, put, take_away, take_out
from memrepo.core.patterns import regex
from memrepo.store import crontab

_SAYS = "(memrepo keeps this block; `memrepo agent uninstall` removes it)"
BEGIN = f"<!-- memrepo:begin {_SAYS} -->"
END = "<!-- memrepo:end -->"
_BLOCK = regex(r"(?:\r?\n)?<!-- memrepo:begin.*?<!-- memrepo:end -->\r?\n?", re.DOTALL)
_SPECIAL = regex(r"[\\\"$`]")
_TOML_BEGIN = f"# memrepo:begin {_SAYS}"
_TOML_END = "# memrepo:end"
_TOML_BLOCK = regex(r"(?:\r?\n)?^# memrepo:begin.*?^# memrepo:end$\r?\n?", re.DOTALL | re.MULTILINE)


def with_block(text: str, body: str, *, toml: bool = False) -> str:
    """Return a text with memrepo's block, replacing an existing block or adding one at the end."""
    rest = without_block(text, toml=toml)
    joint = "" if not rest or rest.endswith("\n") else "\n"
    begin, end = (_TOML_BEGIN, _TOML_END) if toml else (BEGIN, END)
    return f"{rest}{joint}{chr(10) if rest else ''}{begin}\n{body.strip()}\n{end}\n"


def without_block(text: str, *, toml: bool = False) -> str:
    """Return a text without memrepo's block."""
    return (_TOML_BLOCK if toml else _BLOCK).sub("", text)


class Servers(NamedTuple):
    """The files in which an agent program configures servers and instructions.

    `home` and `home_says` are for all projects of a user, `project` and `project_says` for one
    project.
    """

    home: str
    project: str
    """Empty if the client has no such file."""
    key: str
    home_says: str = ""
    project_says: str = "AGENTS.md"
    more: Mapping[str, str] = {}
    """Additional fields of a server entry, next to the command and its arguments."""


CLIENTS = {
    "codex": Servers(
        home=".codex/config.toml",
        project=".codex/config.toml",
        key="mcp_servers",
        home_says=".codex/AGENTS.md",
    ),
    "gemini-cli": Servers(
        home=".gemini/settings.json",
        project=".gemini/settings.json",
        key="mcpServers",
        home_says=".gemini/GEMINI.md",
        project_says="GEMINI.md",
    ),
    "cursor": Servers(home=".cursor/mcp.json", project=".cursor/mcp.json", key="mcpServers"),
    "vs-code": Servers(home="", project=".vscode/mcp.json", key="servers", more={"type": "stdio"}),
    "windsurf": Servers(
        home=".codeium/windsurf/mcp_config.json",
        project="",
        key="mcpServers",
        home_says=".codeium/windsurf/memories/global_rules.md",
    ),
    "zed": Servers(
        home=".config/zed/settings.json", project=".zed/settings.json", key="context_servers"
    ),
}
"""Clients without session hooks. They have a file of servers and a file of instructions."""
HOSTS = ("claude-code", "openclaw", *CLIENTS, "generic")
WITH_TOOLS = frozenset({"claude-code", *CLIENTS})
"""Hosts whose agents get instructions for the tools instead of the commands."""
FAILED = "memrepo could not run: this session goes on without its memory"
DEADLINES = {"start": 5.0, "prompt": 3.0, "stop": 3.0, "end": 120.0}
"""The timeout of a hook in seconds, by event. Nobody waits for the end of a session."""
PATIENCE = 5
"""Seconds that a host waits beyond the timeout, for the program to start and read its input."""
CLAUDE_EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SessionEnd": "end",
}


PROJECT_FOLDERS = {
    "claude-code": "${CLAUDE_PROJECT_DIR:-.}",
    "cursor": "${workspaceFolder}",
    "vs-code": "${workspaceFolder}",
}
"""The variable that a host expands to the project folder. Committed project files use it."""


def program_for(host: str, into: Path, repository: Path) -> tuple[str, ...]:
    """Return the command line that starts memrepo, as a tuple of words.

    In the files of a project it contains no absolute path, because these files are committed.
    """
    if into == home_of(host) or host not in PROJECT_FOLDERS:
        return (*crontab.program(), "-C", str(repository))
    folder = os.path.relpath(repository.resolve(), into)
    return ("memrepo", "-C", f"{PROJECT_FOLDERS[host]}/{Path(folder).as_posix()}")


def _shell(words: Sequence[str]) -> str:
    """Join words like `shlex.join`, but let the shell expand the project folder variable."""
    variable = PROJECT_FOLDERS["claude-code"]

    def quoted(word: str) -> str:
        if not word.startswith(variable):
            return shlex.quote(word)
        rest = _SPECIAL.sub(r"\\\g<0>", word.removeprefix(variable))
        return f'"{variable}{rest}"'

    return " ".join(map(quoted, words))


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that add memrepo's part to a file and remove it again.

    If the whole file belongs to memrepo, `take` returns an empty string.
    """

    path: Path
    put: Callable[[str], str]
    take: Callable[[str], str]


def parts_of(host: str, into: Path, program: Sequence[str], snippet: str) -> tuple[Part, ...]:
    """Return the parts to install for an agent program in a folder.

    `program` is the command line of memrepo.
    """
    if host in CLIENTS:
        return tuple(_client(CLIENTS[host], into, program, snippet))
    instructions = _block(into / _INSTRUCTIONS[host], snippet)
    match host:
        case "claude-code":
            settings = _settings(into / ".claude" / "settings.json", program)
            if into == home_of(host):  # Claude Code itself manages the servers of a user
                return (settings, instructions)
            server = _server(into / ".mcp.json", ("mcpServers", "memrepo"), program)
            return (settings, instructions, server)
        case "openclaw":
            return (*_hook_folder(into / "hooks" / "memrepo", program), instructions)
        case _:
            return (instructions,)


def _client(client: Servers, into: Path, program: Sequence[str], snippet: str) -> Iterator[Part]:
    at_home = into == Path.home()
    servers = client.home if at_home else client.project
    says = client.home_says if at_home else client.project_says
    if servers.endswith(".toml"):
        yield _table(into / servers, f"{client.key}.memrepo", program)
    elif servers:
        yield _server(into / servers, (client.key, "memrepo"), program, client.more)
    if says:
        yield _block(into / says, snippet)


_INSTRUCTIONS = {
    "claude-code": ".claude/CLAUDE.md",
    "openclaw": "workspace/AGENTS.md",
    "generic": "AGENTS.md",
}


def home_of(host: str) -> Path | None:
    """Return the folder of a program's settings for all projects, or None if it has none."""
    if host == "generic" or (host in CLIENTS and not CLIENTS[host].home):
        return None
    return Path.home() / ".openclaw" if host == "openclaw" else Path.home()


def next_steps(host: str, into: Path, program: Sequence[str]) -> tuple[str, ...]:
    """Return the steps that the user must take after the installation."""
    steps = _host_steps(host, into, program)
    if program[0] == "memrepo" and shutil.which("memrepo") is None:
        here = shlex.quote(crontab.program()[0])
        steps = (f"put memrepo on the PATH, as with: ln -s {here} ~/.local/bin/memrepo", *steps)
    return steps


def _host_steps(host: str, into: Path, program: Sequence[str]) -> tuple[str, ...]:
    serve = shlex.join([*program, "mcp"])
    match host:
        case "claude-code":
            if into != home_of(host):
                return ("Claude Code asks once whether it may start the server of .mcp.json",)
            return (f"tools too: claude mcp add --scope user memrepo -- {serve}",)
        case "openclaw":
            server = json.dumps({"command": program[0], "args": [*program[1:], "mcp"]})
            return (
                "openclaw hooks enable memrepo, then restart the gateway",
                f"tools too: openclaw mcp set memrepo {shlex.quote(server)}",
            )
        case _ if host in CLIENTS:
            client = CLIENTS[host]
            if into != Path.home() and not client.project:
                return (f"the tools are for all projects only: memrepo agent install {host}",)
            if into == Path.home() and not client.home_says:
                return (f"instructions are a project's: memrepo agent install {host} --into DIR",)
            return (f"restart {host}",)
        case _:
            hook = shlex.join([*program, "agent", "hook", "generic"])
            return (f"call at each event, as docs/agents.md says: {hook}", f"tools too: {serve}")


def hook_line(program: Sequence[str], host: str, kind: str = "start") -> str:
    """Return the shell command of a hook.

    The command always exits with 0, because a host may treat a failure as a veto.

    At the end of a session the command returns immediately and continues in the background, because
    hosts cancel slow hooks then.
    """
    call = f"{_shell(program)} agent hook {host}"
    if kind == "end":
        return f'input=$(cat); {{ printf %s "$input" | nohup {call}; }} >/dev/null 2>&1 &'
    failed = json.dumps({"systemMessage": FAILED})
    return f"{call} || echo {shlex.quote(failed)}"


def _settings(path: Path, program: Sequence[str]) -> Part:
    def take(text: str) -> str:
        for event in CLAUDE_EVENTS:
            text = take_out(text, ("hooks", event), _is_ours)
        return text

    def put(text: str) -> str:
        text = take(text) if text.strip() else "{}\n"
        for event, kind in CLAUDE_EVENTS.items():
            line = hook_line(program, "claude-code", kind)
            seconds = PATIENCE if kind == "end" else int(DEADLINES[kind]) + PATIENCE
            hook = {"type": "command", "command": line, "timeout": seconds}
            text = append(text, ("hooks", event), {"hooks": [hook]})
        return text

    return Part(path=path, put=put, take=take)


def _table(path: Path, name: str, program: Sequence[str]) -> Part:
    """Return the part that sets a server entry in a TOML file, as a marked block."""
    # A JSON string or list of strings is valid TOML with the same value.
    command, args = json.dumps(program[0]), json.dumps([*program[1:], "mcp"])
    body = f"[{name}]\ncommand = {command}\nargs = {args}"
    return Part(
        path=path,
        put=lambda text: with_block(text, body, toml=True),
        take=lambda text: without_block(text, toml=True),
    )


def _server(
    path: Path, keys: Sequence[str], program: Sequence[str], more: Mapping[str, str] | None = None
) -> Part:
    """Return the part that sets the MCP server's entry in a JSON file."""
    entry = {**(more or {}), "command": program[0], "args": [*program[1:], "mcp"]}

    def take(text: str) -> str:
        return take_away(text, keys, _is_server) if text.strip() else text

    return Part(path=path, put=lambda text: put(text or "{}\n", keys, entry), take=take)


def _is_server(entry: object) -> bool:
    args = entry.get("args") if isinstance(entry, Mapping) else None
    return isinstance(args, list) and args[-1:] == ["mcp"]


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, Mapping) else None
    commands = [h.get("command", "") for h in hooks or () if isinstance(h, Mapping)]
    return bool(commands) and all(
        isinstance(c, str) and "agent hook claude-code" in c and "memrepo" in c for c in commands
    )


def _block(path: Path, snippet: str) -> Part:
    return Part(path=path, put=lambda text: with_block(text, snippet), take=without_block)


def _hook_folder(folder: Path, program: Sequence[str]) -> tuple[Part, ...]:
    words = json.dumps([*program, "agent", "hook", "openclaw"])
    made = {
        name: asset("templates", f"agents/openclaw/{name}").read_text(encoding="utf-8")
        for name in ("HOOK.md", "handler.js")
    }
    made["handler.js"] = made["handler.js"].replace("__COMMAND__", words)
    return tuple(_own(folder / name, text) for name, text in made.items())


def _own(path: Path, text: str) -> Part:
    return Part(path=path, put=lambda _: text, take=lambda _: "")
