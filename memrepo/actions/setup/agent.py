"""`memrepo agent`: install memrepo into an agent program, or uninstall it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from memrepo.actions.request import DryRun, VerbResult, option
from memrepo.actions.setup.hosts import (
    HOSTS,
    WITH_TOOLS,
    Part,
    home_of,
    next_steps,
    parts_of,
    program_for,
)
from memrepo.actions.setup.prompts import agent_snippet, agent_tools
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.jsontext import NotJson

RECEIPTS = "agents.json"
"""The receipts file in memrepo's folder: the text of each edited file before and after the edit."""


Does: TypeAlias = Literal["unchanged", "made", "edited", "removed"]


class Unreadable(MemrepoError):
    """Raised when another program's settings file cannot be parsed. The file is left unchanged."""

    exit_code = Exit.USAGE

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path}: {what}; nothing was written", fix="fix the file, then try again")


class Edit(msgspec.Struct, frozen=True, kw_only=True):
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
    host: Annotated[str, option("which program; generic is any other", choices=HOSTS)]
    into: Annotated[
        str,
        option("a project's folder, instead of all your projects", "--into", metavar="DIR"),
    ] = ""
    dry_run: DryRun = False


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the agent program, and the change made to it."""

    path: str
    does: Does


class Result(VerbResult, frozen=True, kw_only=True):
    """The change to each file, and the steps that the user must take."""

    files: tuple[File, ...]
    next: tuple[str, ...]


def do(work: Work, request: Request) -> Result:
    """Install or uninstall memrepo. The command line handles hook calls itself."""
    into = _into(work, request)
    program = program_for(request.host, into, work.store.root)
    snippet = (agent_tools() if request.host in WITH_TOOLS else agent_snippet(work)).prompt
    receipts = _receipts(work)
    parts = parts_of(request.host, into, program, snippet)
    out = request.what == "uninstall"
    edits = [_edit(part, receipts.get(str(part.path)), out=out) for part in parts]
    if not request.dry_run:
        _write(work, parts, edits, receipts, out=out)
    return Result(
        files=tuple(File(path=str(edit.path), does=edit.does) for edit in edits),
        next=() if out else (*_unread(edits), *next_steps(request.host, into, program)),
    )


def _unread(edits: Sequence[Edit]) -> Iterator[str]:
    """Yield a warning if Claude Code ignores the edited settings because of comments in them."""
    for edit in edits:
        if edit.path.name == "settings.json" and edit.path.parent.name == ".claude":
            with suppress(ValueError):
                json.loads(edit.after or "{}")
                return
            yield (
                f"{edit.path} holds comments or trailing commas, which stay: Claude Code runs no"
                " hooks of such a file; take them out, or install the plugin instead"
            )


def _into(work: Work, request: Request) -> Path:
    if request.into:
        return Path(work.call.where, request.into).resolve()
    home = home_of(request.host)
    if home is None:
        raise UsageError(
            f"memrepo agent: {request.host} has no folder for all projects that could be written",
            fix="name a project's folder with --into",
        )
    return home


def _edit(part: Part, receipt: Mapping[str, Any] | None, *, out: bool) -> Edit:
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
    return Edit(path=part.path, found=found, base=base, after=after)


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
    parts: Sequence[Part],
    edits: Sequence[Edit],
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
