"""Findings of `check` as a forge reads them: annotations of a log, and markdown.

Each is a text that is equal for equal findings. What a finding quotes is a person's or an agent's
text: it is escaped for each form, and in markdown it stands as code: no link, no name, no image.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.problems import Problem

ROWS = 50
CELL = 200
"""So many findings a markdown table holds, and so many characters a cell: with the review of what
changes (`review_text.LONGEST`) they stay below the 65,536 that a forge takes for a comment."""


def _said(problem: Problem) -> str:
    fix = f" (fix: {problem.fix})" if problem.fix else ""
    return visible(f"{problem.message}{fix}")


def log_marks(problems: Sequence[Problem]) -> str:
    """Return the commands of a log by which GitHub marks lines of a pull request."""
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
    """Return the findings as a section of a review; `what` says in our words what was checked."""
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
    """Return a text as a span of code on one line of a table, which no text can leave."""
    said = " ".join(visible(text).split()).replace("`", "'")
    said = f"{said[:CELL]}..." if len(said) > CELL else said
    return "`" + said.replace("|", "\\|") + "`"
