"""`memrepo check`: hold files against every rule, for hooks, CI and people."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

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
    """--fix writes files: they must be named, or staged."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__(
            "--fix takes the files to mend", fix="memrepo check --fix FILE..., or --staged --fix"
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these files")
    parser.add_argument(
        "--fix",
        action="store_true",
        help="mend in the named or staged files what is safe to mend",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="with --baseline: say what would be written"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--staged", action="store_true", help="what the next commit would hold")
    which.add_argument("--all", action="store_true", help="the whole tree at HEAD (the default)")
    which.add_argument(
        "--history", action="store_true", help="secrets in all commits that any ref leads to"
    )
    which.add_argument(
        "--baseline",
        action="store_true",
        help="let the secrets stand that the tree holds now: write them, as hashes, to a file",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=tuple(GROUPS),
        default=[],
        metavar="GROUP",
        help=f"only rules of a group ({', '.join(GROUPS)}); may be repeated",
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Check and answer 1 where an error was found."""
    return look(session, options)


def look(session: Session, options: argparse.Namespace, *, merging: bool = False) -> Answer:
    """Check; `merging` says that git is about to commit a merge, which nothing else tells yet."""
    _refuse_odd(options)
    if options.history or options.baseline:
        from memrepo.commands import baseline

        if options.history:
            return baseline.history(session)
        return baseline.baseline(session, dry_run=options.dry_run)
    fixed: list[str] = []
    if options.files:
        opened = checking.named(session.where, options.files)
    elif options.staged:
        opened = checking.staged(session.where, merging=merging)
    else:
        opened = checking.tree(session.where)
    with opened as checked:
        scene = checked.scene
        if options.fix:
            from memrepo.commands import mending

            mend = mending.mend_staged if options.staged else mending.mend
            scene, fixed = mend(checked, session.now, options.only)
        found = (*checked.early, *registry.problems(scene, options.only))
        if not (options.files or options.staged) and "secrets" in (options.only or ("secrets",)):
            from memrepo.commands.scanning import scanned

            found += tuple(p for path, data in scene.files.items() for p in scanned(path, data))
    found = tuple(replace(p, path=checked.names.get(p.path, p.path)) for p in found)
    lines = [f"fixed {name}" for name in fixed]
    lines += [f"{n}: not a file of memrepo's, scanned for secrets only" for n in checked.foreign]
    lines += [str(p) for p in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"and {len(found) - _SHOWN} more (--json lists all)")
    count = len(scene.files)
    return Answer(
        data={
            "problems": [p.as_json() for p in found],
            "files": count,
            "fixed": fixed,
            "foreign": list(checked.foreign),
        },
        text="\n".join(lines) or f"{counted(count, 'file', 'files')}: nothing found",
        exit=Exit.NO if any(p.severity == "error" for p in found) else Exit.DONE,
    )


def _refuse_odd(options: argparse.Namespace) -> None:
    """Raise UsageError where options do not go together."""
    words = ("staged", "all", "history", "baseline")
    whole = next((word for word in words if getattr(options, word)), "")
    if options.files and whole:
        raise UsageError(
            f"memrepo check: --{whole} takes no FILE", fix=f"leave out --{whole} or the files"
        )
    if options.dry_run and not options.baseline:
        raise UsageError(
            "memrepo check: --dry-run goes with --baseline; without --fix a check writes nothing",
            fix="leave out --dry-run",
        )
    if options.fix and not (options.files or options.staged):
        raise NothingToFix
