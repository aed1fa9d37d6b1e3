"""Format the results of the verbs in `memrepo.actions.check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from memrepo.core.messages import counted

if TYPE_CHECKING:
    from memrepo.actions.check import check as checking
    from memrepo.core.problems import Problem


from memrepo.core.ids import visible
from memrepo.core.problems import Problem

ROWS = 50
CELL = 200
"""Maximum findings in a markdown table, and maximum characters of a cell. With the review of
changes (`MAX_MARKDOWN` in `text.review`), a comment stays below a forge's 65,536 characters."""


def _said(problem: Problem) -> str:
    fix = f" (fix: {problem.fix})" if problem.fix else ""
    return visible(f"{problem.message}{fix}")


def log_marks(problems: Sequence[Problem]) -> str:
    """Format findings as workflow commands, which GitHub shows next to lines of a pull request."""
    return "\n".join(_annotation(p) for p in problems)


def _annotation(problem: Problem) -> str:
    place = {"file": problem.path}
    if problem.line:
        place |= {"line": str(problem.line)}
        if problem.column:
            place |= {"col": str(problem.column)}
    place["title"] = problem.rule
    told = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    return f"::{problem.severity} {told}::{_data(_said(problem))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def markdown(problems: Sequence[Problem], what: str) -> str:
    """Format findings as a markdown section. `what` describes the checked files or commits."""
    errors = sum(p.severity == "error" for p in problems)
    warnings = len(problems) - errors
    told = f"{counted(errors, 'error', 'errors')}, {counted(warnings, 'warning', 'warnings')}"
    verdict = "Rules are broken." if errors else "All rules hold."
    lines = ["## memrepo check", "", f"**{verdict}** {what}: {told}."]
    if problems:
        lines += ["", "| where | rule | what |", "| --- | --- | --- |"]
    lines += [
        f"| {_code(_where(p))} | {p.severity}: `{p.rule}` | {_code(_said(p))} |"
        for p in sorted(problems, key=lambda p: p.severity == "warning")[:ROWS]
    ]
    if len(problems) > ROWS:
        lines += ["", f"{len(problems) - ROWS} more are in the log."]
    return "\n".join(lines)


def _where(problem: Problem) -> str:
    return f"{problem.path}:{problem.line}" if problem.line else problem.path


def _code(text: str) -> str:
    """Quote a text as a one-line code span for a markdown table. The text cannot end the span."""
    said = " ".join(visible(text).split()).replace("`", "'")
    said = f"{said[:CELL]}..." if len(said) > CELL else said
    return "`" + said.replace("|", "\\|") + "`"


SHOWN = 200
"""Maximum findings that are printed. `--json` contains all."""


def check(
    request: checking.CheckRequest,
    result: checking.CheckResult | checking.CommittedSecrets,
    *,
    colour: bool,
) -> str:
    """Format the findings of a check as requested, or report in one line that there are none."""
    from memrepo.actions.check.check import CheckResult

    if request.format != "text":
        return _formatted(request.format, result)
    if not isinstance(result, CheckResult):
        return _past(result)
    lines = findings(result.fixed, result.foreign, result.problems, result.restored)
    return "\n".join(lines) or f"{_looked_at(result)}: nothing found"


def _looked_at(result: checking.CheckResult) -> str:
    files = counted(result.files, "file", "files")
    commits = counted(result.commits, "commit", "commits")
    return f"{result.range}: {commits}, {files}" if result.range else files


def _formatted(
    form: checking.Format, result: checking.CheckResult | checking.CommittedSecrets
) -> str:
    from memrepo.actions.check.check import CheckResult

    found = result.problems
    match form:
        case "github":
            return log_marks(found)
        case _ if isinstance(result, CheckResult):
            commits = counted(result.commits, "commit", "commits")
            files = counted(result.files, "file of memory", "files of memory")
            return markdown(found, f"{commits}, {files}" if result.range else files)
        case _:
            return markdown(found, "all of history")


def findings(
    fixed: Sequence[str],
    foreign: Sequence[str],
    problems: Sequence[Problem],
    restored: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    """Return lines that list fixed files, files that are not memrepo's, and problems."""
    lines = [
        f"fixed {name}: restored {', '.join(keys)}, which only memrepo sets"
        if (keys := restored.get(name))
        else f"fixed {name}"
        for name in fixed
    ]
    lines += [f"{name}: not a file of memrepo's, scanned for secrets only" for name in foreign]
    lines += [str(problem) for problem in problems[:SHOWN]]
    if len(problems) > SHOWN:
        lines.append(f"and {len(problems) - SHOWN} more (--json lists all)")
    return lines


def _past(result: checking.CommittedSecrets) -> str:
    if not result.problems:
        return "no secret was ever committed"
    known = "everyone with a clone can read a secret in history: rotate it"
    return "\n".join([*map(str, result.problems), known])


def check_message(request: object, result: checking.MessageResult, *, colour: bool) -> str:
    """Format the problems found in a commit message, one per line."""
    return "\n".join(map(str, result.problems))
