"""`memrepo agent`: install memrepo into an agent program, or uninstall it.

Installing twice does not duplicate memrepo's part. Uninstalling works even if the file was edited
after the installation.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from memrepo.actions.request import DryRun, VerbResult, option
from memrepo.actions.work import Work
from memrepo.assets import asset
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.jsontext import NotJson, append, put, take_away, take_out
from memrepo.core.patterns import regex
from memrepo.policies.rules import RunMode
from memrepo.store import crontab

_VERSION = regex(r"^Version (\d+)\.$", re.MULTILINE)


class AgentPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt with this repository's commands, with its version and the hash of its template."""

    version: int
    hash: str
    prompt: str


def cron_prompt(work: Work, mode: RunMode) -> AgentPrompt:
    """Return the prompt for an agent that a scheduler starts for a run."""
    return _filled(work, f"{mode}-cron.md")


def agent_snippet(work: Work) -> AgentPrompt:
    """Return the section about memory for an agent's own instructions."""
    return _filled(work, "agent-snippet.md")


def agent_tools() -> AgentPrompt:
    """Return the section about memory for an agent that uses tools instead of commands."""
    raw = asset("prompts", "agent-tools.md").read_text(encoding="utf-8")
    return _prompt(raw, raw)


def _filled(work: Work, name: str) -> AgentPrompt:
    raw = asset("prompts", name).read_text(encoding="utf-8")
    program = shlex.join([*crontab.program(), "-C", str(work.store.root)])
    return _prompt(raw, Template(raw).substitute(memrepo=" ".join(program.split("\n"))))


def _prompt(raw: str, filled: str) -> AgentPrompt:
    version = _VERSION.search(raw)
    return AgentPrompt(
        version=int(version[1]) if version else 0,
        hash=f"sha256:{hashlib.sha256(raw.encode()).hexdigest()}",
        prompt=filled.strip(),
    )


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


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A program for agents and its files, as `hosts.toml` describes them."""

    home: str = ""
    project: str = ""
    key: str = ""
    home_instructions: str = ""
    project_instructions: str = "AGENTS.md"
    entry: Mapping[str, str] = {}
    folder: str = ""
    uses: Literal["tools", "commands"] = "tools"
    is_client: bool = False


HOSTS = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("hosts.toml").read_text(encoding="utf-8")),
    dict[str, Host],
)
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


def program_for(host: str, into: Path, repository: Path) -> tuple[str, ...]:
    """Return the command line that starts memrepo, as a tuple of words.

    In the files of a project it contains no absolute path, because these files are committed.
    """
    variable = HOSTS[host].folder
    if into == home_of(host) or not variable:
        return (*crontab.program(), "-C", str(repository))
    folder = os.path.relpath(repository.resolve(), into)
    return ("memrepo", "-C", f"{variable}/{Path(folder).as_posix()}")


def _shell(words: Sequence[str]) -> str:
    """Join words like `shlex.join`, but let the shell expand the project folder variable."""
    variable = HOSTS["claude-code"].folder

    def quoted(word: str) -> str:
        if not word.startswith(variable):
            return shlex.quote(word)
        rest = _SPECIAL.sub(r"\\\g<0>", word.removeprefix(variable))
        return f'"{variable}{rest}"'

    return " ".join(map(quoted, words))


class FilePart(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that add memrepo's part to a file and remove it again.

    If the whole file belongs to memrepo, `take` returns an empty string.
    """

    path: Path
    put: Callable[[str], str]
    take: Callable[[str], str]


def parts_of(host: str, into: Path, program: Sequence[str], snippet: str) -> Iterator[FilePart]:
    """Yield the parts to install for an agent program in a folder.

    `program` is the command line of memrepo.
    """
    known, is_home = HOSTS[host], into == home_of(host)
    if host == "claude-code":
        yield _settings(into / ".claude" / "settings.json", program)
    if host == "openclaw":
        yield from _hook_folder(into / "hooks" / "memrepo", program)
    servers = known.home if is_home else known.project
    if servers.endswith(".toml"):
        yield _table(into / servers, f"{known.key}.memrepo", program)
    elif servers:
        yield _server(into / servers, (known.key, "memrepo"), program, known.entry)
    if file := known.home_instructions if is_home else known.project_instructions:
        yield FilePart(
            path=into / file, put=lambda text: with_block(text, snippet), take=without_block
        )


def home_of(host: str) -> Path | None:
    """Return the folder of a program's settings for all projects, or None if it has none."""
    if host == "generic" or (HOSTS[host].is_client and not HOSTS[host].home):
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
        case _ if HOSTS[host].is_client:
            is_home = into == home_of(host)
            if not is_home and not HOSTS[host].project:
                return (f"the tools are for all projects only: memrepo agent install {host}",)
            if is_home and not HOSTS[host].home_instructions:
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


def _settings(path: Path, program: Sequence[str]) -> FilePart:
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

    return FilePart(path=path, put=put, take=take)


def _table(path: Path, name: str, program: Sequence[str]) -> FilePart:
    """Return the part that sets a server entry in a TOML file, as a marked block."""
    # A JSON string or list of strings is valid TOML with the same value.
    command, args = json.dumps(program[0]), json.dumps([*program[1:], "mcp"])
    body = f"[{name}]\ncommand = {command}\nargs = {args}"
    return FilePart(
        path=path,
        put=lambda text: with_block(text, body, toml=True),
        take=lambda text: without_block(text, toml=True),
    )


def _server(
    path: Path, keys: Sequence[str], program: Sequence[str], more: Mapping[str, str]
) -> FilePart:
    """Return the part that sets the MCP server's entry in a JSON file."""
    entry = {**more, "command": program[0], "args": [*program[1:], "mcp"]}

    def take(text: str) -> str:
        return take_away(text, keys, _is_server) if text.strip() else text

    return FilePart(path=path, put=lambda text: put(text or "{}\n", keys, entry), take=take)


def _is_server(entry: object) -> bool:
    args = entry.get("args") if isinstance(entry, Mapping) else None
    return isinstance(args, list) and args[-1:] == ["mcp"]


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, Mapping) else None
    commands = [h.get("command", "") for h in hooks or () if isinstance(h, Mapping)]
    return bool(commands) and all(
        isinstance(c, str) and "agent hook claude-code" in c and "memrepo" in c for c in commands
    )


def _hook_folder(folder: Path, program: Sequence[str]) -> Iterator[FilePart]:
    words = json.dumps([*program, "agent", "hook", "openclaw"])
    for name in ("HOOK.md", "handler.js"):
        raw = asset("templates", f"agents/openclaw/{name}").read_text(encoding="utf-8")
        text = raw.replace("__COMMAND__", words) if name == "handler.js" else raw
        yield _own_file(folder / name, text)


def _own_file(path: Path, text: str) -> FilePart:
    return FilePart(path=path, put=lambda _: text, take=lambda _: "")


RECEIPTS = "agents.json"
"""The receipts file in memrepo's folder: the text of each edited file before and after the edit."""


Does: TypeAlias = Literal["unchanged", "made", "edited", "removed"]


class Unreadable(MemrepoError):
    """Raised when another program's settings file cannot be parsed. The file is left unchanged."""

    exit_code = Exit.USAGE

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}; nothing was written", fix="fix the file, then try again")


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """The edit to make to one file.

    `found` is the current text, `base` the text without memrepo's part, and `after` the new text.
    None means that the file does not exist.
    """

    path: Path
    found: str | None
    base: str | None
    after: str | None

    @property
    def does(self) -> Does:
        """Return what the edit does to the file."""
        if self.found == self.after:
            return "unchanged"
        return "removed" if self.after is None else "made" if self.found is None else "edited"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo agent`."""

    what: Annotated[
        Literal["install", "uninstall", "hook"],
        option(
            "install memory in an agent's program; uninstall it; hook: called by its hooks",
            choices=("install", "uninstall", "hook"),
        ),
    ]
    host: Annotated[str, option("which program; generic is any other", choices=tuple(HOSTS))]
    into: Annotated[
        str, option("a project's folder, instead of all your projects", "--into", metavar="DIR")
    ] = ""
    dry_run: DryRun = False


class EditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the agent program, and the change made to it."""

    path: str
    does: Does


class Result(VerbResult, frozen=True, kw_only=True):
    """The change to each file, and the steps that the user must take."""

    files: tuple[EditedFile, ...]
    next: tuple[str, ...]


def do(work: Work, request: Request) -> Result:
    """Install or uninstall memrepo. The command line handles hook calls itself."""
    into = _into(work, request)
    program = program_for(request.host, into, work.store.root)
    snippet = (agent_tools() if HOSTS[request.host].uses == "tools" else agent_snippet(work)).prompt
    receipts = _receipts(work)
    parts = [*parts_of(request.host, into, program, snippet)]
    out = request.what == "uninstall"
    edits = [_edit(part, receipts.get(str(part.path)), out=out) for part in parts]
    if not request.dry_run:
        _write(work, parts, edits, receipts, out=out)
    return Result(
        files=tuple(EditedFile(path=str(edit.path), does=edit.does) for edit in edits),
        next=() if out else (*_unread(edits), *next_steps(request.host, into, program)),
    )


def _unread(edits: Sequence[FileEdit]) -> Iterator[str]:
    """Yield a warning if Claude Code ignores the edited settings because of comments in them."""
    for edit in edits:
        if edit.path.name == "settings.json" and edit.path.parent.name == ".claude":
            with suppress(ValueError):
                json.loads(edit.after or "{}")
                return
            yield (
                f"{edit.path} has comments or trailing commas: Claude Code ignores the hooks"
                " in such a file; remove them, or install the plugin instead"
            )


def _into(work: Work, request: Request) -> Path:
    if request.into:
        return Path(work.call.where, request.into).resolve()
    home = home_of(request.host)
    if home is None:
        raise UsageError(
            f"memrepo agent: {request.host} has no writable folder for all projects",
            fix="name a project's folder with --into",
        )
    return home


def _edit(part: FilePart, receipt: Mapping[str, Any] | None, *, out: bool) -> FileEdit:
    """Return the edit to make to one file.

    A file that is unchanged since the installation is restored byte for byte.
    """
    found = _read(part.path)
    try:
        if receipt is not None and found == receipt["after"]:
            base = receipt["before"]
        else:
            base = None if found is None else part.take(found)
            made = receipt is not None and receipt["before"] is None
            base = None if _is_bare(base, made=made) else base
        after = base if out else part.put(base or "")
    except NotJson as error:
        raise Unreadable(part.path, str(error)) from error
    return FileEdit(path=part.path, found=found, base=base, after=after)


def _is_bare(text: str | None, *, made: bool) -> bool:
    """Return whether an edited file has no content left.

    An empty JSON object counts as empty only if memrepo created the file (`made`).
    """
    return text is None or text.strip() in (("", "{}") if made else ("",))


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Unreadable(path, f"found a byte that is not UTF-8 at {error.start}") from error


def _write(
    work: Work,
    parts: Sequence[FilePart],
    edits: Sequence[FileEdit],
    receipts: dict[str, object],
    *,
    out: bool,
) -> None:
    for edit in edits:
        if edit.after is None:
            edit.path.unlink(missing_ok=True)
        elif edit.after != edit.found:
            # The settings file may be a symbolic link into a dotfiles folder: preserve the link.
            real = edit.path.resolve()
            real.parent.mkdir(parents=True, exist_ok=True)
            draft = real.with_name(f".{real.name}.memrepo")
            draft.write_bytes(edit.after.encode("utf-8"))
            with suppress(FileNotFoundError):
                draft.chmod(real.stat().st_mode)
            draft.replace(real)
        receipts.pop(str(edit.path), None)
        if not out:
            receipts[str(edit.path)] = {"before": edit.base, "after": edit.after}
    if out:
        for part in parts:
            with suppress(OSError):  # folder is not empty
                part.path.parent.rmdir()
    (work.store.folder / RECEIPTS).write_text(json.dumps(receipts), encoding="utf-8")


def _receipts(work: Work) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads((work.store.folder / RECEIPTS).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}
