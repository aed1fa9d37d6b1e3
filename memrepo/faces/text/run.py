"""What `memrepo.actions.run` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.actions.run.ingest import summary

if TYPE_CHECKING:
    from memrepo.actions.run import ingest as ingesting


def ingest(request: ingesting.Request, result: ingesting.Result, *, colour: bool) -> str:
    """Say what was taken in."""
    del colour
    said = summary(result.added, result.changed, result.removed)
    lines = [f"{result.source}: {said or 'nothing new'}"]
    if result.unmatched.count and not result.news:
        lines.append(f"not read: {result.unmatched.said}")
    if result.commit:
        lines.append(f"committed as {result.commit[:10]}")
    elif request.dry_run and said:
        lines.append("dry run: nothing was written")
    return "\n".join(lines)
