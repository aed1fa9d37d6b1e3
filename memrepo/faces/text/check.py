"""What `memrepo.actions.check` answers, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrepo.core.messages import counted

if TYPE_CHECKING:
    from memrepo.actions.check import check as checking
    from memrepo.actions.check import check_message as message
    from memrepo.core.problems import Problem

SHOWN = 200
"""How many findings are printed; --json has them all."""


def check(
    request: checking.Request,
    result: checking.Result | checking.Past | checking.Baseline,
    *,
    colour: bool,
) -> str:
    """List what was found, or say that it was nothing; in the form that was asked for."""
    from memrepo.actions.check.check import Baseline, Result

    del colour
    if isinstance(result, Baseline):
        return _baseline(result)
    if request.format != "text":
        return _formatted(request.format, result)
    if not isinstance(result, Result):
        return _past(result)
    lines = findings(result.fixed, result.foreign, result.problems)
    return "\n".join(lines) or f"{_looked_at(result)}: nothing found"


def _looked_at(result: checking.Result) -> str:
    files = counted(result.files, "file", "files")
    commits = counted(result.commits, "commit", "commits")
    return f"{result.range}: {commits}, {files}" if result.range else files


def _formatted(form: checking.Format, result: checking.Result | checking.Past) -> str:
    from memrepo.actions.check.check import Result
    from memrepo.views import findings as forms

    found = result.problems
    match form:
        case "github":
            return forms.log_marks(found)
        case _ if isinstance(result, Result):
            commits = counted(result.commits, "commit", "commits")
            files = counted(result.files, "file of memory", "files of memory")
            return forms.markdown(found, f"{commits}, {files}" if result.range else files)
        case _:
            return forms.markdown(found, "all of history")


def findings(
    fixed: Sequence[str], foreign: Sequence[str], problems: Sequence[Problem]
) -> list[str]:
    """List what was mended, what is none of memrepo's, and what is wrong."""
    lines = [f"fixed {name}" for name in fixed]
    lines += [f"{name}: not a file of memrepo's, scanned for secrets only" for name in foreign]
    lines += [str(problem) for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        lines.append(f"and {len(problems) - SHOWN} more (--json lists all)")
    return lines


def _past(result: checking.Past) -> str:
    if not result.problems:
        return "no secret was ever committed"
    known = "a secret in history is known to whoever has a clone: change it where it is used"
    return "\n".join([*map(str, result.problems), known])


def _baseline(result: checking.Baseline) -> str:
    said = counted(result.findings, "finding", "findings")
    if result.dry_run:
        return f"dry run: {result.path} would let {said} stand; nothing was written"
    return f"{result.path} lets {said} stand; it counts once it is added to the index"


def check_message(request: object, result: message.Result, *, colour: bool) -> str:
    """List what is wrong with the message."""
    del request, colour
    return "\n".join(map(str, result.problems))
