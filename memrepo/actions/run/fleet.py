"""`memrepo fleet`: run many repositories of one host in turn, with one budget and one report.

Each run is a run as `memrepo run` does it there, with that repository's own judge, limits and lock.
What one of them cannot do stops none of the others. When to do so is cron's, systemd's or the
forge's to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import msgspec
from msgspec.structs import replace

from memrepo.actions import result
from memrepo.actions.request import DryRun, option
from memrepo.actions.run import run
from memrepo.actions.verbs import perform
from memrepo.actions.work import Work
from memrepo.config import JUDGES
from memrepo.core.errors import Exit, MemrepoError, UsageError

if TYPE_CHECKING:
    from memrepo.actions.run.telemetry import Result as RunResult

_WORSE = (Exit.DONE, Exit.DECIDE, Exit.LOCKED, Exit.USAGE, Exit.MODEL, Exit.REPOSITORY)
"""Exit codes from well to ill: a fleet ends with the worst of its repositories."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `fleet`."""

    folders: Annotated[
        tuple[str, ...], option("the repositories, each by its folder", metavar="DIR")
    ] = ()
    list: Annotated[
        str | None,
        option(
            "a file that names one folder a line, as seen from that file; # begins a comment",
            "--list",
            metavar="FILE",
        ),
    ] = None
    judge: Annotated[str | None, option("who scores and words", "--judge", choices=JUDGES)] = None
    max_usd: Annotated[
        float | None,
        option("what all runs together may spend, in US dollars", "--max-usd", metavar="X", ge=0),
    ] = None
    max_tokens: Annotated[
        int | None,
        option("how many tokens all runs together may use", "--max-tokens", metavar="N", ge=1),
    ] = None
    dry_run: DryRun = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What one repository came to."""

    folder: str
    status: str
    """That of its run; `error` where there was none, `left` where nothing was left to spend."""
    run: str = ""
    said: str = ""
    branch: str = ""
    """Where something waits for a person."""
    cost_usd: float = 0.0
    tokens: int = 0
    exit: Exit = Exit.DONE


class Result(result.Result, frozen=True, kw_only=True):
    """What every repository came to, in the order of the list, and what all of it cost."""

    rows: tuple[Row, ...]
    cost_usd: float
    tokens: int


def do(work: Work, request: Request) -> Result:
    """Run one repository after the other."""
    folders = list(dict.fromkeys(_folders(work, request)))
    if not folders:
        raise UsageError(
            "memrepo fleet: no repository was named", fix="name folders, or --list FILE"
        )
    rows: list[Row] = []
    for folder in folders:
        spent = sum(row.cost_usd for row in rows)
        used = sum(row.tokens for row in rows)
        rows.append(_one(work, request, folder, spent, used))
        work.call.tick("repositories")
    return Result(
        rows=tuple(rows),
        cost_usd=round(sum(row.cost_usd for row in rows), 6),
        tokens=sum(row.tokens for row in rows),
        exit=max((row.exit for row in rows), key=_rank),
    )


def _rank(code: Exit) -> int:
    return _WORSE.index(code) if code in _WORSE else len(_WORSE)


def _folders(work: Work, request: Request) -> Iterator[Path]:
    """Yield the folders that are named, then those of the list."""
    yield from ((work.call.where / name).absolute() for name in request.folders)
    if request.list is None:
        return
    path = (work.call.where / request.list).absolute()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"memrepo fleet: {request.list} cannot be read: {error}",
            fix="name a file of folders, one a line",
        ) from error
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    yield from (path.parent / line for line in lines if line)


def _one(work: Work, request: Request, folder: Path, spent: float, used: int) -> Row:
    """Run one repository on what is left to spend."""
    usd = None if request.max_usd is None else request.max_usd - spent
    tokens = None if request.max_tokens is None else request.max_tokens - used
    told = Row(folder=str(folder), status="error")
    if (usd is not None and usd <= 0 < spent) or (tokens is not None and tokens <= 0):
        said = "the fleet's budget is spent; the next time begins with what is new"
        return replace(told, status="left", said=said, exit=Exit.MODEL)
    asked = run.Request(
        judge=request.judge,
        max_usd=usd,
        max_tokens=tokens,
        dry_run=request.dry_run,
        report="summary",
    )
    try:
        if not folder.is_dir():
            raise UsageError(
                f"{folder}: found no such folder", fix="name the folder of a memrepo repository"
            )
        with Work(replace(work.call, where=folder)) as there:
            done = cast("RunResult", perform(there, "run", asked))
    except (MemrepoError, OSError) as error:
        code = error.exit_code if isinstance(error, MemrepoError) else Exit.REPOSITORY
        return replace(told, said=" ".join(str(error).split()), exit=code)
    return replace(
        told,
        status=done.status,
        run=done.run,
        said=done.why or done.partial if done.status in ("held", "failed") else done.said,
        branch=done.branch,
        cost_usd=done.cost_usd or 0.0,
        tokens=int(done.tokens.get("total") or 0),
        exit=done.exit,
    )
