"""Format the results of checks, of synchronisation and exchange, and of other commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.messages import counted, counted_as
from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.actions.check import check as checking
    from memrepo.actions.check.scenes import CheckResult
    from memrepo.actions.exchange import export as exporting
    from memrepo.actions.exchange import import_ as importing
    from memrepo.actions.sync import purge as purging
    from memrepo.actions.sync import sync as syncing
    from memrepo.core.errors import Problem
    from memrepo.faces.cli import commands


MAX_COMMENT = 20_000
"""Maximum characters of the findings in a comment. With the review of changes (`MAX_REVIEW`), it
stays below a forge's 65,536 characters."""


_TICKS = regex("`+")


def fenced_markdown(title: str, text: str, most: int) -> str:
    """Return a markdown section with a text in a code block, which the text cannot close.

    Whole lines are left out from the end if the text is longer than `most` characters.
    """
    end = text.rfind("\n", 0, most) if len(text) > most else len(text)
    cut = "" if end == len(text) else "\n\nThe rest is omitted; the command prints all of it."
    text = text[: end if end > 0 else most]
    fence = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(text)), 3)
    return f"## {title}\n\n{fence}text\n{text}\n{fence}{cut}"


def _message(problem: Problem) -> str:
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
    properties = ",".join(f"{key}={_property(value)}" for key, value in place.items())
    return f"::{problem.severity} {properties}::{_data(_message(problem))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


SHOWN = 200
"""Maximum findings that are printed. `--json` contains all."""


def check(request: checking.CheckRequest, result: CheckResult, colour: bool) -> str:
    """Format the findings of a check as requested, or report in one line that there are none."""
    if request.format == "github":
        return log_marks(result.problems)
    if request.format == "text":
        return _listing(request, result)
    # A comment is cut at its end, so errors come first.
    worst = sorted(result.problems, key=lambda problem: problem.severity != "error")
    text = _listing(request, replace(result, problems=tuple(worst)))
    return fenced_markdown("memrepo check", text, MAX_COMMENT)


def _listing(request: checking.CheckRequest, result: CheckResult) -> str:
    if request.history:
        known = "everyone with a clone can read a secret in history: rotate it"
        lines = [*map(str, result.problems), known]
        return "\n".join(lines) if result.problems else "no secret was ever committed"
    lines = findings(result)
    files = counted(result.files, "file", "files")
    commits = counted(result.commits, "commit", "commits")
    looked_at = f"{result.range}: {commits}, {files}" if result.range else files
    return "\n".join(lines) or f"{looked_at}: nothing found"


def findings(result: CheckResult) -> list[str]:
    """Return lines that list fixed files, files that are not memrepo's, and problems."""
    lines = [
        f"fixed {name}: restored {', '.join(keys)}, which only memrepo sets"
        if (keys := result.restored.get(name))
        else f"fixed {name}"
        for name in result.fixed
    ]
    lines += [f"{n}: not a file of memrepo's, scanned for secrets only" for n in result.foreign]
    lines += [str(problem) for problem in result.problems[:SHOWN]]
    if len(result.problems) > SHOWN:
        lines.append(f"and {len(result.problems) - SHOWN} more (--json lists all)")
    return lines


def export(request: object, result: exporting.Result, colour: bool) -> str:
    """Format the number of exported files, and the numbers of omitted records."""
    message = ", ".join(counted_as(n, word) for word, n in result.counts.items() if n) or "nothing"
    files = counted(len(result.files), "file", "files")
    lines = [*result.heading, f"{result.path}: {files} written ({message})"]
    if result.left_out:
        left = ", ".join(counted_as(n, word) for word, n in result.left_out.items())
        lines.append(f"left out: {left}")
    return "\n".join(lines)


def import_(request: object, result: importing.Result, colour: bool) -> str:
    """Format the number of imported records of each kind, and the commit."""
    message = ", ".join(
        counted_as(n, word.replace("_", " ")) for word, n in result.counts.items() if n
    )
    head = f"committed as {result.commit[:10]}" if result.commit else "nothing new"
    return f"{'dry run' if result.dry_run else head}: {message or 'nothing to import'}"


def sync(request: syncing.Request, result: syncing.Result, colour: bool) -> str:
    """Format the numbers of transferred commits."""
    would = "would be " if request.dry_run else ""
    counts = [
        f"{counted(number, 'commit', 'commits')} {would}{what}"
        for number, what in ((result.pulled, "pulled"), (result.pushed, "pushed"))
        if number
    ]
    where = f"{result.remote}/{result.branch}"
    lines = [f"{where}: {', '.join(counts) or 'nothing new on either side'}"]
    if result.merged:
        both = counted(len(result.merged), "memory", "memories")
        lines.append(f"  {both} changed on both sides, {would}merged field by field")
    if request.dry_run:
        lines.append("dry run: nothing was changed")
    return "\n".join(lines)


def completion(request: object, result: commands.Script, colour: bool) -> str:
    """Return the completion script."""
    return result.script.rstrip("\n")


def demo(request: object, result: commands.Tour, colour: bool) -> str:
    """Format the last line of the tour, which follows the steps already printed."""
    kept = f"the repository is in {result.kept}" if result.kept else "the demo folder was removed"
    return f"\nThat was the tour; {kept}."


def purge(request: purging.Request, result: purging.Result, colour: bool) -> str:
    """Format the result of a purge: where the value was found, what was done, and what remains."""
    if not result.hits:
        lines = ["the value was not found: nothing was changed"]
    elif request.dry_run:
        lines = _listed(result)
    else:
        total = sum(result.hits.values())
        lines = [f"purged from {counted(total, 'place', 'places')}"]
        lines += [f"  {kind:<16} {hits}" for kind, hits in result.hits.items()]
        lines.append(f"{counted(result.commits, 'commit', 'commits')} rewritten")
    lines += [
        f"not purged, yours to do: {kind}, {counted(hits, 'hit', 'hits')}"
        for kind, hits in result.left.items()
    ]
    if result.commits:
        lines.append(
            "a value that comes back in a source is read as a new one: remove it there, or give a"
            " pattern that matches it in `secrets.patterns`"
        )
    if result.collect:
        lines.append(
            "`memrepo sync` replaces the history on the hub, and every other clone is cloned again;"
            f" then, on the hub: {result.collect}"
        )
    return "\n".join(lines)


def _listed(result: purging.Result) -> list[str]:
    lines = []
    for kind in dict.fromkeys(place.kind for place in result.places):
        found = [place for place in result.places if place.kind == kind]
        lines.append(f"{kind}: {sum(place.hits for place in found)}")
        lines += [f"  {visible(place.where)}  {place.hits}" for place in found]
    return [*lines, "dry run: nothing was changed"]


def hooks(
    request: checking.HooksRequest, result: checking.Installed | CheckResult, colour: bool
) -> str:
    """Format the installed hooks, or what a hook found. Nothing is printed if it found nothing."""
    from memrepo.actions.check.check import Installed

    if isinstance(result, Installed):
        return _installed(result)
    if not (result.problems or result.fixed):
        return ""
    lines = findings(result)
    if request.name == "pre-push":
        lines.append("memrepo: nothing was pushed; rotate any secret that others have seen")
    return "\n".join(lines)


def _installed(result: checking.Installed) -> str:
    lines = [f"installed: {', '.join(result.hooks)}"]
    if result.left:
        from memrepo.store.settings import HOOK_CALL

        lines.append(f"left to another program: {', '.join(result.left)} ({HOOK_CALL})")
    return "\n".join(lines)
