"""`memrepo check`: hold files against every rule, for hooks, CI and people."""

from __future__ import annotations

import argparse
from dataclasses import replace

from memrepo.checks import registry
from memrepo.checks.rules import GROUPS
from memrepo.commands import checking
from memrepo.commands.session import Answer, Session
from memrepo.commands.table import UsageError
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.messages import counted

_SHOWN = 200
"""How many findings are printed; --json has them all."""


class NothingToFix(MemrepoError):
    """--fix writes into the work tree: the files must be named."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__("--fix takes the files to mend", fix="memrepo check --fix FILE...")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these files")
    parser.add_argument(
        "--fix", action="store_true", help="mend in the named files what is safe to mend"
    )
    parser.add_argument("--staged", action="store_true", help="what the next commit would hold")
    parser.add_argument("--all", action="store_true", help="the whole tree at HEAD (the default)")
    parser.add_argument(
        "--only", action="append", choices=tuple(GROUPS), default=[], metavar="GROUP",
        help=f"only rules of a group ({', '.join(GROUPS)}); may be repeated",
    )  # fmt: skip


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Check and answer 1 where an error was found."""
    if options.fix and (options.staged or options.all or not options.files):
        raise NothingToFix
    if options.files and (options.staged or options.all):
        word = "--staged" if options.staged else "--all"
        raise UsageError(
            f"memrepo check: {word} takes no FILE", fix=f"leave out {word} or the files"
        )
    fixed: list[str] = []
    if options.files:
        opened = checking.named(session.where, options.files)
    else:
        opened = (checking.staged if options.staged else checking.tree)(session.where)
    with opened as checked:
        scene = checked.scene
        if options.fix:
            from memrepo.commands.mending import mend

            scene, fixed = mend(scene, session.now, checked.root, options.only)
        found = (*checked.early, *registry.problems(scene, options.only))
    found = tuple(replace(p, path=checked.names.get(p.path, p.path)) for p in found)
    lines = [f"fixed {name}" for name in fixed]
    lines += [f"{n}: not a file of memrepo's, scanned for secrets only" for n in checked.foreign]
    lines += [str(p) for p in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN} more (--json lists all)")
    count = len(scene.files)
    return Answer(
        data={
            "problems": [p.as_json() for p in found], "files": count, "fixed": fixed,
            "foreign": list(checked.foreign),
        },
        text="\n".join(lines) or f"{counted(count, 'file', 'files')}: nothing found",
        exit=Exit.NO if any(p.severity == "error" for p in found) else Exit.DONE,
    )  # fmt: skip
