"""Format the results about the repository: setup, state, checks, exchange, sync and purge."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import visible
from memrepo.core.messages import counted, counted_as
from memrepo.core.times import parse_time
from memrepo.faces.text import fenced_markdown

if TYPE_CHECKING:
    from memrepo.actions import agent as agents
    from memrepo.actions import check as checking
    from memrepo.actions import doctor as checkup
    from memrepo.actions import export as exporting
    from memrepo.actions import import_ as importing
    from memrepo.actions import init as init_
    from memrepo.actions import schedule as scheduling
    from memrepo.actions import status as standing
    from memrepo.actions import sync as purging
    from memrepo.actions import sync as syncing
    from memrepo.actions.scenes import CheckResult
    from memrepo.core.errors import Problem
    from memrepo.faces import commands
    from memrepo.faces.commands import Hooked


_WIDTH = 80
_NAMED = 5
"""Maximum unread files that are listed. `--json` contains all."""


def init(request: init_.Request, result: init_.Result, colour: bool) -> str:
    """Format the result of `init`: the new repository, the imported data and the next step."""
    first = "is a memrepo repository already" if result.known else "is a memrepo repository now"
    lines = [f"{result.path} {first}{' (git init)' if result.made else ''}"]
    if result.recognised:
        lines.append(f"recognised {result.recognised}{_READS.get(result.recognised, '')}")
    if result.import_.commit:
        lines.append(
            "imported from memory-purifier, which wrote this workspace: "
            + counted(result.imported, "memory", "memories")
        )
    if result.ingest.commit:
        lines.append(f"sources copied: {result.ingest.summary}")
    if result.folders:
        named = ", ".join(f"{name}/" for name in result.folders)
        lines.append(f"the agent's files name {named}: runs distil these pages (`sources.folders`)")
    lines += _search_only(result.searched)
    lines += _alone(result)
    if result.known:
        found = "the hooks and the merge driver of this clone are in place"
        if request.person and result.commit:
            lines.append(f"your e-mail is in human_authors ({result.commit[:10]})")
        return "\n".join([*lines, found, *(f"note: {warning}" for warning in result.warnings)])
    zone = f"times are those of {result.timezone} (`timezone` in {result.config})"
    lines += [f"note: {zone}", f"note: profile {result.profile}, branch {result.branch}"]
    if result.profile == "classic":
        rules = "for ageing, the first page, compression and importance"
        lines.append(f"note: the rules {rules} are those of the original programs")
    lines += [f"note: {warning}" for warning in result.warnings]
    lines += [
        f'a model can write the texts, {one.message}: judge = "{one.judge}" in [run]'
        for one in result.judges
        if one.ready
    ]
    if any(one.ready for one in result.judges):
        lines.append("`memrepo run --estimate` names its cost; without a model, nothing is paid")
    agent = "or `memrepo judge next` in your agent's session, which then writes the texts"
    return "\n".join([*lines, f"next: `memrepo run`, {agent}"])


_READS = {
    "an Obsidian vault": ": all its notes are read, `.obsidian` is not",
    "a folder of notes": ": all its notes are read",
    "a code repository": ": only agent memory files are read, no code and no docs",
}


def _alone(result: init_.Result) -> Iterator[str]:
    """Yield lines that list unread files of the workspace and name the keys that select files."""
    if not (files := result.left_alone):
        return
    what = counted(len(files), "text", "texts")
    if denied := sum(one.denied for one in files):
        what = f"{what} ({denied} of them denied)"
    yield f"not read: {what}"
    for one in files[:_NAMED]:
        yield f"  {visible(one.name)} {one.why}"
    if len(files) > _NAMED:
        yield f"  and {len(files) - _NAMED} more"
    where = "`sources.claims` includes a file, `sources.deny` excludes it"
    yield f"  {where}: [sources] in {result.config}"


def agent(request: agents.Request, result: agents.Result | Hooked, colour: bool) -> str:
    """Format what was done to each file and the next steps, or return the answer of a hook."""
    from memrepo.actions.agent import Result

    if not isinstance(result, Result):
        return result.answer
    lines = [f"{file.does:<10} {file.path}" for file in result.files]
    lines += [result.paste, ""] if result.paste else []
    lines += [f"next: {line}" for line in result.next]
    if request.dry_run and result.files:
        lines.append("dry run: nothing was written")
    return "\n".join(lines)


def config(request: standing.ConfigRequest, result: standing.Configured, colour: bool) -> str:
    """Format all keys with values and where they are set, or the details of one key."""
    if not request.key:
        return "\n".join(f"{row.key} = {_json(row.value)}  # {row.from_}" for row in result.keys)
    (row,) = result.keys
    lines = [row.key, *textwrap.wrap(row.doc, 76, initial_indent="  ", subsequent_indent="  ")]
    expected = textwrap.wrap(row.expected, 66, subsequent_indent=" " * 11)
    lines += [
        "  may be   " + "\n".join(expected),
        f"  default  {_json(row.default)}",
        f"  now      {_json(row.value)} ({row.from_})",
        f"  set in   {row.set_in}",
    ]
    return "\n".join(lines)


def _json(value: object) -> str:
    import json

    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def doctor(request: object, result: checkup.Result, colour: bool) -> str:
    """Format the result of each check of the installation, one per line."""
    lines = [
        f"{'ok  ' if one.ok else 'FAIL'}  {one.name:<12} {one.message}" for one in result.checks
    ]
    if result.left_out:
        lines.append(f"left out  {', '.join(result.left_out)}")
    return "\n".join(lines)


def schedule(request: scheduling.Request, result: scheduling.Jobs, colour: bool) -> str:
    """Format what happened to the schedule, its entries and the next runs."""
    lines = [result.state] if result.state else []
    lines += [*(f"  {line}" for line in result.crontab), *map(_job, result.entries)]
    ahead = [f"next: {one.describe(result.zone)}" for one in result.next] or ["next: never"]
    return "\n".join([*lines, *(ahead if request.what != "remove" else ())])


def _job(row: scheduling.Job) -> str:
    times = f'{row.name}: "{row.cron}" {row.zone}'
    if not row.message:
        return times
    delivery = f"announce to {row.channel} {row.to}" if row.announce else "no delivery"
    return f"{times}, timeout {row.timeout_s} s, {delivery}\n  {row.message}"


def status(request: object, result: standing.Result, colour: bool) -> str:
    """Format the state of the repository, and list the open tasks of the user."""
    active = result.memories.get("active", 0)
    notes = sum(result.tiers.values())
    rest = ", ".join(f"{n} {name}" for name, n in result.memories.items() if name != "active")
    lines = [
        f"{result.path} on {result.branch}, profile {result.profile}",
        f"memories   {active - notes} active{', ' + rest if rest else ''}",
    ]
    if result.types:
        types = (counted(n, *_nouns(name)) for name, n in result.types.items())
        indent = " " * 11
        text = ", ".join(one.replace(" ", "\xa0") for one in types)  # no break within a count
        wrapped = textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
        lines += [line.replace("\xa0", " ") for line in wrapped]
    if notes:
        tiers = ", ".join(f"{n} {name}" for name, n in result.tiers.items())
        lines.append(f"notes      {notes} ({tiers})")
    files = counted(result.sources, "file", "files")
    lines.append(f"sources    {files}, {len(result.unread)} not yet read")
    last = result.last_run
    lines.append(
        f"last run   {_run(last, result) if last else 'none in effect: `memrepo run` makes one'}"
    )
    if result.contradictions:
        message = counted(result.contradictions, "contradiction is", "contradictions are")
        lines.append(f"contested  {message} open (`memrepo resolve`)")
    return "\n".join([*lines, *_noted(result), *_scheduled(result), *_left(result)])


def _nouns(type_: str) -> tuple[str, str]:
    """Return the name of a type in singular and plural."""
    name = type_.replace("_", " ")
    return name, f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _run(last: standing.LastRun, result: standing.Result) -> str:
    from zoneinfo import ZoneInfo

    when = parse_time(last.when).astimezone(ZoneInfo(result.timezone))
    return f"{when:%Y-%m-%d %H:%M}, {visible(last.subject)}"


def _noted(result: standing.Result) -> Iterator[str]:
    if result.unmatched.count:
        yield f"not read   {result.unmatched.summary}"
    for asked in result.requests:
        place = f"{visible(asked.path)}:{asked.line}"
        yield f"asked      {place} {visible(asked.message)} (fix: {visible(asked.fix)})"
    yield from (f"asked      {visible(asked)}" for asked in result.asked)
    left = result.budgets
    if left.bullets:
        much = left.bullets > left.max_bullets
        over = ": over budget (`memrepo promote ID --off` removes one)" if much else ""
        apart = f", {result.apart} of them only in sessions of their projects" * bool(result.apart)
        yield f"first page {left.bullets} of {left.max_bullets} bullets{apart}{over}"
    yield f"spent      {left.text}"
    if result.hot_cache:
        yield f"first page in {result.hot_cache}: memrepo did not write {result.hot_place}"
    if result.hooks:
        yield f"hooks      {result.hooks}"


def _scheduled(result: standing.Result) -> Iterator[str]:
    times = result.schedule
    if times.by and times.next:
        cron = ", if your agent's cron has the jobs (`memrepo schedule show`)"
        when = times.next.describe(result.timezone)
        yield f"schedule   next run {when}{cron if times.by == 'launcher' else ''}"
    else:
        yield "schedule   no run is scheduled (`memrepo schedule install`)"
    yield from (f"           {visible(text)}" for text in times.complaints)


def _left(result: standing.Result) -> Iterator[str]:
    if result.marked:
        from memrepo.actions.pending import removals_in_words

        yield f"removals   {removals_in_words(len(result.marked))}"
    for branch in result.waiting:
        yield f"waiting    {branch}"
        yield "           `memrepo diff` shows it, `memrepo accept` or `memrepo discard` decides"
    if result.answers:
        number = counted(result.answers, "paid answer", "paid answers")
        yield f"answers    {number} of an unfinished run; the next run uses them"
    if result.uncommitted:
        yield f"uncommitted {', '.join(visible(p) for p in result.uncommitted[:5])}"


def sources(request: standing.SourcesRequest, result: standing.SourceList, colour: bool) -> str:
    """List the source files by kind, with the reason for the kind and the number of statements."""
    lines = [f"{'kind':<12}{'statements':>11}{'memories':>9}  file"]
    for file in sorted(result.files, key=lambda f: (-f.share, f.kind, f.path)):
        row = f"{file.kind:<12}{file.thoughts:>11}{file.claims:>9}  {visible(file.path)}"
        lines.append(f"{row}  ({file.reason})")
    shelf = f"; runs make about {result.shelf} of all sources (`run.shelf`)" if result.shelf else ""
    lines += ["", f"{result.thoughts} statements, {result.claims} memories{shelf}"]
    silent = sum(f.thoughts for f in result.files if not f.share)
    if silent and result.thoughts:
        share = round(100 * silent / result.thoughts)
        lines.append(
            f"{silent} statements ({share} %) are in files of kinds that never become memories"
        )
    lines += _search_only(result.searched)
    lines.append('to change a kind: [sources] kinds = ["PATTERN = KIND"] in memrepo.toml;')
    lines.append("what is read already follows with `memrepo run --mode reconciliation`")
    return "\n".join(lines)


def _search_only(paths: Sequence[str]) -> Iterator[str]:
    """Yield a line that names the folders of files from which runs distil nothing, if any."""
    if paths:
        folders = Counter(path.rpartition("/")[0] for path in paths)
        named = ", ".join(f"{visible(name)}/ ({n})" for name, n in folders.most_common(_NAMED))
        more = f" and {len(folders) - _NAMED} more folders" if len(folders) > _NAMED else ""
        what = counted(len(paths), "more file", "more files")
        yield f"{what} for search only, unless `sources.folders` names them: {named}{more}"


MAX_COMMENT = 20_000
"""Maximum characters of the findings in a comment. With the review of changes (`MAX_REVIEW`), it
stays below a forge's 65,536 characters."""


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


def sync(request: syncing.SyncRequest, result: syncing.SyncResult, colour: bool) -> str:
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


def purge(request: purging.PurgeRequest, result: purging.PurgeResult, colour: bool) -> str:
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


def _listed(result: purging.PurgeResult) -> list[str]:
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
    from memrepo.actions.check import Installed

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
