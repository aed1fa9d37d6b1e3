"""`memrepo agent`: put memory into an agent's program by its own hooks, and take it out again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memrepo.actions.setup.cron_prompts import agent_snippet
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.faces.cli.table import UsageError
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.jsontext import NotJson
from memrepo.faces.hosts.hosts import HOSTS, Part, home_of, next_steps, parts_of
from memrepo.store import crontab

RECEIPTS = "agents.json"
"""The file in memrepo's folder that says what stood in each file before and after."""


class Unreadable(MemrepoError):
    """A settings file of another program is not what it should be; it was left alone."""

    exit_code = Exit.USAGE

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path}: {what}; nothing was written", fix="mend the file, then try again"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One file: what stands in it, the same without our part, and what will; None for no file."""

    path: Path
    found: str | None
    base: str | None
    after: str | None

    @property
    def does(self) -> str:
        """Return what happens to the file, in a word."""
        if self.found == self.after:
            return "unchanged"
        return "removed" if self.after is None else "made" if self.found is None else "edited"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "what",
        choices=("install", "uninstall", "hook"),
        help="put memory into an agent's program; take it out; what its hooks call",
    )
    parser.add_argument("host", choices=HOSTS, help="which program; generic is any other")
    parser.add_argument(
        "--into",
        default="",
        metavar="DIR",
        help="a project's folder, instead of what holds for all of yours",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Install, uninstall, or answer one event of a session."""
    if options.what == "hook":
        from memrepo.faces.hosts.hooking import hook

        said = hook(session, options.host, session.read())
        return Answer(data={"answer": said}, text=said)
    into = _into(session, options)
    with opened(session) as desk:
        program = [*crontab.program(), "-C", str(desk.store.root)]
        snippet = str(agent_snippet(desk)["prompt"])
        receipts = _receipts(desk)
        parts = parts_of(options.host, into, program, snippet)
        out = options.what == "uninstall"
        edits = [_edit(part, receipts.get(str(part.path)), out=out) for part in parts]
        if not options.dry_run:
            _write(desk, parts, edits, receipts, out=out)
    todo = () if out else next_steps(options.host, program)
    return _answer(edits, todo, dry=options.dry_run)


def _into(session: Session, options: argparse.Namespace) -> Path:
    if options.into:
        return Path(session.where, options.into).resolve()
    home = home_of(options.host)
    if home is None:
        raise UsageError(
            "memrepo agent: generic has no folder of its own",
            fix="name a project's folder with --into",
        )
    return home


def _edit(part: Part, receipt: Mapping[str, Any] | None, *, out: bool) -> Edit:
    """Return the edit of one file; one that nobody touched since gets back its very bytes."""
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
    """Tell whether nothing is left of a file; an empty object only where we `made` the file."""
    return text is None or text.strip() in (("", "{}") if made else ("",))


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Unreadable(path, f"found a byte that is not UTF-8 at {error.start}") from error


def _write(
    desk: Desk, parts: Sequence[Part], edits: Sequence[Edit], receipts: dict[str, Any], *, out: bool
) -> None:
    for edit in edits:
        if edit.after is None:
            edit.path.unlink(missing_ok=True)
        elif edit.after != edit.found:
            # A settings file may be a link into a person's dotfiles: the link stays.
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
            with suppress(OSError):  # a folder that holds something else stays
                part.path.parent.rmdir()
    (desk.store.folder / RECEIPTS).write_text(json.dumps(receipts), encoding="utf-8")


def _receipts(desk: Desk) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads((desk.store.folder / RECEIPTS).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _answer(edits: Sequence[Edit], todo: Sequence[str], *, dry: bool) -> Answer:
    rows = [{"path": str(edit.path), "does": edit.does} for edit in edits]
    lines = [f"{row['does']:<10} {row['path']}" for row in rows]
    lines += [f"next: {line}" for line in todo]
    if dry:
        lines.append("dry run: nothing was written")
    return Answer(data={"files": rows, "next": list(todo)}, text="\n".join(lines))
