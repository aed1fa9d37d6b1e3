"""Format the results of the verbs in `memrepo.actions.sync` and `memrepo.actions.exchange`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.core.ids import visible
from memrepo.core.messages import counted, counted_as

if TYPE_CHECKING:
    from memrepo.actions.exchange import export as exporting
    from memrepo.actions.exchange import import_ as importing
    from memrepo.actions.sync import sync as syncing


def export(request: object, result: exporting.Result, *, colour: bool) -> str:
    """Format the number of exported files, and the numbers of omitted records."""
    said = ", ".join(counted_as(n, word) for word, n in result.counts.items() if n) or "nothing"
    verb = "would be written" if result.dry_run else "written"
    files = counted(len(result.files), "file", "files")
    lines = [*result.heading, f"{result.path}: {files} {verb} ({said})"]
    if result.left_out:
        left = ", ".join(counted_as(n, word) for word, n in result.left_out.items())
        lines.append(f"left out: {left}")
    return "\n".join(lines)


def import_(request: object, result: importing.Result, *, colour: bool) -> str:
    """Format the numbers of imported records by kind, and the commit."""
    said = ", ".join(
        counted_as(n, word.replace("_", " ")) for word, n in result.counts.items() if n
    )
    head = f"committed as {result.commit[:10]}" if result.commit else "nothing new"
    return f"{'dry run' if result.dry_run else head}: {said or 'nothing to take in'}"


def merge_driver(request: object, result: object, *, colour: bool) -> str:
    """Return an empty string. Git reports the merge, and conflicts are reported as findings."""
    del request, result, colour
    return ""


def sync(request: syncing.Request, result: syncing.Result, *, colour: bool) -> str:
    """Format the numbers of transferred commits, or the conflicts that a person must resolve."""
    if result.conflicts:
        return _clashing(result)
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
    lines += [f"  replaced, {would}stored in {path}" for path in result.kept]
    if result.ledger.pulled or result.ledger.pushed:
        lines.append(
            f"  access ledger: {counted(result.ledger.pulled, 'segment', 'segments')} in,"
            f" {result.ledger.pushed} out"
        )
    if request.dry_run:
        lines.append("dry run: nothing was changed")
    return "\n".join(lines)


def _clashing(result: syncing.Result) -> str:
    lines = [f"this clone and {result.remote} conflict; nothing was changed or pushed"]
    lines += [
        f"  {c.kind:<18} {c.memory or visible(c.path)}  here {c.ours[:10]}, hub {c.theirs[:10]}"
        for c in result.conflicts
    ]
    return "\n".join([*lines, result.fix])
