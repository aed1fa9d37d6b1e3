"""Findings of `check` as a forge reads them: SARIF, annotations of a log, JUnit and markdown.

Each is a text that is equal for equal findings. What a finding quotes is a person's or an agent's
text: it is escaped for each form, and in markdown it stands as code: no link, no name, no image.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

SARIF_VERSION = "2.1.0"
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NO_XML = regex("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
ROWS = 50
CELL = 200
"""So many findings a markdown table holds, and so many characters a cell: with the review of what
changes (`review_text.LONGEST`) they stay below the 65,536 that a forge takes for a comment."""


def sarif(problems: Sequence[Problem], docs: Mapping[str, str], version: str) -> str:
    """Return a SARIF 2.1.0 log; `docs` says in a sentence what each rule asks for."""
    names = sorted({p.rule for p in problems})
    rules = [
        {
            "id": name,
            "shortDescription": {"text": docs.get(name) or name},
            "properties": {"tags": ["memory"]},
        }
        for name in names
    ]
    results = [
        {
            "ruleId": p.rule,
            "ruleIndex": names.index(p.rule),
            "level": p.severity,
            "message": {"text": _said(p)},
            "locations": [{"physicalLocation": _place(p)}],
        }
        for p in problems
    ]
    driver = {"name": "memrepo", "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": SARIF_VERSION, "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1)


def _place(problem: Problem) -> dict[str, object]:
    uri = quote(problem.path.encode("utf-8", "surrogateescape"))
    place: dict[str, object] = {"artifactLocation": {"uri": uri}}
    if problem.line:
        region = {"startLine": problem.line}
        if problem.column:
            region["startColumn"] = problem.column
        place["region"] = region
    return place


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


def junit(problems: Sequence[Problem], files: int) -> str:
    """Return a JUnit report: a case for each file that has findings, a failure for its errors."""
    cases: dict[str, list[Problem]] = {}
    for problem in problems:
        cases.setdefault(problem.path, []).append(problem)
    failing = sum(any(p.severity == "error" for p in found) for found in cases.values())
    counts = f'tests="{max(files, len(cases), 1)}" failures="{failing}" errors="0"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="memrepo check" {counts}>']
    for path, found in cases.items():
        lines.append(f'  <testcase classname="memrepo" name={_attribute(path)}>')
        lines += _outcome(found)
        lines.append("  </testcase>")
    if not cases:
        lines.append('  <testcase classname="memrepo" name="all files"/>')
    return "\n".join([*lines, "</testsuite>"])


def _outcome(found: Sequence[Problem]) -> Iterator[str]:
    """Yield the errors of a file as one failure, and its warnings as what it printed."""
    errors = [p for p in found if p.severity == "error"]
    if errors:
        says = _attribute(f"{errors[0].rule}: {errors[0].message}")
        yield f"    <failure type={_attribute(errors[0].rule)} message={says}>"
        yield from (_xml(str(p)) for p in errors)
        yield "    </failure>"
    if warnings := [p for p in found if p.severity == "warning"]:
        yield "    <system-out>"
        yield from (_xml(str(p)) for p in warnings)
        yield "    </system-out>"


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text)))


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text)))


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
