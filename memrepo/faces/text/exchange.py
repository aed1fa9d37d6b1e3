"""What `memrepo.actions.exchange` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.actions.exchange.import_ import Tracked
from memrepo.core.messages import counted, counted_as

if TYPE_CHECKING:
    from memrepo.actions.exchange import export as exporting
    from memrepo.actions.exchange import import_ as importing


def export(request: object, result: exporting.Result, *, colour: bool) -> str:
    """Say how many files of what were written, and what was left out."""
    del request, colour
    said = ", ".join(counted_as(n, word) for word, n in result.counts.items() if n) or "nothing"
    verb = "would be written" if result.dry_run else "written"
    files = counted(len(result.files), "file", "files")
    lines = [*result.heading, f"{result.path}: {files} {verb} ({said})"]
    if result.left_out:
        left = ", ".join(counted_as(n, word) for word, n in result.left_out.items())
        lines.append(f"left out: {left}")
    return "\n".join(lines)


def import_(request: object, result: importing.Result | Tracked, *, colour: bool) -> str:
    """Say what was taken in."""
    del request, colour
    if isinstance(result, Tracked):
        return _tracked(result)
    said = ", ".join(
        counted_as(n, word.replace("_", " ")) for word, n in result.counts.items() if n
    )
    head = f"committed as {result.commit[:10]}" if result.commit else "no news"
    return f"{'dry run' if result.dry_run else head}: {said or 'nothing to take in'}"


def _tracked(result: Tracked) -> str:
    unknown = counted(len(result.problems), "entry", "entries")
    told = [
        counted(result.retrievals, "retrieval", "retrievals"),
        counted(len(result.steps), "change", "changes"),
        *([f"{unknown} not known here"] if result.problems else []),
    ]
    return f"{'dry run' if result.dry_run else 'taken in'}: {', '.join(told)}"
