"""`memrepo agent`: install memrepo into an agent program, uninstall it, or print what to paste.

Claude Code and Codex are installed. For OpenClaw the commands that install its plugin are printed,
for other programs the parts of their files. Each part names its program, so that uninstalling one
keeps the others' parts. What a person wrote in the same files stays: text byte for byte, JSON with
its values and their order.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec

from memrepo.actions.work import DryRun, VerbResult, Wish, Work, config_data, option
from memrepo.core.errors import Exit, MemrepoError, NotARepository, UsageError
from memrepo.core.ids import slugify
from memrepo.core.layout import asset, own_text
from memrepo.core.patterns import regex
from memrepo.policies.rules import RunMode
from memrepo.read.marks import marked
from memrepo.store import run_files, settings


class AgentPrompt(VerbResult, frozen=True, kw_only=True):
    """A prompt with this repository's commands."""

    prompt: str


def cron_prompt(work: Work, mode: RunMode) -> AgentPrompt:
    """Return the prompt for an agent that a scheduler starts for a run.

    With the judge `session`, the agent itself answers the questions.
    """
    judges_itself = mode == "incremental" and work.config.run.judge == "session"
    name = "judge-cron.md" if judges_itself else f"{mode}-cron.md"
    return _filled(work, name)


def agent_snippet(work: Work) -> AgentPrompt:
    """Return the section about memory for an agent's own instructions."""
    return AgentPrompt(prompt=marked("snippet", _filled(work, "agent-snippet.md").prompt))


def _filled(work: Work, name: str) -> AgentPrompt:
    program = [*settings.program(), "-C", str(work.store.root)]
    own = own_text(work.tree.files, work.tree.layout.prefix, "prompts", name)
    raw = own or asset("prompts", name).read_text(encoding="utf-8")
    words = " ".join(_shell(program).split("\n"))
    return AgentPrompt(prompt=Template(raw).safe_substitute(memrepo=words).strip())


INSTALLED = ("claude-code", "codex")
"""The programs whose files `memrepo agent install` edits."""
PRINTED = ("openclaw", "generic")
"""The programs for which commands or parts of files are printed."""
FAILED = "memrepo could not run: this session goes on without its memory"
DEADLINES = {"start": 5.0, "prompt": 3.0, "stop": 3.0, "end": 120.0}
"""The timeout of a hook in seconds, by event. Nobody waits for the end of a session."""
PATIENCE = 10
"""Seconds that a host waits beyond the timeout, for the program to start and read its input."""
CLAUDE_EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "SessionEnd": "end",
}
NO_SCOPE = "none"
"""The word for `--scope` that binds an agent to no scope."""
EVERYWHERE = "all"
"""The scope of the hook of all projects. It leaves a project with a hook of its own to that hook.
"""
_UNBOUND = ("", NO_SCOPE, EVERYWHERE)
_FOLDER = "${CLAUDE_PROJECT_DIR:-.}"
"""The project's folder in the settings of Claude Code, which the shell or the program expands."""
_SPECIAL = regex(r"[\\\"$`]")


def program_for(host: str, into: Path, repository: Path) -> tuple[str, ...]:
    """Return the command line that starts memrepo, as a tuple of words.

    In a file that may be committed it contains no absolute path: there it finds `memrepo` on the
    PATH, and the repository relative to the project.
    """
    if into == Path.home():
        return (*settings.program(), "-C", str(repository))
    folder = Path(os.path.relpath(repository.resolve(), into)).as_posix()
    return ("memrepo", "-C", f"{_FOLDER}/{folder}" if host == "claude-code" else folder)


def _shell(words: Sequence[str]) -> str:
    """Join words like `shlex.join`, but let the shell expand a leading folder variable."""

    def quoted(word: str) -> str:
        if word.startswith(_FOLDER):
            rest = _SPECIAL.sub(r"\\\g<0>", word.removeprefix(_FOLDER))
            return f'"{_FOLDER}{rest}"'
        return shlex.quote(word)

    return " ".join(map(quoted, words))


class FilePart(NamedTuple):
    """A file, and the functions that add memrepo's part to its text and remove it again."""

    path: Path
    put: Callable[[str], str]
    take: Callable[[str], str]


_KEPT = "(memrepo keeps this block; `memrepo agent uninstall` removes it)"


def block_part(
    path: Path, host: str, body: str, marks: tuple[str, str] = ("<!-- ", " -->")
) -> FilePart:
    """Return the part that keeps a marked block of text at the end of a file."""
    begin, end = (f"{marks[0]}memrepo:{word} {host}" for word in ("begin", "end"))
    block = f"{begin} {_KEPT}{marks[1]}\n{body.strip()}\n{end}{marks[1]}\n"
    found = regex(rf"\n?{re.escape(begin)} .*?{re.escape(end + marks[1])}\n?", re.DOTALL)

    def take(text: str) -> str:
        return found.sub("", text)

    def put(text: str) -> str:
        rest = take(text)
        return f"{rest}\n{block}" if rest else block

    return FilePart(path, put, take)


def parts_of(host: str, into: Path, repository: Path, scope: str) -> Iterator[FilePart]:
    """Yield the parts to install for an agent program in a folder."""
    is_home, program = into == Path.home(), program_for(host, into, repository)
    if host == "codex":
        # A JSON string or list of strings is valid TOML with the same value.
        entry = _server_entry(program, scope)
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        table = "\n".join(["[mcp_servers.memrepo]", *lines])
        yield block_part(into / ".codex" / "config.toml", host, table, ("# ", ""))
        yield block_part(into / (".codex/AGENTS.md" if is_home else "AGENTS.md"), host, _tools())
        return
    yield _hooks(into / ".claude" / "settings.json", program, scope)
    if not is_home:
        yield _server(into / ".mcp.json", _server_entry(program, scope))
    yield block_part(into / ".claude" / "CLAUDE.md", host, _tools())


def _tools() -> str:
    """Return the section about memory for an agent that uses tools instead of commands."""
    return asset("prompts", "agent-tools.md").read_text(encoding="utf-8").strip()


def _server_entry(program: Sequence[str], scope: str) -> Json:
    """Return the entry of the MCP server in a program's list of servers."""
    bound = ("--scope", scope) if scope not in _UNBOUND else ()
    return {"command": program[0], "args": [*program[1:], "mcp", *bound]}


def hook_line(
    program: Sequence[str], host: str, kind: str = "start", scope: str = EVERYWHERE
) -> str:
    """Return the shell command of a hook.

    The command always exits with 0, because a host may treat a failure as a veto.

    At the end of a session the command returns immediately and continues in the background, because
    hosts cancel slow hooks then.
    """
    call = f"{_shell(program)} agent hook {host}"
    if scope:
        call += f" --scope {shlex.quote(scope)}"
    if kind == "end":
        return f'input=$(cat); {{ printf %s "$input" | nohup {call}; }} >/dev/null 2>&1 &'
    failed = json.dumps({"systemMessage": FAILED})
    return f"{call} || echo {shlex.quote(failed)}"


Json: TypeAlias = dict[str, Any]


def _hooks(path: Path, program: Sequence[str], scope: str) -> FilePart:
    """Return the part that sets the hooks in Claude Code's settings."""

    def change(data: Json, out: bool) -> None:
        hooks = _inner(data, "hooks")
        for event, kind in CLAUDE_EVENTS.items():
            groups = hooks.get(event, [])
            if not isinstance(groups, list):
                raise ValueError(f"hooks.{event}: expected a list")
            groups = [group for group in groups if not is_hook(group)]
            if not out:
                line = hook_line(program, "claude-code", kind, scope)
                seconds = PATIENCE if kind == "end" else int(DEADLINES[kind]) + PATIENCE
                hook = {"type": "command", "command": line, "timeout": seconds}
                groups.insert(0, {"hooks": [hook]})
            _set(hooks, event, groups)
        _set(data, "hooks", hooks)

    return _json_part(path, change)


def _server(path: Path, entry: Json) -> FilePart:
    """Return the part that sets the MCP server's entry in a JSON file."""

    def change(data: Json, out: bool) -> None:
        servers = _inner(data, "mcpServers")
        found = servers.get("memrepo")
        args = found.get("args") if isinstance(found, dict) else None
        if not out:
            servers["memrepo"] = entry
        elif isinstance(args, list) and "mcp" in args:
            del servers["memrepo"]
        _set(data, "mcpServers", servers)

    return _json_part(path, change)


def _set(data: Json, key: str, value: object) -> None:
    """Set a member of an object, or remove it if its value is empty. Others keep their order."""
    if value:
        data[key] = value
    else:
        data.pop(key, None)


def _json_part(path: Path, change: Callable[[Json, bool], None]) -> FilePart:
    """Return the part of a JSON file, which is written in the indentation found there."""

    def edit(text: str, *, out: bool) -> str:
        try:
            data = json.loads(text, object_pairs_hook=_once) if text.strip() else {}
        except json.JSONDecodeError as error:
            what = f"line {error.lineno}: found a comment, with which Claude Code runs no hooks"
            raise ValueError(what if _COMMENT.match(text, error.pos) else error) from error
        if not isinstance(data, dict):
            raise ValueError("expected an object")
        before = json.dumps(data)
        change(data, out)
        if json.dumps(data) == before:
            return text
        indent = _INDENT.search(text)
        after = json.dumps(data, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"
        return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", after)

    return FilePart(path, partial(edit, out=False), partial(edit, out=True))


_COMMENT = regex(r"[,\s]*/[/*]")
_INDENT = regex(r'\{\r?\n([ \t]+)"')
_SURROGATE = regex("[\ud800-\udfff]")


def _once(pairs: list[tuple[str, object]]) -> Json:
    """Return the members of an object, of which a second one of a name would end the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key in found if sum(key == name for name, _ in pairs) > 1)
        raise ValueError(f"found {twice!r} twice in one object")
    return found


def _inner(data: Json, key: str) -> Json:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key}: expected an object")
    return found


def is_hook(group: object) -> bool:
    """Return whether an entry of Claude Code's settings is memrepo's hook."""
    hooks = group.get("hooks") if isinstance(group, Mapping) else None
    commands = [h.get("command", "") for h in hooks or () if isinstance(h, Mapping)]
    return bool(commands) and all(
        isinstance(c, str) and "agent hook claude-code" in c and "memrepo" in c for c in commands
    )


def next_steps(
    host: str, into: Path, program: Sequence[str], scope: str, workspace: Path | None, seen: str
) -> Iterator[str]:
    """Yield the steps that the user must take after the installation.

    `workspace` is what runs read, and `seen` says whether other projects see it.
    """
    if program[0] == "memrepo" and shutil.which("memrepo") is None:
        here = shlex.quote(settings.program()[0])
        yield f"put memrepo on the PATH, as with: ln -s {here} ~/.local/bin/memrepo"
    if host == "codex":
        yield "restart codex"
    elif into == Path.home():
        serve = shlex.join([*program, "mcp"])
        yield f"tools too: claude mcp add --scope user memrepo -- {serve}"
        if scope in _UNBOUND:
            yield "all projects share what is stored; `--into DIR` gives one a scope of its own"
    else:
        yield "Claude Code asks once whether it may start the server of .mcp.json"
    if host == "claude-code":
        yield (
            'each night it can read what is new: judge = "claude" in [run] of memrepo.toml, and'
            " `memrepo schedule install`"
        )
    if scope not in _UNBOUND:
        yield (
            f"what is stored there has the scope {scope}, and other projects do not see it"
            f" (`--scope {NO_SCOPE}` shares it)"
        )
        if workspace and workspace.resolve().is_relative_to(into):
            yield (
                f"what runs read in {workspace} has this scope too, for all who share this memory"
                " (`sources.scope`)"
            )
        elif workspace and not into.is_relative_to(workspace):
            own = shlex.join(["memrepo", "init", f"{into}-memory", "--from", str(into)])
            yield (
                f"{seen}CLAUDE.md of this project is not read; a memory of this project only:"
                f" `{own}`, and install that one"
            )


Does: TypeAlias = Literal["unchanged", "made", "edited", "removed"]


class Unreadable(MemrepoError):
    """Raised when another program's settings file cannot be parsed. The file is left unchanged."""

    exit_code = Exit.USAGE

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}; nothing was written", fix="fix the file, then try again")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo agent`."""

    what: Annotated[
        Literal["install", "uninstall", "hook"],
        option(
            "install memory in an agent's program; uninstall it; hook: called by its hooks",
            choices=("install", "uninstall", "hook"),
        ),
    ]
    host: Annotated[
        str,
        option("which program; generic is any other", choices=(*INSTALLED, *PRINTED)),
    ]
    into: Annotated[
        str, option("a project's folder, instead of all your projects", "--into", metavar="DIR")
    ] = ""
    scope: Annotated[
        str,
        option(
            "the scope of the project (default: project:NAME of its folder; none: no scope)",
            "--scope",
        ),
    ] = ""
    dry_run: DryRun = False


class EditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the agent program, and the change made to it."""

    path: str
    does: Does


class Result(VerbResult, frozen=True, kw_only=True):
    """The change to each file, the text to paste if none was edited, and the user's next steps."""

    files: tuple[EditedFile, ...] = ()
    paste: str = ""
    scope: str = ""
    next: tuple[str, ...] = ()


def do(work: Work, request: Request) -> Result:
    """Install or uninstall memrepo. The command line handles hook calls itself."""
    if request.host not in INSTALLED:
        return _printed(work, request)
    into = Path(work.call.where, request.into).resolve() if request.into else Path.home()
    out = request.what == "uninstall"
    try:
        root, is_project = work.store.root, bool(request.into)
    except NotARepository:  # what is removed is known without one
        if not out:
            raise
        root, is_project = into, False
    scope, other, there = request.scope or EVERYWHERE, "", _scopes(into)
    was = there.get(request.host) or next(iter(there.values()), "")
    if request.into and not request.scope:
        scope = NO_SCOPE if out else was
        scope, other = (scope, "") if scope else _free_scope(work, into)
    edits = [(part, *_edit(part, out=out)) for part in parts_of(request.host, into, root, scope)]
    is_unbound = out or scope in _UNBOUND
    rest = (found for host, found in there.items() if host != request.host)
    to = next(rest, "") if is_unbound else scope
    read = _bind(work, into, was, to, dry_run=request.dry_run) if is_project else None
    if not request.dry_run:
        for part, before, after in edits:
            _write(part.path, before, after, within=into)
    seen = f"what runs read in {read} is seen here too; " if read else ""
    seen = "" if out or work.config.sources.scope else seen
    program = program_for(request.host, into, root)
    steps = [*next_steps(request.host, into, program, scope, read, seen)]
    steps += [other] * bool(other)
    return Result(
        files=tuple(
            EditedFile(path=str(part.path), does=_does(before, after))
            for part, before, after in edits
        ),
        scope="" if scope in _UNBOUND else scope,
        next=() if out else tuple(steps),
    )


def _scopes(into: Path) -> dict[str, str]:
    """Return the scopes to which programs are bound in a folder, by program.

    Their files are the same in every clone of the project, and wherever it is moved.
    """
    import tomllib

    files: dict[str, tuple[str, Callable[[str], Any], str]] = {
        "claude-code": (".mcp.json", json.loads, "mcpServers"),
        "codex": (".codex/config.toml", tomllib.loads, "mcp_servers"),
    }
    found = dict[str, str]()
    for host, (name, read, key) in files.items():
        with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            args = read((into / name).read_text(encoding="utf-8"))[key]["memrepo"]["args"]
            found[host] = str(args[args.index("--scope") + 1])
    return found


def _bind(work: Work, into: Path, was: str, scope: str, *, dry_run: bool) -> Path | None:
    """Bind what is read of a project to a scope, or with "" to the scope that it had no more.

    Return the workspace, unless it is in the project and does not get its scope.
    """
    read, known = settings.workspace(work.store.repo), run_files.bound(work.store.folder)
    was = known.get(into, was)
    if read is not None and read.resolve().is_relative_to(into) and (was or scope):
        now = work.config.sources.scope or ""
        is_given = now != scope and "sources.scope" in work.config.given and now != (was or None)
        if is_given or settings.folder(work.store.repo):
            read = None  # a folder of its own has no scope: the configuration is everyone's
        elif now != scope and not dry_run:
            _bind_sources(work, now, scope)
    if not dry_run:
        run_files.bind(work.store.folder, into, scope)
    return read


def _free_scope(work: Work, into: Path) -> tuple[str, str]:
    """Return the scope of a project, and a hint if another folder has the scope of its name.

    A repository inside the project needs no scope.
    """
    if work.store.root.resolve().is_relative_to(into):
        return NO_SCOPE, ""
    known = run_files.bound(work.store.folder)
    if into in known:
        return known[into], ""
    used = {scope: folder for folder, scope in known.items() if folder.is_dir()}
    parts = [slugify(part) for part in into.parts[1:]]
    names = [f"project:{'-'.join(parts[-n:])}" for n in range(1, len(parts) + 1)]
    scope = next((name for name in names if name not in used), names[-1])
    hint = f"{names[0]} is the scope of {used.get(names[0])}: `--scope {names[0]}` joins it"
    return scope, hint if scope != names[0] else ""


def _bind_sources(work: Work, was: str, scope: str) -> None:
    """Give what runs read the scope of its project instead of the one it had, or none."""
    layout = work.tree.layout
    from memrepo.actions.landing import write
    from memrepo.config import with_value
    from memrepo.core.state import State, Step, Update, Write

    text = config_data(work.store, work.tree).decode("utf-8")

    def draft(state: State) -> Step:
        made = (
            Update(id=memory.id, fields={"scope": scope or None})
            for memory in state.active
            if memory.sources and memory.scope == was
            if all(map(layout.is_mirrored, memory.files))
        )
        data = with_value(text, "sources", "scope", scope).encode()
        return Step(
            op="edit",
            what=f"Bind the workspace to {scope or 'no scope'}",
            reason=f"runs read the project of {scope or was}",
            changes=(Write(path=layout.config, data=data), *made),
        )

    write(work, Wish(), draft)


def _printed(work: Work, request: Request) -> Result:
    """Return what the user of another program runs or pastes, with this repository filled in."""
    is_openclaw = request.host == "openclaw"
    if request.what == "uninstall":  # memrepo never wrote into the files of another program
        own = "remove `memrepo` from its list of MCP servers, and from its instructions"
        return Result(next=("run `openclaw plugins uninstall memrepo`" if is_openclaw else own,))
    if request.into or (is_openclaw and request.scope not in _UNBOUND):
        unused = "--into" if request.into else "--scope"
        raise UsageError(
            f"memrepo agent: {unused} has no effect for {request.host}", fix=f"leave out {unused}"
        )
    program = [*settings.program(), "-C", str(work.store.root)]
    servers = {"mcpServers": {"memrepo": _server_entry(program, request.scope)}}
    text = asset("templates", "agents", f"{request.host}.txt").read_text(encoding="utf-8")
    filled = Template(text).substitute(
        program=shlex.quote(program[0]),
        repository=shlex.quote(str(work.store.root)),
        plugin=shlex.quote(str(asset("plugins", "openclaw"))),
        server=json.dumps(servers, indent=2),
        tools=_tools(),
        hook=shlex.join([*program, "agent", "hook", "generic"]),
    )
    paste, _, steps = filled.partition("\n---\n")
    return Result(paste=paste, next=tuple(steps.splitlines()))


def _edit(part: FilePart, *, out: bool) -> tuple[str | None, str | None]:
    """Return the text of a file before and after the edit. None means that there is no file."""
    try:
        before: str | None = part.path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        before = None
    except UnicodeDecodeError as error:
        raise Unreadable(part.path, f"found a byte that is not UTF-8 at {error.start}") from error
    if out and before is None:
        return None, None
    text = before or ""
    is_crlf = "\n" in text and text.count("\r\n") == text.count("\n")
    text = text.replace("\r\n", "\n") if is_crlf else text
    try:
        after = part.take(text) if out else part.put(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(part.path, str(error)) from error
    after = after.replace("\n", "\r\n") if is_crlf else after
    is_bare = out and after != before and "".join(after.split()) in ("", "{}")
    return before, None if is_bare else after


def _does(before: str | None, after: str | None) -> Does:
    if before == after:
        return "unchanged"
    return "removed" if after is None else "made" if before is None else "edited"


def _write(path: Path, before: str | None, after: str | None, within: Path) -> None:
    """Write or delete a file, and the folders below `within` that become empty."""
    if after is None:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # a folder is not empty
            for folder in path.relative_to(within).parents[:-1]:
                (within / folder).rmdir()
    elif after != before:
        # The settings file may be a symbolic link into a dotfiles folder: preserve the link.
        real = path.resolve()
        real.parent.mkdir(parents=True, exist_ok=True)
        draft = real.with_name(f".{real.name}.memrepo")
        draft.write_bytes(after.encode("utf-8"))
        with suppress(FileNotFoundError):
            draft.chmod(real.stat().st_mode)
        draft.replace(real)
