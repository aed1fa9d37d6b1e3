"""`memrepo check`: hold files against every rule, for hooks, CI and people."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.check import checking
from memrepo.actions.request import option
from memrepo.actions.work import Answer, Work
from memrepo.checks import registry
from memrepo.checks.rules import GROUPS, Group
from memrepo.core.errors import Exit, MemrepoError, UsageError
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


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `check`."""

    files: Annotated[tuple[str, ...], option("only these files", metavar="FILE")] = ()
    fix: Annotated[
        bool, option("mend in the named or staged files what is safe to mend", "--fix")
    ] = False
    dry_run: Annotated[bool, option("with --baseline: say what would be written", "--dry-run")] = (
        False
    )
    staged: Annotated[
        bool, option("what the next commit would hold", "--staged", group="which")
    ] = False
    all: Annotated[bool, option("the whole tree at HEAD (the default)", "--all", group="which")] = (
        False
    )
    history: Annotated[
        bool, option("secrets in all commits that any ref leads to", "--history", group="which")
    ] = False
    baseline: Annotated[
        bool,
        option(
            "let the secrets stand that the tree holds now: write them, as hashes, to a file",
            "--baseline",
            group="which",
        ),
    ] = False
    only: Annotated[
        tuple[Group, ...],
        option(
            f"only rules of a group ({', '.join(GROUPS)}); may be repeated",
            "--only",
            metavar="GROUP",
            choices=tuple(GROUPS),
        ),
    ] = ()


def do(work: Work, request: Request) -> Answer:
    """Check and answer 1 where an error was found."""
    return look(work, request)


def look(work: Work, request: Request, *, merging: bool = False) -> Answer:
    """Check; `merging` says that git is about to commit a merge, which nothing else tells yet."""
    _refuse_odd(request)
    if request.history or request.baseline:
        from memrepo.actions.check import baseline

        if request.history:
            return baseline.history(work)
        return baseline.baseline(work, dry_run=request.dry_run)
    fixed: list[str] = []
    if request.files:
        opened = checking.named(work.call.where, request.files)
    elif request.staged:
        opened = checking.staged(work.call.where, merging=merging)
    else:
        opened = checking.tree(work.call.where)
    with opened as checked:
        scene = checked.scene
        if request.fix:
            from memrepo.actions.check import mending

            mend = mending.mend_staged if request.staged else mending.mend
            scene, fixed = mend(checked, work.call.now, request.only)
        found = (*checked.early, *registry.problems(scene, request.only))
        if not (request.files or request.staged) and "secrets" in (request.only or ("secrets",)):
            from memrepo.actions.check.scanning import scanned

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


def _refuse_odd(request: Request) -> None:
    """Raise UsageError where options do not go together."""
    words = ("staged", "all", "history", "baseline")
    whole = next((word for word in words if getattr(request, word)), "")
    if request.files and whole:
        raise UsageError(
            f"memrepo check: --{whole} takes no FILE", fix=f"leave out --{whole} or the files"
        )
    if request.dry_run and not request.baseline:
        raise UsageError(
            "memrepo check: --dry-run goes with --baseline; without --fix a check writes nothing",
            fix="leave out --dry-run",
        )
    if request.fix and not (request.files or request.staged):
        raise NothingToFix
